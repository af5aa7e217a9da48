/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-finding-private.h"

/**
 * SbxFinding:
 *
 * One thing that was found out about this machine, and what to do about it.
 *
 * Findings come from [method@BwrapProvider.diagnose_async].
 *
 * Since: 1.0
 */

struct _SbxFinding
{
  GObject          parent_instance;

  char            *id;
  SbxFindingLevel  level;
  char            *summary;
  char            *remedy;
};

G_DEFINE_FINAL_TYPE (SbxFinding, sbx_finding, G_TYPE_OBJECT)

static void
sbx_finding_finalize (GObject *object)
{
  SbxFinding *self = SBX_FINDING (object);

  g_free (self->id);
  g_free (self->summary);
  g_free (self->remedy);

  G_OBJECT_CLASS (sbx_finding_parent_class)->finalize (object);
}

static void
sbx_finding_class_init (SbxFindingClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sbx_finding_finalize;
}

static void
sbx_finding_init (SbxFinding *self)
{
}

SbxFinding *
_sbx_finding_new (const char      *id,
                  SbxFindingLevel  level,
                  const char      *summary,
                  const char      *remedy)
{
  SbxFinding *self = g_object_new (SBX_TYPE_FINDING, NULL);

  self->id = g_strdup (id);
  self->level = level;
  self->summary = g_strdup (summary);
  self->remedy = g_strdup (remedy);

  return self;
}

/**
 * sbx_finding_get_id:
 * @self: a finding
 *
 * Gets the stable name of what was looked at, for programs.
 *
 * Returns: (transfer none): a name such as `user-namespaces`
 *
 * Since: 1.0
 */
const char *
sbx_finding_get_id (SbxFinding *self)
{
  g_return_val_if_fail (SBX_IS_FINDING (self), NULL);

  return self->id;
}

/**
 * sbx_finding_get_level:
 * @self: a finding
 *
 * Gets how much the finding matters.
 *
 * Returns: the level
 *
 * Since: 1.0
 */
SbxFindingLevel
sbx_finding_get_level (SbxFinding *self)
{
  g_return_val_if_fail (SBX_IS_FINDING (self), SBX_FINDING_LEVEL_BLOCKING);

  return self->level;
}

/**
 * sbx_finding_get_summary:
 * @self: a finding
 *
 * Gets what was found, for a person to read.
 *
 * Returns: (transfer none): one sentence, translated
 *
 * Since: 1.0
 */
const char *
sbx_finding_get_summary (SbxFinding *self)
{
  g_return_val_if_fail (SBX_IS_FINDING (self), NULL);

  return self->summary;
}

/**
 * sbx_finding_get_remedy:
 * @self: a finding
 *
 * Gets what to do about it.
 *
 * Returns: (transfer none) (nullable): advice, translated, or %NULL where there is
 *   nothing to do
 *
 * Since: 1.0
 */
const char *
sbx_finding_get_remedy (SbxFinding *self)
{
  g_return_val_if_fail (SBX_IS_FINDING (self), NULL);

  return self->remedy;
}
