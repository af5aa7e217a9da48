/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <sys/types.h>

G_BEGIN_DECLS

/*
 * SbxInitChannel:
 *
 * The host's end of the control socket of one sandbox. It belongs to the context it was made in,
 * and treats every message as coming from an enemy: a wrong size, an unknown id, a second end of an
 * exec, or a descriptor where none belongs loses the whole sandbox.
 */

#define SBX_TYPE_INIT_CHANNEL (_sbx_init_channel_get_type ())

G_DECLARE_FINAL_TYPE (SbxInitChannel, _sbx_init_channel, SBX, INIT_CHANNEL, GObject)

/* A place inside the sandbox that the host resolved, and wants to see there. */
typedef struct
{
  const char *path;        /* inside, absolute, any bytes */
  dev_t       device;
  ino_t       inode;
  gboolean    read_only;
} SbxInitExpectation;

typedef enum
{
  SBX_INIT_VERB_EXEC,             /* argv is a command line */
  SBX_INIT_VERB_READ_FILE,        /* argv: path, limit in bytes; content comes on stdout */
  SBX_INIT_VERB_WRITE_FILE,       /* argv: path, octal mode; content goes to stdin */
  SBX_INIT_VERB_CREATE_DIR_ALL,   /* argv: path */
  SBX_INIT_VERB_CREATE_TEMP_DIR,  /* argv: prefix; the path comes on stdout */
  SBX_INIT_VERB_REMOVE,           /* argv: path; recursive, a missing one is no error */
  SBX_INIT_VERB_LIST_DIR,         /* argv: path, limit in entries; SbxInitFileRecords on stdout */
  SBX_INIT_VERB_STAT,             /* argv: path; one SbxInitFileRecord on stdout */
  SBX_INIT_VERB_READ_RANGE,       /* argv: path, offset, length; an SbxInitRangeHead on stdout, and
                                   * what is there */
  SBX_INIT_VERB_WRITE_RANGE,      /* argv: path, octal mode, offset, size, 1 to truncate or 0;
                                   * content goes to stdin */
  SBX_INIT_VERB_RENAME,           /* argv: path, new path */
  SBX_INIT_VERB_COPY,             /* argv: path, new path */
} SbxInitVerb;

typedef struct
{
  SbxInitVerb         verb;
  const char * const *argv;
  const char * const *environment;   /* whole; NAME=VALUE */
  const char         *cwd;           /* absolute */
  gboolean            terminal;      /* a pseudo-terminal instead of the three descriptors */
  guint16             rows;
  guint16             columns;
  int                 stdin_fd;      /* borrowed; the sandbox's ends; -1 gives /dev/null inside */
  int                 stdout_fd;
  int                 stderr_fd;
  int                 watch_fd;      /* borrowed; the sandbox's end, with is_watched alone */
  gboolean            is_watched;    /* of an exec: its listener comes over the other end */
} SbxInitRequest;

typedef enum
{
  SBX_INIT_END_EXITED,        /* value: exit code */
  SBX_INIT_END_SIGNALLED,     /* value: signal number */
  SBX_INIT_END_NOT_STARTED,   /* value: errno; stage says where */
  SBX_INIT_END_LOST,          /* its supervisor was killed from inside */
} SbxInitEndKind;

typedef enum
{
  SBX_INIT_STAGE_NONE,
  SBX_INIT_STAGE_REQUEST,     /* the request itself (too large, malformed) */
  SBX_INIT_STAGE_RESOURCES,   /* fork, memory, pseudo-terminal */
  SBX_INIT_STAGE_CWD,
  SBX_INIT_STAGE_LIMITS,
  SBX_INIT_STAGE_EXEC,        /* finding and executing the program */
  SBX_INIT_STAGE_FILE,        /* a file verb: value is the errno of the failing operation */
} SbxInitStage;

typedef struct
{
  SbxInitEndKind kind;
  SbxInitStage   stage;
  int            value;
  gboolean       core_dumped;
} SbxInitEnd;

/* The callbacks of one exec. None runs before _sbx_init_channel_exec() returned; ended runs exactly
 * once, last, also when the sandbox is lost (then @error is set and @end is %NULL). */
typedef struct
{
  void (*started) (gint64            pid_inside,
                   int               terminal_fd,   /* (transfer full) the pty master, or -1 */
                   gpointer          user_data);
  void (*ended)   (const SbxInitEnd *end,           /* (nullable) */
                   const GError     *error,         /* (nullable) */
                   gpointer          user_data);
} SbxInitExecHandler;

/* Takes @socket_fd. */
SbxInitChannel *_sbx_init_channel_new          (int                        socket_fd);

/* Waits for process 1, hands it a pidfd of this process, and has it check what is mounted. The
 * result is the pidfd of process 1, which the channel also keeps to itself. */
