/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "bwrap-util.h"
#include "bwrap/sbx-bwrap-plan-builder-private.h"

/* What bubblewrap is told, word by word. Needs no bubblewrap: what asks for one is a script. */

static SbxBwrapMount *
add (SbxBwrapPlan      *plan,
     SbxBwrapMountKind  kind,
     const char        *destination,
     const char        *source)
{
  SbxBwrapMount *mount = _sbx_bwrap_mount_new (kind, SBX_BWRAP_ORIGIN_READ, destination, source,
                                               "");

  g_ptr_array_add (plan->mounts, mount);
  return mount;
}

static SbxBwrapPlan *
make_plan (void)
{
  SbxBwrapPlan *plan = _sbx_bwrap_plan_alloc ();

  add (plan, SBX_BWRAP_MOUNT_RO_BIND, "/usr", "/usr");
  add (plan, SBX_BWRAP_MOUNT_SYMLINK, "/bin", "usr/bin");
  add (plan, SBX_BWRAP_MOUNT_PROC, "/proc", NULL);
  add (plan, SBX_BWRAP_MOUNT_MASK, "/proc/slabinfo", NULL);
  add (plan, SBX_BWRAP_MOUNT_DEV, "/dev", NULL);
  add (plan, SBX_BWRAP_MOUNT_TMPFS, "/dev/shm", NULL)->size = 4096;
  add (plan, SBX_BWRAP_MOUNT_DIR, "/srv", NULL);
  add (plan, SBX_BWRAP_MOUNT_BIND, "/srv/a b\n\xff", "/srv/a b\n\xff")->source_fd =
    open ("/", O_PATH | O_CLOEXEC);
  add (plan, SBX_BWRAP_MOUNT_RO_BIND, "/srv/-x", "/mnt/--bind")->source_fd =
    open ("/", O_PATH | O_CLOEXEC);
  add (plan, SBX_BWRAP_MOUNT_FILE, "/etc/made", NULL)->content = g_bytes_new_static ("made", 4);
  add (plan, SBX_BWRAP_MOUNT_FILE, "/etc/copied", "/etc/passwd")->source_fd =
    open ("/etc/passwd", O_RDONLY | O_CLOEXEC);
  add (plan, SBX_BWRAP_MOUNT_REMOUNT_RO, "/", NULL);

  return plan;
}

#define GOLDEN_HEAD \
  "--unshare-user|--unshare-pid|--unshare-ipc|--unshare-uts|--unshare-net|--unshare-cgroup|" \
  "--cap-drop|ALL|--clearenv|--hostname|sandbox|--as-pid-1|"
#define GOLDEN_BASE \
  "--ro-bind|/usr|/usr|--symlink|usr/bin|/bin|--proc|/proc|--ro-bind|/dev/null|/proc/slabinfo|" \
  "--dev|/dev|--size|4096|--tmpfs|/dev/shm|--perms|0755|--dir|/srv|"

static const char golden_by_fd[] =
  GOLDEN_HEAD "--seccomp|10|" GOLDEN_BASE
  "--bind-fd|11|/srv/a b\n\xff|--ro-bind-fd|12|/srv/-x|"
  "--perms|0444|--file|13|/etc/made|--perms|0444|--file|14|/etc/copied|"
  "--remount-ro|/|--chdir|/|";

static const char golden_by_path[] =
  GOLDEN_HEAD GOLDEN_BASE
  "--bind|/srv/a b\n\xff|/srv/a b\n\xff|--ro-bind|/mnt/--bind|/srv/-x|"
  "--perms|0444|--file|10|/etc/made|--perms|0444|--file|11|/etc/copied|"
  "--remount-ro|/|--chdir|/|";

