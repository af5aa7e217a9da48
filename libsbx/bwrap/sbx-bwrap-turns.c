/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-turns-private.h"

#define MAX_TURNS 3

typedef struct
{
  GMainContext     *context;
  SbxBwrapTurnFunc  begin;
  SbxBwrapTurnFunc  dropped;   /* %NULL once begun */
  gpointer          user_data;
} Turn;

static GMutex lock;
static GQueue waiting = G_QUEUE_INIT;   /* of owned Turn */
static guint taken;

static void
turn_free (gpointer data)
{
  Turn *turn = data;

  if (turn->dropped != NULL)
    turn->dropped (turn->user_data);

  g_main_context_unref (turn->context);
  g_free (turn);
}

static gboolean
begin_cb (gpointer data)
{
  Turn *turn = data;

  turn->dropped = NULL;

  /* Who iterates a context need not have made it the thread's default, as the one who asked had. */
  g_main_context_push_thread_default (turn->context);
  turn->begin (turn->user_data);
  g_main_context_pop_thread_default (turn->context);

  return G_SOURCE_REMOVE;
}

void
_sbx_bwrap_turn_take (SbxBwrapTurnFunc begin,
                      SbxBwrapTurnFunc dropped,
                      gpointer         user_data)
{
  Turn *turn = NULL;

  g_mutex_lock (&lock);
  if (taken < MAX_TURNS)
    taken++;
  else
    {
      turn = g_new (Turn, 1);
      *turn = (Turn) { g_main_context_ref_thread_default (), begin, dropped, user_data };
      g_queue_push_tail (&waiting, turn);
    }
  g_mutex_unlock (&lock);

  if (turn == NULL)
    begin (user_data);
}

void
_sbx_bwrap_turn_pass (void)
{
  g_autoptr(GSource) source = NULL;
  Turn *next;

  g_mutex_lock (&lock);
  next = g_queue_pop_head (&waiting);
  if (next == NULL)
    taken--;
  g_mutex_unlock (&lock);

  if (next == NULL)
    return;

  source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, begin_cb, next, turn_free);
  g_source_attach (source, next->context);
}
