/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "worktree-util.h"

#include <fcntl.h>

/*
 * SIGKILL at a random moment of a worktree's life; then a clean-up, by name of the group or of
 * everything, after which there is no trace of it. This program runs itself again as the one that
 * is killed. The seed that GLib prints makes the moments the same again.
 */

#define N_ROUNDS 40
#define MAX_DELAY_US (300 * 1000)
#define DEADLINE_US (60 * G_USEC_PER_SEC)
#define GROUP "killed"

static char *config_home;
static char *self_path;

/* Opens, works and closes for as long as it is let. */
G_NORETURN static void
run_victim (const char *root,
            const char *profile)
{
  g_autoptr(SbxBwrapProvider) provider = sbx_bwrap_provider_new ();
  g_autofree char *data = g_build_filename (root, "data", NULL);
  g_autofree char *project = g_build_filename (root, "project", NULL);

  sbx_bwrap_provider_set_data_dir (provider, data);
  for (;;)
    {
      g_autoptr(SbxOpenRequest) request = profile_request (project, profile, NULL, GROUP);
      g_autoptr(GError) error = NULL;
      g_autoptr(SbxSession) session = NULL;

      session = sbx_provider_open (SBX_PROVIDER (provider), request, NULL, &error);
      g_assert_no_error (error);
      g_free (inside (session, "echo x > file; git commit -q -a -m x; "
                               "git reset -q --hard HEAD~1"));
      sbx_session_close (session, NULL, &error);
      g_assert_no_error (error);
    }
}

static void
reap_all (const char *what)
{
  const gint64 deadline = g_get_monotonic_time () + DEADLINE_US;

  while (count_descendants () > 0)
    {
      while (waitpid (-1, NULL, WNOHANG) > 0)
        ;
      if (g_get_monotonic_time () > deadline)
        g_error ("%s: processes are left", what);
      g_usleep (1000);
    }
}

static pid_t
start_victim (Place      *place,
              const char *profile)
{
  const pid_t pid = fork ();

  if (pid == 0)
    {
      const int null = open ("/dev/null", O_RDWR);

      dup2 (null, 1);
      execl (self_path, self_path, "--victim", place->root, profile, NULL);
      _exit (99);
    }

  g_assert_cmpint (pid, >, 0);

  return pid;
}

static void
kill_one (Place      *place,
          const char *profile,
          guint       number)
{
  const guint delay = (guint) g_test_rand_int_range (0, MAX_DELAY_US);
  g_autofree char *what = g_strdup_printf ("round %u, %u µs", number, delay);
  const pid_t pid = start_victim (place, profile);
  g_autoptr(GError) error = NULL;
  int status;

  g_usleep (delay);
  kill (pid, SIGKILL);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  /* One that fails to open aborts. */
  g_assert_true (WIFSIGNALED (status));
  g_assert_cmpint (WTERMSIG (status), ==, SIGKILL);

  if (number % 2 == 0)
    {
      guint count = 0;

      sbx_provider_cleanup_group (SBX_PROVIDER (place->provider), GROUP, NULL, &count, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (count, <=, 1);
    }
  else
    {
      g_auto(GStrv) removed = NULL;

      reap_all (what);
      removed = sbx_bwrap_provider_clean (place->provider, FALSE, NULL, &error);
      g_assert_no_error (error);
    }

  reap_all (what);
  if (count_worktrees (place->data) != 0 || (number % 2 == 1 && count_sessions (place->data) != 0))
    g_error ("%s: something is left", what);
}

static void
test_kill (gconstpointer user_data)
{
  const char *profile = user_data;
  g_autoptr(Place) place = place_new ();
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  do_on_host (place->project, MAKE_REPOSITORY "git pack-refs --all");
  before = take_picture (place->project);

  for (guint i = 0; i < N_ROUNDS; i++)
    kill_one (place, profile, i);

  g_strfreev (sbx_bwrap_provider_clean (place->provider, FALSE, NULL, NULL));
  g_assert_cmpuint (count_sessions (place->data), ==, 0);
  after = take_picture (place->project);
  g_assert_cmpstr (after, ==, before);
}

int
main (int   argc,
      char *argv[])
{
  int status;

  if (argc == 4 && strcmp (argv[1], "--victim") == 0)
    run_victim (argv[2], argv[3]);

  self_path = g_file_read_link ("/proc/self/exe", NULL);
  config_home = make_config_home ();
  write_profile (config_home, "carry", "{\"workspace\": \"worktree\", \"carry-changes\": true}");
  adopt_orphans ();
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/worktree/kill/plain", "worktree", test_kill);
  g_test_add_data_func ("/worktree/kill/carry", "carry", test_kill);

  status = g_test_run ();
  remove_tree (config_home);
  g_free (config_home);
  g_free (self_path);

  return status;
}
