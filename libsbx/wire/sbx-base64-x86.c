/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-base64-private.h"

#ifdef SBX_BASE64_HAS_X86

#include <immintrin.h>

#define TARGET_SSSE3 __attribute__ ((target ("ssse3")))
#define TARGET_AVX2 __attribute__ ((target ("avx2")))

/*
 * Encoding. Of every three bytes, abc, a group of four is made, bacb, in which every value of six
 * bits lies within one half of 16 bits; two multiplications shift each to its place. The characters
 * of each range are at one distance from their values, which a shuffle looks up.
 */
#define SPREAD 1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10
#define DISTANCES \
  'a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, \
  '0' - 52, '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0

/*
 * Decoding. The two halves of a character each give a set of reasons against it: what they have in
 * common speaks against the character. Bits 0 to 3 are for the rows that begin at 0x20, at 0x30,
 * at 0x40 and 0x60, at 0x50 and 0x70; bit 4 is for all other rows.
 */
#define AGAINST_HIGH \
  0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10
#define AGAINST_LOW \
  0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x13, 0x1a, 0x1b, 0x1b, 0x1b, 0x1a

/* By row, from the character to its value. The slash shares a row with the plus, and takes the
 * entry before it. */
#define VALUES \
  0, 63 - '/', 62 - '+', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0

/* Groups of four values that were put together to 24 bits, their bytes the other way round. */
#define GATHER 2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1

static inline TARGET_SSSE3 __m128i
encode_16 (__m128i bytes)
{
  const __m128i spread = _mm_shuffle_epi8 (bytes, _mm_setr_epi8 (SPREAD));
  const __m128i odd = _mm_mulhi_epu16 (_mm_and_si128 (spread, _mm_set1_epi32 (0x0fc0fc00)),
                                       _mm_set1_epi32 (0x04000040));
  const __m128i even = _mm_mullo_epi16 (_mm_and_si128 (spread, _mm_set1_epi32 (0x003f03f0)),
                                        _mm_set1_epi32 (0x01000010));
  const __m128i values = _mm_or_si128 (odd, even);
  const __m128i capital = _mm_cmpgt_epi8 (_mm_set1_epi8 (26), values);
  const __m128i range = _mm_or_si128 (_mm_subs_epu8 (values, _mm_set1_epi8 (51)),
                                      _mm_and_si128 (capital, _mm_set1_epi8 (13)));

  return _mm_add_epi8 (values, _mm_shuffle_epi8 (_mm_setr_epi8 (DISTANCES), range));
}

TARGET_SSSE3 gsize
_sbx_base64_encode_ssse3 (const guint8 *input,
                          gsize         size,
                          guint8       *output)
{
  gsize at = 0;

  for (; size - at >= 16; at += 12, output += 16)
    _mm_storeu_si128 ((gpointer) output,
                      encode_16 (_mm_loadu_si128 ((gconstpointer) (input + at))));

  return at;
}

TARGET_SSSE3 gsize
_sbx_base64_decode_ssse3 (const guint8 *input,
                          gsize         size,
                          guint8       *output)
{
  const __m128i nibble = _mm_set1_epi8 (0x0f);
  gsize at = 0;

  /* Sixteen bytes are stored for the twelve that they are: the rest must have room for four. */
  for (; size - at >= 24; at += 16, output += 12)
    {
      const __m128i text = _mm_loadu_si128 ((gconstpointer) (input + at));
      const __m128i high = _mm_and_si128 (_mm_srli_epi32 (text, 4), nibble);
      const __m128i low = _mm_and_si128 (text, nibble);
      const __m128i against = _mm_and_si128 (_mm_shuffle_epi8 (_mm_setr_epi8 (AGAINST_HIGH), high),
                                             _mm_shuffle_epi8 (_mm_setr_epi8 (AGAINST_LOW), low));
      const __m128i row = _mm_add_epi8 (high, _mm_cmpeq_epi8 (text, _mm_set1_epi8 ('/')));
      __m128i values;

      if (_mm_movemask_epi8 (_mm_cmpeq_epi8 (against, _mm_setzero_si128 ())) != 0xffff)
        break;

      values = _mm_add_epi8 (text, _mm_shuffle_epi8 (_mm_setr_epi8 (VALUES), row));
      values = _mm_maddubs_epi16 (values, _mm_set1_epi32 (0x01400140));
      values = _mm_madd_epi16 (values, _mm_set1_epi32 (0x00011000));
      _mm_storeu_si128 ((gpointer) output,
                        _mm_shuffle_epi8 (values, _mm_setr_epi8 (GATHER)));
    }

  return at;
}

