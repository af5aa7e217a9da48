/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A line as it is shown for a failed check: what is long in it is cut, and so is the state of the
 * provider, whatever it may hold. %NULL gives %NULL. */
GBytes *_sbx_evidence_cut (GBytes *line);

G_END_DECLS
