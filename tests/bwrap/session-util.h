/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <dirent.h>
#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sbx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test-util.h"

G_BEGIN_DECLS

/* A project to write in, and a provider that keeps what it has to in a directory of the test's. */
typedef struct
{
  char             *root;
  char             *data;
  char             *project;
  SbxBwrapProvider *provider;
} Place;

static inline void
remove_tree (const char *path)
{
  g_autoptr(GSubprocess) chmod_process = NULL;
  g_autoptr(GSubprocess) rm_process = NULL;

  chmod_process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL,
                                    "chmod", "-R", "u+rwx", path, NULL);
  g_subprocess_wait (chmod_process, NULL, NULL);
  rm_process = g_subprocess_new (G_SUBPROCESS_FLAGS_NONE, NULL,
                                 "rm", "-rf", "--one-file-system", path, NULL);
  g_assert_true (g_subprocess_wait_check (rm_process, NULL, NULL));
}

static inline Place *
place_new (void)
{
  Place *self = g_new0 (Place, 1);
  g_autoptr(GError) error = NULL;

  self->root = g_dir_make_tmp ("sbx-session-XXXXXX", &error);
  g_assert_no_error (error);
  self->data = g_build_filename (self->root, "data", NULL);
  self->project = g_build_filename (self->root, "project", NULL);
  g_assert_cmpint (g_mkdir (self->project, 0755), ==, 0);
  self->provider = sbx_bwrap_provider_new ();
  sbx_bwrap_provider_set_data_dir (self->provider, self->data);

  /* All of it can be tried with another bubblewrap. */
  if (g_getenv ("SBX_TEST_BWRAP") != NULL)
    sbx_bwrap_provider_set_program (self->provider, g_getenv ("SBX_TEST_BWRAP"));

  return self;
}

/* What the data directory has of sessions, dead or alive. */
static inline guint
count_sessions (const char *data)
{
  g_autofree char *path = g_build_filename (data, "sessions", NULL);
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;
  guint n = 0;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (!g_str_has_suffix (name, ".lock"))
      n++;

  return n;
}

typedef struct
{
  int  pid;
  int  parent;
  char state;
  char name[32];
} Process;

static inline gboolean
read_process (const char *pid,
              Process    *process)
{
  g_autofree char *path = g_build_filename ("/proc", pid, "stat", NULL);
  g_autofree char *text = NULL;
  const char *open, *end;

  if (!g_ascii_isdigit (*pid) || !g_file_get_contents (path, &text, NULL, NULL))
    return FALSE;

  open = strchr (text, '(');
  end = strrchr (text, ')');
  if (open == NULL || end == NULL || sscanf (end + 1, " %c %d", &process->state,
                                             &process->parent) != 2)
    return FALSE;

  process->pid = (int) g_ascii_strtoll (pid, NULL, 10);
  g_strlcpy (process->name, open + 1, MIN (sizeof process->name, (gsize) (end - open)));

  return TRUE;
}

/* The living below the process @root. All of a sandbox is below the program that opened it, or
 * below the next subreaper once that is gone. */
static inline GArray *
list_descendants (int root)
{
  g_autoptr(GArray) all = g_array_new (FALSE, FALSE, sizeof (Process));
  GArray *found = g_array_new (FALSE, FALSE, sizeof (Process));
  g_autoptr(GHashTable) known = g_hash_table_new (NULL, NULL);
  g_autoptr(GDir) dir = g_dir_open ("/proc", 0, NULL);
  gboolean changed = TRUE;
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      Process process;

      if (read_process (name, &process))
        g_array_append_val (all, process);
    }

  g_hash_table_add (known, GINT_TO_POINTER (root));
  while (changed)
    {
      changed = FALSE;

      for (guint i = 0; i < all->len; i++)
        {
          const Process *process = &g_array_index (all, Process, i);

          if (!g_hash_table_contains (known, GINT_TO_POINTER (process->pid)) &&
              g_hash_table_contains (known, GINT_TO_POINTER (process->parent)))
            {
              g_hash_table_add (known, GINT_TO_POINTER (process->pid));
              changed = TRUE;
              if (process->state != 'Z' && process->state != 'X')
                g_array_append_val (found, *process);
            }
        }
    }

  return found;
}

static inline guint
count_descendants (void)
{
  g_autoptr(GArray) found = list_descendants (getpid ());

  return found->len;
}

