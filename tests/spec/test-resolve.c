/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "resolver-util.h"

/* What a spec comes to, row by row. */

static void
test_r1 (void)
{
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxReach) reach = NULL;
  GListModel *entries;
  g_autoptr(SbxReachEntry) notes = NULL;

  fixture_init (&fixture, NULL);
  reach = fixture_resolve (&fixture,
                           "{\"key\": \"other\", \"cwd\": \"src\", \"read\": [\"~/notes\", \"..\"],"
                           " \"write\": [\".\"], \"network\": [\"API.Example.org\","
                           " \"*.ChatGPT.com\", \"api.example.org\"], \"bwrap\": {}}");

  g_assert_cmpstr (sbx_reach_get_environment_key (reach), ==, "bwrap");
  g_assert_cmpstr (sbx_reach_get_settings (reach), ==, "{}");
  fixture_assert (&fixture, reach, SBX_REACH_CWD, "@/home/repo/src+");
  fixture_assert (&fixture, reach, SBX_REACH_READ, "@/home/notes @/home/repo");
  fixture_assert (&fixture, reach, SBX_REACH_WRITE, "@/home/repo/src+");
  fixture_assert (&fixture, reach, SBX_REACH_DOMAIN, "api.example.org *.chatgpt.com");
  fixture_assert (&fixture, reach, SBX_REACH_HIDDEN, "");
  fixture_assert (&fixture, reach, SBX_REACH_GIT_DIR, "@/home/repo/.git");

  entries = sbx_reach_get_entries (reach);
  notes = g_list_model_get_item (entries, 1);
  g_assert_cmpstr (sbx_reach_entry_get_source (notes), ==, "read[0]: \"~/notes\"");
  g_assert_cmpstr (sbx_reach_get_read (reach)[0], ==, sbx_reach_entry_get_path (notes));
  g_assert_true (g_str_has_suffix (sbx_reach_get_cwd (reach), "/home/repo/src"));
}

static void
test_r2 (void)
{
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  fixture_init (&fixture, NULL);
  reach = fixture_resolve (&fixture, "{\"read\": [\".\", \"~/notes\", \"~//notes/.\"],"
                                     " \"write\": [\".\", \"@/home/repo/src/..\"]}");

  fixture_assert (&fixture, reach, SBX_REACH_READ, "@/home/notes");
  fixture_assert (&fixture, reach, SBX_REACH_WRITE, "@/home/repo+");
  fixture_assert (&fixture, reach, SBX_REACH_CWD, "@/home/repo+");
}

static void
test_r6 (void)
{
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  fixture_init (&fixture, NULL);
  fixture_run (&fixture, "mkdir -p home/repo/.awf/runs");
  fixture_set (&fixture, "run-root", "@/home/repo/.awf/runs");
  reach = fixture_resolve (&fixture, "{\"cwd\": \"src\"}");

  fixture_assert (&fixture, reach, SBX_REACH_GIT_DIR, "@/home/repo/.git");
}

static void
test_r7 (void)
{
  static const char * const doors[] = {
    "{\"write\": [\"@/control\"]}", "{\"write\": [\"@/control/awf-run\"]}",
    "{\"write\": [\"@/control/awf-run/a1\"]}", "{\"read\": [\"@/control/sbx-run\"]}",
    "{\"cwd\": \"@/control/sbx-run/a1\"}",
  };
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  fixture_init (&fixture, NULL);
  fixture_run (&fixture, "mkdir -p control/awf-run/a1 control/sbx-run/a1 control/mine");
  fixture_set (&fixture, "control-root", "@/control");

  for (guint i = 0; i < G_N_ELEMENTS (doors); i++)
    fixture_refuses (&fixture, doors[i], SBX_ERROR_REFUSED, "doors|@/control");

  reach = fixture_resolve (&fixture, "{\"write\": [\"@/control/mine\"]}");
  fixture_assert (&fixture, reach, SBX_REACH_WRITE, "@/control/mine+");
}

