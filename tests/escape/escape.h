/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sbx.h>

#include "test-util.h"

G_BEGIN_DECLS

/*
 * A real sandbox, opened through the library, that may write one directory in which the attacker
 * lies. All that a test program makes is below one directory that goes when it ends, and its home
 * is there, so that nothing of the user's is touched.
 */
typedef struct
{
  char             *work;       /* may be written by the sandbox */
  char             *attack;     /* the attacker's program, in it */
  SbxBwrapProvider *provider;
  SbxSession       *session;
} EscapeBox;

/* How many seconds one test may take before the program is killed. */
#define ESCAPE_DEADLINE_S 120

void           escape_init       (int               *argc,
                                  char            ***argv);
int            escape_run        (void);
const char    *escape_get_root   (void);

/* A place without a sandbox, and one with. */
void           escape_place      (EscapeBox         *box);
void           escape_open       (EscapeBox         *box);
SbxSession    *escape_try_open   (EscapeBox         *box,
                                  const char        *write,
                                  GError           **error);
void           escape_close      (EscapeBox         *box);
void           escape_box_clear  (EscapeBox         *box);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (EscapeBox, escape_box_clear)

/* Runs the attacker with these arguments; it must end by itself. Gives what it printed. */
char          *escape_attack     (EscapeBox         *box,
                                  ...) G_GNUC_NULL_TERMINATED;
SbxCommand    *escape_command    (EscapeBox         *box,
                                  ...) G_GNUC_NULL_TERMINATED;
SbxExecResult *escape_exec       (EscapeBox         *box,
                                  SbxCommand        *command);
/* Starts the attacker and waits until it says that all is in place. */
SbxProcess    *escape_hold       (EscapeBox         *box,
                                  SbxCommand        *command,
                                  char             **output);
char          *escape_get_stdout (SbxExecResult     *result);

/* The number that the attacker printed behind @name; it must have. */
gint64         escape_get        (const char        *output,
                                  const char        *name);
#define escape_assert(output, name, expected) \
  g_assert_cmpint (escape_get ((output), (name)), ==, (expected))

/* A shell script on the host. */
void           escape_outside    (const char        *cwd,
                                  const char        *script);

/* How many processes of the machine have @text in their command line. */
guint          escape_count      (const char        *text);

G_END_DECLS
