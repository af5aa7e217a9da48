/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "init-fixture.h"

#include "bwrap/sbx-init-records-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define assert_output(run, text) \
  g_assert_cmpmem ((run)->output[0]->str, (run)->output[0]->len, text, strlen (text))

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

/* Of what is mounted read-only, and not the user's own: there are two reasons. */
#define READ_ONLY (-1)

static void
assert_verb (Run *run,
             int  error)
{
  if (error == READ_ONLY && (run->end.value == EROFS || run->end.value == EACCES))
    error = run->end.value;

  if (error == 0)
    assert_exited (run, 0);
  else
    assert_not_started (run, FILE, error);
}

typedef struct
{
  const char *path;
  const char *second;
  int         error;
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
      g_autoptr(Run) run = run_file_verb (sandbox, verb, cases[i].path, cases[i].second, NULL, 0);

      g_test_message ("%s %s", cases[i].path, cases[i].second);
      assert_verb (run, cases[i].error);
      if (cases[i].output != NULL)
        assert_output (run, cases[i].output);
    }
}

static void
test_read (void)
{
  static const Case cases[] = {
    { "/tmp/five", "5", 0, "abcd\n" },
    { "/tmp/five", "64000000", 0, "abcd\n" },
    { "tmp/five", "5", 0, "abcd\n" },
    { "/tmp/link", "5", 0, "abcd\n" },
    { "/tmp/five", "4", EFBIG, "" },
    { "/tmp/empty", "0", 0, "" },
    { "/tmp/missing", "5", ENOENT, "" },
    { "/tmp/five/x", "5", ENOTDIR, "" },
    { "/tmp/loop", "5", ELOOP, "" },
    { "/tmp", "5", EISDIR, "" },
    { "/tmp/secret", "5", EACCES, "" },
    { "/tmp/fifo", "5", EINVAL, "" },
    { "/dev/zero", "5", EINVAL, "" },
    { "/dev/ptmx", "5", EINVAL, "" },
    { "", "5", ENOENT, "" },
    { "/tmp/five", "", EINVAL, "" },
    { "/tmp/five", "-5", EINVAL, "" },
    { "/tmp/five", "99999999999999999999999", EINVAL, "" },
    /* Its size is 0, and it has a content. */
    { "/proc/sys/kernel/ostype", "100", 0, "Linux\n" },
    { "/proc/sys/kernel/ostype", "5", EFBIG, NULL },
  };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) large = NULL;

  g_test_summary ("Regular files are read, up to a limit; a FIFO or a device does not hang");
  shell (sandbox, "cd /tmp; echo abcd > five; : > empty; ln -s five link; ln -s loop loop; "
                  "mkfifo fifo; : > secret; chmod 0 secret; yes | head -c 9000000 > large");
  run_cases (sandbox, SBX_INIT_VERB_READ_FILE, cases, G_N_ELEMENTS (cases));

  large = run_file_verb (sandbox, SBX_INIT_VERB_READ_FILE, "/tmp/large", "9000000", NULL, 0);
  assert_exited (large, 0);
  g_assert_cmpint (large->output[0]->len, ==, 9000000);
  for (gsize i = 0; i < large->output[0]->len; i++)
    if (large->output[0]->str[i] != (i % 2 == 0 ? 'y' : '\n'))
      g_assert_not_reached ();
}

