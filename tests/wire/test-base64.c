/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "wire/sbx-base64-private.h"

#include <string.h>

#define ALPHABET "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/* A buffer of exactly @size, so that a sanitizer sees a byte too many. */
static guint8 *
random_bytes (gsize size)
{
  guint8 *bytes = g_malloc (MAX (size, 1));

  for (gsize i = 0; i < size; i++)
    bytes[i] = (guint8) g_test_rand_int_range (0, 256);

  return bytes;
}

static char *
encode (const guint8 *bytes,
        gsize         size)
{
  const gsize length = _sbx_base64_encoded_size (size);
  char *exact = g_malloc (MAX (length, 1));
  char *text;

  _sbx_base64_encode (bytes, size, exact);
  text = g_strndup (exact, length);
  g_free (exact);

  return text;
}

/* Decodes @text of which the parts end at @first and @second; %NULL when it is refused. */
static GByteArray *
decode_parts (const char *text,
              gsize       length,
              gsize       first,
              gsize       second)
{
  const gsize ends[] = { first, second, length };
  SbxBase64Decoder decoder = { .n_pending = 0 };
  g_autoptr(GByteArray) all = g_byte_array_new ();
  gsize at = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      const gsize n = ends[i] - at;
      const gsize room = _sbx_base64_decoder_room (&decoder, n);
      g_autofree guint8 *input = g_malloc (MAX (n, 1));
      g_autofree guint8 *output = g_malloc (MAX (room, 1));
      gsize n_bytes = 0;

      memcpy (input, text + at, n);
      if (_sbx_base64_decoder_feed (&decoder, input, n, output, &n_bytes) != n)
        return NULL;

      g_assert_cmpuint (n_bytes, <=, room);
      g_byte_array_append (all, output, (guint) n_bytes);
      at = ends[i];
    }

  return _sbx_base64_decoder_is_complete (&decoder) ? g_steal_pointer (&all) : NULL;
}

static gboolean
accepts (const char *text)
{
  const gsize length = strlen (text);
  g_autofree char *exact = g_malloc (MAX (length, 1));
  g_autoptr(GBytes) bytes = NULL;

  memcpy (exact, text, length);
  bytes = _sbx_base64_decode (exact, length);

  return bytes != NULL;
}

static void
use_kernel (gconstpointer data)
{
  const SbxBase64Kernel kernel = GPOINTER_TO_UINT (data);

  if (!_sbx_base64_use_kernel (kernel))
    g_test_message ("This processor does not have kernel %d; the best one is tested again", kernel);
}

/* RFC 4648, section 10 */
static void
test_vectors (gconstpointer kernel)
{
  const char *vectors[][2] = {
    { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
    { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
  };

  use_kernel (kernel);

  for (gsize i = 0; i < G_N_ELEMENTS (vectors); i++)
    {
      const char *plain = vectors[i][0];
      g_autofree char *text = encode ((const guint8 *) plain, strlen (plain));
      g_autoptr(GBytes) bytes = _sbx_base64_decode (vectors[i][1], strlen (vectors[i][1]));

      g_assert_cmpstr (text, ==, vectors[i][1]);
      g_assert_nonnull (bytes);
      g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), plain,
                       strlen (plain));
    }
}

static void
check_length (gsize size,
              gsize shift)
{
  g_autofree guint8 *bytes = random_bytes (size + shift);
  g_autofree char *expected = g_base64_encode (bytes + shift, size);
  g_autofree char *text = encode (bytes + shift, size);
  g_autoptr(GBytes) decoded = NULL;

  g_assert_cmpstr (text, ==, expected);

  decoded = _sbx_base64_decode (text, strlen (text));
  g_assert_nonnull (decoded);
  g_assert_cmpmem (g_bytes_get_data (decoded, NULL), g_bytes_get_size (decoded), bytes + shift,
                   size);
}

static void
test_lengths (gconstpointer kernel)
{
  use_kernel (kernel);

  for (gsize size = 0; size <= 300; size++)
    for (gsize shift = 0; shift < 4; shift++)
      check_length (size, shift);

  check_length (48 * 1024, 0);
  check_length (1024 * 1024 + 1, 1);
}

/* Every byte in every place of a text that is long enough for all kernels: taken if and only if it
 * is of the alphabet, and everything before it is decoded. */
static void
test_every_byte (gconstpointer kernel)
{
  g_autofree guint8 *bytes = random_bytes (120);
  g_autofree char *text = g_base64_encode (bytes, 120);

  use_kernel (kernel);

  for (gsize place = 0; place < 160; place++)
    for (int c = 0; c < 256; c++)
      {
        const gboolean good = c != 0 && strchr (ALPHABET, c) != NULL;
        const gboolean padding = c == '=' && place % 4 >= 2;
        SbxBase64Decoder decoder = { .n_pending = 0 };
        g_autofree guint8 *output = g_malloc (120);
        const char was = text[place];
        gsize n_bytes = 0;
        gsize taken;

        text[place] = (char) c;
        taken = _sbx_base64_decoder_feed (&decoder, (const guint8 *) text, 160, output, &n_bytes);

        if (good)
          g_assert_cmpuint (taken, ==, 160);
        else if (!padding)
          g_assert_cmpuint (taken, ==, place);
        else if (place < 159)
          g_assert_cmpuint (taken, <, 160);

        if (!good)
          g_assert_cmpmem (output, n_bytes - n_bytes % 3, bytes, place / 4 * 3);

        text[place] = was;
      }
}

