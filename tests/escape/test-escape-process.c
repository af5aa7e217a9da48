/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <pty.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Descriptors, and what a sandbox sees and reaches of other processes. */

#define CONNECTED 20
#define PIPE_SIZE 65536
#define MAX_TERMINALS 64

static gboolean
has_identity (const char        *output,
              const struct stat *st)
{
  g_autofree char *identity = g_strdup_printf (" %llu:%llu\n", (unsigned long long) st->st_dev,
                                               (unsigned long long) st->st_ino);

  return strstr (output, identity) != NULL;
}

static char *
read_report (const char *path)
{
  g_autoptr(GError) error = NULL;
  char *output = NULL;

  g_file_get_contents (path, &output, NULL, &error);
  g_assert_no_error (error);
  g_test_message ("%s", output);
  escape_assert (output, "end", 0);

  return output;
}

/* Runs the attacker while @fd is each of our own three; what is there inside must be something
 * else, and a pipe, or nothing. */
static void
assert_not_inherited (EscapeBox *box,
                      int        fd)
{
  struct stat st;

  g_assert_cmpint (fstat (fd, &st), ==, 0);
  for (int i = 0; i < 3; i++)
    {
      g_autofree char *report = g_strdup_printf ("%s/report-%d-%d", box->work, fd, i);
      g_autofree char *output = NULL;
      const int saved = fcntl (i, F_DUPFD_CLOEXEC, 10);
      g_autoptr(SbxCommand) command = escape_command (box, "descriptors", report, NULL);
      g_autoptr(SbxExecResult) result = NULL;
      g_autoptr(GError) error = NULL;

      g_assert_cmpint (dup2 (fd, i), ==, i);
      result = sbx_session_exec (box->session, command, NULL, &error);
      g_assert_cmpint (dup2 (saved, i), ==, i);
      close (saved);

      g_assert_no_error (error);
      output = read_report (report);
      g_assert_false (has_identity (output, &st));
      g_assert_nonnull (strstr (output, "fd 0 20000 "));
      g_assert_nonnull (strstr (output, "fd 1 10000 "));
      g_assert_nonnull (strstr (output, "fd 2 10000 "));
      g_assert_null (strstr (output, "fd 3 "));
    }
}

static void
test_descriptors (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *log = g_build_filename (escape_get_root (), "log", NULL);
  int sockets[2];
  int terminal[2];
  int file;
  int directory;

  escape_open (&box);
  file = open (log, O_RDWR | O_CREAT, 0600);
  directory = open ("/", O_RDONLY | O_DIRECTORY);
  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM, 0, sockets), ==, 0);
  g_assert_cmpint (openpty (&terminal[0], &terminal[1], NULL, NULL, NULL), ==, 0);

  assert_not_inherited (&box, file);
  assert_not_inherited (&box, directory);
  assert_not_inherited (&box, sockets[0]);
  assert_not_inherited (&box, terminal[1]);

  close (file);
  close (directory);
  close (sockets[0]);
  close (sockets[1]);
  close (terminal[0]);
  close (terminal[1]);
}

/* Others, open while the sandbox is made and while it works. */
static void
test_leaked_descriptors (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *report = NULL;
  g_autofree char *output = NULL;
  int leaked[20];
  struct stat st;

  for (gsize i = 0; i < G_N_ELEMENTS (leaked); i++)
    leaked[i] = open ("/", O_RDONLY | O_DIRECTORY);

  escape_open (&box);
  report = g_build_filename (box.work, "report", NULL);
  g_free (escape_attack (&box, "descriptors", report, NULL));
  output = read_report (report);
  g_assert_nonnull (strstr (output, "fd 0 "));
  g_assert_null (strstr (output, " 40000 "));
  g_assert_cmpint (stat ("/", &st), ==, 0);
  g_assert_false (has_identity (output, &st));
  for (gsize i = 0; i < G_N_ELEMENTS (leaked); i++)
    close (leaked[i]);
}