static void
test_write (void)
{
  static const struct
  {
    const char *path;
    const char *mode;
    int         error;
    const char *check;
    const char *output;
  } cases[] = {
    { "/tmp/new", "0", 0, "cat /tmp/new; stat -c %a /tmp/new", "x\n644\n" },
    { "tmp/mode", "600", 0, "cat /tmp/mode; stat -c %a /tmp/mode", "x\n600\n" },
    { "/tmp/wide", "777", 0, "stat -c %a /tmp/wide", "777\n" },
    { "/tmp/old", "0", 0, "cat /tmp/old; stat -c %a /tmp/old", "x\n755\n" },
    { "/tmp/old", "640", 0, "cat /tmp/old; stat -c %a /tmp/old", "x\n640\n" },
    { "/tmp/a/b//c/deep", "0", 0, "cat /tmp/a/b/c/deep; stat -c %a /tmp/a/b", "x\n755\n" },
    { "/tmp/link", "0", 0, "cat /tmp/target; readlink /tmp/link", "x\ntarget\n" },
    { "/tmp/dangling", "0", 0, "cat /tmp/gone/there", "x\n" },
    { "/tmp/loop", "0", ELOOP, "readlink /tmp/loop", "loop\n" },
    { "/tmp", "0", EISDIR, "", "" },
    { "/tmp/", "0", EISDIR, "", "" },
    { "/tmp/x/", "0", EISDIR, "ls /tmp | grep -x x", "" },
    { "/tmp/..", "0", EISDIR, "", "" },
    { "/", "0", EISDIR, "", "" },
    { "", "0", ENOENT, "", "" },
    { "/tmp/fifo", "0", EINVAL, "", "" },
    { "/dev/null", "0", EINVAL, "", "" },
    { "/tmp/old/x", "0", ENOTDIR, "", "" },
    { "/tmp/old/x/y", "0", ENOTDIR, "", "" },
    { "/etc/x", "0", READ_ONLY, "", "" },
    { "/etc/passwd", "0", READ_ONLY, "", "" },
    { "/tmp/readonly", "0", EACCES, "cat /tmp/readonly", "kept\n" },
    { "/tmp/closed/x", "0", EACCES, "", "" },
    /* Cannot be replaced, can be written. */
    { "/tmp/closed/open", "0", 0, "cat /tmp/closed/open; stat -c %a /tmp/closed/open", "x\n666\n" },
    { "/tmp/closed/open", "600", 0, "stat -c %a /tmp/closed/open", "600\n" },
    { "/tmp/new", "4755", EPERM, "stat -c %a /tmp/new", "644\n" },
    { "/tmp/new", "8", EINVAL, "", "" },
  };
  g_autoptr(Sandbox) sandbox = sandbox_new ();

  g_test_summary ("Files are written whole, or left as they were");
  shell (sandbox, "cd /tmp; echo old > old; chmod 755 old; mkfifo fifo; ln -s target link; "
                  "echo a long content > target; ln -s gone/there dangling; ln -s loop loop; "
                  "echo kept > readonly; chmod 444 readonly; mkdir closed; "
                  "echo something longer > closed/open; chmod 666 closed/open; chmod 555 closed");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(Run) run = run_file_verb (sandbox, SBX_INIT_VERB_WRITE_FILE, cases[i].path,
                                          cases[i].mode, "x\n", -1);

      g_test_message ("%s %s", cases[i].path, cases[i].mode);
      assert_verb (run, cases[i].error);
      assert_shell (sandbox, cases[i].check, cases[i].output);
    }

  assert_shell (sandbox, "find /tmp -name '.sbx*'", "");
}

static void
test_write_bytes (void)
{
  static const char bytes[] = "\0\377\n\0";
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) run = run_file_verb (sandbox, SBX_INIT_VERB_WRITE_FILE, "/tmp/\377 \n", "0", bytes,
                                      sizeof bytes);
  g_autoptr(Run) back = run_file_verb (sandbox, SBX_INIT_VERB_READ_FILE, "/tmp/\377 \n", "9", NULL,
                                       0);
  g_autoptr(Run) empty = run_file_verb (sandbox, SBX_INIT_VERB_WRITE_FILE, "/tmp/empty", "0", NULL,
                                        0);

  g_test_summary ("Any bytes, in names and in content");
  assert_exited (run, 0);
  assert_exited (back, 0);
  g_assert_cmpmem (back->output[0]->str, back->output[0]->len, bytes, sizeof bytes);
  assert_exited (empty, 0);
  assert_shell (sandbox, "cat /tmp/empty", "");
}

