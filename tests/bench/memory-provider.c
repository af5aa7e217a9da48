/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <sbx.h>
#include <stdlib.h>

/*
 * A provider on the server class that keeps one file in memory, so that what is measured with it is
 * the server.
 */

#define MEMORY_TYPE_SESSION (memory_session_get_type ())
G_DECLARE_FINAL_TYPE (MemorySession, memory_session, MEMORY, SESSION, SbxSession)

struct _MemorySession
{
  SbxSession  parent_instance;

  GBytes     *content;
};

G_DEFINE_FINAL_TYPE (MemorySession, memory_session, SBX_TYPE_SESSION)

static gboolean
memory_session_handle_read_file (SbxSession            *session,
                                 const char            *path,
                                 guint64                max_size,
                                 SbxReadFileInvocation *invocation)
{
  sbx_read_file_invocation_return_bytes (invocation, MEMORY_SESSION (session)->content);

  return TRUE;
}

static gboolean
memory_session_handle_write_file (SbxSession        *session,
                                  const char        *path,
                                  GBytes            *content,
                                  guint              mode,
                                  SbxFileInvocation *invocation)
{
  MemorySession *self = MEMORY_SESSION (session);

  g_bytes_unref (self->content);
  self->content = g_bytes_ref (content);
  sbx_file_invocation_return_done (invocation);

  return TRUE;
}

static gboolean
memory_session_handle_close (SbxSession         *session,
                             SbxCloseInvocation *invocation)
{
  sbx_close_invocation_return_done (invocation);

  return TRUE;
}

static void
memory_session_finalize (GObject *object)
{
  g_bytes_unref (MEMORY_SESSION (object)->content);

  G_OBJECT_CLASS (memory_session_parent_class)->finalize (object);
}

static void
memory_session_class_init (MemorySessionClass *klass)
{
  SbxSessionClass *session_class = SBX_SESSION_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = memory_session_finalize;
  session_class->handle_read_file = memory_session_handle_read_file;
  session_class->handle_write_file = memory_session_handle_write_file;
  session_class->handle_close = memory_session_handle_close;
}

static void
memory_session_init (MemorySession *self)
{
  self->content = g_bytes_new_static ("", 0);
}

#define MEMORY_TYPE_PROVIDER (memory_provider_get_type ())
G_DECLARE_FINAL_TYPE (MemoryProvider, memory_provider, MEMORY, PROVIDER, GObject)

struct _MemoryProvider
{
  GObject parent_instance;
};

static gboolean
memory_provider_handle_open (SbxProvider       *provider,
                             SbxOpenRequest    *request,
                             SbxOpenInvocation *invocation)
{
  g_autoptr(SbxSession) session = g_object_new (MEMORY_TYPE_SESSION, "cwd", "/",
                                                "capabilities", SBX_CAPABILITIES_FILES, NULL);

  sbx_open_invocation_return_session (invocation, session);

  return TRUE;
}

static void
memory_provider_iface_init (SbxProviderInterface *iface)
{
  iface->handle_open = memory_provider_handle_open;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (MemoryProvider, memory_provider, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (SBX_TYPE_PROVIDER,
                                                      memory_provider_iface_init))

static void
memory_provider_class_init (MemoryProviderClass *klass)
{
}

static void
memory_provider_init (MemoryProvider *self)
{
}

int
main (void)
{
  g_autoptr(SbxProvider) provider = g_object_new (MEMORY_TYPE_PROVIDER, NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxProviderServer) server = sbx_provider_server_new_for_stdio (provider, &error);

  if (server != NULL && sbx_provider_server_run (server, NULL, &error))
    return EXIT_SUCCESS;

  g_printerr ("%s\n", error->message);
  return EXIT_FAILURE;
}
