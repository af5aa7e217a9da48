/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-scope-private.h"

#include "core/sbx-error.h"
#include "core/sbx-source-private.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

/*
 * What is said to systemd, one step after the other:
 *
 *   connect   to the bus of this user, or of the machine as root: a connection of its own, since
 *             the one that a process shares would stay when this library is done with it;
 *   ask       the bus which process we are: systemd is told of processes by their numbers, and has
 *             to mean the same by them;
 *   ask       systemd for its version, and thereby whether it is there;
 *   listen    for jobs that have ended, and have systemd tell of them;
 *   start     the scope, and wait for its job to end;
 *   read      what systemd made of it, and what the kernel has.
 */

#define DEADLINE_MS 10000

#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"
#define SYSTEMD "org.freedesktop.systemd1"
#define MANAGER_PATH "/org/freedesktop/systemd1"
#define MANAGER SYSTEMD ".Manager"
#define PROPERTIES "org.freedesktop.DBus.Properties"

/* Scopes know what to do when memory runs out since this version. */
#define OOM_POLICY_VERSION 253

typedef enum
{
  DO_CHECK,
  DO_START,
  DO_STOP,
} What;

typedef struct
{
  What             what;
  GTask           *task;
  char            *unit;
  SbxBwrapScope    scope;          /* its id is not ours */
  GDBusConnection *connection;
  GCancellable    *inner;          /* of the step that is on */
  GSource         *outer;
  GSource         *deadline;
  guint            jobs;           /* subscriptions to signals */
  guint            owners;
  guint            version;
  gboolean         started;        /* systemd has taken the job */
  gboolean         timed_out;
  char            *result;         /* (nullable) of the job */
  char            *control_group;
  char            *membership;
} Talk;

static void
talk_free (Talk *talk)
{
  _sbx_clear_source (&talk->outer);
  _sbx_clear_source (&talk->deadline);

  if (talk->jobs != 0)
    g_dbus_connection_signal_unsubscribe (talk->connection, talk->jobs);
  if (talk->owners != 0)
    g_dbus_connection_signal_unsubscribe (talk->connection, talk->owners);

  if (talk->connection != NULL)
    g_signal_handlers_disconnect_by_data (talk->connection, talk);

  g_clear_object (&talk->connection);
  g_clear_object (&talk->inner);
  g_clear_object (&talk->task);
  g_free (talk->unit);
  g_free (talk->result);
  g_free (talk->control_group);
  g_free (talk->membership);
  g_free (talk);
}

/* The end of every talk. Takes @talk, and @error, which is %NULL when all went well. */
static void
finish (Talk   *talk,
        GError *error)
{
  g_autoptr(GTask) task = g_steal_pointer (&talk->task);
  const gboolean timed_out = talk->timed_out;

  talk_free (talk);

  if (g_task_return_error_if_cancelled (task))
    {
      g_clear_error (&error);
      return;
    }

  if (timed_out)
    {
      g_clear_error (&error);
      g_task_return_new_error (task, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                               _("systemd did not answer within %d seconds"), DEADLINE_MS / 1000);
    }
  else if (error != NULL)
    {
      g_task_return_error (task, error);
    }
  else
    {
      g_task_return_boolean (task, TRUE);
    }
}

/* @error comes from the bus, and its text from whoever answers there. */
static void
finish_refused (Talk   *talk,
                GError *error)
{
  const gboolean remote = g_dbus_error_is_remote_error (error);
  g_autofree char *escaped = NULL;

  if (remote)
    g_dbus_error_strip_remote_error (error);

  escaped = _sbx_text_escape (error->message);
  g_clear_error (&error);
  finish (talk, g_error_new (SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                             remote ? _("systemd does not do it: %s")
                                    : _("the bus on which systemd listens does not work: %s"),
                             escaped));
}

/* No signal comes any more. A call that is on fails by itself. */
static void
closed_cb (GDBusConnection *connection,
           gboolean         remote_vanished,
           const GError    *reason,
           gpointer         user_data)
{
  Talk *talk = user_data;

  if (talk->started && talk->result == NULL)
    finish (talk, g_error_new_literal (SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                                       _("systemd went away meanwhile")));
}

