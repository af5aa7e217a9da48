/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core-session.h"

#include <stdarg.h>
#include <string.h>

/* All asynchronous verbs in one shape, so that what holds for all is tested for all. */

void
test_call_cb (GObject      *object,
              GAsyncResult *result,
              gpointer      user_data)
{
  TestCall *call = user_data;

  g_assert_true (call->returned);
  g_assert_null (call->result);
  call->result = g_object_ref (result);
}

void
test_call_clear (TestCall *call)
{
  g_clear_object (&call->result);
}

void
test_run_ready (void)
{
  /* What was made ready by the last round is dispatched in the next. */
  while (g_main_context_iteration (NULL, FALSE))
    continue;
}

SbxCommand *
test_command (const char *first,
              ...)
{
  g_autoptr(GPtrArray) argv = g_ptr_array_new ();
  const char *argument = first;
  va_list arguments;

  va_start (arguments, first);
  while (argument != NULL)
    {
      g_ptr_array_add (argv, (gpointer) argument);
      argument = va_arg (arguments, const char *);
    }
  va_end (arguments);
  g_ptr_array_add (argv, NULL);

  return sbx_command_new ((const char * const *) argv->pdata);
}

static SbxSession *
session_of (TestProvider *provider)
{
  return SBX_SESSION (provider->session);
}

static gboolean
check_result (SbxExecResult *result)
{
  g_autoptr(SbxExecResult) owned = result;

  if (owned == NULL)
    return FALSE;

  g_assert_cmpint (sbx_exec_result_get_outcome (owned), ==, SBX_EXEC_OUTCOME_EXITED);
  g_assert_cmpint (sbx_exec_result_get_exit_code (owned), ==, 3);

  return TRUE;
}

static void
begin_open (TestProvider *provider,
            GCancellable *cancellable,
            TestCall     *call)
{
  g_autoptr(SbxReach) reach = sbx_reach_new ("/work");
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);

  sbx_provider_open_async (SBX_PROVIDER (provider), request, cancellable, test_call_cb, call);
}

static gboolean
end_open (TestCall  *call,
          GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);
  g_autoptr(SbxSession) session = sbx_provider_open_finish (SBX_PROVIDER (source), call->result,
                                                            error);

  if (session != NULL)
    g_assert_true (session == session_of (TEST_PROVIDER (source)));

  return session != NULL;
}

static gboolean
sync_open (TestProvider  *provider,
           GCancellable  *cancellable,
           GError       **error)
{
  g_autoptr(SbxReach) reach = sbx_reach_new ("/work");
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (reach);
  g_autoptr(SbxSession) session = NULL;

  session = sbx_provider_open (SBX_PROVIDER (provider), request, cancellable, error);

  return session != NULL;
}

static void
begin_exec (TestProvider *provider,
            GCancellable *cancellable,
            TestCall     *call)
{
  g_autoptr(SbxCommand) command = test_command ("true", NULL);

  sbx_session_exec_async (session_of (provider), command, cancellable, test_call_cb, call);
}

static gboolean
end_exec (TestCall  *call,
          GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return check_result (sbx_session_exec_finish (SBX_SESSION (source), call->result, error));
}

static gboolean
sync_exec (TestProvider  *provider,
           GCancellable  *cancellable,
           GError       **error)
{
  g_autoptr(SbxCommand) command = test_command ("true", NULL);

  return check_result (sbx_session_exec (session_of (provider), command, cancellable, error));
}

static SbxProcess *
create_process (TestProvider *provider)
{
  g_autoptr(SbxCommand) command = test_command ("true", NULL);

  return sbx_session_create_process (session_of (provider), command);
}

static void
begin_run (TestProvider *provider,
           GCancellable *cancellable,
           TestCall     *call)
{
  g_autoptr(SbxProcess) process = create_process (provider);

  sbx_process_run_async (process, cancellable, test_call_cb, call);
}

static gboolean
end_run (TestCall  *call,
         GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return check_result (sbx_process_run_finish (SBX_PROCESS (source), call->result, error));
}

static gboolean
sync_run (TestProvider  *provider,
          GCancellable  *cancellable,
          GError       **error)
{
  g_autoptr(SbxProcess) process = create_process (provider);

  return check_result (sbx_process_run (process, cancellable, error));
}

