/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>
#include <sbx.h>

G_BEGIN_DECLS

/* Tells the user what was refused while a command ran that failed. */
void tool_denials_tell (SbxExecResult *result);

/* A member "denials" of the record; @result may be NULL. */
void tool_denials_add  (JsonBuilder   *builder,
                        SbxExecResult *result);

G_END_DECLS
