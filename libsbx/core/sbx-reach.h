/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-types.h"

G_BEGIN_DECLS

#define SBX_TYPE_REACH (sbx_reach_get_type ())

/**
 * SbxGitMode:
 * @SBX_GIT_MODE_DEFAULT: %SBX_GIT_MODE_COMMIT in a working tree that may be written, else
 *   %SBX_GIT_MODE_READ
 * @SBX_GIT_MODE_NONE: git directories are not there
 * @SBX_GIT_MODE_READ: they can be read
 * @SBX_GIT_MODE_COMMIT: commits can be made in a working tree that may be written, but nothing that
 *   git outside would run or follow can be changed, nor another working tree's state
 * @SBX_GIT_MODE_FULL: the git directories of a working tree that may be written can be written
 *   whole; what is put there is run by git outside
 *
 * What a sandbox may do with the git directories of what it can reach.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_GIT_MODE_DEFAULT,
  SBX_GIT_MODE_NONE,
  SBX_GIT_MODE_READ,
  SBX_GIT_MODE_COMMIT,
  SBX_GIT_MODE_FULL,
} SbxGitMode;

/**
 * SbxLimit:
 * @SBX_LIMIT_MEMORY: bytes of memory of the whole sandbox
 * @SBX_LIMIT_PROCESSES: processes and threads of the whole sandbox, at a time
 * @SBX_LIMIT_CPU_TIME: seconds of processor time of each process
 * @SBX_LIMIT_FILE_SIZE: bytes of each file that is written
 * @SBX_LIMIT_OPEN_FILES: descriptors of each process
 *
 * What of the machine a sandbox may use up.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_LIMIT_MEMORY,
  SBX_LIMIT_PROCESSES,
  SBX_LIMIT_CPU_TIME,
  SBX_LIMIT_FILE_SIZE,
  SBX_LIMIT_OPEN_FILES,
} SbxLimit;

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxReach, sbx_reach, SBX, REACH, GObject)

SBX_AVAILABLE_IN_1_0
SbxReach           *sbx_reach_new             (const char  *cwd);
SBX_AVAILABLE_IN_1_0
SbxReach           *sbx_reach_copy            (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
const char         *sbx_reach_get_cwd         (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
void                sbx_reach_add_read        (SbxReach    *self,
                                               const char  *path);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_reach_get_read        (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
void                sbx_reach_add_write       (SbxReach    *self,
                                               const char  *path);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_reach_get_write       (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
void                sbx_reach_set_variable    (SbxReach    *self,
                                               const char  *name,
                                               const char  *value);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_reach_get_environment (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
void                sbx_reach_add_domain      (SbxReach    *self,
                                               const char  *domain);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_reach_get_network     (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
void                sbx_reach_add_socket      (SbxReach    *self,
                                               const char  *path);
SBX_AVAILABLE_IN_1_0
const char * const *sbx_reach_get_sockets     (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
void                sbx_reach_set_web_search  (SbxReach    *self,
                                               gboolean     web_search);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_reach_get_web_search  (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
void                sbx_reach_set_git_mode    (SbxReach    *self,
                                               SbxGitMode   git_mode);
SBX_AVAILABLE_IN_1_0
SbxGitMode          sbx_reach_get_git_mode    (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
void                sbx_reach_set_limit       (SbxReach    *self,
                                               SbxLimit     limit,
                                               guint64      value);
SBX_AVAILABLE_IN_1_0
guint64             sbx_reach_get_limit       (SbxReach    *self,
                                               SbxLimit     limit);
SBX_AVAILABLE_IN_1_0
void                sbx_reach_set_environment_key (SbxReach    *self,
                                                   const char  *key,
                                                   const char  *settings);
SBX_AVAILABLE_IN_1_0
const char         *sbx_reach_get_environment_key (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
const char         *sbx_reach_get_settings    (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_reach_is_resolved     (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
GListModel         *sbx_reach_get_entries     (SbxReach    *self);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_reach_holds           (SbxReach    *self,
                                               const char  *path);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_reach_equal           (SbxReach    *self,
                                               SbxReach    *other);
SBX_AVAILABLE_IN_1_0
gboolean            sbx_reach_validate        (SbxReach    *self,
                                               GError     **error);
SBX_AVAILABLE_IN_1_0
SbxReach           *sbx_reach_new_from_json   (GBytes      *json,
                                               GError     **error);
SBX_AVAILABLE_IN_1_0
GBytes             *sbx_reach_to_json         (SbxReach    *self,
                                               GError     **error);

G_END_DECLS