static inline TARGET_AVX2 __m256i
encode_32 (__m256i bytes)
{
  const __m256i spread = _mm256_shuffle_epi8 (bytes, _mm256_setr_epi8 (SPREAD, SPREAD));
  const __m256i odd = _mm256_mulhi_epu16 (_mm256_and_si256 (spread, _mm256_set1_epi32 (0x0fc0fc00)),
                                          _mm256_set1_epi32 (0x04000040));
  const __m256i even = _mm256_mullo_epi16 (_mm256_and_si256 (spread,
                                                             _mm256_set1_epi32 (0x003f03f0)),
                                           _mm256_set1_epi32 (0x01000010));
  const __m256i values = _mm256_or_si256 (odd, even);
  const __m256i capital = _mm256_cmpgt_epi8 (_mm256_set1_epi8 (26), values);
  const __m256i range = _mm256_or_si256 (_mm256_subs_epu8 (values, _mm256_set1_epi8 (51)),
                                         _mm256_and_si256 (capital, _mm256_set1_epi8 (13)));

  return _mm256_add_epi8 (values,
                          _mm256_shuffle_epi8 (_mm256_setr_epi8 (DISTANCES, DISTANCES), range));
}

TARGET_AVX2 gsize
_sbx_base64_encode_avx2 (const guint8 *input,
                         gsize         size,
                         guint8       *output)
{
  gsize at = 0;

  /* Each half takes twelve of the sixteen bytes that it loads. */
  for (; size - at >= 28; at += 24, output += 32)
    {
      const __m128i first = _mm_loadu_si128 ((gconstpointer) (input + at));
      const __m128i second = _mm_loadu_si128 ((gconstpointer) (input + at + 12));

      _mm256_storeu_si256 ((gpointer) output, encode_32 (_mm256_set_m128i (second, first)));
    }

  return at;
}

/* Decodes 32 characters, and says by all bits of @against being zero whether they are all of the
 * alphabet. The 24 bytes are followed by eight that mean nothing. */
static inline TARGET_AVX2 __m256i
decode_32 (__m256i  text,
           __m256i *against)
{
  const __m256i nibble = _mm256_set1_epi8 (0x0f);
  const __m256i high = _mm256_and_si256 (_mm256_srli_epi32 (text, 4), nibble);
  const __m256i low = _mm256_and_si256 (text, nibble);
  const __m256i row = _mm256_add_epi8 (high, _mm256_cmpeq_epi8 (text, _mm256_set1_epi8 ('/')));
  __m256i values;

  *against = _mm256_and_si256 (_mm256_shuffle_epi8 (_mm256_setr_epi8 (AGAINST_HIGH, AGAINST_HIGH),
                                                    high),
                               _mm256_shuffle_epi8 (_mm256_setr_epi8 (AGAINST_LOW, AGAINST_LOW),
                                                    low));

  values = _mm256_add_epi8 (text, _mm256_shuffle_epi8 (_mm256_setr_epi8 (VALUES, VALUES), row));
  values = _mm256_maddubs_epi16 (values, _mm256_set1_epi32 (0x01400140));
  values = _mm256_madd_epi16 (values, _mm256_set1_epi32 (0x00011000));
  values = _mm256_shuffle_epi8 (values, _mm256_setr_epi8 (GATHER, GATHER));

  return _mm256_permutevar8x32_epi32 (values, _mm256_setr_epi32 (0, 1, 2, 4, 5, 6, 3, 7));
}

TARGET_AVX2 gsize
_sbx_base64_decode_avx2 (const guint8 *input,
                         gsize         size,
                         guint8       *output)
{
  gsize at = 0;

  /* The rest must have room for the eight bytes that are stored too many. */
  for (; size - at >= 64 + 12; at += 64, output += 48)
    {
      __m256i against[2];
      const __m256i first = decode_32 (_mm256_loadu_si256 ((gconstpointer) (input + at)),
                                       &against[0]);
      const __m256i second = decode_32 (_mm256_loadu_si256 ((gconstpointer) (input + at + 32)),
                                        &against[1]);
      const __m256i any = _mm256_or_si256 (against[0], against[1]);

      if (!_mm256_testz_si256 (any, any))
        break;

      _mm256_storeu_si256 ((gpointer) output, first);
      _mm256_storeu_si256 ((gpointer) (output + 24), second);
    }

  /* GCC 12 forgets it before the call, and all SSE code is several times slower after that. */
  _mm256_zeroupper ();

  /* The last of it, or before what ends it: 16 at a time. */
  return at + _sbx_base64_decode_ssse3 (input + at, size - at, output);
}

#endif
