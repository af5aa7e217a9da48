/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-limits-private.h"

#include "bwrap/sbx-bwrap-scope-private.h"
#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"

#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

/* What a sandbox gets that nobody limited: more than a build needs, less than ends a desktop. */
#define DEFAULT_PROCESSES 4096

/* Less of these and nothing at all runs, which is no limit but a mistake. */
#define LEAST_MEMORY (1024 * 1024)
#define LEAST_OPEN_FILES 8

static const struct
{
  const char *name;
  guint64     least;
} known[] = {
  [SBX_LIMIT_MEMORY] = { "memory", LEAST_MEMORY },
  [SBX_LIMIT_PROCESSES] = { "processes", 1 },
  [SBX_LIMIT_CPU_TIME] = { "cpuTime", 1 },
  [SBX_LIMIT_FILE_SIZE] = { "fileSize", 1 },
  [SBX_LIMIT_OPEN_FILES] = { "openFiles", LEAST_OPEN_FILES },
};

static void
limit_clear (gpointer data)
{
  SbxBwrapLimit *limit = data;

  g_clear_pointer (&limit->reason, g_free);
}

static void
limits_clear (gpointer data)
{
  SbxBwrapLimits *self = data;

  g_clear_pointer (&self->limits, g_array_unref);
}

SbxBwrapLimits *
_sbx_bwrap_limits_ref (SbxBwrapLimits *self)
{
  return g_atomic_rc_box_acquire (self);
}

void
_sbx_bwrap_limits_unref (SbxBwrapLimits *self)
{
  g_atomic_rc_box_release_full (self, limits_clear);
}

const char *
_sbx_bwrap_means_to_text (SbxBwrapMeans means)
{
  switch (means)
    {
    case SBX_BWRAP_MEANS_SCOPE:
      return "systemd scope";

    case SBX_BWRAP_MEANS_RLIMIT:
      return "rlimit";

    case SBX_BWRAP_MEANS_EACH:
      return "rlimit of each process (weaker)";

    case SBX_BWRAP_MEANS_NOTHING:
    default:
      return "none (weaker)";
    }
}

/* Since 5.14 the kernel counts processes for each user namespace, which a sandbox has one of its
 * own of, and not for the whole user alone. It never holds the real root to it. */
gboolean
_sbx_bwrap_limits_processes_bind (uid_t       uid,
                                  const char *release)
{
  guint major = 0, minor = 0;

  return uid != 0 && sscanf (release, "%u.%u", &major, &minor) == 2 &&
         (major > 5 || (major == 5 && minor >= 14));
}

static gboolean
processes_bind (void)
{
  struct utsname machine;

  /* Whoever is root in a container alone may be held to it, but nothing tells us so for sure. */
  return uname (&machine) == 0 &&
         _sbx_bwrap_limits_processes_bind (MIN (getuid (), geteuid ()), machine.release);
}

static void
add (SbxBwrapLimits *self,
     SbxLimit        limit,
     guint64         value,
     SbxBwrapMeans   means,
     gboolean        asked,
     const char     *reason)
{
  const SbxBwrapLimit entry = { limit, value, means, asked, g_strdup (reason) };

  g_array_append_val (self->limits, entry);
}

/* What is in force already stays so. */
static guint64
get_hard_limit (int resource)
{
  struct rlimit limit;

  return getrlimit (resource, &limit) == 0 && limit.rlim_max != RLIM_INFINITY ? limit.rlim_max
                                                                              : G_MAXINT64;
}

static gboolean
not_enforceable (SbxLimit       limit,
                 const char    *reason,
                 GError       **error)
{
  const char *name = known[limit].name;

  g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
               limit == SBX_LIMIT_MEMORY
                 ? _("limits: “%s” cannot be enforced for a whole sandbox here, because %s. Run "
                     "this under systemd, or have each process limited instead, with “bwrap: "
                     "{\"allowWeaker\": [\"%s\"]}” in the spec")
                 : _("limits: “%s” cannot be enforced for this user here, because %s. Run this "
                     "under systemd or as an ordinary user, or do without, with “bwrap: "
                     "{\"allowWeaker\": [\"%s\"]}” in the spec"),
               name, reason, name);
  return FALSE;
}

/* Nothing but a control group can bound this. */
static gboolean
add_by_scope (SbxBwrapLimits  *self,
              SbxLimit         limit,
              guint64          value,
              const GError    *no_systemd,
              GError         **error)
{
  if (no_systemd == NULL)
    {
      add (self, limit, value, SBX_BWRAP_MEANS_SCOPE, TRUE, NULL);
      return TRUE;
    }

  if ((self->may_be_weaker & (1u << limit)) == 0)
    return not_enforceable (limit, no_systemd->message, error);

  add (self, limit, value,
       limit == SBX_LIMIT_MEMORY ? SBX_BWRAP_MEANS_EACH : SBX_BWRAP_MEANS_NOTHING, TRUE,
       no_systemd->message);
  return TRUE;
}

