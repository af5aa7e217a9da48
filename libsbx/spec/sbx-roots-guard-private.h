/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "spec/sbx-mount-table-private.h"
#include "spec/sbx-roots-private.h"

G_BEGIN_DECLS

/* What the files of the rules share. */

typedef enum
{
  SBX_RULE_HOME,
  SBX_RULE_RUN_ROOT,
  SBX_RULE_HARNESS,
  SBX_RULE_KEYS,
  SBX_RULE_START,       /* for writing alone */
  SBX_RULE_MACHINE,
  SBX_RULE_CONFIG,      /* for writing alone */
  SBX_RULE_CONTROL,     /* the root itself */
  SBX_RULE_DOOR,        /* a child of it */
  SBX_RULE_ESCAPE,      /* a socket; for _sbx_roots_find_escape() alone */
} SbxRule;

/* What a file or a directory is, whatever its name. */
typedef struct
{
  dev_t device;
  ino_t inode;
} SbxFileId;

/* One place that is not for sandboxes. A root that symbolic links lead to has several: each link on
 * the way counts, since who can write one can turn it elsewhere. */
typedef struct
{
  SbxRule        rule;
  char          *path;     /* without any link, but for the last component of a link's place */
  gboolean       exists;
  SbxFileId      id;       /* if it does */
  GArray        *above;    /* of SbxFileId, of the directories that it lies in */
  SbxMountPlace  place;
} SbxGuarded;

void       _sbx_guarded_free         (SbxGuarded   *self);

/* What was found at paths, so that it is looked at each of them once: the places of a home lie in
 * few directories, most of which are not there. It is one look, for as long as the caller holds
 * it. */
typedef GHashTable SbxLooked;

SbxLooked *_sbx_looked_new           (void);

/* Follows the absolute @path by hand, and appends each link on the way, and where it ends, to
 * @places as owned texts. What does not exist, or cannot be looked at, is taken as it is
 * written. */
void       _sbx_places_follow        (SbxLooked    *looked,
                                      const char   *path,
                                      GPtrArray    *places);
/* The last of these. */
char      *_sbx_places_end           (SbxLooked    *looked,
                                      const char   *path);

/* Of @path and each directory above it, the deepest first; without those that are not there. */
GArray    *_sbx_file_ids_upwards     (SbxLooked    *looked,
                                      const char   *path);

/* Appends the places of @path to @guarded. */
void       _sbx_guarded_add          (SbxLooked    *looked,
                                      GPtrArray    *guarded,
                                      SbxRule       rule,
                                      const char   *path);

/* Of the sockets of this session that are full escapes. */
char     **_sbx_roots_list_escapes   (void);

/* The defaults for a home directory, whatever the environment says. */
char     **_sbx_roots_list_keys      (const char   *home);
char     **_sbx_roots_list_starts    (const char   *home);
char     **_sbx_roots_list_harnesses (const char   *home);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxGuarded, _sbx_guarded_free)

G_END_DECLS
