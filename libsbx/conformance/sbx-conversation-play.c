/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-peer-private.h"
#include "conformance/sbx-conformance-run-private.h"
#include "conformance/sbx-conversation-private.h"
#include "core/sbx-text-private.h"
#include "json/sbx-json-private.h"

#include <string.h>

#define BUDGET (128 * 1024 * 1024)
#define MAX_DIFFERENCES 1000

/* The client's side at work. */
typedef struct
{
  SbxConversation *conversation;
  SbxPeer         *peer;
  const char      *workspace;
  guint            timeout_ms;
  GHashTable      *methods;     /* id: method of what was asked */
  GHashTable      *real;        /* id: final message of the provider that is checked */
  GHashTable      *sessions;    /* recorded id: JsonNode of the session that stands for it */
  GHashTable      *processes;   /* recorded id: the process's id now */
  GPtrArray       *paths;       /* pairs: what a path began with, and begins with now */
  GPtrArray       *differences;
} Play;

static void
differ (Play       *play,
        const char *format,
        ...) G_GNUC_PRINTF (2, 3);

static void
differ (Play       *play,
        const char *format,
        ...)
{
  va_list arguments;

  if (play->differences->len >= MAX_DIFFERENCES)
    return;

  va_start (arguments, format);
  g_ptr_array_add (play->differences, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

static void
unref_node (gpointer node)
{
  json_node_unref (node);
}

static void
play_clear (Play *play)
{
  g_clear_pointer (&play->peer, _sbx_peer_free);
  g_clear_pointer (&play->methods, g_hash_table_unref);
  g_clear_pointer (&play->real, g_hash_table_unref);
  g_clear_pointer (&play->sessions, g_hash_table_unref);
  g_clear_pointer (&play->processes, g_hash_table_unref);
  g_clear_pointer (&play->paths, g_ptr_array_unref);
  g_clear_pointer (&play->differences, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Play, play_clear)

/* Puts what is now in the place of what was then: a path below a directory of that session. */
static void
replace_path (Play       *play,
              JsonObject *object,
              const char *name)
{
  const char *path = NULL;

  if (_sbx_json_object_get_string (object, name, &path) != SBX_JSON_PRESENT)
    return;

  for (guint i = play->paths->len; i >= 2; i -= 2)
    {
      const char *old = play->paths->pdata[i - 2];
      const gsize length = strlen (old);

      if (strncmp (path, old, length) == 0 && (path[length] == '/' || path[length] == '\0'))
        {
          g_autofree char *now = g_strconcat (play->paths->pdata[i - 1], path + length, NULL);

          json_object_set_string_member (object, name, now);
          return;
        }
    }
}

static void
replace_known (Play       *play,
               JsonObject *params)
{
  JsonObject *session = NULL;
  JsonObject *workspace = NULL;
  const char *id = NULL;
  JsonNode *now;
  const char *process;

  if (_sbx_json_object_get_object (params, "session", &session) == SBX_JSON_PRESENT &&
      _sbx_json_object_get_string (session, "id", &id) == SBX_JSON_PRESENT &&
      (now = g_hash_table_lookup (play->sessions, id)) != NULL)
    json_object_set_member (params, "session", json_node_ref (now));

  if (_sbx_json_object_get_string (params, "process_id", &id) == SBX_JSON_PRESENT &&
      (process = g_hash_table_lookup (play->processes, id)) != NULL)
    json_object_set_string_member (params, "process_id", process);

  if (_sbx_json_object_get_object (params, "workspace_sync", &workspace) == SBX_JSON_PRESENT &&
      json_object_has_member (workspace, "host_path"))
    json_object_set_string_member (workspace, "host_path", play->workspace);

  replace_path (play, params, "path");
  replace_path (play, params, "new_path");
  replace_path (play, params, "cwd");
}

static void
send_message (Play  *play,
              guint  message)
{
  gsize budget = BUDGET;
  g_autoptr(JsonNode) node = _sbx_conversation_fill_node (play->conversation, message, &budget);
  g_autoptr(GBytes) line = NULL;
  g_autoptr(GBytes) newline = g_bytes_new_static ("\n", 1);
  JsonObject *params = NULL;
  const char *method = NULL;

  if (node != NULL && JSON_NODE_HOLDS_OBJECT (node))
    {
      JsonObject *request = json_node_get_object (node);

      if (_sbx_json_object_get_object (request, "params", &params) == SBX_JSON_PRESENT)
        replace_known (play, params);
      if (_sbx_json_object_get_string (request, "method", &method) == SBX_JSON_PRESENT &&
          _sbx_message_get_id (node) != NULL)
        {
          g_hash_table_replace (play->methods, g_strdup (_sbx_message_get_id (node)),
                                g_strdup (method));
          g_hash_table_remove (play->real, _sbx_message_get_id (node));
        }
    }

  line = node != NULL ? _sbx_json_to_bytes (node, FALSE)
                      : sbx_conversation_get_line (play->conversation, message);
  _sbx_peer_send (play->peer, line);
  _sbx_peer_send (play->peer, newline);
}

/* What the session, the process and the directory are called now. */
static void
learn (Play     *play,
       JsonNode *recorded,
       JsonNode *real)
{
  JsonObject *was = NULL;
  JsonObject *is = NULL;
  const char *old = NULL;
  const char *now = NULL;

  if (_sbx_json_object_get_object (json_node_get_object (recorded), "result", &was)
      != SBX_JSON_PRESENT ||
      _sbx_json_object_get_object (json_node_get_object (real), "result", &is) != SBX_JSON_PRESENT)
    return;

  if (_sbx_json_object_get_string (was, "id", &old) == SBX_JSON_PRESENT &&
      json_object_has_member (is, "id"))
    g_hash_table_replace (play->sessions, g_strdup (old),
                          json_node_ref (json_object_get_member (json_node_get_object (real),
                                                                 "result")));

  if (_sbx_json_object_get_string (was, "process_id", &old) == SBX_JSON_PRESENT &&
      _sbx_json_object_get_string (is, "process_id", &now) == SBX_JSON_PRESENT)
    g_hash_table_replace (play->processes, g_strdup (old), g_strdup (now));

  for (int i = 0; i < 2; i++)
    if (_sbx_json_object_get_string (was, i == 0 ? "cwd" : "path", &old) == SBX_JSON_PRESENT &&
        _sbx_json_object_get_string (is, i == 0 ? "cwd" : "path", &now) == SBX_JSON_PRESENT &&
        g_path_is_absolute (old) && strlen (old) > 1)
      {
        g_ptr_array_add (play->paths, g_strdup (old));
        g_ptr_array_add (play->paths, g_strdup (now));
      }
}

/* Also "started" tells the name of a process. */
static void
learn_started (Play     *play,
               JsonNode *recorded,
               JsonNode *real)
{
  JsonObject *was = NULL;
  JsonObject *is = NULL;
  const char *old = NULL;
  const char *now = NULL;

  if (_sbx_json_object_get_object (json_node_get_object (recorded), "event", &was)
      == SBX_JSON_PRESENT &&
      _sbx_json_object_get_object (json_node_get_object (real), "event", &is) == SBX_JSON_PRESENT &&
      _sbx_json_object_get_string (was, "process_id", &old) == SBX_JSON_PRESENT &&
      _sbx_json_object_get_string (is, "process_id", &now) == SBX_JSON_PRESENT)
    g_hash_table_replace (play->processes, g_strdup (old), g_strdup (now));
}

static JsonNode *
parse_line (GBytes *line)
{
  const SbxJsonLimits limits = { 128 * 1024 * 1024, 64, 250 * 1000, 4096, 128 * 1024 * 1024, 128 };
  g_autoptr(JsonNode) node = _sbx_json_parse (line, &limits, NULL);

  return node != NULL && JSON_NODE_HOLDS_OBJECT (node) ? g_steal_pointer (&node) : NULL;
}

/* Takes messages of the provider until one with @id that is final, or is an event, has come. */
static JsonNode *
receive (Play        *play,
         const char  *id,
         gboolean     event,
         const char **why)
{
  const gint64 deadline = g_get_monotonic_time () + (gint64) play->timeout_ms * 1000;
  JsonNode *found = event ? NULL : g_hash_table_lookup (play->real, id);

  while (found == NULL)
    {
      g_autoptr(GBytes) line = NULL;
      g_autoptr(JsonNode) node = NULL;
      const SbxPeerOutcome outcome = _sbx_peer_receive (play->peer, deadline, &line);
      const char *real_id;

      if (outcome != SBX_PEER_LINE)
        {
          *why = outcome == SBX_PEER_TIMED_OUT ? "no answer in time" : "the provider ended";
          return NULL;
        }

      node = parse_line (line);
      real_id = _sbx_message_get_id (node);
      if (real_id == NULL || !g_hash_table_contains (play->methods, real_id))
        continue;

      if (_sbx_message_is_final (node))
        g_hash_table_replace (play->real, g_strdup (real_id), json_node_ref (node));
      if (strcmp (real_id, id) == 0 && (event || _sbx_message_is_final (node)))
        return g_steal_pointer (&node);
    }

  return json_node_ref (found);
}

/* The provider said this then; what does it say now? FALSE: it says nothing any more. */
static gboolean
check_message (Play     *play,
               JsonNode *recorded)
{
  const char *id = _sbx_message_get_id (recorded);
  const char *method = id != NULL ? g_hash_table_lookup (play->methods, id) : NULL;
  g_autoptr(JsonNode) real = NULL;
  g_autofree char *shown_id = NULL;
  g_autofree char *shown = NULL;
  g_autofree char *where = NULL;
  const char *why = NULL;
  JsonObject *event = NULL;
  const char *type = NULL;
  gboolean started;

  if (method == NULL)
    return TRUE;

  /* How output is cut into events is by chance. */
  started = _sbx_json_object_get_object (json_node_get_object (recorded), "event", &event)
            == SBX_JSON_PRESENT
            && _sbx_json_object_get_string (event, "type", &type) == SBX_JSON_PRESENT
            && strcmp (type, "started") == 0;
  if (event != NULL && !started)
    return TRUE;
  if (!started && g_hash_table_lookup (play->real, id) == NULL && !_sbx_message_is_final (recorded))
    return TRUE;

  shown = _sbx_text_escape (method);
  shown_id = _sbx_text_escape (id);
  where = g_strdup_printf ("%s (%s)", shown_id, shown);

  real = receive (play, id, started, &why);
  if (real == NULL)
    {
      differ (play, "%s: %s", where, why);
      return FALSE;
    }

  if (started)
    {
      learn_started (play, recorded, real);
      return TRUE;
    }

  learn (play, recorded, real);
  for (int i = 0; i < 2; i++)
    {
      const char *name = i == 0 ? "result" : "error";
      g_autofree char *place = g_strdup_printf ("%s: %s", where, name);

      _sbx_conversation_compare (json_object_get_member (json_node_get_object (recorded), name),
                                 json_object_get_member (json_node_get_object (real), name), place,
                                 play->differences);
    }

  return play->differences->len < MAX_DIFFERENCES;
}

GPtrArray *
_sbx_conversation_play (SbxConversation     *self,
                        const char * const  *argv,
                        const char          *workspace,
                        guint                timeout_ms,
                        GCancellable        *cancellable,
                        GError             **error)
{
  g_auto(Play) play = { self, NULL, workspace, timeout_ms };
  g_autofree char *own = NULL;
  gboolean going = TRUE;

  play.peer = _sbx_peer_new (argv, cancellable, error);
  if (play.peer == NULL)
    return NULL;

  if (workspace == NULL)
    {
      play.workspace = own = _sbx_workspace_make (cancellable, error);
      if (own == NULL)
        return NULL;
    }

  play.methods = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  play.real = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, unref_node);
  play.sessions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, unref_node);
  play.processes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  play.paths = g_ptr_array_new_with_free_func (g_free);
  play.differences = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; going && i < sbx_conversation_get_n_messages (self); i++)
    {
      g_autoptr(JsonNode) node = NULL;

      if (sbx_conversation_get_side (self, i) == SBX_CONVERSATION_SIDE_CLIENT)
        {
          send_message (&play, i);
          continue;
        }

      node = _sbx_conversation_get_node (self, i);
      going = node == NULL || !JSON_NODE_HOLDS_OBJECT (node) || check_message (&play, node);
    }

  g_clear_pointer (&play.peer, _sbx_peer_free);
  if (own != NULL)
    _sbx_workspace_remove (own);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;

  return g_steal_pointer (&play.differences);
}
