#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A provider whose "sandboxes" are directories of this machine: nothing is held in. It shows what a
provider needs, and is served to any client that speaks sandbox.v1.

Usage: provider.py serve
"""

import os

import gi

gi.require_version("Sbx", "1")
from gi.repository import Gio, GLib, GObject, Sbx


class DirectorySession(Sbx.Session):
    def file(self, path):
        return Gio.File.new_for_path(os.path.join(self.get_cwd(), path or ""))

    def do_handle_exec(self, invocation):
        launcher = Gio.SubprocessLauncher.new(Gio.SubprocessFlags.NONE)
        launcher.set_cwd(self.file(invocation.get_command().get_cwd()).get_path())
        launcher.take_stdin_fd(invocation.steal_stdin_fd())
        launcher.take_stdout_fd(invocation.steal_stdout_fd())
        launcher.take_stderr_fd(invocation.steal_stderr_fd())
        try:
            child = launcher.spawnv(invocation.get_command().get_argv())
        except GLib.Error as error:
            invocation.return_not_started(Sbx.NotStarted.OTHER, 0, error.message)
            return True
        invocation.started(child.get_identifier())
        invocation.get_cancellable().connect(lambda *_: child.force_exit())
        child.wait_async(None, self.ended, invocation)
        return True

    def ended(self, child, result, invocation):
        child.wait_finish(result)
        if child.get_if_exited():
            invocation.return_exited(child.get_exit_status())
        else:
            invocation.return_signalled(child.get_term_sig(), False)

    def do_handle_read_file(self, path, max_size, invocation):
        try:
            content, _etag = self.file(path).load_bytes(None)
            invocation.return_bytes(content)
        except GLib.Error as error:
            invocation.return_gerror(error)
        return True

    def do_handle_write_file(self, path, content, mode, invocation):
        # An exception is an answer as well: that it failed.
        self.file(path).replace(None, False, Gio.FileCreateFlags.NONE, None).splice(
            Gio.MemoryInputStream.new_from_bytes(content),
            Gio.OutputStreamSpliceFlags.CLOSE_TARGET, None)
        invocation.return_done()
        return True


class DirectoryProvider(GObject.Object, Sbx.Provider):
    def do_handle_open(self, request, invocation):
        able = Sbx.Capabilities.EXEC | Sbx.Capabilities.FILES
        invocation.return_session(DirectorySession(cwd=request.get_workspace(), capabilities=able))
        return True


Sbx.ProviderServer.new_for_stdio(DirectoryProvider()).run(None)
