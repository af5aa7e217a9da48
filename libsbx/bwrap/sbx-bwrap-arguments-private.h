/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "bwrap/sbx-bwrap-plan-private.h"
#include "bwrap/sbx-bwrap-probe-private.h"

G_BEGIN_DECLS

/* The number of the first descriptor that bwrap inherits for a plan. */
#define SBX_BWRAP_FIRST_FD 10

typedef struct
{
  int source;   /* ours until the launcher takes it: then set this to -1 */
  int target;   /* the number that bwrap must inherit it as */
} SbxBwrapFd;

/* A bwrap command line. */
typedef struct
{
  char   **argv;   /* bwrap --args N -- process 1 */
  GArray  *fds;    /* (element-type SbxBwrapFd) all that it needs; targets are distinct and start
                    * at SBX_BWRAP_FIRST_FD */
  GBytes  *data;   /* the arguments themselves, each ended by NUL; also in the descriptor N */
} SbxBwrapArguments;

/* @plan's placeholders must have been made. @seccomp_fd is taken, also on error; -1 leaves the
 * filter out, which only a test does. */
SbxBwrapArguments *_sbx_bwrap_arguments_new  (SbxBwrapPlan           *plan,
                                              const SbxBwrapProgram  *program,
                                              int                     seccomp_fd,
                                              GError                **error);
void               _sbx_bwrap_arguments_free (SbxBwrapArguments      *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapArguments, _sbx_bwrap_arguments_free)

G_END_DECLS
