/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-client-session-private.h"

#include "core/sbx-error.h"
#include "core/sbx-file-invocations.h"
#include "core/sbx-invocation-private.h"
#include "wire/sbx-wire-request-private.h"

/*
 * The file verbs. Each is one request and one reply; paths are resolved by the provider.
 */

typedef struct
{
  SbxClientCall     call;
  SbxClientSession *session;
  SbxInvocation    *invocation;
} FileCall;

static void
file_call_clear (SbxClientCall *call)
{
  FileCall *self = (FileCall *) call;

  _sbx_invocation_set_end_func (self->invocation, NULL, NULL);
  g_clear_object (&self->invocation);
  g_clear_object (&self->session);
}

static void
file_call_failed (SbxClientCall *call,
                  const GError  *error)
{
  SbxInvocation *invocation = ((FileCall *) call)->invocation;

  if (!sbx_invocation_is_answered (invocation))
    sbx_invocation_return_gerror (invocation, error);
}

static void
end_cb (SbxInvocation *invocation,
        gpointer       user_data)
{
  _sbx_client_call_cancel (user_data);
}

/* The call that will answer @invocation, or %NULL when it has one already. */
static FileCall *
file_call_new (SbxSession               *session,
               const SbxClientCallClass *klass,
               gpointer                  invocation)
{
  SbxClientSession *self = SBX_CLIENT_SESSION (session);
  SbxClientConnection *connection = _sbx_client_session_get_connection (self, invocation);
  FileCall *call;

  if (connection == NULL)
    return NULL;

  call = _sbx_client_call_new (sizeof *call, klass,
                               _sbx_client_connection_next_number (connection));
  call->session = g_object_ref (self);
  call->invocation = g_object_ref (invocation);
  call->call.timeout_ms = _sbx_client_session_get_timeout (self);

  return call;
}

/* Takes all three. */
static gboolean
file_call_submit (FileCall       *call,
                  SbxWireMessage *message,
                  GError         *error)
{
  SbxClientConnection *connection;

  if (message == NULL)
    {
      file_call_failed (&call->call, error);
      g_error_free (error);
      _sbx_client_call_unref (&call->call);
      return TRUE;
    }

  connection = _sbx_client_session_get_connection (call->session, call->invocation);
  _sbx_invocation_set_end_func (call->invocation, end_cb, call);
  _sbx_client_connection_submit (connection, &call->call, message);

  return TRUE;
}

static GBytes *
session_text (FileCall *call)
{
  return _sbx_client_session_get_text (call->session);
}

static void
done_replied (SbxClientCall *call,
              SbxWireReply  *reply)
{
  SbxInvocation *invocation = ((FileCall *) call)->invocation;

  if (!sbx_invocation_is_answered (invocation))
    sbx_file_invocation_return_done (SBX_FILE_INVOCATION (invocation));
}

static void
content_replied (SbxClientCall *call,
                 SbxWireReply  *reply)
{
  SbxInvocation *invocation = ((FileCall *) call)->invocation;
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) content = NULL;
  gint64 size = -1;

  content = _sbx_wire_reply_get_content (reply, &size, &error);
  if (content == NULL)
    file_call_failed (call, error);
  else if (!sbx_invocation_is_answered (invocation))
    sbx_read_file_invocation_return_bytes (SBX_READ_FILE_INVOCATION (invocation), content);
}

static void
range_replied (SbxClientCall *call,
               SbxWireReply  *reply)
{
  SbxInvocation *invocation = ((FileCall *) call)->invocation;
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) content = NULL;
  gint64 size = -1;

  content = _sbx_wire_reply_get_content (reply, &size, &error);
  if (content == NULL)
    file_call_failed (call, error);
  else if (size < 0)
    {
      error = g_error_new_literal (SBX_ERROR, SBX_ERROR_PROTOCOL,
                                   "The provider did not tell the size of the file in its answer");
      file_call_failed (call, error);
    }
  else if (!sbx_invocation_is_answered (invocation))
    sbx_read_file_invocation_return_range (SBX_READ_FILE_INVOCATION (invocation), content, size);
}

