/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-sandbox-private.h"

#include "bwrap/sbx-bwrap-mounter-private.h"
#include "bwrap/sbx-bwrap-quarantine-private.h"
#include "bwrap/sbx-bwrap-record-private.h"
#include "bwrap/sbx-bwrap-scope-private.h"
#include "bwrap/sbx-bwrap-sweep-private.h"
#include "bwrap/sbx-bwrap-watch-private.h"
#include "bwrap/sbx-bwrap-worktree-private.h"
#include "bwrap/sbx-seccomp-private.h"
#include "core/sbx-error.h"
#include "core/sbx-source-private.h"
#include "files/sbx-fd-private.h"
#include "init/sbx-init-protocol-private.h"
#include "process/sbx-child-private.h"
#include "process/sbx-socket-holders-private.h"
#include "process/sbx-stderr-tail-private.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <sys/socket.h>
#include <unistd.h>

/* The numbers that process 1 finds its socket and the sign of its life at. */
#define CONTROL_FD SBX_INIT_SOCKET_FD
#define ALIVE_FD SBX_INIT_ALIVE_FD

/* How long process 1 may take to end what runs, and bwrap to follow it. */
#define CLOSE_GRACE_MS 3000
#define BWRAP_GRACE_MS 2000

/* How long process 1 may be silent after bwrap has ended before it is there. */
#define ORPHAN_GRACE_MS 500

/* How long a sandbox may take to come up on a machine that is busy. */
#define START_LIMIT_MS 30000

/* The same for what bwrap leaves to be mounted. */
#define LATE_LIMIT_MS 10000

struct _SbxBwrapSandbox
{
  GObject         parent_instance;

  SbxBwrapState  *state;
  SbxBwrapSettings settings;
  GPtrArray      *kept;            /* (nullable) (element-type SbxBwrapKept) */
  SbxInitChannel *channel;
  SbxBwrapWatch  *watch;           /* (nullable) over its mounts */
  GSubprocess    *bwrap;
  SbxStderrTail  *tail;
  guint64         control_inode;   /* of the socket that process 1 has */
  SbxBwrapLimits *limits;          /* (nullable) */
  guint           started : 1;
  guint           closing : 1;
  guint           scope   : 1;     /* systemd was asked for one */
};

G_DEFINE_FINAL_TYPE (SbxBwrapSandbox, _sbx_bwrap_sandbox, G_TYPE_OBJECT)

static void
_sbx_bwrap_sandbox_finalize (GObject *object)
{
  SbxBwrapSandbox *self = SBX_BWRAP_SANDBOX (object);

  g_clear_object (&self->watch);
  g_clear_object (&self->channel);
  g_clear_object (&self->bwrap);
  g_clear_pointer (&self->tail, _sbx_stderr_tail_free);
  g_clear_pointer (&self->state, _sbx_bwrap_state_free);
  g_clear_pointer (&self->kept, g_ptr_array_unref);
  g_clear_pointer (&self->limits, _sbx_bwrap_limits_unref);
  g_clear_pointer (&self->settings.program, g_free);
  g_clear_pointer (&self->settings.data_path, g_free);

  G_OBJECT_CLASS (_sbx_bwrap_sandbox_parent_class)->finalize (object);
}

static void
_sbx_bwrap_sandbox_class_init (SbxBwrapSandboxClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = _sbx_bwrap_sandbox_finalize;
}

static void
_sbx_bwrap_sandbox_init (SbxBwrapSandbox *self)
{
}

SbxBwrapSandbox *
_sbx_bwrap_sandbox_new (SbxBwrapState          *state,
                        const SbxBwrapSettings *settings)
{
  SbxBwrapSandbox *self = g_object_new (SBX_TYPE_BWRAP_SANDBOX, NULL);

  self->state = state;
  self->settings = *settings;
  self->settings.program = g_strdup (settings->program);
  self->settings.data_path = g_strdup (settings->data_path);

  return self;
}

void
_sbx_bwrap_sandbox_set_limits (SbxBwrapSandbox *self,
                               SbxBwrapLimits  *limits)
{
  self->limits = _sbx_bwrap_limits_ref (limits);
}

gboolean
_sbx_bwrap_sandbox_was_started (SbxBwrapSandbox *self)
{
  return self->bwrap != NULL;
}

