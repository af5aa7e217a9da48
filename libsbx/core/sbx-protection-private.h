/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stdlib.h>
#include <string.h>

/*
 * Every protection that docs/security.md numbers is put in behind SBX_PROTECTS (row). In the
 * library that is installed this is the constant 1. The test build compiles everything a second
 * time with SBX_PROTECTION_SWITCHES, and a test run that names a row in SBX_UNPROTECT must then
 * fail: that shows that the protection is what makes the test pass. Nothing but libc is used, for
 * sbx-init.
 */
#ifdef SBX_PROTECTION_SWITCHES

static inline int
_sbx_protection_in_force (const char *row)
{
  const char *off = getenv ("SBX_UNPROTECT");
  const size_t length = strlen (row);

  while (off != NULL && *off != '\0')
    {
      if (strncmp (off, row, length) == 0 && (off[length] == '\0' || off[length] == ','))
        return 0;

      off = strchr (off, ',');
      if (off != NULL)
        off++;
    }

  return 1;
}

#define SBX_PROTECTS(row) (_sbx_protection_in_force (#row))

#else

#define SBX_PROTECTS(row) (1)

#endif
