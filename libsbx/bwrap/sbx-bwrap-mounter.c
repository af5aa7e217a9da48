/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-mounter-private.h"

#include "bwrap/sbx-bwrap-init-program-private.h"
#include "core/sbx-error.h"
#include "core/sbx-source-private.h"
#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-memfd-private.h"
#include "process/sbx-child-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

/*
 * Runs sbx-mount, and waits for its one reply: a thread starts it, since that takes a while, and
 * the end of its pipe is the end of it.
 */
typedef struct
{
  GPtrArray    *paths;         /* (element-type filename) for errors */
  int           list;
  int           pidfd;
  int           reply;         /* our end of the pipe */
  guint         deadline_ms;
  GSubprocess  *process;
  GSource      *readable;
  GSource      *deadline;
  GSource      *cancelled;
} Run;

static void
run_disarm (Run *run)
{
  _sbx_clear_source (&run->readable);
  _sbx_clear_source (&run->deadline);
  _sbx_clear_source (&run->cancelled);
}

static void
run_free (Run *run)
{
  run_disarm (run);
  g_clear_object (&run->process);
  g_clear_pointer (&run->paths, g_ptr_array_unref);
  _sbx_clear_fd (&run->list);
  _sbx_clear_fd (&run->pidfd);
  _sbx_clear_fd (&run->reply);
  g_free (run);
}

void
_sbx_late_mount_clear (SbxLateMount *self)
{
  g_clear_pointer (&self->path, g_free);
}

static int
pack (const SbxLateMount  *mounts,
      gsize                n_mounts,
      GError             **error)
{
  SbxMountHead head = { .magic = SBX_MOUNT_MAGIC, .version = SBX_MOUNT_VERSION };
  g_autoptr(GByteArray) data = g_byte_array_new ();

  if (n_mounts > SBX_MOUNT_MAX_ENTRIES)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                           _("The sandbox has too many mounts; let it reach fewer paths"));
      return -1;
    }

  g_byte_array_append (data, (const guint8 *) &head, sizeof head);
  for (gsize i = 0; i < n_mounts; i++)
    {
      const SbxMountEntry entry = {
        .device = mounts[i].device, .inode = mounts[i].inode, .kind = mounts[i].kind,
      };

      g_byte_array_append (data, (const guint8 *) &entry, sizeof entry);
    }

  for (gsize i = 0; i < n_mounts; i++)
    g_byte_array_append (data, (const guint8 *) mounts[i].path,
                         (guint) strlen (mounts[i].path) + 1);

  head.size = data->len;
  head.n_entries = (guint32) n_mounts;
  memcpy (data->data, &head, sizeof head);

  return _sbx_memfd_sealed ("sbx-mounts", data->data, data->len, error);
}

/* Whoever takes it out of the sources is the only one to return it. */
static void
return_error (GTask  *task,
              GError *error)
{
  Run *run = g_task_get_task_data (task);
  g_autoptr(GTask) keep = g_object_ref (task);

  run_disarm (run);
  if (run->process != NULL)
    g_subprocess_force_exit (run->process);

  g_task_return_error (keep, error);
}

static GError *
describe (Run                 *run,
          const SbxMountReply *reply)
{
  const gboolean about_path = reply->stage >= SBX_MOUNT_AT_OPEN && reply->n_done < run->paths->len;
  g_autofree char *quoted = NULL;

  if (!about_path)
    return g_error_new (SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                        _("Nothing can be mounted in the running sandbox: %s"),
                        g_strerror (reply->error));

  quoted = _sbx_text_quote (g_ptr_array_index (run->paths, reply->n_done));

  if (reply->stage == SBX_MOUNT_AT_COMPARE)
    return g_error_new (SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                        _("%s is something else inside the sandbox than what was looked up; it was "
                          "replaced meanwhile. Try again, and find out what replaces it"), quoted);

  return g_error_new (SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                      _("%s cannot be protected in the running sandbox: %s"), quoted,
                      g_strerror (reply->error));
}

static gboolean
readable_cb (int          fd,
             GIOCondition condition,
             gpointer     user_data)
{
  GTask *task = user_data;
  Run *run = g_task_get_task_data (task);
  SbxMountReply reply;
  gssize n;

  do
    n = read (fd, &reply, sizeof reply);
  while (n < 0 && errno == EINTR);

  if (n < 0 && errno == EAGAIN)
    return G_SOURCE_CONTINUE;

  if (n != sizeof reply || reply.magic != SBX_MOUNT_MAGIC || reply.version != SBX_MOUNT_VERSION ||
      reply.n_done > run->paths->len || reply.stage >= SBX_MOUNT_N_STAGES ||
      (reply.error == 0) != (reply.stage == SBX_MOUNT_AT_NONE) ||
      (reply.error == 0 && reply.n_done != run->paths->len))
    {
      return_error (task, g_error_new_literal (SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                                               _("The program that mounts in a running sandbox "
                                                 "ended without an answer")));
    }
  else if (reply.error != 0)
    {
      return_error (task, describe (run, &reply));
    }
  else
    {
      g_autoptr(GTask) keep = g_object_ref (task);

      run_disarm (run);
      g_task_return_boolean (keep, TRUE);
    }

  return G_SOURCE_REMOVE;
}

