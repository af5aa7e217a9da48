/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-trial-private.h"

#include "wire/sbx-base64-private.h"

#include <string.h>

/* More is not waited for where nobody asks how it went. */
#define CLOSE_MS 2000

void
_sbx_trial_reset (SbxTrial *self)
{
  g_clear_pointer (&self->problem, g_free);
  g_clear_pointer (&self->reason, g_free);
  g_clear_pointer (&self->sent, g_bytes_unref);
  g_clear_pointer (&self->received, g_bytes_unref);
}

static void
forget_session (SbxTrial *self)
{
  g_clear_pointer (&self->session_node, json_node_unref);
  g_clear_pointer (&self->session, g_free);
  g_clear_pointer (&self->cwd, g_free);
}

/* A session may be somewhere far away, and cost something until it is closed. */
static void
close_session (SbxTrial *self)
{
  g_autofree char *line = NULL;
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GBytes) answer = NULL;
  gsize size;

  if (self->peer == NULL || self->session == NULL || _sbx_peer_has_exited (self->peer))
    return;

  line = g_strdup_printf ("{\"id\":\"close\",\"method\":\"close\",\"params\":{\"session\":%s}}\n",
                          self->session);
  size = strlen (line);
  bytes = g_bytes_new_take (g_steal_pointer (&line), size);
  _sbx_peer_send (self->peer, bytes);
  _sbx_peer_receive (self->peer, g_get_monotonic_time () + CLOSE_MS * 1000, &answer);
}

void
_sbx_trial_stop (SbxTrial *self)
{
  if (!self->silent)
    close_session (self);
  g_clear_pointer (&self->peer, _sbx_peer_free);
  forget_session (self);
  self->spoilt = FALSE;
}

void
_sbx_trial_clear (SbxTrial *self)
{
  _sbx_trial_stop (self);
  _sbx_trial_reset (self);
  g_clear_pointer (&self->features, g_strfreev);
  g_clear_pointer (&self->stray, g_bytes_unref);
}

gboolean
_sbx_trial_has_feature (SbxTrial   *self,
                        const char *feature)
{
  return self->features != NULL && g_strv_contains ((const char * const *) self->features, feature);
}

gboolean
_sbx_trial_fail (SbxTrial   *self,
                 const char *format,
                 ...)
{
  va_list arguments;

  if (self->problem == NULL && self->reason == NULL)
    {
      va_start (arguments, format);
      self->problem = g_strdup_vprintf (format, arguments);
      va_end (arguments);
    }

  return FALSE;
}

gboolean
_sbx_trial_skip (SbxTrial   *self,
                 const char *format,
                 ...)
{
  va_list arguments;

  if (self->problem == NULL && self->reason == NULL)
    {
      va_start (arguments, format);
      self->reason = g_strdup_vprintf (format, arguments);
      va_end (arguments);
    }

  return FALSE;
}

gboolean
_sbx_trial_expect (SbxTrial   *self,
                   gboolean    condition,
                   const char *format,
                   ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  if (condition)
    return TRUE;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);

  return _sbx_trial_fail (self, "expected %s", text);
}

gint64
_sbx_trial_deadline (SbxTrial *self)
{
  return g_get_monotonic_time () + (gint64) self->plan->timeout_ms * 1000;
}

static char *
quote_json (const char *text)
{
  g_autoptr(JsonNode) node = json_node_new (JSON_NODE_VALUE);
  g_autoptr(GBytes) bytes = NULL;

  json_node_set_string (node, text);
  bytes = _sbx_json_to_bytes (node, FALSE);

  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

/* JSON may be expanded more than once: what would be taken for a sign is written otherwise. The
 * signs can only stand within strings. */
static char *
escape_signs (const char *json)
{
  g_autoptr(GString) safe = g_string_new (NULL);

  for (const char *p = json; *p != '\0'; p++)
    if (*p == '\'' || *p == '$')
      g_string_append_printf (safe, "\\u%04x", *p);
    else
      g_string_append_c (safe, *p);

  return g_string_free (g_steal_pointer (&safe), FALSE);
}

char *
_sbx_trial_quote (const char *text)
{
  g_autofree char *quoted = quote_json (text);

  return escape_signs (quoted);
}

char *
_sbx_trial_quote_base64 (GBytes *bytes)
{
  g_autofree char *text = NULL;

  text = g_base64_encode (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));

  return g_strdup_printf ("\"%s\"", text);
}

