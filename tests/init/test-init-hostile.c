/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* A process that plays process 1, and does not keep to the protocol. */

#include "bwrap/sbx-init-channel-private.h"
#include "core/sbx-error.h"
#include "init/sbx-init-protocol-private.h"

#include "test-util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND 1
#define ON_TERMINAL 2
#define FILE_VERB 3

static void
peer_send (int         fd,
           const void *data,
           size_t      size,
           const int  *fds,
           size_t      n_fds)
{
  union { struct cmsghdr head; char room[CMSG_SPACE (253 * sizeof (int))]; } control = { 0 };
  struct iovec vector = { (void *) data, size };
  struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

  if (n_fds > 0)
    {
      message.msg_control = &control;
      message.msg_controllen = CMSG_SPACE (n_fds * sizeof (int));
      control.head.cmsg_level = SOL_SOCKET;
      control.head.cmsg_type = SCM_RIGHTS;
      control.head.cmsg_len = CMSG_LEN (n_fds * sizeof (int));
      memcpy (CMSG_DATA (&control.head), fds, n_fds * sizeof (int));
    }

  if (sendmsg (fd, &message, MSG_NOSIGNAL) < 0)
    _exit (errno == EPIPE ? 0 : 9);
}

static SbxInitReport
make_report (int      type,
             uint64_t id)
{
  return (SbxInitReport) { .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, (uint16_t) type, id } };
}

static void
peer_report (int      fd,
             int      type,
             uint64_t id)
{
  SbxInitReport report = make_report (type, id);

  if (type == SBX_INIT_STARTED)
    report.pid = 17;
  peer_send (fd, &report, sizeof report, NULL, 0);
}

static void
peer_end (int      fd,
          uint64_t id,
          uint32_t kind,
          uint32_t stage,
          int      value)
{
  SbxInitReport report = make_report (SBX_INIT_ENDED, id);

  report.kind = kind;
  report.stage = stage;
  report.value = value;
  peer_send (fd, &report, sizeof report, NULL, 0);
}

static void
peer_wait (int fd)
{
  char buffer[4096];

  if (recv (fd, buffer, sizeof buffer, 0) <= 0)
    _exit (0);
}

static void
peer_get_ready (int fd)
{
  peer_report (fd, SBX_INIT_HELLO, 0);
  peer_wait (fd);
  peer_wait (fd);
  peer_report (fd, SBX_INIT_READY, 0);

  /* The three requests. */
  for (int i = 0; i < 3; i++)
    peer_wait (fd);
}

static void
peer_mount (int      fd,
            uint32_t index,
            uint32_t error,
            int      inode_off,
            uint32_t read_only)
{
  SbxInitMounts mounts = { .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, SBX_INIT_MOUNTS, 0 } };
  struct stat status;

  if (stat ("/", &status) < 0)
    _exit (9);

  mounts.count = 1;
  mounts.mounts[0].index = index;
  mounts.mounts[0].error = error;
  mounts.mounts[0].read_only = read_only;
  if (error == 0)
    {
      mounts.mounts[0].device = status.st_dev;
      mounts.mounts[0].inode = status.st_ino + (uint64_t) inode_off;
    }
  peer_send (fd, &mounts, sizeof mounts, NULL, 0);
}

static int
peer_master (int *slave)
{
  const int master = posix_openpt (O_RDWR | O_NOCTTY);

  if (master < 0 || grantpt (master) < 0 || unlockpt (master) < 0)
    _exit (9);
  *slave = open (ptsname (master), O_RDWR | O_NOCTTY);
  return master;
}

static void
peer_start_with (int        fd,
                 uint64_t   id,
                 const int *fds,
                 size_t     n_fds)
{
  SbxInitReport report = make_report (SBX_INIT_STARTED, id);

  report.pid = 17;
  peer_send (fd, &report, sizeof report, fds, n_fds);
}

