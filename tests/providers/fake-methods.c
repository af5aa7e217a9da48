/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static GHashTable *session_groups;     /* session -> group */

/* What the session looks like when "strange" is on: it has to come back to the last byte. It is
 * written as a library for JSON would, for that is what may have passed it on. */
#define STRANGE \
  ",\"provider_state_json\":\"{\\\"key\\\": \\\"s3cr3t-state\\\"}\"," \
  "\"x_numbers\":[1,-7,0.1,1.5,1234567890123456789],\"x_text\":\"\\n\303\251/\360\237\230\200\"," \
  "\"x_null\":null,\"x_object\":{\"deep\":[[[{}]],[]],\"b\":true,\"a\":false}," \
  "\"x_base64\":\"AAEC\",\"y_base64\":\"not base64!\""

static char *strange_session;

static gboolean
fail_errno (FakeRequest *request)
{
  fake_answer_error (request, "file_io_failed", g_strerror (errno), FALSE);
  return FALSE;
}

/* What a session may touch is its working directory, and what is below. */
static char *
resolve (FakeRequest *request,
         const char  *cwd)
{
  g_autofree char *path = fake_json_string (fake_json_member (request->params, "path"));
  g_autofree char *whole = NULL;

  if (path == NULL)
    {
      fake_answer_error (request, "invalid_request", "path is missing", FALSE);
      return NULL;
    }
  whole = g_canonicalize_filename (path, cwd);
  if (!g_str_has_prefix (whole, cwd) || (whole[strlen (cwd)] != '/' && whole[strlen (cwd)] != '\0'))
    {
      fake_answer_error (request, "invalid_path", "it is outside", FALSE);
      return NULL;
    }
  return g_steal_pointer (&whole);
}

static void
handle_open (FakeRequest *request)
{
  static guint count;
  const FakeText metadata = fake_json_member (request->params, "metadata");
  const FakeText profile = fake_json_member (request->params, "profile");
  const FakeText sync = fake_json_member (request->params, "workspace_sync");
  g_autofree char *host_path = fake_json_string (fake_json_member (sync, "host_path"));
  g_autofree char *provider = fake_json_string (fake_json_member (profile, "provider"));
  g_autofree char *below = fake_json_string (fake_json_member (request->params, "cwd"));
  g_autofree char *cwd = NULL;
  g_autofree char *id = g_strdup_printf ("fake-%d-%u", (int) getpid (), ++count);
  g_autoptr(GString) session = g_string_new ("{\"id\":");

  if (g_strcmp0 (provider, "fake") != 0)
    {
      fake_answer_error (request, "bad_profile", "this is the provider fake", FALSE);
      return;
    }
  if (host_path == NULL || !g_file_test (host_path, G_FILE_TEST_IS_DIR))
    {
      fake_answer_error (request, "invalid_request", "host_path is no directory", FALSE);
      return;
    }
  cwd = g_canonicalize_filename (below != NULL ? below : ".", host_path);
  fake_json_append (session, id);
  g_string_append (session, ",\"cwd\":");
  fake_json_append (session, cwd);
  g_string_append_printf (session, ",\"capabilities\":{\"exec\":%s",
                          fake_option_is ("capabilities", "no-exec") ? "false" : "true");
  if (fake_option ("features") != NULL)
    {
      g_auto(GStrv) names = g_strsplit (fake_option ("features"), "+", -1);
      g_autofree char *list = g_strjoinv ("\",\"", names);

      g_string_append_printf (session, ",\"features\":[\"%s\"]", list);
    }
  g_string_append_c (session, '}');
  if (fake_option ("strange") != NULL)
    g_string_append (session, STRANGE);
  g_string_append_c (session, '}');
  g_free (strange_session);
  strange_session = g_strdup (session->str);
  g_hash_table_insert (session_groups, g_steal_pointer (&id),
                       fake_json_string (fake_json_member (metadata, "sandbox_group_id")));
  fake_answer (request, session->str);
}

