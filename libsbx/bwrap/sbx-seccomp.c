/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-seccomp-private.h"
#include "core/sbx-error.h"
#include "core/sbx-protection-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-memfd-private.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The filter of every sandbox: what it does not name is allowed. It is there for what namespaces
 * and mounts cannot hold: parts of the kernel with a history of holes that no build needs, ways to
 * make namespaces in which a bind would protect no longer, and effects on processes or on counters
 * that a sandbox shares with others.
 *
 * A filter cannot follow a pointer. A call that says behind a pointer what it does is therefore
 * ENOSYS, where programs are used to its absence and fall back: clone3(), openat2(), the mount
 * calls by descriptor.
 */

/* The highest system call that was looked at: rseq_slice_yield. What a newer kernel adds is ENOSYS
 * until somebody has looked at it too. The calls since 403 have one number on all machines that
 * has_common_numbers() knows. */
#define NEWEST_CALL 471

/* libseccomp 2.5.4 has no name for these. */
#define CALL_QUOTACTL_FD      443
#define CALL_PROCESS_MRELEASE 448
#define CALL_FCHMODAT2        452
#define CALL_OPEN_TREE_ATTR   467

#define MAX_PIPE_SIZE 65536
#define IOPRIO_WHO_PROCESS 1

/* Not in the header of every machine. */
#ifndef TIOCLINUX
#define TIOCLINUX 0x541C
#endif

/* The low half of an argument is what the kernel sees of an int. */
#define ARGUMENT_IS(n, value) SCMP_CMP (n, SCMP_CMP_MASKED_EQ, 0xffffffffu, (value))
#define ARGUMENT_HAS(n, bits) SCMP_CMP (n, SCMP_CMP_MASKED_EQ, (bits), (bits))
#define ARGUMENT_NOT(n, value) SCMP_CMP (n, SCMP_CMP_NE, (value))
#define ARGUMENT_OVER(n, value) SCMP_CMP (n, SCMP_CMP_GT, (value))

static void
deny_number (scmp_filter_ctx            ctx,
             int                        errsv,
             int                        number,
             unsigned int               n_arguments,
             const struct scmp_arg_cmp *arguments,
             int                       *result)
{
  int r;

  if (*result < 0)
    return;

  r = seccomp_rule_add_array (ctx, SCMP_ACT_ERRNO (errsv), number, n_arguments, arguments);

  /* A rule that is there already, or a call that this machine does not have. */
  if (r < 0 && r != -EEXIST && r != -EDOM)
    *result = r;
}

static void
deny_if (scmp_filter_ctx            ctx,
         int                        errsv,
         const char                *name,
         unsigned int               n_arguments,
         const struct scmp_arg_cmp *arguments,
         int                       *result)
{
  const int number = seccomp_syscall_resolve_name (name);

  /* Negative numbers are calls of other machines. */
  if (number >= 0)
    deny_number (ctx, errsv, number, n_arguments, arguments, result);
}

#define DENY_IF(errsv, name, ...) \
  G_STMT_START { \
    const struct scmp_arg_cmp deny_arguments[] = { __VA_ARGS__ }; \
    deny_if (ctx, (errsv), (name), G_N_ELEMENTS (deny_arguments), deny_arguments, result); \
  } G_STMT_END

