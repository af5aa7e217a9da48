/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <sys/stat.h>

#include "bwrap-util.h"
#include "core/sbx-error.h"

/* Machines are crippled for real where that can be done: this program runs itself again in one. */

static char *self_path;

static SbxBwrapProgram *
ask (const char  *path,
     GError     **error)
{
  g_autoptr(GAsyncResult) result = NULL;

  _sbx_bwrap_probe_program_async (path, NULL, test_store_result, &result);
  g_assert_null (result);
  test_wait_for (result != NULL);

  return _sbx_bwrap_probe_program_finish (result, error);
}

static GPtrArray *
probe (const char *path)
{
  g_autoptr(GAsyncResult) result = NULL;
  g_autoptr(GError) error = NULL;
  GPtrArray *findings;

  _sbx_bwrap_probe_async (path, NULL, test_store_result, &result);
  test_wait_for (result != NULL);
  findings = _sbx_bwrap_probe_finish (result, &error);
  g_assert_no_error (error);

  return findings;
}

static const SbxBwrapFinding *
find (GPtrArray  *findings,
      const char *id)
{
  guint i;

  for (i = 0; i < findings->len; i++)
    {
      const SbxBwrapFinding *finding = g_ptr_array_index (findings, i);

      if (strcmp (finding->id, id) == 0)
        return finding;
    }

  return NULL;
}

static gboolean
is_ok (GPtrArray  *findings,
       const char *id)
{
  const SbxBwrapFinding *finding = find (findings, id);

  if (finding == NULL)
    g_error ("Nothing is said about %s", id);

  return finding->ok;
}

static char *
make_program (TestPlace  *place,
              const char *name,
              const char *script,
              int         mode)
{
  g_autoptr(GError) error = NULL;
  char *path = g_build_filename (place->work, name, NULL);

  g_file_set_contents (path, script, -1, &error);
  g_assert_no_error (error);
  g_assert_cmpint (chmod (path, mode), ==, 0);
  return path;
}

