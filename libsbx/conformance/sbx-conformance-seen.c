/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-checks-private.h"

#include "core/sbx-text-private.h"

#include <string.h>

#define MAX_SHOWN 60

void
_sbx_seen_clear (SbxSeen *self)
{
  _sbx_reply_clear (&self->reply);
  g_clear_pointer (&self->out, g_byte_array_unref);
  g_clear_pointer (&self->err, g_byte_array_unref);
  g_clear_pointer (&self->result_out, g_bytes_unref);
  g_clear_pointer (&self->result_err, g_bytes_unref);
  memset (self, 0, sizeof *self);
}

static gboolean
read_output (SbxTrial   *trial,
             JsonObject *event,
             GByteArray *output)
{
  g_autoptr(GBytes) bytes = NULL;
  const char *text = NULL;
  gsize size;
  gconstpointer data;

  /* An event without data is one of no bytes. */
  if (_sbx_json_object_get_string (event, "data_base64", &text) == SBX_JSON_ABSENT)
    return TRUE;
  if (!_sbx_trial_get_payload (trial, event, "data_base64", &bytes))
    return FALSE;

  data = g_bytes_get_data (bytes, &size);
  g_byte_array_append (output, data, (guint) size);

  return TRUE;
}

static gboolean
read_event (SbxSeen    *self,
            SbxTrial   *trial,
            JsonObject *event)
{
  const char *type = NULL;

  if (!_sbx_trial_get_string (trial, event, "type", &type))
    return FALSE;

  if (strcmp (type, "started") == 0)
    {
      self->in_order &= self->n_output == 0 && self->n_exited == 0;
      self->n_started++;
      _sbx_json_object_get_string (event, "process_id", &self->process_id);
    }
  else if (strcmp (type, "stdout") == 0 || strcmp (type, "stderr") == 0)
    {
      self->in_order &= self->n_started > 0 && self->n_exited == 0;
      self->n_output++;
      return read_output (trial, event, strcmp (type, "stdout") == 0 ? self->out : self->err);
    }
  else if (strcmp (type, "exited") == 0)
    {
      self->in_order &= self->n_started > 0;
      self->n_exited++;
      self->exited_code = -1;
      _sbx_json_object_get_int (event, "exit_code", &self->exited_code);
    }

  return TRUE;
}

gboolean
_sbx_seen_read (SbxSeen  *self,
                SbxTrial *trial)
{
  JsonObject *result = self->reply.result;

  self->out = g_byte_array_new ();
  self->err = g_byte_array_new ();
  self->in_order = TRUE;
  self->exit_code = G_MININT64;

  for (guint i = 0; i < self->reply.events->len; i++)
    if (!read_event (self, trial, json_node_get_object (self->reply.events->pdata[i])))
      return FALSE;

  if (result == NULL)
    return TRUE;

  if (json_object_has_member (result, "stdout_base64") &&
      !_sbx_trial_get_payload (trial, result, "stdout_base64", &self->result_out))
    return FALSE;
  if (json_object_has_member (result, "stderr_base64") &&
      !_sbx_trial_get_payload (trial, result, "stderr_base64", &self->result_err))
    return FALSE;

  return _sbx_trial_get_int (trial, result, "exit_code", &self->exit_code);
}

gboolean
_sbx_seen_exec (SbxSeen    *self,
                SbxTrial   *trial,
                const char *argv,
                const char *more)
{
  return _sbx_trial_call (trial, &self->reply, "exec", "{'session':$S,'argv':%s%s}", argv, more)
         && _sbx_seen_read (self, trial);
}

char *
_sbx_seen_params (SbxTrial   *trial,
                  const char *script,
                  const char *more)
{
  g_autofree char *quoted = _sbx_trial_quote (script);

  return _sbx_trial_expand (trial, "{'session':$S,'argv':['sh','-c',%s]%s}", quoted, more);
}

gboolean
_sbx_seen_shell (SbxSeen    *self,
                 SbxTrial   *trial,
                 const char *script,
                 const char *more)
{
  g_autofree char *quoted = _sbx_trial_quote (script);
  g_autofree char *argv = g_strdup_printf ("['sh','-c',%s]", quoted);

  return _sbx_seen_exec (self, trial, argv, more);
}

