/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-session-private.h"

#include "bwrap/sbx-bwrap-quarantine-private.h"
#include "bwrap/sbx-init-records-private.h"
#include "core/sbx-error.h"
#include "core/sbx-file-invocations.h"
#include "core/sbx-process-input-private.h"
#include "core/sbx-process-output-private.h"
#include "core/sbx-session-private.h"
#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"
#include "init/sbx-init-protocol-private.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

/*
 * The file verbs. Each is done by a worker inside the sandbox, with the sandbox's rights and seen
 * through its mounts, so that no name that a command swaps meanwhile can lead outside. Content
 * comes through pipes and is bounded here as well: what is inside may lie.
 */

#define MAX_ENTRIES 100000
#define MAX_LIST_SIZE (64 * 1024 * 1024)
#define MAX_PATH_SIZE 4096
#define MAX_STAT_SIZE (16 * 1024)

typedef struct _FileCall FileCall;

/* Answers with the bytes that came. */
typedef void (*AnswerFunc) (FileCall *call,
                            GBytes   *bytes);

struct _FileCall
{
  SbxInvocation  *invocation;
  SbxInitChannel *channel;
  SbxBwrapQuarantine *quarantine;   /* (nullable) of a verb that may make something */
  AnswerFunc      answer;
  SbxInitVerb     verb;
  char           *path;
  char           *new_path;     /* of what is renamed or copied */
  guint64         offset;       /* of the part that is read */
  GSource        *cancelled;
  guint64         id;
  SbxInput        input;
  SbxOutput       output;
  SbxInitEnd      end;
  GError         *error;
  guint           ending    : 1;    /* we asked for it */
  guint           has_ended : 1;
  guint           settling  : 1;
  guint           answered  : 1;
};

static void
file_call_clear (FileCall *call)
{
  if (call->cancelled != NULL)
    g_source_destroy (call->cancelled);

  g_clear_pointer (&call->cancelled, g_source_unref);
  _sbx_output_clear (&call->output);
  _sbx_input_clear (&call->input);
  g_clear_error (&call->error);
  g_clear_object (&call->invocation);
  g_clear_object (&call->channel);
  g_clear_pointer (&call->quarantine, _sbx_bwrap_quarantine_unref);
  g_free (call->path);
  g_free (call->new_path);
}

/* The channel has a reference until the worker has ended, and the call itself one until it has
 * answered. */
static void
file_call_unref (gpointer call)
{
  g_rc_box_release_full (call, (GDestroyNotify) file_call_clear);
}

/* Two names are in it, and for some numbers there is more to say than the system does. */
static GError *
describe_moving (FileCall *call,
                 int       number)
{
  g_autofree char *from = _sbx_text_quote (call->path);
  g_autofree char *to = _sbx_text_quote (call->new_path);

  if (number == EINVAL)
    return g_error_new (G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                        _("%s in the sandbox cannot become %s, which is itself or is within it"),
                        from, to);

  if (number == EXDEV)
    return g_error_new (G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                        _("%s in the sandbox is on another file system than %s; copy it, and "
                          "remove it then"), from, to);

  if (number == EOPNOTSUPP && call->verb == SBX_INIT_VERB_COPY)
    return g_error_new (G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                        _("%s in the sandbox is, or contains, a pipe, a socket or a device, of "
                          "which there are no copies"), from);

  if (call->verb == SBX_INIT_VERB_RENAME)
    return g_error_new (G_IO_ERROR, g_io_error_from_errno (number),
                        _("%s in the sandbox could not be renamed to %s: %s"),
                        from, to, g_strerror (number));

  return g_error_new (G_IO_ERROR, g_io_error_from_errno (number),
                      _("%s in the sandbox could not be copied to %s: %s"),
                      from, to, g_strerror (number));
}

