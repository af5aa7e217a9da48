/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-init-channel-private.h"

#include "bwrap/sbx-init-channel-struct-private.h"
#include "bwrap/sbx-init-pack-private.h"
#include "bwrap/sbx-init-receive-private.h"
#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"

#include <errno.h>
#include <glib-unix.h>
#include <glib/gi18n-lib.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>

G_STATIC_ASSERT ((int) SBX_INIT_VERB_STAT == SBX_INIT_DO_STAT);
G_STATIC_ASSERT ((int) SBX_INIT_VERB_COPY == SBX_INIT_DO_COPY);
G_STATIC_ASSERT ((int) SBX_INIT_VERB_COPY == SBX_INIT_N_VERBS - 1);
G_STATIC_ASSERT ((int) SBX_INIT_END_LOST == SBX_INIT_ENDED_LOST);
G_STATIC_ASSERT ((int) SBX_INIT_STAGE_FILE == SBX_INIT_AT_FILE);

G_DEFINE_FINAL_TYPE (SbxInitChannel, _sbx_init_channel, G_TYPE_OBJECT)

enum
{
  CHANGED,
  IDLE,
  LOST,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static void
exec_free (SbxInitExec *exec)
{
  if (exec->destroy != NULL)
    exec->destroy (exec->user_data);
  g_clear_error (&exec->error);
  g_free (exec);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxInitExec, exec_free)

void
_sbx_init_channel_clear_source (GSource **source)
{
  if (*source != NULL)
    {
      g_source_destroy (*source);
      g_clear_pointer (source, g_source_unref);
    }
}

GSource *
_sbx_init_channel_attach (SbxInitChannel *self,
                          GSource        *source,
                          GSourceFunc     func,
                          gpointer        user_data,
                          GDestroyNotify  destroy)
{
  g_source_set_callback (source, func, user_data, destroy);
  g_source_attach (source, self->context);

  return source;
}

void
_sbx_init_channel_finish_exec (SbxInitChannel   *self,
                               guint64           id,
                               const SbxInitEnd *end,
                               const GError     *error)
{
  gpointer stolen = NULL;
  g_autoptr(SbxInitExec) exec = NULL;

  if (!g_hash_table_steal_extended (self->execs, &id, NULL, &stolen))
    return;

  exec = stolen;
  if (exec->error != NULL)
    error = exec->error;

  if (self->state == SBX_INIT_CHANNEL_READY && g_hash_table_size (self->execs) == 0)
    g_signal_emit (self, signals[IDLE], 0);

  exec->handler.ended (error == NULL ? end : NULL, error, exec->user_data);
}

static void
fail_execs (SbxInitChannel *self,
            const GError   *error)
{
  g_autofree gpointer *keys = NULL;
  g_autofree guint64 *ids = NULL;
  guint n;

  /* A callback may do anything to the table: look each id up afresh. */
  keys = g_hash_table_get_keys_as_array (self->execs, &n);
  ids = g_new (guint64, n + 1);
  for (guint i = 0; i < n; i++)
    ids[i] = *(const guint64 *) keys[i];

  for (guint i = 0; i < n; i++)
    _sbx_init_channel_finish_exec (self, ids[i], NULL, error);
}

GTask *
_sbx_init_channel_take_setup (SbxInitChannel *self)
{
  _sbx_init_channel_clear_source (&self->setup_cancelled);
  return g_steal_pointer (&self->setup_task);
}

void
_sbx_init_channel_emit_changed (SbxInitChannel *self)
{
  g_signal_emit (self, signals[CHANGED], 0);
}

void
_sbx_init_channel_kill (SbxInitChannel *self)
{
  struct pollfd gone = { .fd = self->pidfd, .events = POLLIN };

  if (self->pidfd < 0 ||
      syscall (SYS_pidfd_send_signal, self->pidfd, SIGKILL, NULL, 0) == 0 || errno != ENOSYS)
    return;

  /* Not in a kernel that has pidfds, but under valgrind. */
  if (poll (&gone, 1, 0) == 0)
    kill (self->pid, SIGKILL);
}

/* Closing the socket is what process 1 ends for. */
static void
close_socket (SbxInitChannel *self)
{
  _sbx_init_channel_clear_source (&self->input);
  g_clear_pointer (&self->outbox, _sbx_init_outbox_free);
  _sbx_clear_fd (&self->fd);
}

void
_sbx_init_channel_lose (SbxInitChannel *self,
                        const GError   *error)
{
  const gboolean unasked = self->state == SBX_INIT_CHANNEL_SETTING_UP ||
                           self->state == SBX_INIT_CHANNEL_READY;
  g_autoptr(SbxInitChannel) keep G_GNUC_UNUSED = g_object_ref (self);
  g_autoptr(GTask) task = NULL;
  g_autoptr(GTask) check = NULL;

  if (self->state == SBX_INIT_CHANNEL_LOST)
    return;

  self->state = SBX_INIT_CHANNEL_LOST;
  self->cause = g_error_copy (error);
  close_socket (self);
  task = _sbx_init_channel_take_setup (self);
  check = _sbx_init_channel_take_check (self);

  /* Its word that it ends is worth nothing now. */
  if (unasked)
    _sbx_init_channel_kill (self);

  fail_execs (self, self->cause);
  if (check != NULL)
    g_task_return_error (check, g_error_copy (self->cause));
  if (task != NULL)
    g_task_return_error (task, g_error_copy (self->cause));
  else if (unasked)
    g_signal_emit (self, signals[LOST], 0, self->cause);
}

void
_sbx_init_channel_send (SbxInitChannel       *self,
                        const SbxInitMessage *message,
                        const int            *fds,
                        gsize                 n_fds)
{
  if (self->outbox != NULL)
    _sbx_init_outbox_send (self->outbox, message, fds, n_fds);
}

SbxInitMessage
_sbx_init_channel_message (guint16 type,
                           guint64 id)
{
  return (SbxInitMessage) { .head = { SBX_INIT_MAGIC, SBX_INIT_VERSION, type, id } };
}

static void
send_failed_cb (guint64       id,
                const GError *error,
                gpointer      user_data)
{
  SbxInitChannel *self = user_data;
  g_autoptr(SbxInitChannel) keep G_GNUC_UNUSED = g_object_ref (self);

  if (id != 0)
    _sbx_init_channel_finish_exec (self, id, NULL, error);
  else
    _sbx_init_channel_lose (self, error);
}

/* Ends that come from a source although nothing came from the sandbox. */
typedef struct
{
  SbxInitChannel *channel;     /* (nullable) */
  guint64         id;
  SbxInitEnd      end;
  GHashTable     *execs;       /* (nullable) what a disposed channel left */
  GPtrArray      *tasks;       /* (nullable) the same */
} Later;

static void
later_free (Later *later)
{
  g_clear_object (&later->channel);
  g_clear_pointer (&later->execs, g_hash_table_unref);
  g_clear_pointer (&later->tasks, g_ptr_array_unref);
  g_free (later);
}

static gboolean
end_later_cb (gpointer user_data)
{
  Later *later = user_data;

  _sbx_init_channel_finish_exec (later->channel, later->id, &later->end, NULL);
  return G_SOURCE_REMOVE;
}

static gboolean
disposed_cb (gpointer user_data)
{
  Later *later = user_data;
  g_autoptr(GError) error = g_error_new_literal (SBX_ERROR, SBX_ERROR_CLOSED,
                                                 _("The sandbox was closed"));
  GHashTableIter iter;
  gpointer exec;

  g_hash_table_iter_init (&iter, later->execs);
  while (g_hash_table_iter_next (&iter, NULL, &exec))
    ((SbxInitExec *) exec)->handler.ended (NULL, error, ((SbxInitExec *) exec)->user_data);

  for (guint i = 0; i < later->tasks->len; i++)
    g_task_return_error (later->tasks->pdata[i], g_error_copy (error));

  return G_SOURCE_REMOVE;
}

static void
later_attach (SbxInitChannel *self,
              Later          *later,
              GSourceFunc     func)
{
  g_autoptr(GSource) source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  _sbx_init_channel_attach (self, source, func, later, (GDestroyNotify) later_free);
}

static void
_sbx_init_channel_dispose (GObject *object)
{
  SbxInitChannel *self = SBX_INIT_CHANNEL (object);
  GTask *task = _sbx_init_channel_take_setup (self);

  close_socket (self);
  _sbx_init_channel_clear_source (&self->gone);
  _sbx_init_channel_clear_source (&self->grace);
  self->state = SBX_INIT_CHANNEL_LOST;
  if (self->cause == NULL)
    self->cause = g_error_new_literal (SBX_ERROR, SBX_ERROR_CLOSED, _("The sandbox was closed"));

  if (task != NULL)
    g_ptr_array_add (self->close_tasks, task);
  task = _sbx_init_channel_take_check (self);
  if (task != NULL)
    g_ptr_array_add (self->close_tasks, task);

  if (g_hash_table_size (self->execs) > 0 || self->close_tasks->len > 0)
    {
      Later *later = g_new0 (Later, 1);

      later->execs = g_steal_pointer (&self->execs);
      later->tasks = g_steal_pointer (&self->close_tasks);
      self->execs = g_hash_table_new (g_int64_hash, g_int64_equal);
      self->close_tasks = g_ptr_array_new_with_free_func (g_object_unref);
      later_attach (self, later, disposed_cb);
    }

  G_OBJECT_CLASS (_sbx_init_channel_parent_class)->dispose (object);
}

static void
free_expectations (SbxInitChannel *self)
{
  for (gsize i = 0; i < self->n_expectations; i++)
    g_free ((char *) self->expectations[i].path);
  g_clear_pointer (&self->expectations, g_free);
  self->n_expectations = 0;
}

static void
_sbx_init_channel_finalize (GObject *object)
{
  SbxInitChannel *self = SBX_INIT_CHANNEL (object);

  free_expectations (self);
  _sbx_clear_fd (&self->pidfd);
  g_clear_error (&self->cause);
  g_clear_pointer (&self->checked, g_array_unref);
  g_hash_table_unref (self->execs);
  g_ptr_array_unref (self->close_tasks);
  g_main_context_unref (self->context);

  G_OBJECT_CLASS (_sbx_init_channel_parent_class)->finalize (object);
}

static void
_sbx_init_channel_class_init (SbxInitChannelClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = _sbx_init_channel_dispose;
  object_class->finalize = _sbx_init_channel_finalize;

  signals[CHANGED] = g_signal_new ("changed", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
  signals[IDLE] = g_signal_new ("idle", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 0);
  signals[LOST] = g_signal_new ("lost", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                NULL, G_TYPE_NONE, 1, G_TYPE_ERROR | G_SIGNAL_TYPE_STATIC_SCOPE);
}

static void
_sbx_init_channel_init (SbxInitChannel *self)
{
  self->fd = -1;
  self->pidfd = -1;
  self->execs = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL,
                                       (GDestroyNotify) exec_free);
  self->close_tasks = g_ptr_array_new_with_free_func (g_object_unref);
  self->context = g_main_context_ref_thread_default ();
}

SbxInitChannel *
_sbx_init_channel_new (int socket_fd)
{
  SbxInitChannel *self = g_object_new (SBX_TYPE_INIT_CHANNEL, NULL);
  self->fd = socket_fd;
  self->outbox = _sbx_init_outbox_new (socket_fd, self->context, send_failed_cb, self);
  _sbx_init_receive_ask_for_sender (socket_fd, TRUE);

  return self;
}

static gboolean
setup_cancelled_cb (GCancellable *cancellable,
                    gpointer      user_data)
{
  g_autoptr(GError) error = NULL;

  g_cancellable_set_error_if_cancelled (cancellable, &error);
  _sbx_init_channel_lose (user_data, error);

  return G_SOURCE_REMOVE;
}

void
_sbx_init_channel_setup_async (SbxInitChannel            *self,
                               const SbxInitExpectation  *expectations,
                               gsize                      n_expectations,
                               GCancellable              *cancellable,
                               GAsyncReadyCallback        callback,
                               gpointer                   user_data)
{
  g_autoptr(GTask) task = g_task_new (self, cancellable, callback, user_data);
  g_autoptr(GError) error = NULL;

  g_task_set_source_tag (task, _sbx_init_channel_setup_async);
  g_task_set_check_cancellable (task, FALSE);

  if (self->state != SBX_INIT_CHANNEL_NEW)
    {
      g_task_return_new_error (task, SBX_ERROR, SBX_ERROR_BUSY,
                               "The sandbox was set up already, or is closed");
      return;
    }

  self->state = SBX_INIT_CHANNEL_SETTING_UP;
  self->setup_task = g_steal_pointer (&task);
  self->n_expectations = n_expectations;
  self->expectations = g_memdup2 (expectations, n_expectations * sizeof *expectations);
  for (gsize i = 0; i < n_expectations; i++)
    self->expectations[i].path = g_strdup (expectations[i].path);

  if (cancellable != NULL)
    self->setup_cancelled =
      _sbx_init_channel_attach (self, g_cancellable_source_new (cancellable),
                                G_SOURCE_FUNC (setup_cancelled_cb), self, NULL);

  self->input =
    _sbx_init_channel_attach (self, g_unix_fd_source_new (self->fd, G_IO_IN | G_IO_HUP | G_IO_ERR),
                              G_SOURCE_FUNC (_sbx_init_channel_input_cb), self, NULL);

  if (!_sbx_init_channel_send_setup (self, &error))
    _sbx_init_channel_lose (self, error);
}

gboolean
_sbx_init_channel_setup_finish (SbxInitChannel  *self,
                                GAsyncResult    *result,
                                GError         **error)
{
  g_return_val_if_fail (g_task_is_valid (result, self), FALSE);
  g_return_val_if_fail (g_async_result_is_tagged (result, _sbx_init_channel_setup_async), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}

static gboolean
check_request (SbxInitChannel        *self,
               const SbxInitRequest  *request,
               GError               **error)
{
  if (self->state == SBX_INIT_CHANNEL_LOST)
    g_propagate_error (error, g_error_copy (self->cause));
  else if (self->state != SBX_INIT_CHANNEL_READY)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_CLOSED,
                         self->state == SBX_INIT_CHANNEL_CLOSING ? _("The sandbox is closing")
                                                      : _("The sandbox is not set up yet"));
  else if (request->argv == NULL || request->argv[0] == NULL)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID, _("The command line is empty"));
  else if (request->cwd == NULL || request->cwd[0] != '/')
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_INVALID,
                         _("The working directory is not absolute"));
  else if (g_hash_table_size (self->execs) >= SBX_INIT_MAX_EXECS)
    g_set_error (error, SBX_ERROR, SBX_ERROR_BUSY,
                 _("%u commands run in this sandbox already; wait for one to end"),
                 SBX_INIT_MAX_EXECS);
  else
    return TRUE;

  return FALSE;
}

