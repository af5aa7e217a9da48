/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "init/sbx-init-protocol-private.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/*
 * There are three kinds of process here. Process 1 listens to the host and kills. Each exec has a
 * supervisor, a child of process 1 that is the subreaper of everything the exec starts, so that its
 * tree stays known. The supervisor's first child, the main process, becomes the command, or does
 * the work of a file verb. None of them can be traced or read by what runs inside.
 */

/* Descriptors that all of process 1's life has, so that whatever comes later is above them and one
 * call closes it. What killing needs is open before the first command runs. */
enum
{
  SBX_INIT_FD_CONTROL = SBX_INIT_SOCKET_FD,
  SBX_INIT_FD_ALIVE = SBX_INIT_ALIVE_FD,
  SBX_INIT_FD_PROC,         /* the directory */
  SBX_INIT_FD_CHILDREN,     /* the list of process 1's own children */
  SBX_INIT_FD_PTS,          /* the directory of terminals, where there is one */
  SBX_INIT_FD_WAKE,         /* an eventfd: a supervisor wants its tree killed */
  SBX_INIT_FD_HOST,         /* a pidfd of the host */
  SBX_INIT_FD_MOUNTS,       /* mountinfo, which is polled */
  SBX_INIT_FD_FIRST_FREE,
};

/* What an exec's supervisor and process 1 tell each other, in memory that they share and that no
 * command has. */
typedef struct
{
  int      main_pid;          /* the kernel writes it, before the main process runs */
  int      terminal;          /* the number of its terminal, or -1 */
  uint32_t rows_and_columns;  /* of the terminal: rows << 16 | columns */
  int      started;           /* the main process is in a process group of its own */
  int      ended;             /* the main process ended; the three below are valid */
  int      wants_kill;        /* … and left others behind */
  uint64_t signals;           /* asked for before it started, a bit each */
  uint32_t kind;
  uint32_t stage;
  int32_t  value;
  uint32_t core_dumped;
} SbxInitSlot;

#define SBX_INIT_GET(field) __atomic_load_n (&(field), __ATOMIC_SEQ_CST)
#define SBX_INIT_PUT(field, value) __atomic_store_n (&(field), (value), __ATOMIC_SEQ_CST)

/* A request, checked. */
typedef struct
{
  uint32_t   verb;
  uint32_t   argc;
  const char *cwd;
  char     **argv;              /* there is room for one more pointer in front of it */
  char     **environment;
} SbxInitRequest;

/* How a thing failed; stage SBX_INIT_AT_NONE means that it did not. */
typedef struct
{
  uint32_t stage;
  int      error;
} SbxInitFailure;

extern SbxInitSlot *_sbx_init_slots;          /* SBX_INIT_MAX_EXECS of them */

/* sbx-init-setup.c */
void            _sbx_init_prepare          (void);
void            _sbx_init_set_up           (void);
/* Says what is at each of the paths in a sealed memory file. Waits for the host to read. Gives 0 or
 * an errno. */
int             _sbx_init_report_mounts    (int                    fd);

/* sbx-init-limits.c */
bool            _sbx_init_limits_set_up    (uint64_t               max_descriptors);
void            _sbx_init_limits_note      (uint32_t               which,
                                            uint64_t               value);
int             _sbx_init_limits_apply     (void);

/* sbx-init-control.c */
bool            _sbx_init_control_read     (void);
bool            _sbx_init_control_send     (const SbxInitReport   *report);
bool            _sbx_init_control_waiting  (void);
void            _sbx_init_control_flush    (void);
void            _sbx_init_control_send_waiting (const SbxInitReport *report);

/* sbx-init-execs.c */
SbxInitFailure  _sbx_init_execs_begin      (const SbxInitMessage  *message,
                                            const int             *fds);
void            _sbx_init_execs_signal     (uint64_t               id,
                                            uint32_t               signal_number);
void            _sbx_init_execs_end        (uint64_t               id);
void            _sbx_init_execs_resize     (uint64_t               id,
                                            uint16_t               rows,
                                            uint16_t               columns);
