/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core-session.h"

#include <signal.h>

G_DEFINE_FINAL_TYPE (TestSession, test_session, SBX_TYPE_SESSION)

static gboolean
take_call (SbxSession *session,
           const char *name,
           const char *path,
           gpointer    invocation)
{
  TestSession *self = TEST_SESSION (session);

  g_assert_true (SBX_IS_INVOCATION (invocation));
  g_assert_false (sbx_invocation_is_answered (invocation));
  g_string_append_printf (self->calls, "%s ", name);
  g_free (self->path);
  self->path = g_strdup (path);

  return self->behaviour (G_OBJECT (self), invocation);
}

static gboolean
test_session_handle_exec (SbxSession        *session,
                          SbxExecInvocation *invocation)
{
  return take_call (session, "exec", NULL, invocation);
}

static gboolean
test_session_handle_read_file (SbxSession            *session,
                               const char            *path,
                               guint64                max_size,
                               SbxReadFileInvocation *invocation)
{
  TEST_SESSION (session)->max_size = max_size;

  return take_call (session, "read-file", path, invocation);
}

static gboolean
test_session_handle_write_file (SbxSession        *session,
                                const char        *path,
                                GBytes            *content,
                                guint              mode,
                                SbxFileInvocation *invocation)
{
  TestSession *self = TEST_SESSION (session);

  g_clear_pointer (&self->content, g_bytes_unref);
  self->content = g_bytes_ref (content);
  self->mode = mode;

  return take_call (session, "write-file", path, invocation);
}

static gboolean
test_session_handle_create_dir_all (SbxSession        *session,
                                    const char        *path,
                                    SbxFileInvocation *invocation)
{
  return take_call (session, "create-dir-all", path, invocation);
}

static gboolean
test_session_handle_create_temp_dir (SbxSession           *session,
                                     const char           *prefix,
                                     SbxTempDirInvocation *invocation)
{
  return take_call (session, "create-temp-dir", prefix, invocation);
}

static gboolean
test_session_handle_remove (SbxSession        *session,
                            const char        *path,
                            SbxFileInvocation *invocation)
{
  return take_call (session, "remove", path, invocation);
}

static gboolean
test_session_handle_list_dir (SbxSession           *session,
                              const char           *path,
                              SbxListDirInvocation *invocation)
{
  return take_call (session, "list-dir", path, invocation);
}

static gboolean
test_session_handle_stat (SbxSession        *session,
                          const char        *path,
                          SbxStatInvocation *invocation)
{
  return take_call (session, "stat", path, invocation);
}

static gboolean
test_session_handle_read_range (SbxSession            *session,
                                const char            *path,
                                guint64                offset,
                                guint64                length,
                                SbxReadFileInvocation *invocation)
{
  TEST_SESSION (session)->offset = offset;
  TEST_SESSION (session)->max_size = length;

  return take_call (session, "read-range", path, invocation);
}

static gboolean
test_session_handle_write_range (SbxSession        *session,
                                 const char        *path,
                                 GBytes            *content,
                                 guint64            offset,
                                 gboolean           truncate,
                                 guint              mode,
                                 SbxFileInvocation *invocation)
{
  TestSession *self = TEST_SESSION (session);

  g_clear_pointer (&self->content, g_bytes_unref);
  self->content = g_bytes_ref (content);
  self->offset = offset;
  self->truncate = truncate;
  self->mode = mode;

  return take_call (session, "write-range", path, invocation);
}

static gboolean
take_move (SbxSession        *session,
           const char        *name,
           const char        *path,
           const char        *new_path,
           SbxFileInvocation *invocation)
{
  TestSession *self = TEST_SESSION (session);

  g_free (self->new_path);
  self->new_path = g_strdup (new_path);

  return take_call (session, name, path, invocation);
}

static gboolean
test_session_handle_rename (SbxSession        *session,
                            const char        *path,
                            const char        *new_path,
                            SbxFileInvocation *invocation)
{
  return take_move (session, "rename", path, new_path, invocation);
}

static gboolean
test_session_handle_copy (SbxSession        *session,
                          const char        *path,
                          const char        *new_path,
                          SbxFileInvocation *invocation)
{
  return take_move (session, "copy", path, new_path, invocation);
}

static gboolean
test_session_handle_close (SbxSession         *session,
                           SbxCloseInvocation *invocation)
{
  TestSession *self = TEST_SESSION (session);

  g_string_append (self->calls, "close ");

  return self->close_behaviour (G_OBJECT (self), SBX_INVOCATION (invocation));
}

