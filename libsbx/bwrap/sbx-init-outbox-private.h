/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "init/sbx-init-protocol-private.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * SbxInitOutbox:
 *
 * Messages on their way to process 1 of a sandbox, in order. Nothing waits: what the socket does
 * not take is kept, with descriptors of its own, and sent from a source of the context.
 */
typedef struct _SbxInitOutbox SbxInitOutbox;

/* Runs from a source, never from _sbx_init_outbox_send(). With @id, the message of that exec could
 * not be sent for want of something that others use; without, the other side is gone. It may free
 * the outbox. */
typedef void (*SbxInitOutboxFailed) (guint64       id,
                                     const GError *error,
                                     gpointer      user_data);

/* Borrows @fd. */
SbxInitOutbox *_sbx_init_outbox_new  (int                   fd,
                                      GMainContext         *context,
                                      SbxInitOutboxFailed   failed,
                                      gpointer              user_data);
void           _sbx_init_outbox_send (SbxInitOutbox        *self,
                                      const SbxInitMessage *message,
                                      const int            *fds,
                                      gsize                 n_fds);
void           _sbx_init_outbox_free (SbxInitOutbox        *self);

G_END_DECLS
