/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "worktree-util.h"

#include <fcntl.h>

/*
 * Groups: whoever opened their sessions, one call ends and removes them. This program runs itself
 * again as another process that opens some.
 */

#define DEADLINE_US (30 * G_USEC_PER_SEC)
#define GROUP "sbxgrp_01"

static char *config_home;
static char *self_path;

static guint
cleanup (Place      *place,
         const char *group)
{
  g_autoptr(GError) error = NULL;
  guint count = 99;

  sbx_provider_cleanup_group (SBX_PROVIDER (place->provider), group, NULL, &count, &error);
  g_assert_no_error (error);

  return count;
}

static SbxSession *
open_in_group (Place            *place,
               SbxBwrapProvider *provider,
               const char       *profile,
               const char       *group)
{
  g_autoptr(SbxOpenRequest) request = profile_request (place->project, profile, NULL, group);
  g_autoptr(GError) error = NULL;
  SbxSession *session = sbx_provider_open (SBX_PROVIDER (provider), request, NULL, &error);

  g_assert_no_error (error);

  return session;
}

/* --- Another process: opens sessions, says so, and waits for its end. --- */

static int
run_owner (const char *root,
           const char *profile,
           const char *group,
           int         n)
{
  g_autoptr(SbxBwrapProvider) provider = sbx_bwrap_provider_new ();
  g_autofree char *data = g_build_filename (root, "data", NULL);
  g_autofree char *project = g_build_filename (root, "project", NULL);

  sbx_bwrap_provider_set_data_dir (provider, data);
  for (int i = 0; i < n; i++)
    {
      g_autoptr(SbxOpenRequest) request = profile_request (project, profile, NULL, group);
      g_autoptr(GError) error = NULL;
      SbxSession *session = sbx_provider_open (SBX_PROVIDER (provider), request, NULL, &error);

      g_assert_no_error (error);
      g_free (shell_output (session, "echo x > made-by-owner"));
      g_print ("%s\n", sbx_session_get_cwd (session));
      fflush (stdout);
    }

  for (;;)
    g_main_context_iteration (NULL, TRUE);

  return 0;
}

typedef struct
{
  pid_t      pid;
  GPtrArray *cwds;
} Owner;

static void
owner_start (Owner      *self,
             Place      *place,
             const char *profile,
             const char *group,
             guint       n)
{
  g_autofree char *number = g_strdup_printf ("%u", n);
  g_autofree char *line = NULL;
  size_t size = 0;
  int fds[2];
  FILE *output;

  g_assert_cmpint (pipe2 (fds, O_CLOEXEC), ==, 0);
  self->cwds = g_ptr_array_new_with_free_func (g_free);
  self->pid = fork ();
  if (self->pid == 0)
    {
      /* A test that fails leaves nobody behind. */
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      dup2 (fds[1], 1);
      execl (self_path, self_path, "--owner", place->root, profile, group, number, NULL);
      _exit (99);
    }

  close (fds[1]);
  output = fdopen (fds[0], "r");
  while (self->cwds->len < n && getline (&line, &size, output) > 0)
    g_ptr_array_add (self->cwds, g_strdup (g_strchomp (line)));
  fclose (output);
  g_assert_cmpuint (self->cwds->len, ==, n);
}

static void
owner_end (Owner *self)
{
  if (self->pid > 0)
    {
      kill (self->pid, SIGKILL);
      g_assert_cmpint (waitpid (self->pid, NULL, 0), ==, self->pid);
    }

  self->pid = 0;
}

static void
owner_clear (Owner *self)
{
  owner_end (self);
  g_ptr_array_unref (self->cwds);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Owner, owner_clear)

static void
reap_all (void)
{
  const gint64 deadline = g_get_monotonic_time () + DEADLINE_US;

  while (count_descendants () > 0)
    {
      while (waitpid (-1, NULL, WNOHANG) > 0)
        ;
      g_assert_cmpint (g_get_monotonic_time (), <, deadline);
      g_usleep (2000);
    }
}

static void
assert_no_trace (Place      *place,
                 const char *before)
{
  g_autofree char *after = take_picture (place->project);

  g_assert_cmpstr (after, ==, before);
  g_assert_cmpuint (count_sessions (place->data), ==, 0);
  g_assert_cmpuint (count_worktrees (place->data), ==, 0);
}

