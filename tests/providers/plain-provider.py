#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A plain sandbox.v1 provider: one thread that reads a line, works on it and answers.

It knows nothing but that protocol. Its sandboxes are directories, and it confines nothing. With
PLAIN_RECORD it appends what it reads, and what it writes, to that file; with PLAIN_ROOT its
sandboxes are there.
"""

import base64
import hashlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.environ.get("PLAIN_ROOT") or os.path.join(tempfile.gettempdir(), f"plain-provider-{os.getuid()}")
RECORD = os.environ.get("PLAIN_RECORD")


class ProviderError(Exception):
    def __init__(self, code, message, retryable=False):
        super().__init__(message)
        self.code = code
        self.retryable = retryable


def record(direction, line):
    if RECORD:
        with open(RECORD, "a", encoding="utf-8") as file:
            file.write(f"{direction}{line}\n")


def send(**message):
    line = json.dumps(message)
    record("<", line)
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def encode(data):
    return base64.b64encode(data).decode("ascii")


def decode(text):
    return base64.b64decode(text, validate=True)


def group_dir(group):
    return os.path.join(ROOT, hashlib.sha256(group.encode()).hexdigest()[:16])


def session_path(params, name="path"):
    return os.path.join(params["session"]["cwd"], params[name])


class Provider:
    def __init__(self):
        self.spawned = {}
        self.count = 0

    def capabilities(self, _id, _params):
        return {"exec": True}

    def open(self, _id, params):
        if params["profile"]["provider"] != "plain":
            raise ProviderError("bad_profile", f"this is plain, not {params['profile']['provider']}")
        if params["profile"]["name"] == "later":
            raise ProviderError("ssh_not_ready", "try again", True)
        self.count += 1
        session_id = f"plain_{os.getpid()}_{self.count}"
        workspace = os.path.join(group_dir(params["metadata"]["sandbox_group_id"]), session_id)
        shutil.copytree(params["workspace_sync"]["host_path"], workspace, symlinks=True)
        cwd = params.get("cwd")
        cwd = os.path.join(workspace, cwd.lstrip("/")) if cwd else workspace
        return {"id": session_id, "provider_session_id": f"os-{os.getpid()}", "cwd": cwd,
                "capabilities": {"exec": True},
                "provider_state_json": json.dumps({"workspace": workspace})}

    def close(self, _id, params):
        session = params["session"]
        self.end_spawned(session["id"])
        workspace = json.loads(session["provider_state_json"])["workspace"]
        if not workspace.startswith(ROOT + "/"):
            raise ProviderError("provider_failure", "this was never a sandbox")
        shutil.rmtree(workspace, ignore_errors=True)
        return {}

    def cleanup_group(self, _id, params):
        folder = group_dir(params["sandbox_group_id"])
        try:
            sessions = os.listdir(folder)
        except FileNotFoundError:
            return {"cleaned_count": 0}
        for session in sessions:
            self.end_spawned(session)
        shutil.rmtree(folder)
        return {"cleaned_count": len(sessions)}

    def create_temp_dir(self, _id, params):
        return {"path": tempfile.mkdtemp(prefix=params["prefix"], dir=params["session"]["cwd"])}

    def create_dir_all(self, _id, params):
        os.makedirs(session_path(params), exist_ok=True)
        return {}

    def write_file(self, _id, params):
        path = session_path(params)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(decode(params["content_base64"]))
        return {}

    def read_file(self, _id, params):
        with open(session_path(params), "rb") as file:
            return {"content_base64": encode(file.read())}

    def remove(self, _id, params):
        path = session_path(params)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)
        return {}

    def start(self, params, **streams):
        if not params["argv"]:
            raise ProviderError("bad_request", "argv is empty")
        has_input = params.get("stdin_base64") is not None
        child = subprocess.Popen(
            params["argv"], cwd=os.path.join(params["session"]["cwd"], params.get("cwd") or ""),
            env={**os.environ, **params.get("env", {})}, start_new_session=True,
            stdin=subprocess.PIPE if has_input else subprocess.DEVNULL, **streams)
        return child, decode(params["stdin_base64"]) if has_input else b""

    def exec(self, request_id, params):
        child, rest = self.start(params, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        send(id=request_id, event={"type": "started", "process_id": str(child.pid)})
        output = {"stdout": b"", "stderr": b""}
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ, "stdout")
            selector.register(child.stderr, selectors.EVENT_READ, "stderr")
            if child.stdin and rest:
                os.set_blocking(child.stdin.fileno(), False)
                selector.register(child.stdin, selectors.EVENT_WRITE)
            elif child.stdin:
                child.stdin.close()
            while len(selector.get_map()) > 0:
                for key, _events in selector.select():
                    if key.data is None:
                        rest = self.feed(selector, key.fileobj, rest)
                        continue
                    chunk = os.read(key.fd, 65536)
                    if not chunk:
                        selector.unregister(key.fileobj)
                        continue
                    output[key.data] += chunk
                    send(id=request_id, event={"type": key.data, "data_base64": encode(chunk)})
        code = child.wait()
        child.stdout.close()
        child.stderr.close()
        send(id=request_id, event={"type": "exited", "exit_code": code})
        return {"exit_code": code, "stdout_base64": encode(output["stdout"]),
                "stderr_base64": encode(output["stderr"])}

    @staticmethod
    def feed(selector, pipe, rest):
        try:
            rest = rest[os.write(pipe.fileno(), rest):]
        except BrokenPipeError:
            rest = b""
        if not rest:
            selector.unregister(pipe)
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        return rest

    def spawn(self, request_id, params):
        child, rest = self.start(params, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if child.stdin:
            try:
                child.stdin.write(rest)
                child.stdin.close()
            except BrokenPipeError:
                pass
        self.spawned.setdefault(params["session"]["id"], []).append(child)
        send(id=request_id, event={"type": "started", "process_id": str(child.pid)})
        return {"process_id": str(child.pid)}

    def end_spawned(self, session_id):
        children = self.spawned.pop(session_id, [])
        for child in children:
            self.signal(child, signal.SIGTERM)
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline and any(child.poll() is None for child in children):
            time.sleep(0.01)
        for child in children:
            self.signal(child, signal.SIGKILL)
            child.wait()

    @staticmethod
    def signal(child, number):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            pass

    def shutdown(self, _id, _params):
        for session_id in list(self.spawned):
            self.end_spawned(session_id)
        return {}


METHODS = ("capabilities", "open", "close", "cleanup_group", "create_temp_dir", "create_dir_all",
           "write_file", "read_file", "remove", "exec", "spawn", "shutdown")


def handle(provider, line):
    request_id = ""
    try:
        request = json.loads(line)
        request_id = request["id"]
        method = request["method"]
        if method not in METHODS:
            raise ProviderError("unknown_method", method)
        send(id=request_id, result=getattr(provider, method)(request_id, request.get("params", {})))
        return method != "shutdown"
    except ProviderError as error:
        send(id=request_id, error={"code": error.code, "message": str(error),
                                   "retryable": error.retryable})
    except Exception as error:      # whatever it is, the client has to hear of it
        send(id=request_id, error={"code": "provider_failure", "message": str(error)})
    return True


def main():
    if sys.argv[1:] != ["serve"]:
        sys.exit(f"Usage: {sys.argv[0]} serve")
    provider = Provider()
    for line in sys.stdin:
        line = line.strip()
        if line:
            record(">", line)
            if not handle(provider, line):
                break


main()
