/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-job-private.h"

/* As many peers as send that much at a time. */
#define MAX_THREADS 4

typedef struct
{
  GDestroyNotify func;
  gpointer       data;
} Work;

struct _SbxWireJob
{
  gatomicrefcount  ref_count;
  SbxWireLine     *line;
  SbxWireSource   *source;
  GMainContext    *context;
  int              done;
};

static void
work_cb (gpointer data,
         gpointer user_data)
{
  Work *work = data;

  work->func (work->data);
  g_free (work);
}

/* What GLib cannot have a thread for now waits for one that it has. */
static void
push (GDestroyNotify func,
      gpointer       data)
{
  static GThreadPool *pool;
  Work *work = g_new (Work, 1);

  if (g_once_init_enter (&pool))
    g_once_init_leave (&pool, g_thread_pool_new (work_cb, NULL, MAX_THREADS, FALSE, NULL));

  *work = (Work) { func, data };
  g_thread_pool_push (pool, work, NULL);
}

static void
job_unref (SbxWireJob *self)
{
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;

  g_clear_pointer (&self->line, _sbx_wire_line_unref);
  _sbx_wire_source_unref (self->source);
  g_main_context_unref (self->context);
  g_free (self);
}

static void
parse_cb (gpointer data)
{
  SbxWireJob *self = data;

  _sbx_wire_line_parse (self->line);
  g_atomic_int_set (&self->done, TRUE);
  _sbx_wire_source_wake (self->source);
  job_unref (self);
}

SbxWireJob *
_sbx_wire_job_new (SbxWireLine   *line,
                   SbxWireSource *source)
{
  SbxWireJob *self = g_new0 (SbxWireJob, 1);

  g_atomic_ref_count_init (&self->ref_count);
  g_atomic_ref_count_inc (&self->ref_count);
  self->line = line;
  self->source = _sbx_wire_source_ref (source);
  self->context = g_main_context_ref (_sbx_wire_source_get_context (source));
  push (parse_cb, self);

  return self;
}

gboolean
_sbx_wire_job_is_done (SbxWireJob *self)
{
  return g_atomic_int_get (&self->done);
}

SbxWireLine *
_sbx_wire_job_finish (SbxWireJob *self)
{
  SbxWireLine *line = g_steal_pointer (&self->line);

  job_unref (self);

  return line;
}

void
_sbx_wire_job_drop (SbxWireJob *self)
{
  job_unref (self);
}

void
_sbx_wire_job_free (GDestroyNotify func,
                    gpointer       data)
{
  push (func, data);
}