/* Never needed inside, whatever the arguments are. */
static const struct
{
  const char *name;
  int         errsv;
} refused_calls[] = {
  /* The kernel's log and accounting; quotas. */
  { "syslog", EPERM },
  { "acct", EPERM },
  { "quotactl", EPERM },
  /* Obsolete, and hardly looked after. */
  { "uselib", EPERM },
  { "modify_ldt", EPERM },
  /* Keyrings do not belong to a namespace. */
  { "add_key", EPERM },
  { "keyctl", EPERM },
  { "request_key", EPERM },
  /* Where memory lies is the machine's business. */
  { "move_pages", EPERM },
  { "migrate_pages", EPERM },
  { "mbind", EPERM },
  { "get_mempolicy", EPERM },
  { "set_mempolicy", EPERM },
  { "set_mempolicy_home_node", EPERM },
  /* Namespaces and mounts: a bind protects in its own mount namespace only. */
  { "unshare", EPERM },
  { "setns", EPERM },
  { "mount", EPERM },
  { "umount", EPERM },
  { "umount2", EPERM },
  { "pivot_root", EPERM },
  { "chroot", EPERM },
  { "clone3", ENOSYS },
  { "open_tree", ENOSYS },
  { "move_mount", ENOSYS },
  { "fsopen", ENOSYS },
  { "fsconfig", ENOSYS },
  { "fsmount", ENOSYS },
  { "fspick", ENOSYS },
  { "mount_setattr", ENOSYS },
  /* Opens what no name inside leads to. */
  { "open_by_handle_at", EPERM },
  /* Large and often wrong parts of the kernel. io_uring also goes round this filter. */
  { "bpf", EPERM },
  { "perf_event_open", EPERM },
  { "userfaultfd", EPERM },
  { "io_uring_setup", ENOSYS },
  { "io_uring_enter", ENOSYS },
  { "io_uring_register", ENOSYS },
  { "kexec_load", EPERM },
  { "kexec_file_load", EPERM },
  /* Another process's memory and descriptors. A debugger has ptrace(). */
  { "process_vm_readv", EPERM },
  { "process_vm_writev", EPERM },
  { "pidfd_getfd", EPERM },
};

static void
add_refused_calls (scmp_filter_ctx  ctx,
                   int             *result)
{
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (refused_calls); i++)
    deny_if (ctx, refused_calls[i].errsv, refused_calls[i].name, 0, NULL, result);

  deny_number (ctx, EPERM, CALL_QUOTACTL_FD, 0, NULL, result);
  deny_number (ctx, ENOSYS, CALL_OPEN_TREE_ATTR, 0, NULL, result);
}

static void
add_namespace_flags (scmp_filter_ctx  ctx,
                     int             *result)
{
  static const unsigned int flags[] = {
    CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID,
    CLONE_NEWNET,
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (flags); i++)
    {
#ifdef __s390__
      DENY_IF (EPERM, "clone", ARGUMENT_HAS (1, flags[i]));
#else
      DENY_IF (EPERM, "clone", ARGUMENT_HAS (0, flags[i]));
#endif
    }
}

/* Pushing input into a terminal is running commands in whatever reads it. */
static void
add_terminal_rules (scmp_filter_ctx  ctx,
                    int             *result)
{
  DENY_IF (EPERM, "ioctl", ARGUMENT_IS (1, TIOCSTI));
  DENY_IF (EPERM, "ioctl", ARGUMENT_IS (1, TIOCLINUX));
}

/* Families by a list of what is good: virtual machine sockets, packets and modules that would be
 * loaded for a family are refused unseen. A higher half makes a number larger, and so refused. */
static void
add_socket_rules (scmp_filter_ctx  ctx,
                  int             *result)
{
  static const char * const calls[] = { "socket", "socketpair" };
  static const int allowed[] = { AF_UNSPEC, AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      gsize next = 0;
      int family;

      for (family = 0; family < AF_NETLINK; family++)
        {
          if (family == allowed[next])
            next++;
          else
            DENY_IF (EAFNOSUPPORT, calls[i], SCMP_CMP (0, SCMP_CMP_EQ, family));
        }

      DENY_IF (EAFNOSUPPORT, calls[i], ARGUMENT_OVER (0, AF_NETLINK));
    }
}

/* Execution domains change how memory is laid out. Plain, 32 bits as uname() shows them, and no
 * randomization, which debuggers and sanitizers set, are harmless; so is the question, which has
 * all bits set. A rule compares an argument once, so the rest is put together from its bits. */
static void
add_personality_rules (scmp_filter_ctx  ctx,
                       int             *result)
{
  const guint32 harmless = PER_LINUX | PER_LINUX32 | ADDR_NO_RANDOMIZE;
  const guint32 top = 0x80000000u;
  guint32 bit;

  for (bit = 1; bit < top; bit <<= 1)
    {
      if ((bit & harmless) == 0)
        DENY_IF (EPERM, "personality", SCMP_CMP (0, SCMP_CMP_MASKED_EQ, bit | top, bit));

      DENY_IF (EPERM, "personality", SCMP_CMP (0, SCMP_CMP_MASKED_EQ, bit | top, top));
    }
}

