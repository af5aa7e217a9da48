/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Requests made by hand for the real process 1: what is wrong with them is told, and it goes on. */

#include "init-fixture.h"

#include "init/sbx-init-protocol-private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Kernel 6.5. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define ALL_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

typedef struct
{
  GSubprocess *bwrap;
  int          fd;
  guint64      last_id;
} Raw;

static void
raw_send (Raw         *raw,
          const void  *data,
          gsize        size,
          const int   *fds,
          gsize        n_fds)
{
  union { struct cmsghdr head; char room[CMSG_SPACE (8 * sizeof (int))]; } control = { 0 };
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

  g_assert_cmpint (sendmsg (raw->fd, &message, MSG_NOSIGNAL), ==, size);
}

static gboolean
raw_receive (Raw           *raw,
             SbxInitReport *report)
{
  struct pollfd poll_fd = { .fd = raw->fd, .events = POLLIN };

  g_assert_cmpint (poll (&poll_fd, 1, TEST_DEADLINE_S * 1000), ==, 1);
  return recv (raw->fd, report, sizeof *report, 0) == sizeof *report;
}

static SbxInitMessage
make_message (Raw     *raw,
              guint16  type)
{
  SbxInitMessage message = { .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, type, 0 } };

  if (type == SBX_INIT_EXEC)
    message.head.id = ++raw->last_id;
  return message;
}

static int
make_memory (const void *data,
             gsize       size,
             int         seals)
{
  const int fd = memfd_create ("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (pwrite (fd, data, size, 0), ==, size);
  if (seals != 0)
    g_assert_cmpint (fcntl (fd, F_ADD_SEALS, seals), ==, 0);

  return fd;
}

static Raw *
raw_new (void)
{
  Raw *raw = g_new0 (Raw, 1);
  int fds[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), ==, 0);
  raw->fd = fds[0];
  raw->bwrap = sandbox_spawn (NULL, fds[1]);
  return raw;
}

static int
hold_self (Raw *raw)
{
  int fd = (int) syscall (SYS_pidfd_open, getpid (), 0);
  socklen_t size = sizeof fd;

  /* valgrind does not know that call. */
  if (fd < 0)
    g_assert_cmpint (getsockopt (raw->fd, SOL_SOCKET, SO_PEERPIDFD, &fd, &size), ==, 0);

  return fd;
}

static void
raw_set_up (Raw *raw)
{
  SbxInitMessage message = make_message (raw, SBX_INIT_SETUP);
  const SbxInitExpectationsHead head = { SBX_INIT_MAGIC, sizeof head, 0, 0 };
  SbxInitReport report;
  const int fds[2] = { hold_self (raw), make_memory (&head, sizeof head, ALL_SEALS) };

  g_assert_true (raw_receive (raw, &report));
  g_assert_cmpint (report.head.type, ==, SBX_INIT_HELLO);
  message.value = 1000;
  raw_send (raw, &message, sizeof message, fds, 2);
  message = make_message (raw, SBX_INIT_GO);
  raw_send (raw, &message, sizeof message, NULL, 0);
  g_assert_true (raw_receive (raw, &report));
  g_assert_cmpint (report.head.type, ==, SBX_INIT_READY);
  close (fds[0]);
  close (fds[1]);
}

static void
raw_free (Raw *raw)
{
  close (raw->fd);
  g_assert_true (g_subprocess_wait (raw->bwrap, NULL, NULL));
  g_object_unref (raw->bwrap);
  g_free (raw);
}

static GByteArray *
make_request (guint32     argc,
              guint32     envc,
              const char *strings,
              gsize       size)
{
  SbxInitRequestHead head = { SBX_INIT_MAGIC, (guint32) (sizeof head + size), argc, envc };
  GByteArray *request = g_byte_array_new ();

  g_byte_array_append (request, (const guint8 *) &head, sizeof head);
  g_byte_array_append (request, (const guint8 *) strings, (guint) size);
  return request;
}

