#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
# A whole provider: its sandboxes run nothing but say what they were asked to run.
import gi

gi.require_version("Sbx", "1")
from gi.repository import GLib, GObject, Sbx


class Session(Sbx.Session):
    def do_handle_exec(self, invocation):
        words = invocation.get_command().get_argv()
        invocation.emit_stdout(GLib.Bytes.new(f"{' '.join(words)}\n".encode()))
        invocation.return_exited(0)
        return True


class Provider(GObject.Object, Sbx.Provider):
    def do_handle_open(self, request, invocation):
        invocation.return_session(Session(cwd="/"))
        return True


Sbx.ProviderServer.new_for_stdio(Provider()).run(None)
