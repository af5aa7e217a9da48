/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* How a short run of bubblewrap went. */
typedef struct
{
  gboolean  succeeded;   /* exited with 0 */
  char     *output;      /* both streams, valid UTF-8, bounded */
} SbxBwrapRun;

/* Runs @argv with an empty environment in a session of its own, nothing on its standard input, and
 * kills it when it takes too long. Ending with a failure is no error. */
void         _sbx_bwrap_run_async  (const char * const   *argv,
                                    GCancellable         *cancellable,
                                    GAsyncReadyCallback   callback,
                                    gpointer              user_data);
SbxBwrapRun *_sbx_bwrap_run_finish (GAsyncResult         *result,
                                    GError              **error);
void         _sbx_bwrap_run_free   (SbxBwrapRun          *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapRun, _sbx_bwrap_run_free)

G_END_DECLS
