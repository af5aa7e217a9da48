/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

/* What sessions share on disk: homes, a repository and its placeholders, what the dead left. */

static void
run_outside (Place      *place,
             const char *script)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;

  g_subprocess_launcher_set_cwd (launcher, place->project);
  g_subprocess_launcher_setenv (launcher, "GIT_CONFIG_GLOBAL", "/dev/null", TRUE);
  process = g_subprocess_launcher_spawn (launcher, &error, "/bin/sh", "-ec", script, NULL);
  g_assert_no_error (error);
  g_assert_true (g_subprocess_wait_check (process, NULL, &error));
  g_assert_no_error (error);
}

static gboolean
is_there (Place      *place,
          const char *name)
{
  g_autofree char *path = g_build_filename (place->project, name, NULL);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

static void
test_home (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) first = place_open (place);
  g_autoptr(SbxSession) second = place_open (place);
  g_autoptr(SbxSession) third = NULL;
  g_autoptr(SbxSession) fresh = NULL;
  g_autofree char *wrote = shell_output (first, "echo cached > ~/.cache-file; echo $HOME");
  g_autofree char *seen = shell_output (second, "cat ~/.cache-file");
  g_autofree char *later = NULL;
  g_autofree char *empty = NULL;

  g_assert_cmpstr (wrote, ==, "/sandbox/home\n");
  g_assert_cmpstr (seen, ==, "cached\n");
  close_session (first);
  close_session (second);

  third = place_open (place);
  later = shell_output (third, "cat ~/.cache-file");
  g_assert_cmpstr (later, ==, "cached\n");

  sbx_bwrap_provider_set_fresh_home (place->provider, TRUE);
  fresh = place_open (place);
  empty = shell_output (fresh, "ls -A ~; echo x > ~/file");
  g_assert_cmpstr (empty, ==, "");
  close_session (fresh);
  close_session (third);
}

static void
test_home_without_rights (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) first = place_open (place);
  g_autoptr(SbxSession) second = NULL;
  g_autofree char *taken = shell_output (first, "echo kept > ~/file; chmod 0 ~; stat -c %a ~");
  g_autofree char *seen = NULL;

  g_assert_cmpstr (taken, ==, "0\n");
  close_session (first);

  second = place_open (place);
  seen = shell_output (second, "cat ~/file");
  g_assert_cmpstr (seen, ==, "kept\n");
  close_session (second);
}

/* /tmp is each session's own, and nobody else's on this machine. */
static void
test_tmp (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) first = place_open (place);
  g_autoptr(SbxSession) second = place_open (place);
  g_autofree char *wrote = shell_output (first, "ls -A /tmp | grep -v sbx-session-; "
                                                "echo x > /tmp/mine; mkdir /tmp/locked; "
                                                "touch /tmp/locked/f; chmod 0 /tmp/locked");
  g_autofree char *seen = shell_output (second, "ls -A /tmp | grep -v sbx-session-; true");

  g_assert_cmpstr (wrote, ==, "");
  g_assert_cmpstr (seen, ==, "");
  close_session (first);
  close_session (second);
}

static void
test_placeholders (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) first = NULL;
  g_autoptr(SbxSession) second = NULL;
  g_autoptr(SbxSession) third = NULL;
  g_autofree char *committed = NULL;

  run_outside (place, "git init -q .; git config user.name A; git config user.email a@b.c");
  first = place_open (place);
  g_assert_true (is_there (place, ".git/commondir"));
  second = place_open (place);
  committed = shell_output (second, "echo x > f; git add f; git commit -q -m m; git log --oneline "
                                    "| wc -l; (echo x > .git/commondir) 2> /dev/null; true");
  g_assert_cmpstr (committed, ==, "1\n");

  /* Whoever made them goes first; they stay until nobody needs them. */
  close_session (first);
  g_assert_true (is_there (place, ".git/commondir"));
  third = place_open (place);
  close_session (second);
  g_assert_true (is_there (place, ".git/commondir"));
  g_assert_true (is_there (place, ".git/config.worktree"));
  close_session (third);
  g_assert_false (is_there (place, ".git/commondir"));
  g_assert_false (is_there (place, ".git/config.worktree"));
  g_assert_false (is_there (place, ".git/modules"));
  run_outside (place, "git fsck && test -z \"$(git status --short)\"");
}

