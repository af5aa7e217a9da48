/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "bwrap/sbx-init-channel-private.h"

#include "test-util.h"

G_BEGIN_DECLS

/* A sandbox with the smallest plan: the machine read-only, a /tmp of its own. */
typedef struct
{
  SbxInitChannel *channel;
  GSubprocess    *bwrap;
  GError         *lost;
} Sandbox;

Sandbox *sandbox_new           (void);
/* With more arguments for bwrap, and with what process 1 is expected to see. */
Sandbox *sandbox_new_full      (const char * const        *arguments,
                                const SbxInitExpectation  *expectations,
                                gsize                      n_expectations,
                                GError                   **error);
void     sandbox_close         (Sandbox                   *sandbox);
void     sandbox_free          (Sandbox                   *sandbox);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Sandbox, sandbox_free)

/* Starts bwrap with process 1 on @control, which is consumed. */
GSubprocess *sandbox_spawn     (const char * const        *arguments,
                                int                        control);

/* One exec, its output, and how it ended. */
typedef struct
{
  Sandbox    *sandbox;
  guint64     id;
  gint64      pid;
  int         terminal;
  int         stdin_fd;       /* ours, when asked for */
  GString    *output[2];
  guint       readers[2];     /* sources; 0 at the end of file */
  int         pipes[2];
  guint       n_started;
  guint       n_ended;
  SbxInitEnd  end;
  GError     *error;
} Run;

Run     *run_new               (Sandbox                   *sandbox);
void     run_free              (Run                       *run);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Run, run_free)

/* Fills in what is not given: pipes, an environment, "/". */
void     run_start             (Run                       *run,
                                SbxInitRequest            *request);
/* Fills in nothing. */
void     run_start_bare        (Run                       *run,
                                const SbxInitRequest      *request);
/* Until it ended and nobody holds its pipes. */
void     run_wait              (Run                       *run);
Run     *run_argv              (Sandbox                   *sandbox,
                                SbxInitVerb                verb,
                                const char * const        *argv);
Run     *run_shell             (Sandbox                   *sandbox,
                                const char                *script);
/* Both start and wait. */
Run     *run_shell_wait        (Sandbox                   *sandbox,
                                const char                *script);
Run     *run_file_verb         (Sandbox                   *sandbox,
                                SbxInitVerb                verb,
                                const char                *argument,
                                const char                *second,
                                const char                *content,
                                gssize                     content_size);

#define assert_end(run, a_kind, a_stage, a_value) \
  G_STMT_START { \
    g_assert_no_error ((run)->error); \
    g_assert_cmpint ((run)->n_ended, ==, 1); \
    g_assert_cmpint ((run)->end.kind, ==, (a_kind)); \
    g_assert_cmpint ((run)->end.stage, ==, (a_stage)); \
    g_assert_cmpint ((run)->end.value, ==, (a_value)); \
  } G_STMT_END

#define assert_exited(run, code) \
  assert_end (run, SBX_INIT_END_EXITED, SBX_INIT_STAGE_NONE, code)
#define assert_not_started(run, stage, error) \
  assert_end (run, SBX_INIT_END_NOT_STARTED, SBX_INIT_STAGE_ ## stage, error)

/* How many processes there are inside, but for process 1 and the one that counts. */
int      sandbox_count_others  (Sandbox                   *sandbox);

G_END_DECLS
