/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-protection-private.h"
#include "init/sbx-init-private.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define STACK_SIZE (64 * 1024)
#define NOTIFY_FD 3

static int
set_descriptors (const SbxInitSpawn *spawn)
{
  if (spawn->terminal >= 0 && ioctl (spawn->terminal, TIOCSCTTY, 0) < 0)
    return errno;

  for (int i = 0; i < 3; i++)
    {
      const int fd = spawn->terminal >= 0 ? spawn->terminal : spawn->standard[i];

      if (fd >= 0 && dup2 (fd, i) < 0)
        return errno;

      /* One of its own each time: flags that one command sets are no other's. */
      if (fd < 0)
        {
          close (i);
          if (open ("/dev/null", O_RDWR) != i)
            return errno != 0 ? errno : EIO;
        }
    }

  /* It came above all that process 1 has. */
  if (spawn->notify >= 0 && dup3 (spawn->notify, NOTIFY_FD, O_CLOEXEC) < 0)
    return errno;

  _sbx_init_close_from (spawn->notify >= 0 ? NOTIFY_FD + 1 : NOTIFY_FD);
  return 0;
}

/* What a command and a file verb have in common: a session and process group of its own, its limits
 * and descriptors, its directory. */
static SbxInitFailure
settle (const SbxInitSpawn *spawn)
{
  int error;

  if (setsid () < 0)
    return _sbx_init_failed (SBX_INIT_AT_RESOURCES, errno);

  error = _sbx_init_limits_apply ();
  if (error != 0)
    return _sbx_init_failed (SBX_INIT_AT_LIMITS, error);

  error = set_descriptors (spawn);
  if (error != 0)
    return _sbx_init_failed (SBX_INIT_AT_RESOURCES, error);

  if (chdir (spawn->request.cwd) < 0)
    return _sbx_init_failed (SBX_INIT_AT_CWD, errno);

  return _sbx_init_ok ();
}

const char *
_sbx_init_get_variable (char       **environment,
                        const char  *name)
{
  const size_t length = strlen (name);

  for (; *environment != NULL; environment++)
    if (strncmp (*environment, name, length) == 0 && (*environment)[length] == '=')
      return *environment + length + 1;

  return NULL;
}

static const char *
search_path_of (const SbxInitRequest *request)
{
  const char *path = _sbx_init_get_variable (request->environment, "PATH");

  return path != NULL ? path : DEFAULT_PATH;
}

/* Comes back only with an errno. */
static int
try_to_exec (const SbxInitRequest *request,
             char                 *path)
{
  char **argv = request->argv;
  char *name = argv[0];

  execve (path, argv, request->environment);
  if (errno != ENOEXEC)
    return errno;

  /* A script without a first line that says so, as execvp() has it. */
  argv[-1] = (char *) "/bin/sh";
  argv[0] = path;
  execve (argv[-1], argv - 1, request->environment);
  argv[0] = name;

  return ENOEXEC;
}

/* The candidates of execvp(), in the command's own PATH. */
static int
find_and_exec (SbxInitSpawn *spawn)
{
  char *name = spawn->request.argv[0];
  const size_t name_size = strlen (name) + 1;
  const char *at = search_path_of (&spawn->request);
  bool denied = false;

  if (name[0] == '\0')
    return ENOENT;
  if (strchr (name, '/') != NULL)
    return try_to_exec (&spawn->request, name);
  if (name_size > NAME_MAX + 1)
    return ENAMETOOLONG;

  for (bool more = true; more;)
    {
      const char *end = strchrnul (at, ':');
      const size_t length = (size_t) (end - at);
      int error;

      /* An empty element is the working directory. */
      memcpy (spawn->search_path, at, length);
      if (length > 0)
        spawn->search_path[length] = '/';
      memcpy (spawn->search_path + length + (length > 0), name, name_size);

      more = *end == ':';
      at = end + 1;

      error = try_to_exec (&spawn->request, spawn->search_path);
      denied = denied || error == EACCES;
      if (error != EACCES && error != ENOENT && error != ENOTDIR && error != ESTALE &&
          error != ENODEV && error != ETIMEDOUT && error != ENAMETOOLONG)
        return error;
    }

  return denied ? EACCES : ENOENT;
}

static int
become_command (void *data)
{
  SbxInitSpawn *spawn = data;
  sigset_t none;

  spawn->failure = settle (spawn);
  if (spawn->failure.stage != SBX_INIT_AT_NONE)
    _exit (127);

  /* A filter without a listener cannot be taken off again: another process starts without. */
  if (spawn->notify >= 0 && !_sbx_init_notify_begin (NOTIFY_FD))
    {
      spawn->unheard = true;
      _exit (127);
    }

  _sbx_init_freeze_wait ();

  /* Should it be SIGCHLD that waits here, its handler sets a flag that no supervisor looks at. */
  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);

  spawn->failure.error = find_and_exec (spawn);
  spawn->failure.stage = SBX_INIT_AT_EXEC;
  _exit (127);
}

/* Shares our memory until it executes something, so nothing is copied and we are told exactly how
 * that failed. */
static int
clone_command (SbxInitSpawn *spawn)
{
  static char stack[STACK_SIZE] __attribute__ ((aligned (16)));

  return clone (become_command, stack + STACK_SIZE,
                CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID | SIGCHLD, spawn,
                &spawn->slot->main_pid);
}

static SbxInitFailure
start_command (SbxInitSpawn *spawn)
{
  const char *name = spawn->request.argv[0];
  siginfo_t info;
  int pid;

  if (strchr (name, '/') == NULL)
    {
      spawn->search_size = strlen (search_path_of (&spawn->request)) + strlen (name) + 2;
      spawn->search_path = malloc (spawn->search_size);
      if (spawn->search_path == NULL)
        return _sbx_init_failed (SBX_INIT_AT_RESOURCES, ENOMEM);
    }

  pid = clone_command (spawn);
  if (pid >= 0 && spawn->unheard)
    {
      waitid (P_PID, (id_t) pid, &info, WEXITED | __WALL);
      spawn->notify = -1;
      pid = clone_command (spawn);
    }
  if (pid < 0)
    return _sbx_init_failed (SBX_INIT_AT_RESOURCES, errno);

  if (spawn->failure.stage != SBX_INIT_AT_NONE)
    waitid (P_PID, (id_t) pid, &info, WEXITED | __WALL);

  return spawn->failure;
}

static _Noreturn void
become_worker (SbxInitSpawn *spawn)
{
  SbxInitFailure failure = settle (spawn);
  sigset_t none;

  if (failure.stage == SBX_INIT_AT_NONE)
    {
      signal (SIGPIPE, SIG_IGN);
      signal (SIGXFSZ, SIG_IGN);
      sigemptyset (&none);
      sigprocmask (SIG_SETMASK, &none, NULL);
      _sbx_init_freeze_wait ();

      failure.error = _sbx_init_file_verb (&spawn->request);
      if (failure.error != 0)
        failure.stage = SBX_INIT_AT_FILE;
    }

  spawn->slot->value = failure.error;
  spawn->slot->stage = failure.stage;
  _exit (0);
}

SbxInitFailure
_sbx_init_spawn (SbxInitSpawn *spawn)
{
  pid_t pid;

  if (spawn->request.verb == SBX_INIT_DO_EXEC)
    return start_command (spawn);

  pid = fork ();
  if (pid < 0)
    return _sbx_init_failed (SBX_INIT_AT_RESOURCES, errno);
  if (pid == 0)
    become_worker (spawn);

  spawn->slot->main_pid = pid;
  return _sbx_init_ok ();
}
