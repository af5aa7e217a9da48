/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "client/sbx-client-connection-struct-private.h"

#include "core/sbx-error.h"

#include <glib/gi18n-lib.h>

/*
 * How a connection ends. The end of the process and the end of its output are two events, in any
 * order: somebody else may hold its end of the pipe, and it may close it and go on.
 */

/* How long the other of the two may take, where that tells the better cause. */
#define LAST_WORD_MS 250

static GError *
describe_end (SbxClientConnection *self,
              const char          *cause)
{
  g_autofree char *tail = self->errors != NULL ? _sbx_client_stderr_get_tail (self->errors) : NULL;

  if (tail == NULL || *tail == '\0')
    return g_error_new_literal (SBX_ERROR, SBX_ERROR_LOST, cause);

  return g_error_new (SBX_ERROR, SBX_ERROR_LOST, _("%s. Its last words: %s"), cause, tail);
}

static void
tell_gone (SbxClientConnection *self)
{
  g_autoptr(GObject) owner = NULL;

  if (self->gone_told || !self->exited || self->failure == NULL || self->funcs == NULL)
    return;

  self->gone_told = TRUE;
  owner = g_weak_ref_get (&self->owner);
  if (owner != NULL)
    self->funcs->gone (owner);

  /* Whoever else has its end of that pipe is no concern of ours. */
  g_clear_pointer (&self->errors, _sbx_client_stderr_free);
}

void
_sbx_client_connection_break (SbxClientConnection *self,
                              GError              *error,
                              guint                patience_ms)
{
  g_autoptr(SbxClientConnection) keep G_GNUC_UNUSED = g_rc_box_acquire (self);
  g_autoptr(GObject) owner = g_weak_ref_get (&self->owner);

  if (self->failure != NULL || self->funcs == NULL)
    {
      g_error_free (error);
      return;
    }

  self->failure = error;
  g_source_set_ready_time (self->timer, -1);
  g_clear_pointer (&self->reader, _sbx_wire_reader_free);
  g_clear_pointer (&self->writer, _sbx_wire_writer_free);
  _sbx_client_connection_end_child (self, patience_ms);

  if (owner != NULL)
    self->funcs->broken (owner, self->failure);
  tell_gone (self);
}

void
_sbx_client_connection_give_up (SbxClientConnection *self,
                                const char          *cause,
                                guint                patience_ms)
{
  g_autoptr(SbxClientConnection) keep G_GNUC_UNUSED = g_rc_box_acquire (self);
  g_autofree char *copy = g_strdup (cause);

  /* What is logged by that may end in the end of all. */
  if (self->errors != NULL)
    _sbx_client_stderr_catch_up (self->errors);

  if (self->failure == NULL && self->funcs != NULL)
    _sbx_client_connection_break (self, describe_end (self, copy), patience_ms);
}

static void
give_up_exited (SbxClientConnection *self)
{
  g_autofree char *how = _sbx_provider_child_describe (self->child);
  g_autofree char *cause = g_strdup_printf (_("The provider %s %s"), self->program, how);

  _sbx_client_connection_give_up (self, cause, 0);
}

/* The process is at fault, or is just ending: then how it ended is the better cause. */
static void
await_exit (SbxClientConnection *self,
            char                *cause)
{
  if (self->exited && self->read_all)
    {
      g_free (cause);
      give_up_exited (self);
      return;
    }

  /* Whoever ended its input waits for it, and has more patience. */
  if (self->end_by != 0 || self->finished)
    {
      g_free (cause);
      return;
    }

  self->end_cause = cause;
  self->end_by = g_get_monotonic_time () + LAST_WORD_MS * 1000;
  _sbx_client_connection_arm (self, self->end_by);
}

void
_sbx_client_connection_end_cb (SbxWireReader *reader,
                               const GError  *error,
                               gpointer       user_data)
{
  g_autoptr(SbxClientConnection) self = g_rc_box_acquire ((SbxClientConnection *) user_data);
  g_autofree char *cause = NULL;

  self->read_all = TRUE;

  if (g_error_matches (error, SBX_ERROR, SBX_ERROR_TOO_LARGE))
    cause = g_strdup_printf (_("The provider %s sent a line of more than %zu bytes and was ended; "
                               "allow larger messages if that was meant to be"),
                             self->program, self->max_size);
  else if (error != NULL)
    cause = g_strdup_printf (_("The provider %s cannot be read from (%s) and was ended"),
                             self->program, error->message);

  if (cause != NULL)
    _sbx_client_connection_give_up (self, cause, 0);
  else
    await_exit (self, g_strdup_printf (_("The provider %s closed its output and was ended"),
                                       self->program));
}

void
_sbx_client_connection_writer_cb (SbxWireWriter *writer,
                                  const GError  *error,
                                  gpointer       user_data)
{
  SbxClientConnection *self = user_data;

  if (error != NULL)
    await_exit (self, g_strdup_printf (_("The provider %s cannot be written to (%s) and was "
                                         "ended"), self->program, error->message));
}