static gboolean
outer_cancelled_cb (GCancellable *cancellable,
                    gpointer      user_data)
{
  Talk *talk = user_data;

  if (talk->started && talk->result == NULL)
    finish (talk, NULL);
  else
    g_cancellable_cancel (talk->inner);

  return G_SOURCE_REMOVE;
}

static gboolean
deadline_cb (gpointer user_data)
{
  Talk *talk = user_data;

  talk->timed_out = TRUE;

  return outer_cancelled_cb (NULL, talk);
}

/* Only sockets of this machine are asked, and nothing is ever started in order to ask it. */
static char *
find_bus (GError **error)
{
  const gboolean root = geteuid () == 0;
  const char *named = g_getenv (root ? "DBUS_SYSTEM_BUS_ADDRESS" : "DBUS_SESSION_BUS_ADDRESS");
  g_autofree char *path = NULL;
  g_autofree char *escaped = NULL;

  if (named != NULL && g_str_has_prefix (named, "unix:"))
    return g_strdup (named);

  if (root)
    path = g_strdup ("/run/dbus/system_bus_socket");
  else
    path = g_build_filename (g_get_user_runtime_dir (), "bus", NULL);

  if (access (path, F_OK) != 0)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                           root ? _("there is no systemd here: the bus of the system is missing")
                                : _("there is no systemd for this user: the bus of the session is "
                                    "missing"));
      return NULL;
    }

  escaped = g_dbus_address_escape_value (path);
  return g_strconcat ("unix:path=", escaped, NULL);
}

static void
call (Talk                *talk,
      const char          *name,
      const char          *path,
      const char          *interface,
      const char          *method,
      GVariant            *parameters,
      const char          *reply,
      GAsyncReadyCallback  callback)
{
  g_dbus_connection_call (talk->connection, name, path, interface, method, parameters,
                          G_VARIANT_TYPE (reply), G_DBUS_CALL_FLAGS_NO_AUTO_START, DEADLINE_MS,
                          talk->inner, callback, talk);
}

static void
verified_cb (GObject      *object,
             GAsyncResult *result,
             gpointer      user_data)
{
  GError *error = NULL;

  g_task_propagate_boolean (G_TASK (result), &error);
  finish (user_data, error);
}

static void
verify_in_thread (GTask        *task,
                  gpointer      source_object,
                  gpointer      task_data,
                  GCancellable *cancellable)
{
  const Talk *talk = task_data;
  g_autofree char *path = g_strdup_printf ("/proc/%d/cgroup", (int) talk->scope.pid);
  g_autofree char *membership = NULL;
  GError *error = NULL;

  if (g_file_get_contents (path, &membership, NULL, &error) &&
      _sbx_bwrap_scope_verify (&talk->scope, "/sys/fs/cgroup", talk->control_group, membership,
                               &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/* What was asked for comes back, if systemd has taken it. */
static gboolean
check_property (GVariant    *properties,
                const char  *name,
                guint64      wanted,
                GError     **error)
{
  guint64 value = G_MAXUINT64;

  if (g_variant_lookup (properties, name, "t", &value) && value == wanted)
    return TRUE;

  g_set_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
               _("systemd made the scope, but its %s is not what was asked for"), name);
  return FALSE;
}

static void
read_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  Talk *talk = user_data;
  g_autoptr(GVariant) reply = NULL;
  g_autoptr(GVariant) properties = NULL;
  g_autoptr(GTask) task = NULL;
  GError *error = NULL;

  reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (object), result, &error);
  if (reply == NULL)
    {
      finish_refused (talk, error);
      return;
    }

  g_variant_get (reply, "(@a{sv})", &properties);
  if ((talk->scope.memory != 0 &&
       (!check_property (properties, "MemoryMax", talk->scope.memory, &error) ||
        !check_property (properties, "MemorySwapMax", 0, &error))) ||
      (talk->scope.processes != 0 &&
       !check_property (properties, "TasksMax", talk->scope.processes, &error)))
    {
      finish (talk, error);
      return;
    }

  if (!g_variant_lookup (properties, "ControlGroup", "s", &talk->control_group))
    talk->control_group = g_strdup ("");

  task = g_task_new (NULL, NULL, verified_cb, talk);
  g_task_set_source_tag (task, read_cb);
  g_task_set_task_data (task, talk, NULL);
  g_task_run_in_thread (task, verify_in_thread);
}

