/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-probe-private.h"
#include "bwrap/sbx-bwrap-probe-run-private.h"
#include "core/sbx-error.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-path-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * What this machine allows. A trivial sandbox is tried; only when that fails are its parts tried
 * one by one and the settings of the kernel read, so that the answer is what to do rather than
 * what bubblewrap happened to say.
 */

/* Stages of a probe: each sandbox leaves out one more thing than the one before. */
typedef enum
{
  STAGE_ALL,
  STAGE_NO_PROC,
  STAGE_NO_NETWORK,
  STAGE_DONE,
} Stage;

typedef struct
{
  char      *path;             /* of bubblewrap */
  GPtrArray *findings;
  Stage      stage;
  char      *output;           /* what the first failure said */
} Probe;

static void
probe_free (Probe *self)
{
  g_free (self->path);
  g_free (self->output);
  g_clear_pointer (&self->findings, g_ptr_array_unref);
  g_free (self);
}

void
_sbx_bwrap_finding_free (SbxBwrapFinding *self)
{
  g_free (self->summary);
  g_free (self->remedy);
  g_free (self);
}

static void
add_finding (GPtrArray  *findings,
             const char *id,
             gboolean    ok,
             gboolean    required,
             const char *summary,
             const char *remedy)
{
  SbxBwrapFinding *finding = g_new0 (SbxBwrapFinding, 1);

  finding->id = id;
  finding->ok = ok;
  finding->required = required;
  finding->summary = g_strdup (summary);
  finding->remedy = g_strdup (remedy);
  g_ptr_array_add (findings, finding);
}

/* The number in a file of /proc/sys, or -1. */
static int
read_setting (const char *path)
{
  g_autofree char *content = NULL;

  return g_file_get_contents (path, &content, NULL, NULL) ? (int) strtol (content, NULL, 10) : -1;
}

/* Whether a new user namespace can be had, as errno. In a child, since it cannot be undone. */
static int
try_user_namespace (void)
{
  sbx_autofd int read_fd = -1;
  sbx_autofd int write_fd = -1;
  int fds[2];
  int errsv = 0;
  pid_t pid;

  if (pipe2 (fds, O_CLOEXEC) < 0)
    return errno;

  read_fd = fds[0];
  write_fd = fds[1];
  pid = fork ();

  if (pid < 0)
    return errno;

  if (pid == 0)
    {
      /* Only what is safe in the child of a program with threads. */
      errsv = unshare (CLONE_NEWUSER) < 0 ? errno : 0;
      _exit (write (write_fd, &errsv, sizeof errsv) == sizeof errsv ? 0 : 1);
    }

  _sbx_clear_fd (&write_fd);
  if (read (read_fd, &errsv, sizeof errsv) != sizeof errsv)
    errsv = EIO;

  while (waitpid (pid, NULL, 0) < 0 && errno == EINTR)
    ;

  return errsv;
}

/* What to say to whoever started the container, or %NULL outside of one. */
static const char *
get_container_remedy (void)
{
  if (g_getenv ("KUBERNETES_SERVICE_HOST") != NULL)
    return _("This is a Kubernetes pod: set “hostUsers: false”, “procMount: Unmasked” and "
             "“seccompProfile: {type: Unconfined}” in its security context");

  if (access ("/run/.containerenv", F_OK) == 0)
    return _("This is a Podman container: start it with “--security-opt seccomp=unconfined "
             "--security-opt unmask=ALL”");

  if (access ("/.dockerenv", F_OK) == 0)
    return _("This is a Docker container: start it with “--security-opt seccomp=unconfined "
             "--security-opt apparmor=unconfined --security-opt systempaths=unconfined”");

  return NULL;
}

