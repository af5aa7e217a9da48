/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stddef.h>

/*
 * The attacker. It is small and static and runs inside a sandbox, one attack each time. What came
 * of it is printed as lines "name value", where the value of something that was tried is 0 when it
 * worked and the errno when not. What that value must be is for the test to say.
 */

typedef int (*Attack) (int    argc,
                       char **argv);

typedef struct
{
  const char *name;
  Attack      run;
} AttackMode;

extern const AttackMode attack_kernel_modes[];
extern const AttackMode attack_files_modes[];
extern const AttackMode attack_process_modes[];
extern const AttackMode attack_survive_modes[];

void report_value (const char *name,
                   long        value);
/* @result below 0 stands for errno. Gives @result. */
long report       (const char *name,
                   long        result);
void report_text  (const char *name,
                   const char *text);
/* A whole number at the start of @text, or 0. */
int  parse_number (const char *text);
/* Says that everything is in place, and stays. */
int  hold         (void);