static void
expand_sign (SbxTrial *self,
             char      sign,
             GString  *text)
{
  g_autofree char *quoted = NULL;

  switch (sign)
    {
    case 'S':
      g_string_append (text, self->session != NULL ? self->session : "null");
      break;

    case 'M':
      g_string_append_printf (text, "{\"protocol_version\":\"sandbox.v1\",\"request_id\":"
                              "\"conformance\",\"sandbox_group_id\":\"%s\"}",
                              self->plan->group);
      break;

    case 'W':
      quoted = _sbx_trial_quote (self->plan->workspace);
      g_string_append (text, quoted);
      break;

    case 'P':
      quoted = _sbx_trial_quote (self->plan->provider);
      g_string_append (text, quoted);
      break;

    case 'N':
      quoted = _sbx_trial_quote (self->plan->profile);
      g_string_append (text, quoted);
      break;

    case 'G':
      g_string_append_printf (text, "\"%s\"", self->plan->group);
      break;

    default:
      g_assert_not_reached ();
    }
}

G_GNUC_PRINTF (2, 0)
static char *
expand (SbxTrial   *self,
        const char *format,
        va_list     arguments)
{
  g_autofree char *template = g_strdup_vprintf (format, arguments);
  g_autoptr(GString) text = g_string_new (NULL);

  for (const char *p = template; *p != '\0'; p++)
    if (*p == '\'')
      g_string_append_c (text, '"');
    else if (*p == '$')
      expand_sign (self, *++p, text);
    else
      g_string_append_c (text, *p);

  return g_string_free (g_steal_pointer (&text), FALSE);
}

char *
_sbx_trial_expand (SbxTrial   *self,
                   const char *format,
                   ...)
{
  va_list arguments;
  char *text;

  va_start (arguments, format);
  text = expand (self, format, arguments);
  va_end (arguments);

  return text;
}

void
_sbx_trial_send_bytes (SbxTrial *self,
                       GBytes   *bytes)
{
  g_clear_pointer (&self->sent, g_bytes_unref);
  g_clear_pointer (&self->received, g_bytes_unref);
  self->sent = g_bytes_ref (bytes);
  _sbx_peer_send (self->peer, bytes);
}

void
_sbx_trial_send_line (SbxTrial   *self,
                      const char *line)
{
  g_autoptr(GBytes) bytes = g_bytes_new_take (g_strconcat (line, "\n", NULL), strlen (line) + 1);

  _sbx_trial_send_bytes (self, bytes);
}

G_GNUC_PRINTF (3, 0)
static char *
send (SbxTrial   *self,
      const char *method,
      const char *format,
      va_list     arguments)
{
  g_autofree char *params = expand (self, format, arguments);
  g_autofree char *id = g_strdup_printf ("req_%" G_GUINT64_FORMAT, ++self->last_id);
  g_autofree char *line = g_strdup_printf ("{\"id\":\"%s\",\"method\":\"%s\",\"params\":%s}",
                                           id, method, params);

  _sbx_trial_send_line (self, line);

  return g_steal_pointer (&id);
}

char *
_sbx_trial_send (SbxTrial   *self,
                 const char *method,
                 const char *format,
                 ...)
{
  va_list arguments;
  char *id;

  va_start (arguments, format);
  id = send (self, method, format, arguments);
  va_end (arguments);

  return id;
}

G_GNUC_PRINTF (4, 0)
static gboolean
ask (SbxTrial   *self,
     SbxReply   *reply,
     const char *method,
     const char *format,
     va_list     arguments)
{
  g_autofree char *id = NULL;

  if (self->problem != NULL || self->reason != NULL)
    return FALSE;

  id = send (self, method, format, arguments);

  return _sbx_trial_receive (self, id, reply);
}

gboolean
_sbx_trial_begin (SbxTrial   *self,
                  SbxReply   *reply,
                  const char *method,
                  const char *format,
                  ...)
{
  va_list arguments;

  if (self->problem != NULL || self->reason != NULL)
    return FALSE;

  va_start (arguments, format);
  reply->id = send (self, method, format, arguments);
  va_end (arguments);

  return TRUE;
}

gboolean
_sbx_trial_call (SbxTrial   *self,
                 SbxReply   *reply,
                 const char *method,
                 const char *format,
                 ...)
{
  va_list arguments;
  gboolean received;

  va_start (arguments, format);
  received = ask (self, reply, method, format, arguments);
  va_end (arguments);

  if (!received)
    return FALSE;

  return _sbx_trial_expect (self, reply->result != NULL, "a result of %s, not the error %s", method,
                            reply->code);
}

gboolean
_sbx_trial_refused (SbxTrial   *self,
                    SbxReply   *reply,
                    const char *method,
                    const char *format,
                    ...)
{
  va_list arguments;
  gboolean received;

  va_start (arguments, format);
  received = ask (self, reply, method, format, arguments);
  va_end (arguments);

  return received
         && _sbx_trial_expect (self, reply->code != NULL, "an error of %s, not a result", method);
}

