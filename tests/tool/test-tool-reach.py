#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a sandbox reaches, as the tool takes it and tells it: check, explain, and the options of run."""

import json
import os
import socket
import subprocess

from tooltest import TOOL, ToolTest, main

ESCAPE = "\033]0;forged\a"


class ReachTest(ToolTest):
    def setUp(self):
        super().setUp()
        for name in ("src", "data", "out"):
            os.mkdir(self.path(name))
        self.write_file("data/file", b"data\n")

    def spec(self, value, name="spec.json"):
        """Writes a spec and returns its path."""
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        with open(os.path.join(self.dir, name), "wb") as file:
            file.write(text)
        return os.path.join(self.dir, name)

    def listen(self, path):
        """Listens on a socket for as long as the test lasts."""
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()
        self.addCleanup(server.close)
        return server

    def git(self, *args):
        env = dict(self.env, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")
        subprocess.run(["git", *args], cwd=self.work, env=env, check=True, stdout=subprocess.DEVNULL)

    def assert_wrong(self, result, *words):
        """One clear message, on one line and without a byte that a terminal takes for an order."""
        self.assertEqual(result.returncode, 2, result)
        self.assertEqual(result.stdout, b"")
        self.assertTrue(result.stderr.startswith(b"sbx-tool: "), result.stderr)
        self.assertNotIn(b"\033", result.stderr)
        self.assertEqual(result.stderr.count(b"\n"), 1, result.stderr)
        for word in words:
            self.assertIn(word.encode(), result.stderr)


class Check(ReachTest):
    def test_fine(self):
        for spec in ({}, {"write": ["."]}, {"cwd": "data", "read": ["file", "../src"], "git": "none"}):
            result = self.tool("check", self.spec(spec))
            self.assert_status(result, 0)
            self.assertIn(b"spec.json: fine", result.stdout)
            self.assertEqual(result.stdout.count(b"\n"), 1)
            self.assertEqual(result.stderr, b"")

    def test_from_input(self):
        result = self.tool("check", "-", input=b'{"read": ["data"]}')
        self.assert_status(result, 0)
        self.assertIn(b"standard input: fine", result.stdout)
        self.assert_wrong(self.tool("check", "-", input=b'{"read": ["missing"]}'), "missing")
        self.assert_wrong(self.tool("check", "-", input=b""), "standard input")

    def test_options(self):
        """Without a spec the options say what is reached, as those of run do."""
        self.assert_status(self.tool("check"), 0)
        self.assert_status(self.tool("check", "--write", ".", "--git", "read"), 0)
        self.assert_wrong(self.tool("check", "--read", "missing"), "missing")
        spec = self.spec({"read": ["data"]})
        self.assert_status(self.tool("check", "--spec", spec, "--write", "out"), 0)
        self.assert_wrong(self.tool("check", "--spec", spec, "--write", "missing"), "missing")

    def test_what_is_wrong(self):
        for spec, words in (
                (b"", ("spec.json",)),
                (b"{", ("spec.json",)),
                (b"[]", ("spec.json", "object")),
                ({"reed": []}, ("reed",)),
                ({"read": "data"}, ("read", "list")),
                ({"read": ["missing"]}, ("read", "missing", "does not exist")),
                ({"read": [""]}, ("read",)),
                ({"read": ["~root/x"]}, ("read", "~root")),
                ({"read": ["/"]}, ("read",)),
                ({"write": ["~"]}, ("write", "home")),
                ({"network": ["http://example.org"]}, ("network",)),
                ({"git": "all"}, ("git", "all")),
                ({"limits": {"memory": -1}}, ("memory",)),
                ({"limits": {"fuel": 1}}, ("fuel",)),
                ({"sockets": ["data/file"]}, ("sockets", "data/file")),
                ({"bwrap": {"image": "x"}}, ("image",)),
                ({"docker": {}}, ("docker",))):
            with self.subTest(spec):
                self.assert_wrong(self.tool("check", self.spec(spec)), *words)

    def test_not_enforceable(self):
        """Opening would fail, so it is wrong."""
        self.assert_wrong(self.tool("check", self.spec({"network": ["example.org"]})), "network")

    def test_arguments(self):
        spec = self.spec({})
        self.assert_wrong(self.tool("check", spec, "more"), "more")
        self.assertEqual(self.tool("check", "--frobnicate").returncode, 2)
        self.assert_wrong(self.tool("check", "--spec", ""), "--spec")


class Hostile(ReachTest):
    """A spec can be anything."""

    def test_missing(self):
        self.assert_wrong(self.tool("check", "missing.json"), "missing.json", "No such file")

    def test_no_regular_file(self):
        """Nobody writes to the FIFO: waiting for it would be for ever."""
        os.mkfifo(self.path("fifo"))
        self.listen(self.path("socket"))
        for path in ("fifo", "socket", "data", "/dev/null", "/dev/zero"):
            with self.subTest(path):
                for command in ("check", "explain"):
                    self.assert_wrong(self.tool(command, path), path)
                self.assert_status(self.tool("run", "--spec", path, "--", "true"), 125, path)

    def test_large(self):
        """Ten GiB of nothing, which take no room on the disk."""
        with open(self.path("large"), "wb") as file:
            file.truncate(10 << 30)
        self.assert_wrong(self.tool("check", "large"), "large", "16 MiB")

    def test_large_input(self):
        zero = open("/dev/zero", "rb")
        self.addCleanup(zero.close)
        self.assert_wrong(self.tool("check", "-", stdin=zero), "standard input", "16 MiB")

    def test_deep(self):
        self.assert_wrong(self.tool("check", self.spec(b"[" * 1_000_000)), "spec.json")
        deep = b'{"bwrap": ' * 100_000 + b"{}" + b"}" * 100_000
        self.assert_wrong(self.tool("check", self.spec(deep)), "spec.json")

    def test_no_utf8(self):
        self.assert_wrong(self.tool("check", self.spec(b'{"read": ["\xff"]}')), "spec.json")

    def test_name_of_spec(self):
        """The name of a spec is any bytes, and is told without orders to the terminal."""
        for name in (b"\xff\xfe", ESCAPE.encode(), "\u202egnp.exe".encode()):
            path = os.path.join(os.fsencode(self.work), name)
            with open(path, "wb") as file:
                file.write(b"{}")
            result = self.tool("check", name)
            self.assert_status(result, 0)
            self.assertTrue(result.stdout.isascii(), result.stdout)
            self.assertNotIn(b"\033", result.stdout)
            os.unlink(path)
            self.assert_wrong(self.tool("check", name))

    def test_escapes_in_spec(self):
        self.assert_wrong(self.tool("check", self.spec({"read": [ESCAPE]})), "forged")
        self.assert_wrong(self.tool("check", self.spec({ESCAPE: []})), "forged")
        self.assert_wrong(self.tool("check", self.spec({"network": [ESCAPE]})), "forged")

    def test_escapes_in_paths(self):
        """A directory whose name is an order to the terminal, and one of no UTF-8."""
        os.mkdir(self.path(ESCAPE.replace("/", "")))
        os.mkdir(os.path.join(os.fsencode(self.work), b"\xff"))
        for option in ((), ("--json",)):
            result = self.tool("explain", "--read", ESCAPE, "--read", b"\xff", "--path", ESCAPE, *option)
            self.assert_status(result, 0)
            for byte in b"\033\a\xff":
                self.assertNotIn(byte, result.stdout)
            self.assertIn(b"forged", result.stdout)
        answer = json.loads(result.stdout)["answers"][0]
        self.assertEqual(answer["path"], os.path.join(self.work, ESCAPE))
        self.assertTrue(answer["read"])

    def test_question(self):
        result = self.tool("explain", "--path", ESCAPE, "--domain", ESCAPE)
        self.assert_status(result, 0)
        self.assertNotIn(b"\033", result.stdout)

    def test_many(self):
        """More than a plan could have mounts."""
        spec = self.spec({"read": ["data"] * 100_000})
        result = self.tool("check", spec)
        self.assertIn(result.returncode, (0, 2))


class Explain(ReachTest):
    def test_a_limit_that_nothing_holds(self):
        """Who allows that is told so, and does not find it left out."""
        self.env.update(DBUS_SYSTEM_BUS_ADDRESS="unix:path=/nonexistent/bus",
                        DBUS_SESSION_BUS_ADDRESS="unix:path=/nonexistent/bus")
        result = self.tool("explain", self.spec({"limits": {"processes": 10},
                                                 "bwrap": {"allowWeaker": ["processes"]}}))
        self.assert_status(result, 0)
        means = b"none (weaker)" if os.getuid() == 0 else b"rlimit"
        self.assertIn(b"processes: 10  (" + means + b")", result.stdout)

    def answers(self, *args):
        result = self.tool("explain", *args, "--json")
        self.assert_status(result, 0)
        self.assertEqual(result.stderr, b"")
        return json.loads(result.stdout)["answers"]

    def plan(self, *args):
        result = self.tool("explain", *args, "--json")
        self.assert_status(result, 0)
        return json.loads(result.stdout)["plan"]

    def test_text(self):
        result = self.tool("explain", self.spec({"read": ["data"], "write": ["out"]}))
        self.assert_status(result, 0)
        lines = result.stdout.decode().splitlines()
        self.assertEqual(lines[0].split(), ["cwd", self.work])
        write = [line for line in lines if line.startswith(f"write      {self.path('out')} ")]
        self.assertEqual(len(write), 1, lines)
        self.assertIn("write[0]", write[0])
        self.assertTrue(any(line.startswith("seal       / ") for line in lines))
        self.assertTrue(any(line.startswith("read       /usr ") for line in lines))

    def test_order(self):
        """Whatever holds another comes before it, or it would be covered."""
        plan = self.plan("--write", ".", "--read", "data", "--write", "data/file")
        self.assertEqual(plan["cwd"], self.work)
        paths = [entry["path"] for entry in plan["entries"] if entry["kind"] in ("read", "write")]
        for name in ("", "data", "data/file"):
            self.assertIn(os.path.normpath(self.path(name)), paths)
        places = [paths.index(os.path.normpath(self.path(name))) for name in ("", "data", "data/file")]
        self.assertEqual(places, sorted(places))
        for entry in plan["entries"]:
            self.assertTrue(entry["reason"])
            self.assertTrue(entry["source"])

    def test_paths(self):
        spec = self.spec({"write": ["."], "read": ["data"], "git": "none"})
        wanted = {"new": (True, True, True), "data/file": (True, False, False), ".": (True, True, False),
                  "/usr/bin/env": (True, False, False), "/etc/shadow": (False, False, False),
                  "/tmp/x": (True, True, True), "~/.ssh/id_rsa": (False, False, False),
                  "/bin/sh": (True, False, False)}
        names = [name if "/" in name or name == "." else "./" + name for name in wanted]
        answers = self.answers(spec, *names)
        for name, answer in zip(wanted, answers):
            with self.subTest(name):
                self.assertEqual((answer["read"], answer["write"], answer["replace"]), wanted[name], answer)
        self.assertEqual(answers[1]["by"]["path"], self.path("data"))
        self.assertIn("read[0]", answers[1]["by"]["source"])
        self.assertIsNone(answers[4]["by"])

    def test_answers_as_text(self):
        result = self.tool("explain", "--write", ".", "--read", "data", "./data/file", "./x", "/root/x", "example.org")
        self.assert_status(result, 0)
        lines = result.stdout.decode().splitlines()
        self.assertEqual(lines[0], f"{self.path('data/file')}: can be read")
        self.assertIn(f"read       {self.path('data')}", lines[1])
        self.assertEqual(lines[2], f"{self.path('x')}: can be read, written, replaced")
        self.assertEqual(lines[4], "/root/x: is not there, and cannot be made")
        self.assertEqual(lines[5], "example.org: cannot be reached")

    def test_domains(self):
        spec = self.spec({"network": ["example.org", "*.Example.net"]})
        names = ("example.org", "a.example.org", "a.example.net", "example.net", "EXAMPLE.ORG")
        answers = self.answers(spec, *names)
        self.assertEqual([answer["reach"] for answer in answers], [True, False, True, False, True])
        self.assertIn("network[1]", answers[2]["by"]["source"])
        problems = self.plan(spec)["problems"]
        self.assertEqual(len(problems), 1)
        self.assertIn("network", problems[0])

    def test_forced(self):
        """What an argument looks like does not count when it is said what it is."""
        answers = self.answers("--path", "data", "--domain", "a/b")
        self.assertEqual(answers[0]["path"], self.path("data"))
        self.assertEqual(answers[1]["domain"], "a/b")

    def test_git(self):
        self.git("init", "-q")
        self.write_file(".git/hooks/pre-commit", b"")
        names = ("./.git/hooks/pre-commit", "./.git/config", "./.git/index", "./.git/objects/x", "./.git/worktrees/x")
        full = self.answers("--write", ".", "--git", "full", *names)
        commit = self.answers("--write", ".", *names)
        read = self.answers("--write", ".", "--git", "read", *names)
        none = self.answers("--write", ".", "--git", "none", *names)
        self.assertEqual([a["write"] for a in full], [True] * 5)
        self.assertEqual([a["write"] for a in commit], [False, False, True, True, False])
        self.assertEqual([a["write"] for a in read], [False] * 5)
        self.assertEqual([a["read"] for a in read], [True] * 5)
        self.assertEqual([a["read"] or a["write"] for a in none], [False] * 5)

    def test_nothing_is_made(self):
        self.git("init", "-q")
        before = sorted((root, sorted(folders), sorted(files)) for root, folders, files in os.walk(self.work))
        self.plan("--write", ".")
        after = sorted((root, sorted(folders), sorted(files)) for root, folders, files in os.walk(self.work))
        self.assertEqual(before, after)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "data")))

    def test_limits(self):
        limits = self.plan("--limit", "openFiles=100", "--limit", "fileSize=2M")["limits"]
        self.assertEqual(limits["openFiles"]["value"], 100)
        self.assertEqual(limits["fileSize"]["value"], 2 << 20)
        self.assertTrue(limits["fileSize"]["means"])

    def test_T10_mounts_that_come_along(self):
        """What the host has mounted below a path comes along, once, and is said."""
        self.git("init", "-q", "src")
        script = ('mount -t tmpfs x data && mount -t tmpfs -o ro y src && '
                  'exec "$0" explain --json --write . ./data/x ./src/x ./data')
        unshare = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]
        result = subprocess.run([*unshare, "sh", "-c", script, TOOL], cwd=self.work, env=self.env,
                                stdin=subprocess.DEVNULL, capture_output=True, check=True)
        told = json.loads(result.stdout)
        mounted = [entry["path"] for entry in told["plan"]["entries"] if entry["kind"] == "submount"]
        self.assertEqual(sorted(mounted), [self.path("data"), self.path("src")])
        self.assertEqual([a["by"]["kind"] for a in told["answers"]], ["submount"] * 3)
        self.assertEqual([a["write"] for a in told["answers"]], [True, False, True])
        self.assertEqual([a["replace"] for a in told["answers"]], [True, False, False])

    def test_nothing_asked(self):
        """What run without an option would open."""
        plan = self.plan()
        self.assertIn(self.work, [entry["path"] for entry in plan["entries"] if entry["kind"] == "read"])


