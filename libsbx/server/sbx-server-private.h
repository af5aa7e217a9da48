/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-process.h"
#include "core/sbx-provider.h"
#include "core/sbx-session.h"
#include "server/sbx-provider-server.h"
#include "wire/sbx-wire-answer-private.h"
#include "wire/sbx-wire-call-private.h"
#include "wire/sbx-wire-reader-private.h"
#include "wire/sbx-wire-writer-private.h"

G_BEGIN_DECLS

/* From here on a command waits until the client has read. A small reply waits behind no more. */
#define SBX_SERVER_OUTPUT_HIGH (512 * 1024)

/* From here on no file is read, and from there on no request. A request to cancel gets through when
 * output alone is what nobody reads. */
#define SBX_SERVER_REPLIES_HIGH (4 * 1024 * 1024)
#define SBX_SERVER_REQUESTS_HIGH (8 * 1024 * 1024)

typedef struct _SbxServerConnection SbxServerConnection;
typedef struct _SbxServerCall SbxServerCall;
typedef struct _SbxServerSession SbxServerSession;
typedef struct _SbxServerProcess SbxServerProcess;
typedef struct _SbxServerOutput SbxServerOutput;

typedef struct
{
  char    *provider_name;         /* or %NULL for any */
  guint64  max_message_size;
  guint    max_sessions;
  guint    max_pending;
} SbxServerLimits;

typedef enum
{
  SBX_SERVER_RUNNING,
  SBX_SERVER_ENDING,          /* no more requests; calls and sessions are being ended */
  SBX_SERVER_FLUSHING,        /* nothing is left but what the client has not read yet */
  SBX_SERVER_DONE,
} SbxServerState;

/* One run of a server, from the first request to the last reply. */
struct _SbxServerConnection
{
  SbxProviderServer *server;
  GTask             *task;           /* until it is done */
  SbxProvider       *provider;
  GMainContext      *context;
  SbxServerLimits    limits;
  SbxServerState     state;
  GError            *failure;        /* what ended the run, if that was no end that was asked for */

  SbxWireReader     *reader;
  SbxWireWriter     *writer;         /* %NULL when nothing can be written any more */
  GSource           *turn;           /* writes what was gathered, and lets the reader go on */
  GSource           *linger;
  gint64             resume_at;      /* when the reader may go on, in monotonic microseconds */
  guint              n_lines;        /* in this turn */
  guint              n_piled_up;     /* calls begun since the last rest while many were pending */
  guint              gathering : 1;
  guint              paused    : 1;

  GHashTable        *calls;          /* id -> SbxServerCall: unanswered, or with events to come */
  GHashTable        *sessions;       /* id -> SbxServerSession */
  GHashTable        *closed;         /* ids of sessions that were closed, as far as remembered */
  GQueue             closed_order;   /* of the same strings, the oldest first */
  GHashTable        *outputs;        /* of SbxServerOutput, not owned */
  guint              n_pending;
  guint              n_opening;
  guint              n_processes;
  guint64            n_collected;    /* bytes of output that results wait to repeat */
  guint64            n_payload;      /* bytes of unanswered requests */
  GQueue             reads;          /* of SbxServerCall that wait for their turn to read a file */
  GQueue             large_reads;
  GQueue             lists;          /* of such that wait to list a directory */
  guint              n_reads;
  guint              n_large_reads;
  guint              n_lists;
  SbxServerCall     *shutdown;       /* answered when all has ended */
};

/* The run holds the reference that is returned, until its end. */
SbxServerConnection *_sbx_server_connection_new        (GTask                 *task,
                                                        SbxProvider           *provider,
                                                        const SbxServerLimits *limits,
                                                        int                    input_fd,
                                                        int                    output_fd);
SbxServerConnection *_sbx_server_connection_ref        (SbxServerConnection   *self);
void                 _sbx_server_connection_unref      (SbxServerConnection   *self);
/* Takes @message, which goes nowhere when the client is gone. */
void                 _sbx_server_connection_push       (SbxServerConnection   *self,
                                                        SbxWireMessage        *message);