/* What each of them does before, or after, it is ready. */
static void
misbehave_in_setup (int fd,
                    int number)
{
  SbxInitReport report = make_report (SBX_INIT_HELLO, 0);

  if (number >= 7)
    {
      peer_report (fd, SBX_INIT_HELLO, 0);
      peer_wait (fd);
    }

  switch (number)
    {
    case 0: _exit (0);
    case 1: peer_send (fd, &report, sizeof report - 1, NULL, 0); break;
    case 2: report.head.magic++; peer_send (fd, &report, sizeof report, NULL, 0); break;
    case 3: report.head.version++; peer_send (fd, &report, sizeof report, NULL, 0); break;
    case 4: peer_send (fd, &report, sizeof report, &fd, 1); break;
    case 5: peer_report (fd, SBX_INIT_READY, 0); break;
    case 6: peer_mount (fd, 0, 0, 0, 0); break;
    case 7: peer_report (fd, SBX_INIT_HELLO, 0); break;
    case 8: peer_report (fd, SBX_INIT_READY, 0); break;
    case 9: peer_mount (fd, 1, 0, 0, 0); break;
    case 10: peer_mount (fd, 0, 0, 0, 0); peer_mount (fd, 0, 0, 0, 0); break;
    case 11: peer_mount (fd, 0, 0, 0, 0); peer_mount (fd, 1, 0, 0, 0); break;
    case 12: peer_mount (fd, 0, ENOENT, 0, 0); break;
    case 13: peer_mount (fd, 0, 0, 1, 0); break;
    case 14: peer_mount (fd, 0, 0, 0, 1); break;
    case 15: peer_report (fd, SBX_INIT_STARTED, 1); break;
    case 16:
      report = make_report (SBX_INIT_SETUP_FAILED, 0);
      report.value = ENOMEM;
      peer_send (fd, &report, sizeof report, NULL, 0);
      break;
    default: _exit (0);
    }
}

#define N_SETUP_CASES 17

static void
misbehave_with_descriptors (int fd,
                            int number)
{
  SbxInitReport report = make_report (SBX_INIT_ENDED, COMMAND);
  int pair[2], masters[300], slave;

  if (pipe (pair) < 0)
    _exit (9);
  masters[0] = peer_master (&slave);
  for (int i = 1; i < 300; i++)
    masters[i] = masters[0];

  switch (number)
    {
    case 0: peer_start_with (fd, COMMAND, masters, 1); break;
    case 1: peer_start_with (fd, ON_TERMINAL, NULL, 0); break;
    case 2: peer_start_with (fd, ON_TERMINAL, pair, 1); break;
    case 3: peer_start_with (fd, ON_TERMINAL, &slave, 1); break;
    case 4: peer_start_with (fd, ON_TERMINAL, masters, 2); break;
    case 5: peer_start_with (fd, ON_TERMINAL, masters, 253); break;
    case 6: peer_start_with (fd, FILE_VERB, masters, 1); break;
    case 7: peer_start_with (fd, COMMAND, NULL, 0); peer_send (fd, &report, sizeof report, pair, 1);
      break;
    case 8: peer_start_with (fd, ON_TERMINAL, (int[]) { open ("/dev/null", O_RDWR) }, 1); break;
    case 9: peer_start_with (fd, ON_TERMINAL, (int[]) { open ("/", O_PATH) }, 1); break;
    case 10: peer_start_with (fd, ON_TERMINAL, (int[]) { open ("/dev/ptmx", O_PATH) }, 1); break;
    case 11: peer_start_with (fd, ON_TERMINAL, &fd, 1); break;
    case 12: peer_start_with (fd, 99, masters, 1); break;
    case 13: peer_send (fd, "", 0, masters, 1); break;
    default: _exit (0);
    }
}

#define N_DESCRIPTOR_CASES 14