size_t          _sbx_init_execs_count      (void);
bool            _sbx_init_execs_is_child   (pid_t                  pid);
void            _sbx_init_execs_reap       (void);
void            _sbx_init_execs_woken      (void);
int             _sbx_init_execs_timeout    (void);
void            _sbx_init_execs_tick       (void);
bool            _sbx_init_execs_waiting    (void);
void            _sbx_init_execs_flush      (void);
void            _sbx_init_execs_continue_supervisors (void);
/* Sends the signals that waited while everything was stopped. */
void            _sbx_init_execs_deliver    (void);

/* sbx-init-tree.c */
bool            _sbx_init_tree_kill_below  (pid_t                  root,
                                            pid_t                  group,
                                            size_t                *n_found);
bool            _sbx_init_tree_kill_strays (size_t                *n_found);
bool            _sbx_init_tree_has_no_strays (void);

/* sbx-init-freeze.c */
bool            _sbx_init_freeze_prepare   (void);
bool            _sbx_init_freeze_is_on     (void);
void            _sbx_init_freeze_wait      (void);
void            _sbx_init_freeze_begin     (void);
bool            _sbx_init_freeze_look      (bool                   first);
void            _sbx_init_freeze_end       (void);

/* sbx-init-watch.c */
void            _sbx_init_watch_reset      (void);
int             _sbx_init_watch_get_fd     (void);
void            _sbx_init_watch_changed    (void);
void            _sbx_init_watch_check      (int                    fd);
void            _sbx_init_watch_resume     (void);
int             _sbx_init_watch_timeout    (void);
void            _sbx_init_watch_tick       (void);
bool            _sbx_init_watch_waiting    (void);
void            _sbx_init_watch_flush      (void);

/* sbx-init-request.c */
void           *_sbx_init_map_sealed       (int                    fd,
                                            uint32_t               max_size,
                                            uint32_t              *size);
SbxInitFailure  _sbx_init_request_load     (SbxInitRequest        *request,
                                            uint32_t               verb,
                                            int                    fd);

/* sbx-init-supervisor.c */
_Noreturn void  _sbx_init_supervise        (SbxInitSlot           *slot,
                                            const SbxInitMessage  *message,
                                            const int             *fds);

/* sbx-init-spawn.c */
typedef struct
{
  SbxInitRequest  request;
  int             standard[3];        /* descriptors, or -1 for /dev/null */
  int             terminal;           /* the slave, or -1: then it is all three */
  int             notify;             /* where the listener goes, or -1 */
  bool            unheard;            /* it could not be done; the main process writes it */
  char           *search_path;        /* room for every candidate */
  size_t          search_size;
  SbxInitSlot    *slot;
  SbxInitFailure  failure;            /* the main process writes it while it shares our memory */
} SbxInitSpawn;

SbxInitFailure  _sbx_init_spawn            (SbxInitSpawn          *spawn);
const char     *_sbx_init_get_variable     (char                 **environment,
                                            const char            *name);

/* sbx-init-notify.c */
bool            _sbx_init_notify_begin      (int                    fd);

/* sbx-init-terminal.c */
int             _sbx_init_terminal_open    (SbxInitSlot           *slot,
                                            int                   *slave);
void            _sbx_init_terminal_resize  (SbxInitSlot           *slot,
                                            uint16_t               rows,
                                            uint16_t               columns);

/* sbx-init-files.c; gives 0 or an errno. Each verb runs in a process of its own, in the working
 * directory of its request, with the three descriptors in place. */
int             _sbx_init_file_verb        (const SbxInitRequest  *request);
bool            _sbx_init_file_verb_known  (uint32_t               verb,
                                            uint32_t               argc);

static inline SbxInitFailure
_sbx_init_failed (uint32_t stage,
                  int      error)
{
  return (SbxInitFailure) { .stage = stage, .error = error };
}

static inline SbxInitFailure
_sbx_init_ok (void)
{
  return (SbxInitFailure) { .stage = SBX_INIT_AT_NONE };
}

/* Closes everything from @first on. */
void            _sbx_init_close_from       (int                    first);
int64_t         _sbx_init_now_ms           (void);
_Noreturn void  _sbx_init_give_up          (uint64_t               id,
                                            int                    error);
