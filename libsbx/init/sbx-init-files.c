/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-init-private.h"

bool
_sbx_init_file_verb_known (uint32_t verb,
                           uint32_t argc)
{
  return false;
}

int
_sbx_init_file_verb (const SbxInitRequest *request)
{
  return ENOSYS;
}
