/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Stopping everything, checking, going on; and the program that mounts. */

#include "bwrap/sbx-bwrap-mounter-private.h"
#include "core/sbx-error.h"
#include "init-fixture.h"
#include "init/sbx-init-protocol-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void
changed_cb (SbxInitChannel *channel,
            guint          *n_changed)
{
  ++*n_changed;
}

static Sandbox *
watched_new (const char * const *arguments,
             guint              *n_changed)
{
  g_autoptr(GError) error = NULL;
  Sandbox *sandbox = sandbox_new_full (arguments, NULL, 0, &error);

  g_assert_no_error (error);
  g_signal_connect (sandbox->channel, "changed", G_CALLBACK (changed_cb), n_changed);
  return sandbox;
}

static void
stop (Sandbox *sandbox,
      guint   *n_changed)
{
  const guint before = *n_changed;

  _sbx_init_channel_look (sandbox->channel);
  test_wait_for (*n_changed > before);
  g_assert_true (_sbx_init_channel_is_stopped (sandbox->channel));
}

static GArray *
check (Sandbox    *sandbox,
       const char *path)
{
  const SbxInitExpectation expectation = { .path = path };
  g_autoptr(GAsyncResult) result = NULL;
  g_autoptr(GError) error = NULL;
  GArray *mounts;

  _sbx_init_channel_check_async (sandbox->channel, &expectation, 1, test_store_result, &result);
  test_wait_for (result != NULL);
  mounts = _sbx_init_channel_check_finish (sandbox->channel, result, &error);
  g_assert_no_error (error);
  g_assert_cmpint (mounts->len, ==, 1);

  return mounts;
}

static gboolean
over_cb (gpointer user_data)
{
  *(gboolean *) user_data = TRUE;
  return G_SOURCE_REMOVE;
}

static void
run_loop (guint ms)
{
  gboolean over = FALSE;

  g_timeout_add (ms, over_cb, &over);
  while (!over)
    g_main_context_iteration (NULL, TRUE);
}

/* Until nothing more changes. */
static void
go_on (Sandbox *sandbox)
{
  while (_sbx_init_channel_is_stopped (sandbox->channel))
    {
      g_array_unref (check (sandbox, "/"));
      _sbx_init_channel_resume (sandbox->channel);
      run_loop (50);
    }
}

/* A fork bomb that keeps itself small, a busy one, one with many threads: nobody moves. */
static void
test_stops_all (void)
{
  guint n_changed = 0;
  g_autoptr(Sandbox) sandbox = watched_new (NULL, &n_changed);
  g_autoptr(Run) busy = run_shell (sandbox, "while :; do echo x; done");
  g_autoptr(Run) forks = run_shell (sandbox, "while :; do /bin/true; echo y; done");

  test_wait_for (busy->output[0]->len > 0 && forks->output[0]->len > 0);

  for (guint i = 0; i < 20; i++)
    {
      gsize busy_before, forks_before;

      stop (sandbox, &n_changed);

      /* What is in the pipes comes out yet. */
      run_loop (5);
      busy_before = busy->output[0]->len;
      forks_before = forks->output[0]->len;
      run_loop (10);
      g_assert_cmpuint (busy->output[0]->len, ==, busy_before);
      g_assert_cmpuint (forks->output[0]->len, ==, forks_before);

      _sbx_init_channel_resume (sandbox->channel);
      test_wait_for (busy->output[0]->len > busy_before);
      test_wait_for (forks->output[0]->len > forks_before);
    }

  _sbx_init_channel_end (sandbox->channel, busy->id);
  _sbx_init_channel_end (sandbox->channel, forks->id);
  run_wait (busy);
  run_wait (forks);
}

