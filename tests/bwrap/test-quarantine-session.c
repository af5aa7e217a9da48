/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

/* What commands in a sandbox make under protected names, and what the user hears of it. */

#define VICTIM "--victim"

static SbxReach *
make_reach (const char *project)
{
  g_autoptr(SbxReach) reach = sbx_reach_new (project);
  g_autoptr(SbxResolver) resolver = sbx_resolver_new (NULL);
  g_autoptr(GError) error = NULL;
  SbxReach *resolved;

  sbx_reach_add_write (reach, project);
  resolved = sbx_resolver_resolve_reach (resolver, reach, NULL, &error);
  g_assert_no_error (error);

  return resolved;
}

static void
message_cb (GObject    *object,
            const char *message,
            gpointer    user_data)
{
  g_test_message ("%s", message);
  g_ptr_array_add (user_data, g_strdup (message));
}

static SbxSession *
open_in (Place     *place,
         GPtrArray *messages)
{
  g_autoptr(SbxReach) reach = make_reach (place->project);
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);
  g_autoptr(GError) error = NULL;
  SbxSession *session = sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, &error);

  g_assert_no_error (error);
  g_signal_connect (session, "message", G_CALLBACK (message_cb), messages);

  return session;
}

static gboolean
is_there (const char *parent,
          const char *name)
{
  g_autofree char *path = g_build_filename (parent, name, NULL);
  struct stat info;

  return lstat (path, &info) == 0;
}

static void
put_file (const char *parent,
          const char *name)
{
  g_autofree char *path = g_build_filename (parent, name, NULL);

  g_assert_true (g_file_set_contents (path, "x", -1, NULL));
}

static GPtrArray *
messages_new (void)
{
  return g_ptr_array_new_with_free_func (g_free);
}

static gboolean
has_message (GPtrArray  *messages,
             const char *text)
{
  for (guint i = 0; i < messages->len; i++)
    if (strstr (g_ptr_array_index (messages, i), text) != NULL)
      return TRUE;

  return FALSE;
}

/* When the caller hears of the end of a command, all of it is gone, and told. */
static void
test_end_of_exec (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) messages = messages_new ();
  g_autoptr(SbxSession) session = open_in (place, messages);

  for (guint i = 0; i < 5; i++)
    {
      g_autofree char *output = NULL;

      g_ptr_array_set_size (messages, 0);
      output = shell_output (session, "echo x > .mcp.json; mkdir -p .vscode .claude/commands; "
                                      "echo x > .vscode/tasks.json; ln -s /etc .idea; "
                                      "echo x > .claude/settings.json; echo x > .claude/notes");
      g_assert_false (is_there (place->project, ".mcp.json"));
      g_assert_false (is_there (place->project, ".vscode"));
      g_assert_false (is_there (place->project, ".idea"));
      g_assert_false (is_there (place->project, ".claude/settings.json"));
      g_assert_false (is_there (place->project, ".claude/commands"));
      g_assert_true (is_there (place->project, ".claude/notes"));
      if (i == 0)
        g_assert_cmpuint (messages->len, ==, 5);
    }

  close_session (session);
}

/* A command that goes on for long does not keep what it has made. */
static void
test_while_running (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) messages = messages_new ();
  g_autoptr(SbxSession) session = open_in (place, messages);
  g_autoptr(SbxCommand) command = shell ("echo x > .mcp.json; mkdir .claude; touch made; "
                                         "while test -e .mcp.json; do :; done; "
                                         "echo x > .claude/settings.json; "
                                         "while test -e .claude/settings.json; do :; done; "
                                         "touch seen; exec sleep 60");
  g_autoptr(SbxProcess) process = sbx_session_spawn (session, command, NULL, NULL);

  test_wait_for (messages->len == 2);
  g_assert_false (is_there (place->project, ".mcp.json"));
  for (guint i = 0; i < TEST_DEADLINE_S * 1000 && !is_there (place->project, "seen"); i++)
    g_usleep (1000);

  g_assert_true (is_there (place->project, "seen"));
  g_assert_cmpint (sbx_process_get_state (process), ==, SBX_PROCESS_STATE_RUNNING);
  close_session (session);
}