/* Sends it, and expects that it is refused like this. */
static void
expect_refusal (Raw            *raw,
                SbxInitMessage *message,
                const int      *fds,
                gsize           n_fds,
                guint32         stage,
                int             error)
{
  SbxInitReport report;

  raw_send (raw, message, sizeof *message, fds, n_fds);
  g_assert_true (raw_receive (raw, &report));
  g_assert_cmpint (report.head.type, ==, SBX_INIT_ENDED);
  g_assert_cmpint (report.head.id, ==, message->head.id);
  g_assert_cmpint (report.kind, ==, SBX_INIT_ENDED_UNSTARTED);
  g_assert_cmpint (report.stage, ==, stage);
  g_assert_cmpint (report.value, ==, error);
}

static void
expect_that_it_works (Raw *raw)
{
  SbxInitMessage message = make_message (raw, SBX_INIT_EXEC);
  static const char strings[] = "/\0/bin/true";
  g_autoptr(GByteArray) request = make_request (1, 0, strings, sizeof strings);
  const int fd = make_memory (request->data, request->len, ALL_SEALS);
  SbxInitReport report;

  raw_send (raw, &message, sizeof message, &fd, 1);
  close (fd);
  g_assert_true (raw_receive (raw, &report));
  g_assert_cmpint (report.head.type, ==, SBX_INIT_STARTED);
  g_assert_true (raw_receive (raw, &report));
  g_assert_cmpint (report.head.type, ==, SBX_INIT_ENDED);
  g_assert_cmpint (report.head.id, ==, message.head.id);
  g_assert_cmpint (report.kind, ==, SBX_INIT_ENDED_EXITED);
}

#define TEXT(text) (text), sizeof (text)

static void
test_content (void)
{
  const struct
  {
    guint32     argc;
    guint32     envc;
    const char *strings;
    gsize       size;
  } cases[] = {
    { 0, 0, TEXT ("/\0/bin/true") },
    { 0, 1, TEXT ("/\0A=b") },
    { 1, 0, TEXT ("/") },
    { 1, 0, TEXT ("bin\0/bin/true") },
    { 1, 0, TEXT ("\0/bin/true") },
    { 2, 0, TEXT ("/\0/bin/true") },
    { 1, 1, TEXT ("/\0/bin/true") },
    { 1, 0, TEXT ("/\0/bin/true\0more") },
    { 1, 0, "/\0/bin/true", 8 },
    { 1, 0, "/", 1 },
    { 1, 0, "", 0 },
    { G_MAXUINT32, 0, TEXT ("/\0/bin/true") },
    { 1, G_MAXUINT32, TEXT ("/\0/bin/true") },
    { SBX_INIT_MAX_STRINGS, SBX_INIT_MAX_STRINGS, TEXT ("/\0/bin/true") },
    { SBX_INIT_MAX_STRINGS + 1, 0, TEXT ("/\0/bin/true") },
  };
  Raw *raw = raw_new ();

  g_test_summary ("A request whose counts and strings do not fit together is refused");
  raw_set_up (raw);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      SbxInitMessage message = make_message (raw, SBX_INIT_EXEC);
      g_autoptr(GByteArray) request = make_request (cases[i].argc, cases[i].envc, cases[i].strings,
                                                    cases[i].size);
      const int fd = make_memory (request->data, request->len, ALL_SEALS);

      g_test_message ("case %u", i);
      expect_refusal (raw, &message, &fd, 1, SBX_INIT_AT_REQUEST, EINVAL);
      close (fd);
    }

  expect_that_it_works (raw);
  raw_free (raw);
}