static GError *
describe_failure (FileCall *call)
{
  g_autofree char *quoted = _sbx_text_quote (call->path);
  const int number = call->end.value;

  if (call->error != NULL)
    return g_error_copy (call->error);

  if (call->end.kind == SBX_INIT_END_NOT_STARTED && call->new_path != NULL &&
      call->end.stage == SBX_INIT_STAGE_FILE)
    return describe_moving (call, number);

  if (call->end.kind == SBX_INIT_END_NOT_STARTED && number == EFBIG &&
      call->verb == SBX_INIT_VERB_WRITE_RANGE)
    return g_error_new (SBX_ERROR, SBX_ERROR_TOO_LARGE,
                        _("%s in the sandbox cannot become that large; its file system ends "
                          "before"), quoted);

  if (call->end.kind == SBX_INIT_END_NOT_STARTED && number == EFBIG)
    return g_error_new (SBX_ERROR, SBX_ERROR_TOO_LARGE,
                        _("%s in the sandbox is larger than the limit that was given"), quoted);

  /* The worker's word for a FIFO, a device and the like. */
  if (call->end.kind == SBX_INIT_END_NOT_STARTED && number == EINVAL)
    return g_error_new (G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
                        _("%s in the sandbox is not a regular file"), quoted);

  if (call->end.kind == SBX_INIT_END_NOT_STARTED)
    return g_error_new (G_IO_ERROR, g_io_error_from_errno (number), _("%s in the sandbox: %s"),
                        quoted, g_strerror (number));

  /* Whoever cancelled is told so instead. */
  if (call->ending)
    return g_error_new_literal (SBX_ERROR, SBX_ERROR_CLOSED,
                                _("The session was closed meanwhile"));

  return g_error_new (SBX_ERROR, SBX_ERROR_LOST,
                      _("The work on %s was ended from inside the sandbox"), quoted);
}

/* The worker has ended, and all that it wrote is here. */
static void
file_call_finish (FileCall *call)
{
  g_autoptr(SbxInvocation) invocation = g_object_ref (call->invocation);
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;

  g_assert (!call->answered);
  call->answered = TRUE;

  if (call->error == NULL && call->output.truncated > 0)
    call->end = (SbxInitEnd) { SBX_INIT_END_NOT_STARTED, SBX_INIT_STAGE_FILE, EFBIG };

  if (sbx_invocation_is_answered (invocation))
    g_debug ("Too late: the caller of a file verb no longer waits");
  else if (call->error == NULL && call->end.kind == SBX_INIT_END_EXITED && call->end.value == 0)
    {
      bytes = _sbx_output_collected (&call->output);
      call->answer (call, bytes);
    }
  else
    {
      error = describe_failure (call);
      sbx_invocation_return_gerror (invocation, error);
    }

  file_call_unref (call);
}

static void
settled_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  FileCall *call = user_data;

  _sbx_bwrap_quarantine_tell (call->quarantine);
  file_call_finish (call);
}

/* The same, once what it may have made is put aside. */
static void
file_call_settle (FileCall *call)
{
  if (call->quarantine == NULL || call->error != NULL)
    {
      file_call_finish (call);
      return;
    }

  call->settling = TRUE;
  if (_sbx_bwrap_quarantine_settle (call->quarantine, settled_cb, call))
    file_call_finish (call);
}

static void
output_cb (SbxOutput *output,
           GBytes    *bytes,
           gpointer   user_data)
{
}

static void
output_ended_cb (SbxOutput *output,
                 gpointer   user_data)
{
  FileCall *call = user_data;

  if (call->has_ended && !call->answered && !call->settling)
    file_call_settle (call);
}

static void
ended_cb (const SbxInitEnd *end,
          const GError     *error,
          gpointer          user_data)
{
  FileCall *call = user_data;

  call->has_ended = TRUE;
  if (end != NULL)
    call->end = *end;
  else
    call->error = g_error_copy (error);

  if (call->error != NULL || _sbx_output_is_drained (&call->output))
    file_call_settle (call);
}

static void
started_cb (gint64   pid_inside,
            int      terminal_fd,
            gpointer user_data)
{
}

static gboolean
cancelled_cb (GCancellable *cancellable,
              gpointer      user_data)
{
  FileCall *call = user_data;

  call->ending = TRUE;
  _sbx_init_channel_end (call->channel, call->id);

  return G_SOURCE_REMOVE;
}

