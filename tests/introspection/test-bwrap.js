// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Real sandboxes, as GJS sees them.

import Gio from 'gi://Gio?version=2.0';
import GLib from 'gi://GLib?version=2.0';
import Sbx from 'gi://Sbx?version=1';
import System from 'system';

import {assert, assertEqual, assertFails, run, until} from './tap.js';

Gio._promisify(Sbx.Provider.prototype, 'open_async', 'open_finish');
Gio._promisify(Sbx.BwrapProvider.prototype, 'diagnose_async', 'diagnose_finish');
Gio._promisify(Sbx.BwrapProvider.prototype, 'explain_async', 'explain_finish');
Gio._promisify(Sbx.Process.prototype, 'run_async', 'run_finish');
Gio._promisify(Sbx.Process.prototype, 'start_async', 'start_finish');
Gio._promisify(Sbx.Process.prototype, 'wait_async', 'wait_finish');
for (const verb of ['exec', 'spawn', 'close', 'read_file', 'write_file', 'create_dir_all',
    'create_temp_dir', 'remove', 'list_dir', 'stat'])
    Gio._promisify(Sbx.Session.prototype, `${verb}_async`, `${verb}_finish`);
Gio._promisify(Gio.InputStream.prototype, 'read_bytes_async', 'read_bytes_finish');

const SBX_ERROR = Sbx.error_quark();
const encoder = new TextEncoder();
const text = bytes => new TextDecoder().decode(bytes.toArray());
const shell = script => Sbx.Command.new(['sh', '-c', script]);

function removeTree(file) {
    const info = file.query_info('standard::type', Gio.FileQueryInfoFlags.NOFOLLOW_SYMLINKS, null);
    if (info.get_file_type() === Gio.FileType.DIRECTORY) {
        const children = file.enumerate_children('standard::name',
            Gio.FileQueryInfoFlags.NOFOLLOW_SYMLINKS, null);
        for (const child of children)
            removeTree(children.get_child(child));
    }
    file.delete(null);
}

// Runs a test with an open session and a directory that it may write.
function withSession(test) {
    return async () => {
        const base = GLib.dir_make_tmp('sbx-gjs-XXXXXX');
        const work = GLib.build_filenamev([base, 'work']);
        GLib.mkdir_with_parents(work, 0o755);
        const provider = Sbx.BwrapProvider.new();
        provider.set_data_dir(GLib.build_filenamev([base, 'data']));
        const reach = Sbx.Reach.new(work);
        reach.add_write(work);
        const request = Sbx.OpenRequest.new(reach);
        const session = await provider.open_async(request, null);
        try {
            await test(session, work, provider, request);
        } finally {
            assert(await session.close_async(null));
            removeTree(Gio.File.new_for_path(base));
        }
    };
}

