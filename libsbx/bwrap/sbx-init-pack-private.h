/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "bwrap/sbx-init-channel-private.h"
#include "init/sbx-init-protocol-private.h"

G_BEGIN_DECLS

/* The sealed memory file of a request, or -1. A request that is too large gives
 * %G_IO_ERROR_MESSAGE_TOO_LARGE. */
int       _sbx_init_pack_request      (const SbxInitRequest     *request,
                                       GError                  **error);
int       _sbx_init_pack_expectations (const SbxInitExpectation *expectations,
                                       gsize                     n_expectations,
                                       GError                  **error);
/* Whether what process 1 found at the place of @expectation is what was meant. */
gboolean  _sbx_init_check_mount       (const SbxInitExpectation *expectation,
                                       const SbxInitMount       *mount,
                                       GError                  **error);

G_END_DECLS
