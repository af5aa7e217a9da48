/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* Options of bwrap that are used where they exist. Those that are needed are not listed: without
 * them there is no SbxBwrapProgram. */
typedef enum
{
  SBX_BWRAP_OPTION_NONE     = 0,
  SBX_BWRAP_OPTION_BIND_FD  = 1 << 0,   /* --bind-fd and --ro-bind-fd */
} SbxBwrapOptions;

/* A bubblewrap that may be used. */
typedef struct
{
  char            *path;      /* absolute */
  SbxBwrapOptions  options;
} SbxBwrapProgram;

/* One answer about this machine. */
typedef struct
{
  const char *id;        /* stable, for programs: "bubblewrap", "user-namespaces", "proc", … */
  gboolean    ok;
  gboolean    required;  /* no sandbox at all without it */
  char       *summary;   /* translated, one sentence */
  char       *remedy;    /* (nullable) translated: what to do */
} SbxBwrapFinding;

/* Looks for bubblewrap without running it: @explicit_path (nullable), else /usr/bin/bwrap, else
 * PATH. Refuses one that is setuid, below @home (nullable: the user's) or below one of @write
 * (nullable). Free with g_free(). */
char            *_sbx_bwrap_probe_find           (const char            *explicit_path,
                                                  const char            *home,
                                                  const char * const    *write,
                                                  GError               **error);

/* The program at @path, when what it can do is known already, in this process or from the cache on
 * disk; %NULL when it has to be asked. Does not block on anything but a small file. */
SbxBwrapProgram *_sbx_bwrap_probe_peek           (const char            *path);

/* Asks the program at @path what it can do, unless that is known. One that lacks a needed option is
 * SBX_ERROR_NOT_ENFORCEABLE naming it. */
void             _sbx_bwrap_probe_program_async  (const char            *path,
                                                  GCancellable          *cancellable,
                                                  GAsyncReadyCallback    callback,
                                                  gpointer               user_data);
SbxBwrapProgram *_sbx_bwrap_probe_program_finish (GAsyncResult          *result,
                                                  GError               **error);

/* What this machine allows: runs a trivial sandbox, and where that fails finds out why. Fails only
 * when cancelled. @explicit_path may be %NULL. */
void             _sbx_bwrap_probe_async          (const char            *explicit_path,
                                                  GCancellable          *cancellable,
                                                  GAsyncReadyCallback    callback,
                                                  gpointer               user_data);
GPtrArray       *_sbx_bwrap_probe_finish         (GAsyncResult          *result,
                                                  GError               **error);

/* One error out of the findings that are not OK: %NULL when all that is required is. */
GError          *_sbx_bwrap_probe_to_error       (GPtrArray             *findings);

SbxBwrapProgram *_sbx_bwrap_program_copy         (const SbxBwrapProgram *self);
void             _sbx_bwrap_program_free         (SbxBwrapProgram       *self);
void             _sbx_bwrap_finding_free         (SbxBwrapFinding       *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapProgram, _sbx_bwrap_program_free)

G_END_DECLS
