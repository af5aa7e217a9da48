/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-plan-builder-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * The operator's name and address, for commits that are made inside, and nothing else of the
 * operator's configuration: that has helpers and tokens in it. Git itself is not run for this.
 */

#define MAX_CONFIG (1024 * 1024)
#define MAX_VALUE 1024

typedef struct
{
  char *name;
  char *email;
} Identity;

/* The value of a line after "=": quotes, escapes and comments as git has them; %NULL for one that
 * goes on in the next line or that no commit could carry. */
static char *
parse_value (const char *text)
{
  g_autoptr(GString) value = g_string_new (NULL);
  gboolean quoted = FALSE;
  gsize solid = 0;   /* length without trailing space */

  for (text += strspn (text, " \t"); *text != '\0' && value->len < MAX_VALUE; text++)
    {
      if (*text == '"')
        {
          quoted = !quoted;
          solid = value->len;
          continue;
        }

      if (!quoted && (*text == '#' || *text == ';'))
        break;

      if (*text == '\\')
        {
          text++;
          if (*text != '\\' && *text != '"')
            return NULL;
        }

      g_string_append_c (value, *text);
      if (quoted || !g_ascii_isspace (*text))
        solid = value->len;
    }

  g_string_truncate (value, solid);

  if (quoted || value->len == 0 || value->len >= MAX_VALUE)
    return NULL;

  return g_string_free (g_steal_pointer (&value), FALSE);
}

static void
parse_line (Identity   *self,
            const char *line)
{
  static const char * const keys[] = { "name", "email" };
  char **values[] = { &self->name, &self->email };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      const gsize length = strlen (keys[i]);
      const char *rest = line + length;
      char *value;

      if (g_ascii_strncasecmp (line, keys[i], length) != 0)
        continue;

      rest += strspn (rest, " \t");
      value = *rest == '=' ? parse_value (rest + 1) : NULL;

      if (value != NULL)
        {
          g_free (*values[i]);
          *values[i] = value;
        }
    }
}

static void
parse (Identity *self,
       char     *content)
{
  gboolean in_user = FALSE;
  char *line;
  char *rest = NULL;

  for (line = strtok_r (content, "\n", &rest); line != NULL; line = strtok_r (NULL, "\n", &rest))
    {
      g_strstrip (line);

      if (line[0] == '[')
        {
          const gsize length = strlen ("[user]");

          in_user = g_ascii_strncasecmp (line, "[user]", length) == 0;
          line += in_user ? length : 0;
          line += strspn (line, " \t");
        }

      if (in_user)
        parse_line (self, line);
    }
}

/* A configuration is often a link into somebody's collection of dot files. */
static void
read_config (Identity   *self,
             const char *path)
{
  g_autofree char *real_path = NULL;
  g_autofree char *content = NULL;
  g_autoptr(GBytes) bytes = NULL;
  g_autofree char *directory = NULL;
  g_autofree char *name = NULL;
  sbx_autofd int fd = _sbx_open_real (path, O_PATH, &real_path, NULL);
  sbx_autofd int directory_fd = -1;

  if (fd < 0)
    return;

  directory = g_path_get_dirname (real_path);
  name = g_path_get_basename (real_path);
  directory_fd = open (directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

  if (directory_fd >= 0)
    bytes = _sbx_read_beneath (directory_fd, name, MAX_CONFIG, NULL, NULL);

  if (bytes != NULL)
    {
      gsize size;
      const char *data = g_bytes_get_data (bytes, &size);

      content = g_strndup (data, size);
      parse (self, content);
    }
}

static void
append_value (GString    *config,
              const char *key,
              const char *value)
{
  if (value == NULL)
    return;

  g_string_append_printf (config, "\t%s = \"", key);

  for (; *value != '\0'; value++)
    {
      /* A control character has no place in a name, and a line break would start a new setting. */
      if (g_ascii_iscntrl (*value))
        continue;

      if (*value == '"' || *value == '\\')
        g_string_append_c (config, '\\');

      g_string_append_c (config, *value);
    }

  g_string_append (config, "\"\n");
}

GBytes *
_sbx_bwrap_base_make_git_config (const char *home,
                                 const char *config_home)
{
  g_autofree char *shared = g_build_filename (config_home, "git", "config", NULL);
  g_autofree char *own = g_build_filename (home, ".gitconfig", NULL);
  GString *config = g_string_new (NULL);
  Identity identity = { NULL, NULL };

  read_config (&identity, shared);
  read_config (&identity, own);

  if (identity.name != NULL || identity.email != NULL)
    g_string_append (config, "[user]\n");

  append_value (config, "name", identity.name);
  append_value (config, "email", identity.email);

  /* What is bound may belong to somebody else; what git would write beside the objects, or into the
   * configuration, is read-only. */
  g_string_append (config,
                   "[safe]\n\tdirectory = *\n"
                   "[repack]\n\tupdateServerInfo = false\n"
                   "[branch]\n\tautoSetupMerge = false\n");

  g_free (identity.name);
  g_free (identity.email);

  return g_string_free_to_bytes (config);
}
