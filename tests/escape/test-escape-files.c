/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "escape.h"

#include <errno.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a sandbox can see, and where it can write. */

#define SHM_SIZE (256 * 1024 * 1024)

static char *
run_shell (EscapeBox  *box,
           const char *script)
{
  const char * const argv[] = { "sh", "-c", script, NULL };
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(SbxExecResult) result = escape_exec (box, command);
  char *output = escape_get_stdout (result);

  g_test_message ("%s", output);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_EXITED);
  g_assert_cmpint (sbx_exec_result_get_exit_code (result), ==, 0);

  return output;
}

static void
test_memory (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;
  g_auto(GStrv) lines = NULL;
  guint n_sized = 0;

  escape_open (&box);
  output = escape_attack (&box, "create", "/", "/dev", "/run", "/etc", "/var", "/sandbox",
                          "/dev/pts", NULL);
  for (const char * const *path = (const char * const []) { "/", "/dev", "/run", "/etc", "/var",
                                                            "/sandbox", NULL }; *path; path++)
    escape_assert (output, *path, EROFS);
  g_assert_cmpint (escape_get (output, "/dev/pts"), !=, 0);
  g_clear_pointer (&output, g_free);

  /* Every file system in memory that can be written has a size; there is one. */
  output = run_shell (&box, "df -t tmpfs -B1 --output=target,size -a | tail -n +2; "
                            "echo; cat /proc/self/mounts");
  lines = g_strsplit (output, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    {
      g_auto(GStrv) fields = g_strsplit (*line, " ", -1);

      if (g_strv_length (fields) < 4 || strcmp (fields[2], "tmpfs") != 0 ||
          strncmp (fields[3], "ro,", 3) == 0)
        continue;

      g_assert_cmpstr (fields[1], ==, "/dev/shm");
      g_assert_nonnull (strstr (fields[3], "size=262144k"));
      n_sized++;
    }
  g_assert_cmpuint (n_sized, ==, 1);
}

static void
test_shared_memory_is_bounded (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;

  escape_open (&box);
  output = run_shell (&box, "head -c 300M /dev/zero > /dev/shm/x 2>/dev/null; stat -c 'size %s' "
                            "/dev/shm/x; rm /dev/shm/x");
  g_assert_cmpint (escape_get (output, "size"), <=, SHM_SIZE);
}

/* The private /tmp is on disk, where the session is kept. */
static void
test_tmp_is_on_disk (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;
  struct stat st;

  escape_open (&box);
  output = run_shell (&box, "stat -c 'device %d' /tmp");
  g_assert_cmpint (stat (g_get_user_data_dir (), &st), ==, 0);
  escape_assert (output, "device", (gint64) st.st_dev);
}

/* Everything of the host's /etc that is not for everybody to read. */
static void
test_etc (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autoptr(GPtrArray) private = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GDir) dir = g_dir_open ("/etc", 0, NULL);
  g_autofree char *output = NULL;
  const char *name;

  escape_open (&box);
  output = escape_attack (&box, "open", "/etc/passwd", "/etc/shadow", "/etc/gshadow",
                          "/etc/sudoers", "/etc/ssh", "/etc/ssl/private", "/etc/machine-id",
                          "/etc/crontab", "/etc/shadow-", NULL);
  escape_assert (output, "/etc/passwd", 0);
  for (const char * const *path = (const char * const []) {
         "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/ssl/private",
         "/etc/machine-id", "/etc/crontab", "/etc/shadow-", NULL }; *path; path++)
    escape_assert (output, *path, ENOENT);

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename ("/etc", name, NULL);
      g_autofree char *answer = NULL;
      struct stat st;

      if (lstat (path, &st) < 0 || S_ISLNK (st.st_mode) || (st.st_mode & S_IROTH) != 0)
        continue;

      answer = escape_attack (&box, "open", path, NULL);
      escape_assert (answer, path, ENOENT);
      g_ptr_array_add (private, g_steal_pointer (&path));
    }

  /* Every machine has some. */
  g_assert_cmpuint (private->len, >, 0);
}

static SbxSession *
open_with (EscapeBox   *box,
           const char  *program,
           GError     **error)
{
  sbx_bwrap_provider_set_program (box->provider, program);

  return escape_try_open (box, box->work, error);
}

static char *
copy_bwrap (const char *directory,
            const char *name,
            const char *mode)
{
  char *path = g_build_filename (directory, name, NULL);
  g_autofree char *script = g_strdup_printf ("cp \"$(command -v bwrap)\" '%s'; chmod %s '%s'", path,
                                             mode, path);

  escape_outside ("/", script);
  return path;
}

