/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "json/sbx-json-private.h"

G_BEGIN_DECLS

/* The text, and where in it we are. */
typedef struct
{
  const guint8 *start;
  const guint8 *at;
  const guint8 *end;
  const SbxJsonLimits *limits;
  /* The first thing that was wrong. */
  GError *error;
} SbxJsonText;

/* These two set the error and return FALSE. @reason is for a bug report, so not translated. */
gboolean _sbx_json_text_refuse (SbxJsonText *self,
                                const char  *reason);

gboolean _sbx_json_text_too_large (SbxJsonText *self,
                                   const char  *reason);

/* Reads a string, of which the first quote is at @at, and stores what it stands for. */
gboolean _sbx_json_text_read_string (SbxJsonText *self,
                                     GString     *string);

/* Reads a number: a node of gint64 or double, or NULL. */
JsonNode *_sbx_json_text_read_number (SbxJsonText *self);

G_END_DECLS
