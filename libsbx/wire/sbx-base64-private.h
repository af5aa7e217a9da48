/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * Base64 of RFC 4648, section 4, strictly: the standard alphabet, padding where there must be, no
 * white space, and no bits that say nothing. So a text and its bytes belong to each other, one to
 * one.
 */

/* What the bytes are encoded with. */
typedef enum
{
  SBX_BASE64_BEST,      /* what the processor can do best, which is found out once */
  SBX_BASE64_SCALAR,
  SBX_BASE64_SSSE3,
  SBX_BASE64_AVX2,
} SbxBase64Kernel;

/* For tests. FALSE: the processor does not have it, and nothing changed. */
gboolean  _sbx_base64_use_kernel   (SbxBase64Kernel   kernel);

/* The characters that @size bytes become. */
static inline gsize
_sbx_base64_encoded_size (gsize size)
{
  return size / 3 * 4 + (size % 3 != 0 ? 4 : 0);
}

/* Encodes @size bytes to _sbx_base64_encoded_size() characters, without a NUL. A text may be made
 * in parts, of which all but the last have a multiple of three bytes. */
void      _sbx_base64_encode       (const guint8     *bytes,
                                    gsize             size,
                                    char             *text);

/* The bytes of a whole text, or NULL. */
GBytes   *_sbx_base64_decode       (const char       *text,
                                    gsize             length);

/* A text that comes in parts. All zeros begin one. */
typedef struct
{
  /* Characters that are no whole quad yet. */
  guint8   pending[4];
  guint    n_pending;
  /* There was padding: nothing may follow. */
  gboolean ended;
} SbxBase64Decoder;

/*
 * Decodes as far as the text goes on to be base64 and returns how many characters were taken;
 * less than @length means that the next one cannot stand there. What @n_bytes is increased by was
 * written to @bytes, which has room for _sbx_base64_decoder_room().
 */
gsize     _sbx_base64_decoder_feed (SbxBase64Decoder *self,
                                    const guint8     *text,
                                    gsize             length,
                                    guint8           *bytes,
                                    gsize            *n_bytes);

static inline gsize
_sbx_base64_decoder_room (const SbxBase64Decoder *self,
                          gsize                   length)
{
  return (self->n_pending + length) / 4 * 3;
}

/* Whether the text may end here. */
static inline gboolean
_sbx_base64_decoder_is_complete (const SbxBase64Decoder *self)
{
  return self->n_pending == 0;
}

/*
 * The kernels. They do as much of the beginning as they can do whole blocks of, and return how much
 * of the input that was: a multiple of three bytes, or of four characters that are all of the
 * alphabet. They read and write only within the bounds.
 */
typedef gsize (*SbxBase64Work) (const guint8 *input,
                                gsize         size,
                                guint8       *output);

#if defined (__x86_64__) || defined (__i386__)
#define SBX_BASE64_HAS_X86 1

gsize     _sbx_base64_encode_ssse3 (const guint8     *input,
                                    gsize             size,
                                    guint8           *output);
gsize     _sbx_base64_decode_ssse3 (const guint8     *input,
                                    gsize             size,
                                    guint8           *output);
gsize     _sbx_base64_encode_avx2  (const guint8     *input,
                                    gsize             size,
                                    guint8           *output);
gsize     _sbx_base64_decode_avx2  (const guint8     *input,
                                    gsize             size,
                                    guint8           *output);
#endif

G_END_DECLS