/* What is written through the session is written in the sandbox, for somebody. */
static void
test_files (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) messages = messages_new ();
  g_autoptr(SbxSession) session = open_in (place, messages);
  g_autoptr(GBytes) content = g_bytes_new_static ("x", 1);
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < 5; i++)
    {
      sbx_session_write_file (session, ".mcp.json", content, 0644, NULL, &error);
      g_assert_no_error (error);
      g_assert_false (is_there (place->project, ".mcp.json"));

      /* It may be gone before its maker has seen it. */
      if (!sbx_session_create_dir_all (session, ".vscode", NULL, &error))
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
      g_clear_error (&error);
      g_assert_false (is_there (place->project, ".vscode"));
      sbx_session_write_file (session, "file", content, 0644, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (is_there (place->project, "file"));
      sbx_session_rename (session, "file", ".idea", NULL, &error);
      g_assert_no_error (error);
      g_assert_false (is_there (place->project, ".idea"));
      if (i == 0)
        g_assert_cmpuint (messages->len, ==, 3);
    }

  close_session (session);
}

/* The command is ended with the session, in the midst of it. */
static void
test_close (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) messages = messages_new ();
  g_autoptr(SbxSession) session = open_in (place, messages);
  g_autoptr(SbxCommand) command = shell ("while :; do mkdir .vscode; : > .mcp.json; "
                                         "ln -s x .claude; : > began; done 2> /dev/null");
  g_autoptr(SbxProcess) process = sbx_session_spawn (session, command, NULL, NULL);

  while (!is_there (place->project, "began"))
    g_main_context_iteration (NULL, FALSE);

  close_session (session);
  g_assert_true (sbx_process_get_state (process) == SBX_PROCESS_STATE_ENDED);
  g_assert_false (is_there (place->project, ".mcp.json"));
  g_assert_false (is_there (place->project, ".vscode"));
  g_assert_false (is_there (place->project, ".claude"));
  g_assert_true (has_message (messages, ".mcp.json"));
}

/* Nobody can tell who made it: it is put aside as well, and told how to bring it back. */
static void
test_host (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) messages = messages_new ();
  g_autoptr(SbxSession) session = open_in (place, messages);
  g_autofree char *output = NULL;

  put_file (place->project, ".mcp.json");
  output = shell_output (session, "true");
  g_assert_false (is_there (place->project, ".mcp.json"));
  g_assert_cmpuint (messages->len, ==, 1);
  g_assert_true (has_message (messages, "mv "));
  close_session (session);
}

/* A command that stands in what is put aside does not come out of the sandbox with it. */
static void
test_no_way_out (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) messages = messages_new ();
  g_autoptr(SbxSession) session = open_in (place, messages);
  g_autofree char *output = NULL;

  output = shell_output (session, "p=$PWD; mkdir .vscode; cd .vscode; : > own; "
                                  "while test -e $p/.vscode; do sleep 0.01; done; "
                                  "ls -a .. 2>&1; cat ../items 2>&1; ls -a ../../.. 2>&1; "
                                  "echo still > own; echo end");
  g_assert_null (strstr (output, "sessions"));
  g_assert_null (strstr (output, "items\n"));
  g_assert_nonnull (strstr (output, "end"));
  close_session (session);
}

/* Whoever let go of the session hears it from its provider. */
static void
test_dropped (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) messages = messages_new ();
  g_autoptr(GPtrArray) late = messages_new ();
  g_autoptr(SbxSession) session = open_in (place, messages);

  g_signal_connect (place->provider, "message", G_CALLBACK (message_cb), late);
  put_file (place->project, ".mcp.json");
  g_clear_object (&session);
  test_wait_for (late->len == 1);
  g_assert_false (is_there (place->project, ".mcp.json"));
}

