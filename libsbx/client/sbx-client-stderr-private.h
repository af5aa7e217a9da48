/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * SbxClientStderr:
 *
 * What a provider writes to its standard error: always read, so that it never has to wait; told
 * line by line, as many as a main loop can bear; and the last of it kept for the message of an
 * error.
 */
typedef struct _SbxClientStderr SbxClientStderr;

/* @line is as it came, but for its length and for NUL. The function may free the object. */
typedef void (*SbxClientStderrFunc) (const char *line,
                                     gpointer    user_data);

/* Takes @fd, which does not block. */
SbxClientStderr *_sbx_client_stderr_new      (int                  fd,
                                              GMainContext        *context,
                                              SbxClientStderrFunc  func,
                                              gpointer             user_data);
void             _sbx_client_stderr_free     (SbxClientStderr     *self);

/* Reads what is there without waiting: the end of a child may be known before its last words. */
void             _sbx_client_stderr_catch_up (SbxClientStderr     *self);

/* The last of it, as one line fit for a message; empty when nothing came. */
char            *_sbx_client_stderr_get_tail (SbxClientStderr     *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxClientStderr, _sbx_client_stderr_free)

G_END_DECLS