static FileCall *
file_call_new (SbxBwrapSession *self,
               SbxInvocation   *invocation,
               const char      *path,
               guint64          max_output,
               AnswerFunc       answer)
{
  FileCall *call = g_rc_box_new0 (FileCall);

  call->channel = g_object_ref (_sbx_bwrap_session_get_channel (self));
  call->answer = answer;
  call->path = g_strdup (path);
  call->invocation = g_object_ref (invocation);
  _sbx_output_init (&call->output, G_OBJECT (invocation),
                    _sbx_session_get_context (SBX_SESSION (self)), max_output,
                    output_cb, output_ended_cb, call);
  call->input.read_fd = call->input.write_fd = -1;

  return call;
}

/* Sends the call off. @content, where there is any, goes to the worker's standard input. */
static void
file_call_start (FileCall           *call,
                 SbxBwrapSession    *self,
                 SbxInitVerb         verb,
                 const char * const *argv,
                 GBytes             *content,
                 gboolean            reads_output)
{
  static const SbxInitExecHandler handler = { started_cb, ended_cb };
  SbxSession *session = SBX_SESSION (self);
  const char * const no_environment[] = { NULL };
  sbx_autofd int stdin_fd = -1;
  sbx_autofd int stdout_fd = -1;
  SbxInitRequest request = {
    verb, argv, no_environment, sbx_session_get_cwd (session), FALSE, 0, 0, -1, -1, -1
  };

  call->verb = verb;
  if (content != NULL &&
      _sbx_input_init (&call->input, _sbx_session_get_context (session), SBX_STDIN_BYTES, content,
                       &call->error))
    stdin_fd = request.stdin_fd = _sbx_input_steal_fd (&call->input);

  if (call->error == NULL && reads_output)
    stdout_fd = request.stdout_fd = _sbx_output_steal_fd (&call->output, &call->error);

  if (call->error == NULL)
    {
      call->id = _sbx_init_channel_exec (call->channel, &request, &handler,
                                         g_rc_box_acquire (call), file_call_unref, &call->error);
      if (call->id == 0)
        file_call_unref (call);
    }

  if (call->id == 0)
    {
      file_call_finish (call);
      return;
    }

  call->cancelled =
    g_cancellable_source_new (sbx_invocation_get_cancellable (call->invocation));
  g_source_set_callback (call->cancelled, G_SOURCE_FUNC (cancelled_cb), call, NULL);
  g_source_attach (call->cancelled, _sbx_session_get_context (session));
  if (call->quarantine != NULL)
    _sbx_bwrap_quarantine_begin (call->quarantine);
  _sbx_input_start (&call->input);
}

/* The same for one that changes something, and tells nothing. */
static void
file_call_change (FileCall           *call,
                  SbxBwrapSession    *self,
                  SbxInitVerb         verb,
                  const char * const *argv,
                  GBytes             *content)
{
  if (_sbx_bwrap_session_get_quarantine (self) != NULL)
    call->quarantine = _sbx_bwrap_quarantine_ref (_sbx_bwrap_session_get_quarantine (self));

  file_call_start (call, self, verb, argv, content, FALSE);
}

static void
answer_bytes (FileCall *call,
              GBytes   *bytes)
{
  sbx_read_file_invocation_return_bytes (SBX_READ_FILE_INVOCATION (call->invocation), bytes);
}

static void
answer_range (FileCall *call,
              GBytes   *bytes)
{
  SbxInitRangeHead head;
  g_autoptr(GBytes) part = NULL;
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  if (size >= sizeof head)
    memcpy (&head, data, sizeof head);

  if (size < sizeof head || head.magic != SBX_INIT_FILE_MAGIC || head.reserved != 0)
    {
      sbx_invocation_return_error (call->invocation, SBX_ERROR_PROTOCOL,
                                   _("The sandbox described a file in a way that makes no sense"));
      return;
    }

  /* Some files are larger than they say, or became so meanwhile. */
  part = g_bytes_new_from_bytes (bytes, sizeof head, size - sizeof head);
  if (size > sizeof head)
    head.size = MAX (head.size, call->offset + (size - sizeof head));

  sbx_read_file_invocation_return_range (SBX_READ_FILE_INVOCATION (call->invocation), part,
                                         head.size);
}