static void
test_r8 (void)
{
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);
  fixture_set_list (&fixture, "harness-states", "@/home/notes");
  fixture_refuses (&fixture, "{\"read\": [\"~/notes\"]}", SBX_ERROR_REFUSED,
                   "read: |coding agent keeps its state|@/home/notes");
}

static void
test_r9 (void)
{
  static const struct
  {
    const char *path;
    gboolean    within;
  } rows[] = {
    { "@/home/repo/src/deep", TRUE }, { "@/home/notes", TRUE }, { "@/home/repo", FALSE },
    { "@/home/repo/srcs", FALSE }, { "@/home/repo/src", TRUE }, { "src", FALSE },
    { "@/home/repo/src/../../repo/src/x", TRUE }, { "@/home/repo/src/..", FALSE }, { "/", FALSE },
  };
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  fixture_init (&fixture, NULL);
  reach = fixture_resolve (&fixture, "{\"cwd\": \"src\", \"read\": [\"~/notes\"]}");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = fixture_path (&fixture, rows[i].path);

      g_test_message ("%s", rows[i].path);
      g_assert_cmpint (sbx_reach_holds (reach, path), ==, rows[i].within);
    }

  /* What was changed is no longer what was resolved. */
  sbx_reach_add_read (reach, "/usr");
  g_assert_false (sbx_reach_holds (reach, "/usr"));
}

static void
test_r10 (void)
{
  static const struct
  {
    const char *id;
    const char *spec;
    int         code;
    const char *says;
  } rows[] = {
    { "R10.3", "{\"read\": [\"~/missing\"]}", SBX_ERROR_NOT_FOUND,
      "read: |~/missing|does not exist" },
    { "R10.5", "{\"read\": [\"~\"]}", SBX_ERROR_REFUSED, "read: |home directory|@/home" },
    { "R10.6", "{\"read\": [\"@\"]}", SBX_ERROR_REFUSED, "home directory" },
    { "R10.7", "{\"read\": [\"@/runs\"]}", SBX_ERROR_REFUSED, "exposes “@/runs”, the run root" },
    { "R10.8", "{\"read\": [\"@/runs/..\"]}", SBX_ERROR_REFUSED, "home directory" },
    { "R10.9", "{\"read\": [\"@/runs/a-run\"]}", SBX_ERROR_REFUSED, "the run root" },
    { "R10.10", "{\"read\": [\"~/.claude/projects\"]}", SBX_ERROR_REFUSED,
      "coding agent|@/home/.claude”" },
    { "R10.11", "{\"read\": [\"~/.claude\"]}", SBX_ERROR_REFUSED, "coding agent|@/home/.claude”" },
    { "R10.12", "{\"read\": [\"~/.ssh\"]}", SBX_ERROR_REFUSED, "keys|@/home/.ssh”" },
    { "R10.13", "{\"read\": [\"~/.awf\"]}", SBX_ERROR_REFUSED,
      "sandboxes themselves|@/home/.awf”" },
    { "R10.14", "{\"write\": [\"~/.awf/sandboxes\"]}", SBX_ERROR_REFUSED,
      "write: |sandboxes themselves" },
    { "R10.15", "{\"read\": [\"~/.orbstack\"], \"bwrap\": {}}", SBX_ERROR_REFUSED,
      "keys|@/home/.orbstack/ssh”" },
    { "R10.17", "{\"cwd\": \"@/crafted/points-home\"}", SBX_ERROR_REFUSED,
      "the git directory of “@/crafted/points-home”|home directory" },
    { "R10.18", "{\"read\": [\"@/crafted/points-runs\"]}", SBX_ERROR_REFUSED,
      "the git directory of “@/crafted/points-runs”|the run root" },
    { "R10.19", "{\"cwd\": \"@/crafted/points-root\"}", SBX_ERROR_REFUSED,
      "the git directory of “@/crafted/points-root”|whole file system" },
  };
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_test_message ("%s", rows[i].id);
      fixture_refuses (&fixture, rows[i].spec, rows[i].code, rows[i].says);
    }
}

