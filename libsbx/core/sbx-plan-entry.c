/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-library-private.h"
#include "core/sbx-plan-private.h"

/**
 * SbxPlanEntry:
 *
 * One thing that a sandbox is made of.
 *
 * An entry never changes.
 *
 * Since: 1.0
 */

G_DEFINE_FINAL_TYPE (SbxPlanEntry, sbx_plan_entry, G_TYPE_OBJECT)

static void
sbx_plan_entry_finalize (GObject *object)
{
  SbxPlanEntry *self = SBX_PLAN_ENTRY (object);

  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->source_path, g_free);
  g_clear_pointer (&self->domain, g_free);
  g_clear_pointer (&self->reason, g_free);
  g_clear_pointer (&self->source, g_free);

  G_OBJECT_CLASS (sbx_plan_entry_parent_class)->finalize (object);
}

static void
sbx_plan_entry_class_init (SbxPlanEntryClass *klass)
{
  _sbx_library_init ();

  G_OBJECT_CLASS (klass)->finalize = sbx_plan_entry_finalize;
}

static void
sbx_plan_entry_init (SbxPlanEntry *self)
{
}

SbxPlanEntry *
_sbx_plan_entry_new (SbxPlanKind  kind,
                     const char  *reason,
                     const char  *source)
{
  SbxPlanEntry *self = g_object_new (SBX_TYPE_PLAN_ENTRY, NULL);

  self->kind = kind;
  self->reason = g_strdup (reason);
  self->source = g_strdup (source);

  return self;
}

/**
 * sbx_plan_entry_get_kind:
 * @self: an entry
 *
 * Gets what it does.
 *
 * Returns: the kind
 *
 * Since: 1.0
 */
SbxPlanKind
sbx_plan_entry_get_kind (SbxPlanEntry *self)
{
  g_return_val_if_fail (SBX_IS_PLAN_ENTRY (self), SBX_PLAN_MASK);

  return self->kind;
}

/**
 * sbx_plan_entry_get_path:
 * @self: an entry
 *
 * Gets where it is, inside the sandbox.
 *
 * Returns: (type filename) (transfer none) (nullable): an absolute path, or %NULL for a domain
 *
 * Since: 1.0
 */
const char *
sbx_plan_entry_get_path (SbxPlanEntry *self)
{
  g_return_val_if_fail (SBX_IS_PLAN_ENTRY (self), NULL);

  return self->path;
}

/**
 * sbx_plan_entry_get_source_path:
 * @self: an entry
 *
 * Gets what of the host it shows, or where a link points.
 *
 * Returns: (type filename) (transfer none) (nullable): the path, or %NULL if it shows nothing of
 *   the host, or something that is made when the sandbox is opened
 *
 * Since: 1.0
 */
const char *
sbx_plan_entry_get_source_path (SbxPlanEntry *self)
{
  g_return_val_if_fail (SBX_IS_PLAN_ENTRY (self), NULL);

  return self->source_path;
}

/**
 * sbx_plan_entry_get_domain:
 * @self: an entry
 *
 * Gets the domain of it.
 *
 * Returns: (transfer none) (nullable): the domain, in lower case, maybe with `*.` before it; or
 *   %NULL for a path
 *
 * Since: 1.0
 */
const char *
sbx_plan_entry_get_domain (SbxPlanEntry *self)
{
  g_return_val_if_fail (SBX_IS_PLAN_ENTRY (self), NULL);

  return self->domain;
}

/**
 * sbx_plan_entry_get_reason:
 * @self: an entry
 *
 * Gets why it is there, for people.
 *
 * Returns: (transfer none): a few words
 *
 * Since: 1.0
 */
const char *
sbx_plan_entry_get_reason (SbxPlanEntry *self)
{
  g_return_val_if_fail (SBX_IS_PLAN_ENTRY (self), NULL);

  return self->reason;
}

/**
 * sbx_plan_entry_get_source:
 * @self: an entry
 *
 * Gets what asked for it, for people: the field of a spec, its index, and what is written there, or
 * a name for what every sandbox has.
 *
 * Returns: (transfer none) (nullable): one line, or %NULL if nothing particular did
 *
 * Since: 1.0
 */
const char *
sbx_plan_entry_get_source (SbxPlanEntry *self)
{
  g_return_val_if_fail (SBX_IS_PLAN_ENTRY (self), NULL);

  return self->source;
}
