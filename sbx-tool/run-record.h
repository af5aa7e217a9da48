/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "run-options.h"

#include <sbx.h>

G_BEGIN_DECLS

typedef struct _ToolRecord ToolRecord;

/* What is known when all is over. */
typedef struct
{
  SbxExecResult *result;        /* (nullable) none if the command never got that far */
  const char    *message;       /* (nullable) what was told to the user */
  const char    *session_id;    /* (nullable) */
  int            status;        /* the tool's own */
  gboolean       terminal;
  guint64        stdin_bytes;
  guint64        stdout_bytes;
  guint64        stderr_bytes;
} ToolRecordEnd;

ToolRecord *tool_record_open  (const char            *path,
                               GError               **error);
void        tool_record_start (ToolRecord            *self);
gboolean    tool_record_write (ToolRecord            *self,
                               const ToolRunOptions  *options,
                               const ToolRecordEnd   *end,
                               GError               **error);
void        tool_record_free  (ToolRecord            *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ToolRecord, tool_record_free)

G_END_DECLS