/* With the caller's terminal as its own output, bubblewrap would make it a device inside. */
static void
test_console (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;
  int saved[3];
  int terminal[2];

  escape_place (&box);
  g_assert_cmpint (openpty (&terminal[0], &terminal[1], NULL, NULL, NULL), ==, 0);
  for (int i = 0; i < 3; i++)
    {
      saved[i] = fcntl (i, F_DUPFD_CLOEXEC, 10);
      g_assert_cmpint (dup2 (terminal[1], i), ==, i);
    }

  box.session = escape_try_open (&box, box.work, &error);

  for (int i = 0; i < 3; i++)
    {
      g_assert_cmpint (dup2 (saved[i], i), ==, i);
      close (saved[i]);
    }

  g_assert_no_error (error);
  output = escape_attack (&box, "open", "/dev/console", "/dev/null", NULL);
  escape_assert (output, "/dev/console", ENOENT);
  escape_assert (output, "/dev/null", 0);
  close (terminal[0]);
  close (terminal[1]);
}

static void
test_limits (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;

  /* Our own soft limit is 1024. */
  escape_open (&box);
  output = escape_attack (&box, "limits", NULL);
  g_assert_cmpint (escape_get (output, "files-max"), >=, 256);
  g_assert_cmpint (escape_get (output, "files-max"), <=, 1024 - 256);
}

static gboolean
host_can_pass_descriptors (void)
{
  union { struct cmsghdr head; char room[CMSG_SPACE (sizeof (int))]; } control = { 0 };
  char byte = 0;
  struct iovec vector = { &byte, 1 };
  struct msghdr message = {
    .msg_iov = &vector,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control,
  };
  int sockets[2];
  gssize n;

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), ==, 0);
  control.head.cmsg_level = SOL_SOCKET;
  control.head.cmsg_type = SCM_RIGHTS;
  control.head.cmsg_len = CMSG_LEN (sizeof (int));
  memcpy (CMSG_DATA (&control.head), &sockets[1], sizeof (int));
  n = sendmsg (sockets[0], &message, MSG_NOSIGNAL);
  close (sockets[0]);
  close (sockets[1]);

  return n == 1;
}

/* A terminal comes out of a sandbox as a descriptor, sent by somebody without any capability. */
static void
assert_works (EscapeBox *box)
{
  g_autoptr(SbxCommand) command = escape_command (box, "terminal", NULL);
  g_autoptr(SbxExecResult) result = NULL;
  g_autofree char *output = NULL;

  sbx_command_set_terminal (command, TRUE);
  result = escape_exec (box, command);
  output = escape_get_stdout (result);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_EXITED);
  escape_assert (output, "tty", 0);
}

static void
test_flood (void)
{
  EscapeBox boxes[CONNECTED] = { 0 };
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(SbxProcess) process = NULL;
  g_autofree char *output = NULL;

  for (gsize i = 0; i < CONNECTED; i++)
    escape_open (&boxes[i]);

  command = escape_command (&boxes[0], "flood", NULL);
  process = escape_hold (&boxes[0], command, &output);
  g_assert_cmpint (escape_get (output, "sent"), >, 0);

  g_assert_true (host_can_pass_descriptors ());
  for (gsize i = 1; i < CONNECTED; i++)
    assert_works (&boxes[i]);

  for (gsize i = 0; i < CONNECTED; i++)
    escape_box_clear (&boxes[i]);
}

static void
test_pipes (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(SbxProcess) process = NULL;
  g_autofree char *output = NULL;
  int ends[2];

  escape_open (&box);
  command = escape_command (&box, "large-pipes", NULL);
  process = escape_hold (&box, command, &output);
  escape_assert (output, "large-pipes", 0);

  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  g_assert_cmpint (fcntl (ends[0], F_GETPIPE_SZ), ==, PIPE_SIZE);
  close (ends[0]);
  close (ends[1]);
}

static void
assert_protected (EscapeBox  *box,
                  const char *which)
{
  static const char * const refused[] = {
    "fd/3", "root/etc", "cwd/etc", "exe", "exe-write", "mem", "mem-write", "environ", "maps",
    "ns", "pidfd-getfd", "vm-readv", "ptrace-attach", "ptrace-seize",
  };
  g_autofree char *output = escape_attack (box, "enter", which, NULL);

  escape_assert (output, "pidfd", 0);
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      const gint64 value = escape_get (output, refused[i]);

      if (value != EACCES && value != EPERM && value != EROFS)
        g_error ("“%s” of %s is open: %s", refused[i], which, output);
    }
}

