/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * SbxPeer:
 *
 * The provider that is checked, as nothing but a child with three pipes. It belongs to the thread
 * of the checks: its functions wait, each until a time of g_get_monotonic_time() at most, while
 * they write what waits and drain standard error. Nothing is made better on the way: lines come as
 * the bytes that they are.
 */
typedef struct _SbxPeer SbxPeer;

typedef enum
{
  SBX_PEER_LINE,
  SBX_PEER_TIMED_OUT,
  SBX_PEER_ENDED,       /* end of its standard output */
  SBX_PEER_FLOODED,     /* a line, or all lines together, over the limit */
  SBX_PEER_CANCELLED,
} SbxPeerOutcome;

SbxPeer        *_sbx_peer_new            (const char * const  *argv,
                                          GCancellable        *cancellable,
                                          GError             **error);

/* Ends the provider and everything in its process group, and waits for it. */
void            _sbx_peer_free           (SbxPeer             *self);

/* Queues @bytes as they are. */
void            _sbx_peer_send           (SbxPeer             *self,
                                          GBytes              *bytes);
/* What is queued goes out first. */
void            _sbx_peer_end_input      (SbxPeer             *self);
/* Writes without reading, until @deadline or until all is written. */
gboolean        _sbx_peer_flush          (SbxPeer             *self,
                                          gint64               deadline);
gsize           _sbx_peer_get_unsent     (SbxPeer             *self);

/* The next line without its newline, (transfer full). Blank lines are left out. */
SbxPeerOutcome  _sbx_peer_receive        (SbxPeer             *self,
                                          gint64               deadline,
                                          GBytes             **line);

/* Waits for the exit. */
SbxPeerOutcome  _sbx_peer_wait           (SbxPeer             *self,
                                          gint64               deadline);
gboolean        _sbx_peer_has_exited     (SbxPeer             *self);
/* -1 for a signal. */
int             _sbx_peer_get_status     (SbxPeer             *self);

/* SIGKILL for the provider itself, and for nobody else. */
void            _sbx_peer_kill           (SbxPeer             *self);

/* Resident memory in bytes, or 0 where that cannot be told. */
guint64         _sbx_peer_get_memory     (SbxPeer             *self);

/* The last of its standard error, for a message. */
char           *_sbx_peer_get_stderr     (SbxPeer             *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxPeer, _sbx_peer_free)

G_END_DECLS
