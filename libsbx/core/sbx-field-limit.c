/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-field-private.h"

#include "core/sbx-error.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static const char * const names[SBX_N_LIMITS] =
{
  [SBX_LIMIT_MEMORY] = "memory",
  [SBX_LIMIT_PROCESSES] = "processes",
  [SBX_LIMIT_CPU_TIME] = "cpuTime",
  [SBX_LIMIT_FILE_SIZE] = "fileSize",
  [SBX_LIMIT_OPEN_FILES] = "openFiles",
};

const char *
_sbx_field_name_limit (SbxLimit limit)
{
  return names[limit];
}

static gboolean
find_limit (const char *name,
            SbxLimit   *limit)
{
  for (guint i = 0; i < SBX_N_LIMITS; i++)
    if (g_str_equal (name, names[i]))
      {
        *limit = (SbxLimit) i;
        return TRUE;
      }

  return FALSE;
}

static gboolean
is_bytes (SbxLimit limit)
{
  return limit == SBX_LIMIT_MEMORY || limit == SBX_LIMIT_FILE_SIZE;
}

/* Digits, and for bytes perhaps a unit after them. 0 for what is none. */
static guint64
parse_amount (SbxLimit    limit,
              const char *text)
{
  static const char units[] = "KMGT";
  const gsize n_digits = strspn (text, "0123456789");
  g_autofree char *digits = g_strndup (text, MIN (n_digits, 20));
  const char *unit;
  guint64 amount;
  guint shift;

  if (n_digits == 0 || n_digits > 19 ||
      !g_ascii_string_to_unsigned (digits, 10, 1, G_MAXINT64, &amount, NULL))
    return 0;

  if (text[n_digits] == '\0')
    return amount;

  unit = strchr (units, g_ascii_toupper (text[n_digits]));
  if (!is_bytes (limit) || unit == NULL || text[n_digits + 1] != '\0')
    return 0;

  shift = 10 * (guint) (unit - units + 1);

  return amount <= ((guint64) G_MAXINT64 >> shift) ? amount << shift : 0;
}

static void
set_no_limit (const char  *name,
              GError     **error)
{
  g_autofree char *shown = _sbx_field_show_text (name);

  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
               _("limits: there is no limit %s; write one of memory, processes, cpuTime, fileSize "
                 "and openFiles"),
               shown);
}

static void
set_no_amount (SbxLimit     limit,
               const char  *shown,
               GError     **error)
{
  if (is_bytes (limit))
    g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                 _("limits: %s must be a positive integer of bytes, not %s; write such as "
                   "536870912 or \"512M\""),
                 names[limit], shown);
  else
    g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID,
                 _("limits: %s must be a positive integer, not %s; write such as 100, or leave "
                   "the limit out"),
                 names[limit], shown);
}

gboolean
_sbx_field_set_limit (SbxReach    *reach,
                      const char  *name,
                      JsonNode    *value,
                      GError     **error)
{
  guint64 amount = 0;
  SbxLimit limit;

  if (!find_limit (name, &limit))
    {
      set_no_limit (name, error);
      return FALSE;
    }

  if (JSON_NODE_HOLDS_VALUE (value))
    {
      const GType type = json_node_get_value_type (value);

      if (type == G_TYPE_INT64)
        amount = (guint64) MAX (json_node_get_int (value), 0);
      else if (type == G_TYPE_STRING && is_bytes (limit))
        amount = parse_amount (limit, json_node_get_string (value));
    }

  if (amount == 0)
    {
      g_autofree char *shown = _sbx_field_show (value);

      set_no_amount (limit, shown, error);
      return FALSE;
    }

  reach->limits[limit] = amount;

  return TRUE;
}

gboolean
_sbx_field_set_limit_text (SbxReach    *reach,
                           const char  *name,
                           const char  *text,
                           GError     **error)
{
  SbxLimit limit;
  guint64 amount;

  if (!find_limit (name, &limit))
    {
      set_no_limit (name, error);
      return FALSE;
    }

  amount = parse_amount (limit, text);
  if (amount == 0)
    {
      g_autofree char *shown = _sbx_field_show_text (text);

      set_no_amount (limit, shown, error);
      return FALSE;
    }

  reach->limits[limit] = amount;

  return TRUE;
}

/* JSON integers here are signed, and no machine has so much. */
gboolean
_sbx_field_check_limits (SbxReach  *reach,
                         GError   **error)
{
  for (guint i = 0; i < SBX_N_LIMITS; i++)
    if (reach->limits[i] > G_MAXINT64)
      {
        g_autofree char *shown = g_strdup_printf ("%" G_GUINT64_FORMAT, reach->limits[i]);

        set_no_amount ((SbxLimit) i, shown, error);
        return FALSE;
      }

  return TRUE;
}
