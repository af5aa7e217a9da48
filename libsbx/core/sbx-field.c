/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-field-private.h"

#include "core/sbx-domain-private.h"
#include "core/sbx-error.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <string.h>

/* A text, of which nothing is known but that it is one. */
typedef gboolean (*CheckText) (const char  *field,
                               const char  *text,
                               GError     **error);

static gboolean
is_blank (const char *text)
{
  return text[strspn (text, " \t\n\v\f\r")] == '\0';
}

static void
set_no_path (const char  *field,
             const char  *shown,
             GError     **error)
{
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("%s needs a non-empty path, not %s; write a text, such as \"src\""), field, shown);
}

static gboolean
check_path (const char  *field,
            const char  *text,
            GError     **error)
{
  g_autofree char *shown = NULL;

  if (is_blank (text))
    {
      shown = _sbx_field_show_text (text);
      set_no_path (field, shown, error);
      return FALSE;
    }

  if (strnlen (text, PATH_MAX) == PATH_MAX)
    {
      shown = _sbx_field_show_text (text);
      g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                   _("%s: the path %s is longer than the %d bytes that a path can have; shorten "
                     "it"),
                   field, shown, PATH_MAX - 1);
      return FALSE;
    }

  if (text[0] == '~' && text[1] != '\0' && text[1] != '/')
    {
      shown = _sbx_field_show_text (text);
      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("%s: %s is no home; only ~ and ~/ expand, to your own; write the whole path"),
                   field, shown);
      return FALSE;
    }

  return TRUE;
}

static void
set_no_domain (const char  *field,
               const char  *shown,
               GError     **error)
{
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("%s: %s is not a sandbox domain; write a host name, such as \"example.org\", or "
                 "\"*.example.org\" for all below it, without scheme, port or path"),
               field, shown);
}

static gboolean
check_domain (const char  *field,
              const char  *text,
              GError     **error)
{
  g_autofree char *shown = NULL;

  if (_sbx_domain_is_valid (text))
    return TRUE;

  shown = _sbx_field_show_text (text);
  set_no_domain (field, shown, error);

  return FALSE;
}

static const char *
get_text (JsonNode *node)
{
  if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
    return NULL;

  return json_node_get_string (node);
}

/* One text of a field; %NULL with an error. */
static const char *
read_text (const char  *field,
           JsonNode    *node,
           CheckText    check,
           GError     **error)
{
  const char *text = get_text (node);

  if (text == NULL)
    {
      g_autofree char *shown = _sbx_field_show (node);

      if (check == check_domain)
        set_no_domain (field, shown, error);
      else
        set_no_path (field, shown, error);
      return NULL;
    }

  return check (field, text, error) ? text : NULL;
}

static gboolean
read_list (SbxReachList  *list,
           const char    *field,
           JsonNode      *node,
           CheckText      check,
           GError       **error)
{
  JsonArray *array;

  if (!JSON_NODE_HOLDS_ARRAY (node))
    {
      g_autofree char *shown = _sbx_field_show (node);

      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("%s must be a list, not %s; write texts between “[” and “]”"), field, shown);
      return FALSE;
    }

  array = json_node_get_array (node);
  if (json_array_get_length (array) > SBX_FIELD_MAX_ENTRIES)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                   _("%s has %u entries, and must not have more than %d; name a directory that "
                     "holds them, or leave some out"),
                   field, json_array_get_length (array), SBX_FIELD_MAX_ENTRIES);
      return FALSE;
    }

  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      const char *text = read_text (field, json_array_get_element (array, i), check, error);

      if (text == NULL)
        return FALSE;

      _sbx_reach_list_append (list, text);
    }

  return TRUE;
}

static gboolean
read_cwd (SbxReach    *reach,
          JsonNode    *node,
          GError     **error)
{
  const char *text = read_text ("cwd", node, check_path, error);

  if (text == NULL)
    return FALSE;

  g_free (reach->cwd);
  reach->cwd = g_strdup (text);

  return TRUE;
}