SbxInitChannel *
_sbx_bwrap_sandbox_get_channel (SbxBwrapSandbox *self)
{
  return self->channel;
}

SbxBwrapWatch *
_sbx_bwrap_sandbox_get_watch (SbxBwrapSandbox *self)
{
  return self->watch;
}

const char *
_sbx_bwrap_sandbox_get_id (SbxBwrapSandbox *self)
{
  return self->state->id;
}

SbxBwrapQuarantine *
_sbx_bwrap_sandbox_get_quarantine (SbxBwrapSandbox *self)
{
  return self->state->quarantine;
}

GPtrArray *
_sbx_bwrap_sandbox_steal_kept (SbxBwrapSandbox *self)
{
  return g_steal_pointer (&self->kept);
}

gboolean
_sbx_bwrap_sandbox_record (SbxBwrapSandbox  *self,
                           GError          **error)
{
  const char *bwrap = g_subprocess_get_identifier (self->bwrap);

  return _sbx_bwrap_record_write (self->state->sessions_fd, self->state->id, bwrap, error);
}

static gboolean
is_bind (const SbxBwrapMount *mount)
{
  return mount->kind == SBX_BWRAP_MOUNT_BIND || mount->kind == SBX_BWRAP_MOUNT_RO_BIND;
}

/* What process 1 must find where. Of several mounts on one place only the last one shows. What is
 * mounted out of /proc has no identity of its own to compare. */
static GArray *
list_expectations (SbxBwrapPlan *plan)
{
  GArray *expectations = g_array_new (FALSE, FALSE, sizeof (SbxInitExpectation));

  for (guint i = 0; i < plan->mounts->len; i++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i);
      const SbxInitExpectation expectation = {
        mount->destination, mount->device, mount->inode, mount->kind == SBX_BWRAP_MOUNT_RO_BIND
      };
      gboolean hidden = FALSE;

      for (guint j = i + 1; j < plan->mounts->len && !hidden; j++)
        {
          const SbxBwrapMount *later = g_ptr_array_index (plan->mounts, j);

          hidden = is_bind (later) && g_str_equal (later->destination, mount->destination);
        }

      if (is_bind (mount) && mount->inode != 0 && !hidden)
        g_array_append_val (expectations, expectation);
    }

  return expectations;
}

static void
clear_late_mount (gpointer data)
{
  _sbx_late_mount_clear (data);
}

/* What is mounted when bwrap is through. */
static GArray *
list_late (SbxBwrapPlan *plan)
{
  GArray *late = g_array_new (FALSE, FALSE, sizeof (SbxLateMount));

  g_array_set_clear_func (late, clear_late_mount);
  for (guint i = 0; i < plan->mounts->len; i++)
    {
      const SbxBwrapMount *mount = g_ptr_array_index (plan->mounts, i);
      SbxLateMount entry = { .device = mount->device, .inode = mount->inode };

      if (!mount->late)
        continue;

      if (mount->kind == SBX_BWRAP_MOUNT_MASK)
        entry.kind = SBX_LATE_MOUNT_MASK;
      else if (mount->kind == SBX_BWRAP_MOUNT_RO_BIND)
        entry.kind = SBX_LATE_MOUNT_READ_ONLY;
      else
        entry.kind = mount->origin == SBX_BWRAP_ORIGIN_PIN ? SBX_LATE_MOUNT_PIN
                                                           : SBX_LATE_MOUNT_WRITABLE;
      entry.path = g_strdup (mount->destination);
      g_array_append_val (late, entry);
    }

  return late;
}

static gboolean
give_up_cb (gpointer user_data)
{
  g_cancellable_cancel (user_data);

  return G_SOURCE_REMOVE;
}

/* Waits for the end of bwrap, for as long as that takes: cancelling such a wait is not safe at the
 * moment of the end, which comes in a thread of GLib's. What it is for may be over before. */
typedef struct
{
  GTask *task;         /* not owned; %NULL when nobody wants to know any more */
} EndWatch;

/* What is needed until the sandbox is up: bwrap has been started, by a thread since that takes a
 * while, and process 1 has confirmed its mounts. */