/* Returns whether it found a reason. */
static gboolean
explain_user_namespaces (GPtrArray *findings)
{
  const int errsv = try_user_namespace ();
  const char *container = get_container_remedy ();

  if (geteuid () != 0 &&
      read_setting ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
    add_finding (findings, "user-namespaces", FALSE, TRUE,
                 _("AppArmor does not let ordinary programs use user namespaces."),
                 _("Install an AppArmor profile for bwrap that has “userns,”, or run “sudo sysctl "
                   "kernel.apparmor_restrict_unprivileged_userns=0”"));
  else if (errsv == 0)
    return FALSE;
  else if (read_setting ("/proc/sys/user/max_user_namespaces") == 0)
    add_finding (findings, "user-namespaces", FALSE, TRUE,
                 _("This machine allows no user namespaces."),
                 _("Run “sudo sysctl user.max_user_namespaces=10000”"));
  else if (read_setting ("/proc/sys/kernel/unprivileged_userns_clone") == 0)
    add_finding (findings, "user-namespaces", FALSE, TRUE,
                 _("This machine allows user namespaces to root only."),
                 _("Run “sudo sysctl kernel.unprivileged_userns_clone=1”"));
  else
    {
      g_autofree char *summary = g_strdup_printf (_("A user namespace is refused: %s."),
                                                  g_strerror (errsv));

      add_finding (findings, "user-namespaces", FALSE, TRUE, summary,
                   container != NULL ? container
                                     : _("Something around this program forbids it: a seccomp "
                                         "filter, a limit, or a chroot"));
    }

  return TRUE;
}

static void
explain_otherwise (Probe *self)
{
  g_autofree char *said = NULL;
  g_autofree char *summary = NULL;
  char *end;

  end = strchr (self->output, '\n');
  if (end != NULL)
    *end = '\0';

  said = _sbx_path_show (self->output);
  summary = g_strdup_printf (_("A trivial sandbox does not start: %s"),
                             said[0] != '\0' ? said : _("bubblewrap gives no reason"));
  add_finding (self->findings, "sandbox", FALSE, TRUE, summary, get_container_remedy ());
}

static void
add_extras (GPtrArray *findings)
{
  const gboolean filter = access ("/proc/sys/kernel/seccomp/actions_avail", R_OK) == 0;

  add_finding (findings, "seccomp", filter, TRUE,
               filter ? _("System calls can be filtered.")
                      : _("This kernel cannot filter system calls."),
               filter ? NULL : _("Use a kernel with CONFIG_SECCOMP_FILTER"));

  if (geteuid () == 0)
    add_finding (findings, "ordinary-user", FALSE, FALSE,
                 _("Running as root is weaker: root owns files that others could not touch."),
                 _("Run as an ordinary user where you can"));
  else
    add_finding (findings, "ordinary-user", TRUE, FALSE, _("Running as an ordinary user."), NULL);
}

static void run_stage (GTask *task);

static void
complete (GTask *task)
{
  Probe *self = g_task_get_task_data (task);

  add_extras (self->findings);
  g_task_return_pointer (task, g_steal_pointer (&self->findings),
                         (GDestroyNotify) g_ptr_array_unref);
}

/* A sandbox started, after something was left out that then is the reason. */
static void
conclude (Probe *self)
{
  const char *container = get_container_remedy ();

  switch (self->stage)
    {
    case STAGE_ALL:
      add_finding (self->findings, "user-namespaces", TRUE, TRUE,
                   _("User namespaces can be used."), NULL);
      add_finding (self->findings, "sandbox", TRUE, TRUE, _("A sandbox starts."), NULL);
      break;

    case STAGE_NO_PROC:
      add_finding (self->findings, "proc", FALSE, TRUE,
                   _("A new /proc is refused, since parts of this one are covered."),
                   container != NULL ? container
                                     : _("Start whatever this runs in without covering parts of "
                                         "/proc"));
      break;

    case STAGE_NO_NETWORK:
      add_finding (self->findings, "network-namespace", FALSE, TRUE,
                   _("A network namespace is refused."),
                   container != NULL ? container
                                     : _("Run “sudo sysctl user.max_net_namespaces=10000”, and see "
                                         "whether AppArmor restricts user namespaces"));
      break;

    case STAGE_DONE:
    default:
      g_assert_not_reached ();
    }
}

static void
stage_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxBwrapRun) run = _sbx_bwrap_run_finish (result, &error);
  Probe *self = g_task_get_task_data (task);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  if (run != NULL && run->succeeded)
    {
      conclude (self);
      complete (task);
      return;
    }

  if (self->output == NULL)
    self->output = g_strdup (run != NULL ? run->output : error->message);

  /* What every sandbox needs comes first. */
  if (self->stage == STAGE_ALL && explain_user_namespaces (self->findings))
    {
      complete (task);
      return;
    }

  self->stage++;
  if (self->stage == STAGE_DONE)
    {
      explain_otherwise (self);
      complete (task);
      return;
    }

  run_stage (g_steal_pointer (&task));
}

