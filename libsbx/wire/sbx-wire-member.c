/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-member-private.h"

#include <glib/gi18n-lib.h>

gboolean
_sbx_wire_members_refuse (const SbxWireMembers  *self,
                          const char            *name,
                          const char            *what,
                          GError               **error)
{
  /* TRANSLATORS: a member of a message, and what it must be: “session.id” must be a string */
  g_set_error (error, SBX_ERROR, self->code, _("“%s%s%s” must be %s"), self->path,
               *self->path != '\0' ? "." : "", name, what);

  return FALSE;
}

static gboolean
fail (const SbxWireMembers  *self,
      SbxJsonFound           found,
      const char            *name,
      const char            *what,
      GError               **error)
{
  if (found == SBX_JSON_WRONG_TYPE)
    return _sbx_wire_members_refuse (self, name, what, error);

  /* TRANSLATORS: as above */
  g_set_error (error, SBX_ERROR, self->code, _("“%s%s%s” is missing; it must be %s"), self->path,
               *self->path != '\0' ? "." : "", name, what);

  return FALSE;
}

/* Whether there is nothing wrong with a member that was found like this. */
static gboolean
is_fine (SbxJsonFound found,
         SbxWireNeed  need)
{
  return found == SBX_JSON_PRESENT || (found != SBX_JSON_WRONG_TYPE && need == SBX_WIRE_OPTIONAL);
}

gboolean
_sbx_wire_members_get_string (const SbxWireMembers  *self,
                              const char            *name,
                              SbxWireNeed            need,
                              const char           **value,
                              GError               **error)
{
  const char *string = NULL;
  const SbxJsonFound found = self->object == NULL
                               ? SBX_JSON_ABSENT
                               : _sbx_json_object_get_string (self->object, name, &string);

  if (!is_fine (found, need))
    return fail (self, found, name, _("a string"), error);

  if (found == SBX_JSON_PRESENT && need == SBX_WIRE_NOT_EMPTY && *string == '\0')
    return _sbx_wire_members_refuse (self, name, _("a string that is not empty"), error);

  if (found == SBX_JSON_PRESENT)
    *value = string;

  return TRUE;
}

gboolean
_sbx_wire_members_get_int (const SbxWireMembers  *self,
                           const char            *name,
                           SbxWireNeed            need,
                           gint64                 min,
                           gint64                 max,
                           gint64                *value,
                           GError               **error)
{
  gint64 number = 0;
  SbxJsonFound found = self->object == NULL
                         ? SBX_JSON_ABSENT
                         : _sbx_json_object_get_int (self->object, name, &number);
  g_autofree char *what = NULL;

  if (found == SBX_JSON_PRESENT && number >= min && number <= max)
    {
      *value = number;
      return TRUE;
    }

  if (found == SBX_JSON_PRESENT)
    found = SBX_JSON_WRONG_TYPE;

  if (is_fine (found, need))
    return TRUE;

  what = g_strdup_printf (_("an integer from %lld to %lld"), (long long) min, (long long) max);

  return fail (self, found, name, what, error);
}

gboolean
_sbx_wire_members_get_boolean (const SbxWireMembers  *self,
                               const char            *name,
                               gboolean              *value,
                               GError               **error)
{
  const SbxJsonFound found = self->object == NULL
                               ? SBX_JSON_ABSENT
                               : _sbx_json_object_get_boolean (self->object, name, value);

  return is_fine (found, SBX_WIRE_OPTIONAL) ||
         fail (self, found, name, _("true or false"), error);
}

gboolean
_sbx_wire_members_get_object (const SbxWireMembers  *self,
                              const char            *name,
                              SbxWireNeed            need,
                              JsonObject           **value,
                              GError               **error)
{
  const SbxJsonFound found = self->object == NULL
                               ? SBX_JSON_ABSENT
                               : _sbx_json_object_get_object (self->object, name, value);

  return is_fine (found, need) || fail (self, found, name, _("an object"), error);
}

gboolean
_sbx_wire_members_get_payload (const SbxWireMembers  *self,
                               SbxWireLine           *line,
                               const char            *name,
                               SbxWireNeed            need,
                               GBytes               **value,
                               GError               **error)
{
  const SbxJsonFound found = self->object == NULL
                               ? SBX_JSON_ABSENT
                               : _sbx_wire_line_get_payload (line, self->object, name, value);

  return is_fine (found, need) ||
         fail (self, found, name, _("a string of base64 with its padding"), error);
}
