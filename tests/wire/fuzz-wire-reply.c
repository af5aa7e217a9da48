/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "wire/sbx-wire-reply-private.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

/* Whatever a provider sends, each getter gives either a value or an error. */

static void
check (gboolean  succeeded,
       GError  **error)
{
  g_assert_true (succeeded == (*error == NULL));
  if (*error != NULL)
    g_assert_true (g_utf8_validate ((*error)->message, -1, NULL));

  g_clear_error (error);
}

static void
read_ends (SbxWireReply *reply)
{
  g_auto(SbxWireExecEnd) end = { 0 };
  g_auto(SbxWireEvent) event = { 0 };
  g_autofree char *process_id = NULL;
  g_autoptr(GError) error = NULL;

  check (_sbx_wire_reply_get_exec_end (reply, &end, &error), &error);
  check (_sbx_wire_reply_get_spawned (reply, &process_id, &error), &error);

  if (reply->event != NULL)
    check (_sbx_wire_reply_get_event (reply, &event, &error), &error);

  if (reply->error != NULL)
    {
      error = _sbx_wire_reply_get_error (reply);
      check (FALSE, &error);
    }
}

static void
read_files (SbxWireReply *reply)
{
  g_autoptr(GBytes) content = NULL;
  g_autoptr(GFileInfo) info = NULL;
  g_autoptr(GListStore) infos = NULL;
  g_autofree char *path = NULL;
  g_autoptr(GError) error = NULL;
  gint64 number = 0;

  content = _sbx_wire_reply_get_content (reply, &number, &error);
  check (content != NULL, &error);
  path = _sbx_wire_reply_get_path (reply, &error);
  check (path != NULL, &error);
  info = _sbx_wire_reply_get_info (reply, &error);
  check (info != NULL, &error);
  infos = _sbx_wire_reply_get_infos (reply, &error);
  check (infos != NULL, &error);
}

/* A session that was taken must be one that can be sent back, and says the same again. */
static void
read_session (SbxWireReply *reply)
{
  g_auto(SbxWireSession) session = { 0 };
  g_autoptr(JsonNode) again = NULL;
  g_autoptr(GError) error = NULL;
  SbxWireFeatures features;
  gboolean exec;
  guint count = 0;

  check (_sbx_wire_reply_get_capabilities (reply, &exec, &features, &error), &error);
  check (_sbx_wire_reply_get_cleaned_count (reply, &count, &error), &error);

  if (_sbx_wire_reply_get_session (reply, &session, &error))
    {
      again = _sbx_json_parse (session.text, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (json_object_equal (json_node_get_object (again), reply->result));
    }

  check (session.text != NULL, &error);
}

static void
read_line (GBytes *bytes)
{
  g_autoptr(SbxWireLine) line = _sbx_wire_line_new (bytes);
  g_autoptr(GError) error = NULL;
  SbxWireReply reply;
  const gboolean parsed = _sbx_wire_reply_parse (&reply, line, &error);

  check (parsed, &error);
  if (!parsed)
    return;

  read_ends (&reply);
  read_files (&reply);
  read_session (&reply);
}

/* The input as a line, and as the part of one that matters. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        size_t        size)
{
  static const char * const heads[] = {
    "{\"id\":\"req_1\",\"result\":",
    "{\"id\":\"req_1\",\"event\":",
    "{\"id\":\"req_1\",\"error\":",
  };
  g_autoptr(GBytes) bytes = g_bytes_new (data, size);

  read_line (bytes);

  for (gsize i = 0; i < G_N_ELEMENTS (heads); i++)
    {
      GString *text = g_string_new (heads[i]);
      g_autoptr(GBytes) whole = NULL;

      g_string_append_len (text, (const char *) data, (gssize) size);
      g_string_append_c (text, '}');
      whole = g_string_free_to_bytes (text);
      read_line (whole);
    }

  return 0;
}
