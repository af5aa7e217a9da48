// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What a script does with a provider that is another program, through the typelib alone.

import Gio from 'gi://Gio?version=2.0';
import GLib from 'gi://GLib?version=2.0';
import Sbx from 'gi://Sbx?version=1';

import {assert, assertEqual, assertFails, run, until} from '../introspection/tap.js';

Gio._promisify(Sbx.ProviderClient.prototype, 'open_async', 'open_finish');
Gio._promisify(Sbx.ProviderClient.prototype, 'close_async', 'close_finish');
Gio._promisify(Sbx.ProviderClient.prototype, 'start_async', 'start_finish');
Gio._promisify(Sbx.ExecutionEnvironment.prototype, 'close_async', 'close_finish');
Gio._promisify(Sbx.Process.prototype, 'run_async', 'run_finish');
for (const name of ['exec', 'close', 'read_file', 'write_file'])
    Gio._promisify(Sbx.Session.prototype, `${name}_async`, `${name}_finish`);

const FAKE = GLib.getenv('SBX_FAKE_PROVIDER');
const OURS = GLib.getenv('SBX_PROVIDER_BWRAP');
const WORKSPACE = GLib.dir_make_tmp('sbx-client-XXXXXX');

function fake(options = 'plain') {
    const client = Sbx.ProviderClient.new([FAKE, options, 'serve']);
    client.set_provider_name('fake');
    return client;
}

// A plain provider, and ours.
function both() {
    return [fake(), Sbx.ProviderClient.new([OURS, 'serve'])];
}

function request() {
    return Sbx.OpenRequest.new_for_profile(WORKSPACE, 'default');
}

function text(bytes) {
    return new TextDecoder().decode(bytes.toArray());
}

run({
    async session() {
        for (const client of both()) {
            const session = await client.open_async(request(), null);
            const command = Sbx.Command.new(['sh', '-c', 'echo out; echo err >&2; exit 5']);
            const result = await session.exec_async(command, null);
            assertEqual(result.get_exit_code(), 5);
            assertEqual(text(result.get_stdout()), 'out\n');
            assertEqual(text(result.get_stderr()), 'err\n');
            await session.close_async(null);
            await client.close_async(null);
            assertEqual(client.state, Sbx.ProviderClientState.CLOSED);
        }
    },

    async live() {
        for (const client of both()) {
            const session = await client.open_async(request(), null);
            const script = 'echo first; while ! test -e go; do sleep 0.01; done; echo second';
            const process = session.create_process(Sbx.Command.new(['sh', '-c', script]));
            let seen = '';
            process.connect('stdout', (_process, bytes) => (seen += text(bytes)));
            const done = process.run_async(null);
            await until(() => seen === 'first\n');
            GLib.file_set_contents(`${WORKSPACE}/go`, '');
            assert((await done).get_success());
            assertEqual(seen, 'first\nsecond\n');
            GLib.unlink(`${WORKSPACE}/go`);
            await session.close_async(null);
            await client.close_async(null);
        }
    },

    async binary() {
        const content = Uint8Array.from({length: 4096}, (_, i) => i % 256);
        for (const client of both()) {
            const session = await client.open_async(request(), null);
            await session.write_file_async('file', new GLib.Bytes(content), 0, null);
            const bytes = await session.read_file_async('file', 0, null);
            assertEqual(Array.from(bytes.toArray()), Array.from(content));
            await session.close_async(null);
            await client.close_async(null);
        }
    },

    async cancel() {
        for (const client of both()) {
            client.set_grace(5000);
            const session = await client.open_async(request(), null);
            const process = session.create_process(
                Sbx.Command.new(['sh', '-c', 'echo now; sleep 0.5']));
            const cancellable = new Gio.Cancellable();
            process.connect('stdout', () => cancellable.cancel());
            await assertFails(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED,
                process.run_async(cancellable));
            assert((await session.exec_async(Sbx.Command.new(['true']), null)).get_success());
            await session.close_async(null);
            await client.close_async(null);
        }
    },

    async retryable() {
        const kinds = [['fail=open', Sbx.Error.PROVIDER, 'out_of_order: '],
            ['fail=open,retryable', Sbx.Error.PROVIDER_RETRYABLE, 'ssh_not_ready: ']];
        for (const [options, code, start] of kinds) {
            const client = fake(options);
            const error = await assertFails(Sbx.error_quark(), code,
                client.open_async(request(), null));
            assert(error.message.startsWith(start), error.message);
            await client.close_async(null);
        }
    },

    async broken() {
        const client = fake('die-before=read_file,status=7,say=farewell');
        let closed = null;
        client.connect('closed', (_client, error) => (closed = error));
        const session = await client.open_async(request(), null);
        const error = await assertFails(Sbx.error_quark(), Sbx.Error.LOST,
            session.read_file_async('a', 0, null));
        assert(error.message.includes('farewell'), error.message);
        await until(() => closed !== null);
        assertEqual(client.state, Sbx.ProviderClientState.BROKEN);
        assertEqual(session.get_state(), Sbx.SessionState.LOST);
    },

    async environment() {
        for (const client of both()) {
            const environment = Sbx.ExecutionEnvironment.open(client, request(), null);
            const session = environment.get_session();
            assert((await session.exec_async(Sbx.Command.new(['true']), null)).get_success());
            await environment.close_async(null);
            assertEqual(client.state, Sbx.ProviderClientState.CLOSED);
        }
        GLib.unlink(`${WORKSPACE}/file`);
        GLib.rmdir(WORKSPACE);
    },
});
