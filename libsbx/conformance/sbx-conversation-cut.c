/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conversation-cut-private.h"

#include "json/sbx-json-private.h"
#include "wire/sbx-base64-private.h"

#include <string.h>

/*
 * A record goes into a bug report, and what is in it is anybody's. So it is not looked for what
 * might be secret: everything goes but what stands at a place of the protocol whose meaning is
 * known, and is needed to understand the conversation.
 */

#define MAX_KEPT 1024
#define MAX_NAME 64
#define MAX_DEPTH 60
#define MAX_MASKED (64 * 1024)
#define HIDDEN "cut-"
#define MARKER "cut:"
#define MARKER_BASE64 "cut:base64:"
#define MARKER_BAD_BASE64 "cut:bad-base64:"

/* Whose strings are kept where they stand in a place that is known. */
static const char * const kept_strings[] = {
  "id", "method", "type", "code", "errno", "kind", "process_id", "request_id", "protocol_version",
  "sandbox_group_id", "provider", "name", "provider_session_id", "cwd", "path", "new_path",
  "host_path", "prefix", "features", "process_ids", NULL
};

static const char * const kept_numbers[] = {
  "id", "exit_code", "signal", "cleaned_count", "timeout_ms", "rows", "columns", "offset",
  "length", "size", "mode", "uid", "gid", "mtime_us", "collect_limit", "stdout_truncated",
  "stderr_truncated", NULL
};

/* Objects and arrays in which the places are known. */
static const char * const known_places[] = {
  "params", "result", "event", "error", "metadata", "profile", "workspace_sync", "session",
  "capabilities", "pty", "not_started", "entries", "features", "process_ids", "argv", NULL
};

/* The members of these have names of the user's, and values that are the user's alone. */
static const char * const named_by_user[] = { "env", "tags", NULL };

/* What a value stands below. */
typedef struct
{
  const char *name;
  gboolean    known;      /* a place of the protocol */
  guint       index;      /* in an array */
} Place;

static gboolean
is_in (const char * const *list,
       const char         *name)
{
  return g_strv_contains (list, name);
}

/* Whether @text is @prefix and a number. */
static gboolean
parse_marker (const char *text,
              const char *prefix,
              guint64    *number)
{
  const gsize length = strlen (prefix);

  return strncmp (text, prefix, length) == 0 && text[length] != '\0'
         && g_ascii_string_to_unsigned (text + length, 10, 0, G_MAXINT64, number, NULL);
}

static gboolean
is_marker (const char *text)
{
  guint64 number;

  return parse_marker (text, MARKER, &number) || parse_marker (text, MARKER_BASE64, &number)
         || parse_marker (text, MARKER_BAD_BASE64, &number);
}

/* What only a program would call a member, or a variable where the user has the choice. */
static gboolean
is_plain_name (const char *name,
               gboolean    by_user)
{
  const gsize length = strlen (name);
  gsize n_checked = length;
  guint64 number;

  if (g_str_has_prefix (name, HIDDEN))
    return g_ascii_string_to_unsigned (name + strlen (HIDDEN), 10, 0, G_MAXUINT32, &number, NULL);

  if (g_str_has_suffix (name, "_base64"))
    n_checked -= strlen ("64");
  for (gsize i = 0; i < n_checked; i++)
    if (!g_ascii_islower (name[i]) && name[i] != '_' &&
        (!by_user || !(g_ascii_isalpha (name[i]) || (i > 0 && g_ascii_isdigit (name[i])))))
      return FALSE;

  return length > 0 && length <= MAX_NAME;
}

static JsonNode *
make_string (const char *text)
{
  JsonNode *node = json_node_new (JSON_NODE_VALUE);

  json_node_set_string (node, text);

  return node;
}

static JsonNode *
cut_base64 (const char *text)
{
  const gsize length = strlen (text);
  g_autoptr(GBytes) bytes = _sbx_base64_decode (text, length);
  g_autofree char *marker = NULL;

  if (bytes != NULL)
    marker = g_strdup_printf (MARKER_BASE64 "%" G_GSIZE_FORMAT, g_bytes_get_size (bytes));
  else
    marker = g_strdup_printf (MARKER_BAD_BASE64 "%" G_GSIZE_FORMAT, length);

  return make_string (marker);
}

static JsonNode *
cut_string (const char  *text,
            const Place *place)
{
  const gboolean kept = place->known && (is_in (kept_strings, place->name) ||
                                         (strcmp (place->name, "argv") == 0 && place->index == 0));
  const gsize length = strlen (text);
  g_autofree char *marker = NULL;

  if (is_marker (text))
    return make_string (text);
  if (g_str_has_suffix (place->name, "_base64"))
    return cut_base64 (text);
  if (kept && length <= MAX_KEPT && !g_str_has_prefix (text, MARKER))
    return make_string (text);

  marker = g_strdup_printf (MARKER "%" G_GSIZE_FORMAT, length);

  return make_string (marker);
}

