/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

#include <fcntl.h>
#include <sched.h>

/* Machines on which no sandbox can be opened, or not without something: each is crippled for real.
 * The message says what is wrong, once, and what to do about it. */

static void
assert_open_fails (Place      *place,
                   int         code,
                   const char *cause,
                   const char *remedy)
{
  g_autoptr(SbxOpenRequest) request = place_request (place);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  session = sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, &error);
  g_assert_null (session);
  g_assert_error (error, SBX_ERROR, code);
  g_test_message ("%s", error->message);
  if (strstr (error->message, cause) == NULL || strstr (error->message, remedy) == NULL)
    g_error ("“%s” says not “%s” or not “%s”", error->message, cause, remedy);

  g_assert_cmpint (count_sessions (place->data), ==, 0);
}

static char *
make_program (Place      *place,
              const char *name,
              const char *script,
              int         mode)
{
  char *path = g_build_filename (place->root, name, NULL);

  g_assert_true (g_file_set_contents (path, script, -1, NULL));
  g_assert_cmpint (chmod (path, mode), ==, 0);

  return path;
}

static void
test_program (void)
{
  static const char old[] =
    "#!/bin/sh\n"
    "test \"$1\" = --help || exit 1\n"
    "/usr/bin/bwrap --help | grep -v -e --perms -e --size -e --as-pid-1\n";
  struct { const char *name; const char *script; int mode; int code; const char *cause;
           const char *remedy; } const cases[] = {
    { "old", old, 0755, SBX_ERROR_NOT_ENFORCEABLE, "too old", "--as-pid-1" },
    { "setuid", "#!/bin/sh\n", 04755, SBX_ERROR_NOT_ENFORCEABLE, "setuid", "chmod u-s" },
    { "plain", "#!/bin/sh\n", 0644, SBX_ERROR_NOT_ENFORCEABLE, "executed", "plain" },
    { "mute", "#!/bin/sh\nexit 0\n", 0755, SBX_ERROR_NOT_ENFORCEABLE, "too old", "0.8" },
    { "broken", "\177ELF", 0755, SBX_ERROR_NOT_ENFORCEABLE, "broken", "0.8" },
  };
  g_autoptr(Place) place = place_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = make_program (place, cases[i].name, cases[i].script, cases[i].mode);

      sbx_bwrap_provider_set_program (place->provider, path);
      assert_open_fails (place, cases[i].code, cases[i].cause, cases[i].remedy);
    }

  sbx_bwrap_provider_set_program (place->provider, "/no/such/bwrap");
  assert_open_fails (place, SBX_ERROR_NOT_FOUND, "/no/such/bwrap", "");
}

/* One that says that it can do all, and then does not come up. */
static void
test_failing_program (void)
{
  static const char * const ends[] = {
    "echo 'bwrap: no such luck' >&2; exit 1", "exit 0", "kill -9 $$",
    "(sleep 60 > /dev/null 2>&1 &); echo 'bwrap: no such luck' >&2; exit 1",
    "head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1",
    /* Says hello as process 1 does not. */
    "printf hello >&3; sleep 0.1; exit 1", "exec 3>&-; sleep 0.1",
  };
  g_autoptr(Place) place = place_new ();

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      g_autofree char *script =
        g_strdup_printf ("#!/bin/sh\ntest \"$1\" = --help && exec /usr/bin/bwrap --help\n%s\n",
                         ends[i]);
      g_autofree char *name = g_strdup_printf ("failing-%u", i);
      g_autofree char *path = make_program (place, name, script, 0755);
      g_autoptr(SbxOpenRequest) request = place_request (place);
      g_autoptr(SbxSession) session = NULL;
      g_autoptr(GError) error = NULL;
      const gint64 begin = g_get_monotonic_time ();

      sbx_bwrap_provider_set_program (place->provider, path);
      session = sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, &error);
      g_assert_null (session);
      g_assert_true (error->domain == SBX_ERROR);
      g_test_message ("%s: %.300s", ends[i], error->message);
      g_assert_cmpint (strlen (error->message), <, 8192);
      g_assert_cmpint (g_get_monotonic_time () - begin, <, 8 * G_USEC_PER_SEC);
      assert_nothing_left (place->data);
    }
}

