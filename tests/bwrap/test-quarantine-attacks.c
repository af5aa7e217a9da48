/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "quarantine-util.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Somebody who does not want to be caught: another process that may write the project. */

static const char *names[] = { ".mcp.json", ".vscode", ".claude/commands", ".claude/settings.json",
                               NULL };

#define RACE_MS 1500
#define NOBODY 65534

/* Runs @attack in a process of its own, with the project as its directory. */
static pid_t
start_attack (Ground *ground,
              void  (*attack) (void))
{
  const pid_t child = fork ();

  g_assert_cmpint (child, >=, 0);
  if (child > 0)
    return child;

  prctl (PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (chdir (ground->project) == 0)
    attack ();
  _exit (0);
}

/* Watches, and settles all the while, until @child has ended, or for @limit_ms. */
static void
defend (SbxBwrapQuarantine *quarantine,
        pid_t               child,
        guint               limit_ms)
{
  const gint64 end = g_get_monotonic_time () + (gint64) limit_ms * 1000;
  int status = 0;

  _sbx_bwrap_quarantine_listen (quarantine, g_main_context_default (), NULL);
  for (guint i = 0; i < 3; i++)
    _sbx_bwrap_quarantine_begin (quarantine);

  while (g_get_monotonic_time () < end && waitpid (child, &status, WNOHANG) == 0)
    {
      g_autoptr(GAsyncResult) result = NULL;

      if (!_sbx_bwrap_quarantine_settle (quarantine, test_store_result, &result))
        test_wait_for (result != NULL);
      else
        {
          g_main_context_iteration (NULL, FALSE);
          g_usleep (100);
        }
    }

  if (g_get_monotonic_time () >= end)
    {
      kill (child, SIGKILL);
      waitpid (child, &status, 0);
    }
  else
    g_assert_cmpint (status, ==, 0);

  _sbx_bwrap_quarantine_disarm (quarantine);
}

static void
assert_clean (Ground *ground)
{
  for (gsize i = 0; names[i] != NULL; i++)
    g_assert_false (is_there (ground->project, names[i]));
}

static void
write_at (const char *path)
{
  const int fd = open (path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600);

  if (fd >= 0)
    close (fd);
}

/* All at once, in no order. */
static void
attack_race (void)
{
  unsigned state = 1;

  for (;;)
    {
      char prepared[32];

      state = state * 1103515245 + 12345;
      snprintf (prepared, sizeof prepared, "p%u", (state >> 8) % 8);

      switch ((state >> 16) % 13)
        {
        case 0: write_at (".mcp.json"); break;
        case 1: unlink (".mcp.json"); break;
        case 2: mkfifo (".mcp.json", 0600); break;
        case 3: (void) !symlink ("/etc/passwd", ".mcp.json"); break;
        case 4: mkdir (prepared, 0700); break;
        case 5: rename (prepared, ".vscode"); break;
        case 6: rename (prepared, ".claude"); break;
        case 7: rename (".claude", prepared); break;
        case 8: mkdir (".claude/commands", 0); break;
        case 9: write_at (".claude/settings.json"); break;
        case 10: chmod (".claude", (state >> 20) & 0700); break;
        case 11: (void) !symlink ("../outside", ".claude"); break;
        default: unlink (".claude"); break;
        }
    }
}

static void
test_race (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  pid_t child;

  ground_init (&ground, NULL);
  put_file (ground.outside, "commands/x", "x");
  put_file (ground.outside, "settings.json", "x");
  quarantine = look_after (&ground, names, NULL);
  child = start_attack (&ground, attack_race);
  defend (quarantine, child, RACE_MS);
  assert_finishes (quarantine);

  /* It had changed that through its link. */
  g_assert_cmpint (chmod (ground.outside, 0700), ==, 0);
  assert_clean (&ground);
  g_assert_true (is_there (ground.outside, "commands/x"));
  g_assert_true (is_there (ground.outside, "settings.json"));
  g_assert_cmpuint (count_aside (&ground), >, 0);
  g_assert_cmpuint (count_aside (&ground), <=, 9 * 6);
}

#define FLOODS 4
#define FLOOD_EVENTS 20000
#define FLOOD_MS 1500

/* More than the queue of the kernel holds, where the machine is fast enough, and then what it is
 * about. */
static void
attack_flood (void)
{
  struct stat info;

  for (guint i = 0; i < FLOODS; i++)
    {
      const gint64 end = g_get_monotonic_time () + FLOOD_MS * 1000;

      for (guint j = 0; j < FLOOD_EVENTS && g_get_monotonic_time () < end; j++)
        {
          char name[32];

          snprintf (name, sizeof name, "n%u", j);
          write_at (name);
          unlink (name);
        }

      write_at (".mcp.json");
      while (lstat (".mcp.json", &info) == 0)
        g_usleep (100);
    }
}

static void
test_flood (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  pid_t child;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, names, NULL);
  child = start_attack (&ground, attack_flood);
  defend (quarantine, child, TEST_DEADLINE_S * 1000);
  assert_finishes (quarantine);
  g_assert_cmpuint (count_aside (&ground), ==, FLOODS);
}