static void
answer_done (FileCall *call,
             GBytes   *bytes)
{
  sbx_file_invocation_return_done (SBX_FILE_INVOCATION (call->invocation));
}

/* A path that a worker in the sandbox made up: it must look like one. */
static void
answer_path (FileCall *call,
             GBytes   *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  g_autofree char *path = g_strndup (data, size);

  if (size == 0 || strlen (path) != size || *path != '/')
    sbx_invocation_return_error (call->invocation, SBX_ERROR_PROTOCOL,
                                 _("The sandbox gave no usable path for its new directory"));
  else
    sbx_temp_dir_invocation_return_path (SBX_TEMP_DIR_INVOCATION (call->invocation), path);
}

static int
compare_names (gconstpointer a,
               gconstpointer b,
               gpointer      user_data)
{
  return strcmp (g_file_info_get_name ((GFileInfo *) a), g_file_info_get_name ((GFileInfo *) b));
}

static void
answer_list (FileCall *call,
             GBytes   *bytes)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GListStore) infos = _sbx_init_records_parse_list (bytes, &error);

  if (infos == NULL)
    {
      sbx_invocation_return_gerror (call->invocation, error);
      return;
    }

  g_list_store_sort (infos, compare_names, NULL);
  sbx_list_dir_invocation_return_infos (SBX_LIST_DIR_INVOCATION (call->invocation),
                                        G_LIST_MODEL (infos));
}

static void
answer_info (FileCall *call,
             GBytes   *bytes)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GFileInfo) info = _sbx_init_records_parse_stat (bytes, &error);

  if (info == NULL)
    sbx_invocation_return_gerror (call->invocation, error);
  else
    sbx_stat_invocation_return_info (SBX_STAT_INVOCATION (call->invocation), info);
}

static gboolean
handle_read_file (SbxSession            *session,
                  const char            *path,
                  guint64                max_size,
                  SbxReadFileInvocation *invocation)
{
  g_autofree char *limit = g_strdup_printf ("%" G_GUINT64_FORMAT, max_size);
  const char * const argv[] = { path, limit, NULL };
  FileCall *call = file_call_new (SBX_BWRAP_SESSION (session), SBX_INVOCATION (invocation), path,
                                  max_size, answer_bytes);

  file_call_start (call, SBX_BWRAP_SESSION (session), SBX_INIT_VERB_READ_FILE, argv, NULL, TRUE);

  return TRUE;
}

static gboolean
handle_write_file (SbxSession        *session,
                   const char        *path,
                   GBytes            *content,
                   guint              mode,
                   SbxFileInvocation *invocation)
{
  g_autofree char *octal = g_strdup_printf ("%o", mode & 0777);
  const char * const argv[] = { path, octal, NULL };
  FileCall *call = file_call_new (SBX_BWRAP_SESSION (session), SBX_INVOCATION (invocation), path,
                                  0, answer_done);

  file_call_change (call, SBX_BWRAP_SESSION (session), SBX_INIT_VERB_WRITE_FILE, argv, content);

  return TRUE;
}

/* The verbs that need a path and give nothing back. */
static gboolean
handle_simple (SbxSession        *session,
               SbxInitVerb        verb,
               const char        *path,
               SbxFileInvocation *invocation)
{
  const char * const argv[] = { path, NULL };
  FileCall *call = file_call_new (SBX_BWRAP_SESSION (session), SBX_INVOCATION (invocation), path,
                                  0, answer_done);

  file_call_change (call, SBX_BWRAP_SESSION (session), verb, argv, NULL);

  return TRUE;
}

static gboolean
handle_create_dir_all (SbxSession        *session,
                       const char        *path,
                       SbxFileInvocation *invocation)
{
  return handle_simple (session, SBX_INIT_VERB_CREATE_DIR_ALL, path, invocation);
}

static gboolean
handle_remove (SbxSession        *session,
               const char        *path,
               SbxFileInvocation *invocation)
{
  return handle_simple (session, SBX_INIT_VERB_REMOVE, path, invocation);
}