static void
test_memory (void)
{
  static const char strings[] = "/\0/bin/true";
  g_autoptr(GByteArray) good = make_request (1, 0, strings, sizeof strings);
  g_autoptr(GByteArray) magic = make_request (1, 0, strings, sizeof strings);
  g_autoptr(GByteArray) size = make_request (1, 0, strings, sizeof strings);
  g_autofree char *zeroes = g_malloc0 (SBX_INIT_MAX_REQUEST + 1);
  int fds[12], pipe_fds[2];
  guint n = 0;
  Raw *raw = raw_new ();

  g_test_summary ("A request that is no sealed memory file of the right size is refused");
  raw_set_up (raw);
  magic->data[0]++;
  size->data[4]++;

  fds[n++] = make_memory (good->data, good->len, 0);
  fds[n++] = make_memory (good->data, good->len, F_SEAL_SHRINK | F_SEAL_GROW);
  fds[n++] = make_memory (good->data, good->len, F_SEAL_SHRINK | F_SEAL_WRITE);
  fds[n++] = make_memory (good->data, good->len, F_SEAL_GROW | F_SEAL_WRITE);
  fds[n++] = make_memory (magic->data, magic->len, ALL_SEALS);
  fds[n++] = make_memory (size->data, size->len, ALL_SEALS);
  fds[n++] = make_memory (good->data, 15, ALL_SEALS);
  fds[n++] = make_memory ("", 0, ALL_SEALS);
  fds[n++] = make_memory (zeroes, SBX_INIT_MAX_REQUEST + 1, ALL_SEALS);
  fds[n++] = open ("/etc/passwd", O_RDONLY | O_CLOEXEC);
  fds[n++] = open ("/dev/zero", O_RDONLY | O_CLOEXEC);
  g_assert_cmpint (pipe2 (pipe_fds, O_CLOEXEC), ==, 0);
  fds[n++] = pipe_fds[0];
  close (pipe_fds[1]);

  for (guint i = 0; i < n; i++)
    {
      SbxInitMessage message = make_message (raw, SBX_INIT_EXEC);

      g_test_message ("case %u", i);
      expect_refusal (raw, &message, &fds[i], 1, SBX_INIT_AT_REQUEST, EINVAL);
      close (fds[i]);
    }

  expect_that_it_works (raw);
  raw_free (raw);
}

static void
test_flags (void)
{
  static const char strings[] = "/\0/bin/true";
  g_autoptr(GByteArray) request = make_request (1, 0, strings, sizeof strings);
  const int fd = make_memory (request->data, request->len, ALL_SEALS);
  const int fds[6] = { fd, fd, fd, fd, fd, fd };
  const struct
  {
    guint32 verb;
    guint32 flags;
    gsize   n_fds;
  } cases[] = {
    { SBX_INIT_N_VERBS, 0, 1 },
    { G_MAXUINT32, 0, 1 },
    { SBX_INIT_DO_EXEC, 0, 0 },
    { SBX_INIT_DO_EXEC, 0, 2 },
    { SBX_INIT_DO_EXEC, 7, 3 },
    { SBX_INIT_DO_EXEC, 7, 1 },
    { SBX_INIT_DO_EXEC, 32, 1 },
    { SBX_INIT_DO_EXEC, SBX_INIT_NOTIFY, 1 },
    { SBX_INIT_DO_EXEC, SBX_INIT_NOTIFY, 3 },
    { SBX_INIT_DO_STAT, SBX_INIT_NOTIFY, 2 },
    { SBX_INIT_DO_EXEC, SBX_INIT_TERMINAL | SBX_INIT_HAS_STDIN, 2 },
    { SBX_INIT_DO_STAT, SBX_INIT_TERMINAL, 1 },
    /* One argument, where there should be two. */
    { SBX_INIT_DO_READ_FILE, 0, 1 },
  };
  SbxInitMessage message;
  Raw *raw = raw_new ();

  g_test_summary ("A request whose flags and descriptors do not fit together is refused");
  raw_set_up (raw);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      message = make_message (raw, SBX_INIT_EXEC);
      message.verb = cases[i].verb;
      message.flags = cases[i].flags;
      g_test_message ("case %u", i);
      expect_refusal (raw, &message, fds, cases[i].n_fds, SBX_INIT_AT_REQUEST, EINVAL);
    }

  message = make_message (raw, SBX_INIT_EXEC);
  message.value = 1;
  expect_refusal (raw, &message, fds, 1, SBX_INIT_AT_REQUEST, EINVAL);

  /* More descriptors than any request has: the kernel cut them off. */
  message = make_message (raw, SBX_INIT_EXEC);
  message.flags = 7;
  expect_refusal (raw, &message, fds, 6, SBX_INIT_AT_RESOURCES, EMFILE);

  close (fd);
  expect_that_it_works (raw);
  raw_free (raw);
}