gsize                _sbx_server_connection_waiting    (SbxServerConnection   *self);
/* Pauses the reader or lets it go on, as things stand. */
void                 _sbx_server_connection_regulate   (SbxServerConnection   *self);
/* Tells the server what changed in numbers. */
void                 _sbx_server_connection_count      (SbxServerConnection   *self);

/* sbx-server-end.c. Takes @failure, which may be %NULL: cancels all calls, closes all sessions and
 * returns the task when that is done. */
void                 _sbx_server_connection_end        (SbxServerConnection   *self,
                                                        GError                *failure);
/* To be called when something has ended. */
void                 _sbx_server_connection_check_end  (SbxServerConnection   *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxServerConnection, _sbx_server_connection_unref)

typedef void (*SbxServerCallFunc) (SbxServerCall *call);

/* One request. Whoever works on it holds it. */
struct _SbxServerCall
{
  SbxServerConnection *connection;
  SbxWireCall          wire;
  GCancellable        *cancellable;
  SbxServerSession    *session;      /* of methods that have one */
  SbxServerCallFunc    withdraw;     /* while it merely waits: how to take it out again */
  gpointer             place;        /* where it waits, not owned */
  GBytes              *bytes;        /* that are being written to a command */
  gsize                payload;      /* bytes of its line, where those are many */
  char                *path;         /* that is to be read, and what of it */
  SbxWireRange         range;
  char                *group;        /* of a session that is being opened, or that is cleaned up */
  guint                n_left;       /* of what it waits for, and what it counted meanwhile */
  guint                count;
  guint                answered : 1;
  guint                followed : 1; /* events come after the reply: the id stays taken */
};

/* Takes a line that came, and begins to do what it asks for. */
void           _sbx_server_call_begin      (SbxServerConnection  *connection,
                                            SbxWireLine          *line);
SbxServerCall *_sbx_server_call_ref        (SbxServerCall        *self);
void           _sbx_server_call_unref      (SbxServerCall        *self);
/* %FALSE when there is no such session, and the call was answered with that. */
gboolean       _sbx_server_call_find_session (SbxServerCall      *self);
/* Takes @message. */
void           _sbx_server_call_answer     (SbxServerCall        *self,
                                            SbxWireMessage       *message);
void           _sbx_server_call_done       (SbxServerCall        *self);
void           _sbx_server_call_fail       (SbxServerCall        *self,
                                            const GError         *error);
void           _sbx_server_call_fail_code  (SbxServerCall        *self,
                                            const char           *code,
                                            const char           *message);
void           _sbx_server_call_cancel     (SbxServerCall        *self);
/* The last event of a call that was answered before. */
void           _sbx_server_call_unfollow   (SbxServerCall        *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxServerCall, _sbx_server_call_unref)

/* sbx-server-sessions.c */
struct _SbxServerSession
{
  SbxServerConnection *connection;
  SbxSession          *session;
  char                *id;           /* on the wire */
  char                *group;
  GHashTable          *processes;    /* id -> SbxServerProcess */
  GQueue               ended;        /* of ids of processes that have ended, the oldest first */
  guint                n_made_up;    /* ids that we had to make up */
};

SbxServerSession *_sbx_server_session_ref    (SbxServerSession     *self);
void              _sbx_server_session_unref  (SbxServerSession     *self);
void              _sbx_server_session_remove (SbxServerSession     *self);

/* What a client is told of a session that is able to do that. */
SbxWireFeatures   _sbx_server_features       (SbxCapabilities       able);

void              _sbx_server_open           (SbxServerCall        *call);
void              _sbx_server_close          (SbxServerCall        *call);
void              _sbx_server_cleanup_group  (SbxServerCall        *call);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxServerSession, _sbx_server_session_unref)

/* sbx-server-files.c */
void _sbx_server_create_temp_dir (SbxServerCall *call);
void _sbx_server_create_dir_all  (SbxServerCall *call);
void _sbx_server_write_file      (SbxServerCall *call);
void _sbx_server_remove          (SbxServerCall *call);
void _sbx_server_stat            (SbxServerCall *call);
void _sbx_server_rename          (SbxServerCall *call);
void _sbx_server_copy            (SbxServerCall *call);