static void
path_replied (SbxClientCall *call,
              SbxWireReply  *reply)
{
  SbxInvocation *invocation = ((FileCall *) call)->invocation;
  g_autoptr(GError) error = NULL;
  g_autofree char *path = _sbx_wire_reply_get_path (reply, &error);

  if (path == NULL)
    file_call_failed (call, error);
  else if (!sbx_invocation_is_answered (invocation))
    sbx_temp_dir_invocation_return_path (SBX_TEMP_DIR_INVOCATION (invocation), path);
}

static void
info_replied (SbxClientCall *call,
              SbxWireReply  *reply)
{
  SbxInvocation *invocation = ((FileCall *) call)->invocation;
  g_autoptr(GError) error = NULL;
  g_autoptr(GFileInfo) info = _sbx_wire_reply_get_info (reply, &error);

  if (info == NULL)
    file_call_failed (call, error);
  else if (!sbx_invocation_is_answered (invocation))
    sbx_stat_invocation_return_info (SBX_STAT_INVOCATION (invocation), info);
}

static void
infos_replied (SbxClientCall *call,
               SbxWireReply  *reply)
{
  SbxInvocation *invocation = ((FileCall *) call)->invocation;
  g_autoptr(GError) error = NULL;
  g_autoptr(GListStore) infos = _sbx_wire_reply_get_infos (reply, &error);

  if (infos == NULL)
    file_call_failed (call, error);
  else if (!sbx_invocation_is_answered (invocation))
    sbx_list_dir_invocation_return_infos (SBX_LIST_DIR_INVOCATION (invocation),
                                          G_LIST_MODEL (infos));
}

#define DEFINE_CLASS(name, func) \
  static const SbxClientCallClass name##_class = { \
    .method = #name, \
    .replied = func, \
    .failed = file_call_failed, \
    .clear = file_call_clear, \
  }

DEFINE_CLASS (read_file, content_replied);
DEFINE_CLASS (write_file, done_replied);
DEFINE_CLASS (create_dir_all, done_replied);
DEFINE_CLASS (create_temp_dir, path_replied);
DEFINE_CLASS (remove, done_replied);
DEFINE_CLASS (list_dir, infos_replied);
DEFINE_CLASS (stat, info_replied);
DEFINE_CLASS (rename, done_replied);
DEFINE_CLASS (copy, done_replied);

static const SbxClientCallClass read_range_class = {
  .method = "read_file",
  .replied = range_replied,
  .failed = file_call_failed,
  .clear = file_call_clear,
};

/* A verb that is asked for with a path and nothing else. */
static gboolean
handle_path (SbxSession               *session,
             const SbxClientCallClass *klass,
             const char               *path,
             gpointer                  invocation)
{
  FileCall *call = file_call_new (session, klass, invocation);
  GError *error = NULL;
  SbxWireMessage *message;

  if (call == NULL)
    return TRUE;

  message = _sbx_wire_request_path (call->call.number, klass->method, session_text (call), path,
                                    &error);

  return file_call_submit (call, message, error);
}

static gboolean
handle_read_file (SbxSession            *session,
                  const char            *path,
                  guint64                max_size,
                  SbxReadFileInvocation *invocation)
{
  return handle_path (session, &read_file_class, path, invocation);
}

static gboolean
handle_write_file (SbxSession        *session,
                   const char        *path,
                   GBytes            *content,
                   guint              mode,
                   SbxFileInvocation *invocation)
{
  FileCall *call = file_call_new (session, &write_file_class, invocation);
  GError *error = NULL;
  SbxWireMessage *message;

  if (call == NULL)
    return TRUE;

  if (!(_sbx_client_session_get_features (call->session) & SBX_WIRE_RANGES))
    mode = 0;
  message = _sbx_wire_request_write_file (call->call.number, session_text (call), path, content,
                                          mode, &error);

  return file_call_submit (call, message, error);
}

