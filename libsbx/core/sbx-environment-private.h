/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The variables that a reach or a command adds, in the order they were first named. */
typedef struct
{
  GPtrArray *variables;   /* of owned NAME=VALUE, ends in %NULL */
  char      *bad_name;    /* the first name that no variable can have */
} SbxEnvironment;

void                _sbx_environment_init     (SbxEnvironment        *self);
void                _sbx_environment_clear    (SbxEnvironment        *self);
void                _sbx_environment_copy     (SbxEnvironment        *self,
                                               const SbxEnvironment  *from);
void                _sbx_environment_set      (SbxEnvironment        *self,
                                               const char            *name,
                                               const char            *value);
const char * const *_sbx_environment_get      (const SbxEnvironment  *self);
gboolean            _sbx_environment_validate (const SbxEnvironment  *self,
                                               GError               **error);
/* @base overlaid with @overlay; a variable that is named twice has the later value. */
GStrv               _sbx_environment_merge    (const char * const    *base,
                                               const char * const    *overlay);

G_END_DECLS
