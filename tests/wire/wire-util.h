/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "wire/sbx-wire-line-private.h"
#include "wire/sbx-wire-message-private.h"

#include <string.h>

G_BEGIN_DECLS

static inline GBytes *
wire_bytes (const char *text)
{
  return g_bytes_new (text, strlen (text));
}

static inline SbxWireLine *
wire_line (const char *text)
{
  g_autoptr(GBytes) bytes = wire_bytes (text);

  return _sbx_wire_line_new (bytes);
}

/* What the writer would write, without the newline at its end. */
static inline char *
wire_text (SbxWireMessage *message)
{
  g_autoptr(GBytes) bytes = _sbx_wire_message_to_bytes (message);
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  g_assert_cmpuint (size, ==, _sbx_wire_message_get_size (message));
  g_assert_cmpint (data[size - 1], ==, '\n');
  g_assert_null (memchr (data, '\n', size - 1));

  return g_strndup (data, size - 1);
}

/* Takes @message, and gives it to the other side. */
static inline SbxWireLine *
wire_send (SbxWireMessage *message)
{
  g_autofree char *text = wire_text (message);
  SbxWireLine *line = wire_line (text);

  g_assert_no_error (_sbx_wire_line_get_error (line));
  _sbx_wire_message_free (message);

  return line;
}

/* Takes @message. */
#define wire_assert_text(message, expected) \
  G_STMT_START { \
    g_autoptr(SbxWireMessage) wire_message = (message); \
    g_autofree char *wire_actual = NULL; \
    g_assert_nonnull (wire_message); \
    wire_actual = wire_text (wire_message); \
    g_assert_cmpstr (wire_actual, ==, (expected)); \
  } G_STMT_END

#define wire_assert_bytes(bytes, expected) \
  G_STMT_START { \
    g_assert_nonnull (bytes); \
    g_assert_cmpmem (g_bytes_get_data ((bytes), NULL), g_bytes_get_size (bytes), (expected), \
                     strlen (expected)); \
  } G_STMT_END

G_END_DECLS
