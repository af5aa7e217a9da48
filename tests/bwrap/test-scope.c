/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "limits-util.h"

#include "bwrap/sbx-bwrap-scope-private.h"

/*
 * Limits of a whole sandbox, which systemd has to set: against a stand-in, which does what a real
 * one may do, and with control groups of the kernel where root has those.
 */

#define MEMORY (64 * 1024 * 1024)

/* A stand-in, with a bus of its own that this program takes for the usual one. */
typedef struct
{
  char        *directory;
  GSubprocess *process;
} Systemd;

static Systemd *
systemd_new (const char *mode)
{
  Systemd *self = g_new0 (Systemd, 1);
  g_autofree char *program = g_test_build_filename (G_TEST_BUILT, "bwrap", "fake-systemd", NULL);
  g_autofree char *address = NULL;
  g_autoptr(GDataInputStream) lines = NULL;
  g_autoptr(GError) error = NULL;

  self->directory = g_dir_make_tmp ("sbx-bus-XXXXXX", &error);
  g_assert_no_error (error);
  self->process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE,
                                    &error, program, mode, self->directory, NULL);
  g_assert_no_error (error);
  lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (self->process));
  address = g_data_input_stream_read_line (lines, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (address);

  /* The one that is started leaves another that is no child of ours. */
  g_subprocess_wait (self->process, NULL, NULL);
  g_setenv (geteuid () == 0 ? "DBUS_SYSTEM_BUS_ADDRESS" : "DBUS_SESSION_BUS_ADDRESS", address,
            TRUE);

  return self;
}

static char *
systemd_record (Systemd *self)
{
  g_autofree char *path = g_build_filename (self->directory, "record", NULL);
  char *text = NULL;

  return g_file_get_contents (path, &text, NULL, NULL) ? text : g_strdup ("");
}

static void
systemd_free (Systemd *self)
{
  /* This is how it is told. */
  g_output_stream_close (g_subprocess_get_stdin_pipe (self->process), NULL, NULL);
  g_object_unref (self->process);
  remove_made (self->directory);
  g_free (self->directory);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Systemd, systemd_free)

static SbxReach *
memory_reach (Place      *place,
              const char *settings)
{
  SbxReach *reach = limits_reach (place);

  sbx_reach_set_limit (reach, SBX_LIMIT_MEMORY, MEMORY);
  if (settings != NULL)
    sbx_reach_set_environment_key (reach, "bwrap", settings);

  return reach;
}

static guint
count_lines (const char *text,
             const char *prefix)
{
  g_auto(GStrv) lines = g_strsplit (text, "\n", -1);
  guint n = 0;

  for (guint i = 0; lines[i] != NULL; i++)
    n += g_str_has_prefix (lines[i], prefix);

  return n;
}

static void
assert_has (const char *text,
            const char *part)
{
  if (strstr (text, part) == NULL)
    g_error ("“%s” has no “%s”", text, part);
}

/* What systemd is told, and when: before the first command, and again at the end. */
static void
check_good (const char *mode)
{
  g_autoptr(Systemd) systemd = systemd_new (mode);
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxReach) reach = memory_reach (place, NULL);
  g_autoptr(SbxSession) session = open_reach (place, reach);
  g_autofree char *began = systemd_record (systemd);
  g_autofree char *said = shell_output (session, "echo here; ulimit -v");
  g_autofree char *ended = NULL;

  g_test_message ("%s", began);
  g_assert_cmpstr (said, ==, "here\nunlimited\n");
  g_assert_cmpuint (count_lines (began, "StartTransientUnit libsbx-"), ==, 1);
  assert_has (began, ".scope fail\n");
  assert_has (began, "  MemoryMax=67108864\n");
  assert_has (began, "  MemorySwapMax=0\n");
  assert_has (began, "  CollectMode='inactive-or-failed'\n");
  assert_has (began, "  Description='");
  assert_has (began, "  PIDs=[");

  /* Root is not held to it in any other way, so it is where the scope can do it anyhow. */
  g_assert_cmpuint (count_lines (began, "  TasksMax="), ==, geteuid () == 0);
  g_assert_cmpuint (count_lines (began, "  OOMPolicy='continue'"), ==,
                    g_str_equal (mode, "late-job"));
  g_assert_cmpuint (count_lines (began, "StopUnit"), ==, 0);

  close_session (session);
  ended = systemd_record (systemd);
  g_assert_cmpuint (count_lines (ended, "StopUnit libsbx-"), ==, 1);
}

