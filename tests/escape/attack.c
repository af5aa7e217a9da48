/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "attack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
report_value (const char *name,
              long        value)
{
  printf ("%s %ld\n", name, value);
  fflush (stdout);
}

long
report (const char *name,
        long        result)
{
  report_value (name, result < 0 ? errno : 0);
  return result;
}

void
report_text (const char *name,
             const char *text)
{
  printf ("%s %s\n", name, text);
  fflush (stdout);
}

int
parse_number (const char *text)
{
  return (int) strtol (text, NULL, 10);
}

int
hold (void)
{
  report_value ("ready", 0);

  for (;;)
    pause ();

  return 0;
}

int
main (int    argc,
      char **argv)
{
  static const AttackMode * const all[] = {
    attack_kernel_modes, attack_files_modes, attack_process_modes, attack_survive_modes,
  };
  const char *name = argc > 1 ? argv[1] : "";

  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    for (const AttackMode *mode = all[i]; mode->name != NULL; mode++)
      if (strcmp (mode->name, name) == 0)
        return mode->run (argc - 2, argv + 2);

  fprintf (stderr, "no such attack: %s\n", name);
  return 2;
}