static gboolean
decide_processes (SbxBwrapLimits  *self,
                  guint64          asked,
                  const GError    *no_systemd,
                  GError         **error)
{
  const guint64 hard = get_hard_limit (RLIMIT_NPROC);

  if (!SBX_PROTECTS (T6))
    return TRUE;

  if (processes_bind ())
    {
      /* Without being asked no more than half of what the user may have in all. */
      add (self, SBX_LIMIT_PROCESSES,
           asked != 0 ? MIN (asked, hard) : MIN (DEFAULT_PROCESSES, MAX (hard / 2, 1)),
           SBX_BWRAP_MEANS_RLIMIT, asked != 0, NULL);
      return TRUE;
    }

  if (asked != 0)
    return add_by_scope (self, SBX_LIMIT_PROCESSES, asked, no_systemd, error);

  if (_sbx_bwrap_limits_need_scope (self))
    add (self, SBX_LIMIT_PROCESSES, DEFAULT_PROCESSES, SBX_BWRAP_MEANS_SCOPE, FALSE, NULL);

  return TRUE;
}

static gboolean
check_values (const guint64  *values,
              GError        **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (values[i] != 0 && values[i] < known[i].least)
      {
        g_autofree char *value = g_strdup_printf ("%" G_GUINT64_FORMAT, values[i]);
        g_autofree char *least = g_strdup_printf ("%" G_GUINT64_FORMAT, known[i].least);

        g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                     _("limits: with “%s” at %s nothing runs; it has to be %s or more"),
                     known[i].name, value, least);
        return FALSE;
      }

  return TRUE;
}

SbxBwrapLimits *
_sbx_bwrap_limits_new (SbxReach                     *reach,
                       const SbxBwrapReachSettings  *settings,
                       GCancellable                 *cancellable,
                       GError                      **error)
{
  static const struct { SbxLimit limit; int resource; } simple[] = {
    { SBX_LIMIT_CPU_TIME, RLIMIT_CPU },
    { SBX_LIMIT_FILE_SIZE, RLIMIT_FSIZE },
    { SBX_LIMIT_OPEN_FILES, RLIMIT_NOFILE },
  };
  g_autoptr(SbxBwrapLimits) self = g_atomic_rc_box_new0 (SbxBwrapLimits);
  g_autoptr(GError) no_systemd = NULL;
  guint64 values[G_N_ELEMENTS (known)];

  self->limits = g_array_new (FALSE, FALSE, sizeof (SbxBwrapLimit));
  g_array_set_clear_func (self->limits, limit_clear);
  self->may_be_weaker = settings->allow_weaker;

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    values[i] = MIN (sbx_reach_get_limit (reach, (SbxLimit) i), G_MAXINT64 / 2);

  if (!check_values (values, error))
    return NULL;

  if ((values[SBX_LIMIT_MEMORY] != 0 || (values[SBX_LIMIT_PROCESSES] != 0 && !processes_bind ())) &&
      !_sbx_bwrap_scope_check (cancellable, &no_systemd) &&
      g_error_matches (no_systemd, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&no_systemd));
      return NULL;
    }

  if ((values[SBX_LIMIT_MEMORY] != 0 &&
       !add_by_scope (self, SBX_LIMIT_MEMORY, values[SBX_LIMIT_MEMORY], no_systemd, error)) ||
      !decide_processes (self, values[SBX_LIMIT_PROCESSES], no_systemd, error))
    return NULL;

  for (guint i = 0; i < G_N_ELEMENTS (simple); i++)
    if (values[simple[i].limit] != 0)
      add (self, simple[i].limit,
           MIN (values[simple[i].limit], get_hard_limit (simple[i].resource)),
           SBX_BWRAP_MEANS_RLIMIT, TRUE, NULL);

  return g_steal_pointer (&self);
}

const SbxBwrapLimit *
_sbx_bwrap_limits_find (const SbxBwrapLimits *self,
                        SbxLimit              limit)
{
  for (guint i = 0; i < self->limits->len; i++)
    {
      const SbxBwrapLimit *entry = &g_array_index (self->limits, SbxBwrapLimit, i);

      if (entry->limit == limit)
        return entry;
    }

  return NULL;
}

gboolean
_sbx_bwrap_limits_need_scope (const SbxBwrapLimits *self)
{
  for (guint i = 0; i < self->limits->len; i++)
    if (g_array_index (self->limits, SbxBwrapLimit, i).means == SBX_BWRAP_MEANS_SCOPE)
      return TRUE;

  return FALSE;
}

gboolean
_sbx_bwrap_limits_weaken (SbxBwrapLimits  *self,
                          const GError    *reason,
                          GError         **error)
{
  for (guint i = 0; i < self->limits->len;)
    {
      SbxBwrapLimit *entry = &g_array_index (self->limits, SbxBwrapLimit, i);

      if (entry->means != SBX_BWRAP_MEANS_SCOPE)
        {
          i++;
        }
      else if (!entry->asked)
        {
          g_array_remove_index (self->limits, i);
        }
      else if ((self->may_be_weaker & (1u << entry->limit)) == 0)
        {
          return not_enforceable (entry->limit, reason->message, error);
        }
      else
        {
          entry->means = entry->limit == SBX_LIMIT_MEMORY ? SBX_BWRAP_MEANS_EACH
                                                          : SBX_BWRAP_MEANS_NOTHING;
          entry->reason = g_strdup (reason->message);
          i++;
        }
    }

  return TRUE;
}