static void
test_normal (void)
{
  check_good ("normal");
}

static void
test_late_job (void)
{
  check_good ("late-job");
}

/* Nothing of it is asked for when nothing needs it. */
static void
test_unneeded (void)
{
  g_autoptr(Systemd) systemd = systemd_new ("normal");
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree char *record = NULL;

  close_session (session);
  record = systemd_record (systemd);
  g_assert_cmpstr (record, ==, "");
}

/* Whatever goes wrong with systemd: an error that says what it was, and nothing left; or, where
 * that is allowed, something weaker. */
static void
check_bad (const char *mode,
           const char *why)
{
  g_autoptr(Systemd) systemd G_GNUC_UNUSED = systemd_new (mode);
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxReach) strict = memory_reach (place, NULL);
  g_autoptr(SbxSession) none = NULL;
  g_autoptr(GError) error = NULL;
  const gint64 begin = g_get_monotonic_time ();

  none = try_open (place, strict, &error);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_test_message ("%s", error->message);
  assert_has (error->message, "memory");
  assert_has (error->message, "allowWeaker");
  assert_has (error->message, why);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_assert_null (strchr (error->message, '\033'));
  g_assert_null (strchr (error->message, '\n'));
  g_assert_null (none);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 25 * G_USEC_PER_SEC);
  assert_nothing_left (place->data);
}

static void
check_weaker (const char *mode)
{
  g_autoptr(Systemd) systemd G_GNUC_UNUSED = systemd_new (mode);
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxReach) reach = memory_reach (place, "{\"allowWeaker\":[\"memory\"]}");
  g_autoptr(SbxSession) session = open_reach (place, reach);
  g_autofree char *said = shell_output (session, "ulimit -v");

  g_assert_cmpstr (said, ==, "65536\n");
  close_session (session);
}

static void
test_bad (gconstpointer data)
{
  const char * const *words = data;

  check_bad (words[0], words[1]);
}

static void
test_weaker (void)
{
  check_weaker ("refuse");
  check_weaker ("absent");
  check_weaker ("no-memory");
}

/* As root processes are a matter of the scope alone. */
static void
test_processes (void)
{
  g_autoptr(Systemd) systemd = systemd_new ("normal");
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxReach) reach = limits_reach (place);
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *record = NULL;

  sbx_reach_set_limit (reach, SBX_LIMIT_PROCESSES, 100);
  session = open_reach (place, reach);
  record = systemd_record (systemd);
  if (geteuid () == 0)
    assert_has (record, "  TasksMax=117\n");
  else
    g_assert_cmpstr (record, ==, "");
  close_session (session);
}

static void
test_no_tasks (void)
{
  g_autoptr(Systemd) systemd G_GNUC_UNUSED = systemd_new ("no-tasks");
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxReach) reach = limits_reach (place);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  sbx_reach_set_limit (reach, SBX_LIMIT_PROCESSES, 100);
  session = try_open (place, reach, &error);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  assert_has (error->message, "processes");
  assert_has (error->message, "TasksMax");
}

/* Cancelled while systemd is silent: at once, and nothing is left. */
static void
test_cancel (void)
{
  g_autoptr(Systemd) systemd = systemd_new ("no-job");
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxReach) reach = memory_reach (place, NULL);
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GAsyncResult) result = NULL;
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;
  gint64 begin;

  sbx_provider_open_async (SBX_PROVIDER (place->provider), request, cancellable, test_store_result,
                           &result);
  for (gboolean asked = FALSE; !asked;)
    {
      g_autofree char *record = systemd_record (systemd);

      asked = strstr (record, "StartTransientUnit") != NULL;
      g_main_context_iteration (NULL, FALSE);
      g_usleep (1000);
    }

  begin = g_get_monotonic_time ();
  g_cancellable_cancel (cancellable);
  test_wait_for (result != NULL);
  session = sbx_provider_open_finish (SBX_PROVIDER (place->provider), result, &error);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 5 * G_USEC_PER_SEC);
}

