/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <gio/gio.h>
#include <glib-unix.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * A stand-in for systemd, on a bus of its own:
 *
 *   fake-systemd MODE DIRECTORY
 *
 * It leaves the process that started it, has a dbus-daemon listen in DIRECTORY, prints the address,
 * and goes when its standard input ends. What it is asked to do is written to DIRECTORY/record.
 *
 *   normal      does what it is asked to, on paper
 *   kernel      and really, with control groups, where root can make those
 *   refuse      says no
 *   silent      never answers
 *   no-job      says that it has begun, and no more
 *   failed-job  says that it has begun, and then that it failed
 *   late-job    tells the end of a job only after a while
 *   no-memory   forgets the limit of memory
 *   no-swap     forgets the one of swap
 *   no-tasks    forgets the one of processes
 *   die         ends instead of answering
 *   die-later   ends after answering
 *   bus-dies    ends the bus instead of answering
 *   absent      is not there: the bus is
 */

static const char introspection[] =
  "<node>"
  "  <interface name='org.freedesktop.systemd1.Manager'>"
  "    <method name='Subscribe'/>"
  "    <method name='StartTransientUnit'>"
  "      <arg type='s' direction='in'/><arg type='s' direction='in'/>"
  "      <arg type='a(sv)' direction='in'/><arg type='a(sa(sv))' direction='in'/>"
  "      <arg type='o' direction='out'/>"
  "    </method>"
  "    <method name='GetUnit'>"
  "      <arg type='s' direction='in'/><arg type='o' direction='out'/>"
  "    </method>"
  "    <method name='StopUnit'>"
  "      <arg type='s' direction='in'/><arg type='s' direction='in'/>"
  "      <arg type='o' direction='out'/>"
  "    </method>"
  "    <signal name='JobRemoved'>"
  "      <arg type='u'/><arg type='o'/><arg type='s'/><arg type='s'/>"
  "    </signal>"
  "    <property name='Version' type='s' access='read'/>"
  "  </interface>"
  "  <interface name='org.freedesktop.systemd1.Scope'>"
  "    <property name='ControlGroup' type='s' access='read'/>"
  "    <property name='MemoryMax' type='t' access='read'/>"
  "    <property name='MemorySwapMax' type='t' access='read'/>"
  "    <property name='TasksMax' type='t' access='read'/>"
  "  </interface>"
  "</node>";

#define ROOT "/org/freedesktop/systemd1"
#define UNIT ROOT "/unit/sandbox"
#define JOB ROOT "/job/1"
#define MANAGER "org.freedesktop.systemd1.Manager"
#define GROUPS "/sys/fs/cgroup"

static const char *mode;
static const char *directory;
static GMainLoop *loop;
static GSubprocess *daemon_process;
static GDBusNodeInfo *node;
static GPtrArray *made_groups;
static char *control_group;
static char *unit_name;
static guint64 memory_max = G_MAXUINT64;
static guint64 swap_max = G_MAXUINT64;
static guint64 tasks_max = G_MAXUINT64;
static gboolean subscribed;

static gboolean
is_mode (const char *name)
{
  return g_str_equal (mode, name);
}

static void
record (const char *format,
        ...) G_GNUC_PRINTF (1, 2);

static void
record (const char *format,
        ...)
{
  g_autofree char *path = g_build_filename (directory, "record", NULL);
  FILE *file = fopen (path, "ae");
  va_list args;

  if (file == NULL)
    return;

  va_start (args, format);
  vfprintf (file, format, args);
  va_end (args);
  fputc ('\n', file);
  fclose (file);
}

static gboolean
put (const char *path,
     const char *name,
     guint64     value)
{
  g_autofree char *file = g_build_filename (path, name, NULL);
  FILE *stream = fopen (file, "we");
  gboolean good;

  if (stream == NULL)
    return FALSE;

  good = fprintf (stream, "%" G_GUINT64_FORMAT "\n", value) > 0;
  return fclose (stream) == 0 && good;
}

/* With version 1 there is a tree for each controller, with version 2 one for all. */
static char *
make_group (const char *tree)
{
  char *path = g_build_filename (GROUPS, tree, control_group, NULL);

  if (g_mkdir (path, 0755) != 0)
    {
      g_free (path);
      return NULL;
    }

  g_ptr_array_add (made_groups, path);
  return path;
}

static void
really_do (guint32 pid)
{
  const gboolean unified = g_file_test (GROUPS "/cgroup.controllers", G_FILE_TEST_EXISTS);
  const char *memory_path = make_group (unified ? "" : "memory");
  const char *tasks_path = unified ? memory_path : make_group ("pids");

  if (memory_path != NULL && memory_max != G_MAXUINT64)
    {
      put (memory_path, unified ? "memory.max" : "memory.limit_in_bytes", memory_max);
      put (memory_path, unified ? "memory.swap.max" : "memory.memsw.limit_in_bytes",
           unified ? 0 : memory_max);
    }

  if (tasks_path != NULL && tasks_max != G_MAXUINT64)
    put (tasks_path, "pids.max", tasks_max);

  if (memory_path != NULL)
    put (memory_path, "cgroup.procs", pid);
  if (tasks_path != NULL && tasks_path != memory_path)
    put (tasks_path, "cgroup.procs", pid);
}