static gboolean
group_equal (gpointer key,
             gpointer value,
             gpointer user_data)
{
  return g_strcmp0 (value, user_data) == 0;
}

static void
handle_cleanup (FakeRequest *request)
{
  g_autofree char *group = fake_json_string (fake_json_member (request->params,
                                                               "sandbox_group_id"));
  const guint n = g_hash_table_foreach_remove (session_groups, group_equal, group);
  g_autofree char *result = g_strdup_printf ("{\"cleaned_count\":%u}", n);

  fake_answer (request, result);
}

static void
handle_capabilities (FakeRequest *request)
{
  g_autoptr(GString) bare = g_string_new (NULL);

  if (fake_option_is ("capabilities", "error"))
    {
      fake_answer_error (request, "unknown_method", "capabilities", FALSE);
      return;
    }
  g_string_printf (bare, "{\"exec\":%s",
                   fake_option_is ("capabilities", "no-exec") ? "false" : "true");
  if (fake_option ("features") != NULL)
    {
      g_auto(GStrv) names = g_strsplit (fake_option ("features"), "+", -1);
      g_autofree char *list = g_strjoinv ("\",\"", names);

      g_string_append_printf (bare, ",\"features\":[\"%s\"]", list);
    }
  g_string_append_c (bare, '}');
  if (fake_option_is ("capabilities", "wrapped"))
    {
      g_string_prepend (bare, "{\"capabilities\":");
      g_string_append_c (bare, '}');
    }
  if (fake_option_is ("capabilities", "junk"))
    g_string_assign (bare, "{\"exec\":\"yes\"}");
  fake_answer (request, bare->str);
}

static void
handle_write (FakeRequest *request,
              const char  *path)
{
  g_autofree char *text = fake_json_string (fake_json_member (request->params, "content_base64"));
  g_autofree char *parent = g_path_get_dirname (path);
  g_autofree guchar *content = NULL;
  gsize size = 0;
  int fd;

  if (text == NULL)
    {
      fake_answer_error (request, "invalid_request", "content_base64 is missing", FALSE);
      return;
    }
  content = fake_decode_base64 (text, &size);
  if (content == NULL)
    {
      fake_answer_error (request, "invalid_request", "content_base64 is none", FALSE);
      return;
    }
  fd = -1;
  if (g_mkdir_with_parents (parent, 0777) == 0)
    fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    {
      fail_errno (request);
      return;
    }
  fake_write (fd, content, size);
  close (fd);
  fake_answer (request, "{}");
}

static void
handle_read (FakeRequest *request,
             const char  *path)
{
  const char *broken = fake_broken_base64 ();
  g_autofree char *content = NULL;
  g_autoptr(GString) result = g_string_new ("{\"content_base64\":");
  gsize size;

  if (broken != NULL)
    {
      g_string_append_printf (result, "%s}", broken);
      fake_answer (request, result->str);
      return;
    }
  if (!g_file_get_contents (path, &content, &size, NULL))
    {
      errno = g_file_test (path, G_FILE_TEST_IS_DIR) ? EISDIR : ENOENT;
      fail_errno (request);
      return;
    }
  g_string_append_c (result, '"');
  fake_append_base64 (result, content, size);
  g_string_append (result, "\"}");
  fake_answer (request, result->str);
}

static gboolean
remove_all (const char *path)
{
  GDir *dir;
  const char *name;

  if (g_unlink (path) == 0 || errno == ENOENT)
    return TRUE;
  dir = g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open (path, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *below = g_build_filename (path, name, NULL);

      remove_all (below);
    }
  g_clear_pointer (&dir, g_dir_close);
  return g_rmdir (path) == 0;
}

