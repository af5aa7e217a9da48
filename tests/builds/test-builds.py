#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real builds inside a sandbox, as their users run them: with sbx-tool."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tool"))
import tooltest

TOOL = os.environ["SBX_TOOL"]
DEADLINE_S = 300

HELLO_H = "int add (int a, int b);\n"
HELLO_C = '#include "add.h"\nint add (int a, int b) { return a + b; }\n'
TEST_C = """#include <stdio.h>
#include "add.h"
int main (void)
{
  if (add (20, 22) != 42)
    return 1;
  puts ("adds");
  return 0;
}
"""
MAKEFILE = """OBJECTS = $(patsubst %.c,%.o,$(wildcard part*.c)) add.o
check: test
\t./test
test: test.o $(OBJECTS)
\t$(CC) -o $@ $^
%.o: %.c add.h
\t$(CC) -O1 -c -o $@ $<
"""

SETUP_PY = """from setuptools import setup
setup(name="greet", version="1.0", py_modules=["greet"],
      entry_points={"console_scripts": ["greet=greet:main"]})
"""
GREET_PY = """import sys
def main():
    print("greetings from", sys.prefix != sys.base_prefix)
"""

# A registry as small as one can be: it serves what `npm pack` made, from a directory, inside.
REGISTRY_JS = """
const fs = require('fs'), http = require('http'), crypto = require('crypto');
const tarball = fs.readFileSync('packed/left-1.0.0.tgz');
const integrity = 'sha512-' + crypto.createHash('sha512').update(tarball).digest('base64');
http.createServer((request, response) => {
  fs.appendFileSync('requests.log', request.url + '\\n');
  if (request.url.endsWith('.tgz'))
    return response.end(tarball);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({name: 'left', 'dist-tags': {latest: '1.0.0'}, versions: {'1.0.0': {
    name: 'left', version: '1.0.0',
    dist: {tarball: 'http://127.0.0.1:4873/left/-/left-1.0.0.tgz', integrity}}}}));
}).listen(4873, '127.0.0.1', () => fs.writeFileSync('listening', ''));
"""
SERVE_AND = "node registry.js & while [ ! -e listening ]; do sleep 0.05; done; "


class Builds(unittest.TestCase):
    def setUp(self):
        self.top = Path(tempfile.mkdtemp(prefix="sbx-builds-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.top)
        self.home = self.top / "home"
        self.project = self.top / "project"
        self.home.mkdir()
        self.project.mkdir()

    def sandbox(self, *command, options=(), env=None, status=0):
        """Runs a command in a sandbox that may write the project, and returns its output."""
        done = subprocess.run(
            [TOOL, "run", "--write", ".", *options, "--", *command], cwd=self.project,
            env={**os.environ, "HOME": str(self.home), "XDG_DATA_HOME": str(self.top / "data"),
                 "XDG_CACHE_HOME": str(self.top / "cache"), **(env or {})},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=DEADLINE_S)
        output = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, status, output)
        return output

    def write(self, **files):
        for name, content in files.items():
            (self.project / name.replace("__", ".")).write_text(content)

    def test_c_project_with_parallel_make(self):
        self.write(add__h=HELLO_H, add__c=HELLO_C, test__c=TEST_C, Makefile=MAKEFILE)
        for i in range(12):
            (self.project / f"part{i}.c").write_text(f"int part{i} (void) {{ return {i}; }}\n")

        self.assertIn("adds", self.sandbox("make", "-j4", "check"))
        # What was built is the host's, and runs there.
        self.assertEqual(subprocess.check_output([self.project / "test"]), b"adds\n")
        self.assertEqual((self.project / "test").stat().st_uid, os.getuid())

    def test_python_project_with_virtual_environment(self):
        self.write(setup__py=SETUP_PY, greet__py=GREET_PY)
        output = self.sandbox("sh", "-ec", """
            /usr/bin/python3 -m venv env
            env/bin/pip install -q --no-index --no-build-isolation --no-deps .
            env/bin/greet
        """)
        self.assertIn("greetings from True", output)

    def install_node(self):
        """Node and npm below the home directory, as version managers put them there."""
        node = shutil.which("node")
        npm = shutil.which("npm")
        self.assertIsNotNone(node, "node is missing: ./bootstrap deps test installs it")
        self.assertIsNotNone(npm, "npm is missing: ./bootstrap deps test installs it")

        bin_dir = self.home / ".nvm" / "versions" / "node" / "v1.0.0" / "bin"
        bin_dir.mkdir(parents=True)
        shutil.copy2(os.path.realpath(node), bin_dir / "node")
        script = bin_dir / "npm"
        script.write_text(f'#!/bin/sh\nexec "{bin_dir}/node" "{os.path.realpath(npm)}" "$@"\n')
        script.chmod(0o755)
        # A name that is nowhere else.
        shutil.copy2(script, bin_dir / "npm-of-home")
        return {"PATH": f"{bin_dir}:{os.environ['PATH']}"}

    def pack(self):
        left = self.project / "left"
        left.mkdir()
        (left / "package.json").write_text(json.dumps({"name": "left", "version": "1.0.0"}))
        (left / "index.js").write_text("module.exports = 'was installed';\n")
        (self.project / "package.json").write_text(json.dumps(
            {"name": "app", "version": "1.0.0", "private": True, "dependencies": {"left": "1.0.0"}}))
        self.write(registry__js=REGISTRY_JS)

    def test_npm_with_toolchain_and_warm_cache(self):
        env = self.install_node()
        self.pack()
        toolchain = ("--toolchain",)
        quiet = "--no-audit --no-fund --no-update-notifier --loglevel=error"
        registry = "--registry=http://127.0.0.1:4873/"

        # Without the toolchain the hint names it.
        output = self.sandbox("npm-of-home", env=env, status=127)
        self.assertIn("--toolchain", output)

        self.sandbox("sh", "-ec", f"mkdir packed; cd packed; npm-of-home pack ../left {quiet}",
                     options=toolchain, env=env)
        # The lock file, from the registry; then a clean install with nothing in the cache.
        self.sandbox("sh", "-ec", SERVE_AND + f"npm-of-home install --package-lock-only {quiet} {registry}",
                     options=toolchain, env=env)
        for name in ("listening", "requests.log"):
            (self.project / name).unlink()
        self.sandbox("sh", "-ec", SERVE_AND + f"npm-of-home ci {quiet} {registry}",
                     options=(*toolchain, "--fresh"), env=env)
        self.assertIn(".tgz", (self.project / "requests.log").read_text())

        # A kept home: the first clean install fills the cache, the second needs no registry at all.
        (self.project / "listening").unlink()
        self.sandbox("sh", "-ec", SERVE_AND + f"npm-of-home ci {quiet} {registry}",
                     options=toolchain, env=env)
        (self.project / "requests.log").unlink()
        self.sandbox("npm-of-home", "ci", "--offline", *quiet.split(), registry,
                     options=toolchain, env=env)
        self.assertFalse((self.project / "requests.log").exists())

        output = self.sandbox("node", "-e", "console.log(require('left'))", options=toolchain, env=env)
        self.assertEqual(output.strip(), "was installed")


if __name__ == "__main__":
    tooltest.main()