#define OPTIONS \
  "--help --version --args --unshare-all --share-net --unshare-user --unshare-user-try " \
  "--unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup " \
  "--unshare-cgroup-try --userns --userns2 --disable-userns --assert-userns-disabled " \
  "--pidns --uid --gid --hostname --chdir --clearenv --setenv --unsetenv --lock-file " \
  "--sync-fd --bind --bind-try --dev-bind --dev-bind-try --ro-bind --ro-bind-try " \
  "--remount-ro --exec-label --file-label --proc --dev --tmpfs --mqueue --dir --file " \
  "--bind-data --ro-bind-data --symlink --seccomp --add-seccomp-fd --block-fd " \
  "--userns-block-fd --info-fd --json-status-fd --new-session --die-with-parent " \
  "--as-pid-1 --cap-add --cap-drop --perms --size --chmod "

/* What the --help of each lists; Debian's 0.8 has what came with 0.10, too. */
static const struct
{
  const char *version;
  const char *options;
  const char *golden;
} versions[] = {
  { "0.8", OPTIONS, golden_by_path },
  { "0.8-2+deb12u1", OPTIONS "--bind-fd --ro-bind-fd", golden_by_fd },
  { "0.11", OPTIONS "--bind-fd --ro-bind-fd --argv0 --level-prefix --overlay-src --overlay "
            "--tmp-overlay --ro-overlay", golden_by_fd },
  { "0.12", OPTIONS "--bind-fd --ro-bind-fd --argv0 --level-prefix --overlay-src --overlay "
            "--tmp-overlay --ro-overlay --not-a-security-boundary", golden_by_fd },
};

static char *
to_text (SbxBwrapArguments *arguments)
{
  gsize size, i;
  const char *data = g_bytes_get_data (arguments->data, &size);
  char *text = g_malloc (size + 1);

  for (i = 0; i < size; i++)
    text[i] = data[i] == '\0' ? '|' : data[i];

  text[size] = '\0';
  return text;
}

static void
test_golden (void)
{
  g_autoptr(SbxBwrapPlan) plan = make_plan ();
  g_autoptr(GError) error = NULL;
  const SbxBwrapProgram by_fd = { (char *) "/usr/bin/bwrap", SBX_BWRAP_OPTION_BIND_FD };
  const SbxBwrapProgram by_path = { (char *) "/opt/bwrap", SBX_BWRAP_OPTION_NONE };
  g_autoptr(SbxBwrapArguments) first = NULL;
  g_autoptr(SbxBwrapArguments) second = NULL;
  g_autofree char *first_text = NULL;
  g_autofree char *second_text = NULL;
  g_autofree char *command = NULL;

  first = _sbx_bwrap_arguments_new (plan, &by_fd, open ("/dev/null", O_RDONLY | O_CLOEXEC), &error);
  g_assert_no_error (error);
  first_text = to_text (first);
  g_assert_cmpstr (first_text, ==, golden_by_fd);
  command = g_strjoinv ("|", first->argv);
  g_assert_cmpstr (command, ==, "/usr/bin/bwrap|--args|15|--|/run/libsbx/init/sbx-init");

  second = _sbx_bwrap_arguments_new (plan, &by_path, -1, &error);
  g_assert_no_error (error);
  second_text = to_text (second);
  g_assert_cmpstr (second_text, ==, golden_by_path);
}

/* Of each version the right one of the two, from what it says about itself. */
static void
test_versions (void)
{
  g_auto(TestPlace) place = { 0 };

  test_place_init (&place);

  for (gsize i = 0; i < G_N_ELEMENTS (versions); i++)
    {
      g_autofree char *path = g_build_filename (place.work, versions[i].version, NULL);
      g_autofree char *script = g_strdup_printf ("#!/bin/sh\nfor o in %s; do echo \"    $o  X\"; "
                                                 "done\n", versions[i].options);
      g_autoptr(SbxBwrapPlan) plan = make_plan ();
      g_autoptr(SbxBwrapArguments) arguments = NULL;
      g_autoptr(SbxBwrapProgram) program = NULL;
      g_autoptr(GAsyncResult) result = NULL;
      g_autoptr(GError) error = NULL;
      g_autofree char *text = NULL;
      int filter = -1;

      g_assert_true (g_file_set_contents_full (path, script, -1, G_FILE_SET_CONTENTS_NONE, 0755,
                                               NULL));
      _sbx_bwrap_probe_program_async (path, NULL, test_store_result, &result);
      test_wait_for (result != NULL);
      program = _sbx_bwrap_probe_program_finish (result, &error);
      g_assert_no_error (error);

      if (versions[i].golden == golden_by_fd)
        filter = open ("/dev/null", O_RDONLY | O_CLOEXEC);
      arguments = _sbx_bwrap_arguments_new (plan, program, filter, &error);
      g_assert_no_error (error);
      text = to_text (arguments);
      g_assert_cmpstr (text, ==, versions[i].golden);
    }
}

