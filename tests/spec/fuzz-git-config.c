/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "spec/sbx-git-config-private.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

typedef struct
{
  gsize n_seen;
  gsize n_bytes;
} Seen;

static gboolean
look (const char *section,
      const char *subsection,
      const char *key,
      const char *value,
      gpointer    data)
{
  Seen *seen = data;
  g_autofree char *path = _sbx_git_config_path (value, "/base");

  g_assert_nonnull (section);
  g_assert_true (g_ascii_isalpha (key[0]));
  for (const char *at = key; *at != '\0'; at++)
    g_assert_true (g_ascii_islower (*at) || g_ascii_isdigit (*at) || *at == '-');

  g_assert_true (path == NULL || path[0] == '/');
  g_assert_true (path == NULL || strstr (path, "/../") == NULL);
  seen->n_seen++;
  seen->n_bytes += strlen (key) + (value != NULL ? strlen (value) : 0);

  return TRUE;
}

/* Nothing is made of nothing, and the same text says the same again. */
int
LLVMFuzzerTestOneInput (const guint8 *data,
                        size_t        size)
{
  Seen first = { 0 };
  Seen second = { 0 };

  _sbx_git_config_parse ((const char *) data, size, look, &first);
  _sbx_git_config_parse ((const char *) data, size, look, &second);
  g_assert_cmpuint (first.n_bytes, <=, size);
  g_assert_cmpuint (first.n_seen, <=, size);
  g_assert_cmpuint (first.n_seen, ==, second.n_seen);
  g_assert_cmpuint (first.n_bytes, ==, second.n_bytes);

  return 0;
}
