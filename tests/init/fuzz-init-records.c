/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "bwrap/sbx-init-records-private.h"

#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data,
                            gsize         size);

static void
check (GFileInfo *info)
{
  const char *name = g_file_info_get_name (info);

  g_assert_null (strchr (name, '/'));
  g_assert_true (g_utf8_validate (g_file_info_get_display_name (info), -1, NULL));
  g_assert_cmpint (g_file_info_get_size (info), >=, 0);
  if (g_file_info_get_is_symlink (info))
    g_assert_nonnull (g_file_info_get_symlink_target (info));
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  g_autoptr(GBytes) bytes = g_bytes_new (data, size);
  g_autoptr(GError) list_error = NULL;
  g_autoptr(GError) stat_error = NULL;
  g_autoptr(GListStore) list = _sbx_init_records_parse_list (bytes, &list_error);
  g_autoptr(GFileInfo) info = _sbx_init_records_parse_stat (bytes, &stat_error);

  g_assert_true ((list == NULL) == (list_error != NULL));
  g_assert_true ((info == NULL) == (stat_error != NULL));

  if (info != NULL)
    check (info);

  for (guint i = 0; list != NULL && i < g_list_model_get_n_items (G_LIST_MODEL (list)); i++)
    {
      g_autoptr(GFileInfo) item = g_list_model_get_item (G_LIST_MODEL (list), i);

      check (item);
      g_assert_cmpstr (g_file_info_get_name (item), !=, "");
      g_assert_cmpstr (g_file_info_get_name (item), !=, "..");
    }

  return 0;
}