static void
test_write_mounted (void)
{
  g_autofree char *directory = g_dir_make_tmp ("sbx-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (directory, "file", NULL);
  const char *arguments[] = { "--bind", file, "/tmp/mounted", NULL };
  g_autoptr(Sandbox) sandbox = NULL;
  g_autoptr(Run) run = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *content = NULL;

  g_test_summary ("A file that is a mount of its own is written, though it cannot be replaced");
  g_assert_true (g_file_set_contents (file, "something longer\n", -1, NULL));
  sandbox = sandbox_new_full (arguments, NULL, 0, &error);
  g_assert_no_error (error);

  run = run_file_verb (sandbox, SBX_INIT_VERB_WRITE_FILE, "/tmp/mounted", "0", "new\n", -1);
  assert_exited (run, 0);
  g_assert_true (g_file_get_contents (file, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "new\n");
  assert_shell (sandbox, "ls -A /tmp", "mounted\n");

  g_unlink (file);
  g_rmdir (directory);
}

static void
test_cancel (void)
{
  const char *read_argv[] = { "/tmp/large", "9000000", NULL };
  const char *write_argv[] = { "/tmp/kept", "0", NULL };
  SbxInitRequest read_request = { .verb = SBX_INIT_VERB_READ_FILE, .argv = read_argv };
  SbxInitRequest write_request = { .verb = SBX_INIT_VERB_WRITE_FILE, .argv = write_argv };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) reading = run_new (sandbox);
  g_autoptr(Run) writing = run_new (sandbox);
  int fds[2];

  g_test_summary ("A file verb that nobody waits for any more is ended, and leaves nothing");
  shell (sandbox, "echo kept > /tmp/kept; yes | head -c 9000000 > /tmp/large");

  /* Nobody reads. */
  run_start (reading, &read_request);
  g_clear_handle_id (&reading->readers[0], g_source_remove);
  test_wait_for (reading->n_started);
  _sbx_init_channel_end (sandbox->channel, reading->id);
  run_wait (reading);
  assert_end (reading, SBX_INIT_END_SIGNALLED, SBX_INIT_STAGE_NONE, SIGKILL);

  /* Nobody writes the rest. */
  g_assert_true (g_unix_open_pipe (fds, FD_CLOEXEC, NULL));
  g_assert_cmpint (write (fds[1], "half", 4), ==, 4);
  write_request.stdin_fd = fds[0];
  run_start (writing, &write_request);
  close (fds[0]);
  test_wait_for (writing->n_started);
  assert_shell (sandbox, "cat /tmp/kept", "kept\n");
  _sbx_init_channel_end (sandbox->channel, writing->id);
  run_wait (writing);
  assert_end (writing, SBX_INIT_END_SIGNALLED, SBX_INIT_STAGE_NONE, SIGKILL);
  close (fds[1]);

  assert_shell (sandbox, "cat /tmp/kept; ls -A /tmp", "kept\nkept\nlarge\n");
}

static void
test_directories (void)
{
  static const Case cases[] = {
    { "/tmp/a/b/c", NULL, 0, "" },       { "/tmp/a/b/c", NULL, 0, "" },
    { "/tmp/a/b/c/", NULL, 0, "" },      { "/tmp//d///e/.", NULL, 0, "" },
    { "tmp/f", NULL, 0, "" },            { "/", NULL, 0, "" },
    { "/tmp/link/x", NULL, 0, "" },      { "/tmp/file", NULL, EEXIST, "" },
    { "/tmp/file/x", NULL, ENOTDIR, "" }, { "/etc/x", NULL, READ_ONLY, "" },
    { "/etc", NULL, 0, "" },             { "", NULL, ENOENT, "" },
    { "/tmp/closed/x", NULL, EACCES, "" },
  };
  g_autoptr(Sandbox) sandbox = sandbox_new ();

  g_test_summary ("Directories are made with all that is missing on the way");
  shell (sandbox, "cd /tmp; : > file; mkdir target closed; ln -s target link; chmod 555 closed");
  run_cases (sandbox, SBX_INIT_VERB_CREATE_DIR_ALL, cases, G_N_ELEMENTS (cases));
  assert_shell (sandbox, "cd /tmp; stat -c '%a %F' a/b/c d/e f target/x",
                "755 directory\n755 directory\n755 directory\n755 directory\n");
}

static void
test_temporary_directories (void)
{
  static const struct
  {
    const char *prefix;
    const char *expected;
    int         error;
  } cases[] = {
    { "job-", "/tmp/job-", 0 },          { "", "/tmp/", 0 },
    { "/tmp/sub/x-", "/tmp/sub/x-", 0 }, { "tmp/sub/y", "//tmp/sub/y", 0 },
    { "/tmp/none/x", NULL, ENOENT },     { "/etc/x", NULL, READ_ONLY },
  };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autofree char *long_prefix = g_strnfill (5000, 'x');
  g_autoptr(Run) too_long = NULL;

  g_test_summary ("Temporary directories are made where they belong, for their owner alone");
  shell (sandbox, "mkdir /tmp/sub");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(Run) run = run_file_verb (sandbox, SBX_INIT_VERB_CREATE_TEMP_DIR, cases[i].prefix,
                                          NULL, NULL, 0);
      g_autofree char *check = g_strdup_printf ("stat -c %%a '%s'", run->output[0]->str);

      assert_verb (run, cases[i].error);
      if (cases[i].error != 0)
        continue;

      g_assert_true (g_str_has_prefix (run->output[0]->str, cases[i].expected));
      g_assert_cmpint (run->output[0]->len, ==, strlen (cases[i].expected) + 6);
      assert_shell (sandbox, check, "700\n");
    }

  too_long = run_file_verb (sandbox, SBX_INIT_VERB_CREATE_TEMP_DIR, long_prefix, NULL, NULL, 0);
  assert_verb (too_long, ENAMETOOLONG);
}