static void
note_properties (GVariant *properties)
{
  GVariantIter iter;
  const char *name;
  GVariant *value;

  g_variant_iter_init (&iter, properties);
  while (g_variant_iter_loop (&iter, "(&sv)", &name, &value))
    {
      g_autofree char *text = g_variant_print (value, FALSE);

      record ("  %s=%s", name, text);
      if (g_str_equal (name, "MemoryMax") && !is_mode ("no-memory"))
        memory_max = g_variant_get_uint64 (value);
      else if (g_str_equal (name, "MemorySwapMax") && !is_mode ("no-swap"))
        swap_max = g_variant_get_uint64 (value);
      else if (g_str_equal (name, "TasksMax") && !is_mode ("no-tasks"))
        tasks_max = g_variant_get_uint64 (value);
      else if (g_str_equal (name, "PIDs") && is_mode ("kernel"))
        control_group = g_strdup_printf ("/sbx-test-%d", (int) getpid ());
    }
}

static guint32
find_pid (GVariant *properties)
{
  GVariantIter iter;
  const char *name;
  GVariant *value;
  guint32 pid = 0;

  g_variant_iter_init (&iter, properties);
  while (g_variant_iter_loop (&iter, "(&sv)", &name, &value))
    if (g_str_equal (name, "PIDs"))
      g_variant_get_child (value, 0, "u", &pid);

  return pid;
}

static void
tell_end (GDBusConnection *connection)
{
  const char *result = is_mode ("failed-job") ? "failed" : "done";

  /* Real ones tell of other units as well. */
  g_dbus_connection_emit_signal (connection, NULL, ROOT, MANAGER, "JobRemoved",
                                 g_variant_new ("(uoss)", 7, ROOT "/job/7", "other.scope",
                                                "failed"), NULL);
  g_dbus_connection_emit_signal (connection, NULL, ROOT, MANAGER, "JobRemoved",
                                 g_variant_new ("(uoss)", 1, JOB, unit_name, result), NULL);
}

static gboolean
tell_late_cb (gpointer user_data)
{
  tell_end (user_data);

  return G_SOURCE_REMOVE;
}

static void
end_now (GDBusConnection *connection)
{
  g_dbus_connection_flush_sync (connection, NULL, NULL);
  g_main_loop_quit (loop);
}

static void
start_unit (GDBusConnection       *connection,
            GVariant              *parameters,
            GDBusMethodInvocation *invocation)
{
  g_autoptr(GVariant) properties = NULL;
  const char *job_mode;

  g_free (unit_name);
  g_variant_get (parameters, "(s&s@a(sv)@a(sa(sv)))", &unit_name, &job_mode, &properties, NULL);
  record ("StartTransientUnit %s %s%s", unit_name, job_mode, subscribed ? "" : " (unheard)");
  note_properties (properties);

  if (is_mode ("refuse"))
    {
      g_dbus_method_invocation_return_dbus_error (invocation,
                                                  "org.freedesktop.DBus.Error.AccessDenied",
                                                  "No \033[31mscopes\n today");
      return;
    }

  if (is_mode ("silent"))
    return;

  if (is_mode ("die"))
    {
      end_now (connection);
      return;
    }

  if (is_mode ("bus-dies"))
    {
      g_subprocess_force_exit (daemon_process);
      return;
    }

  if (is_mode ("kernel"))
    really_do (find_pid (properties));

  if (!is_mode ("no-job") && !is_mode ("late-job") && !is_mode ("die-later"))
    tell_end (connection);
  g_dbus_method_invocation_return_value (invocation, g_variant_new ("(o)", JOB));

  if (is_mode ("late-job"))
    g_timeout_add (200, tell_late_cb, connection);
  else if (is_mode ("die-later"))
    end_now (connection);
}

static void
method_call_cb (GDBusConnection       *connection,
                const char            *sender,
                const char            *path,
                const char            *interface,
                const char            *method,
                GVariant              *parameters,
                GDBusMethodInvocation *invocation,
                gpointer               user_data)
{
  const char *name;

  if (g_str_equal (method, "Subscribe"))
    {
      subscribed = TRUE;
      g_dbus_method_invocation_return_value (invocation, NULL);
    }
  else if (g_str_equal (method, "StartTransientUnit"))
    {
      start_unit (connection, parameters, invocation);
    }
  else if (g_str_equal (method, "GetUnit"))
    {
      g_dbus_method_invocation_return_value (invocation, g_variant_new ("(o)", UNIT));
    }
  else
    {
      g_variant_get (parameters, "(&ss)", &name, NULL);
      record ("StopUnit %s", name);
      g_dbus_method_invocation_return_dbus_error (invocation, "org.freedesktop.systemd1.NoSuchUnit",
                                                  "It has gone by itself");
    }
}

