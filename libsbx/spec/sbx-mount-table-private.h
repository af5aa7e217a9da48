/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What is mounted, and where, as this process sees it: to know a directory again under the names
 * that bind mounts give it. Reading does not touch what is mounted, which may not answer. */

typedef struct
{
  int   id;
  int   parent;
  char *device;   /* of the file system, as “major:minor” */
  char *root;     /* on that file system: what is mounted of it */
  char *point;    /* where */
  char *type;     /* (nullable) of the file system */
} SbxMount;

/* Where a path is on its file system, which is the same for all its names. */
typedef struct
{
  char *device;   /* NULL if it is not known */
  char *path;
} SbxMountPlace;

/* Of SbxMount. */
GPtrArray *_sbx_mount_table_read    (GError              **error);

/* Gives one without a device if nothing is known of @path, which is real. */
void       _sbx_mount_table_locate  (GPtrArray            *self,
                                     const char           *path,
                                     SbxMountPlace        *place);

/* @place is @ancestor or below it. */
gboolean   _sbx_mount_place_is_below
                                    (const SbxMountPlace  *place,
                                     const SbxMountPlace  *ancestor);
void       _sbx_mount_place_clear   (SbxMountPlace        *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxMountPlace, _sbx_mount_place_clear)

G_END_DECLS
