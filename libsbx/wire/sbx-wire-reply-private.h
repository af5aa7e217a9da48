/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-wire-exec-private.h"
#include "wire/sbx-wire-features-private.h"
#include "wire/sbx-wire-line-private.h"

G_BEGIN_DECLS

/* The client's side, in. All functions that read something give %SBX_ERROR_PROTOCOL, with the name
 * of the member, for what is not as the protocol has it. */

typedef struct
{
  SbxWireLine  *line;         /* not owned; what is below belongs to it */
  const char   *id;
  guint64       number;       /* of "req_N", or 0 where it is no id of ours */
  JsonObject   *event;        /* or %NULL */
  gboolean      has_result;   /* false: no reply yet, or one without "result" and "error" */
  JsonObject   *result;       /* %NULL stands for {} */
  gboolean      is_odd;       /* the result is neither an object nor null; an ack can be that */
  JsonObject   *error;        /* or %NULL */
  gboolean      is_final;     /* has a result or an error, or none of the three */
} SbxWireReply;

/* %FALSE when the line is no envelope; @self has the id where there was one. */
gboolean   _sbx_wire_reply_parse              (SbxWireReply     *self,
                                               SbxWireLine      *line,
                                               GError          **error);

typedef enum
{
  SBX_WIRE_EVENT_UNKNOWN,
  SBX_WIRE_EVENT_STARTED,
  SBX_WIRE_EVENT_STDOUT,
  SBX_WIRE_EVENT_STDERR,
  SBX_WIRE_EVENT_EXITED,
  SBX_WIRE_EVENT_END,         /* of a spawned process that is followed */
} SbxWireEventType;

typedef struct
{
  SbxWireEventType  type;
  const char       *process_id;   /* or %NULL; belongs to the line */
  GBytes           *data;         /* owned; an empty one where the event had none */
  SbxWireExecEnd    end;          /* of an "exited" */
} SbxWireEvent;

gboolean   _sbx_wire_reply_get_event          (SbxWireReply     *self,
                                               SbxWireEvent     *event,
                                               GError          **error);
void       _sbx_wire_event_clear              (SbxWireEvent     *event);

/* The error that the provider answered with: %SBX_ERROR_PROVIDER, %SBX_ERROR_PROVIDER_RETRYABLE or
 * %SBX_ERROR_UNSUPPORTED, its code first in the message, escaped; from %G_IO_ERROR where there is
 * an errno, and for the "cancelled" of a request that we cancelled. */
GError    *_sbx_wire_reply_get_error          (SbxWireReply     *self);

gboolean   _sbx_wire_reply_get_capabilities   (SbxWireReply     *self,
                                               gboolean         *exec,
                                               SbxWireFeatures  *features,
                                               GError          **error);

typedef struct
{
  char            *id;
  char            *cwd;           /* or %NULL */
  gboolean         exec;
  SbxWireFeatures  features;
  GBytes          *text;          /* the whole object, to be sent back as it came */
} SbxWireSession;

gboolean   _sbx_wire_reply_get_session        (SbxWireReply     *self,
                                               SbxWireSession   *session,
                                               GError          **error);
void       _sbx_wire_session_clear            (SbxWireSession   *session);

gboolean   _sbx_wire_reply_get_exec_end       (SbxWireReply     *self,
                                               SbxWireExecEnd   *end,
                                               GError          **error);
/* @process_id is %NULL where there is none. (transfer full) */
gboolean   _sbx_wire_reply_get_spawned        (SbxWireReply     *self,
                                               char            **process_id,
                                               GError          **error);
char      *_sbx_wire_reply_get_path           (SbxWireReply     *self,
                                               GError          **error);
/* @size is the file's where the provider told it, or -1. */
GBytes    *_sbx_wire_reply_get_content        (SbxWireReply     *self,
                                               gint64           *size,
                                               GError          **error);
gboolean   _sbx_wire_reply_get_cleaned_count  (SbxWireReply     *self,
                                               guint            *count,
                                               GError          **error);
GFileInfo *_sbx_wire_reply_get_info           (SbxWireReply     *self,
                                               GError          **error);
/* (element-type GFileInfo) */
GListStore *_sbx_wire_reply_get_infos         (SbxWireReply     *self,
                                               GError          **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxWireEvent, _sbx_wire_event_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxWireSession, _sbx_wire_session_clear)

G_END_DECLS
