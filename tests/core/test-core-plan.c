/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What a plan answers. Plans are made by hand, and the answers are known from what mounts do. */

#include "config.h"

#include "core/sbx-plan-private.h"
#include "files/sbx-delete-private.h"
#include "test-util.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

#define R SBX_PLAN_ACCESS_READ
#define W SBX_PLAN_ACCESS_WRITE
#define X SBX_PLAN_ACCESS_REPLACE
#define C SBX_PLAN_ACCESS_CONNECT

typedef struct
{
  char    *dir;    /* of the host */
  SbxPlan *plan;
} Fixture;

static void
make (Fixture    *fixture,
      const char *name)
{
  g_autofree char *path = g_build_filename (fixture->dir, name, NULL);

  g_assert_no_errno (g_mkdir_with_parents (path, 0755));
}

static void
make_link (Fixture    *fixture,
           const char *name,
           const char *target)
{
  g_autofree char *path = g_build_filename (fixture->dir, name, NULL);

  g_assert_no_errno (symlink (target, path));
}

static void
add_host (Fixture     *fixture,
          SbxPlanKind  kind,
          const char  *name)
{
  g_autofree char *path = g_build_filename (fixture->dir, name, NULL);

  _sbx_plan_add (fixture->plan, kind, path, path, "asked for", name);
}

/* A small sandbox: /usr and /bin, /tmp, a project with something protected in it. */
static void
set_up (Fixture       *fixture,
        gconstpointer  data)
{
  g_autoptr(GError) error = NULL;

  fixture->dir = g_dir_make_tmp ("sbx-plan-XXXXXX", &error);
  g_assert_no_error (error);
  make (fixture, "w/git/hooks");
  make (fixture, "w/read/again");
  make (fixture, "w/hidden");
  make (fixture, "w/sub");

  fixture->plan = _sbx_plan_new (fixture->dir, NULL);
  _sbx_plan_add (fixture->plan, SBX_PLAN_LINK, "/bin", "usr/bin", "system", "base");
  _sbx_plan_add (fixture->plan, SBX_PLAN_DEV, "/dev", NULL, "devices", "base");
  _sbx_plan_add (fixture->plan, SBX_PLAN_DIRECTORY, "/etc", NULL, "the way", "base");
  _sbx_plan_add (fixture->plan, SBX_PLAN_PROC, "/proc", NULL, "processes", "base");
  _sbx_plan_add (fixture->plan, SBX_PLAN_WRITE, "/tmp", NULL, "own", "session");
  _sbx_plan_add (fixture->plan, SBX_PLAN_READ, "/usr", "/usr", "system", "base");
  _sbx_plan_add (fixture->plan, SBX_PLAN_MEMORY, "/dev/shm", NULL, "shared memory", "base");
  _sbx_plan_add (fixture->plan, SBX_PLAN_COPY, "/etc/passwd", NULL, "names", "base");
  _sbx_plan_add (fixture->plan, SBX_PLAN_MASK, "/proc/keys", NULL, "keys", "base");
  add_host (fixture, SBX_PLAN_WRITE, "w");
  add_host (fixture, SBX_PLAN_WRITE, "w/git");
  add_host (fixture, SBX_PLAN_READ, "w/read");
  add_host (fixture, SBX_PLAN_HIDDEN, "w/hidden");
  add_host (fixture, SBX_PLAN_SOCKET, "w/socket");
  add_host (fixture, SBX_PLAN_SUBMOUNT, "w/sub");
  add_host (fixture, SBX_PLAN_READ, "w/git/hooks");
  add_host (fixture, SBX_PLAN_WRITE, "w/read/again");
  _sbx_plan_add (fixture->plan, SBX_PLAN_SEAL, "/dev", NULL, "sealed", "base");
  _sbx_plan_add (fixture->plan, SBX_PLAN_SEAL, "/", NULL, "sealed", "base");
  add_host (fixture, SBX_PLAN_QUARANTINE, "w/.vscode");
  _sbx_plan_add_domain (fixture->plan, "example.org", "asked for", "network[0]");
  _sbx_plan_add_domain (fixture->plan, "*.example.net", "asked for", "network[1]");
}

