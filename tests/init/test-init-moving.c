/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "init-fixture.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

/* Renaming and copying inside. */

static void
shell (Sandbox    *sandbox,
       const char *script)
{
  g_autoptr(Run) run = run_shell_wait (sandbox, script);

  g_test_message ("%s", run->output[1]->str);
  assert_exited (run, 0);
}

static void
assert_shell (Sandbox    *sandbox,
              const char *script,
              const char *output)
{
  g_autoptr(Run) run = run_shell_wait (sandbox, script);

  g_assert_cmpstr (run->output[1]->str, ==, "");
  g_assert_cmpstr (run->output[0]->str, ==, output);
}

typedef struct
{
  const char *path;
  const char *new_path;
  int         error;
  const char *check;
  const char *output;
} Case;

static void
run_cases (Sandbox     *sandbox,
           SbxInitVerb  verb,
           const Case  *cases,
           gsize        n_cases)
{
  for (gsize i = 0; i < n_cases; i++)
    {
      g_autoptr(Run) run = run_file_verb (sandbox, verb, cases[i].path, cases[i].new_path, NULL,
                                          0);

      g_test_message ("%s %s", cases[i].path, cases[i].new_path);
      if (cases[i].error != 0)
        assert_not_started (run, FILE, cases[i].error);
      else
        assert_exited (run, 0);
      assert_shell (sandbox, cases[i].check, cases[i].output);
    }
}

static void
test_rename (void)
{
  static const Case cases[] = {
    { "/tmp/a", "/tmp/b", 0, "cat /tmp/b; ls /tmp/a 2>/dev/null", "a\n" },
    { "tmp/b", "tmp/old", 0, "cat /tmp/old", "a\n" },
    { "/tmp/link", "/tmp/moved", 0, "readlink /tmp/moved; cat /tmp/target", "target\ntarget\n" },
    { "/tmp/tree", "/tmp/tree2", 0, "cat /tmp/tree2/x/y", "y\n" },
    { "/tmp/tree2", "/tmp/empty", 0, "cat /tmp/empty/x/y", "y\n" },
    { "/tmp/empty", "/tmp/full", ENOTEMPTY, "ls /tmp/full", "f\n" },
    { "/tmp/empty", "/tmp/empty/x/z", EINVAL, "", "" },
    { "/tmp/old", "/tmp/full", EISDIR, "", "" },
    { "/tmp/full", "/tmp/old", ENOTDIR, "", "" },
    { "/tmp/missing", "/tmp/z", ENOENT, "", "" },
    { "/tmp/old", "/tmp/none/z", ENOENT, "", "" },
    { "/tmp/old", "/dev/shm/z", EXDEV, "cat /tmp/old", "a\n" },
    { "", "/tmp/z", ENOENT, "", "" },
    { "/tmp/closed/x", "/tmp/z", EACCES, "", "" },
    { "/tmp/fifo", "/tmp/fifo2", 0, "stat -c %F /tmp/fifo2", "fifo\n" },
  };
  g_autoptr(Sandbox) sandbox = NULL;
  const char *arguments[] = { "--tmpfs", "/dev/shm", NULL };
  g_autoptr(GError) error = NULL;

  g_test_summary ("Renaming does what the system call does");
  sandbox = sandbox_new_full (arguments, NULL, 0, &error);
  g_assert_no_error (error);
  shell (sandbox, "cd /tmp; echo a > a; echo old > old; ln -s target link; echo target > target; "
                  "mkdir -p tree/x empty full closed; echo y > tree/x/y; : > full/f; mkfifo fifo; "
                  ": > closed/x; chmod 555 closed");
  run_cases (sandbox, SBX_INIT_VERB_RENAME, cases, G_N_ELEMENTS (cases));
}

