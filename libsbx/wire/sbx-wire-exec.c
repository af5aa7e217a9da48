/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-exec-private.h"

#include <string.h>

static const struct
{
  SbxNotStarted  kind;
  const char    *name;
} kinds[] = {
  { SBX_NOT_STARTED_OTHER, "other" },
  { SBX_NOT_STARTED_NOT_FOUND, "not_found" },
  { SBX_NOT_STARTED_NOT_EXECUTABLE, "not_executable" },
  { SBX_NOT_STARTED_BAD_CWD, "bad_cwd" },
  { SBX_NOT_STARTED_TOO_LARGE, "too_large" },
  { SBX_NOT_STARTED_RESOURCES, "resources" },
};

const char *
_sbx_wire_not_started_to_name (SbxNotStarted kind)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (kinds[i].kind == kind)
      return kinds[i].name;

  return kinds[0].name;
}

SbxNotStarted
_sbx_wire_not_started_from_name (const char *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].name, name))
      return kinds[i].kind;

  return SBX_NOT_STARTED_OTHER;
}

void
_sbx_wire_exec_end_clear (SbxWireExecEnd *self)
{
  g_clear_pointer (&self->message, g_free);
  g_clear_pointer (&self->stdout_bytes, g_bytes_unref);
  g_clear_pointer (&self->stderr_bytes, g_bytes_unref);
  memset (self, 0, sizeof *self);
}