static void
test_r11 (void)
{
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxReach) all = NULL;
  g_autoptr(SbxReach) notes = NULL;
  g_autoptr(SbxReach) elsewhere = NULL;
  g_autoptr(SbxReach) aliased = NULL;

  fixture_init (&fixture, NULL);
  fixture_run (&fixture, "mkdir -p home/repo/.awf/runs/one");
  fixture_set (&fixture, "run-root", "@/home/repo/.awf/runs");

  /* R11a */
  all = fixture_resolve (&fixture, "{\"write\": [\".\"]}");
  fixture_assert (&fixture, all, SBX_REACH_WRITE, "@/home/repo+");
  fixture_assert (&fixture, all, SBX_REACH_HIDDEN, "@/home/repo/.awf/runs");

  /* R11b */
  notes = fixture_resolve (&fixture, "{\"read\": [\"~/notes\"]}");
  fixture_assert (&fixture, notes, SBX_REACH_HIDDEN, "@/home/repo/.awf/runs");

  /* R11d */
  fixture_refuses (&fixture, "{\"read\": [\".awf/runs/one\"]}", SBX_ERROR_REFUSED, "the run root");

  /* The link that leads there is in the working tree, and what it leads to is not. */
  fixture_run (&fixture, "ln -s ../../../runs home/repo/.awf/linked");
  fixture_set (&fixture, "run-root", "@/home/repo/.awf/linked");
  aliased = fixture_resolve (&fixture, "{}");
  fixture_assert (&fixture, aliased, SBX_REACH_HIDDEN, "");

  /* R11c */
  fixture_set (&fixture, "run-root", "@/runs");
  elsewhere = fixture_resolve (&fixture, "{\"cwd\": \"~/notes\"}");
  fixture_assert (&fixture, elsewhere, SBX_REACH_HIDDEN, "");
}

static void
test_r13 (void)
{
  g_auto(Fixture) fixture = { 0 };
  const char * const specs[] = { "{\"key\": \"a\"}", "{\"cwd\": \"src\"}" };

  fixture_init (&fixture, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (specs); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(SbxReach) reach = fixture_try (&fixture, specs[i], SBX_RESOLVE_INLINE, &error);

      g_assert_null (reach);
      g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
    }
}

static void
test_defaults (void)
{
  g_autoptr(SbxResolver) resolver = sbx_resolver_new (NULL);
  g_autofree char *home = NULL;
  g_autofree char *machine = NULL;
  g_autofree char *ssh = NULL;
  g_autofree char *run_root = NULL;
  g_auto(GStrv) keys = NULL;
  g_auto(GStrv) starts = NULL;

  g_object_get (resolver, "home", &home, "machine-root", &machine, "run-root", &run_root,
                "key-dirs", &keys, NULL);
  g_assert_cmpstr (home, ==, g_get_home_dir ());
  g_assert_true (g_str_has_suffix (machine, "/libsbx"));
  g_assert_null (run_root);
  ssh = g_build_filename (home, ".ssh", NULL);
  g_assert_true (g_strv_contains ((const char * const *) keys, ssh));

  /* The lists follow the home directory, unless they were set. */
  g_clear_pointer (&keys, g_strfreev);
  g_object_set (resolver, "home", "/somewhere",
                "start-dirs", (const char *[]) { "/a", NULL }, NULL);
  g_object_get (resolver, "key-dirs", &keys, "start-dirs", &starts, NULL);
  g_assert_true (g_strv_contains ((const char * const *) keys, "/somewhere/.ssh"));
  g_assert_cmpuint (g_strv_length (starts), ==, 1);
}

