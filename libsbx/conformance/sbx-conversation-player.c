/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conversation-player.h"

#include "conformance/sbx-conversation-private.h"
#include "json/sbx-json-private.h"

#include <string.h>

/**
 * SbxConversationPlayer:
 *
 * Plays the provider's side of a recorded conversation.
 *
 * To each request it gives the messages that the provider sent to the next request of that method
 * in the record, with the id of the request that was made now. What was cut out of the record has
 * something of the same size in its place. Nothing that a client asks for is done.
 *
 * Since: 1.0
 */

struct _SbxConversationPlayer
{
  GObject          parent_instance;

  SbxConversation *conversation;
  GHashTable      *requests;    /* method: GQueue of the requests that were not answered */
  guint           *first;       /* of a request: its first message, or NONE */
  guint           *next;        /* of a message: the next one of its request, or NONE */
  gboolean         over;
};

#define NONE G_MAXUINT
/* For what is put in place of what was cut, in one answer. */
#define BUDGET (256 * 1024 * 1024)

G_DEFINE_FINAL_TYPE (SbxConversationPlayer, sbx_conversation_player, G_TYPE_OBJECT)

static void
sbx_conversation_player_finalize (GObject *object)
{
  SbxConversationPlayer *self = SBX_CONVERSATION_PLAYER (object);

  g_clear_object (&self->conversation);
  g_clear_pointer (&self->requests, g_hash_table_unref);
  g_free (self->first);
  g_free (self->next);

  G_OBJECT_CLASS (sbx_conversation_player_parent_class)->finalize (object);
}

static void
sbx_conversation_player_class_init (SbxConversationPlayerClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sbx_conversation_player_finalize;
}

static void
sbx_conversation_player_init (SbxConversationPlayer *self)
{
}

static const char *
get_method (JsonNode *message)
{
  const char *method = NULL;

  if (message != NULL && JSON_NODE_HOLDS_OBJECT (message))
    _sbx_json_object_get_string (json_node_get_object (message), "method", &method);

  return method;
}

static void
queue_free (gpointer queue)
{
  g_queue_free (queue);
}

/* What has no method is filed under a name that no method can have. */
static GQueue *
get_queue (SbxConversationPlayer *self,
           const char            *method)
{
  g_autofree char *key = method != NULL ? g_strconcat ("method ", method, NULL) : g_strdup ("");
  GQueue *queue = g_hash_table_lookup (self->requests, key);

  if (queue == NULL)
    {
      queue = g_queue_new ();
      g_hash_table_insert (self->requests, g_steal_pointer (&key), queue);
    }

  return queue;
}

/* A message belongs to the last request with its id, and one that names none to the last request
 * of all: there it came. */
static void
sort_messages (SbxConversationPlayer *self)
{
  g_autoptr(GHashTable) by_id = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const guint n = sbx_conversation_get_n_messages (self->conversation);
  g_autofree guint *last = g_new (guint, n + 1);
  guint latest = 0;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(JsonNode) node = _sbx_conversation_get_node (self->conversation, i);
      const char *id = _sbx_message_get_id (node);
      gpointer found = NULL;
      guint owner;

      self->first[i] = self->next[i] = last[i] = NONE;
      if (sbx_conversation_get_side (self->conversation, i) == SBX_CONVERSATION_SIDE_CLIENT)
        {
          latest = i;
          if (id != NULL)
            g_hash_table_replace (by_id, g_strdup (id), GUINT_TO_POINTER (i));
          g_queue_push_tail (get_queue (self, get_method (node)), GUINT_TO_POINTER (i));
          continue;
        }

      owner = latest;
      if (id != NULL && g_hash_table_lookup_extended (by_id, id, NULL, &found))
        owner = GPOINTER_TO_UINT (found);
      if (last[owner] == NONE)
        self->first[owner] = i;
      else
        self->next[last[owner]] = i;
      last[owner] = i;
    }
}

/**
 * sbx_conversation_player_new:
 * @conversation: what was recorded
 *
 * Makes a player at the beginning of a conversation.
 *
 * Returns: (transfer full): a new player
 *
 * Since: 1.0
 */
