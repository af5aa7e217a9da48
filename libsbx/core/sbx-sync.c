/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-sync-private.h"

#include "core/sbx-error.h"

#include <glib/gi18n-lib.h>

struct _SbxSync
{
  GMainContext *context;
  GAsyncResult *result;
};

static G_DEFINE_QUARK (sbx-context, sbx_context)

GMainContext *
_sbx_context_of (GObject *object)
{
  GMainContext *context = g_object_get_qdata (object, sbx_context_quark ());

  if (context == NULL)
    {
      context = g_main_context_ref_thread_default ();
      g_object_set_qdata_full (object, sbx_context_quark (), context,
                               (GDestroyNotify) g_main_context_unref);
    }

  return context;
}

SbxSync *
_sbx_sync_begin (GObject  *object,
                 GError  **error)
{
  GMainContext *context = _sbx_context_of (object);
  g_autoptr(GMainContext) own = g_main_context_ref_thread_default ();
  SbxSync *self;

  if (own != context || !g_main_context_acquire (context))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_BUSY,
                   _("This %s belongs to another thread; call it from there"),
                   G_OBJECT_TYPE_NAME (object));
      return NULL;
    }

  self = g_new0 (SbxSync, 1);
  self->context = g_main_context_ref (context);

  return self;
}

void
_sbx_sync_done_cb (GObject      *object,
                   GAsyncResult *result,
                   gpointer      user_data)
{
  SbxSync *self = user_data;

  self->result = g_object_ref (result);
}

GAsyncResult *
_sbx_sync_wait (SbxSync *self)
{
  while (self->result == NULL)
    g_main_context_iteration (self->context, TRUE);

  return self->result;
}

void
_sbx_sync_end (SbxSync *self)
{
  g_clear_object (&self->result);
  g_main_context_release (self->context);
  g_clear_pointer (&self->context, g_main_context_unref);
  g_free (self);
}