static void
test_padding (gconstpointer kernel)
{
  use_kernel (kernel);

  /* A value of six bits of which the last four, or two, must be zero. */
  for (int last = 0; last < 64; last++)
    {
      g_autofree char *one = g_strdup_printf ("QUJDQUJDQ%c==", ALPHABET[last]);
      g_autofree char *two = g_strdup_printf ("QUJDQUJDQU%c=", ALPHABET[last]);

      g_assert_cmpint (accepts (one), ==, last % 16 == 0);
      g_assert_cmpint (accepts (two), ==, last % 4 == 0);
    }
}

static void
test_malformed (gconstpointer kernel)
{
  const char *texts[] = {
    "A", "AA", "AAA", "=", "==", "===", "====", "A=", "A==", "A===", "AA=", "AA=A", "AA=AAAAA",
    "AAA=A", "AAA==", "AA===", "AAAA=", "AAAA====", "AA==AAAA", "AAA=AAAA", "AA==\n", "AAAA\n",
    " AAAA", "AAAA ", "AA AA", "AAAA\r\nAAAA", "AAA-", "AA_A", "AAA,", "AAA\xc3\xa9", "AAA\xff",
    "\"AAA", "AAA\\", "AB==", "AAB=",
  };
  const char *prefix = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAx";

  use_kernel (kernel);
  g_assert_true (accepts (prefix));

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *long_text = g_strconcat (prefix, texts[i], NULL);

      g_test_message ("text %" G_GSIZE_FORMAT, i);
      g_assert_false (accepts (texts[i]));
      g_assert_false (accepts (long_text));
    }
}

/* In three parts with their ends at every place, and in single characters. */
static void
test_parts (gconstpointer kernel)
{
  use_kernel (kernel);

  for (gsize size = 88; size <= 90; size++)
    {
      g_autofree guint8 *bytes = random_bytes (size);
      g_autofree char *text = g_base64_encode (bytes, size);
      const gsize length = strlen (text);

      for (gsize first = 0; first <= length; first++)
        for (gsize second = first; second <= length; second++)
          {
            g_autoptr(GByteArray) all = decode_parts (text, length, first, second);

            g_assert_nonnull (all);
            g_assert_cmpmem (all->data, all->len, bytes, size);
          }
    }
}

/* What was wrong is not taken, and what came before it of its quad is still there. */
static void
test_leftovers (gconstpointer kernel)
{
  SbxBase64Decoder decoder = { .n_pending = 0 };
  guint8 output[16];
  gsize n_bytes = 0;

  use_kernel (kernel);

  g_assert_cmpuint (_sbx_base64_decoder_feed (&decoder, (const guint8 *) "QUJDQR==", 8, output,
                                              &n_bytes), ==, 7);
  g_assert_cmpmem (output, n_bytes, "ABC", 3);
  g_assert_cmpmem (decoder.pending, decoder.n_pending, "QR=", 3);
  g_assert_false (_sbx_base64_decoder_is_complete (&decoder));

  decoder = (SbxBase64Decoder) { .n_pending = 0 };
  n_bytes = 0;
  g_assert_cmpuint (_sbx_base64_decoder_feed (&decoder, (const guint8 *) "QQ==QQ==", 8, output,
                                              &n_bytes), ==, 4);
  g_assert_cmpmem (output, n_bytes, "A", 1);
  g_assert_true (_sbx_base64_decoder_is_complete (&decoder));
}

/* Whether a random text is taken, and as what, is for GLib to say: what it encodes again to the
 * same text is base64. */
static void
test_random (gconstpointer kernel)
{
  const char characters[] = ALPHABET "==== \n-";

  use_kernel (kernel);

  for (int round = 0; round < 20000; round++)
    {
      g_autoptr(GString) text = g_string_new (NULL);
      const int length = g_test_rand_int_range (0, 5) * 4 + (round % 8 == 0);
      g_autoptr(GBytes) bytes = NULL;
      g_autofree guint8 *expected = NULL;
      g_autofree char *again = NULL;
      gsize size;

      for (int i = 0; i < length; i++)
        g_string_append_c (text, characters[g_test_rand_int_range (
                                   0, i < length - 2 ? 64 : (gint32) sizeof characters - 1)]);

      expected = g_base64_decode (text->str, &size);
      again = g_base64_encode (expected, size);
      bytes = _sbx_base64_decode (text->str, text->len);

      if (!g_str_equal (again, text->str))
        g_assert_null (bytes);
      else
        {
          g_assert_nonnull (bytes);
          g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), expected,
                           size);
        }
    }
}

int
main (int    argc,
      char **argv)
{
  const char *kernels[] = { "best", "scalar", "ssse3", "avx2" };
  const struct { const char *name; void (*func) (gconstpointer kernel); } tests[] = {
    { "vectors", test_vectors },
    { "lengths", test_lengths },
    { "every-byte", test_every_byte },
    { "padding", test_padding },
    { "malformed", test_malformed },
    { "parts", test_parts },
    { "leftovers", test_leftovers },
    { "random", test_random },
  };

  g_test_init (&argc, &argv, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (kernels); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (tests); j++)
      {
        g_autofree char *path = g_strdup_printf ("/base64/%s/%s", kernels[i], tests[j].name);

        g_test_add_data_func (path, GUINT_TO_POINTER ((guint) i), tests[j].func);
      }

  return g_test_run ();
}
