/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-command.h"
#include "core/sbx-open-request.h"
#include "wire/sbx-wire-features-private.h"
#include "wire/sbx-wire-message-private.h"

G_BEGIN_DECLS

/*
 * The client's side, out: one function for each method. @number becomes the id "req_N"; @session is
 * the session object as the provider gave it. Members of an extension are added only where
 * @features has it. %NULL with %SBX_ERROR_INVALID for what JSON cannot carry, which the message
 * names: bytes that are no UTF-8.
 */

SbxWireMessage *_sbx_wire_request_capabilities    (guint64           number);
SbxWireMessage *_sbx_wire_request_shutdown        (guint64           number);

/* @provider is the name that goes into the profile reference. */
SbxWireMessage *_sbx_wire_request_open            (guint64           number,
                                                   SbxOpenRequest   *request,
                                                   const char       *provider,
                                                   GError          **error);
SbxWireMessage *_sbx_wire_request_cleanup_group   (guint64           number,
                                                   const char       *group,
                                                   GError          **error);
SbxWireMessage *_sbx_wire_request_close           (guint64           number,
                                                   GBytes           *session);
SbxWireMessage *_sbx_wire_request_create_temp_dir (guint64           number,
                                                   GBytes           *session,
                                                   const char       *prefix,
                                                   GError          **error);

/* create_dir_all, remove, list_dir, stat, and read_file of a whole file. */
SbxWireMessage *_sbx_wire_request_path            (guint64           number,
                                                   const char       *method,
                                                   GBytes           *session,
                                                   const char       *path,
                                                   GError          **error);

/* rename and copy. */
SbxWireMessage *_sbx_wire_request_two_paths       (guint64           number,
                                                   const char       *method,
                                                   GBytes           *session,
                                                   const char       *path,
                                                   const char       *new_path,
                                                   GError          **error);
SbxWireMessage *_sbx_wire_request_read_range      (guint64           number,
                                                   GBytes           *session,
                                                   const char       *path,
                                                   guint64           offset,
                                                   guint64           length,
                                                   GError          **error);

/* @mode 0 says nothing of it; any other needs "ranges". */
SbxWireMessage *_sbx_wire_request_write_file      (guint64           number,
                                                   GBytes           *session,
                                                   const char       *path,
                                                   GBytes           *content,
                                                   guint             mode,
                                                   GError          **error);
SbxWireMessage *_sbx_wire_request_write_range     (guint64           number,
                                                   GBytes           *session,
                                                   const char       *path,
                                                   GBytes           *content,
                                                   guint64           offset,
                                                   gboolean          truncate,
                                                   guint             mode,
                                                   GError          **error);

/* "exec" or "spawn". With quiet-result it asks for "collect":false; with process a spawn asks to
 * "follow"; a terminal, a pipe to standard input and a time-out go along where they can. */
SbxWireMessage *_sbx_wire_request_exec            (guint64           number,
                                                   const char       *method,
                                                   GBytes           *session,
                                                   SbxCommand       *command,
                                                   SbxWireFeatures   features,
                                                   GError          **error);

SbxWireMessage *_sbx_wire_request_cancel          (guint64           number,
                                                   guint64           cancelled_number);

/* Of a process that runs; @process_id came from the peer. */
SbxWireMessage *_sbx_wire_request_kill            (guint64           number,
                                                   GBytes           *session,
                                                   const char       *process_id,
                                                   int               signal_number);
SbxWireMessage *_sbx_wire_request_write_stdin     (guint64           number,
                                                   GBytes           *session,
                                                   const char       *process_id,
                                                   GBytes           *bytes);
SbxWireMessage *_sbx_wire_request_close_stdin     (guint64           number,
                                                   GBytes           *session,
                                                   const char       *process_id);
SbxWireMessage *_sbx_wire_request_resize_pty      (guint64           number,
                                                   GBytes           *session,
                                                   const char       *process_id,
                                                   guint             rows,
                                                   guint             columns);

G_END_DECLS