static void
test_rebase (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) messages = messages_new ();
  g_autoptr(GSubprocess) git = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *output = NULL;

  git = g_subprocess_new (G_SUBPROCESS_FLAGS_NONE, &error, "sh", "-ec",
                          "cd \"$0\"; export GIT_CONFIG_GLOBAL=/dev/null; git init -q -b main; "
                          "git config user.name N; git config user.email n@example.org; "
                          "for i in 1 2 3; do echo $i > f; git add f; git commit -qm $i; done",
                          place->project, NULL);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_wait_check (git, NULL, &error));
  g_assert_no_error (error);

  session = open_in (place, messages);
  output = shell_output (session, "export GIT_AUTHOR_NAME=N GIT_AUTHOR_EMAIL=n@example.org "
                                  "GIT_COMMITTER_NAME=N GIT_COMMITTER_EMAIL=n@example.org; "
                                  "GIT_SEQUENCE_EDITOR='sed -i 1ibreak' "
                                  "git rebase -q -i --exec 'touch /tmp/x' HEAD~2");
  g_assert_cmpuint (messages->len, ==, 0);
  close_session (session);
  g_assert_cmpuint (messages->len, ==, 1);
  g_assert_true (has_message (messages, "git rebase --continue"));
  g_assert_true (has_message (messages, "2 commands"));
}

static void
test_nested (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) messages = messages_new ();
  g_autofree char *before = g_build_filename (place->project, "earlier", NULL);
  g_autoptr(GSubprocess) git = NULL;
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *output = NULL;

  git = g_subprocess_new (G_SUBPROCESS_FLAGS_NONE, NULL, "git", "init", "-q", before, NULL);
  g_assert_true (g_subprocess_wait_check (git, NULL, NULL));
  session = open_in (place, messages);
  output = shell_output (session, "mkdir -p a/b; cd a/b; git init -q");
  close_session (session);
  g_assert_cmpuint (messages->len, ==, 1);
  g_assert_true (has_message (messages, "/a/b"));
  g_assert_false (has_message (messages, "earlier"));
}

/* Where the whole of what may be written becomes one, and where it was one before. */
static void
test_top (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) messages = messages_new ();
  g_autoptr(SbxSession) session = open_in (place, messages);

  g_free (shell_output (session, "git init -q"));
  close_session (session);
  g_assert_cmpuint (messages->len, ==, 1);
  g_assert_true (has_message (messages, place->project));

  g_clear_object (&session);
  session = open_in (place, messages);
  g_free (shell_output (session, "git -c user.name=a -c user.email=b commit -q --allow-empty "
                                 "-m x"));
  close_session (session);
  g_assert_cmpuint (messages->len, ==, 1);
}

static int
run_victim (const char *root)
{
  g_autoptr(SbxBwrapProvider) provider = sbx_bwrap_provider_new ();
  g_autofree char *data = g_build_filename (root, "data", NULL);
  g_autofree char *project = g_build_filename (root, "project", NULL);
  g_autoptr(SbxReach) reach = make_reach (project);
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(SbxCommand) command = shell ("while :; do : > .mcp.json; mkdir .vscode; done "
                                         "2> /dev/null");

  sbx_bwrap_provider_set_data_dir (provider, data);
  session = sbx_provider_open (SBX_PROVIDER (provider), request, NULL, NULL);
  sbx_session_exec (session, command, NULL, NULL);

  return 1;
}

static guint
count_in (const char *path)
{
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);
  guint n = 0;

  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;

  return n;
}