static void
misbehave_with_messages (int fd,
                         int number)
{
  static char large[65536];
  SbxInitReport report = make_report (SBX_INIT_STARTED, COMMAND);

  report.pid = 17;
  switch (number)
    {
    case 0: peer_report (fd, SBX_INIT_STARTED, 99); break;
    case 1: peer_report (fd, SBX_INIT_STARTED, 0); break;
    case 2: peer_report (fd, SBX_INIT_STARTED, COMMAND);
      peer_report (fd, SBX_INIT_STARTED, COMMAND); break;
    case 3: peer_end (fd, COMMAND, SBX_INIT_ENDED_EXITED, 0, 0); break;
    case 4: peer_end (fd, COMMAND, SBX_INIT_ENDED_SIGNALLED, 0, 9); break;
    case 5: peer_end (fd, 99, SBX_INIT_ENDED_LOST, 0, 0); break;
    case 6: peer_end (fd, COMMAND, 4, 0, 0); break;
    case 7: peer_end (fd, COMMAND, SBX_INIT_ENDED_UNSTARTED, 7, 1); break;
    case 8: peer_end (fd, COMMAND, SBX_INIT_ENDED_UNSTARTED, 0, 1); break;
    case 9: peer_end (fd, COMMAND, SBX_INIT_ENDED_UNSTARTED, SBX_INIT_AT_EXEC, 0); break;
    case 10: peer_end (fd, COMMAND, SBX_INIT_ENDED_UNSTARTED, SBX_INIT_AT_EXEC, 5000); break;
    case 11: peer_end (fd, COMMAND, SBX_INIT_ENDED_UNSTARTED, SBX_INIT_AT_FILE, 2); break;
    case 12: peer_send (fd, &report, sizeof report, NULL, 0);
      peer_end (fd, COMMAND, SBX_INIT_ENDED_EXITED, 0, 256); break;
    case 13: peer_send (fd, &report, sizeof report, NULL, 0);
      peer_end (fd, COMMAND, SBX_INIT_ENDED_EXITED, 0, -1); break;
    case 14: peer_send (fd, &report, sizeof report, NULL, 0);
      peer_end (fd, COMMAND, SBX_INIT_ENDED_SIGNALLED, 0, 65); break;
    case 15: peer_send (fd, &report, sizeof report, NULL, 0);
      peer_end (fd, COMMAND, SBX_INIT_ENDED_UNSTARTED, SBX_INIT_AT_EXEC, 2); break;
    case 16: report.pid = 0; peer_send (fd, &report, sizeof report, NULL, 0); break;
    case 17: report.reserved = 1; peer_send (fd, &report, sizeof report, NULL, 0); break;
    case 18: report.kind = 1; peer_send (fd, &report, sizeof report, NULL, 0); break;
    case 19: report.head.type = 99; peer_send (fd, &report, sizeof report, NULL, 0); break;
    case 20: report.head.type = SBX_INIT_EXEC;
      peer_send (fd, &report, sizeof report, NULL, 0); break;
    case 21: peer_report (fd, SBX_INIT_READY, 0); break;
    case 22: peer_report (fd, SBX_INIT_HELLO, 0); break;
    case 23: peer_mount (fd, 0, 0, 0, 0); break;
    case 24: peer_send (fd, large, sizeof large, NULL, 0); break;
    case 25: peer_send (fd, large, 1, NULL, 0); break;
    case 26: peer_send (fd, large, 0, NULL, 0); break;
    case 27: _exit (0);
    case 28:
      report = make_report (SBX_INIT_FAILED, COMMAND);
      report.value = ETIMEDOUT;
      peer_send (fd, &report, sizeof report, NULL, 0);
      break;
    default: _exit (0);
    }
}

#define N_MESSAGE_CASES 29

static void
misbehave_with_mounts (int fd,
                       int number)
{
  SbxInitReport report = make_report (SBX_INIT_CHANGED, 0);

  switch (number)
    {
    case 0: peer_report (fd, SBX_INIT_CHECKED, 0); break;
    case 1: peer_report (fd, SBX_INIT_CHANGED, COMMAND); break;
    case 2: peer_report (fd, SBX_INIT_CHANGED, 0); peer_report (fd, SBX_INIT_CHANGED, 0); break;
    case 3: peer_report (fd, SBX_INIT_CHANGED, 0); peer_mount (fd, 0, 0, 0, 0); break;
    case 4: peer_report (fd, SBX_INIT_CHANGED, 0); peer_report (fd, SBX_INIT_CHECKED, 0); break;
    case 5:
      report.value = 1;
      peer_send (fd, &report, sizeof report, NULL, 0);
      break;
    case 6:
      peer_send (fd, &report, sizeof report, &fd, 1);
      break;
    case 7:
      report = make_report (SBX_INIT_FAILED, 0);
      report.value = ETIME;
      peer_send (fd, &report, sizeof report, NULL, 0);
      break;
    default: _exit (0);
    }
}

