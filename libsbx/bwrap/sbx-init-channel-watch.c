/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-init-channel-struct-private.h"

void
_sbx_init_channel_hold (SbxInitChannel     *self,
                        SbxInitChannelHeld  held,
                        gpointer            user_data)
{
  g_assert (self->state == SBX_INIT_CHANNEL_NEW);

  self->held = held;
  self->held_data = user_data;
}

void
_sbx_init_channel_go (SbxInitChannel *self)
{
  const SbxInitMessage message = _sbx_init_channel_message (SBX_INIT_GO, 0);

  if (self->state == SBX_INIT_CHANNEL_SETTING_UP)
    _sbx_init_channel_send (self, &message, NULL, 0);
}

void
_sbx_init_channel_give_up (SbxInitChannel *self,
                           const GError   *error)
{
  _sbx_init_channel_lose (self, error);
}

int
_sbx_init_channel_get_pidfd (SbxInitChannel *self)
{
  return self->pidfd;
}

pid_t
_sbx_init_channel_get_pid (SbxInitChannel *self)
{
  return self->pid;
}
