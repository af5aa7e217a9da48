#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A checker that finds nothing looks like one that has nothing to find: this shows that it finds."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HEAD = "/*\n * SPDX-License-Identifier: LGPL-2.1-or-later\n */\n\n"
SOURCE = HEAD + '#include "config.h"\n\n'
BODY = "static void\nf (void)\n{\n%s}\n"

# file, its text, what must be said of it (None: nothing)
CASES = [
    ("libsbx/core/a.c", SOURCE + BODY % "  g ();\n", None),
    ("libsbx/core/a.c", "int a;\n", "no SPDX line"),
    ("tests/a.py", "print(1)\n", "no SPDX line"),
    ("tests/meson.build", "test()\n", "no SPDX line"),
    ("bootstrap", "#!/bin/sh\ntrue\n", "no SPDX line"),
    ("libsbx/core/a.c", SOURCE + "int a;", "must end in one newline"),
    ("libsbx/core/a.c", SOURCE + "int a;\n\n", "must end in one newline"),
    ("libsbx/core/a.c", SOURCE + "\tint a;\n", "tab or trailing space"),
    ("libsbx/core/a.c", SOURCE + f"int {'a' * 100};\n", "longer than 100 columns"),
    ("libsbx/core/a.c", SOURCE + "int a;\n" * 850, "file is longer than 850 lines"),
    ("libsbx/core/a.c", SOURCE + BODY % ("  g ();\n" * 61), "function is longer than 60 lines"),
    ("libsbx/core/a.c", SOURCE + BODY % ("  g ();\n" * 60), None),
    ("libsbx/core/a.c", SOURCE + "void f (int a,\n        char *b);\n", "parameter names are not in one column"),
    ("libsbx/core/a.c", SOURCE + "void f (int   a,\n        char *b);\n", None),
    ("libsbx/core/a.c", SOURCE + "int a; // why\n", "use /* */"),
    ("libsbx/core/a.c", SOURCE + 'const char *a = "http://x/*";\nint b;\n', None),
    ("libsbx/core/a.c", SOURCE + 'const char *a = "x/*";\ngint b;\n', "use the C type"),
    ("libsbx/core/a.c", SOURCE + "/* gint, system (), // and more */\n", None),
    ("libsbx/init/a.c", HEAD + BODY % "  strcpy (a, b);\n", "unsafe"),
    ("tests/core/a.c", HEAD + BODY % "  system (a);\n", "argument vector"),
    ("tests/core/a.c", HEAD + BODY % "  g_assert (a);\n", "g_assert_true"),
    ("libsbx/core/a.c", SOURCE + BODY % "  g_spawn_async (a);\n", "GSubprocess"),
    ("tests/core/a.c", HEAD + BODY % "  g_spawn_async (a);\n", None),
    ("libsbx/core/a.c", SOURCE + BODY % "  g_idle_add_full (a);\n", "attach a GSource"),
    ("libsbx/core/a.c", SOURCE + BODY % "  g_timeout_add_seconds (a);\n", "attach a GSource"),
    ("libsbx/core/a.c", SOURCE + BODY % "  g_cancellable_connect (a);\n", "GCancellableSource"),
    ("libsbx/wire/a.c", SOURCE + BODY % "  g_data_input_stream_read_line (a);\n", "lines without a limit"),
    ("libsbx/core/a.c", SOURCE + BODY % "  json_parser_load_from_data (a);\n", "_sbx_json_parse"),
    ("libsbx/json/a.c", SOURCE + BODY % "  json_from_string (a);\n", "_sbx_json_parse"),
    ("tests/json/a.c", HEAD + BODY % "  json_parser_load_from_data (a);\n", None),
    ("libsbx/spec/a.c", SOURCE + BODY % "  json_object_get_int_member (a);\n", "_sbx_json_object_get"),
    ("libsbx/bwrap/a.c", SOURCE + BODY % "  nftw (a);\n", "_sbx_delete_tree"),
    ("libsbx/core/a.c", SOURCE + '#include "json/b.h"\n', None),
    ("libsbx/core/a.c", SOURCE + '#include "files/b.h"\n', "core/ may not use files/"),
    ("libsbx/files/a.c", SOURCE + '#include "core/sbx-error.h"\n', None),
    ("libsbx/files/a.c", SOURCE + '#include "core/sbx-reach.h"\n', "files/ may not use core/"),
    ("libsbx/process/a.c", SOURCE + '#include "bwrap/b.h"\n', "process/ may not use bwrap/"),
    ("libsbx/bwrap/a.c", SOURCE + '#include "init/b.h"\n', None),
    ("libsbx/core/a.c", SOURCE + '#include "b.h"\n', "is of no room"),
    ("libsbx/core/a.c", SOURCE + "#include <sbx.h>\n", "include it by its room"),
    ("libsbx/core/a.c", HEAD + "#include <glib.h>\n", "first include must be config.h"),
    ("libsbx/other/a.c", SOURCE, "is no room"),
    ("libsbx/init/a.c", HEAD + "#include <glib.h>\n", "for libc alone"),
    ("libsbx/init/a.c", HEAD + '#include "core/sbx-protection-private.h"\n', None),
    ("libsbx/init/a.c", HEAD + '#include "core/sbx-error.h"\n', "init/ may not use core/"),
    ("sbx-tool/a.c", SOURCE + "#include <sbx.h>\n", None),
    ("sbx-tool/a.c", SOURCE + '#include "core/sbx-reach.h"\n', "uses what is installed"),
    ("sbx-tool/a.c", SOURCE + '#include "tool.h"\n', None),
    ("libsbx/core/a-private.h", HEAD + "int a;\n", "no #pragma once"),
    ("libsbx/core/a.h", HEAD + "#pragma once\n", "does not refuse"),
    ("libsbx/core/a-private.h", HEAD + "#pragma once\n", None),
    ("libsbx/core/a.c", SOURCE + 'const char *a = N_("x");\n', "libsbx/core/a.c is missing"),
    ("po/POTFILES.in", "libsbx/core/b.c\n", "libsbx/core/b.c has nothing to translate"),
]

failures = 0
for name, text, want in CASES:
    with tempfile.TemporaryDirectory() as top:
        for file, content in (("po/POTFILES.in", "# SPDX\n"), (name, text)):
            path = Path(top, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        run = subprocess.run([sys.executable, os.path.abspath(sys.argv[1])], cwd=top, stdout=subprocess.PIPE, text=True)
        if (run.returncode != 0) != (want is not None) or (want or "") not in run.stdout:
            print(f"{name}: {text[-60:]!r}: wanted {want!r}, got {run.stdout!r}")
            failures += 1

print(f"{len(CASES)} cases, {failures} failures")
sys.exit(failures > 0)
