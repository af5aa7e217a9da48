/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-denials-private.h"

#include "files/sbx-fd-private.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* Which arguments of a call name what. The numbers are those of this machine: programs of another
 * architecture do not run in a sandbox. */
typedef struct
{
  int         call;
  SbxBwrapTry what;
  int         directory;      /* -1: the working directory */
  int         path;
  int         flags;          /* those of open(), or -1 */
} Shape;

static const Shape shapes[] = {
#ifdef SYS_open
  { SYS_open, SBX_BWRAP_TRY_READ, -1, 0, 1 },
  { SYS_creat, SBX_BWRAP_TRY_CREATE, -1, 0, -1 },
  { SYS_mkdir, SBX_BWRAP_TRY_MAKE, -1, 0, -1 },
  { SYS_mknod, SBX_BWRAP_TRY_MAKE, -1, 0, -1 },
  { SYS_rmdir, SBX_BWRAP_TRY_REMOVE, -1, 0, -1 },
  { SYS_unlink, SBX_BWRAP_TRY_REMOVE, -1, 0, -1 },
  { SYS_rename, SBX_BWRAP_TRY_REMOVE, -1, 0, -1 },
  { SYS_rename, SBX_BWRAP_TRY_REPLACE, -1, 1, -1 },
  { SYS_link, SBX_BWRAP_TRY_MAKE, -1, 1, -1 },
  { SYS_symlink, SBX_BWRAP_TRY_MAKE, -1, 1, -1 },
  { SYS_chmod, SBX_BWRAP_TRY_WRITE, -1, 0, -1 },
  { SYS_chown, SBX_BWRAP_TRY_WRITE, -1, 0, -1 },
  { SYS_lchown, SBX_BWRAP_TRY_WRITE, -1, 0, -1 },
  { SYS_stat, SBX_BWRAP_TRY_READ, -1, 0, -1 },
  { SYS_lstat, SBX_BWRAP_TRY_READ, -1, 0, -1 },
  { SYS_access, SBX_BWRAP_TRY_READ, -1, 0, -1 },
#endif
#ifdef SYS_renameat
  { SYS_renameat, SBX_BWRAP_TRY_REMOVE, 0, 1, -1 },
  { SYS_renameat, SBX_BWRAP_TRY_REPLACE, 2, 3, -1 },
#endif
#ifdef SYS_newfstatat
  { SYS_newfstatat, SBX_BWRAP_TRY_READ, 0, 1, -1 },
#endif
  { SYS_openat, SBX_BWRAP_TRY_READ, 0, 1, 2 },
  { SYS_mkdirat, SBX_BWRAP_TRY_MAKE, 0, 1, -1 },
  { SYS_mknodat, SBX_BWRAP_TRY_MAKE, 0, 1, -1 },
  { SYS_unlinkat, SBX_BWRAP_TRY_REMOVE, 0, 1, -1 },
  { SYS_renameat2, SBX_BWRAP_TRY_REMOVE, 0, 1, -1 },
  { SYS_renameat2, SBX_BWRAP_TRY_REPLACE, 2, 3, -1 },
  { SYS_linkat, SBX_BWRAP_TRY_MAKE, 2, 3, -1 },
  { SYS_symlinkat, SBX_BWRAP_TRY_MAKE, 1, 2, -1 },
  { SYS_truncate, SBX_BWRAP_TRY_WRITE, -1, 0, -1 },
  { SYS_fchmodat, SBX_BWRAP_TRY_WRITE, 0, 1, -1 },
  { SYS_fchownat, SBX_BWRAP_TRY_WRITE, 0, 1, -1 },
  { SYS_faccessat, SBX_BWRAP_TRY_READ, 0, 1, -1 },
  { SYS_statx, SBX_BWRAP_TRY_READ, 0, 1, -1 },
  { SYS_chdir, SBX_BWRAP_TRY_READ, -1, 0, -1 },
  { SYS_execve, SBX_BWRAP_TRY_READ, -1, 0, -1 },
  { SYS_execveat, SBX_BWRAP_TRY_READ, 0, 1, -1 },
};

/* What is there up to @size bytes; it may be less. The caller's memory may end anywhere, and be
 * something else at any time. */
static gsize
read_memory (pid_t    pid,
             guint64  address,
             void    *data,
             gsize    size)
{
  char path[64];
  sbx_autofd int fd = -1;
  gssize n;

  if (address == 0 || address > G_MAXINT64)
    return 0;

  g_snprintf (path, sizeof path, "/proc/%d/mem", (int) pid);
  fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return 0;

  n = pread (fd, data, size, (off_t) address);
  return n > 0 ? (gsize) n : 0;
}

/* Where @directory of @pid is: a descriptor, or AT_FDCWD. As it is called inside. */
static char *
read_directory (pid_t pid,
                int   directory)
{
  char link[64];
  char target[PATH_MAX];
  gssize n;

  if (directory == AT_FDCWD)
    g_snprintf (link, sizeof link, "/proc/%d/cwd", (int) pid);
  else
    g_snprintf (link, sizeof link, "/proc/%d/fd/%d", (int) pid, directory);

  n = readlink (link, target, sizeof target - 1);
  if (n <= 0 || target[0] != '/')
    return NULL;

  return g_strndup (target, (gsize) n);
}