static void
assert_refused (EscapeBox  *box,
                const char *program,
                const char *says)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxSession) session = open_with (box, program, &error);

  g_assert_null (session);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_assert_nonnull (strstr (error->message, program));
  g_assert_nonnull (strstr (error->message, says));
}

static void
test_bubblewrap_setuid (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *good = NULL;
  g_autofree char *set_user = NULL;
  g_autofree char *set_group = NULL;
  g_autoptr(GError) error = NULL;

  escape_place (&box);
  good = copy_bwrap (escape_get_root (), "bwrap-good", "0755");
  set_user = copy_bwrap (escape_get_root (), "bwrap-user", "4755");
  set_group = copy_bwrap (escape_get_root (), "bwrap-group", "2755");
  assert_refused (&box, set_user, "setuid");
  assert_refused (&box, set_group, "setuid");

  /* It is that bit and nothing else. */
  box.session = open_with (&box, good, &error);
  g_assert_no_error (error);
  escape_close (&box);
}

static void
test_bubblewrap_writable (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *at_home = NULL;
  g_autofree char *at_work = NULL;
  g_autofree char *linked = NULL;

  escape_place (&box);
  at_home = copy_bwrap (g_get_home_dir (), "bwrap", "0755");
  at_work = copy_bwrap (box.work, "bwrap", "0755");
  linked = g_build_filename (escape_get_root (), "bwrap-linked", NULL);
  g_assert_cmpint (symlink (at_work, linked), ==, 0);

  assert_refused (&box, at_home, "home");
  assert_refused (&box, at_work, "may write");
  assert_refused (&box, linked, "may write");
}

/* Narrower than asked is an error, which names the owner. */
static void
test_foreign_write (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autoptr(GError) error = NULL;
  g_autofree char *foreign = NULL;
  g_autoptr(SbxSession) session = NULL;

  escape_place (&box);
  foreign = g_build_filename (box.work, "foreign", NULL);
  g_assert_cmpint (g_mkdir (foreign, 0755), ==, 0);

  if (getuid () == 0)
    g_assert_cmpint (chown (foreign, 65534, 65534), ==, 0);
  else
    g_assert_cmpint (g_chmod (foreign, 0555), ==, 0);

  session = escape_try_open (&box, foreign, &error);
  g_assert_null (session);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_assert_nonnull (strstr (error->message, "foreign"));
  g_assert_nonnull (strstr (error->message,
                            getuid () == 0 ? "sudo -u nobody" : g_get_user_name ()));
}

static void
assert_cannot_be_read (EscapeBox  *box,
                       const char *path,
                       int         code)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = NULL;
  const gint64 start = g_get_monotonic_time ();

  bytes = sbx_session_read_file (box->session, path, 1024 * 1024, NULL, &error);
  g_assert_null (bytes);
  g_assert_nonnull (error);
  g_test_message ("%s: %s", path, error->message);
  if (code >= 0)
    g_assert_error (error, G_IO_ERROR, code);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 10 * G_USEC_PER_SEC);
}

static void
test_read_file (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;
  g_autofree char *link G_GNUC_UNUSED = NULL;

  escape_open (&box);
  output = run_shell (&box, "mkfifo fifo; ln -s /dev/zero zero; truncate -s 10G large; mkdir dir; "
                            "ln -s fifo link");
  assert_cannot_be_read (&box, "fifo", -1);
  assert_cannot_be_read (&box, "link", -1);
  assert_cannot_be_read (&box, "zero", -1);
  assert_cannot_be_read (&box, "/dev/zero", -1);
  assert_cannot_be_read (&box, "/dev/tty", -1);
  assert_cannot_be_read (&box, "large", -1);
  assert_cannot_be_read (&box, "dir", G_IO_ERROR_IS_DIRECTORY);
}

/* What the sandbox left is deleted on the host, and nothing else is. */
static void
test_delete (void)
{
  static const char * const parts[] = {
    "link", "locked", "inner", "link-inside", "chmod", "fifo", "deep-link", NULL
  };
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *victim = g_build_filename (escape_get_root (), "victim", NULL);
  g_autofree char *precious = g_build_filename (victim, "precious", NULL);
  g_autofree char *sessions = NULL;
  g_autofree char *output = NULL;
  g_autoptr(GDir) dir = NULL;
  const char *name;

  escape_open (&box);
  g_assert_cmpint (g_mkdir (victim, 0755), ==, 0);
  g_assert_true (g_file_set_contents (precious, "precious", -1, NULL));

  output = escape_attack (&box, "trap-tree", "/tmp", victim, NULL);
  for (const char * const *part = parts; *part != NULL; part++)
    escape_assert (output, *part, 0);
  escape_close (&box);

  g_assert_true (g_file_test (precious, G_FILE_TEST_IS_REGULAR));
  sessions = g_build_filename (g_get_user_data_dir (), "libsbx", "sessions", NULL);
  dir = g_dir_open (sessions, 0, NULL);
  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (sessions, name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        g_error ("“%s” is left", path);
    }
}

