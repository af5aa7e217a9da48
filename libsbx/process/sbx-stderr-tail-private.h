/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The last of what a child wrote to its standard error: always read, so that the child never has to
 * wait, and bounded. It is for the message of an error. */
typedef struct _SbxStderrTail SbxStderrTail;

/* Reads @stream until it ends or the tail is freed. */
SbxStderrTail *_sbx_stderr_tail_new      (GInputStream   *stream);
void           _sbx_stderr_tail_free     (SbxStderrTail  *self);

/* What came so far, as one line fit for a message; empty when nothing came. */
char          *_sbx_stderr_tail_get_text (SbxStderrTail  *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxStderrTail, _sbx_stderr_tail_free)

G_END_DECLS
