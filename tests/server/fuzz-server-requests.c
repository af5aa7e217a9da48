/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-exec-invocation.h"
#include "core/sbx-file-invocations.h"
#include "core/sbx-invocation.h"
#include "core/sbx-open-invocation.h"
#include "core/sbx-provider.h"
#include "core/sbx-command.h"
#include "core/sbx-session.h"
#include "json/sbx-json-private.h"
#include "server/sbx-provider-server.h"

#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/*
 * One run of a server: a session is opened, then come the lines of the input, then the end.
 * Whatever they are, the run ends, each line that the server writes is JSON, and nothing is left.
 */

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

#define ALL_CAPABILITIES \
  (SBX_CAPABILITIES_EXEC | SBX_CAPABILITIES_SPAWN | SBX_CAPABILITIES_STDIN | \
   SBX_CAPABILITIES_SIGNALS | SBX_CAPABILITIES_TERMINAL | SBX_CAPABILITIES_FILES | \
   SBX_CAPABILITIES_LISTING | SBX_CAPABILITIES_RANGES | SBX_CAPABILITIES_MOVING)

#define FUZZ_TYPE_SESSION (fuzz_session_get_type ())
G_DECLARE_FINAL_TYPE (FuzzSession, fuzz_session, FUZZ, SESSION, SbxSession)

struct _FuzzSession
{
  SbxSession parent_instance;
};

G_DEFINE_FINAL_TYPE (FuzzSession, fuzz_session, SBX_TYPE_SESSION)

static void
cancelled_cb (GCancellable *cancellable,
              gpointer      invocation)
{
  if (!sbx_invocation_is_answered (invocation))
    sbx_exec_invocation_return_signalled (invocation, SIGKILL, FALSE);
}

static gboolean
kill_cb (SbxExecInvocation *invocation,
         int                signal_number,
         gpointer           user_data)
{
  if (signal_number == SIGKILL)
    sbx_exec_invocation_return_signalled (invocation, SIGKILL, FALSE);

  return TRUE;
}

/* The first letter of a program says what becomes of it. */
static gboolean
handle_exec (SbxSession        *session,
             SbxExecInvocation *invocation)
{
  SbxCommand *command = sbx_exec_invocation_get_command (invocation);
  const char *name = sbx_command_get_argv (command)[0];
  GCancellable *cancellable = sbx_invocation_get_cancellable (SBX_INVOCATION (invocation));
  g_autoptr(GBytes) output = g_bytes_new (name, strlen (name));

  if (*name == 'n')
    {
      sbx_exec_invocation_return_not_started (invocation, SBX_NOT_STARTED_NOT_FOUND, 2, "None");
      return TRUE;
    }

  if (*name == 'f')
    return FALSE;

  sbx_exec_invocation_started (invocation, *name == 'i' ? NULL : name);
  sbx_exec_invocation_emit_stdout (invocation, output);
  sbx_exec_invocation_emit_stderr (invocation, output);

  if (*name == 'k')
    {
      /* It stays until it is killed. */
      g_signal_connect (invocation, "kill", G_CALLBACK (kill_cb), NULL);
      g_signal_connect_data (cancellable, "cancelled", G_CALLBACK (cancelled_cb),
                             g_object_ref (invocation), (GClosureNotify) g_object_unref, 0);
      g_object_set_data_full (G_OBJECT (session), name, g_object_ref (invocation),
                              g_object_unref);
      return TRUE;
    }

  sbx_exec_invocation_return_exited (invocation, 3);

  return TRUE;
}

static gboolean
handle_read_file (SbxSession            *session,
                  const char            *path,
                  guint64                max_size,
                  SbxReadFileInvocation *invocation)
{
  g_autoptr(GBytes) bytes = g_bytes_new (path, strlen (path));

  sbx_read_file_invocation_return_bytes (invocation, bytes);

  return TRUE;
}

static gboolean
handle_read_range (SbxSession            *session,
                   const char            *path,
                   guint64                offset,
                   guint64                length,
                   SbxReadFileInvocation *invocation)
{
  g_autoptr(GBytes) bytes = g_bytes_new (path, MIN (length, strlen (path)));

  sbx_read_file_invocation_return_range (invocation, bytes, 1000);

  return TRUE;
}

static gboolean
handle_write_file (SbxSession        *session,
                   const char        *path,
                   GBytes            *content,
                   guint              mode,
                   SbxFileInvocation *invocation)
{
  if (*path == 'f')
    return FALSE;

  sbx_file_invocation_return_done (invocation);

  return TRUE;
}