static void
got_unit_cb (GObject      *object,
             GAsyncResult *result,
             gpointer      user_data)
{
  Talk *talk = user_data;
  g_autoptr(GVariant) reply = NULL;
  const char *path;
  GError *error = NULL;

  reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (object), result, &error);
  if (reply == NULL)
    {
      finish_refused (talk, error);
      return;
    }

  g_variant_get (reply, "(&o)", &path);
  call (talk, SYSTEMD, path, PROPERTIES, "GetAll", g_variant_new ("(s)", SYSTEMD ".Scope"),
        "(a{sv})", read_cb);
}

/* The job has ended, and systemd has said that it has taken it: in whatever order. */
static void
job_ended (Talk *talk)
{
  g_autofree char *escaped = NULL;

  if (g_str_equal (talk->result, "done"))
    {
      call (talk, SYSTEMD, MANAGER_PATH, MANAGER, "GetUnit", g_variant_new ("(s)", talk->unit),
            "(o)", got_unit_cb);
      return;
    }

  escaped = _sbx_text_escape (talk->result);
  finish (talk, g_error_new (SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                             _("systemd could not start the scope: %s"), escaped));
}

static void
job_removed_cb (GDBusConnection *connection,
                const char      *sender,
                const char      *path,
                const char      *interface,
                const char      *signal_name,
                GVariant        *parameters,
                gpointer         user_data)
{
  Talk *talk = user_data;
  const char *unit, *result;

  if (talk->result != NULL || !g_variant_is_of_type (parameters, G_VARIANT_TYPE ("(uoss)")))
    return;

  g_variant_get (parameters, "(uo&s&s)", NULL, NULL, &unit, &result);
  if (!g_str_equal (unit, talk->unit))
    return;

  talk->result = g_strdup (result);
  if (talk->started)
    job_ended (talk);
}

/* It ended, or is another one now, which does not know of the job. */
static void
owner_changed_cb (GDBusConnection *connection,
                  const char      *sender,
                  const char      *path,
                  const char      *interface,
                  const char      *signal_name,
                  GVariant        *parameters,
                  gpointer         user_data)
{
  closed_cb (connection, FALSE, NULL, user_data);
}

static void
started_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  Talk *talk = user_data;
  g_autoptr(GVariant) reply = NULL;
  GError *error = NULL;

  reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (object), result, &error);
  if (reply == NULL)
    {
      finish_refused (talk, error);
      return;
    }

  talk->started = TRUE;
  if (talk->result != NULL)
    job_ended (talk);
  else if (g_dbus_connection_is_closed (talk->connection))
    closed_cb (talk->connection, TRUE, NULL, talk);
}

static GVariant *
describe_scope (Talk *talk)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("(ssa(sv)a(sa(sv)))"));
  g_variant_builder_add (&builder, "s", talk->unit);
  g_variant_builder_add (&builder, "s", "fail");

  g_variant_builder_open (&builder, G_VARIANT_TYPE ("a(sv)"));
  g_variant_builder_add (&builder, "(sv)", "Description",
                         g_variant_new_printf ("Sandbox %s of libsbx", talk->unit));
  g_variant_builder_add (&builder, "(sv)", "CollectMode",
                         g_variant_new_string ("inactive-or-failed"));
  g_variant_builder_add (&builder, "(sv)", "PIDs",
                         g_variant_new_fixed_array (G_VARIANT_TYPE_UINT32,
                                                    &(guint32) { (guint32) talk->scope.pid }, 1,
                                                    sizeof (guint32)));

  /* One command that takes too much is no reason to end the others. */
  if (talk->version >= OOM_POLICY_VERSION)
    g_variant_builder_add (&builder, "(sv)", "OOMPolicy", g_variant_new_string ("continue"));

  if (talk->scope.memory != 0)
    {
      g_variant_builder_add (&builder, "(sv)", "MemoryMax",
                             g_variant_new_uint64 (talk->scope.memory));
      g_variant_builder_add (&builder, "(sv)", "MemorySwapMax", g_variant_new_uint64 (0));
    }

  if (talk->scope.processes != 0)
    g_variant_builder_add (&builder, "(sv)", "TasksMax",
                           g_variant_new_uint64 (talk->scope.processes));
  g_variant_builder_close (&builder);

  g_variant_builder_open (&builder, G_VARIANT_TYPE ("a(sa(sv))"));
  g_variant_builder_close (&builder);

  return g_variant_builder_end (&builder);
}