static gboolean
handle_create_dir_all (SbxSession        *session,
                       const char        *path,
                       SbxFileInvocation *invocation)
{
  return handle_path (session, &create_dir_all_class, path, invocation);
}

static gboolean
handle_create_temp_dir (SbxSession           *session,
                        const char           *prefix,
                        SbxTempDirInvocation *invocation)
{
  FileCall *call = file_call_new (session, &create_temp_dir_class, invocation);
  GError *error = NULL;
  SbxWireMessage *message;

  if (call == NULL)
    return TRUE;

  message = _sbx_wire_request_create_temp_dir (call->call.number, session_text (call), prefix,
                                               &error);

  return file_call_submit (call, message, error);
}

static gboolean
handle_remove (SbxSession        *session,
               const char        *path,
               SbxFileInvocation *invocation)
{
  return handle_path (session, &remove_class, path, invocation);
}

static gboolean
handle_list_dir (SbxSession           *session,
                 const char           *path,
                 SbxListDirInvocation *invocation)
{
  return handle_path (session, &list_dir_class, path, invocation);
}

static gboolean
handle_stat (SbxSession        *session,
             const char        *path,
             SbxStatInvocation *invocation)
{
  return handle_path (session, &stat_class, path, invocation);
}

static gboolean
handle_read_range (SbxSession            *session,
                   const char            *path,
                   guint64                offset,
                   guint64                length,
                   SbxReadFileInvocation *invocation)
{
  FileCall *call = file_call_new (session, &read_range_class, invocation);
  GError *error = NULL;
  SbxWireMessage *message;

  if (call == NULL)
    return TRUE;

  message = _sbx_wire_request_read_range (call->call.number, session_text (call), path, offset,
                                          length, &error);

  return file_call_submit (call, message, error);
}

static gboolean
handle_write_range (SbxSession        *session,
                    const char        *path,
                    GBytes            *content,
                    guint64            offset,
                    gboolean           truncate,
                    guint              mode,
                    SbxFileInvocation *invocation)
{
  FileCall *call = file_call_new (session, &write_file_class, invocation);
  GError *error = NULL;
  SbxWireMessage *message;

  if (call == NULL)
    return TRUE;

  message = _sbx_wire_request_write_range (call->call.number, session_text (call), path, content,
                                           offset, truncate, mode, &error);

  return file_call_submit (call, message, error);
}

static gboolean
handle_two_paths (SbxSession               *session,
                  const SbxClientCallClass *klass,
                  const char               *path,
                  const char               *new_path,
                  SbxFileInvocation        *invocation)
{
  FileCall *call = file_call_new (session, klass, invocation);
  GError *error = NULL;
  SbxWireMessage *message;

  if (call == NULL)
    return TRUE;

  message = _sbx_wire_request_two_paths (call->call.number, klass->method, session_text (call),
                                         path, new_path, &error);

  return file_call_submit (call, message, error);
}

static gboolean
handle_rename (SbxSession        *session,
               const char        *path,
               const char        *new_path,
               SbxFileInvocation *invocation)
{
  return handle_two_paths (session, &rename_class, path, new_path, invocation);
}

static gboolean
handle_copy (SbxSession        *session,
             const char        *path,
             const char        *new_path,
             SbxFileInvocation *invocation)
{
  return handle_two_paths (session, &copy_class, path, new_path, invocation);
}

void
_sbx_client_session_init_files (SbxSessionClass *klass)
{
  klass->handle_read_file = handle_read_file;
  klass->handle_write_file = handle_write_file;
  klass->handle_create_dir_all = handle_create_dir_all;
  klass->handle_create_temp_dir = handle_create_temp_dir;
  klass->handle_remove = handle_remove;
  klass->handle_list_dir = handle_list_dir;
  klass->handle_stat = handle_stat;
  klass->handle_read_range = handle_read_range;
  klass->handle_write_range = handle_write_range;
  klass->handle_rename = handle_rename;
  klass->handle_copy = handle_copy;
}
