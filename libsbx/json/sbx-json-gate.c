/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "json/sbx-json-text-private.h"

#include <string.h>

static const SbxJsonLimits default_limits = SBX_JSON_DEFAULT_LIMITS;

/* Room to work in, which a thread keeps from one text to the next unless it has become large. */
typedef struct
{
  GPtrArray *open;
  GString *name;
  GString *string;
} Room;

#define KEPT_ROOM 4096

typedef struct
{
  SbxJsonText text;
  gsize tokens;
  /* Containers that are open, innermost last; each is in the one before it already. */
  GPtrArray *open;
  /* Owns all of them. */
  JsonNode *root;
  /* The name that the next value of the innermost object gets. */
  GString *name;
  GString *string;
  /* Where the strings begin that were lifted out, and the nodes of those that were passed. */
  const gsize *offsets;
  gsize n_offsets;
  JsonNode **nodes;
  gsize n_nodes;
} Gate;

static void
room_free (gpointer data)
{
  Room *self = data;

  g_ptr_array_unref (self->open);
  g_string_free (self->name, TRUE);
  g_string_free (self->string, TRUE);
  g_free (self);
}

static GPrivate kept_room = G_PRIVATE_INIT (room_free);

static Room *
take_room (void)
{
  Room *self = g_private_get (&kept_room);

  if (self != NULL)
    {
      g_private_set (&kept_room, NULL);
      return self;
    }

  self = g_new (Room, 1);
  self->open = g_ptr_array_new ();
  self->name = g_string_new (NULL);
  self->string = g_string_new (NULL);

  return self;
}

static void
give_back_room (Room *self)
{
  if (self->name->allocated_len > KEPT_ROOM || self->string->allocated_len > KEPT_ROOM)
    {
      room_free (self);
      return;
    }

  g_ptr_array_set_size (self->open, 0);
  g_private_replace (&kept_room, self);
}

static gboolean
set_error (SbxJsonText *self,
           SbxError     code,
           const char  *what,
           const char  *reason)
{
  if (self->error == NULL)
    g_set_error (&self->error, SBX_ERROR, code, "%s at byte %" G_GSIZE_FORMAT ": %s", what,
                 (gsize) (self->at - self->start), reason);

  return FALSE;
}

gboolean
_sbx_json_text_refuse (SbxJsonText *self,
                       const char  *reason)
{
  return set_error (self, SBX_ERROR_PROTOCOL, "Not JSON", reason);
}

gboolean
_sbx_json_text_too_large (SbxJsonText *self,
                          const char  *reason)
{
  return set_error (self, SBX_ERROR_TOO_LARGE, "JSON over a limit", reason);
}

static void
skip_space (SbxJsonText *self)
{
  while (self->at < self->end &&
         (*self->at == ' ' || *self->at == '\n' || *self->at == '\r' || *self->at == '\t'))
    self->at++;
}

/* The next byte that is no white space, or NUL, which stands for nothing, at the end. */
static guint8
peek (SbxJsonText *self)
{
  skip_space (self);
  return self->at < self->end ? *self->at : '\0';
}

static JsonNode *
innermost (Gate *self)
{
  return self->open->len > 0 ? g_ptr_array_index (self->open, self->open->len - 1) : NULL;
}

static gboolean
count_token (Gate *self)
{
  return ++self->tokens <= self->text.limits->max_tokens ||
         _sbx_json_text_too_large (&self->text, "too many values");
}

/* Puts a value where it belongs, and takes it. */
static void
add (Gate     *self,
     JsonNode *node)
{
  JsonNode *container = innermost (self);

  if (container == NULL)
    self->root = node;
  else if (JSON_NODE_HOLDS_ARRAY (container))
    json_array_add_element (json_node_get_array (container), node);
  else
    json_object_set_member (json_node_get_object (container), self->name->str, node);
}

/* Reads the name of a member and its colon. */
static gboolean
read_name (Gate *self)
{
  SbxJsonText *text = &self->text;
  JsonObject *object = json_node_get_object (innermost (self));

  if (peek (text) != '"')
    return _sbx_json_text_refuse (text, "no name of a member where one must be");

  if (!count_token (self) || !_sbx_json_text_read_string (text, self->name))
    return FALSE;

  if (json_object_get_size (object) >= text->limits->max_members)
    return _sbx_json_text_too_large (text, "too many members in one object");

  if (json_object_has_member (object, self->name->str))
    return _sbx_json_text_refuse (text, "a name that the object has already");

  if (peek (text) != ':')
    return _sbx_json_text_refuse (text, "no colon after a name");

  text->at++;
  return TRUE;
}

/* Opens an array or object. Unless it is empty, what follows is its first value. */
static gboolean
open_container (Gate     *self,
                gboolean *complete)
{
  SbxJsonText *text = &self->text;
  const gboolean object = *text->at == '{';
  JsonNode *node;

  /* Sealing and freeing recurse, and so does whoever gets the node. */
  if (SBX_PROTECTS (T15) && self->open->len >= text->limits->max_depth)
    return _sbx_json_text_too_large (text, "nested too deep");

  text->at++;
  node = json_node_alloc ();

  if (object)
    {
      g_autoptr(JsonObject) members = json_object_new ();

      add (self, json_node_init_object (node, members));
    }
  else
    {
      g_autoptr(JsonArray) elements = json_array_new ();

      add (self, json_node_init_array (node, elements));
    }

  if (peek (text) == (object ? '}' : ']'))
    {
      text->at++;
      *complete = TRUE;
      return TRUE;
    }

  g_ptr_array_add (self->open, node);
  *complete = FALSE;

  return !object || read_name (self);
}

