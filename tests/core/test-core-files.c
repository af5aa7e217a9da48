/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core-session.h"

#include <string.h>

/* The file verbs: what reaches an implementation, and what is answered without asking it. */

static void
test_arguments (void)
{
  g_autoptr(TestSession) session = test_session_new (test_answer_at_once);
  SbxSession *base = SBX_SESSION (session);
  g_autoptr(GBytes) content = g_bytes_new_static ("a\0b", 3);
  g_autoptr(GBytes) read = NULL;
  g_autofree char *made = NULL;
  g_autoptr(GListModel) infos = NULL;
  g_autoptr(GFileInfo) info = NULL;

  read = sbx_session_read_file (base, "/a\xff", 0, NULL, NULL);
  g_assert_cmpstr (session->path, ==, "/a\xff");
  g_assert_cmpuint (session->max_size, ==, SBX_READ_FILE_DEFAULT_MAX_SIZE);
  g_clear_pointer (&read, g_bytes_unref);
  read = sbx_session_read_file (base, "b\nc", 12, NULL, NULL);
  g_assert_cmpstr (session->path, ==, "b\nc");
  g_assert_cmpuint (session->max_size, ==, 12);

  g_assert_true (sbx_session_write_file (base, "w", content, 0751, NULL, NULL));
  g_assert_cmpstr (session->path, ==, "w");
  g_assert_true (session->content == content);
  g_assert_cmpuint (session->mode, ==, 0751);

  g_assert_true (sbx_session_create_dir_all (base, "d/e", NULL, NULL));
  g_assert_cmpstr (session->path, ==, "d/e");
  made = sbx_session_create_temp_dir (base, "", NULL, NULL);
  g_assert_cmpstr (session->path, ==, "");
  g_assert_cmpstr (made, ==, "/tmp/made");
  g_assert_true (sbx_session_remove (base, "..", NULL, NULL));
  g_assert_cmpstr (session->path, ==, "..");
  infos = sbx_session_list_dir (base, "/", NULL, NULL);
  g_assert_cmpstr (session->path, ==, "/");
  info = sbx_session_stat (base, "s", NULL, NULL);
  g_assert_cmpstr (session->path, ==, "s");

  g_assert_cmpstr (session->calls->str, ==, "read-file read-file write-file create-dir-all "
                                            "create-temp-dir remove list-dir stat ");
}

static void
test_range_arguments (void)
{
  g_autoptr(TestSession) session = test_session_new (test_answer_at_once);
  SbxSession *base = SBX_SESSION (session);
  g_autoptr(GBytes) content = g_bytes_new_static ("a\0b", 3);
  g_autoptr(GBytes) read = NULL;

  read = sbx_session_read_range (base, "r", 12345678901, G_MAXUINT64, NULL, NULL, NULL);
  test_assert_bytes (read, "content");
  g_assert_cmpstr (session->path, ==, "r");
  g_assert_cmpuint (session->offset, ==, 12345678901);
  g_assert_cmpuint (session->max_size, ==, SBX_READ_FILE_DEFAULT_MAX_SIZE);

  g_assert_true (sbx_session_write_range (base, "w", content, 7, FALSE, 0, NULL, NULL));
  g_assert_cmpstr (session->path, ==, "w");
  g_assert_true (session->content == content);
  g_assert_cmpuint (session->offset, ==, 7);
  g_assert_false (session->truncate);
  g_assert_cmpuint (session->mode, ==, 0644);
  g_assert_true (sbx_session_write_range (base, "w", content, G_MAXINT64 - 3, TRUE, 0600, NULL,
                                          NULL));
  g_assert_cmpuint (session->offset, ==, G_MAXINT64 - 3);
  g_assert_true (session->truncate);
  g_assert_cmpuint (session->mode, ==, 0600);

  g_assert_true (sbx_session_rename (base, "a", "/b\xff", NULL, NULL));
  g_assert_cmpstr (session->path, ==, "a");
  g_assert_cmpstr (session->new_path, ==, "/b\xff");
  g_assert_true (sbx_session_copy (base, "c", "c", NULL, NULL));
  g_assert_cmpstr (session->new_path, ==, "c");

  g_assert_cmpstr (session->calls->str, ==, "read-range write-range write-range rename copy ");
}

