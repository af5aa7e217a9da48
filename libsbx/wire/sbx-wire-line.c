/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-lifter-private.h"

#include "core/sbx-error.h"
#include "wire/sbx-wire-job-private.h"

#include <string.h>

#define MAX_ID 200

/* An answer about a directory has some ten values and names for each of its entries. */
static const SbxJsonLimits limits = {
  .max_size = SBX_WIRE_MAX_TEXT,
  .max_depth = 64,
  .max_tokens = 500 * 1000,
  .max_members = 4096,
  .max_string = SBX_WIRE_MAX_TEXT,
  .max_number = 128,
};

struct _SbxWireLine
{
  gatomicrefcount  ref_count;
  gsize            size;
  /* While it is to be parsed yet. */
  GString         *text;
  gboolean         too_long;
  gboolean         is_much;
  JsonNode        *root;
  GError          *error;
  char            *guessed_id;
  gsize            n_payloads;
  SbxWirePayload   payloads[];
};

/* The string that begins at @at, unless it has an escape in it, and what comes after it. */
static char *
read_plain_string (const char  *at,
                   const char  *end,
                   const char **after)
{
  const char *begin = ++at;
  gboolean plain = TRUE;

  for (; at < end && *at != '"'; at++)
    if (*at == '\\')
      {
        plain = FALSE;
        at += at + 1 < end;
      }

  *after = at < end ? at + 1 : end;

  if (at == end || !plain || at - begin > MAX_ID || !g_utf8_validate (begin, at - begin, NULL))
    return NULL;

  return g_strndup (begin, (gsize) (at - begin));
}

static const char *
skip_space (const char *at,
            const char *end)
{
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
    at++;

  return at;
}

/* Looks for an "id" in the outermost braces of what is not even JSON. */
static char *
guess_id (const char *text,
          gsize       length)
{
  const char *at = text;
  const char *const end = text + length;
  int depth = 0;

  while (at < end)
    {
      if (*at == '"')
        {
          g_autofree char *name = read_plain_string (at, end, &at);

          at = skip_space (at, end);
          if (depth != 1 || at == end || *at != ':' || g_strcmp0 (name, "id") != 0)
            continue;

          at = skip_space (at + 1, end);
          return at < end && *at == '"' ? read_plain_string (at, end, &at) : NULL;
        }

      depth += *at == '{' || *at == '[';
      depth -= *at == '}' || *at == ']';
      at++;
    }

  return NULL;
}

static void
parse (SbxWireLine   *self,
       const GString *text,
       gboolean       too_long)
{
  gsize offsets[SBX_WIRE_MAX_PAYLOADS];
  JsonNode *nodes[SBX_WIRE_MAX_PAYLOADS];

  for (gsize i = 0; i < self->n_payloads; i++)
    offsets[i] = self->payloads[i].offset;

  if (too_long)
    g_set_error (&self->error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                 "A line has more than %d bytes beside its payloads", SBX_WIRE_MAX_TEXT);
  else
    self->root = _sbx_json_parse_lifted (text->str, text->len, &limits, offsets, self->n_payloads,
                                         nodes, &self->error);

  if (self->root != NULL && !JSON_NODE_HOLDS_OBJECT (self->root))
    {
      g_clear_pointer (&self->root, json_node_unref);
      g_set_error_literal (&self->error, SBX_ERROR, SBX_ERROR_PROTOCOL,
                           "A line is no JSON object");
    }

  if (self->root == NULL)
    {
      self->guessed_id = guess_id (text->str, text->len);
      return;
    }

  for (gsize i = 0; i < self->n_payloads; i++)
    self->payloads[i].node = nodes[i];
}

static SbxWireLine *
line_new (gsize           size,
          SbxWirePayload *payloads,
          gsize           n_payloads)
{
  SbxWireLine *self = g_malloc0 (sizeof (SbxWireLine) + n_payloads * sizeof (SbxWirePayload));

  g_atomic_ref_count_init (&self->ref_count);
  self->size = size;
  self->n_payloads = n_payloads;

  for (gsize i = 0; i < n_payloads; i++)
    {
      self->payloads[i].offset = payloads[i].offset;
      self->payloads[i].bytes = g_steal_pointer (&payloads[i].bytes);
    }

  return self;
}

SbxWireLine *
_sbx_wire_line_new_lifted (const GString  *text,
                           gboolean        too_long,
                           gsize           size,
                           SbxWirePayload *payloads,
                           gsize           n_payloads)
{
  SbxWireLine *self = line_new (size, payloads, n_payloads);

  self->is_much = text->len > SBX_WIRE_MUCH_TEXT;
  parse (self, text, too_long);

  return self;
}