/* What is asked for while everything is stopped. */
static void
test_obeys (void)
{
  guint n_changed = 0;
  g_autoptr(Sandbox) sandbox = watched_new (NULL, &n_changed);
  g_autoptr(Run) ended = run_shell (sandbox, "echo x; sleep 100");
  g_autoptr(Run) signalled = run_shell (sandbox, "trap 'exit 7' TERM; echo x; while :; do :; done");
  g_autoptr(Run) late = NULL;
  g_autoptr(Run) file = NULL;
  const char *stat_argv[] = { "/", NULL };

  test_wait_for (ended->output[0]->len > 0 && signalled->output[0]->len > 0);
  stop (sandbox, &n_changed);

  _sbx_init_channel_end (sandbox->channel, ended->id);
  run_wait (ended);
  assert_end (ended, SBX_INIT_END_SIGNALLED, SBX_INIT_STAGE_NONE, SIGKILL);

  _sbx_init_channel_signal (sandbox->channel, signalled->id, SIGCONT);
  _sbx_init_channel_signal (sandbox->channel, signalled->id, SIGTERM);
  late = run_shell (sandbox, "echo late");
  file = run_argv (sandbox, SBX_INIT_VERB_STAT, stat_argv);
  run_loop (100);
  g_assert_cmpuint (signalled->n_ended + late->n_ended + file->n_ended, ==, 0);
  g_assert_cmpuint (late->output[0]->len, ==, 0);

  go_on (sandbox);
  run_wait (signalled);
  run_wait (late);
  run_wait (file);
  assert_exited (signalled, 7);
  assert_exited (late, 0);
  assert_exited (file, 0);
}

static void
test_check (void)
{
  guint n_changed = 0;
  g_autoptr(Sandbox) sandbox = watched_new (NULL, &n_changed);
  g_autoptr(GArray) there = NULL;
  g_autoptr(GArray) missing = NULL;
  g_autoptr(Run) after = NULL;
  struct stat status;

  stop (sandbox, &n_changed);
  there = check (sandbox, "/usr");
  missing = check (sandbox, "/proc/nowhere");
  g_assert_cmpint (stat ("/usr", &status), ==, 0);
  g_assert_cmpuint (g_array_index (there, SbxInitMount, 0).inode, ==, status.st_ino);
  g_assert_cmpuint (g_array_index (there, SbxInitMount, 0).read_only, ==, 1);
  g_assert_cmpuint (g_array_index (missing, SbxInitMount, 0).error, ==, ENOENT);
  _sbx_init_channel_resume (sandbox->channel);
  after = run_shell_wait (sandbox, "true");
  assert_exited (after, 0);
}

/* A host that does not answer. */
static void
test_deadline (void)
{
  guint n_changed = 0;
  g_autoptr(Sandbox) sandbox = watched_new (NULL, &n_changed);

  stop (sandbox, &n_changed);
  test_wait_for (sandbox->lost != NULL);
  g_assert_error (sandbox->lost, SBX_ERROR, SBX_ERROR_LOST);
}

static SbxLateMount
late_mount (char             *path,
            SbxLateMountKind  kind)
{
  SbxLateMount mount = { path, kind };
  struct stat status;

  g_assert_cmpint (lstat (path, &status), ==, 0);
  mount.device = status.st_dev;
  mount.inode = status.st_ino;

  return mount;
}

static gboolean
run_mounter (Sandbox      *sandbox,
             SbxLateMount *mounts,
             gsize         n_mounts,
             GError      **error)
{
  g_autoptr(GAsyncResult) result = NULL;

  _sbx_bwrap_mounter_run_async (_sbx_init_channel_get_pidfd (sandbox->channel), mounts, n_mounts,
                                5000, NULL, test_store_result, &result);
  g_assert_null (result);
  test_wait_for (result != NULL);

  return _sbx_bwrap_mounter_run_finish (result, error);
}

static void
assert_script (Sandbox    *sandbox,
               const char *directory,
               const char *script)
{
  g_autofree char *whole = g_strdup_printf ("cd '%s' && { %s; }", directory, script);
  g_autoptr(Run) run = run_shell_wait (sandbox, whole);

  g_assert_no_error (run->error);
  if (run->end.value != 0)
    g_error ("“%s” failed: %s%s", script, run->output[0]->str, run->output[1]->str);
}