static gboolean
read_web_search (SbxReach  *reach,
                 JsonNode  *node,
                 GError   **error)
{
  g_autofree char *shown = NULL;

  if (JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_BOOLEAN)
    {
      reach->web_search = json_node_get_boolean (node);
      return TRUE;
    }

  shown = _sbx_field_show (node);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("%s must be a truth value, not %s; write true or false"), "webSearch", shown);

  return FALSE;
}

static gboolean
read_git (SbxReach  *reach,
          JsonNode  *node,
          GError   **error)
{
  const char *text = get_text (node);
  g_autofree char *shown = NULL;

  for (int mode = SBX_GIT_MODE_NONE; mode <= SBX_GIT_MODE_FULL; mode++)
    if (g_strcmp0 (text, _sbx_field_name_git_mode (mode)) == 0)
      {
        reach->git_mode = mode;
        return TRUE;
      }

  shown = _sbx_field_show (node);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("%s cannot be %s; write \"none\", \"read\", \"commit\" or \"full\""), "git",
               shown);

  return FALSE;
}

static gboolean
read_limits (SbxReach  *reach,
             JsonNode  *node,
             GError   **error)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    {
      g_autofree char *shown = _sbx_field_show (node);

      g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                   _("%s must be an object, not %s; write {\"memory\": \"2G\"}"), "limits", shown);
      return FALSE;
    }

  json_object_iter_init_ordered (&iter, json_node_get_object (node));
  while (json_object_iter_next_ordered (&iter, &name, &value))
    if (!_sbx_field_set_limit (reach, name, value, error))
      return FALSE;

  return TRUE;
}

const char *
_sbx_field_name_git_mode (SbxGitMode mode)
{
  static const char * const names[] = { NULL, "none", "read", "commit", "full" };

  return names[mode];
}

SbxFieldResult
_sbx_field_read (SbxReach    *reach,
                 const char  *name,
                 JsonNode    *value,
                 GError     **error)
{
  gboolean taken;

  if (g_str_equal (name, "cwd"))
    taken = read_cwd (reach, value, error);
  else if (g_str_equal (name, "read"))
    taken = read_list (&reach->read, name, value, check_path, error);
  else if (g_str_equal (name, "write"))
    taken = read_list (&reach->write, name, value, check_path, error);
  else if (g_str_equal (name, "network"))
    taken = read_list (&reach->network, name, value, check_domain, error);
  else if (g_str_equal (name, "sockets"))
    taken = read_list (&reach->sockets, name, value, check_path, error);
  else if (g_str_equal (name, "webSearch"))
    taken = read_web_search (reach, value, error);
  else if (g_str_equal (name, "git"))
    taken = read_git (reach, value, error);
  else if (g_str_equal (name, "limits"))
    taken = read_limits (reach, value, error);
  else
    return SBX_FIELD_OTHER;

  return taken ? SBX_FIELD_TAKEN : SBX_FIELD_WRONG;
}

static gboolean
check_list (const char    *field,
            SbxReachList  *list,
            CheckText      check,
            GError       **error)
{
  const char * const *texts = _sbx_reach_list_get (list);

  if (list->texts->len - 1 > SBX_FIELD_MAX_ENTRIES)
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                   _("%s has %u entries, and must not have more than %d; name a directory that "
                     "holds them, or leave some out"),
                   field, list->texts->len - 1, SBX_FIELD_MAX_ENTRIES);
      return FALSE;
    }

  for (gsize i = 0; texts[i] != NULL; i++)
    if (!check (field, texts[i], error))
      return FALSE;

  return TRUE;
}

gboolean
_sbx_field_check_all (SbxReach  *reach,
                      GError   **error)
{
  return (reach->cwd == NULL || check_path ("cwd", reach->cwd, error)) &&
         check_list ("read", &reach->read, check_path, error) &&
         check_list ("write", &reach->write, check_path, error) &&
         check_list ("network", &reach->network, check_domain, error) &&
         check_list ("sockets", &reach->sockets, check_path, error) &&
         _sbx_field_check_limits (reach, error);
}
