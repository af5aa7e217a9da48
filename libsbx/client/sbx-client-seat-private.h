/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-session.h"

G_BEGIN_DECLS

/*
 * SbxClientSeat:
 *
 * The place that a session has among those of its client. The last reference to a session may go in
 * any thread; what stands for it in the client goes where both are at home.
 */
typedef struct _SbxClientSeat SbxClientSeat;

SbxClientSeat *_sbx_client_seat_new         (SbxSession     *session);
SbxClientSeat *_sbx_client_seat_ref         (SbxClientSeat  *self);
void           _sbx_client_seat_unref       (gpointer        self);

/* (transfer full) (nullable) */
SbxSession    *_sbx_client_seat_get_session (SbxClientSeat  *self);

G_END_DECLS