static void
test_copy_file (void)
{
  static const Case cases[] = {
    { "/tmp/a", "/tmp/b", 0, "cat /tmp/b; stat -c %a /tmp/b", "a\n750\n" },
    { "tmp/a", "tmp/old", 0, "cat /tmp/old; stat -c %a /tmp/old", "a\n750\n" },
    { "/tmp/empty", "/tmp/empty2", 0, "stat -c %s /tmp/empty2", "0\n" },
    { "/proc/sys/kernel/ostype", "/tmp/proc", 0, "cat /tmp/proc", "Linux\n" },
    { "/tmp/link", "/tmp/link2", 0, "readlink /tmp/link2", "target\n" },
    { "/tmp/loop", "/tmp/loop2", 0, "readlink /tmp/loop2", "loop\n" },
    { "/tmp/link", "/tmp/old", EEXIST, "cat /tmp/old", "a\n" },
    { "/tmp/a", "/tmp/link", EEXIST, "readlink /tmp/link", "target\n" },
    { "/tmp/a", "/tmp/dir", EEXIST, "", "" },
    { "/tmp/a", "/tmp/fifo", EEXIST, "", "" },
    { "/tmp/a", "/tmp/a", EINVAL, "cat /tmp/a", "a\n" },
    { "/tmp/a", "/tmp/hard", EINVAL, "cat /tmp/a", "a\n" },
    { "/tmp/a", "/tmp/none/z", ENOENT, "", "" },
    { "/tmp/a", "/tmp/z/", ENOTDIR, "", "" },
    { "/tmp/a", "/tmp/.", EEXIST, "", "" },
    { "/tmp/a", "/", EEXIST, "", "" },
    { "/tmp/a", "", ENOENT, "", "" },
    { "", "/tmp/z", ENOENT, "", "" },
    { "/tmp/missing", "/tmp/z", ENOENT, "", "" },
    { "/tmp/fifo", "/tmp/z", EOPNOTSUPP, "", "" },
    { "/dev/zero", "/tmp/z", EOPNOTSUPP, "", "" },
    { "/tmp/secret", "/tmp/z", EACCES, "", "" },
    { "/tmp/a", "/tmp/readonly", EACCES, "cat /tmp/readonly", "kept\n" },
    { "/tmp/a", "/tmp/closed/z", EACCES, "", "" },
    { "/tmp/a", "/tmp/closed/open", 0, "cat /tmp/closed/open", "a\n" },
    { "/tmp/sparse", "/tmp/sparse2", 0,
      "stat -c %s /tmp/sparse2; tail -c 3 /tmp/sparse2; "
      "test $(du -k /tmp/sparse2 | cut -f1) -lt 200 && echo sparse",
      "1099511627776\nendsparse\n" },
  };
  g_autoptr(Sandbox) sandbox = sandbox_new ();

  g_test_summary ("A file is copied whole, with its holes, or nothing is changed");
  shell (sandbox, "cd /tmp; echo a > a; chmod 750 a; ln a hard; echo a longer one > old; "
                  ": > empty; ln -s target link; ln -s loop loop; mkdir dir; mkfifo fifo; "
                  ": > secret; chmod 0 secret; echo kept > readonly; chmod 444 readonly; "
                  "mkdir closed; echo a longer one > closed/open; chmod 666 closed/open; "
                  "chmod 555 closed; truncate -s 1T sparse; "
                  "printf end | dd of=sparse bs=1 seek=1099511627773 conv=notrunc status=none");
  run_cases (sandbox, SBX_INIT_VERB_COPY, cases, G_N_ELEMENTS (cases));
  assert_shell (sandbox, "find /tmp -name '.sbx*' -o -name z", "");
}

static void
test_copy_tree (void)
{
  static const char list[] = "cd /tmp/copy && find . -printf '%p %m %y %l\n' | sort";
  static const Case cases[] = {
    { "/tmp/tree", "/tmp/copy", 0, list,
      ". 1755 d \n./closed 500 d \n./closed/f 400 f \n./d 700 d \n./d/e 755 d \n./d/e/f 640 f \n"
      "./dangling 777 l nowhere\n./up 777 l ../..\n" },
    { "/tmp/tree", "/tmp/copy", EEXIST, "", "" },
    { "/tmp/tree", "/tmp/file", EEXIST, "cat /tmp/file", "file\n" },
    { "/tmp/tree", "/tmp/empty", EEXIST, "", "" },
    { "/tmp/tree", "/tmp/tree", EINVAL, "", "" },
    { "/tmp/tree", "/tmp/tree/d/in", EINVAL, "ls /tmp/tree/d", "e\n" },
    { "/tmp/tree", "/tmp/into/in", EINVAL, "ls /tmp/tree/d", "e\n" },
    { "/tmp", "/tmp/empty/in", EINVAL, "ls -A /tmp/empty", "" },
    { "/tmp/tree/", "/tmp/copy2/", 0, "cat /tmp/copy2/d/e/f", "f\n" },
    { "/tmp/many", "/tmp/many2", 0, "ls /tmp/many2 | wc -l", "5001\n" },
    { "/tmp/special", "/tmp/special2", EOPNOTSUPP, "", "" },
    { "/tmp/locked", "/tmp/locked2", EACCES, "", "" },
    { "/tmp/tree/d/e", "/tmp/none/z", ENOENT, "", "" },
  };
  g_autoptr(Sandbox) sandbox = sandbox_new ();

  g_test_summary ("A tree is copied with its permissions and links, and never into itself");
  shell (sandbox, "cd /tmp; mkdir -p tree/d/e tree/closed empty many special locked; "
                  "echo f > tree/d/e/f; chmod 640 tree/d/e/f; chmod 700 tree/d; "
                  "ln -s nowhere tree/dangling; ln -s ../.. tree/up; : > tree/closed/f; "
                  "chmod 400 tree/closed/f; chmod 500 tree/closed; chmod 1755 tree; "
                  "echo file > file; ln -s tree/d into; cd many; seq 0 5000 | xargs touch; "
                  "mkfifo ../special/fifo; chmod 0 ../locked");
  run_cases (sandbox, SBX_INIT_VERB_COPY, cases, G_N_ELEMENTS (cases));
}