static const char make_deep[] =
  "import os\n"
  "os.chdir('/tmp')\n"
  "for i in range(4000):\n"
  "  os.mkdir('a' * 100)\n"
  "  open('file', 'w').close()\n"
  "  os.symlink('/tmp/keep', 'link')\n"
  "  os.chdir('a' * 100)\n";

static void
test_remove (void)
{
  static const Case cases[] = {
    { "/tmp/file", NULL, 0, "" },        { "/tmp/file", NULL, 0, "" },
    { "/tmp/missing/x", NULL, 0, "" },   { "/tmp/keep/file/x", NULL, 0, "" },
    { "/tmp/link", NULL, 0, "" },        { "/tmp/fifo", NULL, 0, "" },
    { "tmp/tree/", NULL, 0, "" },        { "/tmp/locked", NULL, 0, "" },
    { "/tmp/many", NULL, 0, "" },        { "/tmp/empty", NULL, 0, "" },
    { "/", NULL, EBUSY, "" },            { "/tmp/.", NULL, EBUSY, "" },
    { "/tmp/..", NULL, EBUSY, "" },      { "", NULL, ENOENT, "" },
    { "/etc/passwd", NULL, READ_ONLY, "" },  { "/etc/no-such", NULL, 0, "" },
    { "/etc", NULL, READ_ONLY, "" },         { "/tmp/closed/x", NULL, EACCES, "" },
  };
  const char *python[] = { "/usr/bin/python3", "-c", make_deep, NULL };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) deep = run_argv (sandbox, SBX_INIT_VERB_EXEC, python);
  g_autofree char *deep_name = g_strnfill (100, 'a');
  g_autofree char *deep_path = g_strconcat ("/tmp/", deep_name, NULL);
  g_autoptr(Run) removed = NULL;

  g_test_summary ("Trees are removed whole: closed, deep or wide, and no link is followed");
  run_wait (deep);
  assert_exited (deep, 0);
  shell (sandbox, "cd /tmp; rm -f link file; : > file; mkdir keep empty; : > keep/file; "
                  "ln -s keep link; mkfifo fifo; mkdir -p tree/a/b tree/c; ln -s /tmp/keep tree/l; "
                  "ln -s ../.. tree/a/up; : > tree/a/b/f; mkdir -p locked/a/b locked/c; "
                  ": > locked/a/b/f; : > locked/c/f; chmod 0 locked/a/b locked/c; "
                  "chmod 500 locked/a; chmod 0 locked; mkdir many; cd many; "
                  "seq 0 20000 | xargs touch; mkdir d e; : > d/x; cd ..; mkdir closed; "
                  ": > closed/x; chmod 555 closed");
  run_cases (sandbox, SBX_INIT_VERB_REMOVE, cases, G_N_ELEMENTS (cases));

  removed = run_file_verb (sandbox, SBX_INIT_VERB_REMOVE, deep_path, NULL, NULL, 0);
  assert_exited (removed, 0);
  assert_shell (sandbox, "ls -A /tmp /tmp/keep", "/tmp:\nclosed\nkeep\n\n/tmp/keep:\nfile\n");
}