/* What is mounted late is none of bubblewrap's. */
static void
test_late (void)
{
  g_autoptr(SbxBwrapPlan) plan = make_plan ();
  g_autoptr(GError) error = NULL;
  const SbxBwrapProgram program = { (char *) "/opt/bwrap", SBX_BWRAP_OPTION_NONE };
  g_autoptr(SbxBwrapArguments) arguments = NULL;
  g_autofree char *text = NULL;

  add (plan, SBX_BWRAP_MOUNT_RO_BIND, "/srv/late", "/srv/late")->late = TRUE;
  add (plan, SBX_BWRAP_MOUNT_MASK, "/srv/masked", NULL)->late = TRUE;
  arguments = _sbx_bwrap_arguments_new (plan, &program, -1, &error);
  g_assert_no_error (error);
  text = to_text (arguments);
  g_assert_cmpstr (text, ==, golden_by_path);
}

static void
test_descriptors (void)
{
  g_autoptr(SbxBwrapPlan) plan = make_plan ();
  g_autoptr(GError) error = NULL;
  const SbxBwrapProgram program = { (char *) "/usr/bin/bwrap", SBX_BWRAP_OPTION_BIND_FD };
  g_autoptr(SbxBwrapArguments) arguments = NULL;
  const SbxBwrapFd *last;
  guint8 buffer[4096];
  gsize size;
  guint i;

  /* Twice, since what is copied is read from its start each time. */
  for (i = 0; i < 2; i++)
    {
      g_clear_pointer (&arguments, _sbx_bwrap_arguments_free);
      arguments = _sbx_bwrap_arguments_new (plan, &program, -1, &error);
      g_assert_no_error (error);
      g_assert_cmpint (read (g_array_index (arguments->fds, SbxBwrapFd, 3).source, buffer,
                             sizeof buffer), >, 0);
      g_assert_cmpint (read (g_array_index (arguments->fds, SbxBwrapFd, 2).source, buffer,
                             sizeof buffer), ==, 4);
      g_assert_cmpmem (buffer, 4, "made", 4);
    }

  for (i = 0; i < arguments->fds->len; i++)
    {
      const SbxBwrapFd *fd = &g_array_index (arguments->fds, SbxBwrapFd, i);

      g_assert_cmpint (fd->target, ==, SBX_BWRAP_FIRST_FD + (int) i);
      g_assert_cmpint (fcntl (fd->source, F_GETFD), ==, FD_CLOEXEC);
    }

  last = &g_array_index (arguments->fds, SbxBwrapFd, arguments->fds->len - 1);
  size = read (last->source, buffer, sizeof buffer);
  g_assert_cmpmem (buffer, size, g_bytes_get_data (arguments->data, NULL),
                   g_bytes_get_size (arguments->data));
  g_assert_cmpint (fcntl (last->source, F_GET_SEALS) & F_SEAL_WRITE, ==, F_SEAL_WRITE);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/bwrap/arguments/golden", test_golden);
  g_test_add_func ("/bwrap/arguments/versions", test_versions);
  g_test_add_func ("/bwrap/arguments/late", test_late);
  g_test_add_func ("/bwrap/arguments/descriptors", test_descriptors);

  return g_test_run ();
}