static void
handle_temp_dir (FakeRequest *request,
                 const char  *cwd)
{
  g_autofree char *prefix = fake_json_string (fake_json_member (request->params, "prefix"));
  g_autofree char *path = g_strdup_printf ("%s/%sXXXXXX", cwd, prefix != NULL ? prefix : "fake-");
  g_autoptr(GString) result = g_string_new ("{\"path\":");

  if (g_mkdtemp (path) == NULL)
    {
      fail_errno (request);
      return;
    }
  fake_json_append (result, path);
  g_string_append_c (result, '}');
  fake_answer (request, result->str);
}

static void
handle_path (FakeRequest *request,
             const char  *path)
{
  if (g_str_equal (request->method, "write_file"))
    handle_write (request, path);
  else if (g_str_equal (request->method, "read_file"))
    handle_read (request, path);
  else if (g_str_equal (request->method, "create_dir_all") ? g_mkdir_with_parents (path, 0777) == 0
                                                           : remove_all (path))
    fake_answer (request, "{}");
  else
    fail_errno (request);
}

static void
handle_command (FakeRequest *request,
                const char  *cwd)
{
  const FakeText argv = fake_json_member (request->params, "argv");
  g_autofree char *text = fake_json_string (fake_json_member (request->params, "stdin_base64"));
  g_autofree guchar *input = NULL;
  gsize size;
  gsize position = 0;

  if (text != NULL)
    input = fake_decode_base64 (text, &size);
  if (fake_json_element (argv, &position).data == NULL)
    fake_answer_error (request, "bad_request", "argv is empty", FALSE);
  else if (text != NULL && input == NULL)
    fake_answer_error (request, "invalid_request", "stdin_base64 is none", FALSE);
  else if (g_str_equal (request->method, "exec"))
    fake_exec (request, cwd);
  else
    fake_spawn (request, cwd);
}

static void
handle_session (FakeRequest *request)
{
  const FakeText session = fake_json_member (request->params, "session");
  g_autofree char *id = fake_json_string (fake_json_member (session, "id"));
  g_autofree char *cwd = fake_json_string (fake_json_member (session, "cwd"));
  g_autofree char *path = NULL;

  if (fake_option ("strange") != NULL &&
      (session.size != strlen (strange_session) ||
       memcmp (session.data, strange_session, session.size) != 0))
    {
      fake_answer_error (request, "session_changed", "this is not what I said", FALSE);
      return;
    }
  if (g_str_equal (request->method, "close"))
    {
      fake_end_spawned ();
      if (id != NULL)
        g_hash_table_remove (session_groups, id);
      fake_answer (request, "{}");
      return;
    }
  if (id == NULL || cwd == NULL || !g_hash_table_contains (session_groups, id))
    {
      fake_answer_error (request, "unknown_session", "there is no such session", FALSE);
      return;
    }
  if (g_str_equal (request->method, "create_temp_dir"))
    {
      handle_temp_dir (request, cwd);
      return;
    }
  if (g_str_equal (request->method, "exec") || g_str_equal (request->method, "spawn"))
    {
      handle_command (request, cwd);
      return;
    }
  path = resolve (request, cwd);
  if (path != NULL)
    handle_path (request, path);
}

void
fake_handle (FakeRequest *request)
{
  static const char *with_session[] = {
    "close", "create_temp_dir", "create_dir_all", "write_file", "read_file", "remove", "exec",
    "spawn", NULL
  };
  const gboolean retryable = fake_option ("retryable") != NULL;

  if (session_groups == NULL)
    session_groups = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (fake_option_for ("fail", request->method))
    fake_answer_error (request, retryable ? "ssh_not_ready" : "out_of_order",
                       "the machine \"is\" not there\n", retryable);
  else if (g_str_equal (request->method, "capabilities"))
    handle_capabilities (request);
  else if (g_str_equal (request->method, "open"))
    handle_open (request);
  else if (g_str_equal (request->method, "cleanup_group"))
    handle_cleanup (request);
  else if (g_strv_contains (with_session, request->method))
    handle_session (request);
  else
    fake_answer_error (request, "unknown_method", request->method, FALSE);
}
