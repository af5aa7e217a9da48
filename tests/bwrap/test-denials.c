/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

#include <sys/socket.h>
#include <sys/un.h>

#ifndef TEST_FLOOD
#define TEST_FLOOD 1000000
#endif

/* What the host has, and the sandbox has not. */
typedef struct
{
  Place *place;
  char  *outside;
} Fixture;

static void
fixture_set_up (Fixture       *fixture,
                gconstpointer  data)
{
  fixture->place = place_new ();
  fixture->outside = g_build_filename (fixture->place->root, "outside", NULL);
  g_assert_cmpint (g_mkdir (fixture->outside, 0755), ==, 0);
}

static void
fixture_tear_down (Fixture       *fixture,
                   gconstpointer  data)
{
  g_free (fixture->outside);
  place_free (fixture->place);
}

static void
make_outside (Fixture    *fixture,
              const char *name)
{
  g_autofree char *path = g_build_filename (fixture->outside, name, NULL);
  g_autoptr(GError) error = NULL;

  g_file_set_contents (path, "kept", -1, &error);
  g_assert_no_error (error);
}

static SbxExecResult *
run_watched (SbxSession *session,
             const char *script)
{
  g_autoptr(SbxCommand) command = shell (script);

  sbx_command_set_watch_denials (command, TRUE);

  return run_command (session, command);
}

/* The denial of @path, or NULL. */
static SbxDenial *
find_denial (SbxExecResult *result,
             const char    *path)
{
  GListModel *denials = sbx_exec_result_get_denials (result);

  for (guint i = 0; i < g_list_model_get_n_items (denials); i++)
    {
      g_autoptr(SbxDenial) denial = g_list_model_get_item (denials, i);

      if (strcmp (sbx_denial_get_path (denial), path) == 0)
        return denial;      /* the list keeps it */
    }

  return NULL;
}

static void
assert_denied (SbxExecResult *result,
               const char    *path,
               const char    *field,
               const char    *suggested)
{
  SbxDenial *denial = find_denial (result, path);
  g_autofree char *suggestion = suggested != NULL
                                  ? g_strdup_printf ("\"%s\": [\"%s\"]", field, suggested) : NULL;

  if (denial == NULL)
    g_error ("%s is not among %u denials", path,
             g_list_model_get_n_items (sbx_exec_result_get_denials (result)));
  g_assert_cmpstr (sbx_denial_get_field (denial), ==, field);
  g_assert_cmpstr (sbx_denial_get_suggestion (denial), ==, suggestion);
  g_assert_nonnull (sbx_denial_get_text (denial));
}

static void
test_paths (Fixture       *fixture,
            gconstpointer  data)
{
  g_autoptr(SbxSession) session = place_open (fixture->place);
  g_autofree char *file = g_build_filename (fixture->outside, "file", NULL);
  g_autofree char *new_file = g_build_filename (fixture->outside, "new", NULL);
  g_autofree char *missing = g_build_filename (fixture->outside, "missing", NULL);
  g_autofree char *program = g_build_filename (fixture->outside, "program", NULL);
  g_autofree char *script = NULL;
  g_autoptr(SbxExecResult) result = NULL;

  g_test_summary ("What only the host has is named, with the line to add");
  make_outside (fixture, "file");
  make_outside (fixture, "program");
  script = g_strdup_printf ("cat %s; cat %s; %s; echo > /usr/sbx-new; echo made > here; cat here; "
                            "exit 3", file, missing, program);
  result = run_watched (session, script);

  assert_exited_with (result, 3);
  assert_denied (result, file, "read", file);
  assert_denied (result, program, "read", program);
  g_assert_nonnull (find_denial (result, "/usr/sbx-new"));
  g_assert_null (find_denial (result, missing));
  g_assert_null (find_denial (result, new_file));
  g_assert_cmpuint (sbx_exec_result_get_denials_truncated (result), ==, 0);
  close_session (session);
}

