/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core/sbx-error.h"
#include "wire/sbx-wire-lifter-private.h"
#include "wire/sbx-wire-reader-private.h"

#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

typedef struct
{
  GPtrArray *lines;
  gboolean   ended;
} Told;

static void
line_cb (SbxWireReader *reader,
         SbxWireLine   *line,
         gpointer       user_data)
{
  Told *told = user_data;

  g_assert_false (told->ended);
  g_ptr_array_add (told->lines, _sbx_wire_line_ref (line));
}

static void
end_cb (SbxWireReader *reader,
        const GError  *error,
        gpointer       user_data)
{
  Told *told = user_data;

  g_assert_false (told->ended);
  g_assert_no_error (error);
  told->ended = TRUE;
}

static JsonNode *
get_root (SbxWireLine *line)
{
  JsonNode *root = json_node_alloc ();

  return json_node_init_object (root, _sbx_wire_line_get_object (line));
}

/* When all that was lifted out is put back, a line says what the gate reads in the whole text. */
static void
check_line (SbxWireLine *line,
            GBytes      *text)
{
  const SbxJsonLimits limits = SBX_JSON_DEFAULT_LIMITS;
  g_autoptr(JsonNode) plain = _sbx_json_parse (text, &limits, NULL);
  const gboolean good = plain != NULL && JSON_NODE_HOLDS_OBJECT (plain);
  g_autoptr(JsonNode) root = NULL;

  g_assert_cmpint (_sbx_wire_line_get_object (line) != NULL, ==, good);
  g_assert_cmpint (_sbx_wire_line_get_error (line) != NULL, ==, !good);
  g_assert_cmpuint (_sbx_wire_line_get_size (line), ==, g_bytes_get_size (text));

  if (!good)
    return;

  _sbx_wire_line_put_back (line);
  root = get_root (line);
  g_assert_true (json_node_equal (root, plain));
}

static void
check_payload (SbxWireLine *line,
               JsonObject  *object,
               SbxWireLine *whole,
               JsonObject  *whole_object,
               const char  *name)
{
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GBytes) whole_bytes = NULL;
  const SbxJsonFound found = _sbx_wire_line_get_payload (line, object, name, &bytes);

  g_assert_cmpint (found == SBX_JSON_PRESENT, ==, bytes != NULL);
  g_assert_cmpint (_sbx_wire_line_get_payload (whole, whole_object, name, &whole_bytes), ==, found);

  if (bytes != NULL)
    g_assert_true (g_bytes_equal (bytes, whole_bytes));

  if (_sbx_wire_line_is_payload (line, json_object_get_member (object, name)))
    g_assert_nonnull (bytes);
}

/* The payloads of two lines that must be the same. */
static void
check_payloads (SbxWireLine *line,
                SbxWireLine *whole)
{
  JsonObject *root = _sbx_wire_line_get_object (line);
  JsonObjectIter iter;
  const char *name;
  JsonNode *node;

  g_assert_cmpint (root != NULL, ==, _sbx_wire_line_get_object (whole) != NULL);
  if (root == NULL)
    return;

  json_object_iter_init (&iter, root);
  while (json_object_iter_next (&iter, &name, &node))
    {
      JsonObject *whole_object = NULL;
      JsonObjectIter member_iter;
      const char *member;

      if (!JSON_NODE_HOLDS_OBJECT (node))
        continue;

      g_assert_cmpint (_sbx_json_object_get_object (_sbx_wire_line_get_object (whole), name,
                                                    &whole_object), ==, SBX_JSON_PRESENT);
      json_object_iter_init (&member_iter, json_node_get_object (node));
      while (json_object_iter_next (&member_iter, &member, NULL))
        check_payload (line, json_node_get_object (node), whole, whole_object, member);
    }
}

/* Through a pipe, in parts that the bytes themselves say. */
static GPtrArray *
read_lines (const guint8 *data,
            gsize         size)
{
  g_autoptr(GMainContext) context = g_main_context_new ();
  Told told = { g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_wire_line_unref), FALSE };
  g_autoptr(SbxWireReader) reader = NULL;
  gsize at = 0;
  int fds[2];

  g_assert_true (g_unix_open_pipe (fds, FD_CLOEXEC, NULL));
  reader = _sbx_wire_reader_new (fds[0], context, SBX_WIRE_DEFAULT_MAX_SIZE, line_cb, end_cb,
                                 &told);

  while (at < size)
    {
      const gsize n = MIN (size - at, 1 + data[at] % 64u);

      g_assert_cmpint (write (fds[1], data + at, n), ==, n);
      at += n;

      if (data[at - 1] % 2 == 0)
        _sbx_wire_reader_pause (reader);
      g_main_context_iteration (context, FALSE);
      _sbx_wire_reader_resume (reader);
      g_main_context_iteration (context, FALSE);
    }

  close (fds[1]);
  while (!told.ended)
    g_main_context_iteration (context, TRUE);

  return told.lines;
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        size_t        size)
{
  g_autoptr(GPtrArray) lines = read_lines (data, size);
  const guint8 *at = data;
  const guint8 *const end = data + size;
  guint n = 0;

  while (at < end)
    {
      const guint8 *newline = memchr (at, '\n', (gsize) (end - at));
      const guint8 *line_end = newline != NULL ? newline : end;
      g_autoptr(GBytes) text = g_bytes_new (at, (gsize) (line_end - at));
      g_autofree char *copy = g_strndup ((const char *) at, (gsize) (line_end - at));

      /* Blank lines are passed over; a NUL is not blank. */
      if (strspn (copy, " \t\r") < (gsize) (line_end - at))
        {
          g_autoptr(SbxWireLine) whole = _sbx_wire_line_new (text);
          SbxWireLine *line;

          g_assert_cmpuint (n, <, lines->len);
          line = g_ptr_array_index (lines, n++);

          g_assert_cmpstr (_sbx_wire_line_guess_id (line), ==, _sbx_wire_line_guess_id (whole));
          check_payloads (line, whole);
          check_line (line, text);
          check_line (whole, text);
        }

      at = line_end + 1;
    }

  g_assert_cmpuint (n, ==, lines->len);
  return 0;
}