/* Of a tree of any size nothing but its top is touched. */
static void
test_large (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autofree char *place = NULL;
  gint64 began;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, names, NULL);
  for (guint i = 0; i < 10; i++)
    {
      g_autofree char *name = g_strdup_printf (".vscode/%u", i);
      g_autofree char *path = make_dir (ground.project, name);
      const int fd = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);

      for (guint j = 0; j < 500; j++)
        {
          char file[16];

          snprintf (file, sizeof file, "%u", j);
          g_assert_cmpint (mknodat (fd, file, S_IFREG | 0600, 0), ==, 0);
        }
      close (fd);
    }

  began = g_get_monotonic_time ();
  _sbx_bwrap_quarantine_sweep (ground.sessions_fd, ground.data, SESSION, NULL, NULL);
  g_test_message ("5,000 files: %" G_GINT64_FORMAT " us", g_get_monotonic_time () - began);
  g_assert_cmpint (g_get_monotonic_time () - began, <, G_USEC_PER_SEC);
  assert_clean (&ground);
  place = find_aside (&ground, "-vscode");
  g_assert_true (is_there (place, "9/499"));
}

/* A directory of the project is taken away, and a link to where the same names are is put there. */
static void
test_swapped_parent (void)
{
  static const char *deep[] = { "sub/dir/.vscode", "sub/dir/.mcp.json", NULL };
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autofree char *sub = NULL;
  g_autofree char *moved = NULL;

  ground_init (&ground, NULL);
  put_file (ground.project, "sub/dir/file", "x");
  put_file (ground.outside, "dir/.vscode/tasks.json", "the user's");
  quarantine = look_after (&ground, deep, NULL);
  sub = g_build_filename (ground.project, "sub", NULL);
  moved = g_build_filename (ground.project, "moved", NULL);
  g_assert_cmpint (g_rename (sub, moved), ==, 0);
  put_link (ground.project, "sub", ground.outside);
  assert_finishes (quarantine);

  g_assert_true (is_there (ground.outside, "dir/.vscode/tasks.json"));
  g_assert_false (is_there (ground.project, "sub"));
  g_assert_true (is_there (ground.project, "moved/dir/file"));
}

/* What the user could write before, the sandbox made unwritable. */
static void
check_modes (Ground *ground)
{
  g_autoptr(SbxBwrapQuarantine) quarantine = look_after (ground, names, NULL);
  g_autofree char *claude = NULL;
  g_autofree char *vscode = NULL;
  struct stat info;

  put_file (ground->project, ".claude/settings.json", "x");
  put_file (ground->project, ".vscode/tasks.json", "x");
  put_file (ground->project, ".mcp.json", "x");
  claude = g_build_filename (ground->project, ".claude", NULL);
  vscode = g_build_filename (ground->project, ".vscode", NULL);
  g_assert_cmpint (chmod (claude, 0), ==, 0);
  g_assert_cmpint (chmod (vscode, 0), ==, 0);
  g_assert_cmpint (chmod (ground->project, 0500), ==, 0);
  assert_finishes (quarantine);

  g_assert_cmpint (chmod (claude, 0700), ==, 0);
  assert_clean (ground);
  g_assert_cmpint (stat (ground->project, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0500);
  g_assert_cmpint (chmod (ground->project, 0700), ==, 0);
}

/* Root may everything, and would see nothing of it. */
static void
test_modes (void)
{
  g_auto(Ground) ground = GROUND_NONE;

  if (g_test_subprocess ())
    {
      if (geteuid () == 0)
        g_assert_cmpint (setresuid (NOBODY, NOBODY, NOBODY), ==, 0);

      ground_init (&ground, NULL);
      check_modes (&ground);
      return;
    }

  ground_init (&ground, NULL);
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
}

static void
test_other_file_system (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autofree char *data = g_strdup ("/dev/shm/sbx-quarantine-XXXXXX");
  g_autoptr(GDir) dir = NULL;
  g_auto(GStrv) messages = NULL;
  struct stat info;
  struct stat here;
  const char *name;
  guint n = 0;

  if (g_mkdtemp (data) == NULL)
    {
      g_test_skip ("There is no /dev/shm to write in");
      return;
    }

  ground_init (&ground, data);
  g_assert_cmpint (stat (data, &info), ==, 0);
  g_assert_cmpint (stat (ground.project, &here), ==, 0);
  if (info.st_dev == here.st_dev)
    {
      /* Then the plain tests are about it. */
      g_test_skip ("Temporary files are in /dev/shm");
      return;
    }

  quarantine = look_after (&ground, names, NULL);
  for (guint i = 0; i < 12; i++)
    {
      put_file (ground.project, ".mcp.json", "x");
      put_file (ground.project, ".vscode/tasks.json", "x");
      assert_finishes (quarantine);
      assert_clean (&ground);
    }

  /* Beside, under names that no tool obeys, and not more of them than elsewhere. */
  g_assert_cmpuint (count_aside (&ground), ==, 0);
  dir = g_dir_open (ground.project, 0, NULL);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_assert_true (g_str_has_prefix (name, ".sbx-quarantine-"));
      n++;
    }
  g_assert_cmpuint (n, ==, 18);
  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_nonnull (strstr (messages[0], "/.sbx-quarantine-"));
}