typedef struct
{
  SbxBwrapPlan    *plan;
  SbxBwrapProgram *program;
  int              control;       /* the socket that process 1 gets */
  GError          *spawn_error;
  GError          *setup_error;
  guint            spawned : 1;   /* or not, but that is over */
  guint            set_up  : 1;

  GCancellable    *inner;         /* the caller's, the time limit, or the end of bwrap */
  GSource         *limit;
  GSource         *outer;
  GSource         *orphan;
  EndWatch        *watch;         /* not owned */
} Start;

static void
forget_end (Start *start)
{
  if (start->watch != NULL)
    start->watch->task = NULL;

  start->watch = NULL;
}

static void
start_free (Start *start)
{
  forget_end (start);
  _sbx_clear_source (&start->limit);
  _sbx_clear_source (&start->outer);
  _sbx_clear_source (&start->orphan);
  g_clear_object (&start->inner);
  g_clear_error (&start->spawn_error);
  g_clear_error (&start->setup_error);
  g_clear_pointer (&start->plan, _sbx_bwrap_plan_unref);
  g_clear_pointer (&start->program, _sbx_bwrap_program_free);
  _sbx_clear_fd (&start->control);
  g_free (start);
}

static gboolean
outer_cancelled_cb (GCancellable *cancellable,
                    gpointer      user_data)
{
  g_cancellable_cancel (user_data);

  return G_SOURCE_REMOVE;
}

