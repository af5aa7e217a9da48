/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stdint.h>

/*
 * What the host and process 1 of a sandbox say to each other, over a pair of SOCK_SEQPACKET
 * sockets. Both are of one build, on one machine: structures go as they lie in memory. Each message
 * has one size, by its type, and everything that is not used is zero. Both sides check all of it:
 * the version shows a mismatched installation, the rest shows a sandbox that lies.
 *
 *   process 1                                host
 *                                      <-    SETUP {a pidfd of the host, memfd: expected paths}
 *   HELLO (its credentials)            ->
 *                                      <-    GO: the host holds a pidfd of process 1
 *   MOUNTS, as many as it takes        ->
 *   READY                              ->    or SETUP_FAILED, and the end
 *                                      <-    LIMIT, for each that there is, before any EXEC
 *                                      <-    EXEC {memfd: request, up to 4 descriptors}
 *   STARTED {the terminal, if asked}   ->    not when the command could not be started
 *   ENDED                              ->    when the whole tree of the exec is gone
 *
 * When a mount came or went, or the host sends LOOK, everything inside is stopped:
 *
 *   CHANGED                            ->
 *                                      <-    CHECK {memfd: expected paths}, as often as it takes
 *   MOUNTS, as many as it takes        ->
 *   CHECKED                            ->
 *                                      <-    RESUME, answered by CHANGED if there was another one
 *
 * STARTED is the only message of a sandbox that may carry a descriptor.
 */

#define SBX_INIT_MAGIC            0x49584253u   /* "SBXI" */
#define SBX_INIT_VERSION          4

#define SBX_INIT_SOCKET_FD        3
#define SBX_INIT_ALIVE_FD         4             /* locked while process 1 lives; may be missing */

#define SBX_INIT_MAX_EXECS        1024u         /* at a time */
#define SBX_INIT_MAX_REQUEST      (8u << 20)    /* bytes; what the kernel takes ends at 6 MiB */
#define SBX_INIT_MAX_STRINGS      (1u << 20)    /* arguments and variables of one request */
#define SBX_INIT_MAX_EXPECTATIONS 4096u
#define SBX_INIT_MAX_PATHS        (4u << 20)    /* bytes of all expected paths */
#define SBX_INIT_MOUNTS_BATCH     32u           /* in one MOUNTS message */
#define SBX_INIT_GRACE_MS         5000          /* for a killed tree to be gone */
#define SBX_INIT_REPAIR_MS        10000         /* for the host to answer CHANGED, each time */

/* Host to process 1. */
#define SBX_INIT_SETUP            1
#define SBX_INIT_EXEC             2
#define SBX_INIT_SIGNAL           3
#define SBX_INIT_END              4
#define SBX_INIT_RESIZE           5
#define SBX_INIT_CLOSE            6
#define SBX_INIT_GO               7
#define SBX_INIT_LIMIT            8
#define SBX_INIT_LOOK             9
#define SBX_INIT_CHECK            10
#define SBX_INIT_RESUME           11

/* Process 1 to host. */
#define SBX_INIT_HELLO            33
#define SBX_INIT_MOUNTS           34
#define SBX_INIT_SETUP_FAILED     35
#define SBX_INIT_READY            36
#define SBX_INIT_STARTED          37
#define SBX_INIT_ENDED            38
#define SBX_INIT_FAILED           39            /* a tree would not die, or (ETIME) the host did not
                                                 * put the mounts right: the sandbox ends */
#define SBX_INIT_CHANGED          40
#define SBX_INIT_CHECKED          41

/* What an exec does. The numbers are those of SbxInitVerb. */
#define SBX_INIT_DO_EXEC          0
#define SBX_INIT_DO_READ_FILE     1
#define SBX_INIT_DO_WRITE_FILE    2
#define SBX_INIT_DO_CREATE_DIRS   3
#define SBX_INIT_DO_CREATE_TEMP   4
#define SBX_INIT_DO_REMOVE        5
#define SBX_INIT_DO_LIST_DIR      6
#define SBX_INIT_DO_STAT          7
#define SBX_INIT_DO_READ_RANGE    8
#define SBX_INIT_DO_WRITE_RANGE   9
#define SBX_INIT_DO_RENAME        10
#define SBX_INIT_DO_COPY          11
#define SBX_INIT_N_VERBS          12

/* What everything that is started from then on is limited in; verb of LIMIT. */
#define SBX_INIT_LIMIT_ADDRESS_SPACE 0          /* bytes, of each process */
#define SBX_INIT_LIMIT_PROCESSES  1             /* at a time, without process 1 and supervisors */
#define SBX_INIT_LIMIT_CPU_TIME   2             /* seconds, of each process */
#define SBX_INIT_LIMIT_FILE_SIZE  3             /* bytes, of each file */
#define SBX_INIT_LIMIT_OPEN_FILES 4             /* of each process */
#define SBX_INIT_N_LIMITS         5

#define SBX_INIT_HAS_STDIN        (1u << 0)     /* its descriptor is among those that came */
#define SBX_INIT_HAS_STDOUT       (1u << 1)
#define SBX_INIT_HAS_STDERR       (1u << 2)
#define SBX_INIT_TERMINAL         (1u << 3)     /* and none of the three */
#define SBX_INIT_NOTIFY           (1u << 4)     /* a socket came last: see below */
#define SBX_INIT_EXEC_FLAGS       31u
#define SBX_INIT_EXEC_FDS         5u            /* at most, of which the first is the request */