static gboolean
handle_create_temp_dir (SbxSession           *session,
                        const char           *prefix,
                        SbxTempDirInvocation *invocation)
{
  g_autofree char *path = g_strconcat ("/tmp/", prefix, NULL);

  sbx_temp_dir_invocation_return_path (invocation, path);

  return TRUE;
}

static gboolean
handle_stat (SbxSession        *session,
             const char        *path,
             SbxStatInvocation *invocation)
{
  g_autoptr(GFileInfo) info = g_file_info_new ();

  g_file_info_set_name (info, path);
  g_file_info_set_size (info, 7);
  sbx_stat_invocation_return_info (invocation, info);

  return TRUE;
}

static void
fuzz_session_class_init (FuzzSessionClass *klass)
{
  SbxSessionClass *session_class = SBX_SESSION_CLASS (klass);

  session_class->handle_exec = handle_exec;
  session_class->handle_read_file = handle_read_file;
  session_class->handle_read_range = handle_read_range;
  session_class->handle_write_file = handle_write_file;
  session_class->handle_create_temp_dir = handle_create_temp_dir;
  session_class->handle_stat = handle_stat;
}

static void
fuzz_session_init (FuzzSession *self)
{
}

#define FUZZ_TYPE_PROVIDER (fuzz_provider_get_type ())
G_DECLARE_FINAL_TYPE (FuzzProvider, fuzz_provider, FUZZ, PROVIDER, GObject)

struct _FuzzProvider
{
  GObject parent_instance;
};

static gboolean
handle_open (SbxProvider       *provider,
             SbxOpenRequest    *request,
             SbxOpenInvocation *invocation)
{
  g_autoptr(SbxSession) session = g_object_new (FUZZ_TYPE_SESSION,
                                                "id", "s",
                                                "cwd", "/work",
                                                "capabilities", ALL_CAPABILITIES,
                                                NULL);

  sbx_open_invocation_return_session (invocation, session);

  return TRUE;
}

static void
iface_init (SbxProviderInterface *iface)
{
  iface->handle_open = handle_open;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (FuzzProvider, fuzz_provider, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (SBX_TYPE_PROVIDER, iface_init))

static void
fuzz_provider_class_init (FuzzProviderClass *klass)
{
}

static void
fuzz_provider_init (FuzzProvider *self)
{
}

static const char * const methods[] = {
  "capabilities", "open", "close", "cleanup_group", "create_temp_dir", "create_dir_all",
  "write_file", "read_file", "remove", "exec", "spawn", "shutdown", "cancel", "wait", "kill",
  "list_processes", "write_stdin", "close_stdin", "resize_pty", "list_dir", "stat", "rename",
  "copy",
};

static const char * const params[] = {
  "",
  ",\"argv\":[\"e\"]",
  ",\"argv\":[\"k\"]",
  ",\"argv\":[\"e\"],\"follow\":true",
  ",\"argv\":[\"k\"],\"follow\":true,\"open_stdin\":true",
  ",\"argv\":[\"k\"],\"follow\":true,\"pty\":{\"rows\":1,\"columns\":2}",
  ",\"argv\":[\"n\"],\"timeout_ms\":1,\"collect_limit\":1",
  ",\"path\":\"p\",\"new_path\":\"q\"",
  ",\"path\":\"p\",\"content_base64\":\"AAE=\"",
  ",\"path\":\"p\",\"content_base64\":\"AAE=\",\"offset\":1,\"length\":1,\"truncate\":false",
  ",\"process_id\":\"k\",\"signal\":9,\"data_base64\":\"AAE=\",\"rows\":3,\"columns\":4",
  ",\"request_id\":\"1\"",
  ",\"sandbox_group_id\":\"g\"",
};

/* A line that begins with a byte over 0x80 stands for a request: the byte says of which method, the
 * next one which params, and the line goes on with more of them. */
static void
append_line (GString    *text,
             const char *line,
             gsize       length,
             guint       number)
{
  const guint8 first = length > 0 ? (guint8) line[0] : 0;

  if (first < 0x80)
    {
      g_string_append_len (text, line, (gssize) length);
      g_string_append_c (text, '\n');
      return;
    }

  g_string_append_printf (text, "{\"id\":\"%u\",\"method\":\"%s\",\"params\":{\"session\":{"
                                "\"id\":\"s\"}%s", number, methods[first % G_N_ELEMENTS (methods)],
                          length > 1 ? params[(guint8) line[1] % G_N_ELEMENTS (params)] : "");
  if (length > 2)
    {
      g_string_append_c (text, ',');
      g_string_append_len (text, line + 2, (gssize) length - 2);
    }
  g_string_append (text, "}}\n");
}

static void
write_requests (int           fd,
                const guint8 *data,
                size_t        size)
{
  g_autoptr(GString) text = g_string_new (
    "{\"id\":\"o\",\"method\":\"open\",\"params\":{\"metadata\":{\"protocol_version\":"
    "\"sandbox.v1\",\"request_id\":\"r\",\"sandbox_group_id\":\"g\"},\"profile\":{\"provider\":"
    "\"p\",\"name\":\"n\"},\"workspace_sync\":{\"host_path\":\"/work\"}}}\n");
  const char *line = (const char *) data;
  const char *end = line + size;
  guint number = 0;

  while (line < end)
    {
      const char *newline = memchr (line, '\n', (gsize) (end - line));
      const char *stop = newline != NULL ? newline : end;

      append_line (text, line, (gsize) (stop - line), number++);
      line = stop + 1;
    }

  /* More than the pipe takes is left out: nobody reads yet. */
  g_assert_cmpint (write (fd, text->str, MIN (text->len, 65536)), >, 0);
}

static gboolean
reply_cb (int          fd,
          GIOCondition condition,
          gpointer     user_data)
{
  GString *replies = user_data;
  char chunk[4096];
  const gssize n = read (fd, chunk, sizeof chunk);

  if (n > 0)
    g_string_append_len (replies, chunk, n);

  return G_SOURCE_CONTINUE;
}

static void
check_replies (GString *replies)
{
  g_auto(GStrv) lines = g_strsplit (replies->str, "\n", -1);

  /* A NUL would have cut the text short. */
  g_assert_cmpuint (strlen (replies->str), ==, replies->len);
  g_assert_true (replies->len == 0 || g_str_has_suffix (replies->str, "\n"));

  for (gsize i = 0; lines[i] != NULL && lines[i + 1] != NULL; i++)
    {
      g_autoptr(GBytes) bytes = g_bytes_new_static (lines[i], strlen (lines[i]));
      g_autoptr(GError) error = NULL;
      g_autoptr(JsonNode) node = _sbx_json_parse (bytes, NULL, &error);

      g_assert_no_error (error);
      g_assert_true (JSON_NODE_HOLDS_OBJECT (node));
      g_assert_true (json_object_has_member (json_node_get_object (node), "id"));
    }
}

static void
ended_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  *(gboolean *) user_data = TRUE;
  g_assert_true (sbx_provider_server_run_finish (SBX_PROVIDER_SERVER (object), result, NULL));
}