static void
begin_start (TestProvider *provider,
             GCancellable *cancellable,
             TestCall     *call)
{
  g_autoptr(SbxProcess) process = create_process (provider);

  sbx_process_start_async (process, cancellable, test_call_cb, call);
}

static gboolean
end_start (TestCall  *call,
           GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return sbx_process_start_finish (SBX_PROCESS (source), call->result, error);
}

static gboolean
sync_start (TestProvider  *provider,
            GCancellable  *cancellable,
            GError       **error)
{
  g_autoptr(SbxProcess) process = create_process (provider);

  return sbx_process_start (process, cancellable, error);
}

static void
begin_spawn (TestProvider *provider,
             GCancellable *cancellable,
             TestCall     *call)
{
  g_autoptr(SbxCommand) command = test_command ("true", NULL);

  sbx_session_spawn_async (session_of (provider), command, cancellable, test_call_cb, call);
}

static gboolean
end_spawn (TestCall  *call,
           GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);
  g_autoptr(SbxProcess) process = sbx_session_spawn_finish (SBX_SESSION (source), call->result,
                                                            error);

  return process != NULL;
}

static gboolean
sync_spawn (TestProvider  *provider,
            GCancellable  *cancellable,
            GError       **error)
{
  g_autoptr(SbxCommand) command = test_command ("true", NULL);
  g_autoptr(SbxProcess) process = sbx_session_spawn (session_of (provider), command, cancellable,
                                                     error);

  return process != NULL;
}

static void
begin_close (TestProvider *provider,
             GCancellable *cancellable,
             TestCall     *call)
{
  sbx_session_close_async (session_of (provider), cancellable, test_call_cb, call);
}

static gboolean
end_close (TestCall  *call,
           GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return sbx_session_close_finish (SBX_SESSION (source), call->result, error);
}

static gboolean
sync_close (TestProvider  *provider,
            GCancellable  *cancellable,
            GError       **error)
{
  return sbx_session_close (session_of (provider), cancellable, error);
}

static gboolean
check_content (GBytes *content)
{
  g_autoptr(GBytes) owned = content;

  if (owned != NULL)
    test_assert_bytes (owned, "content");

  return owned != NULL;
}

static void
begin_read_file (TestProvider *provider,
                 GCancellable *cancellable,
                 TestCall     *call)
{
  sbx_session_read_file_async (session_of (provider), "file", 7, cancellable, test_call_cb, call);
}

static gboolean
end_read_file (TestCall  *call,
               GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return check_content (sbx_session_read_file_finish (SBX_SESSION (source), call->result, error));
}

static gboolean
sync_read_file (TestProvider  *provider,
                GCancellable  *cancellable,
                GError       **error)
{
  return check_content (sbx_session_read_file (session_of (provider), "file", 7, cancellable,
                                               error));
}

static void
begin_write_file (TestProvider *provider,
                  GCancellable *cancellable,
                  TestCall     *call)
{
  g_autoptr(GBytes) content = g_bytes_new_static ("new", 3);

  sbx_session_write_file_async (session_of (provider), "file", content, 0640, cancellable,
                                test_call_cb, call);
}

static gboolean
end_write_file (TestCall  *call,
                GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return sbx_session_write_file_finish (SBX_SESSION (source), call->result, error);
}

static gboolean
sync_write_file (TestProvider  *provider,
                 GCancellable  *cancellable,
                 GError       **error)
{
  g_autoptr(GBytes) content = g_bytes_new_static ("new", 3);

  return sbx_session_write_file (session_of (provider), "file", content, 0640, cancellable, error);
}

static void
begin_create_dir_all (TestProvider *provider,
                      GCancellable *cancellable,
                      TestCall     *call)
{
  sbx_session_create_dir_all_async (session_of (provider), "a/b", cancellable, test_call_cb, call);
}

static gboolean
end_create_dir_all (TestCall  *call,
                    GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return sbx_session_create_dir_all_finish (SBX_SESSION (source), call->result, error);
}

static gboolean
sync_create_dir_all (TestProvider  *provider,
                     GCancellable  *cancellable,
                     GError       **error)
{
  return sbx_session_create_dir_all (session_of (provider), "a/b", cancellable, error);
}

static gboolean
check_made (char *path)
{
  g_autofree char *owned = path;

  if (owned != NULL)
    g_assert_cmpstr (owned, ==, "/tmp/made");

  return owned != NULL;
}

