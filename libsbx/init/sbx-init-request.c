/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "init/sbx-init-private.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEEDED_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* Maps a memory file that nobody can change any more: what was checked stays as it was. */
void *
_sbx_init_map_sealed (int       fd,
                      uint32_t  max_size,
                      uint32_t *size)
{
  struct stat status;
  const int seals = fcntl (fd, F_GET_SEALS);
  void *data;

  if (seals < 0 || (seals & NEEDED_SEALS) != NEEDED_SEALS || fstat (fd, &status) < 0 ||
      status.st_size <= 0 || (uint64_t) status.st_size > max_size)
    {
      errno = EINVAL;
      return NULL;
    }

  *size = (uint32_t) status.st_size;
  data = mmap (NULL, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);

  return data == MAP_FAILED ? NULL : data;
}

/* Takes the next string off, or gives NULL when there is none that ends. */
static char *
next_string (char       **at,
             const char  *end)
{
  char *string = *at;
  char *nul = memchr (string, '\0', (size_t) (end - string));

  if (nul != NULL)
    *at = nul + 1;

  return nul != NULL ? string : NULL;
}

SbxInitFailure
_sbx_init_request_load (SbxInitRequest *request,
                        uint32_t        verb,
                        int             fd)
{
  const SbxInitFailure malformed = { SBX_INIT_AT_REQUEST, EINVAL };
  const SbxInitRequestHead *head;
  uint32_t size = 0;
  char *at, *end, **strings;

  head = _sbx_init_map_sealed (fd, SBX_INIT_MAX_REQUEST, &size);
  if (head == NULL)
    return _sbx_init_failed (errno == EINVAL ? SBX_INIT_AT_REQUEST : SBX_INIT_AT_RESOURCES, errno);

  if (size < sizeof *head || head->magic != SBX_INIT_MAGIC || head->size != size ||
      head->argc == 0 || head->argc > SBX_INIT_MAX_STRINGS || head->envc > SBX_INIT_MAX_STRINGS ||
      (verb != SBX_INIT_DO_EXEC && !_sbx_init_file_verb_known (verb, head->argc)))
    return malformed;

  at = (char *) (head + 1);
  end = (char *) head + size;

  request->verb = verb;
  request->argc = head->argc;
  request->cwd = next_string (&at, end);
  if (request->cwd == NULL || request->cwd[0] != '/')
    return malformed;

  /* One in front for the shell, and two ends. */
  strings = malloc (((size_t) head->argc + head->envc + 3) * sizeof *strings);
  if (strings == NULL)
    return _sbx_init_failed (SBX_INIT_AT_RESOURCES, ENOMEM);

  request->argv = strings + 1;
  request->environment = request->argv + head->argc + 1;

  for (uint32_t i = 0; i < head->argc; i++)
    if ((request->argv[i] = next_string (&at, end)) == NULL)
      return malformed;

  for (uint32_t i = 0; i < head->envc; i++)
    if ((request->environment[i] = next_string (&at, end)) == NULL)
      return malformed;

  if (at != end)
    return malformed;

  request->argv[head->argc] = NULL;
  request->environment[head->envc] = NULL;

  return _sbx_init_ok ();
}