#define N_MOUNT_CASES 8

/* A check of two places was asked for. */
static void
misbehave_in_check (int fd,
                    int number)
{
  peer_report (fd, SBX_INIT_CHANGED, 0);
  peer_wait (fd);

  switch (number)
    {
    case 0: peer_report (fd, SBX_INIT_CHECKED, 0); break;
    case 1: peer_mount (fd, 0, 0, 0, 0); peer_report (fd, SBX_INIT_CHECKED, 0); break;
    case 2: peer_mount (fd, 1, 0, 0, 0); break;
    case 3: peer_mount (fd, 0, 0, 0, 0); peer_mount (fd, 0, 0, 0, 0); break;
    case 4:
      for (uint32_t i = 0; i < 3; i++)
        peer_mount (fd, i, 0, 0, 0);
      break;
    case 5: peer_report (fd, SBX_INIT_CHANGED, 0); break;
    case 6: _exit (0);
    default: peer_report (fd, SBX_INIT_READY, 0); break;
    }
}

#define N_CHECK_CASES 8

static void
behave_in_check (int fd,
                 int number)
{
  for (int i = 0; i < 2; i++)
    {
      peer_report (fd, SBX_INIT_CHANGED, 0);
      peer_wait (fd);
      peer_mount (fd, 0, 0, 0, 0);
      peer_mount (fd, 1, 0, 1, 0);
      peer_report (fd, SBX_INIT_CHECKED, 0);
      peer_wait (fd);
    }
}

/* The second end of an exec: the first is told, and the exec has only one. */
static void
end_twice (int fd,
           int number)
{
  peer_report (fd, SBX_INIT_STARTED, COMMAND);
  peer_end (fd, COMMAND, SBX_INIT_ENDED_EXITED, 0, 3);
  if (number == 0)
    peer_end (fd, COMMAND, SBX_INIT_ENDED_EXITED, 0, 3);
  else
    peer_report (fd, SBX_INIT_STARTED, COMMAND);
}

typedef void (*Act) (int fd,
                     int number);

typedef struct
{
  SbxInitChannel *channel;
  pid_t           peer;
  guint           n_lost;
  guint           n_started;
  guint           n_ended[4];
  guint           n_errors[4];
} Play;

typedef struct
{
  Play *play;
  int   which;
} Part;

static void
lost_cb (SbxInitChannel *channel,
         const GError   *error,
         gpointer        user_data)
{
  Play *play = user_data;

  g_assert_true (error->domain == SBX_ERROR || error->domain == G_IO_ERROR);
  play->n_lost++;
}

static void
started_cb (gint64   pid,
            int      terminal,
            gpointer user_data)
{
  Part *part = user_data;

  part->play->n_started++;
  if (terminal >= 0)
    close (terminal);
}

static void
ended_cb (const SbxInitEnd *end,
          const GError     *error,
          gpointer          user_data)
{
  Part *part = user_data;

  g_assert_true ((end == NULL) != (error == NULL));
  part->play->n_ended[part->which]++;
  part->play->n_errors[part->which] += error != NULL;
}

static Play *
play_new (Act act,
          int number,
          int ready)
{
  Play *play = g_new0 (Play, 1);
  int fds[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), ==, 0);

  /* Before the peer, which does not name itself: the kernel does for those that listen for it. */
  play->channel = _sbx_init_channel_new (fds[0]);
  g_signal_connect (play->channel, "lost", G_CALLBACK (lost_cb), play);

  play->peer = fork ();
  g_assert_cmpint (play->peer, >=, 0);
  if (play->peer == 0)
    {
      close (fds[0]);
      if (ready)
        peer_get_ready (fds[1]);
      act (fds[1], number);
      for (;;)
        peer_wait (fds[1]);
    }

  close (fds[1]);
  return play;
}

static void
play_free (Play *play)
{
  g_autoptr(GAsyncResult) result = NULL;

  _sbx_init_channel_close_async (play->channel, 200, NULL, test_store_result, &result);
  test_wait_for (result != NULL);
  g_clear_object (&result);
  test_assert_finalizes (play->channel);

  g_assert_cmpint (waitpid (play->peer, NULL, 0), ==, play->peer);
  g_free (play);
}

