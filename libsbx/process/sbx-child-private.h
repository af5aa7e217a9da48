/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct
{
  int source;   /* closed here, also on error */
  int target;
} SbxChildFd;

/* Starts a program with descriptors of its own and nothing else: standard input and output are
 * /dev/null, standard error is a pipe that the caller drains, the environment is empty, and it is
 * in a session of its own, so that no key of the caller's terminal reaches it. It does not end with
 * the caller by itself. */
GSubprocess *_sbx_child_spawn (const char * const  *argv,
                               SbxChildFd          *fds,
                               gsize                n_fds,
                               GError             **error);

G_END_DECLS
