/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-init-channel-struct-private.h"
#include "bwrap/sbx-init-pack-private.h"
#include "bwrap/sbx-init-receive-private.h"
#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* Kernel 6.5. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* So that a flood of messages does not keep the context from everything else. */
#define MAX_MESSAGES_AT_ONCE 64

/* The inside gets so much less than we have that all of its descriptors on their way through
 * sockets leave room for ours: the kernel counts them for the user, not for the sandbox. */
static guint32
max_descriptors_inside (void)
{
  struct rlimit limit = { 0 };

  getrlimit (RLIMIT_NOFILE, &limit);

  return (guint32) MIN (limit.rlim_cur < 4096 ? limit.rlim_cur / 2 : limit.rlim_cur - 2048,
                        G_MAXINT32);
}

static int
hold_on_to_self (SbxInitChannel *self)
{
  int fd = (int) syscall (SYS_pidfd_open, getpid (), 0);
  socklen_t size = sizeof fd;

  /* Who made the pair of sockets. Of use under valgrind, which does not know the call above. */
  if (fd < 0 && errno == ENOSYS &&
      getsockopt (self->fd, SOL_SOCKET, SO_PEERPIDFD, &fd, &size) < 0)
    return -1;

  return fd;
}

/* Before anybody may read it: process 1 has to see the end of this process from the moment that it
 * is there, since a forked child of ours may keep our end of the socket. */
gboolean
_sbx_init_channel_send_setup (SbxInitChannel  *self,
                              GError         **error)
{
  SbxInitMessage message = _sbx_init_channel_message (SBX_INIT_SETUP, 0);
  sbx_autofd int host = hold_on_to_self (self);
  sbx_autofd int paths = -1;

  if (host < 0)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
                   _("The sandbox cannot be told who its host is: %s"), g_strerror (errno));
      return FALSE;
    }

  paths = _sbx_init_pack_expectations (self->expectations, self->n_expectations, error);
  if (paths < 0)
    return FALSE;

  message.value = max_descriptors_inside ();
  _sbx_init_channel_send (self, &message, (int[]) { host, paths }, 2);
  return TRUE;
}

static gboolean
handle_hello (SbxInitChannel   *self,
              SbxInitReceived  *received,
              GError          **error)
{
  if (self->pid != 0 || received->pid <= 0)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                           _("Process 1 of the sandbox did not say which process it is"));
      return FALSE;
    }

  /* By its number it can be another process, but only if process 1 has ended by now; then there is
   * no answer to this. */
  self->pid = received->pid;
  self->pidfd = received->pidfd >= 0 ? g_steal_fd (&received->pidfd)
                                     : (int) syscall (SYS_pidfd_open, self->pid, 0);
  if (self->pidfd >= 0)
    {
      if (self->held != NULL)
        self->held (self, self->held_data);
      else
        _sbx_init_channel_go (self);
      return TRUE;
    }

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
               _("The sandbox's process cannot be held on to: %s"), g_strerror (errno));
  return FALSE;
}

static gboolean
handle_mounts (SbxInitChannel       *self,
               const SbxInitMounts  *mounts,
               GError              **error)
{
  for (guint i = 0; i < mounts->count; i++)
    {
      const SbxInitMount *mount = &mounts->mounts[i];

      if (mount->index != self->n_checked || self->n_checked == self->n_expectations)
        {
          g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                               "Process 1 of the sandbox reported a mount that nobody asked for");
          return FALSE;
        }

      if (!_sbx_init_check_mount (&self->expectations[self->n_checked++], mount, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
handle_ready (SbxInitChannel  *self,
              GError         **error)
{
  g_autoptr(GTask) task = NULL;

  if (self->n_checked != self->n_expectations)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                           "Process 1 of the sandbox did not report all of its mounts");
      return FALSE;
    }

  _sbx_init_receive_ask_for_sender (self->fd, FALSE);
  self->state = SBX_INIT_CHANNEL_READY;
  task = _sbx_init_channel_take_setup (self);
  g_task_return_boolean (task, TRUE);
  return TRUE;
}

static gboolean
handle_setup (SbxInitChannel        *self,
              SbxInitReceived       *received,
              GError               **error)
{
  const SbxInitIncoming *incoming = &received->incoming;

  if (received->fd < 0 && (self->pid == 0 || self->pid == received->pid))
    {
      if (incoming->head.type == SBX_INIT_HELLO)
        return handle_hello (self, received, error);
      if (self->pid != 0 && incoming->head.type == SBX_INIT_MOUNTS)
        return handle_mounts (self, &incoming->mounts, error);
      if (self->pid != 0 && incoming->head.type == SBX_INIT_READY)
        return handle_ready (self, error);
      if (incoming->head.type == SBX_INIT_SETUP_FAILED)
        {
          g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                       _("Process 1 could not set the sandbox up: %s"),
                       g_strerror (incoming->report.value));
          return FALSE;
        }
    }

  g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                       "Process 1 of the sandbox sent a message out of turn");
  return FALSE;
}

