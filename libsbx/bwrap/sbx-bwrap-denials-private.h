/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-plan.h"

#include <linux/seccomp.h>

G_BEGIN_DECLS

/*
 * SbxBwrapDenials:
 *
 * Finds out what one command is likely to have been refused. A thread of its own is told of the
 * command's calls before the kernel does them, lets each go on, and asks the plan what must have
 * become of it. Nothing is decided here, and all of it is up to the command: what it says is
 * bounded, and never trusted.
 */
typedef struct _SbxBwrapDenials SbxBwrapDenials;

typedef void (*SbxBwrapDenialsDone) (gpointer user_data);

/* Starts the thread; @sandbox_fd is the end for process 1, to be closed by the caller once it was
 * sent. %NULL when it cannot be done: then the command runs without. */
SbxBwrapDenials *_sbx_bwrap_denials_new     (SbxPlan              *plan,
                                             GMainContext         *context,
                                             int                  *sandbox_fd);
void             _sbx_bwrap_denials_unref   (SbxBwrapDenials      *self);

/* The command and all that it started has ended: @done runs once in the context when what it did
 * last was seen too, or after a while. */
void             _sbx_bwrap_denials_end     (SbxBwrapDenials      *self,
                                             SbxBwrapDenialsDone   done,
                                             gpointer              user_data);
/* Of SbxDenial, what there is by now. */
GListModel      *_sbx_bwrap_denials_collect (SbxBwrapDenials      *self,
                                             guint64              *truncated);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapDenials, _sbx_bwrap_denials_unref)

/* What a call was about to do. */
typedef enum
{
  SBX_BWRAP_TRY_READ,
  SBX_BWRAP_TRY_WRITE,        /* what is there */
  SBX_BWRAP_TRY_CREATE,       /* … or to make it */
  SBX_BWRAP_TRY_MAKE,         /* fails where something is */
  SBX_BWRAP_TRY_REPLACE,      /* gives the name to something else */
  SBX_BWRAP_TRY_REMOVE,
  SBX_BWRAP_TRY_CONNECT,
  SBX_BWRAP_TRY_NETWORK,      /* the path is an address and a port */
} SbxBwrapTry;

typedef struct
{
  SbxBwrapTry  what;
  char        *path;          /* absolute, inside */
} SbxBwrapTried;

#define SBX_BWRAP_MAX_TRIED 2

/* sbx-bwrap-denials-decode.c: reads the memory of whoever called, which may change it meanwhile.
 * Gives how many of @tried, whose paths are then the caller's, were filled in. */
guint            _sbx_bwrap_denials_decode  (const struct seccomp_notif *call,
                                             SbxBwrapTried               tried[]);

/* sbx-bwrap-denials-judge.c */
typedef struct _SbxBwrapJudge SbxBwrapJudge;

SbxBwrapJudge   *_sbx_bwrap_judge_new       (SbxPlan              *plan);
void             _sbx_bwrap_judge_free      (SbxBwrapJudge        *self);
/* Blocks on the disk. */
void             _sbx_bwrap_judge_add       (SbxBwrapJudge        *self,
                                             const SbxBwrapTried  *tried);
/* The only ones for any thread. */
GListModel      *_sbx_bwrap_judge_list      (SbxBwrapJudge        *self,
                                             guint64              *truncated);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxBwrapJudge, _sbx_bwrap_judge_free)

G_END_DECLS
