/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "conformance/sbx-conformance-trial-private.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_CHECK_NONE    = 0,
  SBX_CHECK_SESSION = 1 << 0,   /* a session must be open */
  SBX_CHECK_EXEC    = 1 << 1,   /* the same, and it must be able to execute */
  SBX_CHECK_FRESH   = 1 << 2,   /* in a provider that did nothing before */
  SBX_CHECK_SPOILS  = 1 << 3,   /* the provider is of no use afterwards */
} SbxCheckFlags;

typedef struct
{
  guint                  number;    /* 0 ends a table */
  SbxConformanceLevel    level;
  const char            *title;
  void                 (*func) (SbxTrial *trial);
  SbxCheckFlags          flags;
} SbxCheckEntry;

extern const SbxCheckEntry _sbx_checks_plain[];
extern const SbxCheckEntry _sbx_checks_plain_files[];
extern const SbxCheckEntry _sbx_checks_plain_exec[];
extern const SbxCheckEntry _sbx_checks_plain_exec_more[];
extern const SbxCheckEntry _sbx_checks_plain_end[];
extern const SbxCheckEntry _sbx_checks_multiplex[];
extern const SbxCheckEntry _sbx_checks_process[];
extern const SbxCheckEntry _sbx_checks_ends[];
extern const SbxCheckEntry _sbx_checks_files[];
extern const SbxCheckEntry _sbx_checks_robust_lines[];
extern const SbxCheckEntry _sbx_checks_robust_life[];

/* All tables, in the order in which they are gone through; %NULL ends them. */
extern const SbxCheckEntry * const _sbx_check_tables[];

/* What an execution did, pieced together from events and result. */
typedef struct
{
  SbxReply    reply;
  GByteArray *out;            /* from events */
  GByteArray *err;
  GBytes     *result_out;     /* from the result; %NULL where it has none */
  GBytes     *result_err;
  guint       n_started;
  guint       n_exited;
  guint       n_output;       /* events */
  gboolean    in_order;       /* started, output, exited */
  gint64      exited_code;    /* of the event */
  gint64      exit_code;      /* of the result */
  const char *process_id;
} SbxSeen;

void      _sbx_seen_clear      (SbxSeen      *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxSeen, _sbx_seen_clear)

/* exec of @argv, which is JSON with ' for ", with @more members behind it. */
gboolean  _sbx_seen_exec       (SbxSeen      *self,
                                SbxTrial     *trial,
                                const char   *argv,
                                const char   *more);
/* exec of a shell script. */
gboolean  _sbx_seen_shell      (SbxSeen      *self,
                                SbxTrial     *trial,
                                const char   *script,
                                const char   *more);
/* The params of exec or spawn for a shell script, expanded. */
char     *_sbx_seen_params     (SbxTrial     *trial,
                                const char   *script,
                                const char   *more);
/* Reads what @reply has. */
gboolean  _sbx_seen_read       (SbxSeen      *self,
                                SbxTrial     *trial);

/* Fails unless the exit code is @code; of the result alone. */
gboolean  _sbx_seen_expect_exit (SbxSeen      *self,
                                 SbxTrial     *trial,
                                 int           code);
/* Fails unless what the result says was written is exactly @text. */
gboolean  _sbx_seen_expect_out (SbxSeen      *self,
                                SbxTrial     *trial,
                                const char   *text);
gboolean  _sbx_seen_expect_err (SbxSeen      *self,
                                SbxTrial     *trial,
                                const char   *text);
/* The same for bytes. */
gboolean  _sbx_trial_expect_bytes (SbxTrial      *trial,
                                   GBytes        *bytes,
                                   const char    *what,
                                   gconstpointer  data,
                                   gsize          size);

/* Writes and reads files in a session. */
gboolean  _sbx_trial_write     (SbxTrial       *trial,
                                const char     *path,
                                gconstpointer   data,
                                gsize           size);
gboolean  _sbx_trial_read      (SbxTrial       *trial,
                                const char     *path,
                                GBytes        **content);
/* Fails unless the file has exactly these bytes. */
gboolean  _sbx_trial_read_expect (SbxTrial       *trial,
                                  const char     *path,
                                  gconstpointer   data,
                                  gsize           size);
/* Fails if the file still changes: what writes into it must have been ended. */
gboolean  _sbx_trial_stands_still (SbxTrial       *trial,
                                   const char     *path);
/* Fails unless reading the file is refused. */
gboolean  _sbx_trial_is_missing (SbxTrial       *trial,
                                 const char     *path);

G_END_DECLS
