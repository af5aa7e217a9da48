/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-command.h"
#include "core/sbx-open-request.h"
#include "wire/sbx-wire-line-private.h"

G_BEGIN_DECLS

/* The server's side, in. All functions that read something give %SBX_ERROR_INVALID, with the name
 * of the member, for what is not as the protocol has it. */

typedef enum
{
  SBX_WIRE_METHOD_UNKNOWN,
  SBX_WIRE_METHOD_CAPABILITIES,
  SBX_WIRE_METHOD_OPEN,
  SBX_WIRE_METHOD_CLOSE,
  SBX_WIRE_METHOD_CLEANUP_GROUP,
  SBX_WIRE_METHOD_CREATE_TEMP_DIR,
  SBX_WIRE_METHOD_CREATE_DIR_ALL,
  SBX_WIRE_METHOD_WRITE_FILE,
  SBX_WIRE_METHOD_READ_FILE,
  SBX_WIRE_METHOD_REMOVE,
  SBX_WIRE_METHOD_EXEC,
  SBX_WIRE_METHOD_SPAWN,
  SBX_WIRE_METHOD_SHUTDOWN,
  SBX_WIRE_METHOD_CANCEL,
  SBX_WIRE_METHOD_WAIT,
  SBX_WIRE_METHOD_KILL,
  SBX_WIRE_METHOD_LIST_PROCESSES,
  SBX_WIRE_METHOD_WRITE_STDIN,
  SBX_WIRE_METHOD_CLOSE_STDIN,
  SBX_WIRE_METHOD_RESIZE_PTY,
  SBX_WIRE_METHOD_LIST_DIR,
  SBX_WIRE_METHOD_STAT,
  SBX_WIRE_METHOD_RENAME,
  SBX_WIRE_METHOD_COPY,
} SbxWireMethod;

typedef struct
{
  SbxWireLine   *line;          /* owned */
  char          *id;            /* "unknown" where the line has none that can be used */
  SbxWireMethod  method;
  const char    *method_name;   /* or %NULL */
  JsonObject    *params;        /* never %NULL after a successful parse: absent and null are {} */
} SbxWireCall;

/* %FALSE: @self has the id to answer to, and @error what is wrong. */
gboolean        _sbx_wire_call_parse          (SbxWireCall     *self,
                                               SbxWireLine     *line,
                                               GError         **error);
/* Nothing more is read of it: what is left are its id and its method. */
void            _sbx_wire_call_forget         (SbxWireCall     *self);
void            _sbx_wire_call_clear          (SbxWireCall     *self);

/* @provider is what the client calls us, to be compared with what we are. */
SbxOpenRequest *_sbx_wire_call_get_open       (SbxWireCall     *self,
                                               const char     **provider,
                                               GError         **error);
const char     *_sbx_wire_call_get_group      (SbxWireCall     *self,
                                               GError         **error);
/* The "id" of the session that is sent along. */
const char     *_sbx_wire_call_get_session_id (SbxWireCall     *self,
                                               GError         **error);
const char     *_sbx_wire_call_get_path       (SbxWireCall     *self,
                                               GError         **error);
const char     *_sbx_wire_call_get_new_path   (SbxWireCall     *self,
                                               GError         **error);
/* Absent: "sbx-". */
const char     *_sbx_wire_call_get_prefix     (SbxWireCall     *self,
                                               GError         **error);

typedef struct
{
  gboolean has_range;     /* "offset", "length" or "truncate" was there */
  guint64  offset;        /* 0 */
  guint64  length;        /* G_MAXUINT64: to the end */
  gboolean truncate;      /* TRUE */
  guint    mode;          /* 0: as the session pleases */
} SbxWireRange;

gboolean        _sbx_wire_call_get_range      (SbxWireCall     *self,
                                               SbxWireRange    *range,
                                               GError         **error);
/* content_base64, (transfer full) */
GBytes         *_sbx_wire_call_get_content    (SbxWireCall     *self,
                                               GError         **error);

typedef struct
{
  gboolean collect;         /* TRUE: repeat the output in the result */
  guint64  collect_limit;   /* of each stream; G_MAXUINT64 where the client did not say */
  gboolean follow;          /* of spawn: events go on until its end */
} SbxWireExecOptions;

SbxCommand     *_sbx_wire_call_get_command    (SbxWireCall         *self,
                                               SbxWireExecOptions  *options,
                                               GError             **error);

const char     *_sbx_wire_call_get_process_id (SbxWireCall     *self,
                                               GError         **error);
/* data_base64 of write_stdin, (transfer full) */
GBytes         *_sbx_wire_call_get_data       (SbxWireCall     *self,
                                               GError         **error);
gboolean        _sbx_wire_call_get_signal     (SbxWireCall     *self,
                                               int             *signal_number,
                                               GError         **error);
gboolean        _sbx_wire_call_get_size       (SbxWireCall     *self,
                                               guint           *rows,
                                               guint           *columns,
                                               GError         **error);
/* request_id of cancel */
const char     *_sbx_wire_call_get_request_id (SbxWireCall     *self,
                                               GError         **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxWireCall, _sbx_wire_call_clear)

G_END_DECLS
