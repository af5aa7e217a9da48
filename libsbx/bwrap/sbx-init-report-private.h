/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "init/sbx-init-protocol-private.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* A message of process 1, which is whatever its head's type says. */
typedef union
{
  SbxInitHead   head;
  SbxInitReport report;
  SbxInitMounts mounts;
} SbxInitIncoming;

/* Checks a message that came out of a sandbox for all that can be said without knowing what was
 * asked: nothing outside @data is looked at, and what is left in @incoming is in range. */
gboolean _sbx_init_report_decode (const guint8     *data,
                                  gsize             size,
                                  SbxInitIncoming  *incoming,
                                  GError          **error);

G_END_DECLS
