/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Which file a descriptor is, and on which mount it was found. */
typedef struct
{
  guint64 device;
  guint64 inode;
  guint64 mount;
  guint mode;
} SbxFileId;

/* FALSE with errno. */
gboolean _sbx_file_id_get (int        fd,
                           SbxFileId *id);

/* What the first does where statx() does not tell the mount: exposed for its test. */
gboolean _sbx_file_id_read_mount (int      fd,
                                  guint64 *mount);

gboolean _sbx_file_id_same_file (const SbxFileId *a,
                                 const SbxFileId *b);

/* A bind mount of the same file system is another mount on the same device. */
gboolean _sbx_file_id_same_mount (const SbxFileId *a,
                                  const SbxFileId *b);

G_END_DECLS