class Run(ReachTest):
    def sh(self, script, *options, **more):
        return self.tool("run", *options, "--", "sh", "-c", script, **more)

    def test_spec(self):
        spec = self.spec({"cwd": "src", "write": ["../out"], "read": ["../data"]})
        result = self.sh("pwd; cat ../data/file; echo x >../out/made; echo y >../data/made", "--spec", spec)
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stdout.decode(), self.path("src") + "\ndata\n")
        self.assertEqual(os.listdir(self.path("out")), ["made"])
        self.assertEqual(os.listdir(self.path("data")), ["file"])

    def test_options_add(self):
        spec = self.spec({"read": ["data"]})
        result = self.sh("cat data/file; echo x >out/made", "--spec", spec, "--write", "out")
        self.assert_status(result, 0)
        self.assertEqual(os.listdir(self.path("out")), ["made"])

    def test_from_input(self):
        """What is left of the input, nothing, is the command's."""
        result = self.sh("cat; cat data/file", "--spec", "-", input=b'{"read": ["data"]}')
        self.assert_status(result, 0)
        self.assertEqual(result.stdout, b"data\n")

    def test_cwd(self):
        spec = self.spec({"cwd": "src"})
        self.assertEqual(self.sh("pwd", "--spec", spec, "--cwd", "data").stdout.decode(), self.path("data") + "\n")

    def test_wrong(self):
        for spec, word in (({"read": ["missing"]}, "missing"), ({"reed": []}, "reed"), (b"{", "spec.json")):
            self.assert_status(self.sh("true", "--spec", self.spec(spec)), 125, word)
        self.assert_status(self.sh("true", "--spec", "missing"), 125, "missing")
        self.assert_status(self.sh("true", "--spec", ""), 125, "--spec")

    def test_network(self):
        """Not enforceable yet is an error, and not a sandbox without a network."""
        self.assert_status(self.sh("true", "--spec", self.spec({"network": ["example.org"]})), 125, "network")

    CONNECT = ("/usr/bin/python3", "-c", "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])")

    def test_socket(self):
        self.listen(self.path("data/socket"))
        self.listen(self.path("data/other"))
        connect = lambda name, *options: self.tool("run", *options, "--", *self.CONNECT, self.path(name)).returncode
        self.assertEqual(connect("data/socket", "--socket", "data/socket"), 0)
        self.assertNotEqual(connect("data/other", "--socket", "data/socket"), 0)
        self.assertNotEqual(connect("data/socket"), 0)
        self.assertNotEqual(connect("data/socket", "--write", "."), 0)
        self.assertEqual(connect("data/socket", "--spec", self.spec({"sockets": ["data/socket"]})), 0)
        self.assert_status(self.sh("true", "--socket", "data/file"), 125, "data/file")

    def test_git(self):
        self.git("init", "-q")
        commit = "echo x >x; git add x && git commit -qm x"
        hook = "echo x >.git/hooks/pre-commit"
        self.assertNotEqual(self.sh(commit, "--write", ".", "--git", "none").returncode, 0)
        self.assertNotEqual(self.sh(commit, "--write", ".", "--git", "read").returncode, 0)
        self.assert_status(self.sh("git config user.name; git config user.email; " + commit, "--write", ".",
                                   env=self.with_name()), 0)
        self.assertNotEqual(self.sh(hook, "--write", ".", "--git", "commit").returncode, 0)
        self.assert_status(self.sh(hook, "--write", ".", "--git", "full"), 0)
        self.assertEqual(self.read_file(".git/hooks/pre-commit"), b"x\n")

    def with_name(self):
        home = os.path.join(self.dir, "home")
        os.makedirs(home, exist_ok=True)
        with open(os.path.join(home, ".gitconfig"), "w") as file:
            file.write("[user]\nname = Somebody\nemail = somebody@example.org\n")
        return dict(self.env, HOME=home)

    def test_limit(self):
        result = self.sh("ulimit -n; ulimit -t", "--limit", "openFiles=77", "--limit", "cpuTime=2m")
        self.assert_status(result, 0)
        self.assertEqual(result.stdout.split(), [b"77", b"120"])

    def test_bad_values(self):
        for option, value in (("--git", "all"), ("--git", ""), ("--limit", "memory"), ("--limit", "memory="),
                              ("--limit", "memory=0"), ("--limit", "memory=-1"), ("--limit", "memory=1X"),
                              ("--limit", "memory=1KK"), ("--limit", "memory=99999999999T"),
                              ("--limit", "memory=18446744073709551617"), ("--limit", "fuel=1"),
                              ("--limit", "openFiles=1K"), ("--limit", "cpuTime=1.5"), ("--limit", "=1"),
                              ("--limit", ESCAPE), ("--git", ESCAPE)):
            with self.subTest(f"{option} {value!r}"):
                result = self.sh("true", option, value)
                self.assert_status(result, 125, option)
                self.assertNotIn(b"\033", result.stderr)

    def test_not_with_a_provider(self):
        """Its profile decides."""
        for option, value in (("--spec", "x"), ("--socket", "x"), ("--git", "read"), ("--limit", "openFiles=9")):
            self.assert_status(self.sh("true", "--provider", "bwrap", option, value), 125, option)


if __name__ == "__main__":
    main()