void
_sbx_client_connection_exited_cb (SbxProviderChild *child,
                                  gpointer          user_data)
{
  g_autoptr(SbxClientConnection) self = g_rc_box_acquire ((SbxClientConnection *) user_data);

  self->exited = TRUE;

  /* What it still said counts, and is bounded: no reader is slow enough to hold up the end. */
  if (self->failure == NULL && self->reader != NULL && !self->read_all)
    {
      _sbx_client_connection_unpause (self);
      _sbx_wire_reader_finish (self->reader);
    }

  if (self->failure == NULL && self->read_all && self->funcs != NULL)
    give_up_exited (self);

  tell_gone (self);
}

void
_sbx_client_connection_drain (SbxClientConnection *self,
                              const GError        *error)
{
  g_autoptr(SbxClientConnection) keep G_GNUC_UNUSED = g_rc_box_acquire (self);
  g_autoptr(GPtrArray) calls = NULL;

  calls = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_client_call_unref);
  for (GList *link = self->queue.head; link != NULL; link = link->next)
    if (!((SbxClientCall *) link->data)->klass->insists)
      g_ptr_array_add (calls, _sbx_client_call_ref (link->data));

  for (guint i = 0; i < calls->len; i++)
    _sbx_client_call_give_up (g_ptr_array_index (calls, i), error);

  self->draining = TRUE;
  if (self->funcs != NULL)
    _sbx_client_connection_pump (self);
}

void
_sbx_client_connection_finish (SbxClientConnection *self)
{
  self->finished = TRUE;
  _sbx_client_connection_flush (self);
  if (self->writer != NULL)
    _sbx_wire_writer_finish (self->writer);
}

void
_sbx_client_connection_fail_calls (SbxClientConnection *self,
                                   const GError        *error)
{
  g_autoptr(SbxClientConnection) keep G_GNUC_UNUSED = g_rc_box_acquire (self);
  g_autoptr(GPtrArray) calls = NULL;
  GHashTableIter iter;
  gpointer call;
  GList *link;

  /* All are out of the tables before anybody is told; those in flight come first. */
  calls = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_client_call_unref);
  while ((link = g_queue_peek_head_link (&self->in_flight)) != NULL)
    g_ptr_array_add (calls, _sbx_client_connection_take_out (self, link->data));
  while ((link = g_queue_peek_head_link (&self->queue)) != NULL)
    g_ptr_array_add (calls, _sbx_client_connection_take_out (self, link->data));

  g_hash_table_iter_init (&iter, self->by_number);
  while (g_hash_table_iter_next (&iter, NULL, &call))
    {
      ((SbxClientCall *) call)->connection = NULL;
      ((SbxClientCall *) call)->state = SBX_CLIENT_CALL_OVER;
      g_hash_table_iter_steal (&iter);
      g_ptr_array_add (calls, call);
    }

  _sbx_client_connection_changed (self);

  for (guint i = 0; i < calls->len; i++)
    {
      SbxClientCall *failed = g_ptr_array_index (calls, i);

      if (!failed->told)
        {
          failed->told = TRUE;
          failed->klass->failed (failed, error);
        }
    }
}

void
_sbx_client_connection_foreach_followed (SbxClientConnection *self,
                                         SbxClientCallFunc    func,
                                         gpointer             user_data)
{
  g_autoptr(SbxClientConnection) keep G_GNUC_UNUSED = g_rc_box_acquire (self);
  g_autoptr(GPtrArray) calls = NULL;
  GHashTableIter iter;
  gpointer call;

  calls = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_client_call_unref);
  g_hash_table_iter_init (&iter, self->by_number);
  while (g_hash_table_iter_next (&iter, NULL, &call))
    if (((SbxClientCall *) call)->state == SBX_CLIENT_CALL_FOLLOWED)
      g_ptr_array_add (calls, _sbx_client_call_ref (call));

  for (guint i = 0; i < calls->len; i++)
    if (((SbxClientCall *) g_ptr_array_index (calls, i))->state == SBX_CLIENT_CALL_FOLLOWED)
      func (g_ptr_array_index (calls, i), user_data);
}

void
_sbx_client_connection_end_child (SbxClientConnection *self,
                                  guint                patience_ms)
{
  if (self->child != NULL && !self->exited)
    _sbx_provider_child_end (self->child, patience_ms);
}

void
_sbx_client_connection_kill (SbxClientConnection *self)
{
  if (self->child != NULL && !self->exited)
    _sbx_provider_child_kill (self->child);
}

GError *
_sbx_client_connection_judge_end (SbxClientConnection *self)
{
  g_autofree char *how = NULL;
  g_autofree char *cause = NULL;

  if (self->child == NULL || !self->exited || _sbx_provider_child_was_success (self->child))
    return NULL;

  how = _sbx_provider_child_describe (self->child);
  cause = g_strdup_printf (_("The provider %s %s"), self->program, how);

  return describe_end (self, cause);
}
