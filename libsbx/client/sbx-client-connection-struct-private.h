/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "client/sbx-client-connection-private.h"
#include "client/sbx-client-stderr-private.h"
#include "process/sbx-provider-child-private.h"
#include "wire/sbx-wire-reader-private.h"
#include "wire/sbx-wire-writer-private.h"

G_BEGIN_DECLS

/* What the files of the connection share, and nobody else. */
struct _SbxClientConnection
{
  const SbxClientConnectionFuncs *funcs;    /* %NULL once freed */
  GWeakRef          owner;        /* its last reference may go in any thread */
  GMainContext     *context;
  char             *program;      /* quoted */
  gsize             max_size;
  guint             grace_ms;
  SbxWireFeatures   features;

  SbxProviderChild *child;
  SbxWireReader    *reader;
  SbxWireWriter    *writer;
  SbxClientStderr  *errors;

  guint64           last_number;
  GQueue            queue;        /* of calls that wait, by their links */
  GQueue            in_flight;
  GHashTable       *by_number;    /* of owned calls, waiting ones excepted */
  GSource          *timer;
  GSource          *flush;        /* writes what was gathered in this turn of the main loop */
  gint64            end_by;       /* when it breaks for want of a word from the process; or 0 */
  char             *end_cause;

  guint             told_in_flight;   /* what the owner knows of the numbers */
  guint             told_queued;
  guint             n_pauses;
  gint64            paused_at;
  guint64           n_dropped;
  guint             dropped_kinds;    /* those that were told of */
  GError           *failure;
  guint             corked    : 1;
  guint             read_all  : 1;    /* the reader has ended */
  guint             exited    : 1;
  guint             finished  : 1;    /* the provider's input was ended on purpose */
  guint             draining  : 1;
  guint             idle_told : 1;
  guint             gone_told : 1;
};

/* Removes @call from every table; the caller gets the table's reference. */
SbxClientCall *_sbx_client_connection_take_out  (SbxClientConnection  *self,
                                                 SbxClientCall        *call);
/* Sends what may be sent now. */
void           _sbx_client_connection_send_waiting (SbxClientConnection *self);
/* And tells the owner what follows from that. */
void           _sbx_client_connection_pump      (SbxClientConnection  *self);
/* Writes what was gathered. */
void           _sbx_client_connection_flush     (SbxClientConnection  *self);
/* Makes the timer look again at @deadline, at the latest. */
void           _sbx_client_connection_arm       (SbxClientConnection  *self,
                                                 gint64                deadline);
void           _sbx_client_connection_line_cb   (SbxWireReader        *reader,
                                                 SbxWireLine          *line,
                                                 gpointer              user_data);
void           _sbx_client_connection_end_cb    (SbxWireReader        *reader,
                                                 const GError         *error,
                                                 gpointer              user_data);
void           _sbx_client_connection_writer_cb (SbxWireWriter        *writer,
                                                 const GError         *error,
                                                 gpointer              user_data);
void           _sbx_client_connection_exited_cb (SbxProviderChild     *child,
                                                 gpointer              user_data);
void           _sbx_client_connection_unpause   (SbxClientConnection  *self);
gboolean       _sbx_client_connection_timer_cb  (gpointer              user_data);
void           _sbx_client_connection_log       (SbxClientConnection  *self,
                                                 const char           *source,
                                                 const char           *text);
void           _sbx_client_connection_changed   (SbxClientConnection  *self);
void           _sbx_client_connection_unref     (SbxClientConnection  *self);
/* Breaks it with @cause, a sentence, and with the provider's last words. */
void           _sbx_client_connection_give_up   (SbxClientConnection  *self,
                                                 const char           *cause,
                                                 guint                 patience_ms);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxClientConnection, _sbx_client_connection_unref)

G_END_DECLS