/* --- What the kernel has --- */

static void
put_file (const char *root,
          const char *name,
          const char *content)
{
  g_autofree char *path = g_build_filename (root, name, NULL);
  g_autofree char *directory = g_path_get_dirname (path);
  g_autoptr(GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (directory, 0755), ==, 0);
  g_file_set_contents (path, content, -1, &error);
  g_assert_no_error (error);
}

/* Trees as kernels show them, and whether the limits that were asked for are in force there. */
static void
test_verify (void)
{
  static const struct
  {
    const char *files[6];       /* name, content, … */
    const char *membership;
    gboolean    good;
  } cases[] = {
    /* Version 2. */
    { { "a/s/memory.max", "8192\n", "a/s/pids.max", "20\n" }, "0::/a/s\n", TRUE },
    { { "a/s/memory.max", "4096\n", "a/s/pids.max", "19\n" }, "0::/a/s\n", TRUE },
    { { "a/s/memory.max", "max\n", "a/s/pids.max", "20\n" }, "0::/a/s\n", FALSE },
    { { "a/s/memory.max", "12288\n", "a/s/pids.max", "20\n" }, "0::/a/s\n", FALSE },
    { { "a/s/memory.max", "8192\n", "a/s/pids.max", "max\n" }, "0::/a/s\n", FALSE },
    { { "a/s/pids.max", "20\n" }, "0::/a/s\n", FALSE },
    { { "a/s/memory.max", "8192\n", "a/s/pids.max", "20\n" }, "0::/a\n", FALSE },
    { { "a/s/memory.max", "8192\n", "a/s/pids.max", "20\n" }, "0::/a/s/t\n", FALSE },
    { { "a/s/memory.max", "8192\n", "a/s/pids.max", "20\n" }, "4:memory:/a/s\n", FALSE },
    /* Version 1. */
    { { "memory/a/s/memory.limit_in_bytes", "8192\n", "pids/a/s/pids.max", "20\n" },
      "8:pids:/a/s\n4:cpu,memory:/a/s\n1:name=systemd:/a/s\n", TRUE },
    { { "memory/a/s/memory.limit_in_bytes", "8192\n", "pids/a/s/pids.max", "20\n" },
      "8:pids:/a/s\n4:memory:/\n", FALSE },
    { { "systemd/a/s/cgroup.procs", "1\n" }, "1:name=systemd:/a/s\n4:memory:/\n", FALSE },
    /* Nothing of it can be seen. */
    { { "memory/b/memory.limit_in_bytes", "1\n" }, "0::/\n", TRUE },
  };
  const SbxBwrapScope scope = { .id = "x", .pid = 1, .memory = 8192, .processes = 20 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autofree char *root = g_dir_make_tmp ("sbx-groups-XXXXXX", &error);
      gboolean good;

      g_assert_no_error (error);
      for (guint j = 0; j < 6 && cases[i].files[j] != NULL; j += 2)
        put_file (root, cases[i].files[j], cases[i].files[j + 1]);

      good = _sbx_bwrap_scope_verify (&scope, root, "/a/s", cases[i].membership, &error);
      g_test_message ("case %u: %s", i, error != NULL ? error->message : "good");
      g_assert_true (good == cases[i].good);
      g_assert_true (good == (error == NULL));
      g_clear_error (&error);
      g_assert_false (_sbx_bwrap_scope_verify (&scope, root, "/a/../s", cases[i].membership,
                                               &error));
      g_clear_error (&error);
      g_assert_false (_sbx_bwrap_scope_verify (&scope, root, "", cases[i].membership, &error));
      remove_made (root);
    }
}