static void
test_session_dispose (GObject *object)
{
  TestSession *self = TEST_SESSION (object);

  g_clear_object (&self->kept);

  G_OBJECT_CLASS (test_session_parent_class)->dispose (object);
}

static void
test_session_finalize (GObject *object)
{
  TestSession *self = TEST_SESSION (object);

  g_string_free (self->calls, TRUE);
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->new_path, g_free);
  g_clear_pointer (&self->content, g_bytes_unref);

  G_OBJECT_CLASS (test_session_parent_class)->finalize (object);
}

static void
test_session_class_init (TestSessionClass *klass)
{
  SbxSessionClass *session_class = SBX_SESSION_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = test_session_dispose;
  G_OBJECT_CLASS (klass)->finalize = test_session_finalize;

  session_class->handle_exec = test_session_handle_exec;
  session_class->handle_read_file = test_session_handle_read_file;
  session_class->handle_write_file = test_session_handle_write_file;
  session_class->handle_create_dir_all = test_session_handle_create_dir_all;
  session_class->handle_create_temp_dir = test_session_handle_create_temp_dir;
  session_class->handle_remove = test_session_handle_remove;
  session_class->handle_list_dir = test_session_handle_list_dir;
  session_class->handle_stat = test_session_handle_stat;
  session_class->handle_close = test_session_handle_close;
  session_class->handle_read_range = test_session_handle_read_range;
  session_class->handle_write_range = test_session_handle_write_range;
  session_class->handle_rename = test_session_handle_rename;
  session_class->handle_copy = test_session_handle_copy;
}

static void
test_session_init (TestSession *self)
{
  self->calls = g_string_new (NULL);
  self->behaviour = test_answer_at_once;
  self->close_behaviour = test_answer_at_once;
}

TestSession *
test_session_new (TestBehaviour behaviour)
{
  TestSession *self = g_object_new (TEST_TYPE_SESSION,
                                    "cwd", "/work",
                                    "capabilities", TEST_ALL_CAPABILITIES,
                                    NULL);

  self->behaviour = behaviour;

  return self;
}

struct _TestBareSession
{
  SbxSession parent_instance;
};

G_DEFINE_FINAL_TYPE (TestBareSession, test_bare_session, SBX_TYPE_SESSION)

static void
test_bare_session_class_init (TestBareSessionClass *klass)
{
}

static void
test_bare_session_init (TestBareSession *self)
{
}

static gboolean
test_provider_handle_open (SbxProvider       *provider,
                           SbxOpenRequest    *request,
                           SbxOpenInvocation *invocation)
{
  TestProvider *self = TEST_PROVIDER (provider);

  self->n_opens++;
  g_set_object (&self->request, request);

  return self->behaviour (G_OBJECT (self), SBX_INVOCATION (invocation));
}