/* The lowest descriptor that is free, which shows whether one was left open. */
static int
lowest_descriptor (void)
{
  const int fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);

  close (fd);

  return fd;
}

static void
serve (const guint8 *data,
       size_t        size)
{
  g_autoptr(FuzzProvider) provider = g_object_new (FUZZ_TYPE_PROVIDER, NULL);
  g_autoptr(SbxProviderServer) server = NULL;
  g_autoptr(GInputStream) input = NULL;
  g_autoptr(GOutputStream) output = NULL;
  g_autoptr(GString) replies = g_string_new (NULL);
  gboolean ended = FALSE;
  int requests[2];
  int pipe_fds[2];
  guint watch;

  g_assert_true (g_unix_open_pipe (requests, FD_CLOEXEC, NULL));
  g_assert_true (g_unix_open_pipe (pipe_fds, FD_CLOEXEC, NULL));
  g_unix_set_fd_nonblocking (pipe_fds[0], TRUE, NULL);
  input = g_unix_input_stream_new (requests[0], TRUE);
  output = g_unix_output_stream_new (pipe_fds[1], TRUE);
  watch = g_unix_fd_add (pipe_fds[0], G_IO_IN, reply_cb, replies);

  write_requests (requests[1], data, size);
  close (requests[1]);

  server = sbx_provider_server_new (SBX_PROVIDER (provider), input, output);
  sbx_provider_server_run_async (server, NULL, ended_cb, &ended);
  while (!ended)
    g_main_context_iteration (NULL, TRUE);
  while (g_main_context_iteration (NULL, FALSE))
    continue;

  g_source_remove (watch);
  close (pipe_fds[0]);
  check_replies (replies);

  /* Nobody has it any more. */
  g_object_add_weak_pointer (G_OBJECT (server), (gpointer *) &server);
  g_object_unref (server);
  g_assert_null (server);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        size_t        size)
{
  static gboolean warmed_up = FALSE;
  int lowest;

  /* What the library opens once stays open. */
  if (!warmed_up)
    serve (data, 0);
  warmed_up = TRUE;

  lowest = lowest_descriptor ();
  serve (data, size);
  g_assert_cmpint (lowest_descriptor (), ==, lowest);

  return 0;
}
