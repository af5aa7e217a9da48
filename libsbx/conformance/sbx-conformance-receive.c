/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-trial-private.h"

#include "core/sbx-text-private.h"

#include <string.h>

/* What may come that nobody asked for before the provider is given up. */
#define MAX_STRAYS 10000

void
_sbx_reply_clear (SbxReply *self)
{
  g_clear_pointer (&self->id, g_free);
  g_clear_pointer (&self->node, json_node_unref);
  g_clear_pointer (&self->events, g_ptr_array_unref);
  memset (self, 0, sizeof *self);
}

static void
set_received (SbxTrial *self,
              GBytes   *line)
{
  g_clear_pointer (&self->received, g_bytes_unref);
  self->received = g_bytes_ref (line);
}

static void
count_stray (SbxTrial *self,
             GBytes   *line)
{
  self->n_strays++;
  if (self->stray == NULL)
    self->stray = g_bytes_ref (line);
}

static JsonNode *
parse_line (GBytes *line)
{
  const SbxJsonLimits limits = {
    .max_size = 128 * 1024 * 1024,
    .max_depth = 64,
    .max_tokens = 250 * 1000,
    .max_members = 4096,
    .max_string = 128 * 1024 * 1024,
    .max_number = 128,
  };
  g_autoptr(JsonNode) node = _sbx_json_parse (line, &limits, NULL);

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? g_steal_pointer (&node) : NULL;
}

static gboolean
fail_for (SbxTrial       *self,
          SbxPeerOutcome  outcome)
{
  g_autofree char *tail = _sbx_peer_get_stderr (self->peer);

  self->spoilt = TRUE;

  switch (outcome)
    {
    case SBX_PEER_TIMED_OUT:
      self->silent = TRUE;
      return _sbx_trial_fail (self, "expected an answer within %u ms", self->plan->timeout_ms);

    case SBX_PEER_ENDED:
      return _sbx_trial_fail (self, "expected an answer, not the end of standard output%s%s",
                              *tail != '\0' ? "; on standard error stands: " : "", tail);

    case SBX_PEER_FLOODED:
      return _sbx_trial_fail (self, "expected lines of no more than 128 MiB");

    case SBX_PEER_CANCELLED:
      return _sbx_trial_fail (self, "was cancelled");

    case SBX_PEER_LINE:
    default:
      g_assert_not_reached ();
    }
}

static JsonNode *
receive (SbxTrial  *self,
         gint64     deadline,
         GBytes   **line)
{
  const guint n_strays = self->n_strays;

  while (self->n_strays - n_strays < MAX_STRAYS)
    {
      const SbxPeerOutcome outcome = _sbx_peer_receive (self->peer, deadline, line);
      JsonNode *node;

      if (outcome != SBX_PEER_LINE)
        {
          fail_for (self, outcome);
          return NULL;
        }

      node = parse_line (*line);
      if (node != NULL)
        return node;

      count_stray (self, *line);
      set_received (self, *line);
      g_clear_pointer (line, g_bytes_unref);
    }

  self->spoilt = TRUE;
  _sbx_trial_fail (self, "expected an answer, not a flood of lines that are no JSON objects");

  return NULL;
}

/* An absent result and a null one are {}, as is one that is no object: all that is read of it is
 * then missing. */
static void
take_result (SbxReply *reply)
{
  static JsonObject *empty;

  if (g_once_init_enter (&empty))
    g_once_init_leave (&empty, json_object_new ());

  reply->result = empty;
  _sbx_json_object_get_object (reply->object, "result", &reply->result);
}

