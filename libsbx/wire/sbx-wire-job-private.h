/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-wire-line-private.h"
#include "wire/sbx-wire-source-private.h"

G_BEGIN_DECLS

/* A longer text is parsed, and its nodes are freed, in a thread: it can have so many values that
 * the main loop of a caller would be late by it. */
#define SBX_WIRE_MUCH_TEXT (256 * 1024)

/*
 * SbxWireJob:
 *
 * A line that is parsed in a thread, which is there only as long as that takes.
 */
typedef struct _SbxWireJob SbxWireJob;

/* Takes @line. When it is parsed the function of @source is called. */
SbxWireJob  *_sbx_wire_job_new     (SbxWireLine    *line,
                                    SbxWireSource  *source);
gboolean     _sbx_wire_job_is_done (SbxWireJob     *self);

/* The line, when it is done. Takes @self. */
SbxWireLine *_sbx_wire_job_finish  (SbxWireJob     *self);

/* Nobody waits for it any more. */
void         _sbx_wire_job_drop    (SbxWireJob     *self);

/* Has a thread free @data, which must be of nobody else. */
void         _sbx_wire_job_free    (GDestroyNotify  func,
                                    gpointer        data);

G_END_DECLS