static guint64
add_exec (SbxInitChannel           *self,
          const SbxInitRequest     *request,
          const SbxInitExecHandler *handler,
          gpointer                  user_data,
          GDestroyNotify            destroy)
{
  SbxInitExec *exec = g_new0 (SbxInitExec, 1);

  /* What has happened until now was none of this one's doing. */
  if (g_hash_table_size (self->execs) == 0)
    g_signal_emit (self, signals[IDLE], 0);

  exec->id = ++self->last_id;
  exec->handler = *handler;
  exec->user_data = user_data;
  exec->destroy = destroy;
  exec->is_command = request->verb == SBX_INIT_VERB_EXEC;
  exec->terminal = request->terminal;
  g_hash_table_insert (self->execs, &exec->id, exec);

  return exec->id;
}

static void
send_request (SbxInitChannel       *self,
              guint64               id,
              const SbxInitRequest *request,
              int                   memory)
{
  const int standard[] = { request->stdin_fd, request->stdout_fd, request->stderr_fd };
  SbxInitMessage message = _sbx_init_channel_message (SBX_INIT_EXEC, id);
  int fds[SBX_INIT_EXEC_FDS] = { memory };
  gsize n_fds = 1;

  message.verb = request->verb;
  if (request->terminal)
    {
      message.flags = SBX_INIT_TERMINAL;
      message.rows = request->rows;
      message.columns = request->columns;
    }

  for (guint i = 0; i < 3 && !request->terminal; i++)
    if (standard[i] >= 0)
      {
        message.flags |= 1u << i;
        fds[n_fds++] = standard[i];
      }

  if (request->is_watched)
    {
      message.flags |= SBX_INIT_NOTIFY;
      fds[n_fds++] = request->watch_fd;
    }

  _sbx_init_channel_send (self, &message, fds, n_fds);
}