SbxConversationPlayer *
sbx_conversation_player_new (SbxConversation *conversation)
{
  SbxConversationPlayer *self;

  g_return_val_if_fail (SBX_IS_CONVERSATION (conversation), NULL);

  self = g_object_new (SBX_TYPE_CONVERSATION_PLAYER, NULL);
  self->conversation = g_object_ref (conversation);
  self->requests = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, queue_free);
  self->first = g_new (guint, sbx_conversation_get_n_messages (conversation) + 1);
  self->next = g_new (guint, sbx_conversation_get_n_messages (conversation) + 1);
  sort_messages (self);

  return self;
}

static void
append_node (GByteArray *text,
             JsonNode   *node)
{
  g_autoptr(GBytes) bytes = _sbx_json_to_bytes (node, FALSE);

  g_byte_array_append (text, g_bytes_get_data (bytes, NULL), (guint) g_bytes_get_size (bytes));
  g_byte_array_append (text, (const guint8 *) "\n", 1);
}

static void
append_message (SbxConversationPlayer *self,
                GByteArray            *text,
                guint                  message,
                const char            *old_id,
                const char            *new_id,
                gsize                 *budget)
{
  g_autoptr(JsonNode) node = _sbx_conversation_fill_node (self->conversation, message, budget);
  g_autoptr(GBytes) bytes = NULL;

  if (node == NULL)
    {
      bytes = sbx_conversation_get_line (self->conversation, message);
      g_byte_array_append (text, g_bytes_get_data (bytes, NULL), (guint) g_bytes_get_size (bytes));
      g_byte_array_append (text, (const guint8 *) "\n", 1);
      return;
    }

  if (new_id != NULL && old_id != NULL && g_strcmp0 (_sbx_message_get_id (node), old_id) == 0)
    json_object_set_string_member (json_node_get_object (node), "id", new_id);
  append_node (text, node);
}

static void
append_not_recorded (GByteArray *text,
                     const char *id)
{
  g_autoptr(JsonNode) root = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  JsonObject *error = json_object_new ();

  json_node_take_object (root, object);
  json_object_set_string_member (object, "id", id);
  json_object_set_object_member (object, "error", error);
  json_object_set_string_member (error, "code", "not_recorded");
  json_object_set_string_member (error, "message", "the record has no further answer to that");
  json_object_set_boolean_member (error, "retryable", FALSE);
  append_node (text, root);
}

/**
 * sbx_conversation_player_answer:
 * @self: a player
 * @line: what the client said, without its newline
 *
 * Answers a request as the record has it.
 *
 * A request that the record has no answer to gets the error `not_recorded`; a line that is no
 * request gets what the next such line got, or nothing.
 *
 * Returns: (transfer full): whole lines with their newlines, or nothing
 *
 * Since: 1.0
 */
GBytes *
sbx_conversation_player_answer (SbxConversationPlayer *self,
                                GBytes                *line)
{
  const SbxJsonLimits limits = { 128 * 1024 * 1024, 64, 250 * 1000, 4096, 128 * 1024 * 1024, 128 };
  g_autoptr(GByteArray) text = g_byte_array_new ();
  g_autoptr(JsonNode) request = NULL;
  g_autoptr(JsonNode) recorded = NULL;
  const char *id;
  const char *method;
  GQueue *requests;

  g_return_val_if_fail (SBX_IS_CONVERSATION_PLAYER (self), NULL);
  g_return_val_if_fail (line != NULL, NULL);

  request = _sbx_json_parse (line, &limits, NULL);
  id = _sbx_message_get_id (request);
  method = get_method (request);
  self->over |= g_strcmp0 (method, "shutdown") == 0;

  requests = get_queue (self, method);
  if (!g_queue_is_empty (requests))
    {
      const guint found = GPOINTER_TO_UINT (g_queue_pop_head (requests));
      gsize budget = BUDGET;

      recorded = _sbx_conversation_get_node (self->conversation, found);
      for (guint i = self->first[found]; i != NONE; i = self->next[i])
        append_message (self, text, i, _sbx_message_get_id (recorded), id, &budget);
    }
  else if (id != NULL && method != NULL)
    {
      append_not_recorded (text, id);
    }

  return g_byte_array_free_to_bytes (g_steal_pointer (&text));
}

/**
 * sbx_conversation_player_is_over:
 * @self: a player
 *
 * Gets whether the client asked the provider to shut down, which it then has to do.
 *
 * Returns: %TRUE if nothing more is to be answered
 *
 * Since: 1.0
 */
gboolean
sbx_conversation_player_is_over (SbxConversationPlayer *self)
{
  g_return_val_if_fail (SBX_IS_CONVERSATION_PLAYER (self), TRUE);

  return self->over;
}