/* A link, and something else than what was looked up. */
static void
refuse_mounts (Sandbox *sandbox,
               char    *link,
               char    *sub)
{
  SbxLateMount mount = late_mount (link, SBX_LATE_MOUNT_READ_ONLY);
  g_autoptr(GError) error = NULL;

  g_assert_false (run_mounter (sandbox, &mount, 1, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED);
  g_assert_nonnull (strstr (error->message, "link"));
  g_clear_error (&error);

  mount = late_mount (sub, SBX_LATE_MOUNT_READ_ONLY);
  mount.inode++;
  g_assert_false (run_mounter (sandbox, &mount, 1, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED);
  g_assert_nonnull (strstr (error->message, "sub"));
}

/* It mounts what it is told, tells the host nothing else, and process 1 notices. */
static void
test_mounter (gconstpointer user_data)
{
  const char *program = user_data;
  g_autofree char *directory = g_dir_make_tmp ("sbx-mount-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (directory, "file", NULL);
  g_autofree char *link = g_build_filename (directory, "link", NULL);
  g_autofree char *mask = g_build_filename (directory, "mask", NULL);
  g_autofree char *sub = g_build_filename (directory, "sub", NULL);
  g_autofree char *hidden = g_build_filename (directory, "hidden", NULL);
  g_autofree char *inner = g_build_filename (hidden, "inner", NULL);
  const char *arguments[] = { "--bind", directory, directory, NULL };
  guint n_changed = 0;
  g_autoptr(Sandbox) sandbox = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *path = NULL;

  if (program != NULL)
    {
      g_autofree char *init_directory = g_path_get_dirname (g_getenv ("SBX_INIT"));

      path = g_build_filename (init_directory, program, NULL);
      g_setenv ("SBX_MOUNT", path, TRUE);
    }

  g_assert_true (g_file_set_contents (file, "a", 1, NULL));
  g_assert_true (g_file_set_contents (mask, "secret", 6, NULL));
  g_assert_cmpint (g_mkdir (sub, 0755) | g_mkdir (hidden, 0755), ==, 0);
  g_assert_true (g_file_set_contents (inner, "secret", 6, NULL));
  g_assert_cmpint (symlink ("file", link), ==, 0);

  sandbox = watched_new (arguments, &n_changed);
  assert_script (sandbox, directory, "echo x >> file && mv sub sub2 && mv sub2 sub");

  {
    SbxLateMount mounts[] = {
      late_mount (file, SBX_LATE_MOUNT_READ_ONLY), late_mount (sub, SBX_LATE_MOUNT_PIN),
      late_mount (mask, SBX_LATE_MOUNT_MASK), late_mount (hidden, SBX_LATE_MOUNT_MASK),
    };

    g_assert_true (run_mounter (sandbox, mounts, G_N_ELEMENTS (mounts), &error));
    g_assert_no_error (error);
    test_wait_for (n_changed > 0);
    go_on (sandbox);
    assert_script (sandbox, directory, "! echo x >> file && ! mv file f && ! mv sub sub2 && "
                                       "echo x > sub/x && ! cat mask && ! grep -q . mask && "
                                       "test -z \"$(ls hidden)\" && ! echo x > hidden/x");
  }

  refuse_mounts (sandbox, link, sub);
  g_unsetenv ("SBX_MOUNT");
  assert_script (sandbox, directory, "rm -r sub/x");
  g_clear_pointer (&sandbox, sandbox_free);
  g_remove (inner);
  for (guint i = 0; i < 5; i++)
    g_remove ((const char *[]) { file, link, mask, sub, hidden }[i]);
  g_assert_cmpint (g_rmdir (directory), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/init/watch/stops-all", test_stops_all);
  g_test_add_func ("/init/watch/obeys", test_obeys);
  g_test_add_func ("/init/watch/check", test_check);
  g_test_add_func ("/init/watch/deadline", test_deadline);
  g_test_add_data_func ("/init/watch/mounter", NULL, test_mounter);
  g_test_add_data_func ("/init/watch/mounter-old-kernel", "sbx-mount-old", test_mounter);

  return g_test_run ();
}
