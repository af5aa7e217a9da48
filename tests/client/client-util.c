/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "client-util.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void
test_client_init (int    *argc,
                  char ***argv)
{
  /* As it is for a program that was started from a terminal. */
  signal (SIGPIPE, SIG_DFL);
  g_test_init (argc, argv, NULL);
  g_assert_cmpint (prctl (PR_SET_CHILD_SUBREAPER, 1), ==, 0);
}

static void
log_cb (SbxProviderClient *client,
        const char        *source,
        const char        *text,
        TestClient        *self)
{
  g_assert_true (g_str_equal (source, "stderr") || g_str_equal (source, "protocol"));
  g_assert_true (g_utf8_validate (text, -1, NULL));
  g_string_append_printf (self->log, "%s: %s\n", source, text);
}

static void
closed_cb (SbxProviderClient *client,
           const GError      *error,
           TestClient        *self)
{
  self->n_closed++;
  g_free (self->closed);
  self->closed = g_strdup (error != NULL ? error->message : NULL);
}

TestClient *
test_client_new (const char *options)
{
  TestClient *self = g_new0 (TestClient, 1);
  const char *argv[] = { g_getenv ("SBX_FAKE_PROVIDER"), options, "serve", NULL };

  g_assert_nonnull (argv[0]);
  self->log = g_string_new (NULL);
  self->workspace = g_dir_make_tmp ("sbx-client-XXXXXX", NULL);
  self->record = g_strconcat (self->workspace, ".record", NULL);
  self->client = sbx_provider_client_new (argv);
  sbx_provider_client_set_provider_name (self->client, "fake");
  sbx_provider_client_set_variable (self->client, "FAKE_RECORD", self->record);
  g_signal_connect (self->client, "log", G_CALLBACK (log_cb), self);
  g_signal_connect (self->client, "closed", G_CALLBACK (closed_cb), self);
  return self;
}

/* The workspace belongs to the test alone, and has no links in it. */
static void
delete_tree (const char *path)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *below = g_build_filename (path, name, NULL);

      if (g_remove (below) != 0)
        delete_tree (below);
    }
  g_clear_pointer (&dir, g_dir_close);
  g_rmdir (path);
}

void
test_client_free (TestClient *self)
{
  if (self->client != NULL)
    {
      gpointer weak = self->client;

      /* A session that was dropped is still being closed, and has it until then. */
      g_signal_handlers_disconnect_by_data (self->client, self);
      g_object_add_weak_pointer (weak, &weak);
      g_clear_object (&self->client);
      test_wait_for (weak == NULL);
    }
  test_wait_for_no_children ();
  delete_tree (self->workspace);
  g_unlink (self->record);
  g_free (self->workspace);
  g_free (self->record);
  g_free (self->closed);
  g_string_free (self->log, TRUE);
  g_free (self);
}

SbxOpenRequest *
test_client_request (TestClient *self)
{
  return sbx_open_request_new_for_profile (self->workspace, "default");
}

SbxSession *
test_client_open (TestClient *self)
{
  g_autoptr(SbxOpenRequest) request = test_client_request (self);
  g_autoptr(GError) error = NULL;
  SbxSession *session;

  session = sbx_provider_open (SBX_PROVIDER (self->client), request, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (SBX_IS_SESSION (session));
  return session;
}

char *
test_client_read_record (TestClient *self)
{
  char *text = NULL;

  if (!g_file_get_contents (self->record, &text, NULL, NULL))
    return g_strdup ("");
  return text;
}

guint
test_client_count_record (TestClient *self,
                          const char *text)
{
  g_autofree char *record = test_client_read_record (self);
  g_auto(GStrv) lines = g_strsplit (record, "\n", -1);
  guint n = 0;

  for (gsize i = 0; lines[i] != NULL; i++)
    if (strstr (lines[i], text) != NULL)
      n++;
  return n;
}

char *
test_client_methods (TestClient *self)
{
  g_autofree char *record = test_client_read_record (self);
  g_auto(GStrv) lines = g_strsplit (record, "\n", -1);
  GString *methods = g_string_new (NULL);

  for (gsize i = 0; lines[i] != NULL; i++)
    {
      const char *method = strstr (lines[i], "\"method\":\"");

      if (method == NULL)
        continue;
      method += strlen ("\"method\":\"");
      g_string_append_len (methods, method, strchr (method, '"') - method);
      g_string_append_c (methods, ' ');
    }
  return g_string_free (methods, FALSE);
}

SbxCommand *
test_command (const char *first,
              ...)
{
  g_autoptr(GPtrArray) argv = g_ptr_array_new ();
  va_list arguments;

  va_start (arguments, first);
  for (const char *argument = first; argument != NULL; argument = va_arg (arguments, const char *))
    g_ptr_array_add (argv, (char *) argument);
  va_end (arguments);
  g_ptr_array_add (argv, NULL);
  return sbx_command_new ((const char * const *) argv->pdata);
}

SbxCommand *
test_shell (const char *script)
{
  return test_command ("sh", "-c", script, NULL);
}

GPid
test_client_provider_pid (SbxSession *session)
{
  g_autoptr(SbxCommand) command = test_shell ("echo $PPID");
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxExecResult) result = sbx_session_exec (session, command, NULL, &error);
  g_autofree char *text = NULL;
  gsize size;

  g_assert_no_error (error);
  text = g_strndup (g_bytes_get_data (sbx_exec_result_get_stdout (result), &size),
                    g_bytes_get_size (sbx_exec_result_get_stdout (result)));
  return (GPid) g_ascii_strtoll (text, NULL, 10);
}

