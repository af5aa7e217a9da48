/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _SbxOutput SbxOutput;

/* @bytes came; they are also collected already. */
typedef void (*SbxOutputFunc) (SbxOutput *self,
                               GBytes    *bytes,
                               gpointer   user_data);
/* The reader found the end, or the queue to the pipe has room again. */
typedef void (*SbxOutputChangedFunc) (SbxOutput *self,
                                      gpointer   user_data);

/*
 * SbxOutput:
 *
 * One output of a process, on its way from whoever runs the command to whoever wants the output. On
 * the one side bytes are pushed, or a descriptor is handed out that the command writes to itself.
 * On the other side the bytes are delivered by a function, or come out of a pipe with
 * back-pressure.
 */
struct _SbxOutput
{
  GObject              *owner;          /* not owned; kept alive while something is delivered */
  GMainContext         *context;        /* not owned */
  SbxOutputFunc         deliver;
  SbxOutputChangedFunc  changed;
  gpointer              user_data;

  GInputStream         *pipe;           /* asked for by the user; nothing is delivered then */
  int                   write_fd;
  int                   read_fd;        /* only where the bytes are delivered */
  GSource              *reader;
  GSource              *writer;
  GQueue                queue;          /* of owned GBytes that wait for the pipe */
  gsize                 queued;         /* bytes in it */
  gsize                 written;        /* of the first of them */

  GByteArray           *collected;
  guint64               limit;
  guint64               truncated;
  guint                 finished : 1;   /* no more will be pushed */
};

void          _sbx_output_init       (SbxOutput             *self,
                                      GObject               *owner,
                                      GMainContext          *context,
                                      guint64                limit,
                                      SbxOutputFunc          deliver,
                                      SbxOutputChangedFunc   changed,
                                      gpointer               user_data);
void          _sbx_output_clear      (SbxOutput             *self);
GInputStream *_sbx_output_get_pipe   (SbxOutput             *self);
/* The end that a command writes to; the caller owns it. -1 with `errno` set, and @error where no
 * pipe could be made. */
int           _sbx_output_steal_fd   (SbxOutput             *self,
                                      GError               **error);
/* Reads from @fd, which it takes, until that ends. */
void          _sbx_output_take_fd    (SbxOutput             *self,
                                      int                    fd);
/* %FALSE when more waits for a reader than may. */
gboolean      _sbx_output_push       (SbxOutput             *self,
                                      GBytes                *bytes);
gint64        _sbx_output_get_credit (SbxOutput             *self);
/* Nothing more is pushed; the pipe ends when all that waits is through. */
void          _sbx_output_finish     (SbxOutput             *self);
/* Whether all has been delivered that ever will be. */
gboolean      _sbx_output_is_drained (SbxOutput             *self);
/* Delivers what is there at this moment, and reads no more. */
void          _sbx_output_drain      (SbxOutput             *self);
void          _sbx_output_stop       (SbxOutput             *self);
GBytes       *_sbx_output_collected  (SbxOutput             *self);
/* @bytes are all that was ever written, whatever was pushed. They are collected, not delivered. */
void          _sbx_output_set_collected (SbxOutput          *self,
                                         GBytes             *bytes);

G_END_DECLS
