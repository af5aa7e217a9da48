/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "bwrap/sbx-init-records-private.h"
#include "core/sbx-error.h"
#include "init/sbx-init-protocol-private.h"

#include <string.h>
#include <sys/stat.h>

static GBytes *
make_records (guint                    n,
              const SbxInitFileRecord *record,
              const char              *names)
{
  g_autoptr(GByteArray) bytes = g_byte_array_new ();

  for (guint i = 0; i < n; i++)
    {
      g_byte_array_append (bytes, (const guint8 *) record, sizeof *record);
      g_byte_array_append (bytes, (const guint8 *) names,
                           record->name_length + record->link_length);
    }

  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

static void
test_refused (void)
{
  const SbxInitFileRecord good = {
    .magic = SBX_INIT_FILE_MAGIC, .name_length = 4, .mode = S_IFREG | 0644, .size = 12,
  };
  static const char * const names[] = { "a/bc", "a\0bc", "..\0\0", "/abc" };
  SbxInitFileRecord bad[6];
  g_autofree char *long_name = g_strnfill (5000, 'n');
  g_autoptr(GBytes) two = make_records (2, &good, "name");
  g_autoptr(GError) error = NULL;

  g_test_summary ("Records that no directory could give are refused as a whole");

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    bad[i] = good;
  bad[0].magic++;
  bad[1].name_length = SBX_INIT_MAX_NAME + 1;
  bad[2].link_length = 1;
  bad[3].mode = S_IFLNK;
  bad[3].link_length = SBX_INIT_MAX_LINK + 1;
  bad[4].mtime_ns = 1000000000;
  bad[5].name_length = 0;

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr(GBytes) bytes = make_records (1, &bad[i], long_name);

      g_assert_null (_sbx_init_records_parse_list (bytes, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
      g_clear_error (&error);
    }

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr(GBytes) bytes = make_records (1, &good, names[i]);

      g_assert_null (_sbx_init_records_parse_list (bytes, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
      g_clear_error (&error);
    }

  /* Cut off anywhere, but between the two. */
  for (gsize size = 1; size < g_bytes_get_size (two); size++)
    {
      g_autoptr(GBytes) bytes = g_bytes_new_from_bytes (two, 0, size);
      g_autoptr(GListStore) list = _sbx_init_records_parse_list (bytes, NULL);

      g_assert_true ((list != NULL) == (size == sizeof good + 4));
    }

  g_assert_null (_sbx_init_records_parse_stat (two, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_LOST);
}

static void
test_extremes (void)
{
  const SbxInitFileRecord record = {
    .magic = SBX_INIT_FILE_MAGIC, .name_length = 2, .mode = G_MAXUINT32, .size = G_MAXUINT64,
    .mtime = G_MININT64, .mtime_ns = 999999999, .uid = G_MAXUINT32, .gid = G_MAXUINT32,
  };
  g_autoptr(GBytes) bytes = make_records (1, &record, "\377\033");
  g_autoptr(GBytes) none = g_bytes_new (NULL, 0);
  g_autoptr(GListStore) empty = _sbx_init_records_parse_list (none, NULL);
  g_autoptr(GFileInfo) info = _sbx_init_records_parse_stat (bytes, NULL);

  g_test_summary ("Numbers at their ends are numbers");
  g_assert_nonnull (info);
  g_assert_cmpint (g_file_info_get_size (info), ==, G_MAXINT64);
  g_assert_cmpstr (g_file_info_get_name (info), ==, "\377\033");
  g_assert_cmpint (g_file_info_get_file_type (info), ==, G_FILE_TYPE_UNKNOWN);
  g_assert_nonnull (empty);
  g_assert_cmpint (g_list_model_get_n_items (G_LIST_MODEL (empty)), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/init/records/refused", test_refused);
  g_test_add_func ("/init/records/extremes", test_extremes);

  return g_test_run ();
}