static void
test_same_process (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxBwrapProvider) other = sbx_bwrap_provider_new ();
  g_autofree char *before = NULL;
  SbxSession *sessions[5];

  do_on_host (place->project, MAKE_REPOSITORY);
  before = take_picture (place->project);
  sbx_bwrap_provider_set_data_dir (other, place->data);

  sessions[0] = open_in_group (place, place->provider, "worktree", GROUP);
  sessions[1] = open_in_group (place, place->provider, "worktree", GROUP);
  sessions[2] = open_in_group (place, other, "worktree", GROUP);
  sessions[3] = open_in_group (place, place->provider, "worktree", GROUP "2");
  sessions[4] = open_in_group (place, place->provider, "default", NULL);

  g_assert_cmpuint (cleanup (place, "sbxgrp_"), ==, 0);
  g_assert_cmpuint (cleanup (place, GROUP), ==, 3);
  for (guint i = 0; i < 3; i++)
    {
      g_assert_cmpint (sbx_session_get_state (sessions[i]), ==, SBX_SESSION_STATE_CLOSED);
      g_assert_false (g_file_test (sbx_session_get_cwd (sessions[i]), G_FILE_TEST_EXISTS));
    }
  for (guint i = 3; i < G_N_ELEMENTS (sessions); i++)
    {
      g_assert_cmpint (sbx_session_get_state (sessions[i]), ==, SBX_SESSION_STATE_OPEN);
      g_free (shell_output (sessions[i], "test -e file"));
    }

  g_assert_cmpuint (cleanup (place, GROUP), ==, 0);
  g_assert_cmpuint (cleanup (place, GROUP "2"), ==, 1);
  for (guint i = 0; i < G_N_ELEMENTS (sessions); i++)
    {
      close_session (sessions[i]);
      g_object_unref (sessions[i]);
    }

  assert_no_trace (place, before);
}

/* Names are content, whatever they look like. */
static void
test_names (void)
{
  static const char * const names[] = {
    "", ".", "..", "/", "../../..", "/etc", "a/b", "-rf", "a\nb", " ", "*", "\xc3\xa4", "%s%n",
  };
  g_autoptr(Place) place = place_new ();
  g_autofree char *longest = g_strnfill (1024, 'x');
  g_autofree char *too_long = g_strnfill (1025, 'x');
  g_autofree char *huge = g_strnfill (1024 * 1024, 'x');
  g_autofree char *beside = g_build_filename (place->root, "beside", NULL);
  g_autoptr(SbxOpenRequest) request = NULL;
  g_autoptr(GError) error = NULL;

  write_text (place->root, "beside", "must stay");
  g_assert_cmpuint (cleanup (place, "nothing was ever opened"), ==, 0);

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr(SbxSession) session = open_in_group (place, place->provider, "default", names[i]);

      for (gsize j = 0; j < G_N_ELEMENTS (names); j++)
        if (j != i)
          g_assert_cmpuint (cleanup (place, names[j]), ==, 0);

      g_assert_cmpuint (cleanup (place, names[i]), ==, 1);
      close_session (session);
    }

  {
    g_autoptr(SbxSession) session = open_in_group (place, place->provider, "default", longest);

    g_assert_cmpuint (cleanup (place, too_long), ==, 0);
    g_assert_cmpuint (cleanup (place, huge), ==, 0);
    g_assert_cmpuint (cleanup (place, longest), ==, 1);
    close_session (session);
  }

  request = profile_request (place->project, "default", NULL, too_long);
  g_assert_null (sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_assert_true (g_file_test (beside, G_FILE_TEST_IS_REGULAR));
}

/* A reach can have a group as well. */
static void
test_reach (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxOpenRequest) request = place_request (place);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  sbx_open_request_set_group (request, GROUP);
  session = sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (cleanup (place, GROUP), ==, 1);
  g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_CLOSED);
  close_session (session);
}

