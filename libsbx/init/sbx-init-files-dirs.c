/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-init-files-private.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
_sbx_init_create_dirs (const char *path)
{
  return _sbx_init_make_dirs (AT_FDCWD, path);
}

/* A prefix with a slash in it says where; else it is where temporary files are. */
int
_sbx_init_create_temp_dir (const SbxInitRequest *request)
{
  static char path[PATH_MAX];
  const char *prefix = request->argv[0];
  const char *directory = _sbx_init_get_variable (request->environment, "TMPDIR");
  const char *between = "/";
  int n;

  if (directory == NULL || directory[0] != '/')
    directory = "/tmp";

  if (prefix[0] == '/')
    directory = between = "";
  else if (strchr (prefix, '/') != NULL)
    directory = request->cwd;

  n = snprintf (path, sizeof path, "%s%s%sXXXXXX", directory, between, prefix);
  if (n < 0 || (size_t) n >= sizeof path)
    return ENAMETOOLONG;

  if (mkdtemp (path) == NULL)
    return errno;

  return _sbx_init_write_all (STDOUT_FILENO, path, (size_t) n);
}