/* Process 1 cannot be traced, but its limits and its share of the machine could be taken: then it
 * would no longer end what must end. */
static void
add_other_process_rules (scmp_filter_ctx  ctx,
                         int             *result)
{
  static const char * const by_pid[] = {
    "prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler",
  };
  gsize i;

  if (!SBX_PROTECTS (T5))
    return;

  for (i = 0; i < G_N_ELEMENTS (by_pid); i++)
    DENY_IF (EPERM, by_pid[i], ARGUMENT_NOT (0, 0));

  DENY_IF (EPERM, "setpriority", ARGUMENT_NOT (0, PRIO_PROCESS));
  DENY_IF (EPERM, "setpriority", ARGUMENT_NOT (1, 0));
  DENY_IF (EPERM, "ioprio_set", ARGUMENT_NOT (0, IOPRIO_WHO_PROCESS));
  DENY_IF (EPERM, "ioprio_set", ARGUMENT_NOT (1, 0));
  deny_if (ctx, EPERM, "process_madvise", 0, NULL, result);
  deny_number (ctx, EPERM, CALL_PROCESS_MRELEASE, 0, NULL, result);
}

/* The limit on core dumps stays at 1, which keeps memory from inside away from a program of root's
 * that the kernel pipes it to; 0 would not. It is what shells and test suites lower to 0, for fewer
 * dumps, and so they are told that it was done. */
static void
add_core_rules (scmp_filter_ctx  ctx,
                int             *result)
{
  if (!SBX_PROTECTS (T14))
    return;

  DENY_IF (0, "setrlimit", ARGUMENT_IS (0, RLIMIT_CORE));
  DENY_IF (0, "prlimit64", ARGUMENT_IS (0, 0), ARGUMENT_IS (1, RLIMIT_CORE), ARGUMENT_NOT (2, 0));
}

/* The memory of pipes is counted for the user, not for the sandbox. */
static void
add_pipe_rules (scmp_filter_ctx  ctx,
                int             *result)
{
  if (!SBX_PROTECTS (T7))
    return;

  DENY_IF (EPERM, "fcntl", ARGUMENT_IS (1, F_SETPIPE_SZ), ARGUMENT_OVER (2, MAX_PIPE_SIZE));
  DENY_IF (EPERM, "fcntl64", ARGUMENT_IS (1, F_SETPIPE_SZ), ARGUMENT_OVER (2, MAX_PIPE_SIZE));
}

/* A file of ours that runs as us for whoever starts it: from a write path it leads out. */
static void
add_set_id_rules (scmp_filter_ctx  ctx,
                  int             *result)
{
  static const unsigned int bits[] = { S_ISUID, S_ISGID };
  static const unsigned int making[] = { O_CREAT, O_TMPFILE & ~O_DIRECTORY };
  gsize i, j;

  if (!SBX_PROTECTS (T12))
    return;

  for (i = 0; i < G_N_ELEMENTS (bits); i++)
    {
      const struct scmp_arg_cmp fchmodat2[] = { ARGUMENT_HAS (2, bits[i]) };

      DENY_IF (EPERM, "chmod", ARGUMENT_HAS (1, bits[i]));
      DENY_IF (EPERM, "fchmod", ARGUMENT_HAS (1, bits[i]));
      DENY_IF (EPERM, "fchmodat", ARGUMENT_HAS (2, bits[i]));
      deny_number (ctx, EPERM, CALL_FCHMODAT2, G_N_ELEMENTS (fchmodat2), fchmodat2, result);
      DENY_IF (EPERM, "creat", ARGUMENT_HAS (1, bits[i]));
      DENY_IF (EPERM, "mknod", ARGUMENT_HAS (1, bits[i]));
      DENY_IF (EPERM, "mknodat", ARGUMENT_HAS (2, bits[i]));
      DENY_IF (EPERM, "mkdir", ARGUMENT_HAS (1, bits[i]));
      DENY_IF (EPERM, "mkdirat", ARGUMENT_HAS (2, bits[i]));

      /* Without these flags the mode is whatever was in the register. */
      for (j = 0; j < G_N_ELEMENTS (making); j++)
        {
          DENY_IF (EPERM, "open", ARGUMENT_HAS (1, making[j]), ARGUMENT_HAS (2, bits[i]));
          DENY_IF (EPERM, "openat", ARGUMENT_HAS (2, making[j]), ARGUMENT_HAS (3, bits[i]));
        }
    }

  /* Its flags and mode are behind a pointer. */
  deny_if (ctx, ENOSYS, "openat2", 0, NULL, result);
}