static JsonNode *cut_node (JsonNode    *node,
                           const Place *place);

/* A name that neither object has. */
static char *
hide_name (JsonObject *object,
           JsonObject *copy,
           guint      *i)
{
  for (;;)
    {
      g_autofree char *name = g_strdup_printf (HIDDEN "%u", (*i)++);

      if (!json_object_has_member (object, name) && !json_object_has_member (copy, name))
        return g_steal_pointer (&name);
    }
}

static JsonNode *
cut_object (JsonObject  *object,
            const Place *place)
{
  const gboolean by_user = is_in (named_by_user, place->name);
  g_autoptr(JsonObject) copy = json_object_new ();
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;
  guint i = 0;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &member))
    {
      const Place below = { by_user ? "" : name, place->known && !by_user, 0 };
      g_autofree char *hidden = NULL;

      if (!is_plain_name (name, by_user))
        hidden = hide_name (object, copy, &i);
      json_object_set_member (copy, hidden != NULL ? hidden : name, cut_node (member, &below));
    }

  member = json_node_new (JSON_NODE_OBJECT);
  json_node_set_object (member, copy);

  return member;
}

static JsonNode *
cut_array (JsonArray   *array,
           const Place *place)
{
  g_autoptr(JsonArray) copy = json_array_new ();
  JsonNode *node;

  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      const Place below = { place->name, place->known, i };

      json_array_add_element (copy, cut_node (json_array_get_element (array, i), &below));
    }

  node = json_node_new (JSON_NODE_ARRAY);
  json_node_set_array (node, copy);

  return node;
}

static JsonNode *
cut_node (JsonNode    *node,
          const Place *place)
{
  JsonNode *number;

  if (JSON_NODE_HOLDS_OBJECT (node) || JSON_NODE_HOLDS_ARRAY (node))
    {
      const Place here = {
        place->name, place->known && (*place->name == '\0' || is_in (known_places, place->name)
                                      || is_in (named_by_user, place->name)), place->index
      };

      return JSON_NODE_HOLDS_OBJECT (node) ? cut_object (json_node_get_object (node), &here)
                                           : cut_array (json_node_get_array (node), &here);
    }

  if (JSON_NODE_HOLDS_NULL (node))
    return json_node_ref (node);

  if (json_node_get_value_type (node) == G_TYPE_STRING)
    return cut_string (json_node_get_string (node), place);

  if (json_node_get_value_type (node) == G_TYPE_BOOLEAN ||
      (place->known && is_in (kept_numbers, place->name)))
    return json_node_ref (node);

  number = json_node_new (JSON_NODE_VALUE);
  if (json_node_get_value_type (node) == G_TYPE_DOUBLE)
    json_node_set_double (number, 0.5);
  else
    json_node_set_int (number, 0);

  return number;
}

JsonNode *
_sbx_cut_message (JsonNode *node)
{
  const Place root = { "", TRUE, 0 };

  return cut_node (node, &root);
}

char *
_sbx_cut_mask (const char *text,
               gsize       size)
{
  g_autoptr(GString) masked = g_string_new (NULL);
  const char *end = text + size;

  while (text < end)
    {
      const gunichar c = g_utf8_get_char_validated (text, end - text);
      const char *next = text + 1;

      if (c == (gunichar) -1 || c == (gunichar) -2)
        g_string_append (masked, "\\xff");
      else if (c >= 0x80)
        {
          next = g_utf8_next_char (text);
          for (const char *p = text; p < next; p++)
            g_string_append_c (masked, 'x');
        }
      else if (*text == '\\')
        g_string_append (masked, "\\\\");
      else if (*text != '\0' && strchr ("{}[]\",: \t\r", *text) != NULL)
        g_string_append_c (masked, *text);
      else
        g_string_append_c (masked, g_ascii_isdigit (*text) ? '0' : g_ascii_isalpha (*text) ? 'x'
                                                                                           : '.');
      text = next;
    }

  return g_string_free (g_steal_pointer (&masked), FALSE);
}

GBytes *
_sbx_cut_unmask (const char *text)
{
  g_autoptr(GString) bytes = g_string_new (NULL);

  while (*text != '\0')
    if (g_str_has_prefix (text, "\\xff"))
      {
        g_string_append_c (bytes, '\xff');
        text += 4;
      }
    else
      {
        text += g_str_has_prefix (text, "\\\\") ? 1 : 0;
        g_string_append_c (bytes, *text++);
      }

  return g_string_free_to_bytes (g_steal_pointer (&bytes));
}