static void
test_remove_mounts (void)
{
  g_autofree char *directory = g_dir_make_tmp ("sbx-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (directory, "file", NULL);
  const char *arguments[] = {
    "--bind", directory, "/tmp/top", "--bind", directory, "/tmp/sub/same",
    "--tmpfs", "/tmp/sub2/other", NULL,
  };
  static const Case cases[] = {
    { "/tmp/top", NULL, EBUSY, "" }, { "/tmp/sub", NULL, EBUSY, "" },
    { "/tmp/sub2", NULL, EBUSY, "" },
  };
  g_autoptr(Sandbox) sandbox = NULL;
  g_autoptr(GError) error = NULL;

  g_test_summary ("What is mounted is not removed, nor what is in it");
  g_assert_true (g_file_set_contents (file, "x", -1, NULL));
  sandbox = sandbox_new_full (arguments, NULL, 0, &error);
  g_assert_no_error (error);

  shell (sandbox, "echo > /tmp/sub2/other/file; echo > /tmp/sub/x");
  run_cases (sandbox, SBX_INIT_VERB_REMOVE, cases, G_N_ELEMENTS (cases));
  g_assert_true (g_file_test (file, G_FILE_TEST_EXISTS));
  assert_shell (sandbox, "ls /tmp/sub2/other", "file\n");

  g_unlink (file);
  g_rmdir (directory);
}

static GFileInfo *
find_info (GListStore *list,
           const char *name)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (list)); i++)
    {
      g_autoptr(GFileInfo) info = g_list_model_get_item (G_LIST_MODEL (list), i);

      if (strcmp (g_file_info_get_name (info), name) == 0)
        return g_steal_pointer (&info);
    }

  g_error ("%s is not in the list", name);
}

static GBytes *
get_output (Run *run)
{
  return g_bytes_new (run->output[0]->str, run->output[0]->len);
}

static void
test_list (void)
{
  static const struct
  {
    const char *name;
    GFileType   type;
    guint32     mode;
    gint64      size;
    const char *target;
  } expected[] = {
    { "file", G_FILE_TYPE_REGULAR, 0640, 3, NULL },
    { "directory", G_FILE_TYPE_DIRECTORY, 0755, -1, NULL },
    { "link", G_FILE_TYPE_SYMBOLIC_LINK, 0777, 5, "../\377\n" },
    { "fifo", G_FILE_TYPE_SPECIAL, 0644, 0, NULL },
    { "\377\n ", G_FILE_TYPE_REGULAR, 0644, 0, NULL },
    { ".hidden", G_FILE_TYPE_REGULAR, 0644, 0, NULL },
  };
  static const Case cases[] = {
    { "/tmp/d", "6", 0, NULL },          { "/tmp/d", "5", EFBIG, NULL },
    { "/tmp/missing", "5", ENOENT, "" }, { "/tmp/d/file", "5", ENOTDIR, "" },
    { "/tmp/d/fifo", "5", ENOTDIR, "" }, { "/tmp/d/directory", "0", 0, "" },
    { "/tmp/locked", "5", EACCES, "" },
  };
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) run = NULL;
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GListStore) list = NULL;
  g_autoptr(GError) error = NULL;

  g_test_summary ("A directory is listed, with any bytes in its names, up to a limit");
  shell (sandbox, "mkdir /tmp/d /tmp/locked; chmod 0 /tmp/locked; cd /tmp/d; echo hi > file; "
                  "chmod 640 file; mkdir directory; mkfifo fifo; : > \"$(printf '\\377\\n ')\"; "
                  ": > .hidden; touch -d @1234567890.5 file; "
                  "ln -s \"$(printf '../\\377')\n\" link");
  run_cases (sandbox, SBX_INIT_VERB_LIST_DIR, cases, G_N_ELEMENTS (cases));

  run = run_file_verb (sandbox, SBX_INIT_VERB_LIST_DIR, "/tmp/d", "100", NULL, 0);
  bytes = get_output (run);
  list = _sbx_init_records_parse_list (bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_list_model_get_n_items (G_LIST_MODEL (list)), ==, G_N_ELEMENTS (expected));

  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_autoptr(GFileInfo) info = find_info (list, expected[i].name);

      g_assert_cmpint (g_file_info_get_file_type (info), ==, expected[i].type);
      g_assert_cmpint (g_file_info_get_attribute_uint32 (info, "unix::mode") & 07777, ==,
                       expected[i].mode);
      if (expected[i].size >= 0)
        g_assert_cmpint (g_file_info_get_size (info), ==, expected[i].size);
      g_assert_cmpstr (g_file_info_get_symlink_target (info), ==, expected[i].target);
      g_assert_true (g_utf8_validate (g_file_info_get_display_name (info), -1, NULL));
      if (i == 0)
        {
          g_autoptr(GDateTime) time = g_file_info_get_modification_date_time (info);

          g_assert_cmpint (g_date_time_to_unix (time), ==, 1234567890);
          g_assert_cmpint (g_date_time_get_microsecond (time), ==, 500000);
        }
    }
}