/* What did not come from a spec. */
static void
test_reach (void)
{
  static const struct
  {
    const char *read;
    int         code;
    const char *says;
  } rows[] = {
    { "~root", SBX_ERROR_INVALID, "read: “~root”|only “~” and “~/” are" },
    { "", SBX_ERROR_INVALID, "read: |empty" },
    { "@/home/notes/fifo", SBX_ERROR_INVALID, "neither a directory nor a regular file" },
    { "@/home/notes/loop", SBX_ERROR_INVALID, "loop of symbolic links" },
    { "@/home/notes/loop/x", SBX_ERROR_INVALID, "loop of symbolic links" },
    { "@/home/notes/dangling", SBX_ERROR_NOT_FOUND, "does not exist" },
    { "@/home/notes/file/x", SBX_ERROR_NOT_FOUND, "not a directory" },
    { "@/home/notes/a\nb\033[31m\xff", SBX_ERROR_NOT_FOUND, "a\\x0ab\\x1b[31m\\xff" },
    { "/dev/null", SBX_ERROR_INVALID, "neither" },
    { "/proc/self/root", SBX_ERROR_REFUSED, "whole file system" },
  };
  g_auto(Fixture) fixture = { 0 };
  g_autofree char *component = g_strnfill (255, 'x');
  g_autoptr(GString) long_path = g_string_new ("@");

  fixture_init (&fixture, NULL);
  fixture_run (&fixture, "cd home/notes; mkfifo fifo; ln -s loop loop; ln -s no dangling; > file");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    fixture_reach_refuses (&fixture, rows[i].read, rows[i].code, rows[i].says);

  while (long_path->len < 5000)
    g_string_append_printf (long_path, "/%s", component);
  fixture_reach_refuses (&fixture, long_path->str, SBX_ERROR_INVALID, "longer than a path can be");
}

/* Bytes of all kinds are names like others. */
static void
test_names (void)
{
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxReach) asked = NULL;
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(SbxReachEntry) entry = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *odd = NULL;
  g_autofree char *tilde = NULL;

  fixture_init (&fixture, NULL);
  odd = fixture_path (&fixture, "@/home/notes/a\nb\"\xff\\ü");
  tilde = fixture_path (&fixture, "@/home/repo/~x");
  g_assert_cmpint (g_mkdir (odd, 0755), ==, 0);
  g_assert_cmpint (g_mkdir (tilde, 0755), ==, 0);

  asked = fixture_ask (&fixture, odd);
  sbx_reach_add_read (asked, "./~x");
  reach = sbx_resolver_resolve_reach (fixture.resolver, asked, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sbx_reach_get_read (reach)[0], ==, odd);
  g_assert_cmpstr (sbx_reach_get_read (reach)[1], ==, tilde);
  entry = g_list_model_get_item (sbx_reach_get_entries (reach), 1);
  g_assert_true (g_str_has_suffix (sbx_reach_entry_get_source (entry), "/a\\nb\"\\xff\\\\ü\""));
}

/* A million paths are refused before anything is done with them. */
static void
test_million (void)
{
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxReach) asked = NULL;
  g_autoptr(GAsyncResult) result = NULL;
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(GError) error = NULL;
  gint64 start;

  fixture_init (&fixture, NULL);
  asked = fixture_ask (&fixture, "@/home/notes");
  for (guint i = 0; i < 1000 * 1000; i++)
    {
      char name[16];

      g_snprintf (name, sizeof name, "%u", i);
      sbx_reach_add_read (asked, name);
    }

  start = g_get_monotonic_time ();
  sbx_resolver_resolve_reach_async (fixture.resolver, asked, NULL, test_store_result, &result);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 50 * 1000);
  test_wait_for (result != NULL);
  reach = sbx_resolver_resolve_reach_finish (fixture.resolver, result, &error);
  g_assert_null (reach);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_assert_nonnull (strstr (error->message, "read: "));
}