static void
test_invalid (void)
{
  g_autoptr(TestSession) session = test_session_new (test_answer_at_once);
  SbxSession *base = SBX_SESSION (session);
  g_autoptr(GBytes) content = g_bytes_new_static ("", 0);
  GError *error = NULL;

#define assert_invalid(call) \
  G_STMT_START { \
    g_assert_false ((gboolean) (call)); \
    g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID); \
    g_clear_error (&error); \
  } G_STMT_END

  assert_invalid (sbx_session_read_file (base, "", 0, NULL, &error) != NULL);
  assert_invalid (sbx_session_write_file (base, "", content, 0644, NULL, &error));
  assert_invalid (sbx_session_create_dir_all (base, "", NULL, &error));
  assert_invalid (sbx_session_remove (base, "", NULL, &error));
  assert_invalid (sbx_session_list_dir (base, "", NULL, &error) != NULL);
  assert_invalid (sbx_session_stat (base, "", NULL, &error) != NULL);
  assert_invalid (sbx_session_create_temp_dir (base, "a/b", NULL, &error) != NULL);
  assert_invalid (sbx_session_create_temp_dir (base, "../", NULL, &error) != NULL);
  assert_invalid (sbx_session_read_range (base, "", 0, 1, NULL, NULL, &error) != NULL);
  assert_invalid (sbx_session_read_range (base, "a", G_MAXUINT64, 1, NULL, NULL, &error) != NULL);
  assert_invalid (sbx_session_read_range (base, "a", G_MAXINT64, 1, NULL, NULL, &error) != NULL);
  assert_invalid (sbx_session_write_range (base, "", content, 0, TRUE, 0644, NULL, &error));
  assert_invalid (sbx_session_write_range (base, "a", content, G_MAXUINT64, TRUE, 0644, NULL,
                                           &error));
  assert_invalid (sbx_session_rename (base, "", "b", NULL, &error));
  assert_invalid (sbx_session_rename (base, "a", "", NULL, &error));
  assert_invalid (sbx_session_copy (base, "", "", NULL, &error));
  assert_invalid (sbx_session_copy (base, "a", "", NULL, &error));
  g_assert_cmpstr (session->calls->str, ==, "");
}

/* More than was asked for does not reach the caller, whoever the provider is. */
static void
test_too_large (void)
{
  g_autoptr(TestSession) session = test_session_new (test_answer_at_once);
  g_autoptr(GBytes) content = NULL;
  g_autoptr(GError) error = NULL;

  content = sbx_session_read_file (SBX_SESSION (session), "a", 7, NULL, &error);
  g_assert_no_error (error);
  test_assert_bytes (content, "content");
  g_assert_null (sbx_session_read_file (SBX_SESSION (session), "a", 6, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
}

static gboolean
answer_range (GObject       *owner,
              SbxInvocation *invocation)
{
  g_autoptr(GBytes) bytes = g_bytes_new_static ("part", 4);

  sbx_read_file_invocation_return_range (SBX_READ_FILE_INVOCATION (invocation), bytes,
                                         G_GUINT64_CONSTANT (5000000000));

  return TRUE;
}

static void
test_range (void)
{
  g_autoptr(TestSession) session = test_session_new (answer_range);
  g_autoptr(GBytes) whole = NULL;
  g_autoptr(GBytes) part = NULL;
  guint64 size = 1;
  g_autoptr(GError) error = NULL;

  part = sbx_session_read_range (SBX_SESSION (session), "a", 9, 4, &size, NULL, &error);
  g_assert_no_error (error);
  test_assert_bytes (part, "part");
  g_assert_cmpuint (size, ==, G_GUINT64_CONSTANT (5000000000));

  /* It is an answer to the other call as well, where it was the whole file. */
  whole = sbx_session_read_file (SBX_SESSION (session), "a", 4, NULL, &error);
  g_assert_no_error (error);
  test_assert_bytes (whole, "part");

  g_assert_null (sbx_session_read_range (SBX_SESSION (session), "a", 9, 3, &size, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_assert_cmpuint (size, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/files/arguments", test_arguments);
  g_test_add_func ("/core/files/range-arguments", test_range_arguments);
  g_test_add_func ("/core/files/invalid", test_invalid);
  g_test_add_func ("/core/files/range", test_range);
  g_test_add_func ("/core/files/too-large", test_too_large);

  return g_test_run ();
}
