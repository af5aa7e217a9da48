/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "fake.h"

#include <string.h>

static GHashTable *options;

/* NAME[=VALUE],… */
void
fake_options_set (const char *text)
{
  g_auto(GStrv) parts = g_strsplit (text, ",", -1);

  options = g_hash_table_new (g_str_hash, g_str_equal);
  for (gsize i = 0; parts[i] != NULL; i++)
    {
      char *name = g_strdup (parts[i]);
      char *value = strchr (name, '=');

      if (value != NULL)
        *value++ = '\0';
      g_hash_table_insert (options, name, value != NULL ? value : name + strlen (name));
    }
}

const char *
fake_option (const char *name)
{
  return g_hash_table_lookup (options, name);
}

gint64
fake_option_number (const char *name,
                    gint64      otherwise)
{
  const char *value = fake_option (name);

  return value != NULL ? g_ascii_strtoll (value, NULL, 10) : otherwise;
}

gboolean
fake_option_is (const char *name,
                const char *value)
{
  return g_strcmp0 (fake_option (name), value) == 0;
}

gboolean
fake_option_for (const char *name,
                 const char *method)
{
  return fake_option_is (name, method) || fake_option_is (name, "all");
}
