/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/types.h>

#include "init/sbx-mount-protocol-private.h"

G_BEGIN_DECLS

typedef enum
{
  SBX_LATE_MOUNT_READ_ONLY = SBX_MOUNT_READ_ONLY,   /* bound on itself */
  SBX_LATE_MOUNT_PIN       = SBX_MOUNT_PIN,         /* the same, as writable as it is */
  SBX_LATE_MOUNT_WRITABLE  = SBX_MOUNT_WRITABLE,    /* the same, writable below what is not */
  SBX_LATE_MOUNT_MASK      = SBX_MOUNT_MASK,        /* shows nothing, or an empty directory */
} SbxLateMountKind;

/* A mount that is made from outside in a sandbox that runs. */
typedef struct
{
  char             *path;      /* inside, absolute, canonical, any bytes */
  SbxLateMountKind  kind;
  dev_t             device;    /* of what must be at @path before */
  ino_t             inode;
} SbxLateMount;

/* Makes @mounts in their order in the sandbox whose process 1 @pidfd is of; all of it is copied.
 * Errors name the path: SBX_ERROR_SETUP_FAILED; %G_IO_ERROR_TIMED_OUT after @deadline_ms;
 * %G_IO_ERROR_CANCELLED. After an error those before may have been made. The callback comes in the
 * context that is the thread's default now. */
void      _sbx_bwrap_mounter_run_async   (int                   pidfd,
                                          const SbxLateMount   *mounts,
                                          gsize                 n_mounts,
                                          guint                 deadline_ms,
                                          GCancellable         *cancellable,
                                          GAsyncReadyCallback   callback,
                                          gpointer              user_data);
gboolean  _sbx_bwrap_mounter_run_finish  (GAsyncResult         *result,
                                          GError              **error);

void      _sbx_late_mount_clear          (SbxLateMount         *self);

G_END_DECLS
