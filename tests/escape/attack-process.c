/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define DESCRIPTORS_IN_A_MESSAGE 253

/* Each descriptor: its number, kind, device and inode. To a file: where standard output leads is
 * what is in question. */
static int
descriptors (int    argc,
             char **argv)
{
  DIR *dir = opendir ("/proc/self/fd");
  const struct dirent *entry;
  FILE *file = argc == 1 ? fopen (argv[0], "we") : NULL;

  if (file == NULL)
    return 1;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    {
      struct stat st;
      const int fd = parse_number (entry->d_name);

      if (entry->d_name[0] == '.' || fd == dirfd (dir) || fd == fileno (file) ||
          fstat (fd, &st) < 0)
        continue;

      fprintf (file, "fd %d %o %llu:%llu\n", fd, st.st_mode & S_IFMT,
               (unsigned long long) st.st_dev, (unsigned long long) st.st_ino);
    }

  fprintf (file, "end 0\n");
  return fclose (file) != 0;
}

static void
try_file_of (const char *pid,
             const char *name,
             int         flags)
{
  char path[64];
  char label[64];
  char byte;
  int fd;

  snprintf (path, sizeof path, "/proc/%s/%s", pid, name);
  snprintf (label, sizeof label, "%s%s", name, (flags & O_ACCMODE) == O_RDONLY ? "" : "-write");
  fd = open (path, flags | O_CLOEXEC);

  /* Some can be opened by everybody and read by nobody. */
  if (fd >= 0 && (flags & (O_DIRECTORY | O_ACCMODE)) == O_RDONLY && read (fd, &byte, 1) < 0)
    fd = -1;

  report (label, fd);
}

/* Ways into a process that is protected; the test names process 1 and the supervisor. */
static int
enter (int    argc,
       char **argv)
{
  const char *which = argc == 1 ? argv[0] : "1";
  const pid_t pid = strcmp (which, "supervisor") == 0 ? getppid () : 1;
  const int pidfd = (int) syscall (SYS_pidfd_open, pid, 0);
  char number[16];
  char target[64];
  char room[64];
  struct iovec ours = { room, sizeof room };
  struct iovec theirs = { (void *) 0x400000, sizeof room };

  snprintf (number, sizeof number, "%d", (int) pid);
  try_file_of (number, "fd", O_RDONLY | O_DIRECTORY);
  try_file_of (number, "fd/3", O_RDONLY);
  try_file_of (number, "root/etc", O_RDONLY | O_DIRECTORY);
  try_file_of (number, "cwd/etc", O_RDONLY | O_DIRECTORY);
  try_file_of (number, "exe", O_RDONLY);
  try_file_of (number, "exe", O_WRONLY);
  try_file_of (number, "mem", O_RDONLY);
  try_file_of (number, "mem", O_RDWR);
  try_file_of (number, "environ", O_RDONLY);
  try_file_of (number, "maps", O_RDONLY);
  snprintf (target, sizeof target, "/proc/%s/ns/mnt", number);
  report ("ns", readlink (target, room, sizeof room));
  report ("pidfd", pidfd);
  report ("pidfd-getfd", syscall (SYS_pidfd_getfd, pidfd, 3, 0));
  report ("vm-readv", process_vm_readv (pid, &ours, 1, &theirs, 1, 0));
  report ("ptrace-attach", ptrace (PTRACE_ATTACH, pid, NULL, NULL));
  report ("ptrace-seize", ptrace (PTRACE_SEIZE, pid, NULL, NULL));
  return 0;
}

/* A debugger's work on its own child stays possible. */
static int
debug_child (int    argc,
             char **argv)
{
  const pid_t pid = fork ();
  int how;

  if (pid == 0)
    {
      ptrace (PTRACE_TRACEME, 0, NULL, NULL);
      raise (SIGSTOP);
      _exit (7);
    }

  waitpid (pid, &how, 0);
  report_value ("stopped", WIFSTOPPED (how));
  report ("continue", ptrace (PTRACE_CONT, pid, NULL, NULL));
  waitpid (pid, &how, 0);
  report_value ("status", WIFEXITED (how) ? WEXITSTATUS (how) : -1);
  return 0;
}

/* Each process that can be seen, by its number here. */
static int
processes (int    argc,
           char **argv)
{
  DIR *dir = opendir ("/proc");
  const struct dirent *entry;
  long n = 0;
  long n_strangers = 0;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    {
      const pid_t pid = parse_number (entry->d_name);

      if (pid <= 0)
        continue;

      n++;
      n_strangers += pid != 1 && pid != getpid () && pid != getppid ();
    }

  report_value ("processes", n);
  report_value ("strangers", n_strangers);

  for (int i = 0; i < argc; i++)
    report (argv[i], kill (parse_number (argv[i]), 0));

  return 0;
}

