/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "bwrap/sbx-init-channel-private.h"
#include "bwrap/sbx-init-outbox-private.h"
#include "bwrap/sbx-init-report-private.h"

G_BEGIN_DECLS

/* What the files of the channel share, and nobody else sees. */

typedef enum
{
  SBX_INIT_CHANNEL_NEW,
  SBX_INIT_CHANNEL_SETTING_UP,
  SBX_INIT_CHANNEL_READY,
  SBX_INIT_CHANNEL_CLOSING,      /* asked to end */
  SBX_INIT_CHANNEL_LOST,         /* the socket is closed; the cause is known */
} SbxInitChannelState;

struct _SbxInitChannel
{
  GObject              parent_instance;

  GMainContext        *context;
  SbxInitChannelState  state;
  int                  fd;
  int                  pidfd;          /* of process 1, once it said hello */
  pid_t                pid;            /* for checking who sends, while setting up */
  SbxInitOutbox       *outbox;
  GSource             *input;
  GError              *cause;          /* why it was lost */

  GTask               *setup_task;
  GSource             *setup_cancelled;
  SbxInitExpectation  *expectations;
  gsize                n_expectations;
  gsize                n_checked;
  SbxInitChannelHeld   held;           /* (nullable) */
  gpointer             held_data;

  gboolean             stopped;        /* everything inside is */
  GTask               *check_task;
  GArray              *checked;        /* (element-type SbxInitMount) */
  gsize                n_to_check;

  GHashTable          *execs;          /* id => owned SbxInitExec */
  guint64              last_id;

  GPtrArray           *close_tasks;
  GSource             *gone;           /* process 1 is; while closing */
  GSource             *grace;
};

typedef struct
{
  guint64             id;
  SbxInitExecHandler  handler;
  gpointer            user_data;
  GDestroyNotify      destroy;
  gboolean            is_command;
  gboolean            terminal;
  gboolean            started;
  GError             *error;       /* what its end will be told as */
} SbxInitExec;


/* Attaches to the channel's context. Returns (transfer full): @source, which is consumed. */
GSource        *_sbx_init_channel_attach       (SbxInitChannel        *self,
                                                GSource               *source,
                                                GSourceFunc            func,
                                                gpointer               user_data,
                                                GDestroyNotify         destroy);
void            _sbx_init_channel_clear_source (GSource              **source);
SbxInitMessage  _sbx_init_channel_message      (guint16                type,
                                                guint64                id);
void            _sbx_init_channel_send         (SbxInitChannel        *self,
                                                const SbxInitMessage  *message,
                                                const int             *fds,
                                                gsize                  n_fds);
/* Takes an exec out of the table and tells its end: whoever takes it is the only one that can. */
void            _sbx_init_channel_finish_exec  (SbxInitChannel        *self,
                                                guint64                id,
                                                const SbxInitEnd      *end,
                                                const GError          *error);
GTask          *_sbx_init_channel_take_setup   (SbxInitChannel        *self);
GTask          *_sbx_init_channel_take_check   (SbxInitChannel        *self);
void            _sbx_init_channel_emit_changed (SbxInitChannel        *self);
void            _sbx_init_channel_kill         (SbxInitChannel        *self);
/* Every way out ends here, from a source of the context. What was asked for ends with @error. */
void            _sbx_init_channel_lose         (SbxInitChannel        *self,
                                                const GError          *error);

/* sbx-init-channel-watch.c; TRUE when it was a message about the mounts. */
gboolean        _sbx_init_channel_is_watch     (const SbxInitHead     *head);
gboolean        _sbx_init_channel_handle_watch (SbxInitChannel        *self,
                                                const SbxInitIncoming *incoming,
                                                GError               **error);

/* sbx-init-channel-input.c */
gboolean        _sbx_init_channel_input_cb     (int                    fd,
                                                GIOCondition           condition,
                                                gpointer               user_data);
gboolean        _sbx_init_channel_send_setup   (SbxInitChannel        *self,
                                                GError               **error);
/* FALSE when there is nothing more to read now. */
gboolean        _sbx_init_channel_read_one     (SbxInitChannel        *self);

G_END_DECLS