/* Of all threads; with @living those that are no zombies. The first of them, or 0. */
static GPid
find_child (gboolean living)
{
  g_autofree char *text = NULL;
  g_auto(GStrv) pids = NULL;

  if (!g_file_get_contents ("/proc/thread-self/children", &text, NULL, NULL))
    return 0;
  pids = g_strsplit (g_strstrip (text), " ", -1);
  for (gsize i = 0; pids[i] != NULL && *pids[i] != '\0'; i++)
    {
      g_autofree char *path = g_strdup_printf ("/proc/%s/stat", pids[i]);
      g_autofree char *stat = NULL;

      if (!g_file_get_contents (path, &stat, NULL, NULL))
        continue;
      if (!living || g_str_has_prefix (strrchr (stat, ')'), ") Z") == FALSE)
        return (GPid) g_ascii_strtoll (pids[i], NULL, 10);
    }
  return 0;
}

/* What /proc says of them: pid, name, state, parent, group, session. */
static char *
describe_children (void)
{
  g_autofree char *text = NULL;
  g_auto(GStrv) pids = NULL;
  GString *lines = g_string_new (NULL);

  g_file_get_contents ("/proc/thread-self/children", &text, NULL, NULL);
  pids = g_strsplit (g_strstrip (text), " ", -1);
  for (gsize i = 0; pids[i] != NULL && *pids[i] != '\0'; i++)
    {
      g_autofree char *path = g_strdup_printf ("/proc/%s/stat", pids[i]);
      g_autofree char *stat = NULL;

      if (g_file_get_contents (path, &stat, NULL, NULL))
        g_string_append_printf (lines, "%.60s; ", stat);
    }
  return g_string_free (lines, FALSE);
}

/* The provider itself is for the library to reap. What it left behind became ours. */
void
test_wait_for_no_children (void)
{
  const gint64 patience = g_get_monotonic_time () + 50 * 1000;
  const gint64 end = g_get_monotonic_time () + TEST_DEADLINE_S * G_USEC_PER_SEC;
  GPid pid;

  while ((pid = find_child (FALSE)) != 0)
    {
      test_run_ready ();
      if (find_child (TRUE) == 0 && g_get_monotonic_time () > patience)
        waitpid (pid, NULL, WNOHANG);
      if (g_get_monotonic_time () > end)
        {
          g_autofree char *left = describe_children ();

          g_error ("Processes are left: %s", left);
        }
      g_usleep (1000);
    }
}

void
test_kill_children (void)
{
  GPid pid;

  while ((pid = find_child (TRUE)) != 0)
    {
      kill (pid, SIGKILL);
      g_usleep (1000);
    }
}

gboolean
test_process_exists (GPid pid)
{
  return kill (pid, 0) == 0 || errno != ESRCH;
}

void
test_wait_for_exit (GPid pid)
{
  const gint64 end = g_get_monotonic_time () + TEST_DEADLINE_S * G_USEC_PER_SEC;

  /* Nothing wakes the loop when somebody else reaps it. */
  while (test_process_exists (pid))
    {
      g_assert_cmpint (g_get_monotonic_time (), <, end);
      test_run_ready ();
      g_usleep (1000);
    }
}

void
test_run_ready (void)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static gboolean
set_true_cb (gpointer user_data)
{
  *(gboolean *) user_data = TRUE;
  return G_SOURCE_REMOVE;
}

void
test_run_for (guint milliseconds)
{
  gboolean done = FALSE;

  g_timeout_add (milliseconds, set_true_cb, &done);
  test_wait_for (done);
}

SbxExecResult *
test_finish_exec (SbxSession    *session,
                  GAsyncResult **result,
                  GError       **error)
{
  g_autoptr(GAsyncResult) taken = NULL;

  test_wait_for (*result != NULL);
  taken = g_steal_pointer (result);
  return sbx_session_exec_finish (session, taken, error);
}

static gboolean
tick_cb (gpointer user_data)
{
  TestTimer *self = user_data;
  const gint64 now = g_get_monotonic_time ();

  self->worst = MAX (self->worst, now - self->last - 5000);
  self->last = now;
  return G_SOURCE_CONTINUE;
}

void
test_timer_start (TestTimer *self)
{
  self->worst = 0;
  self->last = g_get_monotonic_time ();
  self->source = g_timeout_add (5, tick_cb, self);
}

guint
test_timer_stop (TestTimer *self)
{
  tick_cb (self);
  g_source_remove (self->source);
  return (guint) (self->worst / 1000);
}

/* gcc says it in one way, clang in another. */
#if defined (__SANITIZE_ADDRESS__)
#define SANITIZED TRUE
#elif defined (__has_feature)
#if __has_feature (address_sanitizer)
#define SANITIZED TRUE
#endif
#endif
#ifndef SANITIZED
#define SANITIZED FALSE
#endif

gboolean
test_memory_counts (void)
{
  g_autofree char *maps = NULL;

  return !SANITIZED && g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL) &&
         strstr (maps, "vgpreload") == NULL;
}

gint64
test_memory (const char *name)
{
  g_autofree char *status = NULL;
  const char *at;

  g_assert_true (g_file_get_contents ("/proc/self/status", &status, NULL, NULL));
  at = strstr (status, name);
  g_assert_nonnull (at);
  return g_ascii_strtoll (at + strlen (name) + 1, NULL, 10);
}

void
test_memory_reset (void)
{
  g_autofree char *path = g_strdup ("/proc/self/clear_refs");
  FILE *file = fopen (path, "w");

  g_assert_nonnull (file);
  g_assert_cmpint (fputs ("5", file), >=, 0);
  g_assert_cmpint (fclose (file), ==, 0);
}
