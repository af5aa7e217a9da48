#!/usr/bin/env -S gjs -m
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Runs a command in a sandbox that may change the current directory and reach nothing else, and
// prints its output as it comes.
//
// Usage: run.js COMMAND [ARGUMENT…]

import Gio from 'gi://Gio?version=2.0';
import GLib from 'gi://GLib?version=2.0';
import Sbx from 'gi://Sbx?version=1';
import System from 'system';

Gio._promisify(Sbx.BwrapProvider.prototype, 'open_async', 'open_finish');
Gio._promisify(Sbx.Process.prototype, 'run_async', 'run_finish');
Gio._promisify(Sbx.Session.prototype, 'close_async', 'close_finish');

const stdout = new Gio.UnixOutputStream({fd: 1, close_fd: false});
const stderr = new Gio.UnixOutputStream({fd: 2, close_fd: false});

async function run(argv) {
    const cwd = GLib.get_current_dir();
    const reach = Sbx.Reach.new(cwd);
    reach.add_write(cwd);

    const provider = Sbx.BwrapProvider.new();
    const session = await provider.open_async(Sbx.OpenRequest.new(reach), null);

    try {
        const process = session.create_process(Sbx.Command.new(argv));
        process.connect('stdout', (_process, bytes) => stdout.write_bytes(bytes, null));
        process.connect('stderr', (_process, bytes) => stderr.write_bytes(bytes, null));
        const result = await process.run_async(null);

        if (result.get_outcome() === Sbx.ExecOutcome.EXITED)
            return result.get_exit_code();
        if (result.get_outcome() === Sbx.ExecOutcome.SIGNALLED)
            return 128 + result.get_signal();
        printerr(`run.js: ${result.get_message()}`);
        return 1;
    } finally {
        await session.close_async(null);
    }
}

let status = 125;

if (ARGV.length === 0) {
    printerr('Usage: run.js COMMAND [ARGUMENT…]');
} else {
    try {
        status = await run(ARGV);
    } catch (error) {
        printerr(`run.js: ${error.message}`);
    }
}

System.exit(status);
