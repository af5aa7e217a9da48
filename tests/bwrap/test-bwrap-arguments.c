/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "bwrap-util.h"
#include "bwrap/sbx-bwrap-plan-builder-private.h"

/* What bubblewrap is told, word by word. Needs no bubblewrap. */

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
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/bwrap/arguments/golden", test_golden);
  g_test_add_func ("/bwrap/arguments/descriptors", test_descriptors);

  return g_test_run ();
}