/* The program is killed while the sandbox makes things: the next one that opens a sandbox looks. */
static void
test_killed (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) late = messages_new ();
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *aside = g_build_filename (place->data, "quarantine", NULL);

  g_signal_connect (place->provider, "message", G_CALLBACK (message_cb), late);

  for (guint i = 0; i < 5; i++)
    {
      const guint before = count_in (aside);
      const gint64 end = g_get_monotonic_time () + TEST_DEADLINE_S * G_USEC_PER_SEC;
      g_autoptr(GError) error = NULL;
      g_autoptr(GSubprocess) victim = g_subprocess_new (G_SUBPROCESS_FLAGS_NONE, &error, self,
                                                        VICTIM, place->root, NULL);
      g_auto(GStrv) removed = NULL;

      g_assert_no_error (error);
      while (count_in (aside) == before && g_get_monotonic_time () < end)
        g_usleep (100);
      g_assert_cmpuint (count_in (aside), ==, before + 1);
      g_subprocess_force_exit (victim);
      g_subprocess_wait (victim, NULL, NULL);

      g_ptr_array_set_size (late, 0);
      removed = sbx_bwrap_provider_clean (place->provider, FALSE, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (g_strv_length (removed), ==, 1);
      g_assert_false (is_there (place->project, ".mcp.json"));
      g_assert_false (is_there (place->project, ".vscode"));
      g_assert_cmpuint (late->len, >, 0);
    }
}

static int
compare (gconstpointer a,
         gconstpointer b)
{
  const gint64 one = *(const gint64 *) a;
  const gint64 other = *(const gint64 *) b;

  return one < other ? -1 : one > other;
}

/* How long what a command makes is there: measured inside, from before it is made until it is
 * gone. */
static void
test_window (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GPtrArray) messages = messages_new ();
  g_autoptr(SbxSession) session = open_in (place, messages);
  g_autoptr(GArray) times = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autofree char *output = NULL;
  g_auto(GStrv) lines = NULL;

  output = shell_output (session,
                         "exec /usr/bin/python3 -c '\n"
                         "import os, random, time\n"
                         "time.sleep(0.1)\n"
                         "for i in range(500):\n"
                         "    time.sleep(random.random() * 0.004)\n"
                         "    t = time.monotonic_ns()\n"
                         "    os.close(os.open(\".mcp.json\", os.O_CREAT | os.O_WRONLY))\n"
                         "    while True:\n"
                         "        try: os.lstat(\".mcp.json\")\n"
                         "        except FileNotFoundError: break\n"
                         "    print((time.monotonic_ns() - t) // 1000)\n"
                         "'");
  lines = g_strsplit (output, "\n", -1);
  for (gsize i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      const gint64 us = g_ascii_strtoll (lines[i], NULL, 10);

      g_array_append_val (times, us);
    }

  g_assert_cmpuint (times->len, ==, 500);
  g_array_sort (times, compare);
  g_test_message ("there for: p50 %" G_GINT64_FORMAT " us, p99 %" G_GINT64_FORMAT " us, longest %"
                  G_GINT64_FORMAT " us", g_array_index (times, gint64, 250),
                  g_array_index (times, gint64, 495), g_array_index (times, gint64, 499));
  g_assert_cmpint (g_array_index (times, gint64, 250), <, G_USEC_PER_SEC / 10);

  close_session (session);
}

int
main (int    argc,
      char **argv)
{
  if (argc == 3 && g_str_equal (argv[1], VICTIM))
    return run_victim (argv[2]);

  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/quarantine/T24/end-of-exec", test_end_of_exec);
  g_test_add_func ("/quarantine/T24/while-running", test_while_running);
  g_test_add_func ("/quarantine/T24/files", test_files);
  g_test_add_func ("/quarantine/T24/close", test_close);
  g_test_add_func ("/quarantine/T24/host", test_host);
  g_test_add_func ("/quarantine/T24/dropped", test_dropped);
  g_test_add_func ("/quarantine/T24/killed", test_killed);
  g_test_add_func ("/quarantine/T24/window", test_window);
  g_test_add_func ("/quarantine/no-way-out", test_no_way_out);
  g_test_add_func ("/quarantine/T23/rebase", test_rebase);
  g_test_add_func ("/quarantine/T23/nested", test_nested);
  g_test_add_func ("/quarantine/T23/top", test_top);

  return g_test_run ();
}