static void
test_killed (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *before = NULL;
  g_auto(Owner) owner = { 0 };

  do_on_host (place->project, MAKE_REPOSITORY);
  before = take_picture (place->project);
  owner_start (&owner, place, "worktree", GROUP, 3);
  g_assert_cmpuint (count_worktrees (place->data), ==, 3);
  owner_end (&owner);

  g_assert_cmpuint (cleanup (place, GROUP "x"), ==, 0);
  g_assert_cmpuint (cleanup (place, GROUP), ==, 3);
  g_assert_cmpuint (cleanup (place, GROUP), ==, 0);
  assert_no_trace (place, before);
  reap_all ();
}

/* One that lives on loses its sessions, and nothing else happens to it. */
static void
test_alive (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *before = NULL;
  g_auto(Owner) owner = { 0 };
  int status;

  do_on_host (place->project, MAKE_REPOSITORY);
  before = take_picture (place->project);
  owner_start (&owner, place, "worktree", GROUP, 2);
  g_assert_cmpuint (cleanup (place, GROUP), ==, 2);
  assert_no_trace (place, before);
  g_assert_cmpint (waitpid (owner.pid, &status, WNOHANG), ==, 0);
  g_assert_cmpuint (cleanup (place, GROUP), ==, 0);
  owner_end (&owner);
  reap_all ();
}

static char *
find_record (Place *place)
{
  g_autofree char *sessions = g_build_filename (place->data, "sessions", NULL);
  g_autoptr(GDir) dir = g_dir_open (sessions, 0, NULL);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (!g_str_has_suffix (name, ".lock"))
      return g_build_filename (sessions, name, "process", NULL);

  g_assert_not_reached ();
}

