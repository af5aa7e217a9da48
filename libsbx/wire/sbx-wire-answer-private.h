/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-exec-result.h"
#include "wire/sbx-wire-features-private.h"
#include "wire/sbx-wire-message-private.h"

G_BEGIN_DECLS

/* The server's side, out: the reply with @id, which may be any string that a client chose. */

SbxWireMessage *_sbx_wire_answer_done           (const char       *id);

/* From %SBX_ERROR and %G_IO_ERROR come the code, "retryable" and, for the file methods, "errno"; an
 * error that a provider behind us answered with keeps its own code. */
SbxWireMessage *_sbx_wire_answer_error          (const char       *id,
                                                 const GError     *error);
/* For what the protocol itself has codes: invalid_request, unsupported_method, bad_profile,
 * unknown_session, cancelled. */
SbxWireMessage *_sbx_wire_answer_code           (const char       *id,
                                                 const char       *code,
                                                 const char       *message);
SbxWireMessage *_sbx_wire_answer_capabilities   (const char       *id,
                                                 gboolean          exec,
                                                 SbxWireFeatures   features);
/* @state becomes provider_state_json; @cwd and @state may be %NULL. */
SbxWireMessage *_sbx_wire_answer_session        (const char       *id,
                                                 const char       *session_id,
                                                 const char       *cwd,
                                                 gboolean          exec,
                                                 SbxWireFeatures   features,
                                                 const char       *state);
SbxWireMessage *_sbx_wire_answer_cleaned_count  (const char       *id,
                                                 guint             count);
SbxWireMessage *_sbx_wire_answer_path           (const char       *id,
                                                 const char       *path);
/* @size -1: nothing of size and end is said. */
SbxWireMessage *_sbx_wire_answer_content        (const char       *id,
                                                 GBytes           *content,
                                                 gint64            size,
                                                 gboolean          eof);
/* With @collected the output is in it. */
SbxWireMessage *_sbx_wire_answer_exec           (const char       *id,
                                                 SbxExecResult    *result,
                                                 gboolean          collected);
SbxWireMessage *_sbx_wire_answer_spawn          (const char       *id,
                                                 const char       *process_id);
SbxWireMessage *_sbx_wire_answer_info           (const char       *id,
                                                 GFileInfo        *info);
SbxWireMessage *_sbx_wire_answer_infos          (const char       *id,
                                                 GListModel       *infos);
/* @process_ids is a list of strings. */
SbxWireMessage *_sbx_wire_answer_processes      (const char       *id,
                                                 const char * const *process_ids);

SbxWireMessage *_sbx_wire_event_started         (const char       *id,
                                                 const char       *process_id);
/* @type is "stdout" or "stderr". */
SbxWireMessage *_sbx_wire_event_output          (const char       *id,
                                                 const char       *type,
                                                 GBytes           *bytes);
SbxWireMessage *_sbx_wire_event_exited          (const char       *id,
                                                 SbxExecResult    *result);
SbxWireMessage *_sbx_wire_event_end             (const char       *id);

G_END_DECLS
