// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Providers and sessions written in JavaScript, and what their callers get: promises, and a collector
// during which nobody must be called back.

import Gio from 'gi://Gio?version=2.0';
import GLib from 'gi://GLib?version=2.0';
import GObject from 'gi://GObject?version=2.0';
import Sbx from 'gi://Sbx?version=1';
import System from 'system';

import {assert, assertEqual, assertFails, run, until} from './tap.js';

Gio._promisify(Sbx.Provider.prototype, 'open_async', 'open_finish');
Gio._promisify(Sbx.Process.prototype, 'run_async', 'run_finish');
Gio._promisify(Sbx.Process.prototype, 'start_async', 'start_finish');
Gio._promisify(Sbx.Process.prototype, 'wait_async', 'wait_finish');
for (const verb of ['exec', 'spawn', 'close', 'read_file', 'write_file', 'create_dir_all',
    'create_temp_dir', 'remove', 'list_dir', 'stat', 'read_range', 'write_range', 'rename', 'copy'])
    Gio._promisify(Sbx.Session.prototype, `${verb}_async`, `${verb}_finish`);

const SBX_ERROR = Sbx.error_quark();
const ALL = Sbx.Capabilities.EXEC | Sbx.Capabilities.SPAWN | Sbx.Capabilities.STDIN |
    Sbx.Capabilities.SIGNALS | Sbx.Capabilities.TERMINAL | Sbx.Capabilities.FILES |
    Sbx.Capabilities.LISTING | Sbx.Capabilities.RANGES | Sbx.Capabilities.MOVING;

const encoder = new TextEncoder();
const text = bytes => new TextDecoder().decode(bytes.toArray());
const data = string => new GLib.Bytes(encoder.encode(string));

// A whole provider, as in the manual.

const EchoSession = GObject.registerClass(class EchoSession extends Sbx.Session {
    vfunc_handle_exec(invocation) {
        const argv = invocation.get_command().get_argv();
        invocation.started(null);
        invocation.emit_stdout(encoder.encode(`${argv.join(' ')}\n`));
        invocation.return_exited(argv.length);
        return true;
    }

    vfunc_handle_close(invocation) {
        invocation.return_done();
        return true;
    }
});

const EchoProvider = GObject.registerClass({
    Implements: [Sbx.Provider],
}, class EchoProvider extends GObject.Object {
    vfunc_handle_open(request, invocation) {
        invocation.return_session(new EchoSession({
            id: 'echo',
            cwd: request.get_reach().get_cwd(),
        }));
        return true;
    }
});

// Writes a line again and again until it is cancelled, and says then that it was killed.
const TickSession = GObject.registerClass(class TickSession extends Sbx.Session {
    vfunc_handle_exec(invocation) {
        invocation.started('ticker');
        invocation.get_cancellable().connect(() => invocation.return_signalled(9, false));
        GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => {
            if (invocation.is_answered())
                return GLib.SOURCE_REMOVE;
            invocation.emit_stdout(data('tick\n'));
            return GLib.SOURCE_CONTINUE;
        });
        return true;
    }
});

