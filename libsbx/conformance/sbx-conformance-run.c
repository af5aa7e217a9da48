/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-run-private.h"

#include "conformance/sbx-conformance-check-private.h"
#include "conformance/sbx-conformance-evidence-private.h"

#include <string.h>

#define CLEAN_UP_MS 3000
#define MAX_SILENT 8

const SbxCheckEntry * const _sbx_check_tables[] = {
  _sbx_checks_plain,
  _sbx_checks_plain_files,
  _sbx_checks_plain_exec,
  _sbx_checks_plain_exec_more,
  _sbx_checks_plain_end,
  _sbx_checks_multiplex,
  _sbx_checks_process,
  _sbx_checks_ends,
  _sbx_checks_files,
  _sbx_checks_robust_lines,
  _sbx_checks_robust_life,
  NULL
};

/* The last part of a path, without what tells the language. */
static char *
get_stem (const char *path)
{
  char *stem = g_path_get_basename (path);
  char *dot = strrchr (stem, '.');

  if (dot != NULL && dot != stem)
    *dot = '\0';

  return stem;
}

/* What a provider is called by itself, from the name of its program: the first part of the command
 * line that is named as programs of providers are, or else its first word. */
static char *
guess_provider (const char * const *argv)
{
  static const char * const prefixes[] = { "sbx-provider-", "smol-sandbox-" };
  static const char suffix[] = "-provider";
  g_autofree char *first = get_stem (argv[0]);

  for (gsize i = 0; argv[i] != NULL; i++)
    {
      g_autofree char *stem = get_stem (argv[i]);

      for (gsize j = 0; j < G_N_ELEMENTS (prefixes); j++)
        if (g_str_has_prefix (stem, prefixes[j]))
          return g_utf8_make_valid (stem + strlen (prefixes[j]), -1);

      if (g_str_has_suffix (stem, suffix))
        {
          stem[strlen (stem) - strlen (suffix)] = '\0';
          return g_utf8_make_valid (stem, -1);
        }
    }

  return g_utf8_make_valid (first, -1);
}

SbxConformancePlan *
_sbx_conformance_plan_new (const char * const *argv,
                           const char         *profile,
                           const char         *workspace,
                           guint               timeout_ms,
                           GCancellable       *cancellable)
{
  SbxConformancePlan *self = g_new0 (SbxConformancePlan, 1);
  const char *slash = strchr (profile, '/');

  self->argv = g_strdupv ((char **) argv);
  self->provider = slash != NULL ? g_strndup (profile, (gsize) (slash - profile))
                                 : guess_provider (argv);
  self->profile = g_strdup (slash != NULL ? slash + 1 : profile);
  self->workspace = g_strdup (workspace);
  self->group = g_strdup_printf ("sbx-conformance-%08x", g_random_int ());
  self->timeout_ms = timeout_ms;
  self->cancellable = cancellable != NULL ? g_object_ref (cancellable) : g_cancellable_new ();

  return self;
}

void
_sbx_conformance_plan_free (SbxConformancePlan *self)
{
  g_strfreev (self->argv);
  g_free (self->provider);
  g_free (self->profile);
  g_free (self->workspace);
  g_free (self->group);
  g_object_unref (self->cancellable);
  g_free (self);
}

static gboolean
is_feature (SbxConformanceLevel level)
{
  return level != SBX_CONFORMANCE_LEVEL_PLAIN && level != SBX_CONFORMANCE_LEVEL_ROBUSTNESS;
}

/* Whether the check can be made: otherwise it is skipped, or has failed. */
static gboolean
prepare (SbxTrial            *trial,
         const SbxCheckEntry *entry,
         SbxConformanceLevel  claimed)
{
  if (trial->peer != NULL && (entry->flags & SBX_CHECK_FRESH))
    _sbx_trial_stop (trial);

  if (!_sbx_trial_start (trial))
    return FALSE;

  if (is_feature (entry->level) &&
      !_sbx_trial_has_feature (trial, sbx_conformance_level_to_string (entry->level)))
    {
      const char *name = sbx_conformance_level_to_string (entry->level);

      return claimed == entry->level
             ? _sbx_trial_fail (trial, "expected the feature \"%s\" to be advertised", name)
             : _sbx_trial_skip (trial, "the feature \"%s\" is not advertised", name);
    }

  if ((entry->flags & SBX_CHECK_EXEC) && !trial->exec)
    return _sbx_trial_skip (trial, "the provider does not execute commands");

  return (entry->flags & (SBX_CHECK_SESSION | SBX_CHECK_EXEC)) == 0 || _sbx_trial_open (trial);
}