/* Two programs of one user may keep their data in different places, and root has one of its own. */
static void
test_placeholders_of_strangers (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) first = NULL;
  g_autoptr(SbxSession) second = NULL;
  g_autofree char *elsewhere = g_build_filename (place->root, "elsewhere", NULL);
  g_autofree char *output = NULL;

  run_outside (place, "git init -q .; rm -r .git/info; mkdir .git/modules");
  first = place_open (place);
  sbx_bwrap_provider_set_data_dir (place->provider, elsewhere);
  second = place_open (place);

  close_session (first);
  output = shell_output (second, "for i in commondir config.worktree gitdir; do "
                                 "(echo x > .git/$i) 2> /dev/null && echo planted $i; done; "
                                 "for i in modules info hooks; do mkdir .git/$i/x 2> /dev/null && "
                                 "echo planted in $i; done; true");
  g_assert_cmpstr (output, ==, "");
  g_assert_true (is_there (place, ".git/commondir"));

  close_session (second);
  g_assert_false (is_there (place, ".git/commondir"));
  g_assert_false (is_there (place, ".git/info"));
  g_assert_true (is_there (place, ".git/modules"));
}

/* What the user has is the user's, even where it is the same as ours would be. */
static void
test_own_files (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) first = NULL;
  g_autoptr(SbxSession) second = NULL;

  run_outside (place, "git init -q .; printf ./ > .git/commondir; mkdir .git/modules");
  first = place_open (place);
  second = place_open (place);
  close_session (first);
  close_session (second);
  g_assert_true (is_there (place, ".git/commondir"));
  g_assert_true (is_there (place, ".git/modules"));
  g_assert_false (is_there (place, ".git/config.worktree"));

  /* One that the user put in the place of ours stays as well. */
  run_outside (place, "rm .git/commondir");
  g_clear_object (&first);
  first = place_open (place);
  run_outside (place, "cp .git/commondir .git/c && mv .git/c .git/commondir");
  close_session (first);
  g_assert_true (is_there (place, ".git/commondir"));
}

static void
signal_process_1 (int signal_number)
{
  g_autoptr(GArray) found = list_descendants (getpid ());
  guint n = 0;

  for (guint i = 0; i < found->len; i++)
    {
      const Process *process = &g_array_index (found, Process, i);

      if (strcmp (process->name, "sbx-init") == 0)
        n += kill (process->pid, signal_number) == 0;
    }

  g_assert_cmpuint (n, ==, 1);
}

/* Opens, and then is killed; before that, process 1 is stopped, if so asked. */
static int
run_host (const char *root,
          gboolean    stop)
{
  g_autoptr(SbxBwrapProvider) provider = sbx_bwrap_provider_new ();
  g_autofree char *data = g_build_filename (root, "data", NULL);
  g_autofree char *project = g_build_filename (root, "project", NULL);
  g_autoptr(SbxReach) reach = sbx_reach_new (project);
  g_autoptr(SbxOpenRequest) request = NULL;
  g_autoptr(SbxSession) session = NULL;

  sbx_reach_add_write (reach, project);
  request = sbx_open_request_new (reach);
  sbx_bwrap_provider_set_data_dir (provider, data);
  session = sbx_provider_open (SBX_PROVIDER (provider), request, NULL, NULL);
  if (session == NULL)
    return 1;

  g_print ("open\n");
  if (stop)
    signal_process_1 (SIGSTOP);
  raise (SIGKILL);

  return 1;
}

static void
run_and_kill_host (Place      *place,
                   const char *option)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;

  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, self, option,
                              place->root, NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (output, ==, "open\n");
  g_assert_true (g_subprocess_get_if_signaled (process));
}

static void
leave_dead_session (Place *place)
{
  run_and_kill_host (place, "--host");
  wait_for_no_process ();
}

