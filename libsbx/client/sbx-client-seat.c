/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-client-seat-private.h"

struct _SbxClientSeat
{
  GWeakRef session;
};

SbxClientSeat *
_sbx_client_seat_new (SbxSession *session)
{
  SbxClientSeat *self = g_atomic_rc_box_new0 (SbxClientSeat);

  g_weak_ref_init (&self->session, session);

  return self;
}

SbxClientSeat *
_sbx_client_seat_ref (SbxClientSeat *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
seat_clear (SbxClientSeat *self)
{
  g_weak_ref_clear (&self->session);
}

void
_sbx_client_seat_unref (gpointer self)
{
  g_atomic_rc_box_release_full (self, (GDestroyNotify) seat_clear);
}

SbxSession *
_sbx_client_seat_get_session (SbxClientSeat *self)
{
  return g_weak_ref_get (&self->session);
}
