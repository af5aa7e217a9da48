# SPDX-License-Identifier: LGPL-2.1-or-later
"""A plain, serial client of sandbox.v1, strict in what it takes.

It sends one request, reads that request's events and its answer, and only then sends the next. What
is not the protocol to the letter raises ProtocolError, since it would do so, or worse, elsewhere.
"""

import base64
import json
import select
import subprocess
import time


class ProviderError(Exception):
    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]
        self.message = error["message"]
        self.retryable = error.get("retryable", False)


class ProtocolError(Exception):
    pass


def encode(data):
    return base64.b64encode(data).decode("ascii")


def decode(text):
    return base64.b64decode(text, validate=True)


def refuse_duplicates(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ProtocolError(f"a member is there twice: {[name for name, _ in pairs]}")
    return members


def member(container, name, kind, optional=False):
    """A member that must be of that kind, bool not being a number."""
    value = container.get(name)
    if value is None and optional:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ProtocolError(f"{name} is {value!r}")
    if kind is int and not -2**31 <= value < 2**31:
        raise ProtocolError(f"{name} is {value}")
    return value


class PlainClient:
    """The client; `events` of a call is a list of (type, value) in the order in which they came."""

    def __init__(self, argv, deadline_s=60, **popen):
        self.process = subprocess.Popen([*argv, "serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0, **popen)
        self.deadline_s = deadline_s
        self.count = 0
        self.buffer = b""
        self.messages = []

    # The transport.

    def read_line(self):
        end = time.monotonic() + self.deadline_s
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise ProtocolError(f"no answer in {self.deadline_s} s")
            chunk = self.process.stdout.read(1 << 20)
            if not chunk:
                raise ProtocolError("the provider closed its output")
            self.buffer += chunk
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def send_line(self, line):
        self.process.stdin.write(line + b"\n")

    def receive(self, request_id):
        line = self.read_line()
        try:
            message = json.loads(line.decode("utf-8"), object_pairs_hook=refuse_duplicates)
        except ValueError as error:
            raise ProtocolError(f"{line[:200]!r}: {error}") from None
        if not isinstance(message, dict) or not isinstance(message.get("id"), str):
            raise ProtocolError(f"no envelope: {line[:200]!r}")
        if message["id"] != request_id:
            raise ProtocolError(f"{message['id']} where {request_id} was asked")
        roles = [role for role in ("event", "result", "error") if message.get(role) is not None]
        if len(roles) > 1:
            raise ProtocolError(f"several things in one line: {roles}")
        self.messages.append(message)
        return message

    def call(self, method, params, events=None):
        self.count += 1
        request_id = f"req_{self.count}"
        self.send_line(json.dumps({"id": request_id, "method": method, "params": params}).encode())
        while True:
            message = self.receive(request_id)
            if message.get("event") is not None:
                value = self.event(message["event"])
                if events is not None:
                    events.append(value)
            elif message.get("error") is not None:
                error = message["error"]
                member(error, "code", str)
                member(error, "message", str)
                if not isinstance(error.get("retryable", False), bool):
                    raise ProtocolError(f"retryable is {error['retryable']!r}")
                raise ProviderError(error)
            else:
                return message.get("result") or {}

    @staticmethod
    def event(event):
        kind = member(event, "type", str)
        if kind == "started":
            return kind, member(event, "process_id", str, optional=True)
        if kind in ("stdout", "stderr"):
            return kind, decode(member(event, "data_base64", str, optional=True) or "")
        if kind == "exited":
            return kind, member(event, "exit_code", int)
        raise ProtocolError(f"no event of sandbox.v1: {kind}")

    # The methods.

    def capabilities(self):
        return self.call("capabilities", {})

    @staticmethod
    def metadata(group, tags):
        metadata = {"protocol_version": "sandbox.v1", "request_id": "plain", "sandbox_group_id": group}
        if tags:
            metadata["tags"] = tags
        return metadata

    def open(self, profile, host_path, group="group", cwd=None, tags=None):
        provider, _, name = profile.partition("/")
        params = {"metadata": self.metadata(group, tags),
                  "profile": {"provider": provider, "name": name},
                  "workspace_sync": {"host_path": host_path}}
        if cwd is not None:
            params["cwd"] = cwd
        session = self.call("open", params)
        member(session, "id", str)
        capabilities = session.get("capabilities", {})
        known = {"id": session["id"], "capabilities": {"exec": member(capabilities, "exec", bool)}}
        for name in ("provider_session_id", "cwd", "provider_state_json"):
            value = member(session, name, str, optional=True)
            if value is not None:
                known[name] = value
        # As the reference client does, it gives back what it knows, and nothing else.
        return known

    def close(self, session):
        self.call("close", {"session": session})

    def cleanup_group(self, group):
        result = self.call("cleanup_group", {"metadata": self.metadata(group, None),
                                             "sandbox_group_id": group})
        return member(result, "cleaned_count", int)

    def create_temp_dir(self, session, prefix):
        return member(self.call("create_temp_dir", {"session": session, "prefix": prefix}), "path", str)

    def create_dir_all(self, session, path):
        self.call("create_dir_all", {"session": session, "path": path})

    def write_file(self, session, path, content):
        self.call("write_file", {"session": session, "path": path, "content_base64": encode(content)})

    def read_file(self, session, path):
        return decode(member(self.call("read_file", {"session": session, "path": path}),
                             "content_base64", str))

    def remove(self, session, path):
        self.call("remove", {"session": session, "path": path})

    @staticmethod
    def command(session, argv, cwd, env, stdin):
        params = {"session": session, "argv": argv}
        if cwd is not None:
            params["cwd"] = cwd
        if env:
            params["env"] = env
        if stdin is not None:
            params["stdin_base64"] = encode(stdin)
        return params

    def exec(self, session, argv, cwd=None, env=None, stdin=None, events=None):
        result = self.call("exec", self.command(session, argv, cwd, env, stdin), events)
        return (member(result, "exit_code", int), decode(result.get("stdout_base64", "")),
                decode(result.get("stderr_base64", "")))

    def spawn(self, session, argv, cwd=None, env=None, stdin=None, events=None):
        result = self.call("spawn", self.command(session, argv, cwd, env, stdin), events)
        return member(result, "process_id", str, optional=True)

    def shutdown(self, deadline_s=5):
        """Returns the exit status."""
        self.call("shutdown", {})
        return self.end(deadline_s)

    def end(self, deadline_s=5):
        if self.process.stdin:
            self.process.stdin.close()
        status = self.process.wait(deadline_s)
        self.process.stdout.close()
        return status
