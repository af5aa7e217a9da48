/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-git-config-private.h"

#include "core/sbx-protection-private.h"
#include "files/sbx-open-private.h"

#include <string.h>

#define BYTE_ORDER_MARK "\357\273\277"

typedef struct
{
  const char *at;
  const char *end;
  GString    *section;
  GString    *subsection;
  gboolean    has_subsection;
  GString    *key;
  GString    *value;
} Parser;

/* As git does, takes a carriage return before the end of a line as a part of it; -1 at the end. */
static int
next_char (Parser *self)
{
  guchar c;

  if (self->at >= self->end)
    return -1;

  c = (guchar) *self->at++;
  if (c == '\r' && self->at < self->end && *self->at == '\n')
    c = (guchar) *self->at++;

  return c;
}

static int
peek_char (Parser *self)
{
  Parser copy = *self;

  return next_char (&copy);
}

static void
skip_line (Parser *self)
{
  int c;

  do
    c = next_char (self);
  while (c >= 0 && c != '\n');
}

static void
skip_blanks (Parser *self)
{
  while (peek_char (self) == ' ' || peek_char (self) == '\t')
    next_char (self);
}

/* After the blank in "[section "name"]". */
static gboolean
parse_subsection (Parser *self)
{
  int c;

  skip_blanks (self);
  if (next_char (self) != '"')
    return FALSE;

  self->has_subsection = TRUE;

  for (;;)
    {
      c = peek_char (self);
      if (c < 0 || c == '\n')
        return FALSE;

      next_char (self);
      if (c == '"')
        return next_char (self) == ']';

      if (c == '\\')
        {
          c = peek_char (self);
          if (c < 0 || c == '\n')
            return FALSE;
          next_char (self);
        }

      g_string_append_c (self->subsection, (char) c);
    }
}

/* After "[". */
static gboolean
parse_section (Parser *self)
{
  int c;

  g_string_truncate (self->section, 0);
  g_string_truncate (self->subsection, 0);
  self->has_subsection = FALSE;

  for (;;)
    {
      c = peek_char (self);

      if (c == ' ' || c == '\t')
        return parse_subsection (self);

      if (c < 0 || c == '\n')
        return FALSE;

      next_char (self);
      if (c == ']')
        return TRUE;

      /* The old way to write a subsection. */
      if (c == '.' && !self->has_subsection)
        self->has_subsection = TRUE;
      else
        g_string_append_c (self->has_subsection ? self->subsection : self->section,
                           g_ascii_tolower ((char) c));
    }
}

static gboolean
append_escape (GString *value,
               int      c)
{
  switch (c)
    {
    case '\n':
      return TRUE;
    case 't':
      g_string_append_c (value, '\t');
      return TRUE;
    case 'b':
      g_string_append_c (value, '\b');
      return TRUE;
    case 'n':
      g_string_append_c (value, '\n');
      return TRUE;
    case '\\':
    case '"':
      g_string_append_c (value, (char) c);
      return TRUE;
    default:
      return FALSE;
    }
}

/* After "=". Space at the end does not count, but for what is quoted. */
static gboolean
parse_value (Parser *self)
{
  gboolean quoted = FALSE;
  gsize keep = 0;
  int c;

  g_string_truncate (self->value, 0);
  skip_blanks (self);

  for (;;)
    {
      c = peek_char (self);

      if (c < 0 || c == '\n')
        {
          g_string_truncate (self->value, keep);
          return !quoted;
        }

      if (!quoted && (c == '#' || c == ';'))
        {
          g_string_truncate (self->value, keep);
          return TRUE;
        }

      next_char (self);

      if (c == '"')
        quoted = !quoted;
      else if (c == '\\')
        {
          c = peek_char (self);
          if (!append_escape (self->value, c))
            return FALSE;
          next_char (self);
        }
      else
        g_string_append_c (self->value, (char) c);

      if (quoted || c == '"' || !g_ascii_isspace (c))
        keep = self->value->len;
    }
}

/* From the first letter of a key on. Sets *has_value. */
static gboolean
parse_variable (Parser   *self,
                gboolean *has_value)
{
  int c;

  g_string_truncate (self->key, 0);
  *has_value = FALSE;

  while ((c = peek_char (self)) >= 0 && (g_ascii_isalnum (c) || c == '-'))
    {
      g_string_append_c (self->key, g_ascii_tolower ((char) c));
      next_char (self);
    }

  skip_blanks (self);
  c = peek_char (self);

  if (c == '=')
    {
      next_char (self);
      *has_value = TRUE;
      return parse_value (self);
    }

  return c < 0 || c == '\n';
}

static gboolean
parse_next (Parser           *self,
            SbxGitConfigFunc  func,
            gpointer          data)
{
  const int c = peek_char (self);
  gboolean has_value;

  if (g_ascii_isspace (c))
    {
      next_char (self);
      return TRUE;
    }

  if (c == '[')
    {
      next_char (self);
      if (!parse_section (self))
        skip_line (self);
      return TRUE;
    }

  if (!g_ascii_isalpha (c) || !parse_variable (self, &has_value))
    {
      skip_line (self);
      return TRUE;
    }

  return func (self->section->str, self->has_subsection ? self->subsection->str : NULL,
               self->key->str, has_value ? self->value->str : NULL, data);
}

void
_sbx_git_config_parse (const char       *text,
                       gsize             size,
                       SbxGitConfigFunc  func,
                       gpointer          data)
{
  g_autoptr(GString) section = g_string_new (NULL);
  g_autoptr(GString) subsection = g_string_new (NULL);
  g_autoptr(GString) key = g_string_new (NULL);
  g_autoptr(GString) value = g_string_new (NULL);
  Parser parser = {
    .at = text,
    .end = text + size,
    .section = section,
    .subsection = subsection,
    .key = key,
    .value = value,
  };

  if (size >= strlen (BYTE_ORDER_MARK) &&
      memcmp (text, BYTE_ORDER_MARK, strlen (BYTE_ORDER_MARK)) == 0)
    parser.at += strlen (BYTE_ORDER_MARK);

  while (parser.at < parser.end && parse_next (&parser, func, data))
    ;
}

/* What a test sees that takes the protection out: a read without bounds, which waits. */
static GBytes *
read_trusting (int            dir_fd,
               const char    *name,
               GCancellable  *cancellable,
               GError       **error)
{
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d/%s", dir_fd, name);
  g_autoptr(GFile) file = g_file_new_for_path (path);

  return g_file_load_bytes (file, cancellable, NULL, error);
}

GBytes *
_sbx_git_config_read (int            dir_fd,
                      const char    *name,
                      GCancellable  *cancellable,
                      GError       **error)
{
  g_autoptr(GError) local_error = NULL;
  GBytes *bytes;

  if (SBX_PROTECTS (T16))
    bytes = _sbx_read_beneath (dir_fd, name, SBX_GIT_CONFIG_MAX, cancellable, &local_error);
  else
    bytes = read_trusting (dir_fd, name, cancellable, &local_error);

  if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    return g_bytes_new_static ("", 0);

  if (local_error != NULL)
    g_propagate_error (error, g_steal_pointer (&local_error));

  return bytes;
}

char *
_sbx_git_config_path (const char *value,
                      const char *base)
{
  if (value == NULL || value[0] == '\0')
    return NULL;

  if (value[0] == '~')
    return value[1] == '/' ? g_canonicalize_filename (value + 2, g_get_home_dir ()) : NULL;

  if (g_str_has_prefix (value, "%(prefix)/"))
    return NULL;

  return g_canonicalize_filename (value, base);
}