static void
provider_iface_init (SbxProviderInterface *iface)
{
  iface->handle_open = test_provider_handle_open;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (TestProvider, test_provider, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (SBX_TYPE_PROVIDER, provider_iface_init))

static void
test_provider_finalize (GObject *object)
{
  TestProvider *self = TEST_PROVIDER (object);

  g_clear_object (&self->kept);
  g_clear_object (&self->session);
  g_clear_object (&self->request);

  G_OBJECT_CLASS (test_provider_parent_class)->finalize (object);
}

static void
test_provider_class_init (TestProviderClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = test_provider_finalize;
}

static void
test_provider_init (TestProvider *self)
{
}

/* Its session does with calls what it does itself. */
TestProvider *
test_provider_new (TestBehaviour behaviour)
{
  TestProvider *self = g_object_new (TEST_TYPE_PROVIDER, NULL);

  self->behaviour = behaviour;
  self->session = test_session_new (behaviour);
  self->session->close_behaviour = behaviour;

  return self;
}

struct _TestBareProvider
{
  GObject parent_instance;
};

G_DEFINE_FINAL_TYPE_WITH_CODE (TestBareProvider, test_bare_provider, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (SBX_TYPE_PROVIDER, NULL))

static void
test_bare_provider_class_init (TestBareProviderClass *klass)
{
}

static void
test_bare_provider_init (TestBareProvider *self)
{
}

void
test_answer (GObject       *owner,
             SbxInvocation *invocation)
{
  if (SBX_IS_OPEN_INVOCATION (invocation))
    sbx_open_invocation_return_session (SBX_OPEN_INVOCATION (invocation),
                                        SBX_SESSION (TEST_PROVIDER (owner)->session));
  else if (SBX_IS_EXEC_INVOCATION (invocation))
    {
      sbx_exec_invocation_started (SBX_EXEC_INVOCATION (invocation), "17");
      sbx_exec_invocation_return_exited (SBX_EXEC_INVOCATION (invocation), 3);
    }
  else if (SBX_IS_CLOSE_INVOCATION (invocation))
    sbx_close_invocation_return_done (SBX_CLOSE_INVOCATION (invocation));
  else if (SBX_IS_READ_FILE_INVOCATION (invocation))
    {
      g_autoptr(GBytes) bytes = g_bytes_new_static ("content", 7);

      sbx_read_file_invocation_return_bytes (SBX_READ_FILE_INVOCATION (invocation), bytes);
    }
  else if (SBX_IS_FILE_INVOCATION (invocation))
    sbx_file_invocation_return_done (SBX_FILE_INVOCATION (invocation));
  else if (SBX_IS_TEMP_DIR_INVOCATION (invocation))
    sbx_temp_dir_invocation_return_path (SBX_TEMP_DIR_INVOCATION (invocation), "/tmp/made");
  else
    {
      g_autoptr(GFileInfo) info = g_file_info_new ();
      g_autoptr(GListStore) infos = g_list_store_new (G_TYPE_FILE_INFO);

      g_file_info_set_name (info, "name");
      g_list_store_append (infos, info);
      if (SBX_IS_STAT_INVOCATION (invocation))
        sbx_stat_invocation_return_info (SBX_STAT_INVOCATION (invocation), info);
      else
        sbx_list_dir_invocation_return_infos (SBX_LIST_DIR_INVOCATION (invocation),
                                              G_LIST_MODEL (infos));
    }
}

gboolean
test_answer_at_once (GObject       *owner,
                     SbxInvocation *invocation)
{
  test_answer (owner, invocation);
  g_assert_true (sbx_invocation_is_answered (invocation));

  return TRUE;
}

gboolean
test_keep (GObject       *owner,
           SbxInvocation *invocation)
{
  g_set_object (TEST_IS_SESSION (owner) ? &TEST_SESSION (owner)->kept
                                        : &TEST_PROVIDER (owner)->kept, invocation);

  return TRUE;
}

gboolean
test_drop (GObject       *owner,
           SbxInvocation *invocation)
{
  return TRUE;
}

gboolean
test_refuse (GObject       *owner,
             SbxInvocation *invocation)
{
  return FALSE;
}

gboolean
test_answer_and_refuse (GObject       *owner,
                        SbxInvocation *invocation)
{
  test_answer (owner, invocation);

  return FALSE;
}

static void
honour_cb (GCancellable  *cancellable,
           SbxInvocation *invocation)
{
  g_autoptr(GError) error = NULL;

  g_assert_true (g_cancellable_set_error_if_cancelled (cancellable, &error));

  /* It may be told more than once over, and only answers once. */
  if (sbx_invocation_is_answered (invocation))
    return;

  if (SBX_IS_EXEC_INVOCATION (invocation))
    sbx_exec_invocation_return_signalled (SBX_EXEC_INVOCATION (invocation), SIGKILL, FALSE);
  else
    sbx_invocation_return_gerror (invocation, error);
}

gboolean
test_honour (GObject       *owner,
             SbxInvocation *invocation)
{
  g_signal_connect_object (sbx_invocation_get_cancellable (invocation), "cancelled",
                           G_CALLBACK (honour_cb), invocation, 0);

  return test_keep (owner, invocation);
}

typedef struct
{
  GObject       *owner;
  SbxInvocation *invocation;
} Answer;

static gboolean
answer_cb (gpointer user_data)
{
  Answer *answer = user_data;

  test_answer (answer->owner, answer->invocation);

  return G_SOURCE_REMOVE;
}

gboolean
test_answer_in_loop (GObject       *owner,
                     SbxInvocation *invocation)
{
  Answer answer = { owner, invocation };

  g_idle_add (answer_cb, &answer);
  test_wait_for (sbx_invocation_is_answered (invocation));
  test_run_ready ();

  return TRUE;
}

gboolean
test_start_and_keep (GObject       *owner,
                     SbxInvocation *invocation)
{
  if (SBX_IS_EXEC_INVOCATION (invocation))
    sbx_exec_invocation_started (SBX_EXEC_INVOCATION (invocation), "17");

  return test_keep (owner, invocation);
}
