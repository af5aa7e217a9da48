/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "wire/sbx-wire-call-private.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

/* Whatever a client sends, there is an id to answer to, and each getter gives either a value or an
 * error. */

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
read_strings (SbxWireCall *call)
{
  g_autoptr(GError) error = NULL;

  check (_sbx_wire_call_get_group (call, &error) != NULL, &error);
  check (_sbx_wire_call_get_session_id (call, &error) != NULL, &error);
  check (_sbx_wire_call_get_path (call, &error) != NULL, &error);
  check (_sbx_wire_call_get_new_path (call, &error) != NULL, &error);
  check (_sbx_wire_call_get_prefix (call, &error) != NULL, &error);
  check (_sbx_wire_call_get_process_id (call, &error) != NULL, &error);
  check (_sbx_wire_call_get_request_id (call, &error) != NULL, &error);
}

static void
read_numbers (SbxWireCall *call)
{
  g_autoptr(GError) error = NULL;
  SbxWireRange range;
  guint rows = 0;
  guint columns = 0;
  int number = 0;

  check (_sbx_wire_call_get_range (call, &range, &error), &error);

  if (_sbx_wire_call_get_signal (call, &number, &error))
    g_assert_true (number >= 1 && number <= 64);
  check (number > 0, &error);

  if (_sbx_wire_call_get_size (call, &rows, &columns, &error))
    g_assert_true (rows >= 1 && rows <= 65535 && columns >= 1 && columns <= 65535);
  check (rows > 0 && columns > 0, &error);
}

static void
read_objects (SbxWireCall *call)
{
  g_autoptr(SbxOpenRequest) request = NULL;
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(GBytes) content = NULL;
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;
  SbxWireExecOptions options;
  const char *provider = NULL;

  request = _sbx_wire_call_get_open (call, &provider, &error);
  check (request != NULL && provider != NULL, &error);
  content = _sbx_wire_call_get_content (call, &error);
  check (content != NULL, &error);
  bytes = _sbx_wire_call_get_data (call, &error);
  check (bytes != NULL, &error);
  command = _sbx_wire_call_get_command (call, &options, &error);
  check (command != NULL, &error);

  /* What the server takes the library takes. */
  if (command != NULL)
    check (sbx_command_validate (command, &error), &error);
}

static void
read_line (GBytes *bytes)
{
  g_autoptr(SbxWireLine) line = _sbx_wire_line_new (bytes);
  g_autoptr(GError) error = NULL;
  g_auto(SbxWireCall) call = { 0 };
  const gboolean parsed = _sbx_wire_call_parse (&call, line, &error);

  g_assert_nonnull (call.id);
  g_assert_true (g_utf8_validate (call.id, -1, NULL));
  g_assert_cmpuint (strlen (call.id), <=, 1024);
  check (parsed, &error);

  if (!parsed)
    return;

  g_assert_nonnull (call.params);
  read_strings (&call);
  read_numbers (&call);
  read_objects (&call);
}

/* The input as a line, and as the part of one that matters. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        size_t        size)
{
  static const char * const heads[] = {
    "{\"id\":\"1\",\"method\":\"exec\",\"params\":",
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
