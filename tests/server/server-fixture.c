/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "server-fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

#define ALL_CAPABILITIES \
  (SBX_CAPABILITIES_EXEC | SBX_CAPABILITIES_SPAWN | SBX_CAPABILITIES_STDIN | \
   SBX_CAPABILITIES_SIGNALS | SBX_CAPABILITIES_TERMINAL | SBX_CAPABILITIES_FILES | \
   SBX_CAPABILITIES_LISTING | SBX_CAPABILITIES_RANGES | SBX_CAPABILITIES_MOVING)

static void
cancelled_cb (GCancellable *cancellable,
              gpointer      invocation)
{
  g_autoptr(GError) error = NULL;

  g_cancellable_set_error_if_cancelled (cancellable, &error);
  sbx_invocation_return_gerror (invocation, error);
}

/* The profile says what becomes of it. */
static gboolean
handle_open (SbxProvider       *provider,
             SbxOpenRequest    *request,
             SbxOpenInvocation *invocation)
{
  TestMemoryProvider *self = TEST_MEMORY_PROVIDER (provider);
  const char *profile = sbx_open_request_get_profile (request);
  static guint n_opened = 0;
  g_autofree char *id = g_strdup_printf ("s%u", ++n_opened);
  SbxCapabilities able = g_str_equal (profile, "plain") ? SBX_CAPABILITIES_FILES
                                                        : ALL_CAPABILITIES;

  g_set_object (&self->request, request);

  if (g_str_equal (profile, "none"))
    {
      sbx_invocation_return_error (SBX_INVOCATION (invocation), SBX_ERROR_NOT_ENFORCEABLE,
                                   "No namespaces");
      return TRUE;
    }

  if (g_str_equal (profile, "exception"))
    return FALSE;

  if (g_str_equal (profile, "keep") || g_str_equal (profile, "stuck"))
    {
      g_set_object (&self->kept, SBX_INVOCATION (invocation));
      if (g_str_equal (profile, "keep"))
        g_signal_connect_object (sbx_invocation_get_cancellable (self->kept), "cancelled",
                                 G_CALLBACK (cancelled_cb), invocation, 0);
      return TRUE;
    }

  g_clear_object (&self->session);
  self->session = g_object_new (TEST_TYPE_MEMORY_SESSION,
                                "id", g_str_equal (profile, "same") ? "same" : id,
                                "cwd", "/work",
                                "capabilities", able,
                                NULL);
  sbx_open_invocation_return_session (invocation, SBX_SESSION (self->session));

  return TRUE;
}

static gboolean
handle_cleanup_group (SbxProvider          *provider,
                      const char           *group,
                      SbxCleanupInvocation *invocation)
{
  TestMemoryProvider *self = TEST_MEMORY_PROVIDER (provider);

  g_string_append_printf (self->cleaned, "%s ", group);
  sbx_cleanup_invocation_return_count (invocation, self->n_to_clean);

  return TRUE;
}

static SbxCapabilities
get_capabilities (SbxProvider *provider)
{
  return ALL_CAPABILITIES;
}

