/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Domains of a sandbox: host names, or "*." and a domain, which stands for every name below it. */

/* At most 253 ASCII characters: labels of 1 to 63 letters, digits and hyphens, with dots between.
 * No label begins or ends in a hyphen. The last one cannot be a number in any base, which would
 * make the whole an IPv4 address. A wildcard has two labels at least after it. */
gboolean _sbx_domain_is_valid (const char *domain);

/* @pattern is a domain. @host is the name that is to be reached. Case does not matter. */
gboolean _sbx_domain_matches  (const char *pattern,
                               const char *host);

G_END_DECLS
