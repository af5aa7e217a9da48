/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "bwrap/sbx-init-report-private.h"

#include <sys/types.h>

G_BEGIN_DECLS

typedef struct
{
  SbxInitIncoming incoming;
  pid_t           pid;        /* of who sent it, or 0; only while it is asked for */
  int             pidfd;      /* the same process, where the kernel gives it; or -1 */
  int             fd;         /* the one that came with it, or -1 */
  gboolean        no_room;    /* one came, but this process could not take it */
} SbxInitReceived;

#define SBX_INIT_RECEIVED_INIT { .pidfd = -1, .fd = -1 }

typedef enum
{
  SBX_INIT_RECEIVE_MESSAGE,
  SBX_INIT_RECEIVE_NOTHING,   /* now */
  SBX_INIT_RECEIVE_END,
  SBX_INIT_RECEIVE_ERROR,
} SbxInitReceive;

/* Whether messages tell who sent them. */
void           _sbx_init_receive_ask_for_sender  (int                     fd,
                                                  gboolean                ask);
/* Takes one message off the socket, without waiting. More than one descriptor, or one with anything
 * but STARTED, is an error. */
SbxInitReceive _sbx_init_receive                 (int                     fd,
                                                  SbxInitReceived        *received,
                                                  GError                **error);
/* Whether the descriptor is the master of a terminal, or there is none where none is @wanted. */
gboolean       _sbx_init_received_check_terminal (const SbxInitReceived  *received,
                                                  gboolean                wanted);
void           _sbx_init_received_clear          (SbxInitReceived        *received);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxInitReceived, _sbx_init_received_clear)

G_END_DECLS
