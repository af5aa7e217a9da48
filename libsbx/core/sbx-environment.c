/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-environment-private.h"

#include "core/sbx-error.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

void
_sbx_environment_init (SbxEnvironment *self)
{
  self->variables = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->variables, NULL);
  self->bad_name = NULL;
}

void
_sbx_environment_clear (SbxEnvironment *self)
{
  g_clear_pointer (&self->variables, g_ptr_array_unref);
  g_clear_pointer (&self->bad_name, g_free);
}

void
_sbx_environment_copy (SbxEnvironment       *self,
                       const SbxEnvironment *from)
{
  g_ptr_array_set_size (self->variables, 0);
  for (guint i = 0; i < from->variables->len; i++)
    g_ptr_array_add (self->variables, g_strdup (g_ptr_array_index (from->variables, i)));

  g_free (self->bad_name);
  self->bad_name = g_strdup (from->bad_name);
}

/* Where the variable of that name stands, or the place of the %NULL at the end. */
static guint
find (GPtrArray  *variables,
      const char *name,
      gsize       length)
{
  guint i;

  for (i = 0; i + 1 < variables->len; i++)
    {
      const char *variable = g_ptr_array_index (variables, i);

      if (strncmp (variable, name, length) == 0 && variable[length] == '=')
        break;
    }

  return i;
}

static void
put (GPtrArray *variables,
     guint      place,
     char      *variable)
{
  if (place + 1 == variables->len)
    g_ptr_array_add (variables, NULL);

  g_free (g_ptr_array_index (variables, place));
  g_ptr_array_index (variables, place) = variable;
}

void
_sbx_environment_set (SbxEnvironment *self,
                      const char     *name,
                      const char     *value)
{
  guint place;

  if (*name == '\0' || strchr (name, '=') != NULL)
    {
      if (self->bad_name == NULL)
        self->bad_name = g_strdup (name);
      return;
    }

  place = find (self->variables, name, strlen (name));

  if (value != NULL)
    put (self->variables, place, g_strconcat (name, "=", value, NULL));
  else if (place + 1 < self->variables->len)
    g_ptr_array_remove_index (self->variables, place);
}

const char * const *
_sbx_environment_get (const SbxEnvironment *self)
{
  return (const char * const *) self->variables->pdata;
}

gboolean
_sbx_environment_validate (const SbxEnvironment  *self,
                           GError               **error)
{
  g_autofree char *name = NULL;

  if (self->bad_name == NULL)
    return TRUE;

  name = _sbx_text_quote (self->bad_name);
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("Environment: %s cannot be the name of a variable; a name is not empty and "
                 "has no “=”"),
               name);
  return FALSE;
}

GStrv
_sbx_environment_merge (const char * const *base,
                        const char * const *overlay)
{
  GPtrArray *merged = g_ptr_array_new ();

  g_ptr_array_add (merged, NULL);

  for (guint i = 0; i < 2; i++)
    {
      const char * const *variables = i == 0 ? base : overlay;

      for (gsize j = 0; variables != NULL && variables[j] != NULL; j++)
        {
          const char *equals = strchr (variables[j], '=');

          if (equals != NULL)
            put (merged, find (merged, variables[j], equals - variables[j]),
                 g_strdup (variables[j]));
        }
    }

  return (GStrv) g_ptr_array_free (merged, FALSE);
}
