/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * An object belongs to one context, and with it to one thread at a time.
 *
 * The synchronous variants call the asynchronous ones and iterate the context that the object
 * belongs to until that is done. A context of their own would hang as soon as the object's sources
 * sit in another one.
 */

/* The context that @object belongs to: the thread default when this was first asked. */
GMainContext *_sbx_context_of    (GObject       *object);

/* Makes the context of @object the thread default, until left. %FALSE with SBX_ERROR_BUSY when
 * another thread has it. */
gboolean      _sbx_context_enter (GObject       *object,
                                  GError       **error);
void          _sbx_context_leave (GObject       *object);

typedef struct _SbxSync SbxSync;

/* %NULL with SBX_ERROR_BUSY when this thread is not the one that @object belongs to. */
SbxSync      *_sbx_sync_begin    (GObject       *object,
                                  GError       **error);
void          _sbx_sync_done_cb  (GObject       *object,
                                  GAsyncResult  *result,
                                  gpointer       user_data);
GAsyncResult *_sbx_sync_wait     (SbxSync       *self);
void          _sbx_sync_end      (SbxSync       *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxSync, _sbx_sync_end)

G_END_DECLS