/* The remove of a session, inside. */
static void
test_remove (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;
  g_autofree char *precious = NULL;

  escape_open (&box);
  precious = g_build_filename (box.work, "precious", NULL);
  g_assert_true (g_file_set_contents (precious, "precious", -1, NULL));
  output = run_shell (&box, "mkdir /tmp/tree");
  g_clear_pointer (&output, g_free);
  output = escape_attack (&box, "trap-tree", "/tmp/tree", box.work, NULL);
  escape_assert (output, "deep-link", 0);

  sbx_session_remove (box.session, "/tmp/tree", NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_file_test (precious, G_FILE_TEST_IS_REGULAR));
  g_clear_pointer (&output, g_free);
  output = escape_attack (&box, "open", "/tmp/tree", NULL);
  escape_assert (output, "/tmp/tree", ENOENT);
}

static void
test_devices (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;

  escape_open (&box);
  output = run_shell (&box, "cd /dev; ls -A | tr '\\n' ' '");
  g_assert_cmpstr (output, ==, "core fd full null ptmx pts random shm stderr stdin stdout tty "
                               "urandom zero ");
}

static void
test_mounts (void)
{
  static const char * const devices[] = {
    "/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero", NULL
  };
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;
  g_auto(GStrv) lines = NULL;
  guint n_ours = 0;

  escape_open (&box);
  output = run_shell (&box, "cat /proc/self/mounts");
  lines = g_strsplit (output, "\n", -1);
  for (char **line = lines; **line != '\0'; line++)
    {
      g_auto(GStrv) fields = g_strsplit (*line, " ", -1);
      const char * const writable[] = {
        "/tmp", "/sandbox/home", "/proc", "/dev/shm", "/dev/pts", "/var/tmp", box.work, NULL
      };

      if (strncmp (fields[3], "ro,", 3) == 0 || g_strv_contains (devices, fields[1]))
        continue;

      if (!g_strv_contains (writable, fields[1]))
        g_error ("Writable inside: %s", *line);

      /* Nothing there gives new privileges, or is a device. */
      g_assert_nonnull (strstr (fields[3], "nosuid"));
      if (strcmp (fields[1], "/dev/pts") != 0)
        g_assert_nonnull (strstr (fields[3], "nodev"));
      n_ours += strcmp (fields[1], box.work) == 0;
    }
  g_assert_cmpuint (n_ours, ==, 1);
}