/* sbx-server-reads.c */
void _sbx_server_read_file       (SbxServerCall       *call);
void _sbx_server_list_dir        (SbxServerCall       *call);
/* Begins those that waited, as far as there is room now. */
void _sbx_server_reads_go_on     (SbxServerConnection *connection);

/* sbx-server-output.c: one of the two streams of a command, on its way to the client. */
typedef void (*SbxServerOutputFunc) (SbxServerOutput *self,
                                     gpointer         user_data);

struct _SbxServerOutput
{
  SbxServerConnection *connection;   /* %NULL before the begin and after the end */
  const char          *type;
  const char          *call_id;      /* that the events have */
  GInputStream        *stream;
  int                  fd;
  GSource             *source;
  SbxServerOutputFunc  func;
  gpointer             user_data;
  GByteArray          *collected;
  guint64              limit;        /* of what is collected */
  guint64              truncated;
  guint                ended : 1;
};

/* Reads @stream, as fast as the client reads. At its end, never from within this, @func is called.
 * What holds the output has to stay until then, or until it was stopped. */
gboolean _sbx_server_output_begin   (SbxServerOutput      *self,
                                     SbxServerConnection  *connection,
                                     const char           *call_id,
                                     const char           *type,
                                     GInputStream         *stream,
                                     guint64               limit,
                                     SbxServerOutputFunc   func,
                                     gpointer              user_data);
/* Nothing more is read, and nobody is told. */
void     _sbx_server_output_stop    (SbxServerOutput      *self);
/* The client has read what waited. */
void     _sbx_server_output_resume  (SbxServerOutput      *self);
/* Whether it waits for the command, not for the client. */
gboolean _sbx_server_output_is_idle (SbxServerOutput      *self);
/* (transfer full) */
GBytes  *_sbx_server_output_collect (SbxServerOutput      *self);
void     _sbx_server_output_clear   (SbxServerOutput      *self);

/* sbx-server-exec.c */
struct _SbxServerProcess
{
  SbxServerConnection *connection;
  SbxServerSession    *session;
  SbxServerCall       *call;         /* that started it, and whose id the events have */
  SbxProcess          *process;
  char                *id;           /* %NULL before it has started */
  SbxWireExecOptions   options;
  SbxServerOutput      outputs[2];
  SbxExecResult       *result;
  GSource             *drain;        /* ends the wait for outputs that somebody keeps open */
  GQueue               writes;       /* of owned SbxServerCall: the first is being written */
  gulong               started_id;
  gulong               exited_id;
  guint                spawned   : 1;
  guint                flowing   : 1; /* outputs are being read */
  guint                stopped   : 1; /* no output is read any more */
  guint                concluded : 1; /* its end was told */
  guint                counted   : 1;
};

SbxServerProcess *_sbx_server_process_ref   (SbxServerProcess *self);
void              _sbx_server_process_unref (SbxServerProcess *self);

/* The session is closed: nothing more is told of it. */
void              _sbx_server_process_stop  (SbxServerProcess *self);

void              _sbx_server_exec          (SbxServerCall    *call);
void              _sbx_server_spawn         (SbxServerCall    *call);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxServerProcess, _sbx_server_process_unref)

/* sbx-server-processes.c */
void _sbx_server_wait           (SbxServerCall *call);
void _sbx_server_kill           (SbxServerCall *call);
void _sbx_server_list_processes (SbxServerCall *call);
void _sbx_server_write_stdin    (SbxServerCall *call);
void _sbx_server_close_stdin    (SbxServerCall *call);
void _sbx_server_resize_pty     (SbxServerCall *call);

/* sbx-provider-server.c */
struct _SbxProviderServer
{
  GObject          parent_instance;

  SbxProvider     *provider;
  GInputStream    *input;
  GOutputStream   *output;
  SbxServerLimits  limits;
  guint            n_sessions;
  guint            n_pending;
  gboolean         has_run;
};

void _sbx_provider_server_count (SbxProviderServer *self,
                                 guint              n_sessions,
                                 guint              n_pending);

G_END_DECLS