// Has its files in a map.
const MemorySession = GObject.registerClass(class MemorySession extends Sbx.Session {
    constructor() {
        super({cwd: '/memory', capabilities: ALL});
        this.files = new Map();
        this.modes = new Map();
    }

    missing(path, invocation) {
        invocation.return_gerror(new GLib.Error(Gio.io_error_quark(), Gio.IOErrorEnum.NOT_FOUND,
            `${path} is not there`));
        return true;
    }

    info(path) {
        const info = new Gio.FileInfo();
        info.set_name(path);
        info.set_size(this.files.get(path).get_size());
        info.set_file_type(Gio.FileType.REGULAR);
        return info;
    }

    vfunc_handle_read_file(path, _maxSize, invocation) {
        if (!this.files.has(path))
            return this.missing(path, invocation);
        invocation.return_bytes(this.files.get(path));
        return true;
    }

    vfunc_handle_write_file(path, content, mode, invocation) {
        this.files.set(path, content);
        this.modes.set(path, mode);
        invocation.return_done();
        return true;
    }

    vfunc_handle_create_dir_all(path, invocation) {
        this.modes.set(path, 'directory');
        invocation.return_done();
        return true;
    }

    vfunc_handle_create_temp_dir(prefix, invocation) {
        invocation.return_path(`/memory/${prefix}1`);
        return true;
    }

    vfunc_handle_remove(path, invocation) {
        this.files.delete(path);
        invocation.return_done();
        return true;
    }

    vfunc_handle_list_dir(_path, invocation) {
        const infos = new Gio.ListStore({item_type: Gio.FileInfo.$gtype});
        for (const name of [...this.files.keys()].sort())
            infos.append(this.info(name));
        invocation.return_infos(infos);
        return true;
    }

    vfunc_handle_stat(path, invocation) {
        if (!this.files.has(path))
            return this.missing(path, invocation);
        invocation.return_info(this.info(path));
        return true;
    }

    vfunc_handle_read_range(path, offset, length, invocation) {
        const content = this.files.get(path).toArray();
        invocation.return_range(content.slice(offset, offset + length), content.length);
        return true;
    }

    vfunc_handle_write_range(path, content, offset, truncate, _mode, invocation) {
        const old = this.files.get(path).toArray();
        const part = content.toArray();
        const end = offset + part.length;
        const whole = new Uint8Array(truncate ? end : Math.max(end, old.length));
        whole.set(old.slice(0, whole.length));
        whole.set(part, offset);
        this.files.set(path, new GLib.Bytes(whole));
        invocation.return_done();
        return true;
    }

    vfunc_handle_rename(path, newPath, invocation) {
        this.files.set(newPath, this.files.get(path));
        this.files.delete(path);
        invocation.return_done();
        return true;
    }

    vfunc_handle_copy(path, newPath, invocation) {
        this.files.set(newPath, this.files.get(path));
        invocation.return_done();
        return true;
    }
});

// A session class that does the same with every call.
function sessionClass(name, handle) {
    const klass = class extends Sbx.Session {
        constructor() {
            super({capabilities: ALL});
            this.kept = null;
        }
    };
    for (const verb of ['exec', 'close', 'read_file', 'write_file', 'create_dir_all',
        'create_temp_dir', 'remove', 'list_dir', 'stat', 'read_range', 'write_range', 'rename',
        'copy']) {
        // An assignment would look for one to chain up to.
        Object.defineProperty(klass.prototype, `vfunc_handle_${verb}`, {
            value(...values) {
                return handle(this, values.at(-1));
            },
        });
    }
    return GObject.registerClass({GTypeName: name}, klass);
}

const KeepSession = sessionClass('KeepSession', (session, invocation) => {
    session.kept = invocation;
    return true;
});
const RaiseSession = sessionClass('RaiseSession', () => {
    throw new Error('this exception is part of the test');
});
const DropSession = sessionClass('DropSession', () => true);
const BareSession = GObject.registerClass(class BareSession extends Sbx.Session {});

function providerClass(name, handle) {
    return GObject.registerClass({GTypeName: name, Implements: [Sbx.Provider]},
        class extends GObject.Object {
            vfunc_handle_open(request, invocation) {
                return handle(this, invocation);
            }
        });
}

const KeepProvider = providerClass('KeepProvider', (provider, invocation) => {
    provider.kept = invocation;
    return true;
});
const RaiseProvider = providerClass('RaiseProvider', () => {
    throw new Error('this exception is part of the test');
});
const DropProvider = providerClass('DropProvider', () => true);

// Hands its commands to another session and waits for it, within its function.
const RelaySession = GObject.registerClass(class RelaySession extends Sbx.Session {
    vfunc_handle_exec(invocation) {
        const result = this.inner.exec(invocation.get_command(), invocation.get_cancellable());
        invocation.started(null);
        invocation.emit_stdout(result.get_stdout());
        invocation.return_exited(result.get_exit_code());
        return true;
    }
});

const request = (cwd = '/work') => Sbx.OpenRequest.new(Sbx.Reach.new(cwd));
const command = (...argv) => Sbx.Command.new(argv);

const VERBS = {
    exec: [command('true')],
    spawn: [command('true')],
    read_file: ['file', 0],
    write_file: ['file', data('content'), 0o644],
    create_dir_all: ['dir'],
    create_temp_dir: ['dir-'],
    remove: ['file'],
    list_dir: ['.'],
    stat: ['file'],
    read_range: ['file', 0, 7],
    write_range: ['file', data('content'), 0, false, 0o644],
    rename: ['file', 'other'],
    copy: ['file', 'other'],
    close: [],
};

