/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-capabilities.h"
#include "core/sbx-plan.h"
#include "core/sbx-types.h"

G_BEGIN_DECLS

/**
 * SbxSessionState:
 * @SBX_SESSION_STATE_OPEN: commands can be run
 * @SBX_SESSION_STATE_CLOSING: the sandbox is being ended
 * @SBX_SESSION_STATE_CLOSED: the sandbox was ended as it was asked to be; this is final
 * @SBX_SESSION_STATE_LOST: the sandbox ended by itself, or broke its promises; this is final
 *
 * Where a session is in its life.
 *
 * A session only ever moves down this list.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_SESSION_STATE_OPEN,
  SBX_SESSION_STATE_CLOSING,
  SBX_SESSION_STATE_CLOSED,
  SBX_SESSION_STATE_LOST,
} SbxSessionState;

#define SBX_TYPE_SESSION (sbx_session_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_DERIVABLE_TYPE (SbxSession, sbx_session, SBX, SESSION, GObject)

/**
 * SbxSessionClass:
 * @parent_class: the parent class
 * @handle_exec: runs a command, and reports through the invocation what becomes of it
 * @handle_read_file: answers with the content of a file
 * @handle_write_file: replaces the content of a file, and makes its parents
 * @handle_create_dir_all: makes a directory and its parents; one that exists is no error
 * @handle_create_temp_dir: makes a new private directory and answers with its path
 * @handle_remove: removes a file or a whole tree; a missing one is no error
 * @handle_list_dir: answers with what is in a directory
 * @handle_stat: answers with what is known of a file, without following a link
 * @handle_close: ends the sandbox and everything in it
 * @handle_read_range: answers with a part of a file
 * @handle_write_range: writes a part of a file
 * @handle_rename: gives a file or a tree another name
 * @handle_copy: copies a file or a tree
 *
 * What a provider's session fills in.
 *
 * Each function gets an invocation, which it answers now or later. %TRUE means that it was answered
 * or will be; %FALSE, which is also what a binding gives back after an exception, has it answered
 * with an error there and then. A function that is left out is answered with
 * %SBX_ERROR_UNSUPPORTED.
 *
 * Since: 1.0
 */
struct _SbxSessionClass
{
  GObjectClass parent_class;

  gboolean (*handle_exec)            (SbxSession            *self,
                                      SbxExecInvocation     *invocation);
  gboolean (*handle_read_file)       (SbxSession            *self,
                                      const char            *path,
                                      guint64                max_size,
                                      SbxReadFileInvocation *invocation);
  gboolean (*handle_write_file)      (SbxSession            *self,
                                      const char            *path,
                                      GBytes                *content,
                                      guint                  mode,
                                      SbxFileInvocation     *invocation);
  gboolean (*handle_create_dir_all)  (SbxSession            *self,
                                      const char            *path,
                                      SbxFileInvocation     *invocation);
  gboolean (*handle_create_temp_dir) (SbxSession            *self,
                                      const char            *prefix,
                                      SbxTempDirInvocation  *invocation);
  gboolean (*handle_remove)          (SbxSession            *self,
                                      const char            *path,
                                      SbxFileInvocation     *invocation);
  gboolean (*handle_list_dir)        (SbxSession            *self,
                                      const char            *path,
                                      SbxListDirInvocation  *invocation);
  gboolean (*handle_stat)            (SbxSession            *self,
                                      const char            *path,
                                      SbxStatInvocation     *invocation);
  gboolean (*handle_close)           (SbxSession            *self,
                                      SbxCloseInvocation    *invocation);
  gboolean (*handle_read_range)      (SbxSession            *self,
                                      const char            *path,
                                      guint64                offset,
                                      guint64                length,
                                      SbxReadFileInvocation *invocation);
  gboolean (*handle_write_range)     (SbxSession            *self,
                                      const char            *path,
                                      GBytes                *content,
                                      guint64                offset,
                                      gboolean               truncate,
                                      guint                  mode,
                                      SbxFileInvocation     *invocation);
  gboolean (*handle_rename)          (SbxSession            *self,
                                      const char            *path,
                                      const char            *new_path,
                                      SbxFileInvocation     *invocation);
  gboolean (*handle_copy)            (SbxSession            *self,
                                      const char            *path,
                                      const char            *new_path,
                                      SbxFileInvocation     *invocation);

  /*< private >*/
  gpointer reserved[12];
};

SBX_AVAILABLE_IN_1_0
const char      *sbx_session_get_id                 (SbxSession           *self);
SBX_AVAILABLE_IN_1_0
const char      *sbx_session_get_cwd                (SbxSession           *self);
SBX_AVAILABLE_IN_1_0
SbxCapabilities  sbx_session_get_capabilities       (SbxSession           *self);
SBX_AVAILABLE_IN_1_0
SbxSessionState  sbx_session_get_state              (SbxSession           *self);
SBX_AVAILABLE_IN_1_0
const GError    *sbx_session_get_failure            (SbxSession           *self);
SBX_AVAILABLE_IN_1_0
SbxPlan         *sbx_session_get_plan               (SbxSession           *self);
SBX_AVAILABLE_IN_1_0
void             sbx_session_fail                   (SbxSession           *self,
                                                     const GError         *error);

SBX_AVAILABLE_IN_1_0
SbxProcess      *sbx_session_create_process         (SbxSession           *self,
                                                     SbxCommand           *command);
SBX_AVAILABLE_IN_1_0
void             sbx_session_exec_async             (SbxSession           *self,
                                                     SbxCommand           *command,
                                                     GCancellable         *cancellable,
                                                     GAsyncReadyCallback   callback,
                                                     gpointer              user_data);
SBX_AVAILABLE_IN_1_0
SbxExecResult   *sbx_session_exec_finish            (SbxSession           *self,
                                                     GAsyncResult         *result,
                                                     GError              **error);
SBX_AVAILABLE_IN_1_0
SbxExecResult   *sbx_session_exec                   (SbxSession           *self,
                                                     SbxCommand           *command,
                                                     GCancellable         *cancellable,
                                                     GError              **error);
SBX_AVAILABLE_IN_1_0
void             sbx_session_spawn_async            (SbxSession           *self,
                                                     SbxCommand           *command,
                                                     GCancellable         *cancellable,
                                                     GAsyncReadyCallback   callback,
                                                     gpointer              user_data);
SBX_AVAILABLE_IN_1_0
SbxProcess      *sbx_session_spawn_finish           (SbxSession           *self,
                                                     GAsyncResult         *result,
                                                     GError              **error);
SBX_AVAILABLE_IN_1_0
SbxProcess      *sbx_session_spawn                  (SbxSession           *self,
                                                     SbxCommand           *command,
                                                     GCancellable         *cancellable,
                                                     GError              **error);

SBX_AVAILABLE_IN_1_0
void             sbx_session_close_async            (SbxSession           *self,
                                                     GCancellable         *cancellable,
                                                     GAsyncReadyCallback   callback,
                                                     gpointer              user_data);
SBX_AVAILABLE_IN_1_0
gboolean         sbx_session_close_finish           (SbxSession           *self,
                                                     GAsyncResult         *result,
                                                     GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean         sbx_session_close                  (SbxSession           *self,
                                                     GCancellable         *cancellable,
                                                     GError              **error);

G_END_DECLS