static void
tear_down (Fixture       *fixture,
           gconstpointer  data)
{
  g_autofree char *parent = g_path_get_dirname (fixture->dir);
  g_autofree char *name = g_path_get_basename (fixture->dir);
  const int fd = open (parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
  g_autoptr(GError) error = NULL;

  _sbx_delete_tree (fd, name, NULL, &error);
  g_assert_no_error (error);
  close (fd);
  g_clear_object (&fixture->plan);
  g_free (fixture->dir);
}

static void
check (Fixture       *fixture,
       const char    *path,
       SbxPlanAccess  expected,
       const char    *by)
{
  g_autofree char *whole = *path == '/' ? g_strdup (path)
                                        : g_build_filename (fixture->dir, path, NULL);
  g_autofree char *decider = by == NULL || *by == '/' ? g_strdup (by)
                                                      : g_build_filename (fixture->dir, by, NULL);
  SbxPlanAccess access = 0xff;
  SbxPlanEntry *entry = sbx_plan_check_path (fixture->plan, whole, &access);

  g_test_message ("%s: %x", path, access);
  g_assert_cmphex (access, ==, expected);
  g_assert_cmpstr (entry != NULL ? sbx_plan_entry_get_path (entry) : NULL, ==, decider);
}

static void
test_base (Fixture       *fixture,
           gconstpointer  data)
{
  check (fixture, "/usr/share", R, "/usr");
  check (fixture, "/bin/sh", R, "/usr");
  check (fixture, "/bin", R, "/usr");
  check (fixture, "/", R, "/");
  check (fixture, "/etc", R, "/etc");
  check (fixture, "/etc/passwd", R, "/etc/passwd");
  check (fixture, "/etc/shadow", 0, NULL);
  check (fixture, "/home", 0, NULL);
  check (fixture, "/tmp", R | W, "/tmp");
  check (fixture, "/tmp/x/y", R | W | X, "/tmp");
  check (fixture, "/tmpx", 0, NULL);
  check (fixture, "/proc/keys", 0, "/proc/keys");
  check (fixture, "/proc/1/status", R | W, "/proc");
  check (fixture, "/dev", R, "/dev");
  check (fixture, "/dev/null", R | W, "/dev");
  check (fixture, "/dev/sda", 0, "/dev");
  check (fixture, "/dev/nullx", 0, "/dev");
  check (fixture, "/dev/shm/x", R | W | X, "/dev/shm");
}

static void
test_nested (Fixture       *fixture,
             gconstpointer  data)
{
  check (fixture, "w", R | W, "w");
  check (fixture, "w/new", R | W | X, "w");
  check (fixture, "w/git", R | W, "w/git");
  check (fixture, "w/git/index", R | W | X, "w/git");
  check (fixture, "w/git/hooks", R, "w/git/hooks");
  check (fixture, "w/git/hooks/pre-commit", R, "w/git/hooks");
  check (fixture, "w/read/x", R, "w/read");
  check (fixture, "w/read/again", R | W, "w/read/again");
  check (fixture, "w/read/again/x", R | W | X, "w/read/again");
  check (fixture, "w/readx", R | W | X, "w");
  check (fixture, "w/hidden", 0, "w/hidden");
  check (fixture, "w/hidden/x", 0, "w/hidden");
  check (fixture, "w/socket", C, "w/socket");
  check (fixture, "w/sub/x", R, "w/sub");
  check (fixture, "w/sub", R, "w/sub");
}

/* A mount that comes later covers all that was below. */
static void
test_later_wins (Fixture       *fixture,
                 gconstpointer  data)
{
  add_host (fixture, SBX_PLAN_READ, "w");

  check (fixture, "w/new", R, "w");
  check (fixture, "w/git/index", R, "w");
  check (fixture, "w/hidden", R, "w");
}

static void
test_quarantine (Fixture       *fixture,
                 gconstpointer  data)
{
  check (fixture, "w/.vscode", R | W | X, "w/.vscode");
  check (fixture, "w/.vscode/tasks.json", R | W | X, "w/.vscode");
  check (fixture, "w/.vscodex", R | W | X, "w");

  /* What cannot be written anyway needs none. */
  add_host (fixture, SBX_PLAN_READ, "w/.vscode");
  check (fixture, "w/.vscode/tasks.json", R, "w/.vscode");
}

static void
test_links (Fixture       *fixture,
            gconstpointer  data)
{
  make_link (fixture, "w/into", "git/hooks");
  make_link (fixture, "w/out", "/etc/shadow");
  make_link (fixture, "w/up", "../../../../../../usr");
  make_link (fixture, "w/bin", "/bin");
  make_link (fixture, "w/read/write", "../git");
  make_link (fixture, "w/loop", "loop");
  make_link (fixture, "w/one", "two");
  make_link (fixture, "w/two", "one");

  check (fixture, "w/into", R | X, "w/git/hooks");
  check (fixture, "w/into/pre-commit", R, "w/git/hooks");
  check (fixture, "w/out", X, "w");
  check (fixture, "w/up/share", R, "/usr");
  check (fixture, "w/bin/sh", R, "/usr");
  check (fixture, "w/read/write", R | W, "w/git");
  check (fixture, "w/read/write/index", R | W | X, "w/git");
  check (fixture, "w/loop", X, "w");
  check (fixture, "w/one/x", 0, NULL);
  check (fixture, "w/git/../read/x", R, "w/read");
  check (fixture, "w/into/../index", R | W | X, "w/git");
  check (fixture, "w//./git//index", R | W | X, "w/git");
}

/* What is in a link counts as it would inside, not on the host: a link that is hidden is none. */
static void
test_covered_links (Fixture       *fixture,
                    gconstpointer  data)
{
  make_link (fixture, "w/hidden/link", "../git");

  check (fixture, "w/hidden/link/index", 0, "w/hidden");
}

static void
test_relative (Fixture       *fixture,
               gconstpointer  data)
{
  SbxPlanAccess access;

  g_assert_nonnull (sbx_plan_check_path (fixture->plan, "w/new", &access));
  g_assert_cmphex (access, ==, R | W | X);
  g_assert_nonnull (sbx_plan_check_path (fixture->plan, "w/read", &access));
  g_assert_cmphex (access, ==, R);
}

static void
test_domains (Fixture       *fixture,
              gconstpointer  data)
{
  static const struct { const char *domain; const char *by; } cases[] = {
    { "example.org", "network[0]" },
    { "EXAMPLE.org", "network[0]" },
    { "www.example.org", NULL },
    { "example.net", NULL },
    { ".example.net", NULL },
    { "www.example.net", "network[1]" },
    { "a.b.example.NET", "network[1]" },
    { "badexample.net", NULL },
    { "", NULL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gboolean allowed = 17;
      SbxPlanEntry *entry = sbx_plan_check_domain (fixture->plan, cases[i].domain, &allowed);

      g_test_message ("%s", cases[i].domain);
      g_assert_cmpint (allowed, ==, cases[i].by != NULL);
      g_assert_cmpstr (entry != NULL ? sbx_plan_entry_get_source (entry) : NULL, ==, cases[i].by);
    }
}

static void
test_json (void)
{
  g_autoptr(SbxPlan) plan = _sbx_plan_new ("/w", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) json = NULL;

  _sbx_plan_add (plan, SBX_PLAN_READ, "/a\x1b\\\xff", "/b\x1b\\", "why", "read[0]");
  _sbx_plan_add_domain (plan, "example.org", "asked for", NULL);
  _sbx_plan_set_limit (plan, SBX_LIMIT_CPU_TIME, 90, "rlimit");
  _sbx_plan_add_problem (plan, "one");
  _sbx_plan_add_problem (plan, "two");
  json = sbx_plan_to_json (plan, &error);
  g_assert_no_error (error);

  g_assert_cmpstr (g_bytes_get_data (json, NULL), ==,
                   "{\n"
                   "  \"version\": 1,\n"
                   "  \"cwd\": \"/w\",\n"
                   "  \"entries\": [\n"
                   "    {\n"
                   "      \"kind\": \"read\",\n"
                   "      \"path\": {\n"
                   "        \"escaped\": \"/a\\u001b\\\\\\\\\\\\xff\"\n"
                   "      },\n"
                   "      \"sourcePath\": \"/b\\u001b\\\\\",\n"
                   "      \"reason\": \"why\",\n"
                   "      \"source\": \"read[0]\"\n"
                   "    },\n"
                   "    {\n"
                   "      \"kind\": \"domain\",\n"
                   "      \"domain\": \"example.org\",\n"
                   "      \"sourcePath\": null,\n"
                   "      \"reason\": \"asked for\",\n"
                   "      \"source\": null\n"
                   "    }\n"
                   "  ],\n"
                   "  \"limits\": {\n"
                   "    \"cpuTime\": {\n"
                   "      \"value\": 90,\n"
                   "      \"means\": \"rlimit\"\n"
                   "    }\n"
                   "  },\n"
                   "  \"problems\": [\n"
                   "    \"one\",\n"
                   "    \"two\"\n"
                   "  ]\n"
                   "}\n");
}

static void
test_list (void)
{
  g_autoptr(SbxPlan) plan = _sbx_plan_new ("/w", NULL);
  g_autoptr(SbxPlanEntry) entry = NULL;

  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (plan)), ==, 0);
  g_assert_null (g_list_model_get_item (G_LIST_MODEL (plan), 0));
  g_assert_null (sbx_plan_get_problems (plan)[0]);
  g_assert_null (sbx_plan_get_reach (plan));

  _sbx_plan_add (plan, SBX_PLAN_LINK, "/bin", "usr/bin", "why", NULL);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (plan)), ==, 1);
  g_assert_true (g_list_model_get_item_type (G_LIST_MODEL (plan)) == SBX_TYPE_PLAN_ENTRY);
  entry = g_list_model_get_item (G_LIST_MODEL (plan), 0);
  g_assert_cmpint (sbx_plan_entry_get_kind (entry), ==, SBX_PLAN_LINK);
  g_assert_cmpstr (sbx_plan_entry_get_path (entry), ==, "/bin");
  g_assert_cmpstr (sbx_plan_entry_get_source_path (entry), ==, "usr/bin");
  g_assert_cmpstr (sbx_plan_entry_get_reason (entry), ==, "why");
  g_assert_null (sbx_plan_entry_get_source (entry));
  g_assert_null (sbx_plan_entry_get_domain (entry));

  _sbx_plan_set_limit (plan, SBX_LIMIT_MEMORY, 4096, "rlimit");
  g_assert_cmpuint (sbx_plan_get_limit (plan, SBX_LIMIT_MEMORY), ==, 4096);
  g_assert_cmpstr (sbx_plan_get_limit_means (plan, SBX_LIMIT_MEMORY), ==, "rlimit");
  g_assert_cmpuint (sbx_plan_get_limit (plan, SBX_LIMIT_PROCESSES), ==, 0);
  g_assert_null (sbx_plan_get_limit_means (plan, SBX_LIMIT_PROCESSES));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define ADD(name, func) g_test_add ("/core/plan/" name, Fixture, NULL, set_up, func, tear_down)
  ADD ("base", test_base);
  ADD ("nested", test_nested);
  ADD ("later-wins", test_later_wins);
  ADD ("quarantine", test_quarantine);
  ADD ("links", test_links);
  ADD ("covered-links", test_covered_links);
  ADD ("relative", test_relative);
  ADD ("domains", test_domains);
#undef ADD
  g_test_add_func ("/core/plan/json", test_json);
  g_test_add_func ("/core/plan/list", test_list);

  return g_test_run ();
}
