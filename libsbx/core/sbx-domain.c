/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-domain-private.h"

#include <string.h>

#define MAX_DOMAIN 253
#define MAX_LABEL 63

static gboolean
label_is_valid (const char *label,
                gsize       length)
{
  if (length == 0 || length > MAX_LABEL)
    return FALSE;

  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isalnum (label[i]) && label[i] != '-')
      return FALSE;

  return label[0] != '-' && label[length - 1] != '-';
}

/* What inet_aton() takes for the last part of an address. */
static gboolean
label_is_number (const char *label)
{
  if (label[0] == '0' && (label[1] == 'x' || label[1] == 'X'))
    {
      label += 2;
      return label[strspn (label, "0123456789abcdefABCDEF")] == '\0';
    }

  return label[strspn (label, "0123456789")] == '\0';
}

gboolean
_sbx_domain_is_valid (const char *domain)
{
  const gboolean wildcard = g_str_has_prefix (domain, "*.");
  const char *label = wildcard ? domain + 2 : domain;
  guint n_labels = 0;

  if (strnlen (domain, MAX_DOMAIN + 1) > MAX_DOMAIN)
    return FALSE;

  while (TRUE)
    {
      const gsize length = strcspn (label, ".");

      if (!label_is_valid (label, length))
        return FALSE;

      n_labels++;
      if (label[length] == '\0')
        break;

      label += length + 1;
    }

  return !label_is_number (label) && (!wildcard || n_labels >= 2);
}

gboolean
_sbx_domain_matches (const char *pattern,
                     const char *host)
{
  gsize host_length;
  gsize length;

  if (!g_str_has_prefix (pattern, "*."))
    return g_ascii_strcasecmp (pattern, host) == 0;

  /* With the dot, so that at least one label is before it. */
  pattern++;
  length = strlen (pattern);
  host_length = strlen (host);

  return host_length > length &&
         g_ascii_strcasecmp (host + host_length - length, pattern) == 0 &&
         host[0] != '.';
}