/* Directories that others may not look into are told apart from those that are not there. */
static void
test_closed (void)
{
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);
  if (geteuid () == 0)
    {
      g_test_skip ("root can look into every directory");
      return;
    }

  fixture_run (&fixture, "mkdir -p home/notes/closed/inside; chmod 0 home/notes/closed");
  fixture_reach_refuses (&fixture, "@/home/notes/closed/inside", SBX_ERROR_NOT_ENFORCEABLE,
                         "cannot be looked at|not open to you");
  fixture_reach_refuses (&fixture, "@/home/notes/closed", SBX_ERROR_NOT_ENFORCEABLE,
                         "not yours to read");
}

/* What was resolved holds after the spec, the resolver and the working directory went. */
static void
test_async (void)
{
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxSandboxSpec) spec = NULL;
  g_autoptr(GAsyncResult) result = NULL;
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *cwd = NULL;
  SbxResolver *resolver;

  fixture_init (&fixture, NULL);
  cwd = fixture_path (&fixture, "@/home/repo");
  spec = fixture_spec (&fixture, "{\"write\": [\".\"]}");

  sbx_resolver_resolve_async (fixture.resolver, spec, cwd, SBX_RESOLVE_NONE, NULL,
                              test_store_result, &result);
  sbx_sandbox_spec_add_read (spec, "~/.ssh");
  fixture_set (&fixture, "run-root", "@/home/repo");
  g_assert_null (result);

  test_wait_for (result != NULL);
  reach = sbx_resolver_resolve_finish (fixture.resolver, result, &error);
  g_assert_no_error (error);
  fixture_assert (&fixture, reach, SBX_REACH_READ, "");
  fixture_assert (&fixture, reach, SBX_REACH_WRITE, "@/home/repo+");

  /* The thread may hold it for a moment longer. */
  g_clear_object (&result);
  resolver = fixture.resolver;
  g_object_add_weak_pointer (G_OBJECT (resolver), (gpointer *) &resolver);
  g_clear_object (&fixture.resolver);
  for (guint i = 0; resolver != NULL && i < 10 * 1000; i++)
    g_usleep (1000);
  g_assert_null (resolver);
}

static void
test_cancelled (void)
{
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GAsyncResult) early = NULL;
  g_autoptr(GAsyncResult) late = NULL;
  g_autoptr(SbxReach) asked = NULL;
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(GError) error = NULL;

  fixture_init (&fixture, NULL);
  asked = sbx_reach_new (fixture.root);

  sbx_resolver_resolve_reach_async (fixture.resolver, asked, cancellable, test_store_result, &late);
  g_cancellable_cancel (cancellable);
  sbx_resolver_resolve_reach_async (fixture.resolver, asked, cancellable, test_store_result,
                                    &early);
  g_assert_null (early);
  g_assert_null (late);
  test_wait_for (early != NULL && late != NULL);

  reach = sbx_resolver_resolve_reach_finish (fixture.resolver, early, &error);
  g_assert_null (reach);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);

  reach = sbx_resolver_resolve_reach_finish (fixture.resolver, late, &error);
  g_assert_null (reach);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/resolve/R1", test_r1);
  g_test_add_func ("/resolve/R2", test_r2);
  g_test_add_func ("/resolve/R6", test_r6);
  g_test_add_func ("/resolve/R7", test_r7);
  g_test_add_func ("/resolve/R8", test_r8);
  g_test_add_func ("/resolve/R9", test_r9);
  g_test_add_func ("/resolve/R10", test_r10);
  g_test_add_func ("/resolve/R11", test_r11);
  g_test_add_func ("/resolve/R13", test_r13);
  g_test_add_func ("/resolve/R10.16-and-bad-paths", test_reach);
  g_test_add_func ("/resolve/names", test_names);
  g_test_add_func ("/resolve/million", test_million);
  g_test_add_func ("/resolve/closed", test_closed);
  g_test_add_func ("/resolve/defaults", test_defaults);
  g_test_add_func ("/resolve/async", test_async);
  g_test_add_func ("/resolve/cancelled", test_cancelled);

  return g_test_run ();
}
