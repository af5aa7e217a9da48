/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-errno-private.h"

#include <errno.h>

/* What BSD says of a FIFO where a file is wanted. Linux has no number of its own for it. */
#define NOT_REGULAR "EFTYPE"

#define NAMED(number) { #number, number }

static const struct
{
  const char *name;
  int         number;
} numbers[] = {
  NAMED (EPERM), NAMED (ENOENT), NAMED (ESRCH), NAMED (EINTR), NAMED (EIO), NAMED (ENXIO),
  NAMED (E2BIG), NAMED (ENOEXEC), NAMED (EBADF), NAMED (ECHILD), NAMED (EAGAIN), NAMED (ENOMEM),
  NAMED (EACCES), NAMED (EFAULT), NAMED (ENOTBLK), NAMED (EBUSY), NAMED (EEXIST), NAMED (EXDEV),
  NAMED (ENODEV), NAMED (ENOTDIR), NAMED (EISDIR), NAMED (EINVAL), NAMED (ENFILE), NAMED (EMFILE),
  NAMED (ENOTTY), NAMED (ETXTBSY), NAMED (EFBIG), NAMED (ENOSPC), NAMED (ESPIPE), NAMED (EROFS),
  NAMED (EMLINK), NAMED (EPIPE), NAMED (EDEADLK), NAMED (ENAMETOOLONG), NAMED (ENOLCK),
  NAMED (ENOSYS), NAMED (ENOTEMPTY), NAMED (ELOOP), NAMED (EPROTO), NAMED (EOVERFLOW),
  NAMED (EILSEQ), NAMED (EUSERS), NAMED (EOPNOTSUPP), NAMED (ENOTSUP), NAMED (ECONNREFUSED),
  NAMED (ECONNRESET), NAMED (ENOTCONN), NAMED (EHOSTUNREACH), NAMED (ENETUNREACH),
  NAMED (EADDRINUSE), NAMED (ETIMEDOUT), NAMED (EALREADY), NAMED (EINPROGRESS), NAMED (ESTALE),
  NAMED (EDQUOT), NAMED (ENODATA), NAMED (ELIBBAD), NAMED (EREMOTEIO),
};

/* The other way round g_io_error_from_errno() has to be read backwards, which is not unique. */
static const struct
{
  GIOErrorEnum  code;
  const char   *name;
} codes[] = {
  { G_IO_ERROR_NOT_FOUND, "ENOENT" },
  { G_IO_ERROR_EXISTS, "EEXIST" },
  { G_IO_ERROR_IS_DIRECTORY, "EISDIR" },
  { G_IO_ERROR_NOT_DIRECTORY, "ENOTDIR" },
  { G_IO_ERROR_NOT_EMPTY, "ENOTEMPTY" },
  { G_IO_ERROR_NOT_REGULAR_FILE, NOT_REGULAR },
  { G_IO_ERROR_FILENAME_TOO_LONG, "ENAMETOOLONG" },
  { G_IO_ERROR_INVALID_FILENAME, "EILSEQ" },
  { G_IO_ERROR_TOO_MANY_LINKS, "ELOOP" },
  { G_IO_ERROR_NO_SPACE, "ENOSPC" },
  { G_IO_ERROR_INVALID_ARGUMENT, "EINVAL" },
  { G_IO_ERROR_PERMISSION_DENIED, "EACCES" },
  { G_IO_ERROR_NOT_SUPPORTED, "ENOTSUP" },
  { G_IO_ERROR_READ_ONLY, "EROFS" },
  { G_IO_ERROR_TIMED_OUT, "ETIMEDOUT" },
  { G_IO_ERROR_BUSY, "EBUSY" },
  { G_IO_ERROR_WOULD_BLOCK, "EAGAIN" },
  { G_IO_ERROR_TOO_MANY_OPEN_FILES, "EMFILE" },
  { G_IO_ERROR_BROKEN_PIPE, "EPIPE" },
  { G_IO_ERROR_NOT_CONNECTED, "ENOTCONN" },
  { G_IO_ERROR_CONNECTION_REFUSED, "ECONNREFUSED" },
  /* For all that GLib has no code for. */
  { G_IO_ERROR_FAILED, "EIO" },
};

int
_sbx_wire_errno_from_name (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (g_str_equal (numbers[i].name, name))
      return numbers[i].number;

  return 0;
}

const char *
_sbx_wire_errno_to_name (int number)
{
  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (numbers[i].number == number)
      return numbers[i].name;

  return NULL;
}

gboolean
_sbx_wire_errno_is_known (const char *name)
{
  return _sbx_wire_errno_from_name (name) != 0 || g_str_equal (name, NOT_REGULAR);
}

GIOErrorEnum
_sbx_wire_errno_to_io_error (const char *name)
{
  const int number = _sbx_wire_errno_from_name (name);

  /* Where the two ways differ, ours is the one that comes back as it went. */
  for (gsize i = 0; i < G_N_ELEMENTS (codes); i++)
    if (g_str_equal (codes[i].name, name))
      return codes[i].code;

  return number != 0 ? g_io_error_from_errno (number) : G_IO_ERROR_FAILED;
}

const char *
_sbx_wire_errno_of_io_error (GIOErrorEnum code)
{
  for (gsize i = 0; i < G_N_ELEMENTS (codes); i++)
    if (codes[i].code == code)
      return codes[i].name;

  return NULL;
}
