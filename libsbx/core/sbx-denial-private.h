/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-denial.h"

G_BEGIN_DECLS

/* @field is one of the fields of a spec, or %NULL where nothing can be added. All are copied, but
 * @field, which is static. @text is fit for a message. */
SbxDenial *_sbx_denial_new (const char *field,
                            const char *path,
                            const char *text,
                            const char *suggestion);

G_END_DECLS