static void
begin_create_temp_dir (TestProvider *provider,
                       GCancellable *cancellable,
                       TestCall     *call)
{
  sbx_session_create_temp_dir_async (session_of (provider), "new-", cancellable, test_call_cb,
                                     call);
}

static gboolean
end_create_temp_dir (TestCall  *call,
                     GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return check_made (sbx_session_create_temp_dir_finish (SBX_SESSION (source), call->result,
                                                         error));
}

static gboolean
sync_create_temp_dir (TestProvider  *provider,
                      GCancellable  *cancellable,
                      GError       **error)
{
  return check_made (sbx_session_create_temp_dir (session_of (provider), "new-", cancellable,
                                                  error));
}

static void
begin_remove (TestProvider *provider,
              GCancellable *cancellable,
              TestCall     *call)
{
  sbx_session_remove_async (session_of (provider), "a", cancellable, test_call_cb, call);
}

static gboolean
end_remove (TestCall  *call,
            GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return sbx_session_remove_finish (SBX_SESSION (source), call->result, error);
}

static gboolean
sync_remove (TestProvider  *provider,
             GCancellable  *cancellable,
             GError       **error)
{
  return sbx_session_remove (session_of (provider), "a", cancellable, error);
}

static gboolean
check_infos (GListModel *infos)
{
  g_autoptr(GListModel) owned = infos;
  g_autoptr(GFileInfo) info = NULL;

  if (owned == NULL)
    return FALSE;

  g_assert_cmpuint (g_list_model_get_n_items (owned), ==, 1);
  info = g_list_model_get_item (owned, 0);
  g_assert_cmpstr (g_file_info_get_name (info), ==, "name");

  return TRUE;
}

static void
begin_list_dir (TestProvider *provider,
                GCancellable *cancellable,
                TestCall     *call)
{
  sbx_session_list_dir_async (session_of (provider), ".", cancellable, test_call_cb, call);
}

static gboolean
end_list_dir (TestCall  *call,
              GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return check_infos (sbx_session_list_dir_finish (SBX_SESSION (source), call->result, error));
}

static gboolean
sync_list_dir (TestProvider  *provider,
               GCancellable  *cancellable,
               GError       **error)
{
  return check_infos (sbx_session_list_dir (session_of (provider), ".", cancellable, error));
}

static gboolean
check_info (GFileInfo *info)
{
  g_autoptr(GFileInfo) owned = info;

  if (owned != NULL)
    g_assert_cmpstr (g_file_info_get_name (owned), ==, "name");

  return owned != NULL;
}

static void
begin_stat (TestProvider *provider,
            GCancellable *cancellable,
            TestCall     *call)
{
  sbx_session_stat_async (session_of (provider), "file", cancellable, test_call_cb, call);
}

static gboolean
end_stat (TestCall  *call,
          GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return check_info (sbx_session_stat_finish (SBX_SESSION (source), call->result, error));
}

static gboolean
sync_stat (TestProvider  *provider,
           GCancellable  *cancellable,
           GError       **error)
{
  return check_info (sbx_session_stat (session_of (provider), "file", cancellable, error));
}

static gboolean
check_range (GBytes  *content,
             guint64  size)
{
  /* That of a session that does not say more. */
  if (content != NULL)
    g_assert_cmpuint (size, ==, 107);

  return check_content (content);
}

static void
begin_read_range (TestProvider *provider,
                  GCancellable *cancellable,
                  TestCall     *call)
{
  sbx_session_read_range_async (session_of (provider), "file", 100, 7, cancellable, test_call_cb,
                                call);
}

static gboolean
end_read_range (TestCall  *call,
                GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);
  guint64 size = 0;
  GBytes *content = sbx_session_read_range_finish (SBX_SESSION (source), call->result, &size,
                                                   error);

  return check_range (content, size);
}

static gboolean
sync_read_range (TestProvider  *provider,
                 GCancellable  *cancellable,
                 GError       **error)
{
  guint64 size = 0;
  GBytes *content = sbx_session_read_range (session_of (provider), "file", 100, 7, &size,
                                            cancellable, error);

  return check_range (content, size);
}