run({
    exec: withSession(async (session, work) => {
        const result = await session.exec_async(shell('pwd; echo err >&2; exit 7'), null);
        assertEqual(text(result.get_stdout()), `${work}\n`);
        assertEqual(text(result.get_stderr()), 'err\n');
        assertEqual([result.get_outcome(), result.get_exit_code()], [Sbx.ExecOutcome.EXITED, 7]);
        assertEqual(session.exec(shell('kill -SEGV $$'), null).get_signal(), 11);
    }),

    asItComes: withSession(async session => {
        const command = shell('echo one; read x; echo $x');
        command.set_stdin(Sbx.Stdin.PIPE);
        const process = session.create_process(command);
        const seen = [];
        process.connect('started', () => seen.push('started'));
        process.connect('stdout', (_process, bytes) => seen.push(text(bytes)));
        process.connect('exited', (_process, result) => seen.push(result.get_exit_code()));
        assert(await process.start_async(null));
        await until(() => seen.length === 2);
        assertEqual(process.state, Sbx.ProcessState.RUNNING);
        process.get_stdin_pipe().write_all(encoder.encode('two\n'), null);
        assert((await process.wait_async(null)).get_success());
        assertEqual(seen, ['started', 'one\n', 'two\n', 0]);
    }),

    pipe: withSession(async session => {
        const process = session.create_process(shell('head -c 3000000 /dev/zero'));
        const pipe = process.get_stdout_pipe();
        await process.start_async(null);
        let received = 0;
        for (;;) {
            const bytes = await pipe.read_bytes_async(65536, GLib.PRIORITY_DEFAULT, null);
            if (bytes.get_size() === 0)
                break;
            received += bytes.get_size();
        }
        assertEqual(received, 3000000);
        assert((await process.wait_async(null)).get_success());
    }),

    cancel: withSession(async session => {
        const process = session.create_process(shell('sleep 1000 & echo ready; sleep 1000'));
        const cancellable = new Gio.Cancellable();
        process.connect('stdout', () => cancellable.cancel());
        await assertFails(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED,
            process.run_async(cancellable));
        const names = await session.exec_async(shell('cat /proc/[0-9]*/comm'), null);
        assert(!text(names.get_stdout()).includes('sleep'));
    }),

    timeout: withSession(async session => {
        const command = shell("trap '' TERM; sleep 1000 & wait");
        command.set_timeout(100);
        const result = await session.exec_async(command, null);
        assertEqual(result.get_outcome(), Sbx.ExecOutcome.TIMED_OUT);
    }),

    kill: withSession(async session => {
        const process = session.create_process(shell("trap 'exit 5' TERM; echo ready; " +
            'while :; do sleep 0.01; done'));
        process.connect('stdout', () => process.kill(15));
        assertEqual((await process.run_async(null)).get_exit_code(), 5);
    }),

    terminal: withSession(async session => {
        const command = shell('stty -echo; stty size; read x; echo got $x; stty size');
        command.set_terminal(true);
        command.set_terminal_size(11, 22);
        const process = session.create_process(command);
        const terminal = process.get_terminal();
        await process.start_async(null);
        const stream = terminal.get_input_stream();
        let shown = '';
        for (;;) {
            const bytes = await stream.read_bytes_async(1024, GLib.PRIORITY_DEFAULT, null);
            if (bytes.get_size() === 0)
                break;
            shown += text(bytes);
            if (shown === '11 22\r\n') {
                assert(terminal.resize(33, 44));
                terminal.get_output_stream().write_all(encoder.encode('typed\n'), null);
            }
        }
        assertEqual(shown, '11 22\r\ngot typed\r\n33 44\r\n');
        assert((await process.wait_async(null)).get_success());
    }),

    notStarted: withSession(async session => {
        const command = Sbx.Command.new(['no-such-program']);
        const result = await session.exec_async(command, null);
        assertEqual([result.get_outcome(), result.get_not_started()],
            [Sbx.ExecOutcome.NOT_STARTED, Sbx.NotStarted.NOT_FOUND]);
        const error = await assertFails(SBX_ERROR, Sbx.Error.NOT_FOUND,
            session.spawn_async(command, null));
        assert(error.message.includes('no-such-program'));
    }),

    many: withSession(async session => {
        const numbers = [...Array(20).keys()];
        const results = await Promise.all(numbers.map(i =>
            session.exec_async(shell(`echo ${i}`), null)));
        assertEqual(results.map(result => text(result.get_stdout())), numbers.map(i => `${i}\n`));
    }),

    files: withSession(async (session, work) => {
        assert(await session.write_file_async('sub/ü', new GLib.Bytes(encoder.encode('a\0b')), 0o640,
            null));
        assertEqual(text(await session.read_file_async('sub/ü', 0, null)), 'a\0b');
        await assertFails(SBX_ERROR, Sbx.Error.TOO_LARGE, session.read_file_async('sub/ü', 2, null));
        const infos = await session.list_dir_async('sub', null);
        assertEqual([...infos].map(info => [info.get_name(), info.get_size()]), [['ü', 3]]);
        assertEqual((await session.stat_async('sub', null)).get_file_type(),
            Gio.FileType.DIRECTORY);
        assert(await session.create_dir_all_async('x/y', null));
        assert(GLib.file_test(`${work}/x/y`, GLib.FileTest.IS_DIR));
        assert((await session.create_temp_dir_async('new-', null)).includes('/new-'));
        assert(await session.remove_async('sub', null));
        assert(!GLib.file_test(`${work}/sub`, GLib.FileTest.EXISTS));
        await assertFails(Gio.io_error_quark(), Gio.IOErrorEnum.NOT_FOUND,
            session.read_file_async('sub/ü', 0, null));
    }),

    closeInFlight: withSession(async (_session, _work, provider, request) => {
        const session = await provider.open_async(request, null);
        const process = session.create_process(shell('sleep 1000'));
        const seen = [];
        session.connect('closed', (_closed, error) => seen.push(['closed', error]));
        process.connect('exited', () => seen.push('exited'));
        await process.start_async(null);
        await session.close_async(null);
        assertEqual(seen, ['exited', ['closed', null]]);
        await assertFails(SBX_ERROR, Sbx.Error.CLOSED, session.exec_async(shell('true'), null));
    }),

    // One that is dropped ends by itself, and nobody is called back by the collector.
    dropped: withSession(async (_session, _work, provider, request) => {
        let session = await provider.open_async(request, null);
        let told = 0;
        session.connect('closed', () => told++);
        const id = session.get_id();
        const path = GLib.build_filenamev([provider.get_data_dir(), 'sessions', id]);
        assert(GLib.file_test(path, GLib.FileTest.EXISTS));
        session = null;
        await until(() => {
            System.gc();
            return !GLib.file_test(path, GLib.FileTest.EXISTS);
        });
        assertEqual(told, 0);
    }),

    // What is explained is what the session that is open was made of.
    plan: withSession(async (session, work, provider, request) => {
        const plan = await provider.explain_async(request.get_reach(), null);
        const enforced = session.get_plan();
        const list = some => Array.from({length: some.get_n_items()}, (_, i) => some.get_item(i));
        const places = some => list(some).map(entry => [entry.get_kind(), entry.get_path()]);
        assertEqual(places(plan), places(enforced));
        const [entry, access] = enforced.check_path(`${work}/new`);
        assertEqual(access, Sbx.PlanAccess.READ | Sbx.PlanAccess.WRITE | Sbx.PlanAccess.REPLACE);
        assertEqual(entry.get_kind(), Sbx.PlanKind.WRITE);
        assertEqual(plan.check_path('/etc/shadow'), [null, Sbx.PlanAccess.NONE]);
        assertEqual(plan.check_domain('example.org'), [null, false]);
        assertEqual(plan.get_problems(), []);
        assertEqual(JSON.parse(text(plan.to_json())).cwd, work);
    }),

    diagnose: withSession(async (_session, _work, provider) => {
        const findings = await provider.diagnose_async(null);
        assert(findings.get_n_items() > 0);
        assert([...findings].every(finding => finding instanceof Sbx.Finding));
    }),
});
