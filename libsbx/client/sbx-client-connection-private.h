/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-wire-features-private.h"
#include "wire/sbx-wire-message-private.h"
#include "wire/sbx-wire-reply-private.h"

G_BEGIN_DECLS

/*
 * SbxClientConnection:
 *
 * A provider's process and the calls that it works on. With a plain provider there is one in flight
 * and all others wait in the order in which they were made.
 */
typedef struct _SbxClientConnection SbxClientConnection;
typedef struct _SbxClientCall SbxClientCall;

/* What the owner is told. It is kept alive meanwhile, and may free the connection. */
typedef struct
{
  /* A line for a person. One of "stderr" is as it came. */
  void (*log)     (GObject      *owner,
                   const char   *source,
                   const char   *text);
  /* How many calls wait or are in flight is another number. */
  void (*changed) (GObject      *owner);
  /* Nothing waits and nothing is in flight any more, of a connection that was told to drain. */
  void (*idle)    (GObject      *owner);
  /* Nothing can be asked any more. What is to become of the calls is up to the function. */
  void (*broken)  (GObject      *owner,
                   const GError *error);
  /* The process is gone; told after that it is broken. */
  void (*gone)    (GObject      *owner);
} SbxClientConnectionFuncs;

typedef enum
{
  SBX_CLIENT_CALL_QUEUED,
  SBX_CLIENT_CALL_SENT,
  SBX_CLIENT_CALL_ABANDONED,    /* its caller was told; the provider still works on it */
  SBX_CLIENT_CALL_FOLLOWED,     /* it was answered, and events go on */
  SBX_CLIENT_CALL_OVER,
} SbxClientCallState;

/* What becomes of a call. Of @replied and @failed one is called, once. */
typedef struct
{
  const char *method;
  /* May be %NULL: events mean nothing to the method. */
  void     (*event)     (SbxClientCall      *call,
                         const SbxWireEvent *event);
  /* It has a result. */
  void     (*replied)   (SbxClientCall      *call,
                         SbxWireReply       *reply);
  void     (*failed)    (SbxClientCall      *call,
                         const GError       *error);
  /* May be %NULL. A result came for one whose caller was told otherwise. */
  void     (*too_late)  (SbxClientCall      *call,
                         SbxWireReply       *reply);
  /* Frees what the call has besides itself. */
  void     (*clear)     (SbxClientCall      *call);
  gboolean   insists;   /* it is sent although nobody waits for it any more */
} SbxClientCallClass;

struct _SbxClientCall
{
  const SbxClientCallClass *klass;
  SbxClientConnection      *connection;     /* not owned; %NULL when it is over */
  guint64                   number;
  SbxClientCallState        state;
  SbxWireMessage           *message;        /* until it is sent */
  guint64                   writer_number;
  GList                     link;           /* in the queue, or in what is in flight */
  gint64                    deadline;       /* monotonic, or 0 */
  guint                     timeout_ms;     /* 0: none */
  guint                     ref_count;
  guint                     told       : 1; /* nobody waits for it */
  guint                     cancelling : 1; /* the provider was asked to end it */
  guint                     guessed    : 1; /* what may have been its reply could not be read */
  guint                     follows    : 1; /* events go on after the reply */
  guint                     urgent     : 1; /* does not wait for others */
};

/* @owner is not kept alive. */
SbxClientConnection *_sbx_client_connection_new          (const SbxClientConnectionFuncs *funcs,
                                                          GObject                        *owner,
                                                          GMainContext                   *context);
/* Ends the process if it still runs. Calls that are left end without being told. Any thread may do
 * this. */
void                 _sbx_client_connection_free         (SbxClientConnection  *self);

/* The main context must be the thread's default. */
gboolean             _sbx_client_connection_start        (SbxClientConnection  *self,
                                                          const char * const   *argv,
                                                          const char * const   *environment,
                                                          gsize                 max_size,
                                                          GError              **error);

void                 _sbx_client_connection_set_features (SbxClientConnection  *self,
                                                          SbxWireFeatures       features);
void                 _sbx_client_connection_set_grace    (SbxClientConnection  *self,
                                                          guint                 grace_ms);

/* The number of the next request. One is used up even where its message cannot be made. */
guint64              _sbx_client_connection_next_number  (SbxClientConnection  *self);

/* @size is that of the struct that begins with the call. */
gpointer             _sbx_client_call_new                (gsize                           size,
                                                          const SbxClientCallClass       *klass,
                                                          guint64                         number);
SbxClientCall       *_sbx_client_call_ref                (SbxClientCall        *call);
void                 _sbx_client_call_unref              (SbxClientCall        *call);

/* Takes @call and @message. Where the connection is broken the call fails at once. */
void                 _sbx_client_connection_submit       (SbxClientConnection  *self,
                                                          SbxClientCall        *call,
                                                          SbxWireMessage       *message);

/* The caller gave up. Does nothing to a call that is over. */
void                 _sbx_client_call_cancel             (SbxClientCall        *call);
/* The caller is told @error, and what else comes of it is passed over. */
void                 _sbx_client_call_give_up            (SbxClientCall        *call,
                                                          const GError         *error);
/* It may take so much longer from now on. */
void                 _sbx_client_call_limit              (SbxClientCall        *call,
                                                          guint                 timeout_ms);
/* Of a call that follows: no more events are wanted, or there are none. */
void                 _sbx_client_call_end                (SbxClientCall        *call);

typedef void (*SbxClientCallFunc) (SbxClientCall *call,
                                   gpointer       user_data);

/* Of all calls whose events go on after their reply. */
void                 _sbx_client_connection_foreach_followed (SbxClientConnection *self,
                                                              SbxClientCallFunc    func,
                                                              gpointer             user_data);

/* While it is paused, which nests, nothing is read. */
void                 _sbx_client_connection_pause        (SbxClientConnection  *self);
void                 _sbx_client_connection_resume       (SbxClientConnection  *self);

/* What waits fails with @error, but for what insists; the rest is told when it is through. */
void                 _sbx_client_connection_drain        (SbxClientConnection  *self,
                                                          const GError         *error);
/* The provider finds the end of its input when all is written. */
void                 _sbx_client_connection_finish       (SbxClientConnection  *self);
/* Nothing is written or read any more. Every call fails with @error. */
void                 _sbx_client_connection_fail_calls   (SbxClientConnection  *self,
                                                          const GError         *error);
/* Breaks it with @error, which is taken, and ends the process. */
void                 _sbx_client_connection_break        (SbxClientConnection  *self,
                                                          GError               *error,
                                                          guint                 patience_ms);
void                 _sbx_client_connection_end_child    (SbxClientConnection  *self,
                                                          guint                 patience_ms);
void                 _sbx_client_connection_kill         (SbxClientConnection  *self);

const GError        *_sbx_client_connection_get_failure  (SbxClientConnection  *self);
/* Whether the process ended in another way than it should have; why. */
GError              *_sbx_client_connection_judge_end    (SbxClientConnection  *self);
gboolean             _sbx_client_connection_is_gone      (SbxClientConnection  *self);
SbxWireFeatures      _sbx_client_connection_get_features (SbxClientConnection  *self);
guint                _sbx_client_connection_n_in_flight  (SbxClientConnection  *self);
guint                _sbx_client_connection_n_queued     (SbxClientConnection  *self);
guint64              _sbx_client_connection_n_dropped    (SbxClientConnection  *self);
GStrv                _sbx_client_connection_dup_calls    (SbxClientConnection  *self);

G_END_DECLS