static void
begin_write_range (TestProvider *provider,
                   GCancellable *cancellable,
                   TestCall     *call)
{
  g_autoptr(GBytes) content = g_bytes_new_static ("new", 3);

  sbx_session_write_range_async (session_of (provider), "file", content, 5, TRUE, 0640,
                                 cancellable, test_call_cb, call);
}

static gboolean
end_write_range (TestCall  *call,
                 GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return sbx_session_write_range_finish (SBX_SESSION (source), call->result, error);
}

static gboolean
sync_write_range (TestProvider  *provider,
                  GCancellable  *cancellable,
                  GError       **error)
{
  g_autoptr(GBytes) content = g_bytes_new_static ("new", 3);

  return sbx_session_write_range (session_of (provider), "file", content, 5, TRUE, 0640,
                                  cancellable, error);
}

static void
begin_rename (TestProvider *provider,
              GCancellable *cancellable,
              TestCall     *call)
{
  sbx_session_rename_async (session_of (provider), "a", "b", cancellable, test_call_cb, call);
}

static gboolean
end_rename (TestCall  *call,
            GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return sbx_session_rename_finish (SBX_SESSION (source), call->result, error);
}

static gboolean
sync_rename (TestProvider  *provider,
             GCancellable  *cancellable,
             GError       **error)
{
  return sbx_session_rename (session_of (provider), "a", "b", cancellable, error);
}

static void
begin_copy (TestProvider *provider,
            GCancellable *cancellable,
            TestCall     *call)
{
  sbx_session_copy_async (session_of (provider), "a", "b", cancellable, test_call_cb, call);
}

static gboolean
end_copy (TestCall  *call,
          GError   **error)
{
  g_autoptr(GObject) source = g_async_result_get_source_object (call->result);

  return sbx_session_copy_finish (SBX_SESSION (source), call->result, error);
}

static gboolean
sync_copy (TestProvider  *provider,
           GCancellable  *cancellable,
           GError       **error)
{
  return sbx_session_copy (session_of (provider), "a", "b", cancellable, error);
}

const TestVerb test_verbs[] = {
  { "open", begin_open, end_open, sync_open },
  { "exec", begin_exec, end_exec, sync_exec },
  { "run", begin_run, end_run, sync_run },
  { "start", begin_start, end_start, sync_start },
  { "spawn", begin_spawn, end_spawn, sync_spawn },
  { "read-file", begin_read_file, end_read_file, sync_read_file },
  { "write-file", begin_write_file, end_write_file, sync_write_file },
  { "create-dir-all", begin_create_dir_all, end_create_dir_all, sync_create_dir_all },
  { "create-temp-dir", begin_create_temp_dir, end_create_temp_dir, sync_create_temp_dir },
  { "remove", begin_remove, end_remove, sync_remove },
  { "list-dir", begin_list_dir, end_list_dir, sync_list_dir },
  { "stat", begin_stat, end_stat, sync_stat },
  { "read-range", begin_read_range, end_read_range, sync_read_range },
  { "write-range", begin_write_range, end_write_range, sync_write_range },
  { "rename", begin_rename, end_rename, sync_rename },
  { "copy", begin_copy, end_copy, sync_copy },
  { "close", begin_close, end_close, sync_close },
  { NULL },
};

SbxInvocation **
test_verb_kept (const TestVerb *verb,
                TestProvider   *provider)
{
  return g_str_equal (verb->name, "open") ? &provider->kept : &provider->session->kept;
}

void
test_verb_begin (const TestVerb *verb,
                 TestProvider   *provider,
                 GCancellable   *cancellable,
                 TestCall       *call)
{
  call->returned = FALSE;
  verb->begin (provider, cancellable, call);
  g_assert_null (call->result);
  call->returned = TRUE;
}

void
test_verb_assert_error (const TestVerb *verb,
                        TestCall       *call,
                        GQuark          domain,
                        int             code)
{
  g_autoptr(GError) error = NULL;

  g_assert_false (verb->end (call, &error));
  if (!g_error_matches (error, domain, code))
    g_error ("%s: expected %s %d, got %s", verb->name, g_quark_to_string (domain), code,
             error->message);
}

void
test_verb_assert_success (const TestVerb *verb,
                          TestCall       *call)
{
  g_autoptr(GError) error = NULL;
  const gboolean success = verb->end (call, &error);

  if (error != NULL)
    g_error ("%s: %s", verb->name, error->message);

  g_assert_true (success);
}
