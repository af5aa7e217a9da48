/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "bwrap/sbx-init-report-private.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data,
                            gsize         size);

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  SbxInitIncoming incoming;
  g_autoptr(GError) error = NULL;

  if (!_sbx_init_report_decode (data, size, &incoming, &error))
    {
      g_assert_nonnull (error);
      return 0;
    }

  /* What was taken is what was sent, in a size that its type has, with numbers in range. */
  g_assert_cmpint (memcmp (&incoming, data, size), ==, 0);
  g_assert_cmpint (incoming.head.magic, ==, SBX_INIT_MAGIC);

  switch (incoming.head.type)
    {
    case SBX_INIT_MOUNTS:
      g_assert_cmpint (size, ==, sizeof (SbxInitMounts));
      g_assert_cmpint (incoming.mounts.count, <=, SBX_INIT_MOUNTS_BATCH);
      break;

    case SBX_INIT_ENDED:
      g_assert_cmpint (incoming.report.kind, <, SBX_INIT_N_ENDS);
      g_assert_cmpint (incoming.report.stage, <, SBX_INIT_N_STAGES);
      G_GNUC_FALLTHROUGH;

    default:
      g_assert_cmpint (size, ==, sizeof (SbxInitReport));
      g_assert_cmpint (incoming.head.type, >=, SBX_INIT_HELLO);
      g_assert_cmpint (incoming.head.type, <=, SBX_INIT_CHECKED);
      break;
    }

  return 0;
}