static GVariant *
get_property_cb (GDBusConnection *connection,
                 const char      *sender,
                 const char      *path,
                 const char      *interface,
                 const char      *property,
                 GError         **error,
                 gpointer         user_data)
{
  if (g_str_equal (property, "Version"))
    return g_variant_new_string (is_mode ("late-job") ? "v257.1" : "252.38-1~deb12u1");
  if (g_str_equal (property, "ControlGroup"))
    return g_variant_new_string (control_group != NULL ? control_group
                                                       : "/nowhere.slice/sandbox.scope");
  if (g_str_equal (property, "MemoryMax"))
    return g_variant_new_uint64 (memory_max);
  if (g_str_equal (property, "MemorySwapMax"))
    return g_variant_new_uint64 (swap_max);

  return g_variant_new_uint64 (tasks_max);
}

static const GDBusInterfaceVTable vtable = {
  .method_call = method_call_cb,
  .get_property = get_property_cb,
};

static gboolean
input_ended_cb (int          fd,
                GIOCondition condition,
                gpointer     user_data)
{
  g_main_loop_quit (loop);

  return G_SOURCE_REMOVE;
}

static void
end_with_us (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

/* Gives the address that the daemon listens at. */
static char *
start_bus (void)
{
  g_autofree char *config = g_build_filename (directory, "bus.conf", NULL);
  g_autofree char *option = g_strdup_printf ("--config-file=%s", config);
  g_autofree char *text = NULL;
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GDataInputStream) lines = NULL;
  g_autoptr(GError) error = NULL;
  char *address;

  text = g_strdup_printf ("<busconfig><type>session</type><listen>unix:path=%s/bus</listen>"
                          "<policy context=\"default\">"
                          "<allow send_destination=\"*\" eavesdrop=\"true\"/>"
                          "<allow eavesdrop=\"true\"/><allow own=\"*\"/>"
                          "</policy></busconfig>", directory);
  if (!g_file_set_contents (config, text, -1, &error))
    g_error ("%s", error->message);

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                        G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_subprocess_launcher_set_child_setup (launcher, end_with_us, NULL, NULL);
  daemon_process = g_subprocess_launcher_spawn (launcher, &error, "dbus-daemon", "--nofork",
                                                "--print-address", option, NULL);
  if (daemon_process == NULL)
    g_error ("%s", error->message);

  lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (daemon_process));
  address = g_data_input_stream_read_line (lines, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (address);

  return address;
}

static void
come_up (GDBusConnection *connection)
{
  g_autoptr(GVariant) reply = NULL;
  g_autoptr(GError) error = NULL;

  g_dbus_connection_set_exit_on_close (connection, FALSE);
  g_dbus_connection_register_object (connection, ROOT, node->interfaces[0], &vtable, NULL, NULL,
                                     &error);
  g_assert_no_error (error);
  g_dbus_connection_register_object (connection, UNIT, node->interfaces[1], &vtable, NULL, NULL,
                                     &error);
  g_assert_no_error (error);

  reply = g_dbus_connection_call_sync (connection, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                       "org.freedesktop.DBus", "RequestName",
                                       g_variant_new ("(su)", "org.freedesktop.systemd1", 0), NULL,
                                       G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
  g_assert_no_error (error);
}

/* No test finds a process of ours among those that a sandbox left. */
static void
leave (void)
{
  if (fork () != 0)
    _exit (0);

  setsid ();
}

int
main (int    argc,
      char **argv)
{
  const GDBusConnectionFlags flags = G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                     G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION;
  g_autofree char *address = NULL;
  g_autoptr(GDBusConnection) connection = NULL;
  g_autoptr(GError) error = NULL;

  if (argc != 3)
    return 2;

  mode = argv[1];
  directory = argv[2];
  leave ();

  made_groups = g_ptr_array_new_with_free_func (g_free);
  node = g_dbus_node_info_new_for_xml (introspection, &error);
  g_assert_no_error (error);
  address = start_bus ();
  connection = g_dbus_connection_new_for_address_sync (address, flags, NULL, NULL, &error);
  g_assert_no_error (error);
  if (!is_mode ("absent"))
    come_up (connection);

  puts (address);
  fflush (stdout);
  loop = g_main_loop_new (NULL, FALSE);
  g_unix_fd_add (STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, input_ended_cb, NULL);
  g_main_loop_run (loop);

  if (is_mode ("die") || is_mode ("die-later"))
    {
      /* The bus stays until nobody needs it any more. */
      char byte;

      g_dbus_connection_close_sync (connection, NULL, NULL);
      while (read (STDIN_FILENO, &byte, 1) > 0)
        ;
    }

  /* They can be removed once all in them have ended. */
  for (guint i = 0; i < made_groups->len; i++)
    for (int tries = 0; tries < 200 && g_rmdir (made_groups->pdata[i]) != 0; tries++)
      g_usleep (10 * 1000);

  g_subprocess_force_exit (daemon_process);
  g_subprocess_wait (daemon_process, NULL, NULL);

  return 0;
}
