/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-error.h"

/**
 * sbx_error_quark:
 *
 * Gets the error domain of the library.
 *
 * Returns: the domain
 *
 * Since: 1.0
 */
G_DEFINE_QUARK (sbx-error-quark, sbx_error)
