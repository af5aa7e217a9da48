/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-check-private.h"

#include <string.h>

/**
 * SbxConformanceCheck:
 *
 * One thing that a provider has to do, and whether it does.
 *
 * Checks come from [class@Conformance]. Number and title of a check never change from one version
 * of the library to the next, and titles and details are in English everywhere, so that reports
 * from different machines can be compared.
 *
 * Since: 1.0
 */

struct _SbxConformanceCheck
{
  GObject                parent_instance;

  guint                  number;
  SbxConformanceLevel    level;
  const char            *title;
  SbxConformanceOutcome  outcome;
  char                  *detail;
  GBytes                *sent;
  GBytes                *received;
};

G_DEFINE_FINAL_TYPE (SbxConformanceCheck, sbx_conformance_check, G_TYPE_OBJECT)

/* In the order of the enum. All but the first and the ends are names of features, too. */
static const char * const level_names[] = {
  "all", "plain", "multiplex", "cancel", "process", "stdin", "pty", "signals", "timeout",
  "quiet-result", "ranges", "files", "robustness",
};

G_STATIC_ASSERT (G_N_ELEMENTS (level_names) == SBX_CONFORMANCE_LEVEL_ROBUSTNESS + 1);

static void
sbx_conformance_check_finalize (GObject *object)
{
  SbxConformanceCheck *self = SBX_CONFORMANCE_CHECK (object);

  g_free (self->detail);
  g_clear_pointer (&self->sent, g_bytes_unref);
  g_clear_pointer (&self->received, g_bytes_unref);

  G_OBJECT_CLASS (sbx_conformance_check_parent_class)->finalize (object);
}

static void
sbx_conformance_check_class_init (SbxConformanceCheckClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sbx_conformance_check_finalize;
}

static void
sbx_conformance_check_init (SbxConformanceCheck *self)
{
}

SbxConformanceCheck *
_sbx_conformance_check_new (guint                  number,
                            SbxConformanceLevel    level,
                            const char            *title,
                            SbxConformanceOutcome  outcome,
                            const char            *detail,
                            GBytes                *sent,
                            GBytes                *received)
{
  SbxConformanceCheck *self = g_object_new (SBX_TYPE_CONFORMANCE_CHECK, NULL);

  self->number = number;
  self->level = level;
  self->title = title;
  self->outcome = outcome;
  self->detail = g_strdup (detail);
  self->sent = sent != NULL ? g_bytes_ref (sent) : NULL;
  self->received = received != NULL ? g_bytes_ref (received) : NULL;

  return self;
}

/**
 * sbx_conformance_level_to_string:
 * @level: a level
 *
 * Gets the name of a level, which for a feature of the protocol is the feature's.
 *
 * Returns: (transfer none): a name such as `plain` or `quiet-result`
 *
 * Since: 1.0
 */
const char *
sbx_conformance_level_to_string (SbxConformanceLevel level)
{
  g_return_val_if_fail ((gsize) level < G_N_ELEMENTS (level_names), "all");

  return level_names[level];
}

/**
 * sbx_conformance_level_parse:
 * @name: the name of a level
 * @level: (out): return location for the level
 *
 * Finds a level by its name; see [func@ConformanceLevel.to_string].
 *
 * Returns: %FALSE if no level has that name
 *
 * Since: 1.0
 */
gboolean
sbx_conformance_level_parse (const char          *name,
                             SbxConformanceLevel *level)
{
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (level != NULL, FALSE);

  for (gsize i = 0; i < G_N_ELEMENTS (level_names); i++)
    if (strcmp (level_names[i], name) == 0)
      {
        *level = (SbxConformanceLevel) i;
        return TRUE;
      }

  *level = SBX_CONFORMANCE_LEVEL_ALL;

  return FALSE;
}

/**
 * sbx_conformance_check_get_number:
 * @self: a check
 *
 * Gets the number that the check has in every version of the library.
 *
 * Returns: a number of three digits
 *
 * Since: 1.0
 */
guint
sbx_conformance_check_get_number (SbxConformanceCheck *self)
{
  g_return_val_if_fail (SBX_IS_CONFORMANCE_CHECK (self), 0);

  return self->number;
}

/**
 * sbx_conformance_check_get_level:
 * @self: a check
 *
 * Gets the level that the check belongs to.
 *
 * Returns: the level, never %SBX_CONFORMANCE_LEVEL_ALL
 *
 * Since: 1.0
 */
SbxConformanceLevel
sbx_conformance_check_get_level (SbxConformanceCheck *self)
{
  g_return_val_if_fail (SBX_IS_CONFORMANCE_CHECK (self), SBX_CONFORMANCE_LEVEL_ALL);

  return self->level;
}

/**
 * sbx_conformance_check_get_title:
 * @self: a check
 *
 * Gets what the provider has to do.
 *
 * Returns: (transfer none): a sentence, in English
 *
 * Since: 1.0
 */
const char *
sbx_conformance_check_get_title (SbxConformanceCheck *self)
{
  g_return_val_if_fail (SBX_IS_CONFORMANCE_CHECK (self), NULL);

  return self->title;
}

/**
 * sbx_conformance_check_get_outcome:
 * @self: a check
 *
 * Gets how the check went.
 *
 * Returns: the outcome
 *
 * Since: 1.0
 */
SbxConformanceOutcome
sbx_conformance_check_get_outcome (SbxConformanceCheck *self)
{
  g_return_val_if_fail (SBX_IS_CONFORMANCE_CHECK (self), SBX_CONFORMANCE_OUTCOME_PENDING);

  return self->outcome;
}

/**
 * sbx_conformance_check_get_detail:
 * @self: a check
 *
 * Gets what was expected and did not happen, or why the check was skipped.
 *
 * Returns: (transfer none) (nullable): a text, in English, whose foreign bytes are escaped, or
 *   %NULL
 *
 * Since: 1.0
 */
const char *
sbx_conformance_check_get_detail (SbxConformanceCheck *self)
{
  g_return_val_if_fail (SBX_IS_CONFORMANCE_CHECK (self), NULL);

  return self->detail;
}

/**
 * sbx_conformance_check_get_sent:
 * @self: a check
 *
 * Gets the last line that was sent before the check failed.
 *
 * What is long in it is cut, and so is the state of the provider.
 *
 * Returns: (transfer none) (nullable): the line without its newline, or %NULL
 *
 * Since: 1.0
 */
GBytes *
sbx_conformance_check_get_sent (SbxConformanceCheck *self)
{
  g_return_val_if_fail (SBX_IS_CONFORMANCE_CHECK (self), NULL);

  return self->sent;
}

/**
 * sbx_conformance_check_get_received:
 * @self: a check
 *
 * Gets the last line that was received before the check failed.
 *
 * What is long in it is cut, and so is the state of the provider. The bytes are the provider's,
 * and need not be UTF-8.
 *
 * Returns: (transfer none) (nullable): the line without its newline, or %NULL
 *
 * Since: 1.0
 */
GBytes *
sbx_conformance_check_get_received (SbxConformanceCheck *self)
{
  g_return_val_if_fail (SBX_IS_CONFORMANCE_CHECK (self), NULL);

  return self->received;
}
