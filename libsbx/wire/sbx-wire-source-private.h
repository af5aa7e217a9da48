/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * SbxWireSource:
 *
 * What readers and writers have in a main context: one source as long as they live, which waits for
 * a descriptor only while it is asked to. It may be dispatched from within itself, since whoever
 * handles a line may run the loop until another line came.
 */
typedef struct _SbxWireSource SbxWireSource;

typedef void (*SbxWireSourceFunc) (gpointer user_data);

SbxWireSource *_sbx_wire_source_new       (int                fd,
                                           GMainContext      *context,
                                           SbxWireSourceFunc  func,
                                           gpointer           user_data);
void           _sbx_wire_source_free      (SbxWireSource     *self);

SbxWireSource *_sbx_wire_source_ref       (SbxWireSource     *self);
void           _sbx_wire_source_unref     (SbxWireSource     *self);
GMainContext  *_sbx_wire_source_get_context (SbxWireSource   *self);

/* Waits for @condition, or with 0 for nothing. */
void           _sbx_wire_source_watch     (SbxWireSource     *self,
                                           GIOCondition       condition);

/* Whether the function is called at the next turn in any case, once. To be set in the thread of the
 * context: it does not wake the loop. */
void           _sbx_wire_source_set_ready (SbxWireSource     *self,
                                           gboolean           ready);

/* From any thread: the function is called, unless the source was freed. Who has not freed it itself
 * needs references to it and to its context. */
void           _sbx_wire_source_wake      (SbxWireSource     *self);

/* A descriptor that is to be read or written without waiting. */
typedef struct
{
  int      fd;
  int      flags;     /* as they were */
  gboolean grown;
} SbxWireFd;

/* Takes @fd. */
void           _sbx_wire_fd_init          (SbxWireFd         *self,
                                           int                fd);

/* Gives it its flags again, for others may have it too, and closes it. */
void           _sbx_wire_fd_close         (SbxWireFd         *self);

/* Makes a pipe larger, the first time, if that may be. Only for those that need it: a user has so
 * many pages for all pipes, and who has none left gets pipes of two. */
gboolean       _sbx_wire_fd_grow          (SbxWireFd         *self);

/* Room to read into and to write from, of which a thread needs little at a time, however many
 * readers and writers it has. */
#define SBX_WIRE_BUFFER_SIZE (256 * 1024)

gpointer       _sbx_wire_buffer_take      (void);
void           _sbx_wire_buffer_give_back (gpointer           buffer);

G_END_DECLS