run({
    async promises() {
        const session = await new EchoProvider().open_async(request('/some/where'), null);
        assert(session instanceof EchoSession);
        assertEqual([session.get_id(), session.cwd], ['echo', '/some/where']);
        const result = await session.exec_async(command('echo', 'a', 'b'), null);
        assertEqual(text(result.get_stdout()), 'echo a b\n');
        assertEqual([result.get_outcome(), result.get_exit_code()], [Sbx.ExecOutcome.EXITED, 3]);
        assert(await session.close_async(null));
        assertEqual(session.state, Sbx.SessionState.CLOSED);
    },

    sync() {
        const session = new EchoProvider().open(request(), null);
        const result = session.exec(command('echo', 'ünïcödé', ''), null);
        assertEqual(text(result.get_stdout()), 'echo ünïcödé \n');
        const process = session.create_process(command('a'));
        assertEqual(process.run(null).get_exit_code(), 1);
        assert(session.close(null));
    },

    async signals() {
        const session = new EchoSession();
        const seen = [];
        session.connect('notify::state', () => seen.push(session.state));
        session.connect('closed', (_session, error) => seen.push(['closed', error]));
        session.connect('process-created', (_session, process) => {
            seen.push('created');
            process.connect('started', () => seen.push('started'));
            process.connect('stdout', (_process, bytes) => seen.push(text(bytes)));
            process.connect('exited', (_process, result) => seen.push(result.get_exit_code()));
        });
        await session.exec_async(command('echo', 'x'), null);
        await session.close_async(null);
        assertEqual(seen, ['created', 'started', 'echo x\n', 2, Sbx.SessionState.CLOSING,
            Sbx.SessionState.CLOSED, ['closed', null]]);
    },

    async errors() {
        const provider = new EchoProvider();
        const error = await assertFails(SBX_ERROR, Sbx.Error.INVALID,
            provider.open_async(request('relative'), null));
        assert(error.message.includes('relative'));
        await assertFails(SBX_ERROR, Sbx.Error.INVALID,
            () => provider.open(request('relative'), null));
        const session = new EchoSession();
        await assertFails(SBX_ERROR, Sbx.Error.UNSUPPORTED, () => session.remove('a', null));
        await session.close_async(null);
        await assertFails(SBX_ERROR, Sbx.Error.CLOSED, session.exec_async(command('a'), null));
    },

    values() {
        const reach = Sbx.Reach.new('/work');
        reach.add_read('/usr/ü');
        reach.set_variable('A', '1');
        reach.set_variable('A', null);
        reach.set_variable('B', '2');
        assertEqual([reach.get_read(), reach.get_environment()], [['/usr/ü'], ['B=2']]);
        assert(reach.equal(reach.copy()));

        const described = command('a', '');
        described.set_stdin_bytes(new Uint8Array([0, 1]));
        assertEqual([...described.get_stdin_bytes().toArray()], [0, 1]);
        assertEqual(described.get_stdin(), Sbx.Stdin.BYTES);
        assertEqual(described.get_argv(), ['a', '']);
        assertEqual(described.get_collect_limit(), Sbx.COMMAND_DEFAULT_COLLECT_LIMIT);
        const session = new EchoSession({capabilities: Sbx.Capabilities.EXEC |
            Sbx.Capabilities.FILES});
        assert(session.capabilities & Sbx.Capabilities.FILES);
        assertEqual(new EchoSession().get_capabilities(), Sbx.Capabilities.EXEC);
    },

    async streaming() {
        const process = new TickSession().create_process(command('tick'));
        const cancellable = new Gio.Cancellable();
        const seen = [];
        process.connect('stdout', (_process, bytes) => {
            seen.push(text(bytes));
            if (seen.length === 5)
                cancellable.cancel();
        });
        await assertFails(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED,
            process.run_async(cancellable));
        assert(seen.length >= 5 && seen.every(line => line === 'tick\n'));
        assertEqual(process.get_id(), 'ticker');
        assertEqual(process.get_result().get_outcome(), Sbx.ExecOutcome.SIGNALLED);
        assertEqual((await process.wait_async(null)).get_signal(), 9);
    },

    async timeout() {
        const described = command('tick');
        described.set_timeout(20);
        const result = await new TickSession().exec_async(described, null);
        assertEqual(result.get_outcome(), Sbx.ExecOutcome.TIMED_OUT);
    },

    async later() {
        const session = new KeepSession();
        const promise = session.spawn_async(command('a'), null);
        session.kept.return_not_started(Sbx.NotStarted.NOT_FOUND, 2, 'no such program');
        const error = await assertFails(SBX_ERROR, Sbx.Error.NOT_FOUND, promise);
        assertEqual(error.message, 'no such program');
    },

    async exceptions() {
        await assertFails(SBX_ERROR, Sbx.Error.UNANSWERED,
            new RaiseProvider().open_async(request(), null));
        for (const [verb, values] of Object.entries(VERBS)) {
            await assertFails(SBX_ERROR, Sbx.Error.UNANSWERED,
                new RaiseSession()[`${verb}_async`](...values, null));
            await assertFails(SBX_ERROR, Sbx.Error.UNANSWERED,
                () => new RaiseSession()[verb](...values, null));
        }
    },

    async dropped() {
        const calls = [new DropProvider().open_async(request(), null)];
        for (const [verb, values] of Object.entries(VERBS))
            calls.push(new DropSession()[`${verb}_async`](...values, null));
        System.gc();
        for (const promise of calls)
            await assertFails(SBX_ERROR, Sbx.Error.UNANSWERED, promise);
    },

    // With handlers and with closures that know them, they are only found by the collector.
    async droppedByCollector() {
        for (const [verb, values] of Object.entries(VERBS)) {
            const session = new KeepSession();
            let settled = false;
            const promise = session[`${verb}_async`](...values, null);
            promise.catch(() => {}).finally(() => (settled = true));
            (() => {
                const invocation = session.kept;
                invocation.connect('notify', () => print(invocation));
                invocation.ring = {invocation};
                session.kept = null;
            })();
            const collect = GLib.timeout_add(GLib.PRIORITY_DEFAULT, 5, () => {
                System.gc();
                return GLib.SOURCE_CONTINUE;
            });
            await until(() => settled);
            GLib.source_remove(collect);
            await assertFails(SBX_ERROR, Sbx.Error.UNANSWERED, promise);
        }
    },

    async missing() {
        for (const [verb, values] of Object.entries(VERBS)) {
            const promise = new BareSession({capabilities: ALL})[`${verb}_async`](...values, null);
            if (verb === 'close')
                assert(await promise);
            else
                await assertFails(SBX_ERROR, Sbx.Error.UNSUPPORTED, promise);
        }
    },

    async cancel() {
        for (const [verb, values] of Object.entries(VERBS)) {
            if (verb === 'close')
                continue;
            const session = new KeepSession();
            const cancellable = new Gio.Cancellable();
            const promise = session[`${verb}_async`](...values, cancellable);
            promise.catch(() => {});
            cancellable.cancel();
            await until(() => session.kept.get_cancellable().is_cancelled());
            session.kept.return_error(Sbx.Error.FAILED, 'ended');
            await assertFails(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED, promise);
        }
    },

    async relay() {
        const relay = new RelaySession();
        relay.inner = new EchoSession();
        const result = await relay.exec_async(command('a', 'b'), null);
        assertEqual([text(result.get_stdout()), result.get_exit_code()], ['a b\n', 2]);
    },

    async kill() {
        const session = new KeepSession();
        const process = session.create_process(command('a'));
        const promise = process.run_async(null);
        const received = [];
        session.kept.connect('kill', (invocation, number) => {
            received.push(number);
            if (number === 15)
                invocation.return_signalled(number, false);
            return number === 15;
        });
        await assertFails(SBX_ERROR, Sbx.Error.UNSUPPORTED, () => process.kill(10));
        assert(process.kill(15));
        assertEqual(received, [10, 15]);
        assertEqual((await promise).get_signal(), 15);
    },

    async terminal() {
        const session = new KeepSession();
        const described = command('a');
        described.set_terminal(true);
        const process = session.create_process(described);
        const terminal = process.get_terminal();
        const promise = process.run_async(null);
        const sizes = [];
        session.kept.connect('resize', (_invocation, rows, columns) => {
            sizes.push([rows, columns]);
            return true;
        });
        session.kept.started(null);
        assertEqual(terminal.steal_fd(), -1);
        assert(terminal.resize(10, 20));
        assertEqual(sizes, [[10, 20]]);
        terminal.get_output_stream().write_all(encoder.encode('typed'), null);
        assertEqual(text(session.kept.get_stdin().read_bytes(16, null)), 'typed');
        session.kept.emit_stdout(data('shown'));
        assertEqual(text(terminal.get_input_stream().read_bytes(16, null)), 'shown');
        session.kept.return_exited(0);
        await promise;
        assertEqual(terminal.get_input_stream().read_bytes(16, null).get_size(), 0);
    },

    async fail() {
        const session = new KeepSession();
        const closed = [];
        session.connect('closed', (_session, error) => closed.push(error));
        const running = session.exec_async(command('a'), null);
        session.fail(new GLib.Error(SBX_ERROR, Sbx.Error.LOST, 'it fell over'));
        assertEqual(session.state, Sbx.SessionState.LOST);
        assert(closed[0].matches(SBX_ERROR, Sbx.Error.LOST));
        assertEqual(session.get_failure().message, 'it fell over');
        const result = await running;
        assertEqual([result.get_outcome(), result.get_message()],
            [Sbx.ExecOutcome.LOST, 'it fell over']);
    },

    async lateSession() {
        const provider = new KeepProvider();
        const session = new KeepSession();
        const cancellable = new Gio.Cancellable();
        const promise = provider.open_async(request(), cancellable);
        promise.catch(() => {});
        cancellable.cancel();
        await assertFails(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED, promise);
        provider.kept.return_session(session);
        assert(session.kept instanceof Sbx.CloseInvocation);
        session.kept.return_done();
        await until(() => session.state === Sbx.SessionState.CLOSED);
    },

    async files() {
        const session = new MemorySession();
        const name = 'b\n漢';
        assert(await session.write_file_async(name, data('one\0two'), 0o640, null));
        assert(session.write_file('a', data(''), 0o600, null));
        assertEqual([session.modes.get(name), session.modes.get('a')], [0o640, 0o600]);
        assertEqual(text(await session.read_file_async(name, 0, null)), 'one\0two');
        await assertFails(SBX_ERROR, Sbx.Error.TOO_LARGE, session.read_file_async(name, 6, null));
        assertEqual((await session.stat_async(name, null)).get_size(), 7);

        const infos = await session.list_dir_async('.', null);
        assert(infos instanceof Gio.ListModel);
        assertEqual([...infos].map(info => info.get_size()), [0, 7]);
        assertEqual(infos.get_item(1).get_name(), name);

        assert(await session.create_dir_all_async('x/y', null));
        assertEqual(await session.create_temp_dir_async('new-', null), '/memory/new-1');
        assert(await session.remove_async(name, null));
        await assertFails(Gio.io_error_quark(), Gio.IOErrorEnum.NOT_FOUND,
            session.read_file_async(name, 0, null));
    },

    async ranges() {
        const session = new MemorySession();
        await session.write_file_async('a', data('one two'), 0o600, null);
        await session.write_range_async('a', data('TW'), 4, false, 0, null);
        const [bytes, size] = await session.read_range_async('a', 3, 3, null);
        assertEqual([text(bytes), size], [' TW', 7]);
        assert(session.write_range('a', data('!'), 3, true, 0, null));
        assert(await session.copy_async('a', 'b', null));
        assert(await session.rename_async('a', 'c', null));
        const [whole] = session.read_range('c', 0, 100, null);
        assertEqual([[...session.files.keys()].sort(), text(whole)], [['b', 'c'], 'one!']);
    },

    // Sessions that are dropped open, with handlers: nobody is told from within the collector.
    async droppedSession() {
        let told = 0;
        for (let i = 0; i < 20; i++) {
            const session = new EchoSession();
            session.connect('closed', () => told++);
            session.connect('notify::state', () => told++);
            session.ring = {session};
            await session.exec_async(command('a'), null);
        }
        System.gc();
        await until(() => true);
        System.gc();
        assertEqual(told, 0);
    },
});