static void
test_protected (Fixture       *fixture,
                gconstpointer  data)
{
  g_autofree char *git = g_build_filename (fixture->place->project, ".git", NULL);
  g_autofree char *hook = g_build_filename (git, "hooks", "pre-commit", NULL);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GSubprocess) process = NULL;

  g_test_summary ("What is protected is named as that, with no line to add");
  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE, NULL, "git", "init", "-q",
                              fixture->place->project, NULL);
  g_assert_true (g_subprocess_wait_check (process, NULL, NULL));
  session = place_open (fixture->place);
  result = run_watched (session, "mkdir -p .git/hooks; echo > .git/hooks/pre-commit");

  g_assert_false (sbx_exec_result_get_success (result));
  assert_denied (result, hook, NULL, NULL);
  close_session (session);
}

static void
test_sockets (Fixture       *fixture,
              gconstpointer  data)
{
  static const char script[] =
    "/usr/bin/perl -MSocket -e '"
    "socket (S, PF_UNIX, SOCK_STREAM, 0); connect (S, pack_sockaddr_un ($ARGV[0]));"
    "for $a (\"192.0.2.1\", \"127.0.0.1\") { socket (S, PF_INET, SOCK_STREAM, 0);"
    "connect (S, pack_sockaddr_in (80, inet_aton ($a))); } exit 1' ";
  g_autofree char *path = g_build_filename (fixture->outside, "socket", NULL);
  g_autofree char *whole = g_strconcat (script, path, NULL);
  g_autoptr(SbxSession) session = place_open (fixture->place);
  g_autoptr(SbxExecResult) result = NULL;
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  const int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  g_test_summary ("Sockets of the host and addresses of the network are named, loopback is not");
  g_strlcpy (address.sun_path, path, sizeof address.sun_path);
  g_assert_cmpint (bind (fd, (struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (fd, 1), ==, 0);
  result = run_watched (session, whole);

  assert_denied (result, path, "sockets", path);
  assert_denied (result, "192.0.2.1:80", "network", NULL);
  g_assert_null (find_denial (result, "127.0.0.1:80"));
  close (fd);
  close_session (session);
}

static void
test_many (Fixture       *fixture,
           gconstpointer  data)
{
  g_autoptr(SbxSession) session = place_open (fixture->place);
  g_autofree char *script = g_strdup_printf ("i=0; while [ $i -lt 300 ]; do cat %s/$i; "
                                             "i=$((i+1)); done; exit 1", fixture->outside);
  g_autoptr(SbxExecResult) result = NULL;

  g_test_summary ("Many in one directory are one line, and all of it is bounded");
  for (guint i = 0; i < 300; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);

      make_outside (fixture, name);
    }
  result = run_watched (session, script);

  assert_denied (result, fixture->outside, "read", fixture->outside);
  g_assert_cmpuint (g_list_model_get_n_items (sbx_exec_result_get_denials (result)), <=, 5);
  g_assert_cmpuint (sbx_exec_result_get_denials_truncated (result), >=, 100);
  close_session (session);
}

static int
count_filters (SbxExecResult *result)
{
  g_autofree char *text = bytes_to_text (sbx_exec_result_get_stdout (result));
  const char *found = strstr (text, "Seccomp_filters:");

  g_assert_nonnull (found);
  return (int) g_ascii_strtoll (found + strlen ("Seccomp_filters:"), NULL, 10);
}

static void
test_off (Fixture       *fixture,
          gconstpointer  data)
{
  static const char script[] = "cat /proc/self/status; ls -l /proc/self/fd >&2";
  g_autoptr(SbxSession) session = place_open (fixture->place);
  g_autoptr(SbxExecResult) plain = run_shell (session, script);
  g_autoptr(SbxExecResult) watched = run_watched (session, script);
  g_autofree char *fds = bytes_to_text (sbx_exec_result_get_stderr (watched));

  g_test_summary ("Without being asked, nothing is installed; and the command never has the ends");
  g_assert_cmpint (count_filters (watched), ==, count_filters (plain) + 1);
  g_assert_cmpuint (g_list_model_get_n_items (sbx_exec_result_get_denials (plain)), ==, 0);
  g_assert_null (strstr (fds, "seccomp"));
  g_assert_null (strstr (fds, "socket:"));
  close_session (session);
}

static SbxCommand *
try_command (Fixture    *fixture,
             const char *mode,
             const char *first,
             const char *second)
{
  g_autofree char *here = g_build_filename (fixture->place->project, "try-denials", NULL);
  g_autofree char *built = g_test_build_filename (G_TEST_BUILT, "bwrap", "try-denials", NULL);
  const char * const argv[] = { here, mode, first, second, NULL };
  g_autofree char *contents = NULL;
  g_autoptr(GError) error = NULL;
  SbxCommand *command;
  gsize size;

  g_file_get_contents (built, &contents, &size, &error);
  g_assert_no_error (error);
  g_file_set_contents_full (here, contents, (gssize) size, G_FILE_SET_CONTENTS_NONE, 0755, &error);
  g_assert_no_error (error);
  command = sbx_command_new (argv);
  sbx_command_set_watch_denials (command, TRUE);

  return command;
}

static void
test_race (Fixture       *fixture,
           gconstpointer  data)
{
  g_autoptr(SbxSession) session = place_open (fixture->place);
  g_autoptr(SbxCommand) command = try_command (fixture, "race", "20000", NULL);
  g_autoptr(SbxExecResult) result = run_command (session, command);

  g_test_summary ("Paths that change, have no end or are nowhere harm nobody");
  assert_exited_with (result, 1);
  g_assert_cmpuint (g_list_model_get_n_items (sbx_exec_result_get_denials (result)), <=, 200);
  close_session (session);
}

typedef struct
{
  gint64 last;
  gint64 longest;
} Gap;

static gboolean
gap_cb (gpointer user_data)
{
  Gap *gap = user_data;
  const gint64 now = g_get_monotonic_time ();

  gap->longest = MAX (gap->longest, now - gap->last);
  gap->last = now;

  return G_SOURCE_CONTINUE;
}

static void
ran_cb (GObject      *object,
        GAsyncResult *result,
        gpointer      user_data)
{
  SbxExecResult **place = user_data;
  g_autoptr(GError) error = NULL;

  *place = sbx_process_run_finish (SBX_PROCESS (object), result, &error);
  g_assert_no_error (error);
}

static gsize
get_resident (void)
{
  g_autofree char *text = NULL;
  gsize pages;

  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  g_assert_cmpint (sscanf (text, "%*u %zu", &pages), ==, 1);

  return pages * (gsize) sysconf (_SC_PAGESIZE);
}

static void
test_flood (Fixture       *fixture,
            gconstpointer  data)
{
  g_autoptr(SbxSession) session = place_open (fixture->place);
  g_autofree char *n = g_strdup_printf ("%d", g_test_slow () ? TEST_FLOOD : TEST_FLOOD / 20);
  g_autoptr(SbxCommand) command = try_command (fixture, "flood", fixture->outside, n);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(SbxExecResult) result = NULL;
  const gsize before = get_resident ();
  Gap gap = { g_get_monotonic_time (), 0 };
  const guint source = g_timeout_add (1, gap_cb, &gap);

  g_test_summary ("A flood costs bounded memory, and the main loop does not notice");
  sbx_process_run_async (process, NULL, ran_cb, &result);
  while (result == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (source);

  assert_exited_with (result, 1);
  g_test_message ("longest gap %" G_GINT64_FORMAT " us, %zu KiB more", gap.longest,
                  (get_resident () - MIN (before, get_resident ())) / 1024);
  /* 50 ms on a machine that does nothing else. */
  g_assert_cmpint (gap.longest, <, 500 * 1000);
  g_assert_cmpuint (get_resident (), <, before + 64 * 1024 * 1024);
  close_session (session);
}

static gboolean
kill_cb (gpointer user_data)
{
  sbx_process_kill (user_data, SIGKILL, NULL);
  return G_SOURCE_REMOVE;
}

static void
test_kill (Fixture       *fixture,
           gconstpointer  data)
{
  g_autoptr(SbxSession) session = place_open (fixture->place);
  g_autoptr(SbxCommand) command = try_command (fixture, "flood", fixture->outside, "100000000");

  g_test_summary ("What is watched can be killed and cancelled at any time");
  for (guint i = 0; i < 20; i++)
    {
      g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
      g_autoptr(SbxExecResult) result = NULL;

      sbx_process_run_async (process, NULL, ran_cb, &result);
      g_timeout_add (1 + i * 3, kill_cb, process);
      while (result == NULL)
        g_main_context_iteration (NULL, TRUE);
      g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_SIGNALLED);
    }
  close_session (session);
}

static gboolean
cancel_cb (gpointer user_data)
{
  g_cancellable_cancel (user_data);
  return G_SOURCE_REMOVE;
}

static void
test_cancel (Fixture       *fixture,
             gconstpointer  data)
{
  g_autoptr(SbxSession) session = place_open (fixture->place);
  g_autoptr(SbxCommand) command = try_command (fixture, "flood", fixture->outside, "100000000");
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;

  g_timeout_add (20, cancel_cb, cancellable);
  g_assert_null (sbx_session_exec (session, command, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  close_session (session);
}

static void
test_at_once (Fixture       *fixture,
              gconstpointer  data)
{
  g_autoptr(SbxSession) session = place_open (fixture->place);
  g_autofree char *file = g_build_filename (fixture->outside, "file", NULL);
  g_autofree char *script = g_strdup_printf ("cat %s; exit 1", file);
  SbxExecResult *results[50] = { NULL, };
  GPtrArray *processes = g_ptr_array_new_with_free_func (g_object_unref);

  g_test_summary ("Fifty at once are each told what was refused");
  make_outside (fixture, "file");
  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    {
      g_autoptr(SbxCommand) command = shell (script);
      SbxProcess *process;

      sbx_command_set_watch_denials (command, TRUE);
      process = sbx_session_create_process (session, command);
      g_ptr_array_add (processes, process);
      sbx_process_run_async (process, NULL, ran_cb, &results[i]);
    }

  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    {
      while (results[i] == NULL)
        g_main_context_iteration (NULL, TRUE);
      assert_exited_with (results[i], 1);
      assert_denied (results[i], file, "read", file);
      g_object_unref (results[i]);
    }

  g_ptr_array_unref (processes);
  close_session (session);
}

/* What the command leaves behind, and what a terminal changes. */
static void
test_terminal (Fixture       *fixture,
               gconstpointer  data)
{
  g_autoptr(SbxSession) session = place_open (fixture->place);
  g_autofree char *file = g_build_filename (fixture->outside, "file", NULL);
  g_autofree char *script = g_strdup_printf ("cat %s; exit 1", file);
  g_autoptr(SbxCommand) command = shell (script);
  g_autoptr(SbxExecResult) result = NULL;

  make_outside (fixture, "file");
  sbx_command_set_watch_denials (command, TRUE);
  sbx_command_set_terminal (command, TRUE);
  result = run_command (session, command);
  assert_exited_with (result, 1);
  assert_denied (result, file, "read", file);
  close_session (session);
}

#define ADD(path, func) \
  g_test_add (path, Fixture, NULL, fixture_set_up, func, fixture_tear_down)

int
main (int    argc,
      char **argv)
{
  adopt_orphans ();
  g_test_init (&argc, &argv, NULL);

  ADD ("/denials/off", test_off);
  ADD ("/denials/paths", test_paths);
  ADD ("/denials/protected", test_protected);
  ADD ("/denials/sockets", test_sockets);
  ADD ("/denials/many", test_many);
  ADD ("/denials/terminal", test_terminal);
  ADD ("/denials/race", test_race);
  ADD ("/denials/flood", test_flood);
  ADD ("/denials/kill", test_kill);
  ADD ("/denials/cancel", test_cancel);
  ADD ("/denials/at-once", test_at_once);

  return g_test_run ();
}