static gboolean
read_word (Gate       *self,
           const char *word,
           JsonNode   *node)
{
  SbxJsonText *text = &self->text;
  const gsize length = strlen (word);

  if ((gsize) (text->end - text->at) < length || memcmp (text->at, word, length) != 0)
    {
      json_node_unref (node);
      return _sbx_json_text_refuse (text, "no value where one must be");
    }

  text->at += length;
  add (self, node);
  return TRUE;
}

static gboolean
read_string (Gate *self)
{
  const gsize offset = (gsize) (self->text.at - self->text.start);
  JsonNode *node;

  if (!_sbx_json_text_read_string (&self->text, self->string))
    return FALSE;

  node = json_node_init_string (json_node_alloc (), self->string->str);

  if (self->n_nodes < self->n_offsets && self->offsets[self->n_nodes] == offset)
    self->nodes[self->n_nodes++] = node;

  add (self, node);
  return TRUE;
}

static gboolean
read_number (Gate *self)
{
  JsonNode *node = _sbx_json_text_read_number (&self->text);

  if (node == NULL)
    return FALSE;

  add (self, node);
  return TRUE;
}

/* Reads a value, or of an array or object that is not empty the beginning. */
static gboolean
read_value (Gate     *self,
            gboolean *complete)
{
  const guint8 c = peek (&self->text);

  *complete = TRUE;

  if (!count_token (self))
    return FALSE;

  switch (c)
    {
    case '{':
    case '[':
      return open_container (self, complete);

    case '"':
      return read_string (self);

    case 't':
      return read_word (self, "true", json_node_init_boolean (json_node_alloc (), TRUE));

    case 'f':
      return read_word (self, "false", json_node_init_boolean (json_node_alloc (), FALSE));

    case 'n':
      return read_word (self, "null", json_node_init_null (json_node_alloc ()));

    default:
      if (c == '-' || g_ascii_isdigit (c))
        return read_number (self);

      return _sbx_json_text_refuse (&self->text, "no value where one must be");
    }
}

/* After a value: goes on to where the next one begins, if there is one. */
static gboolean
read_separators (Gate     *self,
                 gboolean *more)
{
  SbxJsonText *text = &self->text;

  for (;;)
    {
      JsonNode *container = innermost (self);
      const guint8 c = peek (text);
      gboolean object;

      *more = container != NULL;

      if (container == NULL)
        return text->at == text->end || _sbx_json_text_refuse (text, "something after the value");

      object = JSON_NODE_HOLDS_OBJECT (container);

      if (c == ',')
        {
          text->at++;
          return !object || read_name (self);
        }

      if (c != (object ? '}' : ']'))
        return _sbx_json_text_refuse (text, object ? "no comma or brace after a member"
                                                   : "no comma or bracket after an element");

      text->at++;
      g_ptr_array_set_size (self->open, (int) self->open->len - 1);
    }
}

static gboolean
read_text (Gate *self)
{
  gboolean more = TRUE;

  while (more)
    {
      gboolean complete;

      if (!read_value (self, &complete))
        return FALSE;

      if (complete && !read_separators (self, &more))
        return FALSE;
    }

  return TRUE;
}

/* @self has everything but the text and the room to work in. */
static JsonNode *
parse (Gate                *self,
       const char          *text,
       gsize                size,
       const SbxJsonLimits *limits,
       GError             **error)
{
  Room *const room = take_room ();
  g_autoptr(JsonNode) root = NULL;
  gboolean accepted;

  self->open = room->open;
  self->name = room->name;
  self->string = room->string;

  /* An empty GBytes has no address to count from. */
  self->text.start = (const guint8 *) (size > 0 ? text : "");
  self->text.at = self->text.start;
  self->text.end = self->text.start + size;
  self->text.limits = limits != NULL ? limits : &default_limits;

  accepted = size <= self->text.limits->max_size
               ? read_text (self)
               : _sbx_json_text_too_large (&self->text, "the text is too long");
  root = self->root;
  give_back_room (room);

  /* What was lifted out of a place that has no string. */
  if (accepted && self->n_nodes < self->n_offsets)
    accepted = _sbx_json_text_refuse (&self->text, "a string is not where it was");

  if (!accepted)
    {
      g_propagate_error (error, self->text.error);
      return NULL;
    }

  return g_steal_pointer (&root);
}

JsonNode *
_sbx_json_parse (GBytes              *text,
                 const SbxJsonLimits *limits,
                 GError             **error)
{
  Gate self = { .tokens = 0 };
  JsonNode *root;
  gconstpointer data;
  gsize size;

  g_return_val_if_fail (text != NULL, NULL);

  data = g_bytes_get_data (text, &size);
  root = parse (&self, data, size, limits, error);

  if (root != NULL)
    json_node_seal (root);

  return root;
}

JsonNode *
_sbx_json_parse_lifted (const char          *text,
                        gsize                size,
                        const SbxJsonLimits *limits,
                        const gsize         *offsets,
                        gsize                n_offsets,
                        JsonNode           **nodes,
                        GError             **error)
{
  Gate self = { .offsets = offsets, .n_offsets = n_offsets, .nodes = nodes };

  g_return_val_if_fail (text != NULL || size == 0, NULL);
  g_return_val_if_fail (n_offsets == 0 || (offsets != NULL && nodes != NULL), NULL);

  return parse (&self, text, size, limits, error);
}
