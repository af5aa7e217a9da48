/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-sync-private.h"

#include "core/sbx-error.h"

#include <glib/gi18n-lib.h>

struct _SbxSync
{
  GObject      *object;
  GAsyncResult *result;
};

/* Where an object is at home. */
typedef struct
{
  GMainContext *context;
  GThread      *thread;    /* that it was made in; owned, or another could be taken for it */
} SbxHome;

static G_DEFINE_QUARK (sbx-home, sbx_home)

static void
home_free (gpointer data)
{
  SbxHome *home = data;

  g_main_context_unref (home->context);
  g_thread_unref (home->thread);
  g_free (home);
}

static SbxHome *
home_of (GObject *object)
{
  SbxHome *home = g_object_get_qdata (object, sbx_home_quark ());

  if (home == NULL)
    {
      home = g_new0 (SbxHome, 1);
      home->context = g_main_context_ref_thread_default ();
      home->thread = g_thread_ref (g_thread_self ());
      g_object_set_qdata_full (object, sbx_home_quark (), home, home_free);
    }

  return home;
}

GMainContext *
_sbx_context_of (GObject *object)
{
  return home_of (object)->context;
}

gboolean
_sbx_context_enter (GObject  *object,
                    GError  **error)
{
  SbxHome *home = home_of (object);
  GMainContext *context = home->context;
  g_autoptr(GMainContext) own = g_main_context_ref_thread_default ();

  /* A context that nobody has at the moment may be one that nobody ever iterates again. */
  if ((own != context && home->thread != g_thread_self () && !g_main_context_is_owner (context)) ||
      !g_main_context_acquire (context))
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_BUSY,
                   _("This %s belongs to another thread; call it from there"),
                   G_OBJECT_TYPE_NAME (object));
      return FALSE;
    }

  g_main_context_push_thread_default (context);

  return TRUE;
}

void
_sbx_context_leave (GObject *object)
{
  GMainContext *context = _sbx_context_of (object);

  g_main_context_pop_thread_default (context);
  g_main_context_release (context);
}

SbxSync *
_sbx_sync_begin (GObject  *object,
                 GError  **error)
{
  SbxHome *home = home_of (object);
  SbxSync *self;

  /* A context that nobody iterates at the moment could be had by any thread; it is not for any. */
  if (!g_main_context_is_owner (home->context) && home->thread != g_thread_self ())
    {
      g_set_error (error, SBX_ERROR, SBX_ERROR_BUSY,
                   _("This %s belongs to another thread; call it from there"),
                   G_OBJECT_TYPE_NAME (object));
      return NULL;
    }

  if (!_sbx_context_enter (object, error))
    return NULL;

  self = g_new0 (SbxSync, 1);
  self->object = g_object_ref (object);

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
    g_main_context_iteration (_sbx_context_of (self->object), TRUE);

  return self->result;
}

void
_sbx_sync_end (SbxSync *self)
{
  g_clear_object (&self->result);
  _sbx_context_leave (self->object);
  g_clear_object (&self->object);
  g_free (self);
}