/* That a process ends wakes nobody here. */
static inline void
wait_for_no_process (void)
{
  const gint64 deadline = g_get_monotonic_time () + TEST_DEADLINE_S * G_USEC_PER_SEC;

  while (count_descendants () > 0)
    {
      g_assert_cmpint (g_get_monotonic_time (), <, deadline);
      g_main_context_iteration (NULL, FALSE);
      g_usleep (2000);
    }
}

/* Waits until nothing is left of any sandbox, or fails with what is. The main loop runs on. */
static inline void
assert_nothing_left (const char *data)
{
  const gint64 deadline = g_get_monotonic_time () + TEST_DEADLINE_S * G_USEC_PER_SEC;

  for (;;)
    {
      g_autoptr(GArray) found = list_descendants (getpid ());
      const guint n_sessions = count_sessions (data);

      if (found->len == 0 && n_sessions == 0)
        return;

      if (g_get_monotonic_time () > deadline)
        {
          for (guint i = 0; i < found->len; i++)
            g_printerr ("# left: %d %s\n", g_array_index (found, Process, i).pid,
                        g_array_index (found, Process, i).name);
          g_error ("%u processes and %u sessions are left", found->len, n_sessions);
        }

      g_main_context_iteration (NULL, FALSE);
      g_usleep (2000);
    }
}

static inline void
place_free (Place *self)
{
  g_clear_object (&self->provider);
  assert_nothing_left (self->data);
  remove_tree (self->root);
  g_free (self->root);
  g_free (self->data);
  g_free (self->project);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Place, place_free)

static inline SbxOpenRequest *
place_request (Place *self)
{
  g_autoptr(SbxReach) reach = sbx_reach_new (self->project);

  sbx_reach_add_write (reach, self->project);

  return sbx_open_request_new (reach);
}

static inline SbxSession *
place_open (Place *self)
{
  g_autoptr(SbxOpenRequest) request = place_request (self);
  g_autoptr(GError) error = NULL;
  SbxSession *session = sbx_provider_open (SBX_PROVIDER (self->provider), request, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (SBX_IS_SESSION (session));

  return session;
}

static inline void
close_session (SbxSession *session)
{
  g_autoptr(GError) error = NULL;

  sbx_session_close (session, NULL, &error);
  g_assert_no_error (error);
}

static inline SbxCommand *
shell (const char *script)
{
  const char * const argv[] = { "/bin/sh", "-c", script, NULL };

  return sbx_command_new (argv);
}

static inline SbxExecResult *
run_command (SbxSession *session,
             SbxCommand *command)
{
  g_autoptr(GError) error = NULL;
  SbxExecResult *result = sbx_session_exec (session, command, NULL, &error);

  g_assert_no_error (error);

  return result;
}

static inline SbxExecResult *
run_shell (SbxSession *session,
           const char *script)
{
  g_autoptr(SbxCommand) command = shell (script);

  return run_command (session, command);
}

static inline char *
bytes_to_text (GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  return g_strndup (data, size);
}

/* Runs @script, which must succeed, and returns what it wrote. */
static inline char *
shell_output (SbxSession *session,
              const char *script)
{
  g_autoptr(SbxExecResult) result = run_shell (session, script);
  g_autofree char *complaint = bytes_to_text (sbx_exec_result_get_stderr (result));

  if (!sbx_exec_result_get_success (result))
    g_error ("“%s” failed: %d %d %s %s", script, sbx_exec_result_get_outcome (result),
             sbx_exec_result_get_exit_code (result), sbx_exec_result_get_message (result),
             complaint);

  return bytes_to_text (sbx_exec_result_get_stdout (result));
}

/* But for the one that counts, process 1 and the supervisor. */
static inline int
count_inside (SbxSession *session)
{
  g_autofree char *text = shell_output (session, "n=0; for p in /proc/[0-9]*; do n=$((n+1)); "
                                                 "done; echo $n");

  return (int) g_ascii_strtoll (text, NULL, 10) - 3;
}

#define assert_exited_with(result, code) \
  G_STMT_START { \
    g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_EXITED); \
    g_assert_cmpint (sbx_exec_result_get_exit_code (result), ==, (code)); \
  } G_STMT_END

static inline void
adopt_orphans (void)
{
  prctl (PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

G_END_DECLS