/* Of what a sandbox makes, the host finds what was made in the one directory. */
static void
test_writes (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *beside = NULL;
  g_autofree char *planted_beside = NULL;
  g_autofree char *planted_inside = NULL;
  g_autofree char *output = NULL;

  escape_open (&box);
  beside = g_path_get_dirname (box.work);
  planted_beside = g_build_filename (beside, "planted", NULL);
  planted_inside = g_build_filename (box.work, "planted", NULL);

  output = escape_attack (&box, "create", "/usr", "/usr/bin", beside, "/etc", box.work, "/tmp",
                          "/var/lib/dpkg", NULL);
  escape_assert (output, "/usr", EROFS);
  escape_assert (output, "/usr/bin", EROFS);
  escape_assert (output, "/etc", EROFS);
  escape_assert (output, box.work, 0);
  escape_assert (output, "/tmp", 0);
  g_assert_false (g_file_test (planted_beside, G_FILE_TEST_EXISTS));
  g_assert_false (g_file_test ("/tmp/planted", G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (planted_inside, G_FILE_TEST_EXISTS));
}

static void
test_hidden (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *secret = g_build_filename (g_get_home_dir (), "secret", NULL);
  g_autofree char *output = NULL;

  escape_open (&box);
  g_assert_true (g_file_set_contents (secret, "secret", -1, NULL));
  output = escape_attack (&box, "open", secret, "/home", "/root", "/mnt", "/media", "/srv", "/sys",
                          "/boot", "/run/user", "/run/dbus", "/run/systemd", "/var/run", "/var/log",
                          "/var/lib/systemd", "/proc/1/root/root", g_get_user_data_dir (), NULL);
  for (const char * const *path = (const char * const []) {
         secret, "/home", "/root", "/mnt", "/media", "/srv", "/sys", "/boot", "/run/user",
         "/run/dbus", "/run/systemd", "/var/run", "/var/log", "/var/lib/systemd",
         g_get_user_data_dir (), NULL }; *path; path++)
    escape_assert (output, *path, ENOENT);
  escape_assert (output, "/proc/1/root/root", EACCES);
}

static void
test_environment (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;
  g_auto(GStrv) lines = NULL;

  escape_open (&box);
  output = run_shell (&box, "env; cat /proc/*/environ 2>/dev/null; true");
  g_assert_nonnull (strstr (output, "HOME=/sandbox/home"));
  g_assert_null (strstr (output, "sbx-escape-secret"));
  g_assert_null (strstr (output, "SBX_"));
  g_assert_null (strstr (output, "G_TEST"));
  g_assert_null (strstr (output, g_get_home_dir ()));

  lines = g_strsplit (output, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    for (const char * const *prefix = (const char * const []) {
           "SSH_", "DBUS_", "XDG_", "LD_", "DISPLAY", "WAYLAND", NULL }; *prefix; prefix++)
      g_assert_false (g_str_has_prefix (*line, *prefix));
}

static GSocket *
listen_at (const char             *path,
           GUnixSocketAddressType  type)
{
  g_autoptr(GError) error = NULL;
  GSocket *socket = g_socket_new (G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM, 0, &error);
  g_autoptr(GSocketAddress) address = NULL;

  g_assert_no_error (error);
  address = g_unix_socket_address_new_with_type (path, -1, type);
  g_socket_bind (socket, address, TRUE, &error);
  g_assert_no_error (error);
  g_socket_listen (socket, &error);
  g_assert_no_error (error);

  return socket;
}

static void
test_sockets_of_the_host (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *abstract = g_strdup_printf ("sbx-escape-%d", (int) getpid ());
  g_autofree char *abstract_at = g_strconcat ("@", abstract, NULL);
  g_autofree char *path = g_build_filename (g_get_home_dir (), "socket", NULL);
  g_autoptr(GSocket) first G_GNUC_UNUSED = listen_at (abstract, G_UNIX_SOCKET_ADDRESS_ABSTRACT);
  g_autoptr(GSocket) second G_GNUC_UNUSED = listen_at (path, G_UNIX_SOCKET_ADDRESS_PATH);
  g_autofree char *output = NULL;
  g_autofree char *outside = NULL;

  escape_open (&box);
  output = escape_attack (&box, "connect", abstract_at, path, "/run/dbus/system_bus_socket",
                          "/var/run/docker.sock", "/tmp/.X11-unix/X0", NULL);
  escape_assert (output, abstract_at, ECONNREFUSED);
  escape_assert (output, path, ENOENT);
  escape_assert (output, "/run/dbus/system_bus_socket", ENOENT);
  escape_assert (output, "/var/run/docker.sock", ENOENT);
  escape_assert (output, "/tmp/.X11-unix/X0", ENOENT);

  /* They are there, and the attacker knows how. */
  outside = g_strdup_printf ("'%s' connect '%s' '%s' | grep -c ' 0$' | grep -x 2", box.attack,
                             abstract_at, path);
  escape_outside ("/", outside);
}

int
main (int    argc,
      char **argv)
{
  escape_init (&argc, &argv);

  g_test_add_func ("/escape/T11/memory", test_memory);
  g_test_add_func ("/escape/T11/shared-memory", test_shared_memory_is_bounded);
  g_test_add_func ("/escape/T11/tmp", test_tmp_is_on_disk);
  g_test_add_func ("/escape/T13/etc", test_etc);
  g_test_add_func ("/escape/T18/read-file", test_read_file);
  g_test_add_func ("/escape/T19/close", test_delete);
  g_test_add_func ("/escape/T19/remove", test_remove);
  g_test_add_func ("/escape/T29/foreign-write", test_foreign_write);
  g_test_add_func ("/escape/F12/setuid", test_bubblewrap_setuid);
  g_test_add_func ("/escape/F12/writable", test_bubblewrap_writable);
  g_test_add_func ("/escape/baseline/devices", test_devices);
  g_test_add_func ("/escape/baseline/mounts", test_mounts);
  g_test_add_func ("/escape/baseline/writes", test_writes);
  g_test_add_func ("/escape/baseline/hidden", test_hidden);
  g_test_add_func ("/escape/baseline/environment", test_environment);
  g_test_add_func ("/escape/baseline/sockets-of-the-host", test_sockets_of_the_host);

  return escape_run ();
}