static gboolean
deadline_cb (gpointer user_data)
{
  return_error (user_data, g_error_new_literal (G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                                                _("Mounting in the running sandbox took too "
                                                  "long")));

  return G_SOURCE_REMOVE;
}

static gboolean
cancelled_cb (GCancellable *cancellable,
              gpointer      user_data)
{
  GError *error = NULL;

  g_cancellable_set_error_if_cancelled (cancellable, &error);
  return_error (user_data, error);

  return G_SOURCE_REMOVE;
}

/* The sources hold the task, and are destroyed when it is returned. */
static GSource *
arm (GTask       *task,
     GSource     *source,
     GSourceFunc  func)
{
  g_source_set_callback (source, func, g_object_ref (task), g_object_unref);
  g_source_attach (source, g_task_get_context (task));

  return source;
}

static void
spawned_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  g_autoptr(GTask) task = user_data;
  Run *run = g_task_get_task_data (task);
  GError *error = NULL;

  if (!g_task_propagate_boolean (G_TASK (result), &error))
    {
      g_task_return_error (task, error);
      return;
    }

  run->readable = arm (task, g_unix_fd_source_new (run->reply, G_IO_IN | G_IO_HUP | G_IO_ERR),
                       G_SOURCE_FUNC (readable_cb));
  run->deadline = arm (task, g_timeout_source_new (run->deadline_ms), deadline_cb);
  if (g_task_get_cancellable (task) != NULL)
    run->cancelled = arm (task, g_cancellable_source_new (g_task_get_cancellable (task)),
                          G_SOURCE_FUNC (cancelled_cb));
}

static gboolean
spawn (Run     *run,
       GError **error)
{
  g_autofree char *program = _sbx_bwrap_find_mount_program (error);
  const char * const argv[] = { program, NULL };
  SbxChildFd fds[3];
  int ends[2];

  if (program == NULL || !g_unix_open_pipe (ends, FD_CLOEXEC, error))
    return FALSE;

  run->reply = ends[0];
  g_unix_set_fd_nonblocking (run->reply, TRUE, NULL);

  fds[0] = (SbxChildFd) { g_steal_fd (&run->pidfd), SBX_MOUNT_PIDFD };
  fds[1] = (SbxChildFd) { g_steal_fd (&run->list), SBX_MOUNT_LIST_FD };
  fds[2] = (SbxChildFd) { ends[1], SBX_MOUNT_REPLY_FD };
  run->process = _sbx_child_spawn (argv, fds, G_N_ELEMENTS (fds), error);

  return run->process != NULL;
}

static void
spawn_in_thread (GTask        *task,
                 gpointer      source_object,
                 gpointer      task_data,
                 GCancellable *cancellable)
{
  GError *error = NULL;

  if (spawn (task_data, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

void
_sbx_bwrap_mounter_run_async (int                  pidfd,
                              const SbxLateMount  *mounts,
                              gsize                n_mounts,
                              guint                deadline_ms,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  g_autoptr(GTask) spawning = NULL;
  GError *error = NULL;
  Run *run = g_new0 (Run, 1);

  g_task_set_source_tag (task, _sbx_bwrap_mounter_run_async);
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, run, (GDestroyNotify) run_free);
  run->reply = -1;
  run->deadline_ms = deadline_ms;
  run->paths = g_ptr_array_new_with_free_func (g_free);
  for (gsize i = 0; i < n_mounts; i++)
    g_ptr_array_add (run->paths, g_strdup (mounts[i].path));
  run->pidfd = fcntl (pidfd, F_DUPFD_CLOEXEC, 0);
  run->list = n_mounts > 0 ? pack (mounts, n_mounts, &error) : -1;

  if (g_task_return_error_if_cancelled (task))
    {
      g_clear_error (&error);
      return;
    }

  if (error != NULL || run->pidfd < 0)
    {
      g_task_return_error (task, error != NULL
                                   ? error
                                   : g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED,
                                                          g_strerror (errno)));
      return;
    }

  if (n_mounts == 0)
    {
      g_task_return_boolean (task, TRUE);
      return;
    }

  spawning = g_task_new (NULL, NULL, spawned_cb, g_steal_pointer (&task));
  g_task_set_source_tag (spawning, spawn_in_thread);
  g_task_set_task_data (spawning, run, NULL);
  g_task_run_in_thread (spawning, spawn_in_thread);
}

gboolean
_sbx_bwrap_mounter_run_finish (GAsyncResult  *result,
                               GError       **error)
{
  g_return_val_if_fail (g_async_result_is_tagged (result, _sbx_bwrap_mounter_run_async), FALSE);

  return g_task_propagate_boolean (G_TASK (result), error);
}
