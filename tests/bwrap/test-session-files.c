/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

/* The file verbs, which see what the sandbox sees and nothing else. */

#define MIB (1024 * 1024)

static GBytes *
read_all (SbxSession *session,
          const char *path)
{
  g_autoptr(GError) error = NULL;
  GBytes *bytes = sbx_session_read_file (session, path, 0, NULL, &error);

  g_assert_no_error (error);
  return bytes;
}

static void
write_text (SbxSession *session,
            const char *path,
            const char *text)
{
  g_autoptr(GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr(GError) error = NULL;

  g_assert_true (sbx_session_write_file (session, path, bytes, 0644, NULL, &error));
  g_assert_no_error (error);
}

#define assert_cannot_read(session, path, domain, code) \
  G_STMT_START { \
    g_autoptr(GError) read_error = NULL; \
    g_autoptr(GBytes) read_bytes = sbx_session_read_file (session, path, 0, NULL, &read_error); \
    g_assert_null (read_bytes); \
    g_assert_error (read_error, domain, code); \
  } G_STMT_END

static void
test_round_trip (void)
{
  static const char * const names[] = {
    "plain", "a/b/c/deep", "with space", "new\nline", "\xff\x80\xfe", "-dash", "\xc3\xa9",
    "dir \xff/in\n", "./dot/../dot/x",
  };
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (place->project, names[i], NULL);
      g_autoptr(GBytes) content = g_bytes_new_static ("a\0b\xff\n", 5);
      g_autoptr(GBytes) read = NULL;
      g_autoptr(GFileInfo) info = NULL;
      g_autoptr(GError) error = NULL;
      g_autofree char *outside = NULL;
      gsize size;

      g_assert_true (sbx_session_write_file (session, names[i], content, 0640, NULL, &error));
      g_assert_no_error (error);
      g_assert_true (g_file_get_contents (path, &outside, &size, NULL));
      g_assert_cmpmem (outside, size, "a\0b\xff\n", 5);

      read = read_all (session, path);
      g_assert_true (g_bytes_equal (read, content));

      info = sbx_session_stat (session, names[i], NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpint (g_file_info_get_size (info), ==, 5);
      g_assert_cmpint (g_file_info_get_file_type (info), ==, G_FILE_TYPE_REGULAR);
      g_assert_cmpint (g_file_info_get_attribute_uint32 (info, "unix::mode") & 07777, ==, 0640);
    }

  close_session (session);
}

static void
test_directories (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(GListModel) list = NULL;
  g_autoptr(GListModel) gone = NULL;
  g_autoptr(GFileInfo) first = NULL;
  g_autoptr(GFileInfo) second = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *temp = NULL;

  for (guint i = 0; i < 2; i++)
    g_assert_true (sbx_session_create_dir_all (session, "d/e/f", NULL, &error));
  write_text (session, "d/\xff", "x");
  list = sbx_session_list_dir (session, "d", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_list_model_get_n_items (list), ==, 2);
  first = g_list_model_get_item (list, 0);
  second = g_list_model_get_item (list, 1);
  g_assert_cmpstr (g_file_info_get_name (first), ==, "e");
  g_assert_cmpint (g_file_info_get_file_type (first), ==, G_FILE_TYPE_DIRECTORY);
  g_assert_cmpstr (g_file_info_get_name (second), ==, "\xff");

  temp = sbx_session_create_temp_dir (session, "pre-", NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (temp, "/tmp/pre-"));
  g_assert_null (sbx_session_create_temp_dir (session, "a/b", NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_clear_error (&error);

  /* A file in the way; a tree, and one that is gone already. */
  g_assert_false (sbx_session_create_dir_all (session, "d/\xff/x", NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_DIRECTORY);
  g_clear_error (&error);
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (sbx_session_remove (session, "d", NULL, &error));
      g_assert_no_error (error);
    }
  gone = sbx_session_list_dir (session, "d", NULL, &error);
  g_assert_null (gone);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  close_session (session);
}

/* What is there, and is not a file of the sandbox's. */
static void
test_other_kinds (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree char *secret = g_build_filename (place->root, "secret", NULL);
  g_autofree char *made = NULL;
  g_autofree char *script = g_strdup_printf ("mkfifo fifo; ln -s nowhere dangling; mkdir dir; "
                                             "ln -s loop loop; ln -s %s out; echo in > in; "
                                             "ln -s in good; ln -s /dev/zero zero", secret);
  g_autoptr(GBytes) through_link = NULL;
  g_autoptr(GFileInfo) info = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_true (g_file_set_contents (secret, "secret", -1, NULL));
  made = shell_output (session, script);

  assert_cannot_read (session, "fifo", G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_cannot_read (session, "/dev/zero", G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_cannot_read (session, "zero", G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_cannot_read (session, "dir", G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY);
  assert_cannot_read (session, "dangling", G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  assert_cannot_read (session, "loop", G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS);
  assert_cannot_read (session, "out", G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  assert_cannot_read (session, secret, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  assert_cannot_read (session, "in/x", G_IO_ERROR, G_IO_ERROR_NOT_DIRECTORY);
  assert_cannot_read (session, "", SBX_ERROR, SBX_ERROR_INVALID);
  through_link = read_all (session, "good");
  g_assert_cmpint (g_bytes_get_size (through_link), ==, 3);

  info = sbx_session_stat (session, "out", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_file_info_get_file_type (info), ==, G_FILE_TYPE_SYMBOLIC_LINK);

  /* Where nothing may be written, nothing is; the link goes and not what it leads to. */
  g_assert_false (sbx_session_create_dir_all (session, "/usr/x", NULL, &error));
  g_assert_nonnull (error);
  g_clear_error (&error);
  g_assert_true (sbx_session_remove (session, "out", NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_test (secret, G_FILE_TEST_EXISTS));
  close_session (session);
}

static void
test_limits (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(GBytes) exact = NULL;
  g_autoptr(GBytes) over = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *made G_GNUC_UNUSED = shell_output (session, "head -c 100000 /dev/zero > f; "
                                                 "truncate -s 65M sparse");

  exact = sbx_session_read_file (session, "f", 100000, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_bytes_get_size (exact), ==, 100000);

  over = sbx_session_read_file (session, "f", 99999, NULL, &error);
  g_assert_null (over);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_assert_nonnull (strstr (error->message, "f"));
  assert_cannot_read (session, "sparse", SBX_ERROR, SBX_ERROR_TOO_LARGE);
  close_session (session);
}

static void
test_large (void)
{
  enum { SIZE = 64 * MIB };
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree guint8 *data = g_malloc (SIZE);
  g_autoptr(GBytes) content = NULL;
  g_autoptr(GBytes) read = NULL;
  g_autoptr(GError) error = NULL;
  const gint64 begin = g_get_monotonic_time ();

  for (gsize i = 0; i < SIZE; i++)
    data[i] = (guint8) (i * 2654435761u >> 13);
  content = g_bytes_new_static (data, SIZE);

  g_assert_true (sbx_session_write_file (session, "big", content, 0600, NULL, &error));
  g_assert_no_error (error);
  read = read_all (session, "big");
  g_assert_true (g_bytes_equal (read, content));
  g_test_message ("64 MiB there and back: %d ms", (int) (g_get_monotonic_time () - begin) / 1000);
  close_session (session);
}

static void
read_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  guint *n_cancelled = user_data;
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = sbx_session_read_file_finish (SBX_SESSION (object), result, &error);

  /* It may have come through before. */
  if (bytes == NULL)
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  else
    g_assert_cmpint (g_bytes_get_size (bytes), ==, 60 * MIB);

  *n_cancelled += 1;
}

static void
test_cancel (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree char *made G_GNUC_UNUSED = shell_output (session, "truncate -s 60M sparse");

  for (guint n = 0; n < 40; n += n < 10 ? 1 : 7)
    {
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      guint n_done = 0;

      sbx_session_read_file_async (session, "sparse", 0, cancellable, read_cb, &n_done);
      for (guint i = 0; i < n; i++)
        g_main_context_iteration (NULL, TRUE);
      g_cancellable_cancel (cancellable);
      test_wait_for (n_done > 0);
      while (g_main_context_iteration (NULL, FALSE))
        ;
      g_assert_cmpint (n_done, ==, 1);
    }

  g_assert_cmpint (count_inside (session), ==, 0);
  close_session (session);
}

static void
wrote_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  guint *n_done = user_data;
  g_autoptr(GError) error = NULL;

  g_assert_true (sbx_session_write_file_finish (SBX_SESSION (object), result, &error));
  g_assert_no_error (error);
  *n_done += 1;
}

/* A reader sees one of the contents whole, whoever else writes it at that time. */
static void
test_at_once (void)
{
  enum { N = 40, SIZE = 300000 };
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  guint n_done = 0;

  for (guint i = 0; i < N; i++)
    {
      g_autofree char *name = g_strdup_printf ("file-%u", i);
      g_autofree char *text = g_strnfill (SIZE, (char) ('a' + i % 20));
      g_autoptr(GBytes) bytes = g_bytes_new (text, SIZE);

      sbx_session_write_file_async (session, name, bytes, 0644, NULL, wrote_cb, &n_done);
      sbx_session_write_file_async (session, "same", bytes, 0644, NULL, wrote_cb, &n_done);
    }

  while (n_done < 2 * N)
    {
      g_autoptr(GBytes) bytes = sbx_session_read_file (session, "same", 0, NULL, NULL);
      gsize size;
      const char *data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

      if (data == NULL)
        continue;

      g_assert_cmpint (size, ==, SIZE);
      g_assert_cmpint (data[0], ==, data[SIZE - 1]);
    }

  for (guint i = 0; i < N; i++)
    {
      g_autofree char *name = g_strdup_printf ("file-%u", i);
      g_autoptr(GBytes) bytes = read_all (session, name);

      g_assert_cmpint (g_bytes_get_size (bytes), ==, SIZE);
      g_assert_cmpint (((const char *) g_bytes_get_data (bytes, NULL))[SIZE / 2], ==, 'a' + i % 20);
    }

  close_session (session);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/session/files/round-trip", test_round_trip);
  g_test_add_func ("/session/files/directories", test_directories);
  g_test_add_func ("/session/files/other-kinds", test_other_kinds);
  g_test_add_func ("/session/files/limits", test_limits);
  g_test_add_func ("/session/files/large", test_large);
  g_test_add_func ("/session/files/cancel", test_cancel);
  g_test_add_func ("/session/files/at-once", test_at_once);

  return g_test_run ();
}