static void
play_ask (Play *play)
{
  const char *argv[] = { "x", "1", NULL };
  const SbxInitExecHandler handler = { started_cb, ended_cb };

  for (int i = COMMAND; i <= FILE_VERB; i++)
    {
      SbxInitRequest request = { .argv = argv, .cwd = "/", .stdin_fd = -1, .stdout_fd = -1,
                                 .stderr_fd = -1 };
      Part *part = g_new0 (Part, 1);

      part->play = play;
      part->which = i;
      request.terminal = i == ON_TERMINAL;
      request.verb = i == FILE_VERB ? SBX_INIT_VERB_READ_FILE : SBX_INIT_VERB_EXEC;
      g_assert_cmpint (_sbx_init_channel_exec (play->channel, &request, &handler, part, g_free,
                                               NULL), ==, i);
    }
}

static void
test_setup (void)
{
  struct stat status;
  SbxInitExpectation expectation = { .path = "/a \033[31m\377" };

  g_test_summary ("What is wrong while a sandbox is set up fails the setup");
  g_assert_cmpint (stat ("/", &status), ==, 0);
  expectation.device = status.st_dev;
  expectation.inode = status.st_ino;

  for (int i = 0; i < N_SETUP_CASES; i++)
    {
      Play *play = play_new (misbehave_in_setup, i, FALSE);
      g_autoptr(GAsyncResult) result = NULL;
      g_autoptr(GError) error = NULL;

      _sbx_init_channel_setup_async (play->channel, &expectation, 1, NULL, test_store_result,
                                     &result);
      g_assert_null (result);
      test_wait_for (result != NULL);
      g_assert_false (_sbx_init_channel_setup_finish (play->channel, result, &error));
      g_test_message ("%d: %s", i, error->message);
      g_assert_true (error->domain == SBX_ERROR);

      /* It names the path, and nothing of it reaches a terminal as it is. */
      if (i >= 12 && i <= 14)
        {
          g_assert_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED);
          g_assert_nonnull (strstr (error->message, "/a \\033[31m\\377"));
        }

      g_clear_object (&result);
      play_free (play);
    }
}

static void
play_badly (Act act,
            int n_cases)
{
  for (int i = 0; i < n_cases; i++)
    {
      Play *play = play_new (act, i, TRUE);
      g_autoptr(GAsyncResult) result = NULL;

      g_test_message ("case %d", i);
      _sbx_init_channel_setup_async (play->channel, NULL, 0, NULL, test_store_result, &result);
      test_wait_for (result != NULL);
      g_assert_true (_sbx_init_channel_setup_finish (play->channel, result, NULL));
      g_clear_object (&result);

      play_ask (play);
      test_wait_for (play->n_lost > 0);
      for (int j = COMMAND; j <= FILE_VERB; j++)
        {
          g_assert_cmpint (play->n_ended[j], ==, 1);
          g_assert_cmpint (play->n_errors[j], ==, act != end_twice || j != COMMAND);
        }

      play_free (play);
    }
}

static void
test_messages (void)
{
  g_test_summary ("A message that makes no sense loses the sandbox; every exec ends once");
  play_badly (misbehave_with_messages, N_MESSAGE_CASES);
  play_badly (misbehave_with_mounts, N_MOUNT_CASES);
  play_badly (end_twice, 2);
}

static void
changed_cb (SbxInitChannel *channel,
            guint          *n_changed)
{
  g_assert_true (_sbx_init_channel_is_stopped (channel));
  ++*n_changed;
}

static void
get_ready_and_misbehave (int fd,
                         int number)
{
  peer_report (fd, SBX_INIT_HELLO, 0);
  peer_wait (fd);
  peer_wait (fd);
  peer_report (fd, SBX_INIT_READY, 0);

  if (number >= 0)
    misbehave_in_check (fd, number);
  else
    behave_in_check (fd, number);
}