static int
kill_one (int    argc,
          char **argv)
{
  report ("kill", kill (1, SIGKILL));
  report ("stop", kill (1, SIGSTOP));
  report ("term", kill (1, SIGTERM));
  report ("segv", kill (1, SIGSEGV));
  return 0;
}

static int
limits (int    argc,
        char **argv)
{
  struct rlimit limit;
  char filter[32] = "";
  const int fd = open ("/proc/self/coredump_filter", O_RDONLY | O_CLOEXEC);

  getrlimit (RLIMIT_CORE, &limit);
  report_value ("core", (long) limit.rlim_cur);
  report_value ("core-max", (long) limit.rlim_max);

  /* What a limit of 1 keeps away, one of 0 would let through. */
  limit.rlim_cur = 0;
  setrlimit (RLIMIT_CORE, &limit);
  getrlimit (RLIMIT_CORE, &limit);
  report_value ("core-lowered", (long) limit.rlim_cur);
  if (fd >= 0 && read (fd, filter, sizeof filter - 1) > 0)
    report_value ("dump-filter", strtol (filter, NULL, 16));
  getrlimit (RLIMIT_NOFILE, &limit);
  report_value ("files", (long) limit.rlim_cur);
  report_value ("files-max", (long) limit.rlim_max);
  return 0;
}

/* Sends itself descriptors that it never takes out, until it may send no more. */
static long
flood_with_descriptors (void)
{
  union
  {
    struct cmsghdr head;
    char           room[CMSG_SPACE (DESCRIPTORS_IN_A_MESSAGE * sizeof (int))];
  } control = { 0 };
  char byte = 0;
  struct iovec vector = { &byte, 1 };
  struct msghdr message = {
    .msg_iov = &vector,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control,
  };
  int many[DESCRIPTORS_IN_A_MESSAGE];
  long n_sent = 0;
  int sockets[2];

  for (size_t i = 0; i < DESCRIPTORS_IN_A_MESSAGE; i++)
    many[i] = 0;
  control.head.cmsg_level = SOL_SOCKET;
  control.head.cmsg_type = SCM_RIGHTS;
  control.head.cmsg_len = CMSG_LEN (sizeof many);
  memcpy (CMSG_DATA (&control.head), many, sizeof many);

  while (n_sent < 100000 && socketpair (AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) == 0)
    {
      while (n_sent < 100000 && sendmsg (sockets[0], &message, MSG_NOSIGNAL) > 0)
        n_sent += DESCRIPTORS_IN_A_MESSAGE;
      if (errno != EAGAIN)
        break;
    }

  return n_sent;
}

static void
take_all_descriptors (void)
{
  struct rlimit limit;

  getrlimit (RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit (RLIMIT_NOFILE, &limit);
}

static int
flood (int    argc,
       char **argv)
{
  take_all_descriptors ();
  report_value ("sent", flood_with_descriptors ());
  return hold ();
}

static int
large_pipes (int    argc,
             char **argv)
{
  long n_large = 0;

  for (int i = 0; i < 64; i++)
    {
      int ends[2];

      if (pipe (ends) == 0 && fcntl (ends[1], F_SETPIPE_SZ, 1024 * 1024) > 65536)
        n_large++;
    }

  report_value ("large-pipes", n_large);
  return hold ();
}

static int
window (int    argc,
        char **argv)
{
  struct winsize size = { 0 };
  unsigned int number = 0;

  report ("size", ioctl (0, TIOCGWINSZ, &size));
  report_value ("rows", size.ws_row);
  report_value ("columns", size.ws_col);
  if (sscanf (ttyname (0), "/dev/pts/%u", &number) == 1)
    report_value ("number", number);
  return hold ();
}

static int
hold_on (int    argc,
         char **argv)
{
  return hold ();
}

static int
crash (int    argc,
       char **argv)
{
  abort ();
}

const AttackMode attack_process_modes[] = {
  { "descriptors", descriptors },
  { "enter", enter },
  { "debug-child", debug_child },
  { "processes", processes },
  { "kill-one", kill_one },
  { "limits", limits },
  { "flood", flood },
  { "large-pipes", large_pipes },
  { "window", window },
  { "hold", hold_on },
  { "crash", crash },
  { NULL, NULL }
};