static gboolean
may_make_groups (void)
{
  const gboolean unified = g_file_test ("/sys/fs/cgroup/cgroup.controllers", G_FILE_TEST_EXISTS);
  g_autofree char *enabled = NULL;

  if (!unified)
    return access ("/sys/fs/cgroup/memory", W_OK) == 0 && access ("/sys/fs/cgroup/pids", W_OK) == 0;

  return g_file_get_contents ("/sys/fs/cgroup/cgroup.subtree_control", &enabled, NULL, NULL) &&
         strstr (enabled, "memory") != NULL && strstr (enabled, "pids") != NULL &&
         access ("/sys/fs/cgroup", W_OK) == 0;
}

/* The scope holds all of the sandbox together, as root as well. */
static void
test_kernel (void)
{
  g_autoptr(Systemd) systemd = NULL;
  g_autoptr(Place) place = NULL;
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(SbxExecResult) too_much = NULL;
  g_autofree char *together = NULL;
  g_autofree char *said = NULL;
  g_autofree char *forked = NULL;
  g_autofree char *bomb = NULL;
  int made = 0;
  int most = 0;

  if (!may_make_groups ())
    {
      g_test_skip ("There are no control groups that this user can make");
      return;
    }

  systemd = systemd_new ("kernel");
  place = place_new ();
  reach = memory_reach (place, NULL);
  sbx_reach_set_limit (reach, SBX_LIMIT_PROCESSES, 40);
  session = open_reach (place, reach);

  said = shell_output (session, "\"$TRY\" memory 30000000");
  g_assert_cmpstr (said, ==, "taken\n");

  /* One command that takes too much is ended, and the sandbox goes on. */
  too_much = run_shell (session, "exec \"$TRY\" memory 300000000");
  g_assert_cmpint (sbx_exec_result_get_outcome (too_much), ==, SBX_EXEC_OUTCOME_SIGNALLED);
  g_assert_cmpint (sbx_exec_result_get_signal (too_much), ==, SIGKILL);

  /* It counts what all have, and files in memory. */
  together = shell_output (session, "head -c 40000000 /dev/zero > /dev/shm/big; "
                                    "\"$TRY\" memory 40000000; echo $?; rm /dev/shm/big; "
                                    "\"$TRY\" memory 30000000");
  g_assert_cmpstr (together, ==, "137\ntaken\n");

  forked = shell_output (session, "exec \"$TRY\" fork 300");
  made = (int) g_ascii_strtoll (forked, NULL, 10);
  g_test_message ("%s", forked);
  g_assert_cmpint (made, >=, 39);
  g_assert_cmpint (made, <=, 39 + 16);

  bomb = shell_output (session, "exec \"$TRY\" bomb 300");
  most = (int) g_ascii_strtoll (bomb, NULL, 10);
  g_assert_cmpint (most, >=, 40);
  g_assert_cmpint (most, <=, 40 + 16);
  close_session (session);
}

static const char * const bad[][2] = {
  { "refuse", "No " },
  { "silent", "10 seconds" },
  { "no-job", "10 seconds" },
  { "failed-job", "failed" },
  { "no-memory", "MemoryMax" },
  { "no-swap", "MemorySwapMax" },
  { "die", "systemd" },
  { "die-later", "went away" },
  { "bus-dies", "bus" },
  { "absent", "systemd" },
};

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/scope/verify", test_verify);
  g_test_add_func ("/scope/with/normal", test_normal);
  g_test_add_func ("/scope/with/late-job", test_late_job);
  g_test_add_func ("/scope/with/unneeded", test_unneeded);
  g_test_add_func ("/scope/with/processes", test_processes);
  g_test_add_func ("/scope/with/weaker", test_weaker);
  g_test_add_func ("/scope/with/cancel", test_cancel);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *path = g_strdup_printf ("/scope/bad/%s", bad[i][0]);

      g_test_add_data_func (path, bad[i], test_bad);
    }

  if (geteuid () == 0)
    {
      g_test_add_func ("/scope/T6/kernel", test_kernel);
      g_test_add_func ("/scope/bad/no-tasks", test_no_tasks);
      g_test_add_data_func ("/scope/as-user", "/scope/with", run_as_user);
    }

  return g_test_run ();
}