static void
test_check (void)
{
  const SbxInitExpectation expectations[] = { { .path = "/" }, { .path = "/usr" } };

  g_test_summary ("Who answers a check wrongly loses the sandbox, and the check ends once");

  for (int i = -1; i < N_CHECK_CASES; i++)
    {
      Play *play = play_new (get_ready_and_misbehave, i, FALSE);
      g_autoptr(GAsyncResult) result = NULL;
      guint n_changed = 0;

      g_test_message ("case %d", i);
      g_signal_connect (play->channel, "changed", G_CALLBACK (changed_cb), &n_changed);
      _sbx_init_channel_setup_async (play->channel, NULL, 0, NULL, test_store_result, &result);
      test_wait_for (result != NULL);
      g_assert_true (_sbx_init_channel_setup_finish (play->channel, result, NULL));
      g_clear_object (&result);

      for (guint j = 1; j <= (i < 0 ? 2 : 1); j++)
        {
          g_autoptr(GArray) mounts = NULL;
          g_autoptr(GError) error = NULL;

          test_wait_for (n_changed == j);
          _sbx_init_channel_check_async (play->channel, expectations, 2, test_store_result,
                                         &result);
          test_wait_for (result != NULL);
          mounts = _sbx_init_channel_check_finish (play->channel, result, &error);
          g_clear_object (&result);

          if (i >= 0)
            {
              g_assert_null (mounts);
              g_assert_nonnull (error);
              g_assert_cmpint (play->n_lost, ==, 1);
              continue;
            }

          g_assert_no_error (error);
          g_assert_cmpint (mounts->len, ==, 2);
          g_assert_cmpint (g_array_index (mounts, SbxInitMount, 1).index, ==, 1);
          _sbx_init_channel_resume (play->channel);
          g_assert_false (_sbx_init_channel_is_stopped (play->channel));
        }

      play_free (play);
    }
}

static guint
count_descriptors (void)
{
  g_autoptr(GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;

  return n;
}

static void
test_descriptors (void)
{
  guint before;

  g_test_summary ("A descriptor that nobody asked for loses the sandbox, and none stays open");
  play_badly (misbehave_with_descriptors, 1);
  before = count_descriptors ();
  play_badly (misbehave_with_descriptors, N_DESCRIPTOR_CASES);
  g_assert_cmpint (count_descriptors (), ==, before);
}

static void
behave (int fd,
        int number)
{
  int slave;
  const int master = peer_master (&slave);

  peer_start_with (fd, ON_TERMINAL, &master, 1);
  peer_report (fd, SBX_INIT_STARTED, FILE_VERB);
  peer_end (fd, FILE_VERB, SBX_INIT_ENDED_UNSTARTED, SBX_INIT_AT_FILE, ENOENT);
  peer_end (fd, ON_TERMINAL, SBX_INIT_ENDED_LOST, 0, 0);
  peer_end (fd, COMMAND, SBX_INIT_ENDED_UNSTARTED, SBX_INIT_AT_EXEC, ENOENT);
}

static void
test_behaves (void)
{
  Play *play = play_new (behave, 0, TRUE);
  g_autoptr(GAsyncResult) result = NULL;

  g_test_summary ("What these tests play loses nothing when it is played right");
  _sbx_init_channel_setup_async (play->channel, NULL, 0, NULL, test_store_result, &result);
  test_wait_for (result != NULL);
  g_assert_true (_sbx_init_channel_setup_finish (play->channel, result, NULL));
  g_clear_object (&result);

  play_ask (play);
  test_wait_for (play->n_ended[COMMAND] > 0);
  for (int j = COMMAND; j <= FILE_VERB; j++)
    g_assert_cmpint (play->n_ended[j] + play->n_errors[j], ==, 1);
  g_assert_cmpint (play->n_started, ==, 2);
  g_assert_cmpint (play->n_lost, ==, 0);

  /* It does not end when it is asked to. */
  play_free (play);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/init/hostile/behaves", test_behaves);
  g_test_add_func ("/init/hostile/setup", test_setup);
  g_test_add_func ("/init/hostile/messages", test_messages);
  g_test_add_func ("/init/hostile/descriptors", test_descriptors);
  g_test_add_func ("/init/hostile/check", test_check);

  return g_test_run ();
}