static void
test_find (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(GError) error = NULL;
  g_autofree char *usual = NULL;
  g_autofree char *good = NULL;
  g_autofree char *setuid = NULL;
  g_autofree char *plain = NULL;

  test_place_init (&place);
  usual = _sbx_bwrap_probe_find (NULL, place.operator_home, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (usual, ==, "/usr/bin/bwrap");

  good = make_program (&place, "good", "#!/bin/sh\n", 0755);
  setuid = make_program (&place, "setuid", "#!/bin/sh\n", 04755);
  plain = make_program (&place, "plain", "#!/bin/sh\n", 0644);

  g_free (usual);
  usual = _sbx_bwrap_probe_find (good, place.operator_home, NULL, &error);
  g_assert_cmpstr (usual, ==, good);

  g_assert_null (_sbx_bwrap_probe_find (setuid, place.operator_home, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_assert_nonnull (strstr (error->message, "chmod u-s"));
  g_clear_error (&error);

  g_assert_null (_sbx_bwrap_probe_find (good, place.work, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_assert_nonnull (strstr (error->message, "home"));
  g_clear_error (&error);

  g_assert_null (_sbx_bwrap_probe_find (good, place.operator_home,
                                        (const char *[]) { place.work, NULL }, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_assert_nonnull (strstr (error->message, "sandbox may write"));
  g_clear_error (&error);

  g_assert_null (_sbx_bwrap_probe_find (plain, place.operator_home, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_clear_error (&error);

  g_assert_null (_sbx_bwrap_probe_find ("/no/such", place.operator_home, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_FOUND);
}

static void
test_options (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapProgram) program = NULL;
  g_autoptr(SbxBwrapProgram) again = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *old = NULL;
  g_autofree char *mute = NULL;
  g_autofree char *endless = NULL;
  g_autofree char *broken = NULL;
  g_autofree char *cache = g_build_filename (g_get_user_cache_dir (), "libsbx", "bwrap-options",
                                             NULL);
  struct stat st;

  test_place_init (&place);
  old = make_program (&place, "old", "#!/bin/sh\n/usr/bin/bwrap --help | grep -v -e --perms -e "
                                     "as-pid-1\n",
                      0755);
  mute = make_program (&place, "mute", "#!/bin/sh\nexit 1\n", 0755);
  endless = make_program (&place, "endless", "#!/bin/sh\nexec yes\n", 0755);
  broken = make_program (&place, "broken", "\177ELF", 0755);

  g_assert_null (_sbx_bwrap_probe_peek ("/usr/bin/bwrap"));
  program = ask ("/usr/bin/bwrap", &error);
  g_assert_no_error (error);
  again = _sbx_bwrap_probe_peek ("/usr/bin/bwrap");
  g_assert_nonnull (again);
  g_assert_cmpint (again->options, ==, program->options);
  g_assert_cmpint (g_stat (cache, &st), ==, 0);
  g_assert_cmpint (st.st_mode & 07777, ==, 0600);

  g_clear_pointer (&program, _sbx_bwrap_program_free);
  program = ask (old, &error);
  g_assert_null (program);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_assert_nonnull (strstr (error->message, "--as-pid-1, --perms"));
  g_clear_error (&error);

  g_assert_null (ask (mute, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_clear_error (&error);

  g_assert_null (ask (endless, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_clear_error (&error);

  g_assert_null (ask (broken, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_clear_error (&error);
}

static void
run_self (const char *prefix,
          const char *case_name)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *quoted = g_shell_quote (self_path);
  g_autofree char *script = g_strdup_printf ("%s exec %s --case %s", prefix, quoted, case_name);
  g_autofree char *output = NULL;

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                        G_SUBPROCESS_FLAGS_STDERR_MERGE);
  process = g_subprocess_launcher_spawn (launcher, &error, "unshare", "--user", "--map-root-user",
                                         "--mount", "/bin/sh", "-e", "-c", script, NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);

  if (!g_subprocess_get_successful (process))
    g_error ("%s: %s", case_name, output);
}

/* The cache on disk, read by another process. */
static void
test_cache (void)
{
  static const char * const broken[] = {
    "", "1\n", "1 1 1 1 1 1 1\n", "2 0 0 0 0 0 0\n", "1 x\n", "1 1 1 1 1 1 99\n",
    "99999999999999999999999999999999999999999999999999999\n",
  };
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapProgram) program = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *cache = g_build_filename (g_get_user_cache_dir (), "libsbx", "bwrap-options",
                                             NULL);
  g_autofree char *copy = NULL;
  g_autofree char *prefix = NULL;
  g_autofree char *content = NULL;
  gsize i;

  /* One that this process does not know yet. */
  test_place_init (&place);
  test_run_outside (place.work, "cp /usr/bin/bwrap bwrap");
  copy = g_build_filename (place.work, "bwrap", NULL);
  program = ask (copy, &error);
  g_assert_no_error (error);
  prefix = g_strdup_printf ("XDG_CACHE_HOME='%s'; TEST_BWRAP='%s'; export XDG_CACHE_HOME "
                            "TEST_BWRAP;",
                            g_get_user_cache_dir (), copy);
  run_self (prefix, "cached");

  g_assert_true (g_file_get_contents (cache, &content, NULL, NULL));

  for (i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      g_assert_true (g_file_set_contents (cache, broken[i], -1, NULL));
      g_assert_cmpint (chmod (cache, 0600), ==, 0);
      run_self (prefix, "not-cached");
    }

  /* The right words in a file that others may write are not ours. */
  g_assert_true (g_file_set_contents (cache, content, -1, NULL));
  g_assert_cmpint (chmod (cache, 0666), ==, 0);
  run_self (prefix, "not-cached");
  g_assert_cmpint (g_unlink (cache), ==, 0);
  g_assert_cmpint (mkfifo (cache, 0600), ==, 0);
  run_self (prefix, "not-cached");
  g_assert_cmpint (g_unlink (cache), ==, 0);
}

static void
test_good_machine (void)
{
  g_autoptr(GPtrArray) findings = probe (NULL);

  g_assert_true (is_ok (findings, "bubblewrap"));
  g_assert_true (is_ok (findings, "user-namespaces"));
  g_assert_true (is_ok (findings, "sandbox"));
  g_assert_true (is_ok (findings, "seccomp"));
  g_assert_cmpint (is_ok (findings, "ordinary-user"), ==, geteuid () != 0);
  g_assert_null (_sbx_bwrap_probe_to_error (findings));
}

static void
test_no_bubblewrap (void)
{
  g_autoptr(GPtrArray) findings = probe ("/no/such/bwrap");
  g_autoptr(GError) error = _sbx_bwrap_probe_to_error (findings);

  g_assert_false (is_ok (findings, "bubblewrap"));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
}

static void
test_no_user_namespaces (void)
{
  run_self ("echo 0 > /proc/sys/user/max_user_namespaces;", "no-user-namespaces");
}

static void
test_no_network_namespaces (void)
{
  run_self ("echo 0 > /proc/sys/user/max_net_namespaces;", "no-network-namespaces");
}

/* A /proc that is whole, anywhere in the mount namespace, would do for the kernel: so this one has
 * nothing else. */
static void
test_covered_proc (void)
{
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *directory = g_path_get_dirname (self_path);
  g_autofree char *output = NULL;

  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE,
                              &error, "bwrap", "--unshare-user", "--unshare-pid",
                              "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
                              "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
                              "--proc", "/proc", "--ro-bind", "/dev/null", "/proc/uptime",
                              "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", directory, directory,
                              "--", self_path, "--case", "covered-proc", NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);

  if (!g_subprocess_get_successful (process))
    g_error ("%s", output);
}

static void
test_cancelled (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GAsyncResult) result = NULL;
  g_autoptr(GError) error = NULL;

  _sbx_bwrap_probe_async (NULL, cancellable, test_store_result, &result);
  g_cancellable_cancel (cancellable);
  test_wait_for (result != NULL);
  g_assert_null (_sbx_bwrap_probe_finish (result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_object (&result);
  g_clear_error (&error);

  _sbx_bwrap_probe_async (NULL, cancellable, test_store_result, &result);
  g_assert_null (result);
  test_wait_for (result != NULL);
  g_assert_null (_sbx_bwrap_probe_finish (result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* In a machine that was crippled. */
static int
run_case (const char *name)
{
  g_autoptr(GPtrArray) findings = NULL;
  g_autoptr(SbxBwrapProgram) program = NULL;
  const SbxBwrapFinding *finding;
  const char *id = NULL;

  if (strcmp (name, "cached") == 0 || strcmp (name, "not-cached") == 0)
    {
      program = _sbx_bwrap_probe_peek (g_getenv ("TEST_BWRAP"));
      return (program != NULL) == (strcmp (name, "cached") == 0) ? 0 : 1;
    }

  if (strcmp (name, "no-user-namespaces") == 0)
    id = "user-namespaces";
  else if (strcmp (name, "no-network-namespaces") == 0)
    id = "network-namespace";
  else if (strcmp (name, "covered-proc") == 0)
    id = "proc";

  findings = probe (NULL);
  finding = find (findings, id);

  if (finding == NULL || finding->ok || !finding->required || finding->remedy == NULL)
    {
      guint i;

      for (i = 0; i < findings->len; i++)
        {
          finding = g_ptr_array_index (findings, i);
          g_printerr ("%s %d %s\n", finding->id, finding->ok, finding->summary);
        }

      return 1;
    }

  return 0;
}

int
main (int    argc,
      char **argv)
{
  if (argc == 3 && strcmp (argv[1], "--case") == 0)
    return run_case (argv[2]);

  self_path = g_file_read_link ("/proc/self/exe", NULL);
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/bwrap/probe/options", test_options);
  g_test_add_func ("/bwrap/probe/find", test_find);
  g_test_add_func ("/bwrap/probe/cache", test_cache);
  g_test_add_func ("/bwrap/probe/good-machine", test_good_machine);
  g_test_add_func ("/bwrap/probe/no-bubblewrap", test_no_bubblewrap);
  g_test_add_func ("/bwrap/probe/no-user-namespaces", test_no_user_namespaces);
  g_test_add_func ("/bwrap/probe/no-network-namespaces", test_no_network_namespaces);
  g_test_add_func ("/bwrap/probe/covered-proc", test_covered_proc);
  g_test_add_func ("/bwrap/probe/cancelled", test_cancelled);

  return g_test_run ();
}