/* Over the socket of NOTIFY the main process sends one byte with the listener of its seccomp
 * filter, and waits for one byte before it goes on. Without that the command runs unheard. */
#define SBX_INIT_NOTIFIED         'w'

/* How an exec ended, and where it stopped. The numbers are those of SbxInitEndKind and
 * SbxInitStage. */
#define SBX_INIT_ENDED_EXITED     0
#define SBX_INIT_ENDED_SIGNALLED  1
#define SBX_INIT_ENDED_UNSTARTED  2
#define SBX_INIT_ENDED_LOST       3
#define SBX_INIT_N_ENDS           4

#define SBX_INIT_AT_NONE          0
#define SBX_INIT_AT_REQUEST       1
#define SBX_INIT_AT_RESOURCES     2
#define SBX_INIT_AT_CWD           3
#define SBX_INIT_AT_LIMITS        4
#define SBX_INIT_AT_EXEC          5
#define SBX_INIT_AT_FILE          6
#define SBX_INIT_N_STAGES         7

typedef struct
{
  uint32_t magic;
  uint16_t version;
  uint16_t type;
  uint64_t id;          /* of an exec; 0 where the message is about none */
} SbxInitHead;

/* Every message to process 1. */
typedef struct
{
  SbxInitHead head;
  uint32_t    verb;             /* EXEC, LIMIT */
  uint32_t    flags;            /* EXEC */
  uint16_t    rows;             /* EXEC with a terminal, RESIZE */
  uint16_t    columns;
  uint32_t    signal_number;    /* SIGNAL */
  uint64_t    value;            /* SETUP: the hard RLIMIT_NOFILE of everything inside; LIMIT */
} SbxInitMessage;

/* Every message of process 1 but MOUNTS. */
typedef struct
{
  SbxInitHead head;
  uint32_t    kind;             /* ENDED */
  uint32_t    stage;            /* ENDED, SETUP_FAILED */
  int32_t     value;            /* ENDED: see SbxInitEndKind; SETUP_FAILED, FAILED: errno */
  int32_t     pid;              /* STARTED: inside */
  uint32_t    core_dumped;      /* ENDED */
  uint32_t    reserved;
} SbxInitReport;

typedef struct
{
  uint64_t device;
  uint64_t inode;
  uint32_t index;               /* into the expectations; they come in order */
  uint32_t error;               /* errno when the path could not be opened; the rest is zero then */
  uint32_t read_only;
  uint32_t reserved;
} SbxInitMount;

typedef struct
{
  SbxInitHead  head;
  uint32_t     count;
  uint32_t     reserved;
  SbxInitMount mounts[SBX_INIT_MOUNTS_BATCH];
} SbxInitMounts;

/* The sealed memory file of SETUP: this, then the paths, each ended by NUL. */
typedef struct
{
  uint32_t magic;
  uint32_t size;                /* of the whole file */
  uint32_t n_paths;
  uint32_t reserved;
} SbxInitExpectationsHead;

/* The sealed memory file of EXEC: this, then the working directory, the arguments and the
 * environment, each string ended by NUL. */
typedef struct
{
  uint32_t magic;
  uint32_t size;                /* of the whole file */
  uint32_t argc;
  uint32_t envc;
} SbxInitRequestHead;

/* LIST_DIR and STAT write these: each is followed by the name and by the target of a symbolic link,
 * neither of them ended by NUL. Names are any bytes but '/' and NUL; "." and ".." never come. STAT
 * of a link is about the link; its name is the last part of the path that was asked for. */
#define SBX_INIT_FILE_MAGIC       0x46584253u   /* "SBXF" */
#define SBX_INIT_MAX_NAME         255u
#define SBX_INIT_MAX_LINK         4095u

typedef struct
{
  uint32_t magic;
  uint16_t name_length;
  uint16_t link_length;         /* 0 for what is no link */
  uint32_t mode;                /* as in struct stat, with the type */
  uint32_t uid;
  uint32_t gid;
  uint32_t mtime_ns;
  int64_t  mtime;
  uint64_t size;
} SbxInitFileRecord;

/* READ_RANGE writes this, and then the part of the file. */
typedef struct
{
  uint32_t magic;
  uint32_t reserved;
  uint64_t size;                /* of the whole file */
} SbxInitRangeHead;

_Static_assert (sizeof (SbxInitHead) == 16, "the head of a message has no gaps");
_Static_assert (sizeof (SbxInitMessage) == 40, "a message has no gaps");
_Static_assert (sizeof (SbxInitReport) == 40, "a report has no gaps");
_Static_assert (sizeof (SbxInitMount) == 32, "a mount has no gaps");
_Static_assert (sizeof (SbxInitMounts) == 24 + 32 * 32, "mounts have no gaps");
_Static_assert (sizeof (SbxInitExpectationsHead) == 16, "expectations have no gaps");
_Static_assert (sizeof (SbxInitRequestHead) == 16, "a request has no gaps");
_Static_assert (sizeof (SbxInitFileRecord) == 40, "a record has no gaps");
_Static_assert (sizeof (SbxInitRangeHead) == 16, "the head of a range has no gaps");