static void
test_process_1 (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *output = NULL;

  escape_open (&box);
  assert_protected (&box, "1");
  assert_protected (&box, "supervisor");

  /* A signal to it from inside is one to nobody. */
  output = escape_attack (&box, "kill-one", NULL);
  escape_assert (output, "kill", 0);
  g_clear_pointer (&output, g_free);
  output = escape_attack (&box, "processes", NULL);
  escape_assert (output, "processes", 3);
}

static void
test_processes_of_the_host (void)
{
  g_auto(EscapeBox) box = { 0 };
  g_autofree char *parent = g_strdup_printf ("%d", (int) getppid ());
  g_autofree char *own = g_strdup_printf ("%d", (int) getpid ());
  g_autofree char *output = NULL;

  escape_open (&box);
  output = escape_attack (&box, "processes", own, parent, NULL);
  escape_assert (output, "processes", 3);
  escape_assert (output, "strangers", 0);
  if (getppid () > 100)
    escape_assert (output, parent, ESRCH);
  escape_assert (output, own, ESRCH);
}

/* Opens terminals of ours until one has the name, each with the size. Gives its slave, or -1. */
static int
open_namesake (const char           *name,
               const struct winsize *size,
               GArray               *masters)
{
  while (masters->len < MAX_TERMINALS)
    {
      char own[64];
      int master;
      int slave;

      g_assert_cmpint (openpty (&master, &slave, own, NULL, size), ==, 0);
      g_array_append_val (masters, master);
      if (strcmp (own, name) == 0)
        return slave;

      close (slave);
    }

  return -1;
}

/* The name of a terminal inside is the name of another one here. */
static void
test_terminal_by_name (void)
{
  const struct winsize size = { .ws_row = 11, .ws_col = 22 };
  g_auto(EscapeBox) box = { 0 };
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(SbxProcess) process = NULL;
  g_autoptr(GArray) masters = g_array_new (FALSE, FALSE, sizeof (int));
  g_autofree char *output = NULL;
  g_autofree char *name = NULL;
  g_autoptr(GError) error = NULL;
  struct winsize found = { 0 };
  int slave;

  escape_open (&box);
  command = escape_command (&box, "window", NULL);
  sbx_command_set_terminal (command, TRUE);
  sbx_command_set_terminal_size (command, 33, 44);
  process = escape_hold (&box, command, &output);
  escape_assert (output, "rows", 33);
  escape_assert (output, "columns", 44);

  /* Where it cannot be ours it is another program's already. */
  name = g_strdup_printf ("/dev/pts/%d", (int) escape_get (output, "number"));
  slave = open_namesake (name, &size, masters);
  if (slave < 0)
    slave = open (name, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

  sbx_terminal_resize (sbx_process_get_terminal (process), 55, 66, &error);
  g_assert_no_error (error);
  g_clear_object (&process);
  g_clear_pointer (&output, g_free);
  output = escape_attack (&box, "processes", NULL);

  if (slave >= 0 && ioctl (slave, TIOCGWINSZ, &found) == 0)
    {
      g_assert_cmpint (found.ws_row, !=, 55);
      g_assert_cmpint (found.ws_col, !=, 66);
    }

  if (slave >= 0)
    close (slave);
  for (guint i = 0; i < masters->len; i++)
    close (g_array_index (masters, int, i));
}

int
main (int    argc,
      char **argv)
{
  escape_init (&argc, &argv);

  g_test_add_func ("/escape/T2/console", test_console);
  g_test_add_func ("/escape/T3/descriptors", test_descriptors);
  g_test_add_func ("/escape/T3/leaked", test_leaked_descriptors);
  g_test_add_func ("/escape/T7/limits", test_limits);
  g_test_add_func ("/escape/T7/flood", test_flood);
  g_test_add_func ("/escape/T7/pipes", test_pipes);
  g_test_add_func ("/escape/T20/process-1", test_process_1);
  g_test_add_func ("/escape/T21/name", test_terminal_by_name);
  g_test_add_func ("/escape/baseline/processes-of-the-host", test_processes_of_the_host);

  return escape_run ();
}