static gboolean
handle_started (SbxInitChannel   *self,
                SbxInitExec      *exec,
                SbxInitReceived  *received,
                GError          **error)
{
  /* We are the ones who have no descriptor left. */
  const gboolean no_room = exec->terminal && received->fd < 0 && received->no_room;

  if (exec->started ||
      (!no_room && !_sbx_init_received_check_terminal (received, exec->terminal)))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                           "Process 1 of the sandbox started something that was not asked for");
      return FALSE;
    }

  exec->started = TRUE;

  if (no_room)
    {
      exec->error = g_error_new (SBX_ERROR, SBX_ERROR_BUSY,
                                 _("The command's terminal could not be taken: %s"),
                                 g_strerror (EMFILE));
      _sbx_init_channel_end (self, exec->id);
    }
  else if (exec->handler.started != NULL)
    {
      exec->handler.started (received->incoming.report.pid, g_steal_fd (&received->fd),
                             exec->user_data);
    }

  return TRUE;
}

static gboolean
handle_ended (SbxInitChannel       *self,
              const SbxInitExec    *exec,
              const SbxInitReport  *report,
              GError              **error)
{
  const gboolean ran = report->kind == SBX_INIT_ENDED_EXITED ||
                       report->kind == SBX_INIT_ENDED_SIGNALLED;
  const SbxInitEnd end = {
    .kind = (SbxInitEndKind) report->kind,
    .stage = (SbxInitStage) report->stage,
    .value = report->value,
    .core_dumped = report->core_dumped != 0,
  };

  if ((ran && !exec->started) ||
      (exec->started && exec->is_command && report->kind == SBX_INIT_ENDED_UNSTARTED) ||
      (exec->is_command && report->stage == SBX_INIT_AT_FILE))
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                           "Process 1 of the sandbox ended something in a way that cannot be");
      return FALSE;
    }

  _sbx_init_channel_finish_exec (self, exec->id, &end, NULL);
  return TRUE;
}

static gboolean
handle_received (SbxInitChannel   *self,
                 SbxInitReceived  *received,
                 GError          **error)
{
  const SbxInitHead *head = &received->incoming.head;
  SbxInitExec *exec;

  if (self->state == SBX_INIT_CHANNEL_SETTING_UP)
    return handle_setup (self, received, error);

  exec = g_hash_table_lookup (self->execs, &head->id);

  if (head->type == SBX_INIT_STARTED && exec != NULL)
    return handle_started (self, exec, received, error);

  if (head->type == SBX_INIT_ENDED && exec != NULL && received->fd < 0)
    return handle_ended (self, exec, &received->incoming.report, error);

  if (_sbx_init_channel_is_watch (head) && received->fd < 0)
    return _sbx_init_channel_handle_watch (self, &received->incoming, error);

  if (head->type == SBX_INIT_FAILED && received->fd < 0 &&
      received->incoming.report.value == ETIME)
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                         _("The sandbox was ended, because what is mounted in it changed and was "
                           "not put right in time"));
  else if (head->type == SBX_INIT_FAILED && received->fd < 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_LOST,
                 _("The sandbox was ended, because a command's processes could not be: %s"),
                 g_strerror (received->incoming.report.value));
  else
    g_set_error_literal (error, SBX_ERROR, SBX_ERROR_LOST,
                         "Process 1 of the sandbox spoke of something that was not asked for");

  return FALSE;
}

gboolean
_sbx_init_channel_read_one (SbxInitChannel *self)
{
  g_autoptr(GError) error = NULL;
  g_auto(SbxInitReceived) received = SBX_INIT_RECEIVED_INIT;

  switch (_sbx_init_receive (self->fd, &received, &error))
    {
    case SBX_INIT_RECEIVE_NOTHING:
      return FALSE;

    case SBX_INIT_RECEIVE_MESSAGE:
      if (!handle_received (self, &received, &error))
        _sbx_init_channel_lose (self, error);
      return TRUE;

    case SBX_INIT_RECEIVE_END:
      if (self->state == SBX_INIT_CHANNEL_CLOSING)
        g_set_error_literal (&error, SBX_ERROR, SBX_ERROR_CLOSED, _("The sandbox was closed"));
      else if (self->state == SBX_INIT_CHANNEL_SETTING_UP)
        g_set_error_literal (&error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                             _("The sandbox ended before it was ready"));
      else
        g_set_error_literal (&error, SBX_ERROR, SBX_ERROR_LOST,
                             _("The sandbox ended: its process 1 was killed"));
      G_GNUC_FALLTHROUGH;

    case SBX_INIT_RECEIVE_ERROR:
    default:
      _sbx_init_channel_lose (self, error);
      return FALSE;
    }
}

gboolean
_sbx_init_channel_input_cb (int          fd,
                            GIOCondition condition,
                            gpointer     user_data)
{
  SbxInitChannel *self = user_data;
  g_autoptr(SbxInitChannel) keep G_GNUC_UNUSED = g_object_ref (self);

  for (int i = 0; i < MAX_MESSAGES_AT_ONCE && self->input != NULL; i++)
    if (!_sbx_init_channel_read_one (self))
      break;

  return G_SOURCE_CONTINUE;
}
