/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-base64-private.h"

#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The value of a character and one, or 0 for what is not of the alphabet. */
static const guint8 values[256] = {
  ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
  ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
  ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
  ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
  ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
  ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
  ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
  ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};

typedef struct
{
  SbxBase64Work encode;
  SbxBase64Work decode;
} Kernel;

static gsize
encode_scalar (const guint8 *input,
               gsize         size,
               guint8       *output)
{
  gsize at = 0;

  for (; size - at >= 3; at += 3, output += 4)
    {
      const guint32 bits = (guint32) input[at] << 16 | (guint32) input[at + 1] << 8 | input[at + 2];

      output[0] = (guint8) alphabet[bits >> 18];
      output[1] = (guint8) alphabet[bits >> 12 & 63];
      output[2] = (guint8) alphabet[bits >> 6 & 63];
      output[3] = (guint8) alphabet[bits & 63];
    }

  return at;
}

static gsize
decode_scalar (const guint8 *input,
               gsize         size,
               guint8       *output)
{
  gsize at = 0;

  for (; size - at >= 4; at += 4, output += 3)
    {
      /* What is not of the alphabet becomes all ones, which shows above the six bits. */
      const guint32 a = values[input[at]] - 1u;
      const guint32 b = values[input[at + 1]] - 1u;
      const guint32 c = values[input[at + 2]] - 1u;
      const guint32 d = values[input[at + 3]] - 1u;
      const guint32 bits = a << 18 | b << 12 | c << 6 | d;

      if ((a | b | c | d) > 63)
        break;

      output[0] = (guint8) (bits >> 16);
      output[1] = (guint8) (bits >> 8);
      output[2] = (guint8) bits;
    }

  return at;
}

static const Kernel kernels[] = {
  [SBX_BASE64_SCALAR] = { encode_scalar, decode_scalar },
#ifdef SBX_BASE64_HAS_X86
  [SBX_BASE64_SSSE3] = { _sbx_base64_encode_ssse3, _sbx_base64_decode_ssse3 },
  [SBX_BASE64_AVX2] = { _sbx_base64_encode_avx2, _sbx_base64_decode_avx2 },
#endif
};

static gboolean
has_kernel (SbxBase64Kernel kernel)
{
#ifdef SBX_BASE64_HAS_X86
  __builtin_cpu_init ();

  if (kernel == SBX_BASE64_AVX2)
    return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("ssse3");
  if (kernel == SBX_BASE64_SSSE3)
    return __builtin_cpu_supports ("ssse3");
#endif

  return kernel == SBX_BASE64_SCALAR;
}

static SbxBase64Kernel
find_best (void)
{
  if (has_kernel (SBX_BASE64_AVX2))
    return SBX_BASE64_AVX2;

  return has_kernel (SBX_BASE64_SSSE3) ? SBX_BASE64_SSSE3 : SBX_BASE64_SCALAR;
}

static gsize chosen = 0;

static const Kernel *
get_kernel (void)
{
  if (g_once_init_enter (&chosen))
    g_once_init_leave (&chosen, find_best ());

  return &kernels[chosen];
}

gboolean
_sbx_base64_use_kernel (SbxBase64Kernel kernel)
{
  get_kernel ();

  if (kernel == SBX_BASE64_BEST)
    kernel = find_best ();

  if (!has_kernel (kernel))
    return FALSE;

  chosen = kernel;
  return TRUE;
}

void
_sbx_base64_encode (const guint8 *bytes,
                    gsize         size,
                    char         *text)
{
  gsize at;

  /* Nothing may have no address to count from. */
  if (size == 0)
    return;

  at = get_kernel ()->encode (bytes, size, (guint8 *) text);
  at += encode_scalar (bytes + at, size - at, (guint8 *) text + at / 3 * 4);
  text += at / 3 * 4;

  if (at < size)
    {
      const guint32 bits = (guint32) bytes[at] << 16 |
                           (size - at > 1 ? (guint32) bytes[at + 1] << 8 : 0);

      text[0] = alphabet[bits >> 18];
      text[1] = alphabet[bits >> 12 & 63];
      text[2] = size - at > 1 ? alphabet[bits >> 6 & 63] : '=';
      text[3] = '=';
    }
}

/* Decodes a quad that was put together, which may have padding. */
static gboolean
decode_pending (SbxBase64Decoder *self,
                guint8           *bytes,
                gsize            *n_bytes)
{
  const gsize n = self->pending[3] != '=' ? 3 : self->pending[2] != '=' ? 2 : 1;
  guint32 bits = 0;

  for (gsize i = 0; i < 4; i++)
    {
      const guint32 value = i <= n ? values[self->pending[i]] - 1u : 0;

      if (value > 63)
        return FALSE;

      bits = bits << 6 | value;
    }

  /* Bits that say nothing. */
  if ((bits & ((1u << (24 - 8 * n)) - 1)) != 0)
    return FALSE;

  for (gsize i = 0; i < n; i++)
    bytes[*n_bytes + i] = (guint8) (bits >> (16 - 8 * i));

  *n_bytes += n;
  self->ended = n < 3;
  self->n_pending = 0;
  return TRUE;
}

gsize
_sbx_base64_decoder_feed (SbxBase64Decoder *self,
                          const guint8     *text,
                          gsize             length,
                          guint8           *bytes,
                          gsize            *n_bytes)
{
  gsize at = 0;

  while (at < length && !self->ended && self->n_pending < 4)
    {
      if (self->n_pending == 0 && length - at >= 4)
        {
          gsize n = get_kernel ()->decode (text + at, length - at, bytes + *n_bytes);

          n += decode_scalar (text + at + n, length - at - n, bytes + *n_bytes + n / 4 * 3);
          *n_bytes += n / 4 * 3;
          at += n;

          if (at == length)
            break;
        }

      if (values[text[at]] == 0 && !(text[at] == '=' && self->n_pending >= 2))
        break;

      self->pending[self->n_pending++] = text[at];

      /* A quad that is wrong stays, and its last character is not taken. */
      if (self->n_pending == 4 && !decode_pending (self, bytes, n_bytes))
        {
          self->n_pending = 3;
          break;
        }

      at++;
    }

  return at;
}

GBytes *
_sbx_base64_decode (const char *text,
                    gsize       length)
{
  SbxBase64Decoder decoder = { .n_pending = 0 };
  g_autofree guint8 *bytes = g_malloc (length / 4 * 3 + 1);
  gsize n_bytes = 0;
  const gsize taken = _sbx_base64_decoder_feed (&decoder, (const guint8 *) text, length, bytes,
                                                &n_bytes);

  if (taken < length || !_sbx_base64_decoder_is_complete (&decoder))
    return NULL;

  return g_bytes_new_take (g_steal_pointer (&bytes), n_bytes);
}