static void
provider_iface_init (SbxProviderInterface *iface)
{
  iface->handle_open = handle_open;
  iface->handle_cleanup_group = handle_cleanup_group;
  iface->get_capabilities = get_capabilities;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (TestMemoryProvider, test_memory_provider, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (SBX_TYPE_PROVIDER, provider_iface_init))

static void
test_memory_provider_finalize (GObject *object)
{
  TestMemoryProvider *self = TEST_MEMORY_PROVIDER (object);

  g_clear_object (&self->session);
  g_clear_object (&self->kept);
  g_clear_object (&self->request);
  g_string_free (self->cleaned, TRUE);

  G_OBJECT_CLASS (test_memory_provider_parent_class)->finalize (object);
}

static void
test_memory_provider_class_init (TestMemoryProviderClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = test_memory_provider_finalize;
}

static void
test_memory_provider_init (TestMemoryProvider *self)
{
  self->cleaned = g_string_new (NULL);
}

static gboolean
readable_cb (int          fd,
             GIOCondition condition,
             gpointer     user_data)
{
  Place *self = user_data;
  char chunk[64 * 1024];
  const gssize n_read = read (fd, chunk, sizeof chunk);

  if (n_read > 0)
    {
      g_string_append_len (self->received, chunk, n_read);
      return G_SOURCE_CONTINUE;
    }

  if (n_read < 0 && errno == EAGAIN)
    return G_SOURCE_CONTINUE;

  self->watch = 0;

  return G_SOURCE_REMOVE;
}

void
place_stop_reading (Place *self)
{
  if (self->watch > 0)
    g_source_remove (self->watch);
  self->watch = 0;
}

void
place_read_on (Place *self)
{
  if (self->watch == 0)
    self->watch = g_unix_fd_add (self->reply_fd, G_IO_IN | G_IO_HUP, readable_cb, self);
}

Place *
place_new_idle (void)
{
  Place *self = g_new0 (Place, 1);
  g_autoptr(GInputStream) input = NULL;
  g_autoptr(GOutputStream) output = NULL;
  int requests[2];
  int replies[2];

  g_assert_true (g_unix_open_pipe (requests, FD_CLOEXEC, NULL));
  g_assert_true (g_unix_open_pipe (replies, FD_CLOEXEC, NULL));
  input = g_unix_input_stream_new (requests[0], TRUE);
  output = g_unix_output_stream_new (replies[1], TRUE);
  self->request_fd = requests[1];
  self->reply_fd = replies[0];
  g_unix_set_fd_nonblocking (self->request_fd, TRUE, NULL);
  g_unix_set_fd_nonblocking (self->reply_fd, TRUE, NULL);

  self->provider = g_object_new (TEST_TYPE_MEMORY_PROVIDER, NULL);
  self->server = sbx_provider_server_new (SBX_PROVIDER (self->provider), input, output);
  self->cancellable = g_cancellable_new ();
  self->received = g_string_new (NULL);
  place_read_on (self);

  return self;
}

void
place_run (Place *self)
{
  sbx_provider_server_run_async (self->server, self->cancellable, test_store_result, &self->ended);
}

Place *
place_new (void)
{
  Place *self = place_new_idle ();

  place_run (self);

  return self;
}

void
place_send_bytes (Place      *self,
                  const void *bytes,
                  gsize       size)
{
  const char *data = bytes;

  while (size > 0)
    {
      const gssize n = write (self->request_fd, data, size);

      if (n > 0)
        {
          data += n;
          size -= n;
        }
      else
        {
          g_assert_cmpint (errno, ==, EAGAIN);
          g_main_context_iteration (NULL, FALSE);
        }
    }
}

void
place_send (Place      *self,
            const char *line)
{
  place_send_bytes (self, line, strlen (line));
  place_send_bytes (self, "\n", 1);
}

void
place_send_to (Place      *self,
               const char *session_id,
               const char *format)
{
  g_autofree char *session = g_strdup_printf ("\"session\":{\"id\":\"%s\"}", session_id);
  g_autoptr(GString) line = g_string_new (format);

  g_assert_cmpuint (g_string_replace (line, "$S", session, 0), ==, 1);
  place_send (self, line->str);
}

gboolean
place_has_line (Place *self)
{
  return memchr (self->received->str, '\n', self->received->len) != NULL;
}

char *
place_receive (Place *self)
{
  char *line;
  gsize length;

  test_wait_for (place_has_line (self) || self->watch == 0);
  g_assert_true (place_has_line (self));

  length = strcspn (self->received->str, "\n");
  line = g_strndup (self->received->str, length);
  g_string_erase (self->received, 0, (gssize) length + 1);

  return line;
}

void
place_wait (Place *self)
{
  g_autoptr(GError) error = NULL;

  test_wait_for (self->ended != NULL);
  g_assert_true (sbx_provider_server_run_finish (self->server, self->ended, &error));
  g_assert_no_error (error);
  g_clear_object (&self->ended);
  g_assert_cmpuint (sbx_provider_server_get_n_sessions (self->server), ==, 0);
  g_assert_cmpuint (sbx_provider_server_get_n_pending (self->server), ==, 0);
}

void
place_close (Place *self)
{
  close (self->request_fd);
  self->request_fd = -1;
  place_wait (self);
}

char *
place_open (Place *self)
{
  g_autofree char *line = NULL;
  const char *start = "{\"id\":\"open\",\"result\":{\"id\":\"";

  place_send (self, OPEN_LINE ("open", "default", "g"));
  line = place_receive (self);
  g_assert_true (g_str_has_prefix (line, start));

  return g_strndup (line + strlen (start), strcspn (line + strlen (start), "\""));
}

void
place_free (Place *self)
{
  /* Nothing holds a server that has run. */
  g_assert_null (self->ended);
  place_stop_reading (self);
  test_assert_finalizes (self->server);
  test_assert_finalizes (self->provider);
  g_clear_object (&self->cancellable);
  if (self->request_fd >= 0)
    close (self->request_fd);
  if (self->reply_fd >= 0)
    close (self->reply_fd);
  g_string_free (self->received, TRUE);
  g_free (self);
}