/* @path is any bytes, relative or not. */
static char *
make_absolute (pid_t       pid,
               int         directory,
               const char *path)
{
  g_autofree char *base = NULL;

  if (*path == '\0')
    return NULL;

  if (*path != '/')
    {
      base = read_directory (pid, directory);
      if (base == NULL)
        return NULL;
    }

  return g_canonicalize_filename (path, base != NULL ? base : "/");
}

static char *
read_path (const struct seccomp_notif *call,
           int                         directory,
           int                         argument)
{
  char path[PATH_MAX];
  const gsize n = read_memory ((pid_t) call->pid, call->data.args[argument], path, sizeof path);

  /* The kernel takes no longer ones. */
  if (n == 0 || memchr (path, '\0', n) == NULL)
    return NULL;

  return make_absolute ((pid_t) call->pid,
                        directory < 0 ? AT_FDCWD : (int) call->data.args[directory], path);
}

static SbxBwrapTry
read_flags (SbxBwrapTry what,
            guint64     flags)
{
  const int tmpfile = O_TMPFILE & ~O_DIRECTORY;

  if ((flags & O_PATH) != 0)
    return what;
  if ((flags & O_CREAT) != 0)
    return (flags & O_EXCL) != 0 ? SBX_BWRAP_TRY_MAKE
           : (flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0 ? SBX_BWRAP_TRY_CREATE
           : what;
  if ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_TRUNC | tmpfile)) != 0)
    return SBX_BWRAP_TRY_WRITE;

  return what;
}

static char *
show_address (int         family,
              const void *address,
              guint16     port)
{
  char text[INET6_ADDRSTRLEN];

  if (inet_ntop (family, address, text, sizeof text) == NULL)
    return NULL;

  return g_strdup_printf (family == AF_INET6 ? "[%s]:%u" : "%s:%u", text, g_ntohs (port));
}

/* NULL for what stays within the sandbox. */
static char *
read_internet (const struct sockaddr_storage *address,
               gsize                          size)
{
  if (address->ss_family == AF_INET && size >= sizeof (struct sockaddr_in))
    {
      const struct sockaddr_in *in = (gconstpointer) address;
      const guint32 host = g_ntohl (in->sin_addr.s_addr);

      if (host >> 24 == 127 || host == INADDR_ANY)
        return NULL;

      return show_address (AF_INET, &in->sin_addr, in->sin_port);
    }

  if (address->ss_family == AF_INET6 && size >= offsetof (struct sockaddr_in6, sin6_scope_id))
    {
      const struct sockaddr_in6 *in6 = (gconstpointer) address;

      if (IN6_IS_ADDR_LOOPBACK (&in6->sin6_addr) || IN6_IS_ADDR_UNSPECIFIED (&in6->sin6_addr) ||
          (IN6_IS_ADDR_V4MAPPED (&in6->sin6_addr) && in6->sin6_addr.s6_addr[12] == 127))
        return NULL;

      return show_address (AF_INET6, &in6->sin6_addr, in6->sin6_port);
    }

  return NULL;
}

/* Sockets without a name on disk are the sandbox's own. */
static char *
read_unix (pid_t                          pid,
           const struct sockaddr_storage *address,
           gsize                          size)
{
  const gsize start = offsetof (struct sockaddr_un, sun_path);
  g_autofree char *path = NULL;

  if (size <= start || ((const struct sockaddr_un *) (gconstpointer) address)->sun_path[0] == '\0')
    return NULL;

  path = g_strndup (((const struct sockaddr_un *) (gconstpointer) address)->sun_path,
                    MIN (size - start, sizeof ((struct sockaddr_un *) NULL)->sun_path));

  return make_absolute (pid, AT_FDCWD, path);
}

static guint
decode_address (const struct seccomp_notif *call,
                SbxBwrapTried              *tried)
{
  struct sockaddr_storage address = { 0 };
  gsize size = MIN (call->data.args[2] & G_MAXUINT32, sizeof address);

  size = MIN (size, read_memory ((pid_t) call->pid, call->data.args[1], &address, size));
  if (size < sizeof address.ss_family)
    return 0;

  if (address.ss_family == AF_UNIX)
    {
      tried->what = call->data.nr == SYS_bind ? SBX_BWRAP_TRY_MAKE : SBX_BWRAP_TRY_CONNECT;
      tried->path = read_unix ((pid_t) call->pid, &address, size);
    }
  else
    {
      tried->what = SBX_BWRAP_TRY_NETWORK;
      tried->path = call->data.nr == SYS_bind ? NULL : read_internet (&address, size);
    }

  return tried->path != NULL;
}

guint
_sbx_bwrap_denials_decode (const struct seccomp_notif *call,
                           SbxBwrapTried               tried[])
{
  guint n = 0;

  if (call->data.nr == SYS_connect || call->data.nr == SYS_bind)
    return decode_address (call, tried);

  for (gsize i = 0; i < G_N_ELEMENTS (shapes) && n < SBX_BWRAP_MAX_TRIED; i++)
    {
      const Shape *shape = &shapes[i];

      if (shape->call != call->data.nr)
        continue;

      tried[n].what = shape->flags < 0 ? shape->what
                                       : read_flags (shape->what, call->data.args[shape->flags]);
      tried[n].path = read_path (call, shape->directory, shape->path);
      if (tried[n].path != NULL)
        n++;
    }

  return n;
}
