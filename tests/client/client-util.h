/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sbx.h>

#include "test-util.h"

G_BEGIN_DECLS

/*
 * A client and the provider that misbehaves, in a workspace of its own. What the provider received
 * is in a file, and when the client is freed nothing of it may be left: no process, no zombie.
 */
typedef struct
{
  SbxProviderClient *client;
  char              *workspace;
  char              *record;
  GString           *log;           /* what "log" said */
  guint              n_closed;      /* emissions of "closed" */
  char              *closed;        /* the message of the error that came with it */
} TestClient;

/* Before the first test: g_test_init(), and orphans become ours. */
void        test_client_init           (int             *argc,
                                        char          ***argv);

/* @options are those of fake-provider. */
TestClient *test_client_new            (const char      *options);
void        test_client_free           (TestClient      *self);

/* Has a session opened; it must work. */
SbxSession *test_client_open           (TestClient      *self);
SbxOpenRequest *test_client_request    (TestClient      *self);

/* What the provider received so far. */
char       *test_client_read_record    (TestClient      *self);
/* How many of its lines have @text. */
guint       test_client_count_record   (TestClient      *self,
                                        const char      *text);
/* The methods that it received, each with a space. */
char       *test_client_methods        (TestClient      *self);

SbxCommand *test_command               (const char      *first,
                                        ...) G_GNUC_NULL_TERMINATED;
/* A command that runs in a shell. */
SbxCommand *test_shell                 (const char      *script);

/* The provider's process, as a command in the session knows it. */
GPid        test_client_provider_pid   (SbxSession      *session);

/* Waits until this process has no children, and fails when some stay. */
void        test_wait_for_no_children  (void);
void        test_kill_children         (void);

/* Whether such a process exists, zombies included. */
gboolean    test_process_exists        (GPid             pid);

void        test_wait_for_exit         (GPid             pid);

/* Runs what is ready. */
void        test_run_ready             (void);
/* Runs the loop for that long. */
void        test_run_for               (guint            milliseconds);

/* Waits for @result, and finishes an exec or a close with it. */
SbxExecResult *test_finish_exec        (SbxSession      *session,
                                        GAsyncResult   **result,
                                        GError         **error);

/* A timer that ticks every 5 ms while the loop runs. */
typedef struct
{
  guint   source;
  gint64  last;
  gint64  worst;                /* µs that it was late */
} TestTimer;

void        test_timer_start           (TestTimer       *self);
/* Returns how late it was at worst, in milliseconds. */
guint       test_timer_stop            (TestTimer       *self);

/* Whether the memory of this process is what the library uses, and not what watches it. */
gboolean    test_memory_counts         (void);
/* "VmHWM:" or "VmRSS:" of this process, in KiB. */
gint64      test_memory                (const char      *name);
/* Sets VmHWM back to what is used now. */
void        test_memory_reset          (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TestClient, test_client_free)

G_END_DECLS
