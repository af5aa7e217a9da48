/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-reach-private.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/*
 * The members that the JSON of a spec and of a reach have in common: cwd, read, write, network,
 * sockets, webSearch, git and limits. Every error is %SBX_ERROR_INVALID, or %SBX_ERROR_TOO_LARGE
 * for what is over a limit, and names the field, the value as JSON, the cause and the remedy.
 */

#define SBX_FIELD_MAX_ENTRIES 10000

typedef enum
{
  SBX_FIELD_TAKEN,
  SBX_FIELD_OTHER,   /* no field of these */
  SBX_FIELD_WRONG,   /* with an error */
} SbxFieldResult;

/* Reads a member into @reach. */
SbxFieldResult  _sbx_field_read           (SbxReach    *reach,
                                           const char  *name,
                                           JsonNode    *value,
                                           GError     **error);

/* Adds those of these members that @reach says something in. What is no UTF-8 is an error. */
gboolean        _sbx_field_write_all      (SbxReach    *reach,
                                           JsonObject  *object,
                                           GError     **error);

/* Adds the settings of a provider environment, which are a JSON text, as a member. */
gboolean        _sbx_field_write_settings (JsonObject  *object,
                                           const char  *key,
                                           const char  *settings,
                                           GError     **error);

/* What reading checks of each text and number, for a reach that did not come out of JSON. */
gboolean        _sbx_field_check_all      (SbxReach    *reach,
                                           GError     **error);
gboolean        _sbx_field_check_limits   (SbxReach    *reach,
                                           GError     **error);
gboolean        _sbx_field_check_utf8     (const char  *field,
                                           const char  *text,
                                           GError     **error);

/* Amounts are positive integers. As texts they may have a unit if they are bytes: K, M, G or T. */
gboolean        _sbx_field_set_limit      (SbxReach    *reach,
                                           const char  *name,
                                           JsonNode    *value,
                                           GError     **error);
gboolean        _sbx_field_set_limit_text (SbxReach    *reach,
                                           const char  *name,
                                           const char  *text,
                                           GError     **error);
const char     *_sbx_field_name_limit     (SbxLimit     limit);
/* %NULL for the default. */
const char     *_sbx_field_name_git_mode  (SbxGitMode   mode);

/* A value as JSON, cut and fit for a message. */
char           *_sbx_field_show           (JsonNode    *value);
char           *_sbx_field_show_text      (const char  *text);

G_END_DECLS
