/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "client/sbx-client-connection-private.h"
#include "client/sbx-provider-client.h"
#include "core/sbx-provider.h"

G_BEGIN_DECLS

/* What the files of the class share. */
struct _SbxProviderClient
{
  GObject                 parent_instance;

  GStrv                   argv;
  GStrv                   environment;      /* %NULL: inherited */
  char                   *provider_name;
  guint64                 max_message_size;
  guint                   open_timeout_ms;
  guint                   call_timeout_ms;
  guint                   close_timeout_ms;
  guint                   grace_ms;

  SbxProviderClientState  state;
  SbxClientConnection    *connection;       /* since it was started */
  GError                 *failure;
  gboolean                exec;             /* said the provider */
  GHashTable             *sessions;         /* of owned seats of those that are open */
  guint                   n_in_flight;      /* as was notified last */
  guint                   n_queued;

  GPtrArray              *starting;         /* of owned tasks */
  GPtrArray              *closing;          /* of owned tasks */
  GError                 *close_error;      /* the first */
  GSource                *close_timer;
  guint                   shut_down : 1;    /* the provider was asked to */
  guint                   ending    : 1;    /* and its input was ended */
  guint                   overdue   : 1;    /* it did not end by itself */
};

void                 _sbx_provider_client_set_state      (SbxProviderClient      *self,
                                                          SbxProviderClientState  state);
void                 _sbx_provider_client_notify_numbers (SbxProviderClient      *self,
                                                          gboolean                in_flight,
                                                          gboolean                queued);
void                 _sbx_provider_client_emit_closed    (SbxProviderClient      *self,
                                                          const GError           *error);
/* %FALSE, with @error set, when no calls are taken. */
gboolean             _sbx_provider_client_admits         (SbxProviderClient      *self,
                                                          GError                **error);
void                 _sbx_provider_client_init_provider  (SbxProviderInterface   *iface);

/* The connection's owner. */
void                 _sbx_provider_client_idle           (GObject                *owner);
void                 _sbx_provider_client_broken         (GObject                *owner,
                                                          const GError           *error);
void                 _sbx_provider_client_gone           (GObject                *owner);
void                 _sbx_provider_client_return_started (SbxProviderClient      *self,
                                                          const GError           *error);
void                 _sbx_provider_client_fail_sessions  (SbxProviderClient      *self,
                                                          const GError           *error);
const SbxClientConnectionFuncs *
                     _sbx_provider_client_get_funcs      (void);

/* Closes what @text describes, which nobody waits for. It keeps the client until that is done. */
void                 _sbx_provider_client_close_orphan   (SbxProviderClient      *self,
                                                          GBytes                 *text);

G_END_DECLS
