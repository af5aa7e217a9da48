/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-library-private.h"
#include "core/sbx-reach-private.h"

/**
 * SbxReachEntry:
 *
 * One thing that a resolved reach comes to on this machine, and where it comes from.
 *
 * An entry never changes.
 *
 * Since: 1.0
 */

G_DEFINE_FINAL_TYPE (SbxReachEntry, sbx_reach_entry, G_TYPE_OBJECT)

static void
sbx_reach_entry_finalize (GObject *object)
{
  SbxReachEntry *self = SBX_REACH_ENTRY (object);

  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->domain, g_free);
  g_clear_pointer (&self->source, g_free);
  g_clear_pointer (&self->worktree, g_free);

  G_OBJECT_CLASS (sbx_reach_entry_parent_class)->finalize (object);
}

static void
sbx_reach_entry_class_init (SbxReachEntryClass *klass)
{
  _sbx_library_init ();

  G_OBJECT_CLASS (klass)->finalize = sbx_reach_entry_finalize;
}

static void
sbx_reach_entry_init (SbxReachEntry *self)
{
}

SbxReachEntry *
_sbx_reach_entry_new (SbxReachKind  kind,
                      const char   *path,
                      const char   *source)
{
  SbxReachEntry *self = g_object_new (SBX_TYPE_REACH_ENTRY, NULL);

  self->kind = kind;
  self->path = g_strdup (path);
  self->source = g_strdup (source);

  return self;
}

/**
 * sbx_reach_entry_get_kind:
 * @self: an entry
 *
 * Gets what it is.
 *
 * Returns: the kind
 *
 * Since: 1.0
 */
SbxReachKind
sbx_reach_entry_get_kind (SbxReachEntry *self)
{
  g_return_val_if_fail (SBX_IS_REACH_ENTRY (self), SBX_REACH_CWD);

  return self->kind;
}

/**
 * sbx_reach_entry_get_path:
 * @self: an entry
 *
 * Gets the real path of it, which has no symbolic link in it.
 *
 * Returns: (type filename) (transfer none) (nullable): the path, or %NULL for a domain
 *
 * Since: 1.0
 */
const char *
sbx_reach_entry_get_path (SbxReachEntry *self)
{
  g_return_val_if_fail (SBX_IS_REACH_ENTRY (self), NULL);

  return self->path;
}

/**
 * sbx_reach_entry_get_domain:
 * @self: an entry
 *
 * Gets the domain of it, in lower case.
 *
 * Returns: (transfer none) (nullable): the domain, or %NULL for a path
 *
 * Since: 1.0
 */
const char *
sbx_reach_entry_get_domain (SbxReachEntry *self)
{
  g_return_val_if_fail (SBX_IS_REACH_ENTRY (self), NULL);

  return self->domain;
}

/**
 * sbx_reach_entry_get_source:
 * @self: an entry
 *
 * Gets where it comes from: the field that asked for it with its place and value, or what it was
 * found for. It is UTF-8, with what is not in a path escaped.
 *
 * Returns: (transfer none): a text for people
 *
 * Since: 1.0
 */
const char *
sbx_reach_entry_get_source (SbxReachEntry *self)
{
  g_return_val_if_fail (SBX_IS_REACH_ENTRY (self), NULL);

  return self->source;
}

/**
 * sbx_reach_entry_get_writable:
 * @self: an entry
 *
 * Gets whether it may be written. For a git directory this says whether commits may be made.
 *
 * Returns: %TRUE if it may be written
 *
 * Since: 1.0
 */
gboolean
sbx_reach_entry_get_writable (SbxReachEntry *self)
{
  g_return_val_if_fail (SBX_IS_REACH_ENTRY (self), FALSE);

  return self->writable;
}
