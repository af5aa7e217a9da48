/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-types.h"

G_BEGIN_DECLS

/**
 * SbxStdin:
 * @SBX_STDIN_NULL: the command finds the end of its input at once
 * @SBX_STDIN_BYTES: the command reads the bytes given by [method@Command.set_stdin_bytes]
 * @SBX_STDIN_PIPE: the command reads what is written to [method@Process.get_stdin_pipe]
 *
 * What a command finds on its standard input.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_STDIN_NULL,
  SBX_STDIN_BYTES,
  SBX_STDIN_PIPE,
} SbxStdin;

#define SBX_TYPE_COMMAND (sbx_command_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxCommand, sbx_command, SBX, COMMAND, GObject)

/**
 * SBX_COMMAND_DEFAULT_COLLECT_LIMIT:
 *
 * How many bytes of each of standard output and standard error a result keeps: 16 MiB.
 *
 * Since: 1.0
 */
#define SBX_COMMAND_DEFAULT_COLLECT_LIMIT (16 * 1024 * 1024)

SBX_AVAILABLE_IN_1_0
SbxCommand         *sbx_command_new               (const char * const  *argv);
SBX_AVAILABLE_IN_1_0
SbxCommand         *sbx_command_copy              (SbxCommand          *self);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_command_get_argv          (SbxCommand          *self);
SBX_AVAILABLE_IN_1_0
void                sbx_command_set_cwd           (SbxCommand          *self,
                                                   const char          *cwd);
SBX_AVAILABLE_IN_1_0
const char         *sbx_command_get_cwd           (SbxCommand          *self);
SBX_AVAILABLE_IN_1_0
void                sbx_command_set_variable      (SbxCommand          *self,
                                                   const char          *name,
                                                   const char          *value);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_command_get_environment   (SbxCommand          *self);
SBX_AVAILABLE_IN_1_0
void                sbx_command_set_stdin_bytes   (SbxCommand          *self,
                                                   GBytes              *bytes);
SBX_AVAILABLE_IN_1_0
GBytes             *sbx_command_get_stdin_bytes   (SbxCommand          *self);
SBX_AVAILABLE_IN_1_0
void                sbx_command_set_stdin         (SbxCommand          *self,
                                                   SbxStdin             stdin_source);
SBX_AVAILABLE_IN_1_0
SbxStdin            sbx_command_get_stdin         (SbxCommand          *self);
SBX_AVAILABLE_IN_1_0
void                sbx_command_set_timeout       (SbxCommand          *self,
                                                   guint                timeout_ms);
SBX_AVAILABLE_IN_1_0
guint               sbx_command_get_timeout       (SbxCommand          *self);
SBX_AVAILABLE_IN_1_0
void                sbx_command_set_terminal      (SbxCommand          *self,
                                                   gboolean             terminal);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_command_get_terminal      (SbxCommand          *self);
SBX_AVAILABLE_IN_1_0
void                sbx_command_set_terminal_size (SbxCommand          *self,
                                                   guint                rows,
                                                   guint                columns);
SBX_AVAILABLE_IN_1_0
guint               sbx_command_get_rows          (SbxCommand          *self);
SBX_AVAILABLE_IN_1_0
guint               sbx_command_get_columns       (SbxCommand          *self);
SBX_AVAILABLE_IN_1_0
void                sbx_command_set_collect_limit (SbxCommand          *self,
                                                   guint64              limit);
SBX_AVAILABLE_IN_1_0
guint64             sbx_command_get_collect_limit (SbxCommand          *self);
SBX_AVAILABLE_IN_1_0
void                sbx_command_set_watch_denials (SbxCommand          *self,
                                                   gboolean             watch_denials);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_command_get_watch_denials (SbxCommand          *self);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_command_validate          (SbxCommand          *self,
                                                   GError             **error);

G_END_DECLS
