/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-command.h"

G_BEGIN_DECLS

/*
 * SbxInput:
 *
 * The standard input of a process, on its way from the user to whoever runs the command.
 */
typedef struct
{
  GMainContext  *context;    /* not owned */
  int            read_fd;    /* the command's end, until it is stolen */
  int            write_fd;   /* ours, while there are bytes to write */
  GOutputStream *pipe;       /* the user's */
  GInputStream  *reader;     /* what an implementation without descriptors reads */
  GBytes        *bytes;
  gsize          written;
  GSource       *writer;
} SbxInput;

gboolean      _sbx_input_init       (SbxInput      *self,
                                     GMainContext  *context,
                                     SbxStdin       source,
                                     GBytes        *bytes,
                                     GError       **error);
void          _sbx_input_clear      (SbxInput      *self);
/* Begins to feed the bytes. */
void          _sbx_input_start      (SbxInput      *self);
/* The end that a command reads from; the caller owns it. -1 where there is no input. */
int           _sbx_input_steal_fd   (SbxInput      *self);
GInputStream *_sbx_input_get_reader (SbxInput      *self);
/* The command has ended: who still writes is told that nobody reads. */
void          _sbx_input_finish     (SbxInput      *self);

G_END_DECLS