static void
test_list_large (void)
{
  g_autoptr(Sandbox) sandbox = sandbox_new ();
  g_autoptr(Run) run = NULL;
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GListStore) list = NULL;

  g_test_summary ("A large directory is listed whole");
  shell (sandbox, "mkdir /tmp/d; cd /tmp/d; seq -f %0200.0f 1 5000 | xargs touch");
  run = run_file_verb (sandbox, SBX_INIT_VERB_LIST_DIR, "/tmp/d", "5000", NULL, 0);
  assert_exited (run, 0);

  bytes = get_output (run);
  list = _sbx_init_records_parse_list (bytes, NULL);
  g_assert_cmpint (g_list_model_get_n_items (G_LIST_MODEL (list)), ==, 5000);
}

static void
test_stat (void)
{
  static const struct
  {
    const char *path;
    int         error;
    const char *name;
    GFileType   type;
  } cases[] = {
    { "/tmp/file", 0, "file", G_FILE_TYPE_REGULAR },
    { "tmp/file", 0, "file", G_FILE_TYPE_REGULAR },
    { "/tmp/link", 0, "link", G_FILE_TYPE_SYMBOLIC_LINK },
    { "/tmp/fifo", 0, "fifo", G_FILE_TYPE_SPECIAL },
    { "/tmp/", 0, "tmp", G_FILE_TYPE_DIRECTORY },
    { "/", 0, ".", G_FILE_TYPE_DIRECTORY },
    { "/tmp/..", 0, "..", G_FILE_TYPE_DIRECTORY },
    { "/tmp/missing", ENOENT, NULL, G_FILE_TYPE_UNKNOWN },
    { "/tmp/file/x", ENOTDIR, NULL, G_FILE_TYPE_UNKNOWN },
    { "", ENOENT, NULL, G_FILE_TYPE_UNKNOWN },
  };
  g_autoptr(Sandbox) sandbox = sandbox_new ();

  g_test_summary ("One file is described, and a link is described as a link");
  shell (sandbox, "cd /tmp; : > file; ln -s file link; mkfifo fifo");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(Run) run = run_file_verb (sandbox, SBX_INIT_VERB_STAT, cases[i].path, NULL, NULL,
                                          0);
      g_autoptr(GBytes) bytes = get_output (run);
      g_autoptr(GFileInfo) info = NULL;

      assert_verb (run, cases[i].error);
      if (cases[i].error != 0)
        continue;

      info = _sbx_init_records_parse_stat (bytes, NULL);
      g_assert_nonnull (info);
      g_assert_cmpstr (g_file_info_get_name (info), ==, cases[i].name);
      g_assert_cmpint (g_file_info_get_file_type (info), ==, cases[i].type);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/init/files/read", test_read);
  g_test_add_func ("/init/files/write", test_write);
  g_test_add_func ("/init/files/write-bytes", test_write_bytes);
  g_test_add_func ("/init/files/write-mounted", test_write_mounted);
  g_test_add_func ("/init/files/cancel", test_cancel);
  g_test_add_func ("/init/files/directories", test_directories);
  g_test_add_func ("/init/files/temporary-directories", test_temporary_directories);
  g_test_add_func ("/init/files/remove", test_remove);
  g_test_add_func ("/init/files/remove-mounts", test_remove_mounts);
  g_test_add_func ("/init/files/list", test_list);
  g_test_add_func ("/init/files/list-large", test_list_large);
  g_test_add_func ("/init/files/stat", test_stat);

  return g_test_run ();
}