/* Whatever a record says, nobody but process 1 of a sandbox is ended. */
static void
test_F10 (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GSubprocess) bystander = NULL;
  g_autoptr(GCancellable) cancellable = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *record = NULL;
  g_autofree char *text = NULL;
  g_auto(GStrv) fields = NULL;
  g_auto(Owner) owner = { 0 };

  /* %NULL is the bystander. */
  const char *pids[] = { NULL, NULL, NULL, "-1", "0", "1", "99999999999999999999", "x" };

  bystander = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE |
                                G_SUBPROCESS_FLAGS_STDERR_SILENCE,
                                &error, "sleep", "600", NULL);
  g_assert_no_error (error);
  owner_start (&owner, place, "default", GROUP, 1);
  record = find_record (place);
  g_assert_true (g_file_get_contents (record, &text, NULL, &error));
  fields = g_strsplit (text, " ", 3);
  g_assert_cmpuint (g_strv_length (fields), ==, 3);
  g_strchomp (fields[2]);

  for (guint i = 0; i < G_N_ELEMENTS (pids); i++)
    {
      const char *pid = g_subprocess_get_identifier (bystander);
      g_autofree char *forged = NULL;
      guint count = 0;

      forged = g_strdup_printf ("%s %s %s\n", i == 0 ? "x" : fields[0],
                                pids[i] != NULL ? pids[i] : pid, i == 2 ? "1" : fields[2]);
      cancellable = g_cancellable_new ();
      g_file_set_contents (record, forged, -1, &error);
      g_assert_no_error (error);

      /* It gives up after a while, which the test does not wait for. */
      g_timeout_add_full (0, 300, (GSourceFunc) (GCallback) g_cancellable_cancel,
                          g_object_ref (cancellable), g_object_unref);
      g_assert_false (sbx_provider_cleanup_group (SBX_PROVIDER (place->provider), GROUP,
                                                  cancellable, &count, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
      g_clear_object (&cancellable);

      if (g_subprocess_get_identifier (bystander) == NULL)
        g_error ("A bystander was killed");
      g_assert_cmpint (waitpid (owner.pid, NULL, WNOHANG), ==, 0);
    }

  g_file_set_contents (record, text, -1, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (cleanup (place, GROUP), ==, 1);
  g_subprocess_force_exit (bystander);
  g_subprocess_wait (bystander, NULL, NULL);
  owner_end (&owner);
  reap_all ();
}

/* Sessions of another thread are closed where they belong. */
typedef struct
{
  Place        *place;
  GMainContext *context;
  SbxSession   *session;
  int           opened;
  int           stop;
} Worker;

static gpointer
work (gpointer data)
{
  Worker *worker = data;
  g_autoptr(SbxBwrapProvider) provider = NULL;

  g_main_context_push_thread_default (worker->context);
  provider = sbx_bwrap_provider_new ();
  sbx_bwrap_provider_set_data_dir (provider, worker->place->data);
  worker->session = open_in_group (worker->place, provider, "default", GROUP);
  g_atomic_int_set (&worker->opened, 1);
  while (!g_atomic_int_get (&worker->stop))
    g_main_context_iteration (worker->context, TRUE);

  g_assert_cmpint (sbx_session_get_state (worker->session), ==, SBX_SESSION_STATE_CLOSED);
  g_clear_object (&worker->session);
  g_main_context_pop_thread_default (worker->context);

  return NULL;
}

/* An owner that died before it could say of which group its session is. */
static void
test_half_made (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *empty = g_build_filename (place->data, "sessions", "0123456789abcdef", NULL);
  g_autofree char *locked = g_build_filename (place->data, "sessions", "fedcba9876543210", NULL);
  g_autofree char *lock = g_build_filename (locked, "lock", NULL);

  g_assert_cmpint (g_mkdir_with_parents (empty, 0700), ==, 0);
  g_assert_cmpint (g_mkdir_with_parents (locked, 0700), ==, 0);
  g_assert_true (g_file_set_contents (lock, "", 0, NULL));

  g_assert_cmpuint (cleanup (place, GROUP), ==, 0);
  g_assert_false (g_file_test (empty, G_FILE_TEST_EXISTS));
  g_assert_false (g_file_test (locked, G_FILE_TEST_EXISTS));
}

static void
test_other_thread (void)
{
  g_autoptr(Place) place = place_new ();
  Worker worker = { place, g_main_context_new (), NULL, 0, 0 };
  GThread *thread = g_thread_new ("other", work, &worker);

  while (!g_atomic_int_get (&worker.opened))
    g_usleep (1000);
  g_assert_cmpuint (cleanup (place, GROUP), ==, 1);
  g_atomic_int_set (&worker.stop, 1);
  g_main_context_wakeup (worker.context);
  g_thread_join (thread);
  g_main_context_unref (worker.context);
}

static void
kept_cb (SbxBwrapProvider *provider,
         const char       *path,
         const char       *branch,
         const char       *message,
         guint            *n)
{
  *n += 1;
}

/* Work is not thrown away because its process was killed. */
static void
test_kept (void)
{
  g_autoptr(Place) place = place_new ();
  g_auto(Owner) owner = { 0 };
  guint n = 0;

  do_on_host (place->project, MAKE_REPOSITORY);
  owner_start (&owner, place, "keep", GROUP, 2);
  owner_end (&owner);
  g_signal_connect (place->provider, "worktree-kept", G_CALLBACK (kept_cb), &n);
  g_assert_cmpuint (cleanup (place, GROUP), ==, 2);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpuint (count_sessions (place->data), ==, 0);
  g_assert_cmpuint (count_worktrees (place->data), ==, 2);
  g_assert_cmpuint (cleanup (place, GROUP), ==, 0);
  g_assert_cmpuint (n, ==, 2);
  for (guint i = 0; i < owner.cwds->len; i++)
    do_on_host (g_ptr_array_index (owner.cwds, i), "test -e made-by-owner; git status");
  reap_all ();
}

int
main (int   argc,
      char *argv[])
{
  int status;

  if (argc == 6 && strcmp (argv[1], "--owner") == 0)
    return run_owner (argv[2], argv[3], argv[4], (int) g_ascii_strtoll (argv[5], NULL, 10));

  self_path = g_file_read_link ("/proc/self/exe", NULL);
  config_home = make_config_home ();
  write_profile (config_home, "keep", "{\"workspace\": \"worktree\", \"keep\": \"when-changed\"}");
  adopt_orphans ();
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/group/same-process", test_same_process);
  g_test_add_func ("/group/names", test_names);
  g_test_add_func ("/group/reach", test_reach);
  g_test_add_func ("/group/killed", test_killed);
  g_test_add_func ("/group/alive", test_alive);
  g_test_add_func ("/group/F10", test_F10);
  g_test_add_func ("/group/half-made", test_half_made);
  g_test_add_func ("/group/other-thread", test_other_thread);
  g_test_add_func ("/group/kept", test_kept);

  status = g_test_run ();
  remove_tree (config_home);
  g_free (config_home);
  g_free (self_path);

  return status;
}
