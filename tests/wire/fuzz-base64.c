/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "wire/sbx-base64-private.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

/* Of a text: GLib takes more than we do, but what it encodes again to the same text is base64. */
static void
check_decode (const guint8 *data,
              gsize         size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr(GBytes) bytes = _sbx_base64_decode ((const char *) data, size);
  gsize n = 0;
  g_autofree guint8 *expected = g_base64_decode (text, &n);
  g_autofree char *again = g_base64_encode (expected, n);
  const gboolean good = strlen (text) == size && g_str_equal (again, text);

  g_assert_cmpint (bytes != NULL, ==, good);

  if (good)
    g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), expected, n);
}

/* The same text in parts that end where its own bytes say. */
static void
check_parts (const guint8 *data,
             gsize         size)
{
  g_autoptr(GBytes) bytes = _sbx_base64_decode ((const char *) data, size);
  g_autoptr(GByteArray) all = g_byte_array_new ();
  SbxBase64Decoder decoder = { .n_pending = 0 };
  gsize at = 0;

  while (at < size)
    {
      const gsize n = MIN (size - at, 1 + data[at] % 100u);
      const gsize room = _sbx_base64_decoder_room (&decoder, n);
      g_autofree guint8 *input = g_memdup2 (data + at, n);
      g_autofree guint8 *output = g_malloc (MAX (room, 1));
      gsize n_bytes = 0;
      const gsize taken = _sbx_base64_decoder_feed (&decoder, input, n, output, &n_bytes);

      g_assert_cmpuint (n_bytes, <=, room);
      g_byte_array_append (all, output, (guint) n_bytes);
      at += taken;

      if (taken < n)
        break;
    }

  g_assert_cmpint (bytes != NULL, ==, at == size && _sbx_base64_decoder_is_complete (&decoder));

  if (bytes != NULL)
    g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), all->data, all->len);
}

static void
check_encode (const guint8 *data,
              gsize         size)
{
  const gsize length = _sbx_base64_encoded_size (size);
  g_autofree char *text = g_malloc (MAX (length, 1));
  g_autofree char *expected = g_base64_encode (data, size);
  g_autoptr(GBytes) bytes = NULL;

  _sbx_base64_encode (data, size, text);
  g_assert_cmpmem (text, length, expected, strlen (expected));

  bytes = _sbx_base64_decode (text, length);
  g_assert_nonnull (bytes);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), data, size);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        size_t        size)
{
  for (SbxBase64Kernel kernel = SBX_BASE64_SCALAR; kernel <= SBX_BASE64_AVX2; kernel++)
    if (_sbx_base64_use_kernel (kernel))
      {
        check_decode (data, size);
        check_parts (data, size);
        check_encode (data, size);
      }

  return 0;
}