static gboolean
has_common_numbers (guint32 arch)
{
  return arch == SCMP_ARCH_X86_64 || arch == SCMP_ARCH_AARCH64 || arch == SCMP_ARCH_RISCV64 ||
         arch == SCMP_ARCH_PPC64LE || arch == SCMP_ARCH_S390X;
}

/* What libseccomp has no rule for: a range of calls. On x86 the calls of the x32 interface have a
 * high bit set and end here too. Number -1 is a call that a debugger has taken away. */
static void
add_prelude (GByteArray *program)
{
  const guint32 arch = seccomp_arch_native ();
  const struct sock_filter prelude[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, arch)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, arch, 0, 4),
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, G_MAXUINT32, 2, 0),
    BPF_JUMP (BPF_JMP | BPF_JGT | BPF_K, NEWEST_CALL, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
  };

  if (has_common_numbers (arch))
    g_byte_array_append (program, (const guint8 *) prelude, sizeof prelude);
}

static gboolean
append_from_fd (GByteArray *program,
                int         fd)
{
  for (;;)
    {
      guint8 chunk[4096];
      const ssize_t n = read (fd, chunk, sizeof chunk);

      if (n < 0)
        return FALSE;

      if (n == 0)
        return TRUE;

      g_byte_array_append (program, chunk, n);
    }
}

static int
add_rules (scmp_filter_ctx ctx)
{
  int rules_result = 0;
  int *result = &rules_result;

  /* A program of another architecture ends with SIGSYS: the rules would not be its own. Where this
   * cannot be set only the thread that called ends, which is as good. */
  seccomp_attr_set (ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

  add_refused_calls (ctx, result);
  add_namespace_flags (ctx, result);
  add_terminal_rules (ctx, result);
  add_socket_rules (ctx, result);
  add_personality_rules (ctx, result);
  add_other_process_rules (ctx, result);
  add_core_rules (ctx, result);
  add_pipe_rules (ctx, result);
  add_set_id_rules (ctx, result);

  return rules_result;
}

static GBytes *
compile (GError **error)
{
  g_autoptr(GByteArray) program = g_byte_array_new ();
  sbx_autofd int fd = memfd_create ("sbx-filter", MFD_CLOEXEC);
  scmp_filter_ctx ctx = seccomp_init (SCMP_ACT_ALLOW);
  int result = ctx != NULL ? 0 : -ENOMEM;

  if (fd < 0)
    result = -errno;

  if (result == 0)
    result = add_rules (ctx);

  if (result == 0)
    result = seccomp_export_bpf (ctx, fd);

  if (ctx != NULL)
    seccomp_release (ctx);

  if (result == 0)
    {
      add_prelude (program);

      if (lseek (fd, 0, SEEK_SET) < 0 || !append_from_fd (program, fd))
        result = -errno;
    }

  if (result == 0)
    return g_byte_array_free_to_bytes (g_steal_pointer (&program));

  g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
               "The filter for system calls could not be made: %s", g_strerror (-result));
  return NULL;
}

int
_sbx_seccomp_open (GError **error)
{
  static GMutex lock;
  static GBytes *filter;   /* kept for the life of the process */
  gconstpointer data;
  gsize size;

  g_mutex_lock (&lock);
  if (filter == NULL)
    filter = compile (error);
  g_mutex_unlock (&lock);

  if (filter == NULL)
    return -1;

  /* bwrap reads from the position on, which descriptors of one open file share: so each gets a file
   * of its own. */
  data = g_bytes_get_data (filter, &size);
  return _sbx_memfd_sealed ("sbx-filter", data, size, error);
}