/* A mount point cannot be renamed. It is named, and so is what is to be done. */
static void
test_mount_point (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *place = NULL;
  g_auto(GStrv) messages = NULL;

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
      g_test_trap_assert_passed ();
      return;
    }

  /* Where nobody may do this, nobody can do it to us. */
  if (unshare (CLONE_NEWNS | (geteuid () == 0 ? 0 : CLONE_NEWUSER)) != 0 ||
      mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
    return;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, names, NULL);
  place = make_dir (ground.project, ".vscode");
  if (mount ("x", place, "tmpfs", 0, NULL) != 0)
    return;

  put_file (ground.project, ".mcp.json", "x");
  g_assert_false (_sbx_bwrap_quarantine_finish (quarantine, &error));
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, place));
  g_assert_false (is_there (ground.project, ".mcp.json"));
  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (messages), ==, 2);

  /* When it can be done it is done. */
  g_assert_cmpint (umount (place), ==, 0);
  assert_finishes (quarantine);
  assert_clean (&ground);
}

/* One who adds names to a project as deep as file systems allow has none of it looked after. */
static void
test_deep (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(GString) deep = g_string_new (NULL);
  const char *too_deep[] = { NULL, NULL };

  ground_init (&ground, NULL);
  for (guint i = 0; i < 200; i++)
    g_string_append (deep, "d/");
  g_string_append (deep, ".vscode");
  too_deep[0] = deep->str;
  quarantine = try_quarantine (&ground, too_deep, NULL, NULL, &error);
  g_assert_null (quarantine);
  g_assert_nonnull (error);
}

/* A thousand names cost next to nothing. */
static void
test_many (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autoptr(GPtrArray) many = g_ptr_array_new_with_free_func (g_free);
  gint64 began;

  ground_init (&ground, NULL);
  for (guint i = 0; i < 100; i++)
    {
      g_autofree char *sub = g_strdup_printf ("sub/%u", i);
      g_autofree char *path G_GNUC_UNUSED = make_dir (ground.project, sub);

      for (guint j = 0; j < 10; j++)
        g_ptr_array_add (many, g_strdup_printf ("%s/.name%u", sub, j));
    }
  g_ptr_array_add (many, NULL);
  quarantine = look_after (&ground, (const char **) many->pdata, NULL);

  began = g_get_monotonic_time ();
  for (guint i = 0; i < 20; i++)
    {
      g_autoptr(GAsyncResult) result = NULL;

      g_assert_false (_sbx_bwrap_quarantine_settle (quarantine, test_store_result, &result));
      test_wait_for (result != NULL);
    }
  g_test_message ("1,000 names in 100 directories, not watched: %" G_GINT64_FORMAT " us",
                  (g_get_monotonic_time () - began) / 20);

  _sbx_bwrap_quarantine_listen (quarantine, g_main_context_default (), NULL);
  for (guint i = 0; i < 3; i++)
    _sbx_bwrap_quarantine_begin (quarantine);
  for (gboolean quiet = FALSE; !quiet; )
    {
      g_autoptr(GAsyncResult) result = NULL;

      quiet = _sbx_bwrap_quarantine_settle (quarantine, test_store_result, &result);
      if (!quiet)
        test_wait_for (result != NULL);
    }

  began = g_get_monotonic_time ();
  for (guint i = 0; i < 20; i++)
    g_assert_true (_sbx_bwrap_quarantine_settle (quarantine, NULL, NULL));
  g_test_message ("watched: %.1f us", (double) (g_get_monotonic_time () - began) / 20);
  _sbx_bwrap_quarantine_disarm (quarantine);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/quarantine/attacks/race", test_race);
  g_test_add_func ("/quarantine/attacks/flood", test_flood);
  g_test_add_func ("/quarantine/attacks/large", test_large);
  g_test_add_func ("/quarantine/attacks/swapped-parent", test_swapped_parent);
  g_test_add_func ("/quarantine/attacks/modes", test_modes);
  g_test_add_func ("/quarantine/attacks/other-file-system", test_other_file_system);
  g_test_add_func ("/quarantine/attacks/mount-point", test_mount_point);
  g_test_add_func ("/quarantine/attacks/deep", test_deep);
  g_test_add_func ("/quarantine/attacks/many", test_many);

  return g_test_run ();
}