gboolean
_sbx_seen_expect_exit (SbxSeen  *self,
                       SbxTrial *trial,
                       int       code)
{
  return _sbx_trial_expect (trial, self->exit_code == code, "exit code %d, not %" G_GINT64_FORMAT,
                            code, self->exit_code);
}

static char *
show (gconstpointer data,
      gsize         size)
{
  g_autofree char *text = g_strndup (data, MIN (size, MAX_SHOWN));

  return _sbx_text_escape (text);
}

gboolean
_sbx_trial_expect_bytes (SbxTrial      *trial,
                         GBytes        *bytes,
                         const char    *what,
                         gconstpointer  data,
                         gsize          size)
{
  g_autofree char *wanted = show (data, size);
  g_autofree char *shown = NULL;
  gsize real_size = 0;
  gconstpointer real_data = bytes != NULL ? g_bytes_get_data (bytes, &real_size) : NULL;

  if (real_size == size && (size == 0 || memcmp (real_data, data, size) == 0))
    return TRUE;

  shown = show (real_data != NULL ? real_data : "", real_size);

  return _sbx_trial_fail (trial, "expected %" G_GSIZE_FORMAT " bytes %s, \"%s\", not %"
                          G_GSIZE_FORMAT ", \"%s\"", size, what, wanted, real_size, shown);
}

gboolean
_sbx_seen_expect_out (SbxSeen    *self,
                      SbxTrial   *trial,
                      const char *text)
{
  return _sbx_trial_expect_bytes (trial, self->result_out, "of standard output in the result", text,
                                  strlen (text));
}

gboolean
_sbx_seen_expect_err (SbxSeen    *self,
                      SbxTrial   *trial,
                      const char *text)
{
  return _sbx_trial_expect_bytes (trial, self->result_err, "of standard error in the result", text,
                                  strlen (text));
}

gboolean
_sbx_trial_write (SbxTrial      *trial,
                  const char    *path,
                  gconstpointer  data,
                  gsize          size)
{
  g_auto(SbxReply) reply = { NULL };
  g_autofree char *name = _sbx_trial_quote (path);
  g_autoptr(GBytes) bytes = g_bytes_new_static (data, size);
  g_autofree char *text = _sbx_trial_quote_base64 (bytes);

  return _sbx_trial_call (trial, &reply, "write_file",
                          "{'session':$S,'path':%s,'content_base64':%s}", name, text);
}

gboolean
_sbx_trial_read (SbxTrial    *trial,
                 const char  *path,
                 GBytes     **content)
{
  g_auto(SbxReply) reply = { NULL };
  g_autofree char *name = _sbx_trial_quote (path);

  return _sbx_trial_call (trial, &reply, "read_file", "{'session':$S,'path':%s}", name)
         && _sbx_trial_get_payload (trial, reply.result, "content_base64", content);
}

gboolean
_sbx_trial_read_expect (SbxTrial      *trial,
                        const char    *path,
                        gconstpointer  data,
                        gsize          size)
{
  g_autoptr(GBytes) content = NULL;

  return _sbx_trial_read (trial, path, &content)
         && _sbx_trial_expect_bytes (trial, content, "in the file", data, size);
}

gboolean
_sbx_trial_stands_still (SbxTrial   *trial,
                         const char *path)
{
  g_autoptr(GBytes) before = NULL;
  g_autoptr(GBytes) after = NULL;

  if (!_sbx_trial_read (trial, path, &before))
    return FALSE;

  g_usleep (400 * 1000);

  return _sbx_trial_read (trial, path, &after)
         && _sbx_trial_expect (trial, g_bytes_equal (before, after),
                               "the command to be ended; it still writes");
}

gboolean
_sbx_trial_is_missing (SbxTrial   *trial,
                       const char *path)
{
  g_auto(SbxReply) reply = { NULL };
  g_autofree char *name = _sbx_trial_quote (path);

  return _sbx_trial_refused (trial, &reply, "read_file", "{'session':$S,'path':%s}", name);
}
