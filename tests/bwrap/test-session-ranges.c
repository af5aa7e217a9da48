/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

/* Parts of files, renaming and copying, as a caller of a session sees them. */

#define MIB (1024 * 1024)

static void
write_text (SbxSession *session,
            const char *path,
            guint64     offset,
            gboolean    truncate,
            const char *text)
{
  g_autoptr(GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr(GError) error = NULL;

  g_assert_true (sbx_session_write_range (session, path, bytes, offset, truncate, 0, NULL,
                                          &error));
  g_assert_no_error (error);
}

static void
assert_range (SbxSession *session,
              const char *path,
              guint64     offset,
              guint64     length,
              const char *expected,
              guint64     expected_size)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = NULL;
  guint64 size = 1;
  gsize n;
  const char *data;

  bytes = sbx_session_read_range (session, path, offset, length, &size, NULL, &error);
  g_assert_no_error (error);
  data = g_bytes_get_data (bytes, &n);
  g_assert_cmpmem (data, n, expected, strlen (expected));
  g_assert_cmpuint (size, ==, expected_size);
}

static void
assert_outside (Place      *place,
                const char *name,
                const char *expected)
{
  g_autofree char *path = g_build_filename (place->project, name, NULL);
  g_autofree char *content = NULL;

  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, expected);
}

static void
test_capabilities (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);

  g_assert_cmpuint (sbx_session_get_capabilities (session), ==,
                    sbx_provider_get_capabilities (SBX_PROVIDER (place->provider)));
  g_assert_cmpuint (sbx_session_get_capabilities (session) &
                    (SBX_CAPABILITIES_START | SBX_CAPABILITIES_RANGES | SBX_CAPABILITIES_MOVING),
                    ==, SBX_CAPABILITIES_START | SBX_CAPABILITIES_RANGES |
                        SBX_CAPABILITIES_MOVING);
  close_session (session);
}

static void
test_round_trip (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);

  write_text (session, "a/\xff\n", 0, FALSE, "0123456789");
  assert_range (session, "a/\xff\n", 2, 3, "234", 10);
  assert_range (session, "a/\xff\n", 8, G_MAXUINT64 / 4, "89", 10);
  assert_range (session, "a/\xff\n", 10, 5, "", 10);
  assert_range (session, "a/\xff\n", G_GUINT64_CONSTANT (1) << 50, 5, "", 10);
  write_text (session, "a/\xff\n", 4, FALSE, "xy");
  assert_outside (place, "a/\xff\n", "0123xy6789");
  write_text (session, "a/\xff\n", 1, TRUE, "z");
  assert_outside (place, "a/\xff\n", "0z");
  write_text (session, "a/\xff\n", 1, TRUE, "");
  assert_outside (place, "a/\xff\n", "0");
  write_text (session, "new", 0, TRUE, "");
  assert_outside (place, "new", "");
  close_session (session);
}

/* A file in pieces, larger than what is kept of one anywhere on the way. */
static void
test_pieces (void)
{
  enum { PIECE = 3 * MIB + 17, N = 8 };
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree guint8 *data = g_malloc (PIECE * N);
  guint64 size = 0;

  for (gsize i = 0; i < PIECE * N; i++)
    data[i] = (guint8) (i * 2654435761u >> 13);

  /* Backwards, so that all but the last is written into a hole. */
  for (guint i = N; i > 0; i--)
    {
      g_autoptr(GBytes) piece = g_bytes_new_static (data + (gsize) (i - 1) * PIECE, PIECE);
      g_autoptr(GError) error = NULL;

      g_assert_true (sbx_session_write_range (session, "big", piece, (guint64) (i - 1) * PIECE,
                                              FALSE, 0600, NULL, &error));
      g_assert_no_error (error);
    }

  for (guint64 at = 0; at < PIECE * N; at += 5 * MIB)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(GBytes) piece = sbx_session_read_range (session, "big", at, 5 * MIB, &size, NULL,
                                                        &error);

      g_assert_no_error (error);
      g_assert_cmpuint (size, ==, PIECE * N);
      g_assert_cmpmem (g_bytes_get_data (piece, NULL), g_bytes_get_size (piece), data + at,
                       MIN (5 * MIB, size - at));
    }

  close_session (session);
}