void            _sbx_init_channel_setup_async  (SbxInitChannel            *self,
                                                const SbxInitExpectation  *expectations,
                                                gsize                      n_expectations,
                                                GCancellable              *cancellable,
                                                GAsyncReadyCallback        callback,
                                                gpointer                   user_data);
gboolean        _sbx_init_channel_setup_finish (SbxInitChannel            *self,
                                                GAsyncResult              *result,
                                                GError                   **error);

/* What is started from now on has the limit @which, one of SBX_INIT_LIMIT_…, at @value. */
void            _sbx_init_channel_limit        (SbxInitChannel            *self,
                                                guint32                    which,
                                                guint64                    value);

/* Has process 1 wait before it looks at its mounts, so that more can be made: @held runs from a
 * source when it does, and _sbx_init_channel_go() lets it go on, _sbx_init_channel_give_up() does
 * not. To be called before the setup. */
typedef void (*SbxInitChannelHeld) (SbxInitChannel *self,
                                    gpointer        user_data);

void            _sbx_init_channel_hold         (SbxInitChannel            *self,
                                                SbxInitChannelHeld         held,
                                                gpointer                   user_data);
void            _sbx_init_channel_go           (SbxInitChannel            *self);
/* Loses the sandbox for @error, from a source of the context. */
void            _sbx_init_channel_give_up      (SbxInitChannel            *self,
                                                const GError              *error);
/* Borrowed; -1 before process 1 said hello. */
int             _sbx_init_channel_get_pidfd    (SbxInitChannel            *self);
pid_t           _sbx_init_channel_get_pid      (SbxInitChannel            *self);

/* Returns the id of the exec, or 0 with @error set when it could not even be asked for. The
 * request's descriptors stay the caller's, who closes them after this. */
guint64         _sbx_init_channel_exec         (SbxInitChannel            *self,
                                                const SbxInitRequest      *request,
                                                const SbxInitExecHandler  *handler,
                                                gpointer                   user_data,
                                                GDestroyNotify             destroy,
                                                GError                   **error);
/* Sends @signal_number to the command's process group. Unknown or ended ids are ignored. */
void            _sbx_init_channel_signal       (SbxInitChannel            *self,
                                                guint64                    id,
                                                int                        signal_number);
/* Stops and kills the exec's whole tree; its end is reported as usual. */
void            _sbx_init_channel_end          (SbxInitChannel            *self,
                                                guint64                    id);
void            _sbx_init_channel_resize       (SbxInitChannel            *self,
                                                guint64                    id,
                                                guint16                    rows,
                                                guint16                    columns);

/* Ends everything inside. Done when process 1 is gone, by its pidfd: asked to first, killed after
 * @grace_ms. Works on a lost or never set up channel too. Cancelling kills at once, and still
 * waits. */
void            _sbx_init_channel_close_async  (SbxInitChannel            *self,
                                                guint                      grace_ms,
                                                GCancellable              *cancellable,
                                                GAsyncReadyCallback        callback,
                                                gpointer                   user_data);
gboolean        _sbx_init_channel_close_finish (SbxInitChannel            *self,
                                                GAsyncResult              *result,
                                                GError                   **error);

/* Has everything inside stopped, as for a mount that changed: "changed" is emitted when it is. */
void            _sbx_init_channel_look         (SbxInitChannel            *self);
/* Has process 1 look at its mounts while everything is stopped, one check at a time. The result has
 * one SbxInitMount for each of the expectations, in order; it is for the caller to compare them. */
void            _sbx_init_channel_check_async  (SbxInitChannel            *self,
                                                const SbxInitExpectation  *expectations,
                                                gsize                      n_expectations,
                                                GAsyncReadyCallback        callback,
                                                gpointer                   user_data);
GArray         *_sbx_init_channel_check_finish (SbxInitChannel            *self,
                                                GAsyncResult              *result,
                                                GError                   **error);
/* Everything goes on; or "changed" is emitted again, since another mount changed. */
void            _sbx_init_channel_resume       (SbxInitChannel            *self);
gboolean        _sbx_init_channel_is_stopped   (SbxInitChannel            *self);
/* Whether anything was asked for that could have been done inside. */
gboolean        _sbx_init_channel_was_used     (SbxInitChannel            *self);
/* How much of that there was. */
guint64         _sbx_init_channel_get_n_started (SbxInitChannel           *self);

/* Emits "changed" when a mount came or went, and everything inside was stopped for it. Who does not
 * make it go on within SBX_INIT_REPAIR_MS loses the sandbox. */

/* Emits "idle" when the last of what ran inside has ended, with all that it started, and before
 * something is started when nothing runs. */

/* Emits "lost" (GError) once, when the sandbox ended or misbehaved without being asked to end. */

G_END_DECLS