/* Why it is not up, in words that come nearest to the cause. */
static void
return_failure (SbxBwrapSandbox *self,
                GTask           *task,
                Start           *start)
{
  g_autofree char *said = NULL;

  if (g_task_return_error_if_cancelled (task))
    return;

  if (start->spawn_error != NULL)
    {
      g_task_return_error (task, g_steal_pointer (&start->spawn_error));
      return;
    }

  said = _sbx_stderr_tail_get_text (self->tail);
  if (g_error_matches (start->setup_error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_task_return_new_error (task, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                             _("The sandbox did not come up: bubblewrap was killed, or the machine "
                               "is overloaded. Try again. %s"), said);
  else if (*said != '\0')
    g_task_return_new_error (task, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                             _("bubblewrap could not make the sandbox: %s"), said);
  else
    g_task_return_error (task, g_steal_pointer (&start->setup_error));
}

static void
limited_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  GError *error = NULL;

  if (_sbx_bwrap_limits_hold_finish (result, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/* Nothing has been started inside yet. */
static void
hold_to_limits (SbxBwrapSandbox *self,
                GTask           *task)
{
  if (self->limits == NULL)
    {
      g_task_return_boolean (task, TRUE);
      return;
    }

  self->scope = _sbx_bwrap_limits_need_scope (self->limits);
  _sbx_bwrap_limits_hold_async (self->limits, self->channel, self->state->id,
                                g_task_get_cancellable (task), limited_cb, g_object_ref (task));
}

/* Goes on when both are through. */
static void
continue_start (GTask *task)
{
  SbxBwrapSandbox *self = g_task_get_source_object (task);
  Start *start = g_task_get_task_data (task);

  if (!start->spawned || !start->set_up)
    return;

  forget_end (start);
  _sbx_clear_source (&start->limit);
  _sbx_clear_source (&start->outer);
  _sbx_clear_source (&start->orphan);

  if (start->spawn_error != NULL || start->setup_error != NULL)
    {
      return_failure (self, task, start);
      return;
    }

  /* Nothing that bwrap says from now on is of use to anybody. */
  g_clear_pointer (&self->tail, _sbx_stderr_tail_free);
  self->started = TRUE;
  _sbx_bwrap_watch_start (self->watch, self->channel);

  /* An open session keeps as few descriptors as it can. */
  _sbx_clear_fd (&self->state->dir_fd);

  hold_to_limits (self, task);
}

static void
setup_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  Start *start = g_task_get_task_data (task);

  _sbx_init_channel_setup_finish (SBX_INIT_CHANNEL (object), result, &start->setup_error);
  start->set_up = TRUE;
  continue_start (task);
}

static GSource *
give_up_after (GTask *task,
               Start *start,
               guint  interval_ms)
{
  GSource *source = g_timeout_source_new (interval_ms);

  g_source_set_callback (source, give_up_cb, g_object_ref (start->inner), g_object_unref);
  g_source_attach (source, g_task_get_context (task));

  return source;
}

/* Once process 1 is there it needs no bwrap. Before, what bwrap leaves may wait for it for ever. */
static void
bwrap_ended_early_cb (GObject      *object,
                      GAsyncResult *result,
                      gpointer      user_data)
{
  g_autofree EndWatch *watch = user_data;
  Start *start;

  g_subprocess_wait_finish (G_SUBPROCESS (object), result, NULL);
  if (watch->task == NULL)
    return;

  start = g_task_get_task_data (watch->task);
  start->orphan = give_up_after (watch->task, start, ORPHAN_GRACE_MS);
  forget_end (start);
}

static gboolean
spawn (SbxBwrapSandbox  *self,
       Start            *start,
       GError          **error)
{
  g_autoptr(SbxBwrapArguments) arguments = NULL;
  g_autofree SbxChildFd *fds = NULL;
  g_autofree char *quarantine = NULL;
  const int filter = _sbx_seccomp_open (error);
  sbx_autofd int alive = -1;

  if (filter < 0)
    return FALSE;

  quarantine = g_build_filename (self->settings.data_path, "quarantine", self->state->id, NULL);
  self->watch = _sbx_bwrap_watch_new (start->plan, quarantine, self->state->id,
                                      self->state->sessions_fd);
  arguments = _sbx_bwrap_arguments_new (start->plan, start->program, filter, error);
  alive = arguments != NULL ? _sbx_bwrap_state_sign_of_life (self->state, error) : -1;
  if (alive < 0)
    return FALSE;

  fds = g_new (SbxChildFd, arguments->fds->len + 2);
  fds[0] = (SbxChildFd) { g_steal_fd (&start->control), CONTROL_FD };
  fds[1] = (SbxChildFd) { g_steal_fd (&alive), ALIVE_FD };
  for (guint i = 0; i < arguments->fds->len; i++)
    {
      SbxBwrapFd *fd = &g_array_index (arguments->fds, SbxBwrapFd, i);

      fds[i + 2] = (SbxChildFd) { g_steal_fd (&fd->source), fd->target };
    }

  self->bwrap = _sbx_child_spawn ((const char * const *) arguments->argv, fds,
                                  arguments->fds->len + 2, error);
  if (self->bwrap == NULL)
    g_prefix_error (error, _("bubblewrap could not be started: "));

  return self->bwrap != NULL;
}

static void
spawn_in_thread (GTask        *task,
                 gpointer      source_object,
                 gpointer      task_data,
                 GCancellable *cancellable)
{
  g_autoptr(GError) error = NULL;

  if (spawn (source_object, task_data, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

static void
spawned_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  SbxBwrapSandbox *self = SBX_BWRAP_SANDBOX (object);
  g_autoptr(GTask) task = G_TASK (user_data);
  Start *start = g_task_get_task_data (task);

  start->spawned = TRUE;

  if (g_task_propagate_boolean (G_TASK (result), &start->spawn_error))
    {
      self->tail = _sbx_stderr_tail_new (g_subprocess_get_stderr_pipe (self->bwrap));
      start->watch = g_new0 (EndWatch, 1);
      start->watch->task = task;
      g_subprocess_wait_async (self->bwrap, NULL, bwrap_ended_early_cb, start->watch);
    }
  else
    {
      /* Nobody will ever answer. */
      _sbx_clear_fd (&start->control);
      g_cancellable_cancel (start->inner);
    }

  continue_start (task);
}

static void
watch_start (GTask *task,
             Start *start)
{
  GCancellable *cancellable = g_task_get_cancellable (task);

  start->inner = g_cancellable_new ();
  start->limit = give_up_after (task, start, START_LIMIT_MS);

  if (cancellable != NULL)
    {
      start->outer = g_cancellable_source_new (cancellable);
      g_source_set_callback (start->outer, G_SOURCE_FUNC (outer_cancelled_cb),
                             g_object_ref (start->inner), g_object_unref);
      g_source_attach (start->outer, g_task_get_context (task));
    }
}

/* The control socket is there, and what process 1 has to know is in it, before bwrap is started: so
 * that process 1 sees this program's end whenever that comes. */
static gboolean
open_control (SbxBwrapSandbox  *self,
              Start            *start,
              GError          **error)
{
  int sockets[2];

  if (socketpair (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    {
      const int saved_errno = errno;

      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (saved_errno),
                   _("No socket can be made for the sandbox: %s"), g_strerror (saved_errno));
      return FALSE;
    }

  self->channel = _sbx_init_channel_new (sockets[0]);
  self->control_inode = _sbx_socket_get_inode (sockets[1]);
  start->control = sockets[1];

  return TRUE;
}

static void
late_mounted_cb (GObject      *object,
                 GAsyncResult *result,
                 gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  SbxBwrapSandbox *self = g_task_get_source_object (task);
  const Start *start = g_task_get_task_data (task);
  g_autoptr(GError) error = NULL;

  if (_sbx_bwrap_mounter_run_finish (result, &error))
    _sbx_init_channel_go (self->channel);
  else if (!start->set_up)
    _sbx_init_channel_give_up (self->channel, error);
}

/* Process 1 is there, so bwrap is through, and what it left can be mounted. */
static void
held_cb (SbxInitChannel *channel,
         gpointer        user_data)
{
  GTask *task = user_data;
  const Start *start = g_task_get_task_data (task);
  g_autoptr(GArray) late = list_late (start->plan);

  _sbx_bwrap_mounter_run_async (_sbx_init_channel_get_pidfd (channel), (gconstpointer) late->data,
                                late->len, LATE_LIMIT_MS, start->inner, late_mounted_cb,
                                g_object_ref (task));
}

static gboolean
has_late (SbxBwrapPlan *plan)
{
  for (guint i = 0; i < plan->mounts->len; i++)
    if (((const SbxBwrapMount *) g_ptr_array_index (plan->mounts, i))->late)
      return TRUE;

  return FALSE;
}

void
_sbx_bwrap_sandbox_start_async (SbxBwrapSandbox       *self,
                                SbxBwrapPlan          *plan,
                                const SbxBwrapProgram *program,
                                GCancellable          *cancellable,
                                GAsyncReadyCallback    callback,
                                gpointer               user_data)
{
  g_autoptr(GTask) task = g_task_new (self, cancellable, callback, user_data);
  g_autoptr(GTask) spawning = NULL;
  g_autoptr(GArray) expectations = NULL;
  g_autoptr(GError) error = NULL;
  Start *start = g_new0 (Start, 1);

  g_task_set_source_tag (task, _sbx_bwrap_sandbox_start_async);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, start, (GDestroyNotify) start_free);
  start->plan = _sbx_bwrap_plan_ref (plan);
  start->program = _sbx_bwrap_program_copy (program);
  start->control = -1;

  if (g_task_return_error_if_cancelled (task))
    return;

  if (!open_control (self, start, &error))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  watch_start (task, start);
  if (has_late (plan))
    _sbx_init_channel_hold (self->channel, held_cb, task);
  expectations = list_expectations (plan);
  _sbx_init_channel_setup_async (self->channel,
                                 (gconstpointer) expectations->data,
                                 expectations->len, start->inner,
                                 setup_cb, g_object_ref (task));

  spawning = g_task_new (self, NULL, spawned_cb, g_object_ref (task));
  g_task_set_source_tag (spawning, spawn_in_thread);
  g_task_set_task_data (spawning, start, NULL);
  g_task_run_in_thread (spawning, spawn_in_thread);
}

gboolean
_sbx_bwrap_sandbox_start_finish (SbxBwrapSandbox  *self,
                                 GAsyncResult     *result,
                                 GError          **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

static gboolean
settle_worktree (SbxBwrapSandbox  *self,
                 GError          **error)
{
  if (!self->state->has_worktree)
    return TRUE;

  self->kept = _sbx_bwrap_kept_list_new ();
  if (_sbx_bwrap_worktree_settle (self->state->sessions_fd, &self->settings, self->state->id,
                                  self->kept, NULL, error))
    return TRUE;

  _sbx_bwrap_sweep_again (self->state->data_path);
  _sbx_bwrap_state_undo (self->state, NULL);

  return FALSE;
}

/* What cannot be put aside now stays noted, for whoever sweeps. */
static gboolean
finish_quarantine (SbxBwrapSandbox  *self,
                   GError          **error)
{
  if (self->state->quarantine == NULL ||
      _sbx_bwrap_quarantine_finish (self->state->quarantine, error))
    return TRUE;

  settle_worktree (self, NULL);
  _sbx_bwrap_sweep_again (self->state->data_path);
  _sbx_bwrap_state_undo (self->state, NULL);

  return FALSE;
}

/* In a worker thread: only the disk is left, and what never came so far as to say who it is. */
static void
remove_state (GTask        *task,
              gpointer      source_object,
              gpointer      task_data,
              GCancellable *cancellable)
{
  SbxBwrapSandbox *self = source_object;
  g_autoptr(GError) error = NULL;

  if (!self->started && self->control_inode != 0)
    _sbx_socket_kill_holders (self->control_inode, CONTROL_FD);

  if (finish_quarantine (self, &error) && settle_worktree (self, &error) &&
      _sbx_bwrap_state_remove (self->state, NULL, &error))
    g_task_return_boolean (task, TRUE);
  else
    {
      g_prefix_error (&error, _("The sandbox is gone, but not all that it had on disk; "
                                "“sbx-tool clean” tries again: "));
      g_task_return_error (task, g_steal_pointer (&error));
    }
}

static gpointer
remove_in_own_thread (gpointer data)
{
  g_autoptr(GTask) task = data;

  remove_state (task, g_task_get_source_object (task), NULL, NULL);

  return NULL;
}

/* What opens a sandbox of its own, and waits for that, must not wait for a thread that another one
 * like it has. */
static void
begin_removal (GTask *task)
{
  SbxBwrapSandbox *self = g_task_get_source_object (task);

  if (self->state->has_worktree)
    g_thread_unref (g_thread_new ("sbx-worktree", remove_in_own_thread, g_object_ref (task)));
  else
    g_task_run_in_thread (task, remove_state);
}

static void
scope_stopped_cb (GObject      *object,
                  GAsyncResult *result,
                  gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);

  begin_removal (task);
}

/* A scope goes when nothing is in it any more, unless it never came to hold anything. */
static void
begin_scope_removal (GTask *task)
{
  SbxBwrapSandbox *self = g_task_get_source_object (task);

  if (self->scope)
    _sbx_bwrap_scope_stop_async (self->state->id, scope_stopped_cb, g_object_ref (task));
  else
    begin_removal (task);
}

static void
bwrap_gone_cb (GObject      *object,
               GAsyncResult *result,
               gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  GSource *grace = g_task_get_task_data (task);

  g_subprocess_wait_finish (G_SUBPROCESS (object), result, NULL);
  if (grace != NULL)
    g_source_destroy (grace);

  begin_scope_removal (task);
}

static gboolean
bwrap_stuck_cb (gpointer user_data)
{
  SbxBwrapSandbox *self = g_task_get_source_object (user_data);

  /* It only waits for process 1, which is gone: somebody stopped it. */
  g_subprocess_force_exit (self->bwrap);

  return G_SOURCE_REMOVE;
}

static void
channel_closed_cb (GObject      *object,
                   GAsyncResult *result,
                   gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  SbxBwrapSandbox *self = g_task_get_source_object (task);
  GSource *grace;

  _sbx_init_channel_close_finish (SBX_INIT_CHANNEL (object), result, NULL);

  if (self->bwrap == NULL)
    {
      begin_removal (task);
      return;
    }

  grace = g_timeout_source_new (BWRAP_GRACE_MS);
  g_task_set_task_data (task, grace, (GDestroyNotify) g_source_unref);
  g_task_attach_source (task, grace, bwrap_stuck_cb);
  g_subprocess_wait_async (self->bwrap, NULL, bwrap_gone_cb, g_steal_pointer (&task));
}

void
_sbx_bwrap_sandbox_close_async (SbxBwrapSandbox     *self,
                                GCancellable        *cancellable,
                                GAsyncReadyCallback  callback,
                                gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (self, NULL, callback, user_data);

  g_task_set_source_tag (task, _sbx_bwrap_sandbox_close_async);
  g_assert (!self->closing);
  self->closing = TRUE;
  if (self->watch != NULL)
    _sbx_bwrap_watch_stop (self->watch);
  if (self->state->quarantine != NULL)
    _sbx_bwrap_quarantine_disarm (self->state->quarantine);

  if (self->channel != NULL)
    _sbx_init_channel_close_async (self->channel, CLOSE_GRACE_MS, cancellable,
                                   channel_closed_cb, g_steal_pointer (&task));
  else
    begin_removal (task);
}

gboolean
_sbx_bwrap_sandbox_close_finish (SbxBwrapSandbox  *self,
                                 GAsyncResult     *result,
                                 GError          **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}