SbxWireLine *
_sbx_wire_line_new_unparsed (GString        *text,
                             gboolean        too_long,
                             gsize           size,
                             SbxWirePayload *payloads,
                             gsize           n_payloads)
{
  SbxWireLine *self = line_new (size, payloads, n_payloads);

  self->text = text;
  self->too_long = too_long;
  self->is_much = TRUE;

  return self;
}

gboolean
_sbx_wire_line_is_parsed (SbxWireLine *self)
{
  return self->text == NULL;
}

void
_sbx_wire_line_parse (SbxWireLine *self)
{
  if (self->text == NULL)
    return;

  parse (self, self->text, self->too_long);
  g_string_free (g_steal_pointer (&self->text), TRUE);
}

SbxWireLine *
_sbx_wire_line_new (GBytes *text)
{
  g_auto(SbxWireLifter) lifter = { .size = 0 };
  const guint8 *bytes;
  gsize n_bytes;
  gboolean ended = FALSE;
  SbxWireLine *line;

  g_return_val_if_fail (text != NULL, NULL);

  _sbx_wire_lifter_init (&lifter);
  bytes = g_bytes_get_data (text, &n_bytes);

  if (n_bytes > 0)
    _sbx_wire_lifter_feed (&lifter, bytes, n_bytes, &ended);

  line = _sbx_wire_lifter_finish (&lifter, G_MAXSIZE);

  /* A reader would pass over it; here it is a line all the same, if not a good one. */
  if (line == NULL)
    line = _sbx_wire_line_new_lifted (lifter.text, FALSE, n_bytes, NULL, 0);

  return line;
}

SbxWireLine *
_sbx_wire_line_ref (SbxWireLine *self)
{
  g_atomic_ref_count_inc (&self->ref_count);
  return self;
}

static void
line_free (gpointer data)
{
  SbxWireLine *self = data;

  if (self->text != NULL)
    g_string_free (self->text, TRUE);

  for (gsize i = 0; i < self->n_payloads; i++)
    g_bytes_unref (self->payloads[i].bytes);

  g_clear_pointer (&self->root, json_node_unref);
  g_clear_error (&self->error);
  g_free (self->guessed_id);
  g_free (self);
}

void
_sbx_wire_line_unref (SbxWireLine *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  /* What has no nodes is freed in no time. */
  if (self->is_much && self->root != NULL)
    _sbx_wire_job_free (line_free, self);
  else
    line_free (self);
}

JsonObject *
_sbx_wire_line_get_object (SbxWireLine *self)
{
  return self->root != NULL ? json_node_get_object (self->root) : NULL;
}

const GError *
_sbx_wire_line_get_error (SbxWireLine *self)
{
  return self->error;
}

const char *
_sbx_wire_line_guess_id (SbxWireLine *self)
{
  return self->guessed_id;
}

gsize
_sbx_wire_line_get_size (SbxWireLine *self)
{
  return self->size;
}

static SbxWirePayload *
find_payload (SbxWireLine *self,
              JsonNode    *node)
{
  for (gsize i = 0; i < self->n_payloads; i++)
    if (self->payloads[i].node == node)
      return &self->payloads[i];

  return NULL;
}

SbxJsonFound
_sbx_wire_line_get_payload (SbxWireLine  *self,
                            JsonObject   *object,
                            const char   *name,
                            GBytes      **bytes)
{
  JsonNode *node = json_object_get_member (object, name);
  SbxWirePayload *payload;
  const char *text = NULL;
  SbxJsonFound found;

  if (node != NULL && (payload = find_payload (self, node)) != NULL)
    {
      *bytes = g_bytes_ref (payload->bytes);
      return SBX_JSON_PRESENT;
    }

  found = _sbx_json_object_get_string (object, name, &text);
  if (found != SBX_JSON_PRESENT)
    return found;

  *bytes = _sbx_base64_decode (text, strlen (text));
  return *bytes != NULL ? SBX_JSON_PRESENT : SBX_JSON_WRONG_TYPE;
}

gboolean
_sbx_wire_line_is_payload (SbxWireLine *self,
                           JsonNode    *node)
{
  return node != NULL && find_payload (self, node) != NULL;
}

void
_sbx_wire_line_put_back (SbxWireLine *self)
{
  for (gsize i = 0; self->root != NULL && i < self->n_payloads; i++)
    {
      SbxWirePayload *payload = &self->payloads[i];
      gsize size;
      const guint8 *bytes = g_bytes_get_data (payload->bytes, &size);
      const gsize length = _sbx_base64_encoded_size (size);
      g_autofree char *text = g_malloc (length + 1);

      if (payload->node == NULL)
        continue;

      _sbx_base64_encode (bytes, size, text);
      text[length] = '\0';
      json_node_set_string (payload->node, text);
      payload->node = NULL;
    }
}
