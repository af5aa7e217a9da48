#!/usr/bin/env -S gjs -m
// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A provider whose "sandboxes" are directories of this machine: nothing is held in. It shows what a
// provider needs, and is served to any client that speaks sandbox.v1.
//
// Usage: provider.js serve

import Gio from 'gi://Gio?version=2.0';
import GLib from 'gi://GLib?version=2.0';
import GObject from 'gi://GObject?version=2.0';
import Sbx from 'gi://Sbx?version=1';

Gio._promisify(Gio.Subprocess.prototype, 'wait_async', 'wait_finish');
Gio._promisify(Sbx.ProviderServer.prototype, 'run_async', 'run_finish');

const DirectorySession = GObject.registerClass(class DirectorySession extends Sbx.Session {
    file(path) {
        return Gio.File.new_for_path(GLib.canonicalize_filename(path ?? '', this.get_cwd()));
    }

    vfunc_handle_exec(invocation) {
        const launcher = Gio.SubprocessLauncher.new(Gio.SubprocessFlags.NONE);
        launcher.set_cwd(this.file(invocation.get_command().get_cwd()).get_path());
        launcher.take_stdin_fd(invocation.steal_stdin_fd());
        launcher.take_stdout_fd(invocation.steal_stdout_fd());
        launcher.take_stderr_fd(invocation.steal_stderr_fd());
        try {
            const child = launcher.spawnv(invocation.get_command().get_argv());
            invocation.started(child.get_identifier());
            invocation.get_cancellable().connect(() => child.force_exit());
            this.wait(child, invocation);
        } catch (error) {
            invocation.return_not_started(Sbx.NotStarted.OTHER, 0, error.message);
        }
        return true;
    }

    async wait(child, invocation) {
        await child.wait_async(null);
        if (child.get_if_exited())
            invocation.return_exited(child.get_exit_status());
        else
            invocation.return_signalled(child.get_term_sig(), false);
    }

    vfunc_handle_read_file(path, maxSize, invocation) {
        try {
            const [content] = this.file(path).load_bytes(null);
            invocation.return_bytes(content);
        } catch (error) {
            invocation.return_gerror(error);
        }
        return true;
    }

    vfunc_handle_write_file(path, content, mode, invocation) {
        // An exception is an answer as well: that it failed.
        this.file(path).replace(null, false, Gio.FileCreateFlags.NONE, null).splice(
            Gio.MemoryInputStream.new_from_bytes(content),
            Gio.OutputStreamSpliceFlags.CLOSE_TARGET, null);
        invocation.return_done();
        return true;
    }
});

const DirectoryProvider = GObject.registerClass({
    Implements: [Sbx.Provider],
}, class DirectoryProvider extends GObject.Object {
    vfunc_handle_open(request, invocation) {
        const capabilities = Sbx.Capabilities.EXEC | Sbx.Capabilities.FILES;
        invocation.return_session(new DirectorySession({cwd: request.get_workspace(), capabilities}));
        return true;
    }
});

await Sbx.ProviderServer.new_for_stdio(new DirectoryProvider()).run_async(null);
