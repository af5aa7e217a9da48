/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-init-report-private.h"

#include "core/sbx-error.h"

#include <string.h>

#define MAX_ERRNO 4095

static gboolean
is_errno (gint64 value)
{
  return value > 0 && value <= MAX_ERRNO;
}

/* Process 1 of another build, that is, a broken installation, also ends up here. */
static gboolean
check_head (const SbxInitHead *head)
{
  const gboolean about_exec = head->type == SBX_INIT_STARTED || head->type == SBX_INIT_ENDED;

  /* The sandbox may end for a stray, which belongs to no exec, or for one. */
  return head->magic == SBX_INIT_MAGIC && head->version == SBX_INIT_VERSION &&
         (head->type == SBX_INIT_FAILED || about_exec == (head->id != 0));
}

static gboolean
check_ended (const SbxInitReport *report)
{
  const gboolean has_stage = report->stage != SBX_INIT_AT_NONE;

  if (report->kind >= SBX_INIT_N_ENDS || report->stage >= SBX_INIT_N_STAGES || report->pid != 0 ||
      report->core_dumped > (report->kind == SBX_INIT_ENDED_SIGNALLED) ||
      has_stage != (report->kind == SBX_INIT_ENDED_UNSTARTED))
    return FALSE;

  switch (report->kind)
    {
    case SBX_INIT_ENDED_EXITED:
      return report->value >= 0 && report->value <= 255;

    case SBX_INIT_ENDED_SIGNALLED:
      return report->value > 0 && report->value <= 64;

    case SBX_INIT_ENDED_UNSTARTED:
      return is_errno (report->value);

    default:
      return report->value == 0;
    }
}

static gboolean
check_report (const SbxInitReport *report)
{
  const gboolean only_pid = report->kind == 0 && report->stage == 0 && report->value == 0 &&
                            report->core_dumped == 0;

  if (report->reserved != 0)
    return FALSE;

  switch (report->head.type)
    {
    case SBX_INIT_HELLO:
    case SBX_INIT_READY:
    case SBX_INIT_CHANGED:
    case SBX_INIT_CHECKED:
      return only_pid && report->pid == 0;

    case SBX_INIT_STARTED:
      return only_pid && report->pid > 0;

    case SBX_INIT_ENDED:
      return check_ended (report);

    case SBX_INIT_SETUP_FAILED:
    case SBX_INIT_FAILED:
      return report->kind == 0 && report->stage < SBX_INIT_N_STAGES && is_errno (report->value) &&
             report->pid == 0 && report->core_dumped == 0;

    default:
      return FALSE;
    }
}

static gboolean
check_mounts (const SbxInitMounts *mounts)
{
  if (mounts->count == 0 || mounts->count > SBX_INIT_MOUNTS_BATCH || mounts->reserved != 0)
    return FALSE;

  for (guint i = 0; i < mounts->count; i++)
    {
      const SbxInitMount *mount = &mounts->mounts[i];

      if (mount->index >= SBX_INIT_MAX_EXPECTATIONS || mount->reserved != 0 ||
          mount->read_only > 1 || (mount->error != 0 && !is_errno (mount->error)))
        return FALSE;
    }

  return TRUE;
}

gboolean
_sbx_init_report_decode (const guint8     *data,
                         gsize             size,
                         SbxInitIncoming  *incoming,
                         GError          **error)
{
  gboolean ok = FALSE;

  memset (incoming, 0, sizeof *incoming);

  if (size >= sizeof (SbxInitHead) && size <= sizeof *incoming)
    {
      memcpy (incoming, data, size);

      if (incoming->head.type == SBX_INIT_MOUNTS)
        ok = size == sizeof (SbxInitMounts) && check_mounts (&incoming->mounts);
      else
        ok = size == sizeof (SbxInitReport) && check_report (&incoming->report);

      ok = ok && check_head (&incoming->head);
    }

  if (!ok)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                         "Process 1 of the sandbox sent a message that makes no sense");

  return ok;
}