/* What a marker stands for, as text; %FALSE: it is none. */
static gboolean
measure_marker (const char *text,
                gsize      *size,
                gboolean   *base64,
                gboolean   *bad)
{
  guint64 number = 0;

  *base64 = parse_marker (text, MARKER_BASE64, &number);
  *bad = !*base64 && parse_marker (text, MARKER_BAD_BASE64, &number);
  if (!*base64 && !*bad && !parse_marker (text, MARKER, &number))
    return FALSE;

  /* So much that nobody has it, and little enough to be counted with. */
  number = MIN (number, G_MAXSIZE / 16);
  *size = *base64 ? _sbx_base64_encoded_size ((gsize) number) : (gsize) number;

  return TRUE;
}

/* What is put in the place of a marker, or a copy of @text. */
static char *
fill_string (const char *text,
             gsize      *budget)
{
  g_autofree guchar *data = NULL;
  gboolean base64;
  gboolean bad;
  gsize size;
  guint64 n_bytes = 0;

  if (!measure_marker (text, &size, &base64, &bad) || size > *budget)
    return g_strdup (text);

  *budget -= size;
  if (!base64)
    return g_strnfill (size, bad ? '!' : 'x');

  parse_marker (text, MARKER_BASE64, &n_bytes);
  data = g_malloc (n_bytes + 1);
  memset (data, 'x', n_bytes);

  return g_base64_encode (data, n_bytes);
}

static JsonNode *
fill_object (JsonObject *object,
             gsize      *budget)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonObject *copy = json_object_new ();
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;

  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &member))
    json_object_set_member (copy, name, _sbx_cut_fill (member, budget));
  json_node_take_object (node, copy);

  return node;
}

JsonNode *
_sbx_cut_fill (JsonNode *node,
               gsize    *budget)
{
  g_autofree char *text = NULL;
  JsonNode *copy;

  if (JSON_NODE_HOLDS_OBJECT (node))
    return fill_object (json_node_get_object (node), budget);

  if (JSON_NODE_HOLDS_ARRAY (node))
    {
      JsonArray *array = json_node_get_array (node);
      JsonArray *filled = json_array_new ();

      for (guint i = 0; i < json_array_get_length (array); i++)
        json_array_add_element (filled, _sbx_cut_fill (json_array_get_element (array, i), budget));
      copy = json_node_new (JSON_NODE_ARRAY);
      json_node_take_array (copy, filled);
      return copy;
    }

  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
    return json_node_ref (node);

  text = fill_string (json_node_get_string (node), budget);

  return make_string (text);
}

/* A line that is no JSON, or that did not fit. */
static void
add_text (JsonObject *entry,
          GBytes     *line,
          guint64     dropped)
{
  const gsize size = MIN (g_bytes_get_size (line), MAX_MASKED);
  const guint64 rest = dropped + (g_bytes_get_size (line) - size);
  g_autofree char *masked = _sbx_cut_mask (g_bytes_get_data (line, NULL), size);

  json_object_set_string_member (entry, "text", masked);
  if (rest > 0)
    json_object_set_int_member (entry, "text_cut_bytes", (gint64) MIN (rest, G_MAXINT64));
}

/* What the gate takes, and will take again as part of an entry, which is one level more. */
static JsonNode *
parse_line (GBytes  *line,
            guint64  dropped)
{
  SbxJsonLimits limits = SBX_JSON_DEFAULT_LIMITS;

  limits.max_depth = MAX_DEPTH;

  return dropped == 0 ? _sbx_json_parse (line, &limits, NULL) : NULL;
}

GBytes *
_sbx_cut_make_line (GBytes  *line,
                    guint64  dropped)
{
  g_autoptr(JsonNode) node = parse_line (line, dropped);
  g_autoptr(JsonNode) cut = node != NULL ? _sbx_cut_message (node) : NULL;
  char *masked;

  if (cut != NULL)
    return _sbx_json_to_bytes (cut, FALSE);

  masked = _sbx_cut_mask (g_bytes_get_data (line, NULL), MIN (g_bytes_get_size (line), MAX_MASKED));

  return g_bytes_new_take (masked, strlen (masked));
}

GBytes *
_sbx_cut_make_entry (const char *from,
                     gint64      t_ms,
                     GBytes     *line,
                     guint64     dropped)
{
  g_autoptr(JsonNode) node = parse_line (line, dropped);
  g_autoptr(JsonNode) root = json_node_new (JSON_NODE_OBJECT);
  JsonObject *entry = json_object_new ();
  GByteArray *bytes;

  json_node_take_object (root, entry);
  json_object_set_int_member (entry, "t_ms", t_ms);
  json_object_set_string_member (entry, "from", from);
  if (node != NULL)
    json_object_set_member (entry, "line", _sbx_cut_message (node));
  else
    add_text (entry, line, dropped);

  bytes = g_bytes_unref_to_array (_sbx_json_to_bytes (root, FALSE));
  g_byte_array_append (bytes, (const guint8 *) "\n", 1);

  return g_byte_array_free_to_bytes (bytes);
}