static void
subscribed_cb (GObject      *object,
               GAsyncResult *result,
               gpointer      user_data)
{
  Talk *talk = user_data;
  g_autoptr(GVariant) reply = NULL;
  GError *error = NULL;

  reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (object), result, &error);
  if (reply == NULL)
    {
      finish_refused (talk, error);
      return;
    }

  call (talk, SYSTEMD, MANAGER_PATH, MANAGER, "StartTransientUnit", describe_scope (talk), "(o)",
        started_cb);
}

static void
stopped_cb (GObject      *object,
            GAsyncResult *result,
            gpointer      user_data)
{
  g_autoptr(GVariant) reply = NULL;
  GError *error = NULL;

  reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (object), result, &error);
  finish (user_data, error);
}

static void
next_step (Talk *talk)
{
  switch (talk->what)
    {
    case DO_START:
      talk->owners =
        g_dbus_connection_signal_subscribe (talk->connection, BUS_NAME, BUS_NAME,
                                            "NameOwnerChanged", BUS_PATH, SYSTEMD,
                                            G_DBUS_SIGNAL_FLAGS_NONE, owner_changed_cb, talk, NULL);
      talk->jobs =
        g_dbus_connection_signal_subscribe (talk->connection, SYSTEMD, MANAGER, "JobRemoved",
                                            MANAGER_PATH, NULL, G_DBUS_SIGNAL_FLAGS_NONE,
                                            job_removed_cb, talk, NULL);
      call (talk, SYSTEMD, MANAGER_PATH, MANAGER, "Subscribe", NULL, "()", subscribed_cb);
      break;

    case DO_STOP:
      call (talk, SYSTEMD, MANAGER_PATH, MANAGER, "StopUnit",
            g_variant_new ("(ss)", talk->unit, "fail"), "(o)", stopped_cb);
      break;

    case DO_CHECK:
    default:
      finish (talk, NULL);
      break;
    }
}

static void
asked_version_cb (GObject      *object,
                  GAsyncResult *result,
                  gpointer      user_data)
{
  Talk *talk = user_data;
  g_autoptr(GVariant) reply = NULL;
  g_autoptr(GVariant) value = NULL;
  GError *error = NULL;

  reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (object), result, &error);
  if (reply == NULL)
    {
      finish_refused (talk, error);
      return;
    }

  g_variant_get (reply, "(v)", &value);
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING))
    {
      const char *text = g_variant_get_string (value, NULL);

      /* "252.38-1~deb12u1", "v257". */
      talk->version = (guint) g_ascii_strtoull (text + (*text == 'v'), NULL, 10);
    }

  next_step (talk);
}

static void
asked_pid_cb (GObject      *object,
              GAsyncResult *result,
              gpointer      user_data)
{
  Talk *talk = user_data;
  g_autoptr(GVariant) reply = NULL;
  guint32 pid = 0;
  GError *error = NULL;

  reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (object), result, &error);
  if (reply == NULL)
    {
      finish_refused (talk, error);
      return;
    }

  g_variant_get (reply, "(u)", &pid);
  if (pid != (guint32) getpid ())
    {
      finish (talk, g_error_new_literal (SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE,
                                         _("the systemd that answers is outside of this container, "
                                           "and does not know its processes")));
      return;
    }

  call (talk, SYSTEMD, MANAGER_PATH, PROPERTIES, "Get",
        g_variant_new ("(ss)", MANAGER, "Version"), "(v)", asked_version_cb);
}