static SbxConformanceCheck *
make_check (SbxTrial            *trial,
            const SbxCheckEntry *entry)
{
  const SbxConformanceOutcome outcome = trial->problem != NULL ? SBX_CONFORMANCE_OUTCOME_FAILED
                                        : trial->reason != NULL ? SBX_CONFORMANCE_OUTCOME_SKIPPED
                                        : SBX_CONFORMANCE_OUTCOME_PASSED;
  g_autoptr(GBytes) sent = NULL;
  g_autoptr(GBytes) received = NULL;
  g_autofree char *detail = NULL;

  if (outcome == SBX_CONFORMANCE_OUTCOME_FAILED)
    {
      sent = _sbx_evidence_cut (trial->sent);
      received = _sbx_evidence_cut (trial->received);
    }
  if (outcome != SBX_CONFORMANCE_OUTCOME_PASSED)
    detail = g_utf8_make_valid (trial->problem != NULL ? trial->problem : trial->reason, -1);

  return _sbx_conformance_check_new (entry->number, entry->level, entry->title, outcome, detail,
                                     sent, received);
}

static SbxConformanceCheck *
run_check (SbxTrial            *trial,
           const SbxCheckEntry *entry,
           SbxConformanceLevel  claimed)
{
  _sbx_trial_reset (trial);

  /* Who says nothing is waited for long enough with these. */
  if (trial->n_silent >= MAX_SILENT)
    {
      _sbx_trial_fail (trial, "was not tried: the provider did not answer in the %d checks before",
                       MAX_SILENT);
      return make_check (trial, entry);
    }

  trial->silent = FALSE;
  if (prepare (trial, entry, claimed))
    {
      g_clear_pointer (&trial->sent, g_bytes_unref);
      g_clear_pointer (&trial->received, g_bytes_unref);
      entry->func (trial);
      /* What a check left half done must not be taken for the fault of the next one. */
      if (trial->problem != NULL || (entry->flags & SBX_CHECK_SPOILS))
        trial->spoilt = TRUE;
    }
  trial->n_silent = trial->silent ? trial->n_silent + 1 : 0;

  return make_check (trial, entry);
}

static gboolean
run_tables (SbxTrial                *trial,
            SbxConformanceLevel      level,
            SbxConformanceTellFunc   tell,
            gpointer                 user_data,
            GError                 **error)
{
  for (gsize i = 0; _sbx_check_tables[i] != NULL; i++)
    for (const SbxCheckEntry *entry = _sbx_check_tables[i]; entry->number != 0; entry++)
      {
        g_autoptr(SbxConformanceCheck) check = NULL;

        if (level != SBX_CONFORMANCE_LEVEL_ALL && level != entry->level)
          continue;

        check = run_check (trial, entry, level);
        if (g_cancellable_set_error_if_cancelled (trial->plan->cancellable, error))
          return FALSE;

        tell (g_steal_pointer (&check), user_data);
      }

  return TRUE;
}

/* Sessions live somewhere, and a provider that was ended in the middle of a check left some. This
 * is done after a cancellation, too, and takes a moment at most. */
static void
clean_up (SbxTrial           *trial,
          SbxConformancePlan *plan)
{
  g_auto(SbxReply) cleaned = { NULL };
  g_auto(SbxReply) ended = { NULL };

  g_object_unref (plan->cancellable);
  plan->cancellable = g_cancellable_new ();
  plan->timeout_ms = MIN (plan->timeout_ms, CLEAN_UP_MS);

  _sbx_trial_stop (trial);
  _sbx_trial_reset (trial);
  if (!_sbx_trial_start (trial))
    return;

  _sbx_trial_answered (trial, &cleaned, "cleanup_group", "{'metadata':$M,'sandbox_group_id':$G}");
  if (_sbx_trial_answered (trial, &ended, "shutdown", "{}"))
    _sbx_peer_wait (trial->peer, _sbx_trial_deadline (trial));
}

gboolean
_sbx_conformance_go (SbxConformancePlan      *plan,
                     SbxConformanceLevel      level,
                     SbxConformanceTellFunc   tell,
                     gpointer                 user_data,
                     GError                 **error)
{
  SbxTrial trial = { .plan = plan };
  g_autofree char *own = NULL;
  gboolean done;

  /* What cannot even be started has nothing to be checked. */
  trial.peer = _sbx_peer_new ((const char * const *) plan->argv, plan->cancellable, error);
  if (trial.peer == NULL)
    return FALSE;
  _sbx_trial_stop (&trial);

  if (plan->workspace == NULL)
    {
      own = _sbx_workspace_make (plan->cancellable, error);
      if (own == NULL)
        return FALSE;
      plan->workspace = g_strdup (own);
    }

  done = run_tables (&trial, level, tell, user_data, error);
  clean_up (&trial, plan);
  _sbx_trial_clear (&trial);
  if (own != NULL)
    _sbx_workspace_remove (own);

  return done;
}