/* Adds a message to @reply. */
static void
take_message (SbxTrial *self,
              SbxReply *reply,
              JsonNode *node)
{
  JsonObject *object = json_node_get_object (node);
  JsonObject *error = NULL;

  if (reply->events == NULL)
    reply->events = g_ptr_array_new_with_free_func ((GDestroyNotify) json_node_unref);

  if (_sbx_json_object_get_object (object, "event", &error) == SBX_JSON_PRESENT)
    {
      if (reply->first_event == 0)
        reply->first_event = g_get_monotonic_time ();
      reply->n_events++;
      if (!reply->lossy)
        g_ptr_array_add (reply->events, json_node_ref (json_object_get_member (object, "event")));
      return;
    }

  /* One reply is enough. */
  if (reply->node != NULL)
    {
      _sbx_trial_fail (self, "expected one reply to a request, not two");
      return;
    }

  reply->time = g_get_monotonic_time ();
  reply->node = json_node_ref (node);
  reply->object = object;
  if (_sbx_json_object_get_object (object, "error", &error) == SBX_JSON_PRESENT)
    {
      reply->code = "without a code";
      _sbx_trial_get_string (self, error, "code", &reply->code);
      _sbx_trial_get_string (self, error, "message", &reply->message);
    }
  else if (json_object_has_member (object, "result"))
    {
      take_result (reply);
    }
  else
    {
      _sbx_trial_fail (self, "expected \"event\", \"error\" or \"result\" in a message");
    }
}

/* Whom a message is for, or %NULL. */
static SbxReply *
find_reply (SbxReply **replies,
            JsonNode  *node)
{
  const char *id = NULL;

  if (_sbx_json_object_get_string (json_node_get_object (node), "id", &id) != SBX_JSON_PRESENT)
    return NULL;

  for (gsize i = 0; replies[i] != NULL; i++)
    if (replies[i]->id != NULL && strcmp (replies[i]->id, id) == 0 &&
        (replies[i]->node == NULL || replies[i]->follow))
      return replies[i];

  return NULL;
}

gboolean
_sbx_trial_step (SbxTrial  *self,
                 SbxReply **replies,
                 gint64     deadline)
{
  const guint n_strays = self->n_strays;

  while (self->problem == NULL)
    {
      g_autoptr(GBytes) line = NULL;
      g_autoptr(JsonNode) node = receive (self, deadline, &line);
      SbxReply *reply = node != NULL ? find_reply (replies, node) : NULL;

      if (node == NULL)
        return FALSE;

      set_received (self, line);
      if (reply != NULL)
        {
          take_message (self, reply, node);
          return self->problem == NULL;
        }

      count_stray (self, line);
      if (self->n_strays - n_strays > MAX_STRAYS)
        {
          self->spoilt = TRUE;
          return _sbx_trial_fail (self, "expected an answer, not a flood of other messages");
        }
    }

  return FALSE;
}

gboolean
_sbx_trial_finish (SbxTrial  *self,
                   SbxReply **replies,
                   SbxReply  *reply)
{
  const gint64 deadline = _sbx_trial_deadline (self);

  while (reply->node == NULL)
    if (!_sbx_trial_step (self, replies, deadline))
      return FALSE;

  return self->problem == NULL;
}

JsonObject *
_sbx_trial_wait_event (SbxTrial    *self,
                       SbxReply   **replies,
                       SbxReply    *reply,
                       const char  *type)
{
  const gint64 deadline = _sbx_trial_deadline (self);
  guint seen = 0;

  for (;;)
    {
      for (; reply->events != NULL && seen < reply->events->len; seen++)
        {
          JsonObject *event = json_node_get_object (reply->events->pdata[seen]);
          const char *found = NULL;

          _sbx_json_object_get_string (event, "type", &found);
          if (g_strcmp0 (found, type) == 0)
            return event;
        }

      if (reply->node != NULL && !reply->follow)
        {
          _sbx_trial_fail (self, "expected an event \"%s\" before the reply", type);
          return NULL;
        }
      if (!_sbx_trial_step (self, replies, deadline))
        return NULL;
    }
}

gboolean
_sbx_trial_receive (SbxTrial   *self,
                    const char *id,
                    SbxReply   *reply)
{
  SbxReply *replies[] = { reply, NULL };

  g_free (reply->id);
  reply->id = g_strdup (id);

  return _sbx_trial_finish (self, replies, reply);
}