static gboolean
handle_create_temp_dir (SbxSession           *session,
                        const char           *prefix,
                        SbxTempDirInvocation *invocation)
{
  const char * const argv[] = { prefix, NULL };
  FileCall *call = file_call_new (SBX_BWRAP_SESSION (session), SBX_INVOCATION (invocation), prefix,
                                  MAX_PATH_SIZE, answer_path);

  file_call_start (call, SBX_BWRAP_SESSION (session), SBX_INIT_VERB_CREATE_TEMP_DIR, argv, NULL,
                   TRUE);

  return TRUE;
}

static gboolean
handle_list_dir (SbxSession           *session,
                 const char           *path,
                 SbxListDirInvocation *invocation)
{
  const char * const argv[] = { path, G_STRINGIFY (MAX_ENTRIES), NULL };
  FileCall *call = file_call_new (SBX_BWRAP_SESSION (session), SBX_INVOCATION (invocation), path,
                                  MAX_LIST_SIZE, answer_list);

  file_call_start (call, SBX_BWRAP_SESSION (session), SBX_INIT_VERB_LIST_DIR, argv, NULL, TRUE);

  return TRUE;
}

static gboolean
handle_stat (SbxSession        *session,
             const char        *path,
             SbxStatInvocation *invocation)
{
  const char * const argv[] = { path, NULL };
  FileCall *call = file_call_new (SBX_BWRAP_SESSION (session), SBX_INVOCATION (invocation), path,
                                  MAX_STAT_SIZE, answer_info);

  file_call_start (call, SBX_BWRAP_SESSION (session), SBX_INIT_VERB_STAT, argv, NULL, TRUE);

  return TRUE;
}

static gboolean
handle_read_range (SbxSession            *session,
                   const char            *path,
                   guint64                offset,
                   guint64                length,
                   SbxReadFileInvocation *invocation)
{
  g_autofree char *start = g_strdup_printf ("%" G_GUINT64_FORMAT, offset);
  g_autofree char *limit = g_strdup_printf ("%" G_GUINT64_FORMAT, length);
  const char * const argv[] = { path, start, limit, NULL };
  FileCall *call = file_call_new (SBX_BWRAP_SESSION (session), SBX_INVOCATION (invocation), path,
                                  length + sizeof (SbxInitRangeHead), answer_range);

  call->offset = offset;
  file_call_start (call, SBX_BWRAP_SESSION (session), SBX_INIT_VERB_READ_RANGE, argv, NULL, TRUE);

  return TRUE;
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
  g_autofree char *octal = g_strdup_printf ("%o", mode & 0777);
  g_autofree char *start = g_strdup_printf ("%" G_GUINT64_FORMAT, offset);
  g_autofree char *size = g_strdup_printf ("%" G_GSIZE_FORMAT, g_bytes_get_size (content));
  const char * const argv[] = { path, octal, start, size, truncate ? "1" : "0", NULL };
  FileCall *call = file_call_new (SBX_BWRAP_SESSION (session), SBX_INVOCATION (invocation), path,
                                  0, answer_done);

  file_call_change (call, SBX_BWRAP_SESSION (session), SBX_INIT_VERB_WRITE_RANGE, argv, content);

  return TRUE;
}

static gboolean
handle_moving (SbxSession        *session,
               SbxInitVerb        verb,
               const char        *path,
               const char        *new_path,
               SbxFileInvocation *invocation)
{
  const char * const argv[] = { path, new_path, NULL };
  FileCall *call = file_call_new (SBX_BWRAP_SESSION (session), SBX_INVOCATION (invocation), path,
                                  0, answer_done);

  call->new_path = g_strdup (new_path);
  file_call_change (call, SBX_BWRAP_SESSION (session), verb, argv, NULL);

  return TRUE;
}

static gboolean
handle_rename (SbxSession        *session,
               const char        *path,
               const char        *new_path,
               SbxFileInvocation *invocation)
{
  return handle_moving (session, SBX_INIT_VERB_RENAME, path, new_path, invocation);
}

static gboolean
handle_copy (SbxSession        *session,
             const char        *path,
             const char        *new_path,
             SbxFileInvocation *invocation)
{
  return handle_moving (session, SBX_INIT_VERB_COPY, path, new_path, invocation);
}

void
_sbx_bwrap_session_init_files (SbxSessionClass *klass)
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