/* Takes @task. */
static void
run_stage (GTask *task)
{
  Probe *self = g_task_get_task_data (task);
  g_autoptr(GPtrArray) argv = g_ptr_array_new ();
  static const char * const always[] = {
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup",
    "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev",
  };
  gsize i;

  g_ptr_array_add (argv, self->path);
  for (i = 0; i < G_N_ELEMENTS (always); i++)
    g_ptr_array_add (argv, (char *) always[i]);

  if (self->stage != STAGE_NO_NETWORK)
    g_ptr_array_add (argv, (char *) "--unshare-net");

  if (self->stage != STAGE_NO_PROC)
    {
      g_ptr_array_add (argv, (char *) "--proc");
      g_ptr_array_add (argv, (char *) "/proc");
    }

  /* Something that is there for certain. */
  g_ptr_array_add (argv, (char *) "--");
  g_ptr_array_add (argv, self->path);
  g_ptr_array_add (argv, (char *) "--version");
  g_ptr_array_add (argv, NULL);

  _sbx_bwrap_run_async ((const char * const *) argv->pdata, g_task_get_cancellable (task), stage_cb,
                        task);
}

static void
program_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  g_autoptr(GTask) task = G_TASK (user_data);
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxBwrapProgram) program = _sbx_bwrap_probe_program_finish (result, &error);
  g_autofree char *shown = NULL;
  g_autofree char *summary = NULL;
  Probe *self = g_task_get_task_data (task);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }

  if (program == NULL)
    {
      add_finding (self->findings, "bubblewrap", FALSE, TRUE, error->message,
                   _("Install the package “bubblewrap” of your distribution, 0.8 or newer"));
      complete (task);
      return;
    }

  shown = _sbx_path_show (program->path);
  summary = g_strdup_printf (_("bubblewrap is at %s."), shown);
  add_finding (self->findings, "bubblewrap", TRUE, TRUE, summary, NULL);

  if ((program->options & SBX_BWRAP_OPTION_BIND_FD) != 0)
    add_finding (self->findings, "bind-by-descriptor", TRUE, FALSE,
                 _("What is bound cannot be swapped on the way."), NULL);
  else
    add_finding (self->findings, "bind-by-descriptor", FALSE, FALSE,
                 _("This bubblewrap binds by name alone; what was bound is compared afterwards."),
                 _("Use bubblewrap 0.10 or newer"));

  run_stage (g_steal_pointer (&task));
}

void
_sbx_bwrap_probe_async (const char          *explicit_path,
                        GCancellable        *cancellable,
                        GAsyncReadyCallback  callback,
                        gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  g_autoptr(GError) error = NULL;
  Probe *self = g_new0 (Probe, 1);

  g_task_set_source_tag (task, _sbx_bwrap_probe_async);
  g_task_set_task_data (task, self, (GDestroyNotify) probe_free);
  self->findings = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_bwrap_finding_free);

  if (g_task_return_error_if_cancelled (task))
    return;

  self->path = _sbx_bwrap_probe_find (explicit_path, NULL, NULL, &error);
  if (self->path == NULL)
    {
      add_finding (self->findings, "bubblewrap", FALSE, TRUE, error->message, NULL);
      complete (task);
      return;
    }

  _sbx_bwrap_probe_program_async (self->path, cancellable, program_cb, g_steal_pointer (&task));
}

GPtrArray *
_sbx_bwrap_probe_finish (GAsyncResult  *result,
                         GError       **error)
{
  g_return_val_if_fail (g_task_is_valid (result, NULL), NULL);
  g_return_val_if_fail (g_async_result_is_tagged (result, _sbx_bwrap_probe_async), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}

GError *
_sbx_bwrap_probe_to_error (GPtrArray *findings)
{
  g_autoptr(GString) message = g_string_new (NULL);
  guint i;

  for (i = 0; i < findings->len; i++)
    {
      const SbxBwrapFinding *finding = g_ptr_array_index (findings, i);

      if (finding->ok || !finding->required)
        continue;

      g_string_append_printf (message, "%s%s", message->len > 0 ? " " : "", finding->summary);
      if (finding->remedy != NULL)
        g_string_append_printf (message, " %s.", finding->remedy);
    }

  if (message->len == 0)
    return NULL;

  return g_error_new_literal (SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE, message->str);
}