static void
test_copy_deep (void)
{
  static const char make_deep[] =
    "import os\n"
    "for name, depth in (('deep', 150), ('deeper', 4000)):\n"
    "  os.chdir('/tmp')\n"
    "  for i in range(depth):\n"
    "    os.mkdir(name)\n"
    "    os.chdir(name)\n"
    "  open('end', 'w').close()\n";
  static const Case cases[] = {
    { "/tmp/deep", "/tmp/copy", 0, "find /tmp/copy -name end | wc -l", "1\n" },
    { "/tmp/deeper", "/tmp/copy2", ENAMETOOLONG, "", "" },
  };
  const char *python[] = { "/usr/bin/python3", "-c", make_deep, NULL };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) made = run_argv (sandbox, SBX_INIT_VERB_EXEC, python);

  g_test_summary ("How deep a tree may be is limited, and is more than there usually is");
  run_wait (made);
  assert_exited (made, 0);
  run_cases (sandbox, SBX_INIT_VERB_COPY, cases, G_N_ELEMENTS (cases));
}

/* A mount within the tree is copied as well; a name that is a mount is written into. */
static void
test_mounts (void)
{
  g_autofree char *directory = g_dir_make_tmp ("sbx-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (directory, "file", NULL);
  const char *arguments[] = {
    "--bind", file, "/tmp/mounted", "--bind", directory, "/tmp/tree/sub", NULL,
  };
  static const Case cases[] = {
    { "/tmp/tree", "/tmp/copy", 0, "cat /tmp/copy/sub/file", "outside\n" },
    { "/tmp/new", "/tmp/mounted", 0, "cat /tmp/mounted", "new\n" },
    { "/tmp/new", "/tmp/tree/sub", EEXIST, "", "" },
    { "/tmp/tree", "/tmp/tree/sub/in", EINVAL, "ls -A /tmp/tree/sub", "file\n" },
  };
  g_autoptr(Sandbox) sandbox = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *content = NULL;

  g_assert_true (g_file_set_contents (file, "outside\n", -1, NULL));
  sandbox = sandbox_new_full (arguments, NULL, 0, &error);
  g_assert_no_error (error);
  shell (sandbox, "echo new > /tmp/new");
  run_cases (sandbox, SBX_INIT_VERB_COPY, cases, G_N_ELEMENTS (cases));
  g_assert_true (g_file_get_contents (file, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "new\n");

  g_unlink (file);
  g_rmdir (directory);
}

/* Directories become links to a place with a secret, and back, while they are copied. */
static void
test_swapped (void)
{
  static const char swap[] =
    "cd /tmp; mkdir -p tree/d/e outside; echo secret > outside/secret; echo f > tree/d/e/f; "
    "echo ready; while :; do mv tree/d/e kept; ln -s /tmp/outside tree/d/e; rm tree/d/e; "
    "mkfifo tree/d/e; rm tree/d/e; mv kept tree/d/e; done";
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) swapper = run_shell (sandbox, swap);

  g_test_summary ("Who changes a tree while it is copied does not lead the copy elsewhere");
  test_wait_for (swapper->output[0]->len > 0);

  for (guint i = 0; i < 100; i++)
    {
      g_autofree char *name = g_strdup_printf ("/tmp/copy-%u", i);
      g_autoptr(Run) run = run_file_verb (sandbox, SBX_INIT_VERB_COPY, "/tmp/tree", name, NULL, 0);

      g_assert_cmpint (run->n_ended, ==, 1);
      g_assert_cmpint (run->end.kind, !=, SBX_INIT_END_SIGNALLED);
    }

  _sbx_init_channel_end (sandbox->channel, swapper->id);
  run_wait (swapper);
  assert_shell (sandbox, "find /tmp/copy-* -name secret", "");
}

static void
test_cancel (void)
{
  const char *argv[] = { "/tmp/many", "/tmp/copy", NULL };
  SbxInitRequest request = { .verb = SBX_INIT_VERB_COPY, .argv = argv };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) copying = run_new (sandbox);
  g_autoptr(Run) again = NULL;

  g_test_summary ("A copy that nobody waits for any more is ended");
  shell (sandbox, "mkdir /tmp/many; cd /tmp/many; seq 0 50000 | xargs touch");
  run_start (copying, &request);
  test_wait_for (copying->n_started);
  _sbx_init_channel_end (sandbox->channel, copying->id);
  run_wait (copying);
  assert_end (copying, SBX_INIT_END_SIGNALLED, SBX_INIT_STAGE_NONE, SIGKILL);
  g_assert_cmpint (sandbox_count_others (sandbox), ==, 0);

  again = run_file_verb (sandbox, SBX_INIT_VERB_STAT, "/tmp/many", NULL, NULL, 0);
  assert_exited (again, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/init/moving/rename", test_rename);
  g_test_add_func ("/init/moving/copy-file", test_copy_file);
  g_test_add_func ("/init/moving/copy-tree", test_copy_tree);
  g_test_add_func ("/init/moving/copy-deep", test_copy_deep);
  g_test_add_func ("/init/moving/mounts", test_mounts);
  g_test_add_func ("/init/moving/swapped", test_swapped);
  g_test_add_func ("/init/moving/cancel", test_cancel);

  return g_test_run ();
}