gboolean
_sbx_trial_answered (SbxTrial   *self,
                     SbxReply   *reply,
                     const char *method,
                     const char *format,
                     ...)
{
  va_list arguments;
  gboolean received;

  va_start (arguments, format);
  received = ask (self, reply, method, format, arguments);
  va_end (arguments);

  return received;
}

gboolean
_sbx_trial_is_alive (SbxTrial *self)
{
  g_auto(SbxReply) reply = { NULL };

  return _sbx_trial_call (self, &reply, "capabilities", "{}");
}

/* Reads what the provider says of itself. What is wrong with it is found by a check of its own. */
static void
learn (SbxTrial   *self,
       JsonObject *capabilities)
{
  JsonObject *inner = capabilities;

  _sbx_json_object_get_object (capabilities, "capabilities", &inner);
  _sbx_json_object_get_boolean (inner, "exec", &self->exec);
  g_clear_pointer (&self->features, g_strfreev);
  _sbx_json_object_get_strv (inner, "features", &self->features);
}

gboolean
_sbx_trial_start (SbxTrial *self)
{
  g_autoptr(GError) error = NULL;

  if (self->peer != NULL && (self->spoilt || _sbx_peer_has_exited (self->peer)))
    _sbx_trial_stop (self);
  if (self->peer != NULL)
    return TRUE;

  self->peer = _sbx_peer_new ((const char * const *) self->plan->argv, self->plan->cancellable,
                              &error);
  if (self->peer == NULL)
    return _sbx_trial_fail (self, "the provider cannot be started: %s", error->message);

  if (self->features == NULL)
    {
      g_auto(SbxReply) reply = { NULL };

      /* A provider that does not answer this is one of sandbox.v1 that can execute. */
      self->exec = TRUE;
      if (_sbx_trial_answered (self, &reply, "capabilities", "{}") && reply.result != NULL)
        learn (self, reply.result);
      if (self->features == NULL)
        self->features = g_new0 (char *, 1);
      if (self->problem != NULL)
        _sbx_trial_stop (self);
      _sbx_trial_reset (self);
      if (self->peer == NULL)
        return _sbx_trial_start (self);
    }

  return TRUE;
}

gboolean
_sbx_trial_open (SbxTrial *self)
{
  g_auto(SbxReply) reply = { NULL };
  g_autoptr(GBytes) bytes = NULL;
  g_autofree char *text = NULL;
  const char *cwd = "";

  if (!_sbx_trial_start (self))
    return FALSE;
  if (self->session != NULL)
    return TRUE;

  if (!_sbx_trial_call (self, &reply, "open",
                        "{'metadata':$M,'profile':{'provider':$P,'name':$N},"
                        "'workspace_sync':{'host_path':$W}}"))
    {
      g_autofree char *problem = g_steal_pointer (&self->problem);

      return _sbx_trial_fail (self, "no session could be opened: %s%s%s", problem,
                              reply.message != NULL ? ": " : "",
                              reply.message != NULL ? reply.message : "");
    }

  if (!_sbx_trial_get_string (self, reply.result, "id", &cwd))
    return FALSE;

  cwd = "";
  self->session_node = json_node_ref (json_object_get_member (reply.object, "result"));
  bytes = _sbx_json_to_bytes (self->session_node, FALSE);
  text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  self->session = escape_signs (text);
  _sbx_json_object_get_string (reply.result, "cwd", &cwd);
  self->cwd = g_strdup (cwd);

  return TRUE;
}

gboolean
_sbx_trial_get_string (SbxTrial    *self,
                       JsonObject  *object,
                       const char  *name,
                       const char **value)
{
  return _sbx_trial_expect (self, _sbx_json_object_get_string (object, name, value)
                                  == SBX_JSON_PRESENT, "a string \"%s\"", name);
}

gboolean
_sbx_trial_get_int (SbxTrial   *self,
                    JsonObject *object,
                    const char *name,
                    gint64     *value)
{
  return _sbx_trial_expect (self, _sbx_json_object_get_int (object, name, value)
                                  == SBX_JSON_PRESENT, "an integer \"%s\"", name);
}

gboolean
_sbx_trial_get_payload (SbxTrial    *self,
                        JsonObject  *object,
                        const char  *name,
                        GBytes     **value)
{
  const char *text = NULL;

  if (!_sbx_trial_get_string (self, object, name, &text))
    return FALSE;

  *value = _sbx_base64_decode (text, strlen (text));

  return _sbx_trial_expect (self, *value != NULL, "base64 with its padding in \"%s\"", name);
}
