/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define CORE_PATTERN "/proc/sys/kernel/core_pattern"

static long n_files;
static long n_writable;

static int
is_readable_inside (const char *path)
{
  char byte;
  const int fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const int readable = fd >= 0 && read (fd, &byte, 1) == 1;

  if (fd >= 0)
    close (fd);

  return readable;
}

static int
look_at_setting (const char        *path,
                 const struct stat *st,
                 int                kind,
                 struct FTW        *where)
{
  if (kind != FTW_F)
    return 0;

  n_files++;
  if (faccessat (AT_FDCWD, path, W_OK, AT_EACCESS) == 0)
    n_writable++;

  return 0;
}

/* Writes nothing that was not there before, should it get so far. */
static int
settings (int    argc,
          char **argv)
{
  struct statvfs place = { 0 };
  char pattern[512];
  int fd = open (CORE_PATTERN, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd >= 0 ? read (fd, pattern, sizeof pattern) : -1;

  report ("read-core-pattern", n);
  fd = open (CORE_PATTERN, O_WRONLY | O_CLOEXEC);
  if (report ("open-core-pattern", fd) >= 0 && n > 0)
    report ("write-core-pattern", write (fd, pattern, (size_t) n));

  report ("open-sysrq-trigger", open ("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC));

  report ("look", statvfs ("/proc/sys", &place));
  report_value ("read-only", (place.f_flag & ST_RDONLY) != 0);
  nftw ("/proc/sys", look_at_setting, 32, FTW_PHYS | FTW_MOUNT);
  report_value ("settings", n_files);
  report_value ("writable-settings", n_writable);
  return 0;
}

/* What of /proc is not about a process. */
static int
look_at_proc (const char        *path,
              const struct stat *st,
              int                kind,
              struct FTW        *where)
{
  const char *rest = path + strlen ("/proc/");

  if (kind == FTW_D && where->level == 1 && *rest >= '0' && *rest <= '9')
    return FTW_SKIP_SUBTREE;

  if (kind != FTW_F)
    return 0;

  n_files++;

  /* What was put over a file to hide it is a device that cannot be opened. */
  if (S_ISREG (st->st_mode) ? faccessat (AT_FDCWD, path, W_OK, AT_EACCESS) == 0
                            : open (path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) >= 0)
    report_text ("writable", path);
  if ((st->st_mode & S_IROTH) == 0 && is_readable_inside (path))
    report_text ("private", path);

  return 0;
}

static int
proc (int    argc,
      char **argv)
{
  nftw ("/proc", look_at_proc, 32, FTW_PHYS | FTW_ACTIONRETVAL);
  report_value ("files", n_files);

  for (int i = 0; i < argc; i++)
    report_value (argv[i], is_readable_inside (argv[i]));

  return 0;
}

/* Each name, and how opening it went; a directory or a file. */
static int
open_each (int    argc,
           char **argv)
{
  for (int i = 0; i < argc; i++)
    report (argv[i], open (argv[i], O_RDONLY | O_NONBLOCK | O_CLOEXEC));

  return 0;
}

static int
create_each (int    argc,
             char **argv)
{
  for (int i = 0; i < argc; i++)
    {
      char path[4096];

      snprintf (path, sizeof path, "%s/planted", argv[i]);
      report (argv[i], open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    }

  return 0;
}

/* Every way to get a set-user-ID or set-group-ID file into the directory. */
static int
set_id (int    argc,
        char **argv)
{
  struct open_how how = { .flags = O_CREAT | O_WRONLY, .mode = 04755 };
  int fd;

  if (argc != 1 || chdir (argv[0]) < 0)
    return 2;

  umask (0);
  fd = open ("plain", O_CREAT | O_RDWR | O_CLOEXEC, 0755);
  report ("plain", fd);
  report ("chmod-plain", chmod ("plain", 0700));
  report ("chmod", chmod ("plain", 04755));
  report ("chmod-group", chmod ("plain", 02755));
  report ("fchmod", fchmod (fd, 04755));
  report ("fchmodat", (int) syscall (SYS_fchmodat, AT_FDCWD, "plain", 04755));
  report ("fchmodat2", (int) syscall (452, AT_FDCWD, "plain", 04755, 0));
  report ("fchmodat2-empty", (int) syscall (452, fd, "", 02755, 0x1000 /* AT_EMPTY_PATH */));
  report ("open", (int) syscall (SYS_open, "opened", O_CREAT | O_WRONLY, 04755));
  report ("openat", openat (AT_FDCWD, "opened-at", O_CREAT | O_WRONLY, 02755));
  report ("creat", (int) syscall (SYS_creat, "created", 04755));
  report ("openat2", (int) syscall (SYS_openat2, AT_FDCWD, "opened-2", &how, sizeof how));
  report ("mknod", mknod ("node", S_IFREG | 04755, 0));
  report ("mkdir", mkdir ("directory", 02755));

  fd = open (".", O_TMPFILE | O_RDWR | O_CLOEXEC, 04755);
  report ("tmpfile", fd);
  if (fd >= 0)
    {
      char path[64];

      snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
      report ("tmpfile-link", linkat (AT_FDCWD, path, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW));
    }

  return 0;
}

static int
connect_to (int    argc,
            char **argv)
{
  for (int i = 0; i < argc; i++)
    {
      struct sockaddr_un address = { .sun_family = AF_UNIX };
      const size_t length = strlen (argv[i]);
      const int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

      memcpy (address.sun_path, argv[i], length);
      if (argv[i][0] == '@')
        address.sun_path[0] = '\0';

      report (argv[i], connect (fd, (struct sockaddr *) &address,
                                (socklen_t) (offsetof (struct sockaddr_un, sun_path) + length)));
    }

  return 0;
}

/* A tree that a naive delete goes wrong in: links out, directories that cannot be listed, and names
 * that are longer together than a path may be. */
static int
trap_tree (int    argc,
           char **argv)
{
  char name[201];

  if (argc != 2 || chdir (argv[0]) < 0)
    return 2;

  report ("link", symlink (argv[1], "link"));
  report ("locked", mkdir ("locked", 0700));
  report ("inner", open ("locked/inner", O_CREAT | O_WRONLY, 0600));
  report ("link-inside", symlink (argv[1], "locked/link"));
  report ("chmod", chmod ("locked", 0));
  report ("fifo", mkfifo ("fifo", 0600));

  memset (name, 'd', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  for (int i = 0; i < 50; i++)
    if (mkdir (name, 0700) < 0 || chdir (name) < 0)
      return 3;

  report ("deep-link", symlink (argv[1], "link"));
  return 0;
}

const AttackMode attack_files_modes[] = {
  { "settings", settings },
  { "proc", proc },
  { "open", open_each },
  { "create", create_each },
  { "set-id", set_id },
  { "connect", connect_to },
  { "trap-tree", trap_tree },
  { NULL, NULL }
};