static void
connected_cb (GObject      *object,
              GAsyncResult *result,
              gpointer      user_data)
{
  Talk *talk = user_data;
  GError *error = NULL;

  talk->connection = g_dbus_connection_new_for_address_finish (result, &error);
  if (talk->connection == NULL)
    {
      finish_refused (talk, error);
      return;
    }

  g_dbus_connection_set_exit_on_close (talk->connection, FALSE);
  g_signal_connect (talk->connection, "closed", G_CALLBACK (closed_cb), talk);
  call (talk, BUS_NAME, BUS_PATH, BUS_NAME, "GetConnectionUnixProcessID",
        g_variant_new ("(s)", g_dbus_connection_get_unique_name (talk->connection)), "(u)",
        asked_pid_cb);
}

static GSource *
attach (Talk           *talk,
        GSource        *source,
        GSourceFunc     func)
{
  g_source_set_callback (source, func, talk, NULL);
  g_source_attach (source, g_task_get_context (talk->task));

  return source;
}

/* Takes @talk. */
static void
begin (Talk *talk)
{
  GCancellable *cancellable = g_task_get_cancellable (talk->task);
  g_autofree char *address = NULL;
  GError *error = NULL;

  g_task_set_check_cancellable (talk->task, FALSE);
  address = find_bus (&error);
  if (address == NULL)
    {
      finish (talk, error);
      return;
    }

  talk->inner = g_cancellable_new ();
  talk->deadline = attach (talk, g_timeout_source_new (DEADLINE_MS), deadline_cb);
  if (cancellable != NULL)
    talk->outer = attach (talk, g_cancellable_source_new (cancellable),
                          G_SOURCE_FUNC (outer_cancelled_cb));

  g_dbus_connection_new_for_address (address,
                                     G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                       G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                                     NULL, talk->inner, connected_cb, talk);
}

static Talk *
talk_new (What        what,
          const char *id,
          GTask      *task)
{
  Talk *talk = g_new0 (Talk, 1);

  talk->what = what;
  talk->task = task;
  talk->unit = id != NULL ? g_strdup_printf ("libsbx-%s.scope", id) : NULL;

  return talk;
}

void
_sbx_bwrap_scope_start_async (const SbxBwrapScope *scope,
                              GCancellable        *cancellable,
                              GAsyncReadyCallback  callback,
                              gpointer             user_data)
{
  GTask *task = g_task_new (NULL, cancellable, callback, user_data);
  Talk *talk = talk_new (DO_START, scope->id, task);

  g_task_set_source_tag (task, _sbx_bwrap_scope_start_async);
  talk->scope = *scope;
  talk->scope.id = NULL;
  begin (talk);
}

gboolean
_sbx_bwrap_scope_start_finish (GAsyncResult  *result,
                               GError       **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

void
_sbx_bwrap_scope_stop_async (const char          *id,
                             GAsyncReadyCallback  callback,
                             gpointer             user_data)
{
  GTask *task = g_task_new (NULL, NULL, callback, user_data);

  g_task_set_source_tag (task, _sbx_bwrap_scope_stop_async);
  begin (talk_new (DO_STOP, id, task));
}

static void
store_cb (GObject      *object,
          GAsyncResult *result,
          gpointer      user_data)
{
  GAsyncResult **stored = user_data;

  *stored = g_object_ref (result);
}

gboolean
_sbx_bwrap_scope_check (GCancellable  *cancellable,
                        GError       **error)
{
  g_autoptr(GMainContext) context = g_main_context_new ();
  g_autoptr(GAsyncResult) result = NULL;
  GTask *task;

  g_main_context_push_thread_default (context);

  task = g_task_new (NULL, cancellable, store_cb, &result);
  g_task_set_source_tag (task, _sbx_bwrap_scope_check);
  begin (talk_new (DO_CHECK, NULL, task));
  while (result == NULL)
    g_main_context_iteration (context, TRUE);

  g_main_context_pop_thread_default (context);

  return g_task_propagate_boolean (G_TASK (result), error);
}