/* No more at once than fits, however large the file is; it is not even there. */
static void
test_sparse (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree char *path = g_build_filename (place->project, "sparse", NULL);
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GBytes) end = g_bytes_new_static ("end", 3);
  g_autoptr(GError) error = NULL;
  struct stat status;
  guint64 size = 0;

  /* 1 TiB is more than some file systems have files. */
  if (!sbx_session_write_range (session, "sparse", end, G_GUINT64_CONSTANT (1) << 40, FALSE, 0,
                                NULL, &error))
    {
      g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
      close_session (session);
      return;
    }

  g_assert_cmpint (stat (path, &status), ==, 0);
  g_assert_cmpint (status.st_size, ==, (G_GINT64_CONSTANT (1) << 40) + 3);
  g_assert_cmpint (status.st_blocks, <, 1000);

  bytes = sbx_session_read_range (session, "sparse", 0, G_MAXINT64, &size, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, SBX_READ_FILE_DEFAULT_MAX_SIZE);
  g_assert_cmpuint (size, ==, (G_GUINT64_CONSTANT (1) << 40) + 3);
  assert_range (session, "sparse", G_GUINT64_CONSTANT (1) << 40, 10, "end", size);

  /* Nor does its copy take room. */
  g_assert_true (sbx_session_copy (session, "sparse", "copy", NULL, &error));
  g_assert_no_error (error);
  assert_range (session, "copy", G_GUINT64_CONSTANT (1) << 40, 10, "end", size);
  g_free (path);
  path = g_build_filename (place->project, "copy", NULL);
  g_assert_cmpint (stat (path, &status), ==, 0);
  g_assert_cmpint (status.st_blocks, <, 1000);
  close_session (session);
}

#define assert_fails(call, domain, code) \
  G_STMT_START { \
    g_autoptr(GError) call_error = NULL; \
    GError **error = &call_error; \
    g_assert_false ((gboolean) (call)); \
    g_assert_error (call_error, domain, code); \
  } G_STMT_END