static void
test_clean (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) alive = NULL;
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) removed = NULL;
  g_auto(GStrv) again = NULL;
  g_auto(GStrv) caches = NULL;
  g_auto(GStrv) rest = NULL;
  g_autofree char *homes = g_build_filename (place->data, "homes", NULL);

  run_outside (place, "git init -q .; git config user.name A; git config user.email a@b.c");
  leave_dead_session (place);
  g_assert_cmpint (count_sessions (place->data), ==, 1);
  g_assert_true (is_there (place, ".git/commondir"));

  removed = sbx_bwrap_provider_clean (place->provider, FALSE, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_strv_length (removed), ==, 1);
  g_assert_true (g_str_has_prefix (removed[0], place->data));
  g_assert_cmpint (count_sessions (place->data), ==, 0);
  g_assert_false (is_there (place, ".git/commondir"));

  /* The living stay, and so does the home that they use. */
  alive = place_open (place);
  again = sbx_bwrap_provider_clean (place->provider, FALSE, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_strv_length (again), ==, 0);
  caches = sbx_bwrap_provider_clean (place->provider, TRUE, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_strv_length (caches), ==, 0);
  g_free (shell_output (alive, "echo x > ~/f; cat ~/f"));
  close_session (alive);

  rest = sbx_bwrap_provider_clean (place->provider, TRUE, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_strv_length (rest), ==, 1);
  g_assert_true (g_str_has_prefix (rest[0], homes));
}

static void
test_next_open_sweeps (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;

  run_outside (place, "git init -q .; git config user.name A; git config user.email a@b.c");
  leave_dead_session (place);
  leave_dead_session (place);

  /* The second one has removed the first one's, and this one the second's. */
  g_assert_cmpint (count_sessions (place->data), ==, 1);
  session = place_open (place);
  g_assert_cmpint (count_sessions (place->data), ==, 1);
  close_session (session);
  g_assert_false (is_there (place, ".git/commondir"));
}

/* What keeps a sandbox from planting something stays for as long as anything of it runs, also when
 * its host is gone. */
static void
test_outlives_its_host (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) removed = NULL;
  g_auto(GStrv) removed_later = NULL;

  run_outside (place, "git init -q .");
  run_and_kill_host (place, "--host-stopped");
  removed = sbx_bwrap_provider_clean (place->provider, FALSE, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_strv_length (removed), ==, 0);
  g_assert_true (is_there (place, ".git/commondir"));
  g_assert_cmpint (count_sessions (place->data), ==, 1);

  signal_process_1 (SIGKILL);
  wait_for_no_process ();
  removed_later = sbx_bwrap_provider_clean (place->provider, FALSE, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_strv_length (removed_later), ==, 1);
  g_assert_false (is_there (place, ".git/commondir"));
}

/* A directory that a crash cut short at any place, and what was never one of ours. */
static void
test_debris (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) removed = NULL;
  g_autofree char *script = NULL;
  g_autofree char *sessions = g_build_filename (place->data, "sessions", NULL);

  close_session (place_open (place));
  script = g_strdup_printf ("cd %s; mkdir empty; mkdir locked; touch locked/lock; mkdir bad; "
                            "touch bad/lock; head -c 1000 /dev/urandom > bad/note; "
                            "mkdir -p deep/tmp/a/b; touch deep/lock deep/tmp/a/f; "
                            "chmod 0 deep/tmp/a/b; ln -s /etc deep/tmp/link; "
                            "ln -s %s link; touch file", sessions, place->project);
  run_outside (place, script);
  removed = sbx_bwrap_provider_clean (place->provider, FALSE, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_strv_length (removed), ==, 4);
  g_assert_true (g_file_test ("/etc/passwd", G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (place->project, G_FILE_TEST_IS_DIR));
  run_outside (place, "rm ../data/sessions/link ../data/sessions/file");
}

int
main (int    argc,
      char **argv)
{
  if (argc == 3 && g_str_has_prefix (argv[1], "--host"))
    return run_host (argv[2], strcmp (argv[1], "--host-stopped") == 0);

  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/session/shared/home", test_home);
  g_test_add_func ("/session/shared/home-without-rights", test_home_without_rights);
  g_test_add_func ("/session/shared/tmp", test_tmp);
  g_test_add_func ("/session/shared/placeholders", test_placeholders);
  g_test_add_func ("/session/shared/placeholders-of-strangers", test_placeholders_of_strangers);
  g_test_add_func ("/session/shared/own-files", test_own_files);
  g_test_add_func ("/session/shared/clean", test_clean);
  g_test_add_func ("/session/shared/next-open-sweeps", test_next_open_sweeps);
  g_test_add_func ("/session/shared/outlives-its-host", test_outlives_its_host);
  g_test_add_func ("/session/shared/debris", test_debris);

  return g_test_run ();
}
