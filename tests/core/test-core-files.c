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

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/core/files/arguments", test_arguments);
  g_test_add_func ("/core/files/invalid", test_invalid);
  g_test_add_func ("/core/files/too-large", test_too_large);

  return g_test_run ();
}
