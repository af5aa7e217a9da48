/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/*
 * The gate: the one way in which text becomes JSON nodes, for the parser of json-glib 1.6 crashes
 * on deep nesting, wraps large numbers, and takes comments, second roots and more for JSON. The
 * gate builds the nodes itself in its one pass, so there is no second parser that could read the
 * same text in another way.
 */
typedef struct
{
  /* Bytes of the whole text. */
  gsize max_size;
  /* Arrays and objects in one another. */
  guint max_depth;
  /* Values and names in all: a node takes some 80 bytes for a text of two. */
  gsize max_tokens;
  /* Members of one object. Their hashes are easy to make collide, and then time is quadratic. */
  guint max_members;
  /* Bytes of one string or name, as it is in the text. */
  gsize max_string;
  /* Characters of one number. */
  guint max_number;
} SbxJsonLimits;

#define SBX_JSON_DEFAULT_LIMITS \
  { \
    .max_size = 16 * 1024 * 1024, \
    .max_depth = 64, \
    .max_tokens = 250 * 1000, \
    .max_members = 4096, \
    .max_string = 16 * 1024 * 1024, \
    .max_number = 128, \
  }

/*
 * Parses one JSON text (RFC 8259): one root of any kind, UTF-8 without a byte order mark. Beyond
 * the grammar it refuses lone surrogates, NUL in any spelling, a name that an object has already,
 * integers that do not fit in a gint64 and numbers that are not finite. @limits can be %NULL for
 * SBX_JSON_DEFAULT_LIMITS.
 *
 * Returns a sealed node, which may be shared, or %NULL with %SBX_ERROR_PROTOCOL, or with
 * %SBX_ERROR_TOO_LARGE over a limit. The message tells the offset, and nothing of the text.
 */
JsonNode *_sbx_json_parse (GBytes              *text,
                           const SbxJsonLimits *limits,
                           GError             **error);

/*
 * The same for a text from which strings were lifted out: an empty one was left in the place of
 * each. @offsets are where those begin, in order, and @nodes get their nodes, which belong to the
 * root; so one is known by its place, and by nothing that a peer could write. The root is not
 * sealed: it belongs to the caller alone.
 */
JsonNode *_sbx_json_parse_lifted (const char          *text,
                                  gsize                size,
                                  const SbxJsonLimits *limits,
                                  const gsize         *offsets,
                                  gsize                n_offsets,
                                  JsonNode           **nodes,
                                  GError             **error);

/*
 * How a member was found. json_object_get_*_member() warns when the peer chose another type than
 * the caller thought of; these never do. The value is only set with %SBX_JSON_PRESENT, and belongs
 * to the object unless said otherwise.
 */
typedef enum
{
  SBX_JSON_PRESENT,
  SBX_JSON_ABSENT,
  SBX_JSON_NULL,
  SBX_JSON_WRONG_TYPE,
} SbxJsonFound;

/* Integers alone: 1.0 is of the wrong type. */
SbxJsonFound _sbx_json_object_get_int (JsonObject *object,
                                       const char *name,
                                       gint64     *value);

/* Any number. */
SbxJsonFound _sbx_json_object_get_double (JsonObject *object,
                                          const char *name,
                                          double     *value);

SbxJsonFound _sbx_json_object_get_boolean (JsonObject *object,
                                           const char *name,
                                           gboolean   *value);

SbxJsonFound _sbx_json_object_get_string (JsonObject  *object,
                                          const char  *name,
                                          const char **value);

SbxJsonFound _sbx_json_object_get_object (JsonObject  *object,
                                          const char  *name,
                                          JsonObject **value);

SbxJsonFound _sbx_json_object_get_array (JsonObject *object,
                                         const char *name,
                                         JsonArray **value);

/* An array of strings alone, as a copy for g_strfreev(). */
SbxJsonFound _sbx_json_object_get_strv (JsonObject *object,
                                        const char *name,
                                        char     ***value);

/*
 * Writes a text that the gate would take: members in the order in which they were added, what is no
 * UTF-8 replaced by U+FFFD, a number that is not finite as null. @pretty indents and ends in a
 * newline.
 */
GBytes *_sbx_json_to_bytes (JsonNode *node,
                            gboolean  pretty);

G_END_DECLS
