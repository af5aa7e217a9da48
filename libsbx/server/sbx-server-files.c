/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "server/sbx-server-private.h"

#include "core/sbx-session-files.h"

/*
 * The file verbs, but for those that read. Paths are those of the sandbox, and what they mean is
 * the session's business.
 */

typedef gboolean (*FinishFunc) (SbxSession    *session,
                                GAsyncResult  *result,
                                GError       **error);

static void
finish (GObject      *object,
        GAsyncResult *result,
        gpointer      user_data,
        FinishFunc    func)
{
  g_autoptr(SbxServerCall) call = user_data;
  g_autoptr(GError) error = NULL;

  if (func (SBX_SESSION (object), result, &error))
    _sbx_server_call_done (call);
  else
    _sbx_server_call_fail (call, error);
}

/* The path of the call, or %NULL when it was answered with what is wrong with it. */
static const char *
take_path (SbxServerCall *call)
{
  g_autoptr(GError) error = NULL;
  const char *path = _sbx_wire_call_get_path (&call->wire, &error);

  if (path == NULL)
    _sbx_server_call_fail (call, error);

  return path;
}

static const char *
take_new_path (SbxServerCall *call)
{
  g_autoptr(GError) error = NULL;
  const char *path = _sbx_wire_call_get_new_path (&call->wire, &error);

  if (path == NULL)
    _sbx_server_call_fail (call, error);

  return path;
}

static void
temp_dir_made_cb (GObject      *object,
                  GAsyncResult *result,
                  gpointer      user_data)
{
  g_autoptr(SbxServerCall) call = user_data;
  g_autofree char *path = NULL;
  g_autoptr(GError) error = NULL;

  path = sbx_session_create_temp_dir_finish (SBX_SESSION (object), result, &error);
  if (path == NULL)
    _sbx_server_call_fail (call, error);
  else
    _sbx_server_call_answer (call, _sbx_wire_answer_path (call->wire.id, path));
}

void
_sbx_server_create_temp_dir (SbxServerCall *call)
{
  g_autoptr(GError) error = NULL;
  const char *prefix = _sbx_wire_call_get_prefix (&call->wire, &error);

  if (prefix == NULL)
    {
      _sbx_server_call_fail (call, error);
      return;
    }

  sbx_session_create_temp_dir_async (call->session->session, prefix, call->cancellable,
                                     temp_dir_made_cb, _sbx_server_call_ref (call));
}

static void
dir_made_cb (GObject      *object,
             GAsyncResult *result,
             gpointer      user_data)
{
  finish (object, result, user_data, sbx_session_create_dir_all_finish);
}

void
_sbx_server_create_dir_all (SbxServerCall *call)
{
  const char *path = take_path (call);

  if (path != NULL)
    sbx_session_create_dir_all_async (call->session->session, path, call->cancellable,
                                      dir_made_cb, _sbx_server_call_ref (call));
}

static void
written_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  finish (object, result, user_data, sbx_session_write_file_finish);
}

static void
range_written_cb (GObject      *object,
                  GAsyncResult *result,
                  gpointer      user_data)
{
  finish (object, result, user_data, sbx_session_write_range_finish);
}

void
_sbx_server_write_file (SbxServerCall *call)
{
  const char *path = take_path (call);
  g_autoptr(GBytes) content = NULL;
  g_autoptr(GError) error = NULL;
  SbxWireRange range = { 0 };

  if (path == NULL)
    return;

  content = _sbx_wire_call_get_content (&call->wire, &error);
  if (content == NULL || !_sbx_wire_call_get_range (&call->wire, &range, &error))
    {
      _sbx_server_call_fail (call, error);
      return;
    }

  if (range.has_range)
    sbx_session_write_range_async (call->session->session, path, content, range.offset,
                                   range.truncate, range.mode, call->cancellable,
                                   range_written_cb, _sbx_server_call_ref (call));
  else
    sbx_session_write_file_async (call->session->session, path, content, range.mode,
                                  call->cancellable, written_cb, _sbx_server_call_ref (call));
}

static void
removed_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  finish (object, result, user_data, sbx_session_remove_finish);
}

void
_sbx_server_remove (SbxServerCall *call)
{
  const char *path = take_path (call);

  if (path != NULL)
    sbx_session_remove_async (call->session->session, path, call->cancellable, removed_cb,
                              _sbx_server_call_ref (call));
}

static void
looked_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  g_autoptr(SbxServerCall) call = user_data;
  g_autoptr(GFileInfo) info = NULL;
  g_autoptr(GError) error = NULL;

  info = sbx_session_stat_finish (SBX_SESSION (object), result, &error);
  if (info == NULL)
    _sbx_server_call_fail (call, error);
  else
    _sbx_server_call_answer (call, _sbx_wire_answer_info (call->wire.id, info));
}

void
_sbx_server_stat (SbxServerCall *call)
{
  const char *path = take_path (call);

  if (path != NULL)
    sbx_session_stat_async (call->session->session, path, call->cancellable, looked_cb,
                            _sbx_server_call_ref (call));
}

static void
renamed_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  finish (object, result, user_data, sbx_session_rename_finish);
}

void
_sbx_server_rename (SbxServerCall *call)
{
  const char *path = take_path (call);
  const char *new_path = path != NULL ? take_new_path (call) : NULL;

  if (new_path != NULL)
    sbx_session_rename_async (call->session->session, path, new_path, call->cancellable,
                              renamed_cb, _sbx_server_call_ref (call));
}

static void
copied_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  finish (object, result, user_data, sbx_session_copy_finish);
}

void
_sbx_server_copy (SbxServerCall *call)
{
  const char *path = take_path (call);
  const char *new_path = path != NULL ? take_new_path (call) : NULL;

  if (new_path != NULL)
    sbx_session_copy_async (call->session->session, path, new_path, call->cancellable, copied_cb,
                            _sbx_server_call_ref (call));
}