static void
test_other_kinds (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree char *secret = g_build_filename (place->root, "secret", NULL);
  g_autofree char *script = g_strdup_printf ("mkfifo fifo; mkdir dir special; mkfifo special/f; "
                                             "ln -s %s out; echo in > in", secret);
  g_autoptr(GBytes) bytes = g_bytes_new_static ("x", 1);
  g_autofree char *made = NULL;

  g_assert_true (g_file_set_contents (secret, "secret", -1, NULL));
  made = shell_output (session, script);

  assert_fails (sbx_session_read_range (session, "fifo", 0, 1, NULL, NULL, error) != NULL,
                G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_fails (sbx_session_read_range (session, "/dev/zero", 0, 1, NULL, NULL, error) != NULL,
                G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_fails (sbx_session_read_range (session, "out", 0, 1, NULL, NULL, error) != NULL,
                G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  assert_fails (sbx_session_read_range (session, "dir", 0, 1, NULL, NULL, error) != NULL,
                G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY);
  assert_fails (sbx_session_write_range (session, "fifo", bytes, 0, TRUE, 0, NULL, error),
                G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_fails (sbx_session_write_range (session, "/dev/null", bytes, 0, TRUE, 0, NULL, error),
                G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE);
  assert_fails (sbx_session_write_range (session, "dir", bytes, 0, TRUE, 0, NULL, error),
                G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY);
  assert_fails (sbx_session_write_range (session, "in/x", bytes, 0, TRUE, 0, NULL, error),
                G_IO_ERROR, G_IO_ERROR_NOT_DIRECTORY);

  assert_fails (sbx_session_copy (session, "fifo", "copy", NULL, error),
                G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
  assert_fails (sbx_session_copy (session, "special", "copy", NULL, error),
                G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
  assert_fails (sbx_session_copy (session, "dir", "dir/in", NULL, error),
                G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  assert_fails (sbx_session_copy (session, "dir", "in", NULL, error),
                G_IO_ERROR, G_IO_ERROR_EXISTS);
  assert_fails (sbx_session_copy (session, "none", "copy-2", NULL, error),
                G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  assert_fails (sbx_session_rename (session, "dir", "dir/in", NULL, error),
                G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT);
  assert_fails (sbx_session_rename (session, "none", "copy-2", NULL, error),
                G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  assert_fails (sbx_session_rename (session, "in", "/tmp/in", NULL, error),
                G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
  assert_outside (place, "in", "in\n");

  /* The link is what is copied, and not the secret. */
  g_assert_true (sbx_session_copy (session, "out", "out-2", NULL, NULL));
  assert_fails (sbx_session_read_range (session, "out-2", 0, 1, NULL, NULL, error) != NULL,
                G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  close_session (session);
}

static void
test_moving (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autoptr(GError) error = NULL;

  write_text (session, "tree/a/b", 0, TRUE, "b");
  write_text (session, "tree/c", 0, TRUE, "c");
  g_assert_true (sbx_session_copy (session, "tree", "copy", NULL, &error));
  g_assert_no_error (error);
  g_assert_true (sbx_session_rename (session, "tree", "renamed", NULL, &error));
  g_assert_no_error (error);
  g_assert_true (sbx_session_copy (session, "copy/c", "copy/a/b", NULL, &error));
  g_assert_no_error (error);
  g_assert_true (sbx_session_rename (session, "copy/c", "renamed/a/b", NULL, &error));
  g_assert_no_error (error);

  assert_outside (place, "copy/a/b", "c");
  assert_outside (place, "renamed/a/b", "c");
  assert_outside (place, "renamed/c", "c");
  assert_range (session, "renamed/c", 0, 5, "c", 1);

  /* Into a /tmp that only the sandbox has. */
  g_assert_true (sbx_session_copy (session, "renamed", "/tmp/there", NULL, &error));
  g_assert_no_error (error);
  assert_range (session, "/tmp/there/a/b", 0, 5, "c", 1);

  /* Where nothing may be written, nothing is. */
  g_assert_false (sbx_session_copy (session, "renamed", "/usr/there", NULL, &error));
  g_assert_nonnull (error);
  g_clear_error (&error);
  g_assert_false (sbx_session_rename (session, "/usr/bin", "bin", NULL, &error));
  g_assert_nonnull (error);
  close_session (session);
}

static void
copied_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  guint *n_done = user_data;
  g_autoptr(GError) error = NULL;

  if (!sbx_session_copy_finish (SBX_SESSION (object), result, &error))
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  *n_done += 1;
}

static void
test_cancel (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = place_open (place);
  g_autofree char *made G_GNUC_UNUSED = shell_output (session, "mkdir many; cd many; "
                                                      "seq 3000 | xargs touch");

  for (guint n = 0; n < 12; n++)
    {
      g_autofree char *name = g_strdup_printf ("copy-%u", n);
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      guint n_done = 0;

      sbx_session_copy_async (session, "many", name, cancellable, copied_cb, &n_done);
      for (guint i = 0; i < n / 2 && n_done == 0; i++)
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

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/session/ranges/capabilities", test_capabilities);
  g_test_add_func ("/session/ranges/round-trip", test_round_trip);
  g_test_add_func ("/session/ranges/pieces", test_pieces);
  g_test_add_func ("/session/ranges/sparse", test_sparse);
  g_test_add_func ("/session/ranges/other-kinds", test_other_kinds);
  g_test_add_func ("/session/ranges/moving", test_moving);
  g_test_add_func ("/session/ranges/cancel", test_cancel);

  return g_test_run ();
}