static void
test_passed_over (void)
{
  char large[1000] = "";
  SbxInitMessage message;
  int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  Raw *raw = raw_new ();

  g_test_summary ("What is no message or about nothing is passed over, and nothing is kept of it");
  raw_set_up (raw);

  for (guint i = 0; i < 300; i++)
    {
      raw_send (raw, large, 1 + i * 3, &fd, 1);

      message = make_message (raw, SBX_INIT_EXEC);
      message.head.version++;
      raw_send (raw, &message, sizeof message, &fd, 1);

      message = make_message (raw, (guint16) (i % 7 == SBX_INIT_CLOSE ? 99 : i % 7 + 3));
      message.head.id = 77;
      message.signal_number = i;
      if (message.head.type != SBX_INIT_CLOSE)
        raw_send (raw, &message, sizeof message, &fd, 1);
    }

  expect_that_it_works (raw);
  close (fd);
  raw_free (raw);
}

static void
test_twice (void)
{
  static const char strings[] = "/\0/bin/sleep\0" "60";
  g_autoptr(GByteArray) request = make_request (2, 0, strings, sizeof strings);
  const int fd = make_memory (request->data, request->len, ALL_SEALS);
  SbxInitReport report;
  SbxInitMessage message;
  Raw *raw = raw_new ();

  g_test_summary ("A number that is in use is refused");
  raw_set_up (raw);
  message = make_message (raw, SBX_INIT_EXEC);
  raw_send (raw, &message, sizeof message, &fd, 1);
  g_assert_true (raw_receive (raw, &report));
  g_assert_cmpint (report.head.type, ==, SBX_INIT_STARTED);
  expect_refusal (raw, &message, &fd, 1, SBX_INIT_AT_REQUEST, EEXIST);

  close (fd);
  expect_that_it_works (raw);
  raw_free (raw);
}

/* Setting up is all or nothing. */
static void
test_setup (void)
{
  static const char paths[] = "/usr";
  g_autofree char *zeroes = g_malloc0 (SBX_INIT_MAX_PATHS + 1);

  g_test_summary ("A set-up message that makes no sense is refused, and that is the end");

  for (guint i = 0; i < 9; i++)
    {
      Raw *raw = raw_new ();
      const SbxInitMessage go = make_message (raw, i == 8 ? SBX_INIT_END : SBX_INIT_GO);
      SbxInitMessage message = make_message (raw, SBX_INIT_SETUP);
      SbxInitExpectationsHead head = { SBX_INIT_MAGIC, sizeof head + sizeof paths, 1, 0 };
      g_autoptr(GByteArray) memory = g_byte_array_new ();
      int fds[2] = { hold_self (raw), -1 };
      gsize n_fds = 2;
      SbxInitReport report;

      head.n_paths += i == 0;
      head.size += i == 1;
      head.magic += i == 2;
      message.head.type = i == 3 ? SBX_INIT_EXEC : SBX_INIT_SETUP;
      message.head.version += i == 4;
      n_fds -= i == 5;
      g_byte_array_append (memory, (const guint8 *) &head, sizeof head);
      g_byte_array_append (memory, (const guint8 *) paths, sizeof paths - (i == 6));
      fds[1] = i == 7 ? make_memory (zeroes, SBX_INIT_MAX_PATHS + 1, ALL_SEALS)
                      : make_memory (memory->data, memory->len, ALL_SEALS);

      g_test_message ("case %u", i);
      g_assert_true (raw_receive (raw, &report));
      raw_send (raw, &message, sizeof message, fds, n_fds);
      raw_send (raw, &go, sizeof go, NULL, 0);
      while (!raw_receive (raw, &report))
        g_test_message ("mounts come first");
      g_assert_cmpint (report.head.type, ==, SBX_INIT_SETUP_FAILED);
      g_assert_cmpint (report.stage, ==, SBX_INIT_AT_REQUEST);
      g_assert_cmpint (report.value, ==, EPROTO);
      g_assert_cmpint (recv (raw->fd, &report, sizeof report, 0), <=, 0);

      close (fds[0]);
      close (fds[1]);
      raw_free (raw);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/init/requests/content", test_content);
  g_test_add_func ("/init/requests/memory", test_memory);
  g_test_add_func ("/init/requests/flags", test_flags);
  g_test_add_func ("/init/requests/passed-over", test_passed_over);
  g_test_add_func ("/init/requests/twice", test_twice);
  g_test_add_func ("/init/requests/setup", test_setup);

  return g_test_run ();
}