guint64
_sbx_init_channel_exec (SbxInitChannel            *self,
                        const SbxInitRequest      *request,
                        const SbxInitExecHandler  *handler,
                        gpointer                   user_data,
                        GDestroyNotify             destroy,
                        GError                   **error)
{
  g_autoptr(GError) pack_error = NULL;
  sbx_autofd int memory = -1;
  Later *later;
  guint64 id;

  if (!check_request (self, request, error))
    return 0;

  memory = _sbx_init_pack_request (request, &pack_error);

  if (memory < 0 && !g_error_matches (pack_error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE))
    {
      g_propagate_error (error, g_steal_pointer (&pack_error));
      return 0;
    }

  id = add_exec (self, request, handler, user_data, destroy);

  if (memory >= 0)
    {
      send_request (self, id, request, memory);
      return id;
    }

  /* The kernel's answer, without asking it: no limit of its own is as high as ours. */
  later = g_new0 (Later, 1);
  later->channel = g_object_ref (self);
  later->id = id;
  later->end = (SbxInitEnd) { SBX_INIT_END_NOT_STARTED, SBX_INIT_STAGE_EXEC, E2BIG, FALSE };
  later_attach (self, later, end_later_cb);

  return id;
}

void
_sbx_init_channel_limit (SbxInitChannel *self,
                         guint32         which,
                         guint64         value)
{
  SbxInitMessage message = _sbx_init_channel_message (SBX_INIT_LIMIT, 0);

  message.verb = which;
  message.value = value;
  _sbx_init_channel_send (self, &message, NULL, 0);
}

static gboolean
is_running (SbxInitChannel *self,
            guint64         id)
{
  return self->state == SBX_INIT_CHANNEL_READY && g_hash_table_contains (self->execs, &id);
}

void
_sbx_init_channel_signal (SbxInitChannel *self,
                          guint64         id,
                          int             signal_number)
{
  SbxInitMessage message = _sbx_init_channel_message (SBX_INIT_SIGNAL, id);

  message.signal_number = (guint32) signal_number;
  if (is_running (self, id))
    _sbx_init_channel_send (self, &message, NULL, 0);
}

void
_sbx_init_channel_end (SbxInitChannel *self,
                       guint64         id)
{
  const SbxInitMessage message = _sbx_init_channel_message (SBX_INIT_END, id);

  if (is_running (self, id))
    _sbx_init_channel_send (self, &message, NULL, 0);
}

void
_sbx_init_channel_resize (SbxInitChannel *self,
                          guint64         id,
                          guint16         rows,
                          guint16         columns)
{
  SbxInitMessage message = _sbx_init_channel_message (SBX_INIT_RESIZE, id);

  message.rows = rows;
  message.columns = columns;
  if (is_running (self, id))
    _sbx_init_channel_send (self, &message, NULL, 0);
}
