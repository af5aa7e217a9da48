/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stdint.h>

/*
 * What the host and sbx-mount say to each other. sbx-mount finds three descriptors: a pidfd of
 * process 1 of the sandbox, a sealed memory file with the list of what to mount, and the end of a
 * pipe, into which it writes one reply. Both are of one build: structures go as they lie in memory.
 */

#define SBX_MOUNT_MAGIC         0x4d584253u   /* "SBXM" */
#define SBX_MOUNT_VERSION       1

#define SBX_MOUNT_PIDFD         3
#define SBX_MOUNT_LIST_FD       4
#define SBX_MOUNT_REPLY_FD      5

#define SBX_MOUNT_MAX_ENTRIES   4096u
#define SBX_MOUNT_MAX_LIST      (4u << 20)    /* bytes of the whole list */

/* What becomes of a path. */
#define SBX_MOUNT_READ_ONLY     1             /* bound on itself, with all that is mounted below */
#define SBX_MOUNT_PIN           2             /* the same, as writable as it is */
#define SBX_MOUNT_MASK          3             /* a device that cannot be opened; for a directory, an
                                               * empty one that cannot be written to */
#define SBX_MOUNT_WRITABLE      4             /* bound on itself, and writable below what is not */
#define SBX_MOUNT_N_KINDS       5

/* Where it stopped. */
#define SBX_MOUNT_AT_NONE       0
#define SBX_MOUNT_AT_LIST       1             /* the list, or a descriptor, is not as it must be */
#define SBX_MOUNT_AT_JOIN       2             /* the namespaces of process 1 */
#define SBX_MOUNT_AT_OPEN       3             /* the path of an entry */
#define SBX_MOUNT_AT_COMPARE    4             /* it is something else than what was expected */
#define SBX_MOUNT_AT_MOUNT      5
#define SBX_MOUNT_N_STAGES      6

/* The list: this, then the entries, then as many paths, each absolute and ended by NUL. */
typedef struct
{
  uint32_t magic;
  uint32_t version;
  uint32_t size;                /* of the whole list */
  uint32_t n_entries;
} SbxMountHead;

typedef struct
{
  uint64_t device;              /* of what is at the path now */
  uint64_t inode;
  uint32_t kind;
  uint32_t reserved;
} SbxMountEntry;

/* The reply. Entries are mounted in order; those before n_done are. */
typedef struct
{
  uint32_t magic;
  uint32_t version;
  uint32_t n_done;
  uint32_t stage;
  int32_t  error;               /* errno; 0 exactly when the stage is SBX_MOUNT_AT_NONE */
  uint32_t reserved;
} SbxMountReply;

_Static_assert (sizeof (SbxMountHead) == 16, "the head of a list has no gaps");
_Static_assert (sizeof (SbxMountEntry) == 24, "an entry has no gaps");
_Static_assert (sizeof (SbxMountReply) == 24, "a reply has no gaps");