static void
test_data_directory (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *locked = g_build_filename (place->root, "locked", NULL);
  g_autofree char *inside = g_build_filename (locked, "data", NULL);
  g_autofree char *file = g_build_filename (place->root, "file", NULL);
  g_autofree char *below_file = g_build_filename (file, "data", NULL);

  g_assert_true (g_file_set_contents (file, "", -1, NULL));
  g_assert_cmpint (g_mkdir (locked, 0500), ==, 0);
  sbx_bwrap_provider_set_data_dir (place->provider, below_file);
  assert_open_fails (place, SBX_ERROR_SETUP_FAILED, "file/data", "XDG_DATA_HOME");

  if (geteuid () != 0)
    {
      sbx_bwrap_provider_set_data_dir (place->provider, inside);
      assert_open_fails (place, SBX_ERROR_SETUP_FAILED, "locked/data", "XDG_DATA_HOME");
    }

  /* What others can write is not used, neither to open nor to clean. */
  g_assert_cmpint (chmod (locked, 0777), ==, 0);
  sbx_bwrap_provider_set_data_dir (place->provider, locked);
  assert_open_fails (place, SBX_ERROR_SETUP_FAILED, "locked", "XDG_DATA_HOME");
  {
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) removed = sbx_bwrap_provider_clean (place->provider, TRUE, NULL, &error);

    g_assert_null (removed);
    g_assert_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED);
  }

  sbx_bwrap_provider_set_data_dir (place->provider, place->data);
}

/* Other users may look, at most: that harms nobody. And the umask is nobody's business. */
static void
test_modes (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autofree char *output = NULL;
  const mode_t masks[] = { 0, 022, 077 };

  g_assert_cmpint (g_mkdir (place->data, 0755), ==, 0);
  g_assert_cmpint (chmod (place->data, 0755), ==, 0);

  for (guint i = 0; i < G_N_ELEMENTS (masks); i++)
    {
      const mode_t before = umask (masks[i]);

      session = place_open (place);
      output = shell_output (session, "echo x > /tmp/f; echo x > ~/f; cat /tmp/f; stat -c %a /tmp");
      g_assert_cmpstr (output, ==, "x\n1777\n");
      close_session (session);
      umask (before);
      g_clear_object (&session);
      g_clear_pointer (&output, g_free);
    }
}

typedef struct
{
  const char *name;
  const char *prefix;     /* what a shell does in a user and a mount namespace */
  const char *cause;
  const char *remedy;
} Crippled;

static const Crippled crippled[] = {
  { "no-user-namespaces", "echo 0 > /proc/sys/user/max_user_namespaces;", "user namespace",
    "max_user_namespaces" },
  { "no-network-namespaces", "echo 0 > /proc/sys/user/max_net_namespaces;", "network", "" },
  { "covered-proc", "mount --bind /dev/null /proc/uptime;", "proc", "" },
  { "no-runtime-directory", "unset XDG_RUNTIME_DIR;", NULL, NULL },
  { "runtime-directory-gone", "XDG_RUNTIME_DIR=/no/such; export XDG_RUNTIME_DIR;", NULL, NULL },
};

/* Runs this program again on such a machine. */
static void
test_crippled (void)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *quoted = g_shell_quote (self);

  for (guint i = 0; i < G_N_ELEMENTS (crippled); i++)
    {
      g_autofree char *script = g_strdup_printf ("%s exec %s --crippled %u", crippled[i].prefix,
                                                 quoted, i);
      g_autoptr(GSubprocess) process = NULL;
      g_autoptr(GError) error = NULL;
      g_autofree char *output = NULL;

      process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE,
                                  &error, "unshare", "--user", "--map-root-user", "--mount",
                                  "/bin/sh", "-ec", script, NULL);
      g_assert_no_error (error);
      g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, &error);
      g_assert_no_error (error);
      g_test_message ("%s: %s", crippled[i].name, output);
      g_assert_true (g_subprocess_get_successful (process));
    }
}

static int
run_crippled (const Crippled *machine)
{
  g_autoptr(Place) place = place_new ();

  if (machine->cause == NULL)
    close_session (place_open (place));
  else
    assert_open_fails (place, SBX_ERROR_NOT_ENFORCEABLE, machine->cause, machine->remedy);

  return 0;
}

int
main (int    argc,
      char **argv)
{
  if (argc == 3 && strcmp (argv[1], "--crippled") == 0)
    return run_crippled (&crippled[g_ascii_strtoll (argv[2], NULL, 10)]);

  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/session/machine/program", test_program);
  g_test_add_func ("/session/machine/failing-program", test_failing_program);
  g_test_add_func ("/session/machine/data-directory", test_data_directory);
  g_test_add_func ("/session/machine/modes", test_modes);
  g_test_add_func ("/session/machine/crippled", test_crippled);

  return g_test_run ();
}
