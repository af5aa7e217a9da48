/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-denial-private.h"

/**
 * SbxDenial:
 *
 * Something that a sandbox is likely to have refused a command, and what would allow it.
 *
 * This is help for people. The command decides what it tries, so that what is here, and in which
 * number, is up to it: do not let a program act on it.
 *
 * A denial does not change.
 *
 * Since: 1.0
 */

struct _SbxDenial
{
  GObject     parent_instance;

  const char *field;
  char       *path;
  char       *text;
  char       *suggestion;
};

G_DEFINE_FINAL_TYPE (SbxDenial, sbx_denial, G_TYPE_OBJECT)

static void
sbx_denial_finalize (GObject *object)
{
  SbxDenial *self = SBX_DENIAL (object);

  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->text, g_free);
  g_clear_pointer (&self->suggestion, g_free);

  G_OBJECT_CLASS (sbx_denial_parent_class)->finalize (object);
}

static void
sbx_denial_class_init (SbxDenialClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sbx_denial_finalize;
}

static void
sbx_denial_init (SbxDenial *self)
{
}

SbxDenial *
_sbx_denial_new (const char *field,
                 const char *path,
                 const char *text,
                 const char *suggestion)
{
  SbxDenial *self = g_object_new (SBX_TYPE_DENIAL, NULL);

  self->field = field;
  self->path = g_strdup (path);
  self->text = g_strdup (text);
  self->suggestion = g_strdup (suggestion);

  return self;
}

/**
 * sbx_denial_get_field:
 * @self: a denial
 *
 * Gets the field of a spec that decides about this: `read`, `write`, `sockets` or `network`.
 *
 * Returns: (transfer none) (nullable): the name of the field, or %NULL if no field allows it
 *
 * Since: 1.0
 */
const char *
sbx_denial_get_field (SbxDenial *self)
{
  g_return_val_if_fail (SBX_IS_DENIAL (self), NULL);

  return self->field;
}

/**
 * sbx_denial_get_path:
 * @self: a denial
 *
 * Gets what was tried to reach.
 *
 * Returns: (type filename) (transfer none): a path, or for the network an address and a port
 *
 * Since: 1.0
 */
const char *
sbx_denial_get_path (SbxDenial *self)
{
  g_return_val_if_fail (SBX_IS_DENIAL (self), NULL);

  return self->path;
}

/**
 * sbx_denial_get_text:
 * @self: a denial
 *
 * Gets what was refused, and where it can never be allowed also why, for people.
 *
 * Returns: (transfer none): one line, in which foreign bytes are escaped
 *
 * Since: 1.0
 */
const char *
sbx_denial_get_text (SbxDenial *self)
{
  g_return_val_if_fail (SBX_IS_DENIAL (self), NULL);

  return self->text;
}

/**
 * sbx_denial_get_suggestion:
 * @self: a denial
 *
 * Gets what to add to a spec so that it is allowed, as JSON: `"read": ["/srv/data"]`.
 *
 * Whether it should be allowed is for a person to decide.
 *
 * Returns: (transfer none) (nullable): a member of an object, or %NULL if a line cannot allow it
 *
 * Since: 1.0
 */
const char *
sbx_denial_get_suggestion (SbxDenial *self)
{
  g_return_val_if_fail (SBX_IS_DENIAL (self), NULL);

  return self->suggestion;
}
