/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <glib/gstdio.h>
#include <sbx.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test-util.h"

/* Which providers are found, in which order, and which of them are not trusted. */

#define SOMEBODY_ELSE 12345

typedef struct
{
  char *root;         /* nobody else can write it, or anything above it */
} Place;

/* On its own, and not by what is tested. */
static gboolean
is_private (const char *path)
{
  g_autofree char *current = realpath (path, NULL);
  struct stat status;

  if (current == NULL)
    return FALSE;

  while (lstat (current, &status) == 0 && (status.st_mode & 022) == 0 &&
         (status.st_uid == 0 || status.st_uid == geteuid ()))
    {
      char *slash = strrchr (current, '/');

      if (slash == current && slash[1] == '\0')
        return TRUE;
      slash[slash == current ? 1 : 0] = '\0';
    }

  return FALSE;
}

static char *
place_path (Place      *place,
            const char *path)
{
  return g_build_filename (place->root, path, NULL);
}

static void
place_mkdir (Place      *place,
             const char *path,
             int         mode)
{
  g_autofree char *whole = place_path (place, path);

  g_assert_cmpint (g_mkdir_with_parents (whole, 0755), ==, 0);
  g_assert_cmpint (chmod (whole, mode), ==, 0);
}

static void
place_write (Place      *place,
             const char *path,
             const char *content,
             int         mode)
{
  g_autofree char *whole = place_path (place, path);
  g_autofree char *dir = g_path_get_dirname (whole);

  g_assert_cmpint (g_mkdir_with_parents (dir, 0755), ==, 0);
  g_assert_true (g_file_set_contents (whole, content, -1, NULL));
  g_assert_cmpint (chmod (whole, mode), ==, 0);
}

static void
place_program (Place      *place,
               const char *path)
{
  place_write (place, path, "#!/bin/sh\n", 0755);
}

static void
place_chmod (Place      *place,
             const char *path,
             int         mode)
{
  g_autofree char *whole = place_path (place, path);

  g_assert_cmpint (chmod (whole, mode), ==, 0);
}

static void
place_unlink (Place      *place,
              const char *path)
{
  g_autofree char *whole = place_path (place, path);

  g_assert_cmpint (g_unlink (whole), ==, 0);
}

static void
place_link (Place      *place,
            const char *path,
            const char *target)
{
  g_autofree char *whole = place_path (place, path);
  g_autofree char *whole_target = place_path (place, target);

  g_assert_cmpint (symlink (whole_target, whole), ==, 0);
}

static void
place_chdir (Place      *place,
             const char *path)
{
  g_autofree char *whole = place_path (place, path);

  g_assert_cmpint (chdir (whole), ==, 0);
}

static void
place_set (Place      *place,
           const char *variable,
           const char *path)
{
  g_autofree char *whole = place_path (place, path);

  g_setenv (variable, whole, TRUE);
}

static void
place_free (Place *place)
{
  const char *argv[] = { "rm", "-rf", "--one-file-system", place->root, NULL };
  g_autoptr(GSubprocess) rm_process = NULL;

  g_assert_cmpint (chdir ("/"), ==, 0);
  g_setenv ("PATH", "/usr/bin:/bin", TRUE);
  rm_process = g_subprocess_newv (argv, G_SUBPROCESS_FLAGS_NONE, NULL);
  g_assert_true (g_subprocess_wait_check (rm_process, NULL, NULL));
  g_free (place->root);
  g_free (place);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Place, place_free)

/* %NULL where there is no place like that, below /tmp for example. */
static Place *
place_new (void)
{
  const char *bases[] = { g_test_get_dir (G_TEST_BUILT), g_get_home_dir (),
                          g_get_user_runtime_dir () };

  g_assert_cmpint (chdir ("/"), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (bases); i++)
    {
      g_autofree char *template = g_build_filename (bases[i], "providers-XXXXXX", NULL);
      Place *place;

      if (!is_private (bases[i]) || g_mkdtemp_full (template, 0755) == NULL)
        continue;

      place = g_new0 (Place, 1);
      place->root = g_steal_pointer (&template);
      place_set (place, "XDG_CONFIG_HOME", "config");
      place_set (place, "XDG_CONFIG_DIRS", "system");
      place_set (place, "SBX_PROVIDER_DIR", "own");
      place_set (place, "PATH", "bin");

      return place;
    }

  g_test_skip ("There is no directory here that only this user can write");
  return NULL;
}

static void
assert_found (Place      *place,
              const char *name,
              const char *origin,
              const char *command_line)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxProviderInfo) info = sbx_provider_info_find (name, &error);
  g_autofree char *whole = place_path (place, origin);
  g_autofree char *expected = NULL;
  g_autofree char *joined = NULL;

  g_assert_no_error (error);
  g_assert_cmpstr (sbx_provider_info_get_name (info), ==, name);
  g_assert_cmpstr (sbx_provider_info_get_origin (info), ==, whole);
  g_assert_null (sbx_provider_info_get_problem (info));

  expected = place_path (place, command_line);
  joined = g_strjoinv ("|", (GStrv) sbx_provider_info_get_argv (info));
  g_assert_cmpstr (joined, ==, expected);
}

#define assert_not_found(name, code) \
  G_STMT_START { \
    g_autoptr(GError) find_error = NULL; \
    g_autoptr(SbxProviderInfo) find_info = sbx_provider_info_find (name, &find_error); \
    g_assert_null (find_info); \
    g_assert_error (find_error, SBX_ERROR, code); \
  } G_STMT_END

/* The message says which. */
static void
assert_refused (Place      *place,
                const char *name,
                const char *culprit)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxProviderInfo) info = sbx_provider_info_find (name, &error);
  g_autofree char *whole = place_path (place, culprit);

  g_assert_null (info);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_REFUSED);
  if (strstr (error->message, whole) == NULL)
    g_error ("%s is not in: %s", whole, error->message);
}

static void
test_names (void)
{
  static const char * const bad[] = {
    "", "-", "-a", "a-", "A", "a.b", "a/b", "../a", ".", "a b", "\xc3\xa9", "a\n", "a_b",
  };
  static const char * const good[] = { "a", "0", "a-b", "no-such-provider-9", "a--b" };
  g_autoptr(Place) place = place_new ();

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    assert_not_found (bad[i], SBX_ERROR_INVALID);

  for (guint i = 0; place != NULL && i < G_N_ELEMENTS (good); i++)
    assert_not_found (good[i], SBX_ERROR_NOT_FOUND);
}

static void
test_order (void)
{
  g_autoptr(Place) place = place_new ();

  if (place == NULL)
    return;

  g_setenv ("PATH", "/nonexistent", TRUE);
  assert_not_found ("box", SBX_ERROR_NOT_FOUND);

  place_set (place, "PATH", "bin");
  place_program (place, "bin/smol-sandbox-box");
  assert_found (place, "box", "bin/smol-sandbox-box", "bin/smol-sandbox-box|serve");
  place_program (place, "bin/sbx-provider-box");
  assert_found (place, "box", "bin/sbx-provider-box", "bin/sbx-provider-box|serve");
  place_program (place, "own/sbx-provider-box");
  assert_found (place, "box", "own/sbx-provider-box", "own/sbx-provider-box|serve");
  place_write (place, "system/libsbx/providers.d/box.conf", "[Provider]\nExec=smol-sandbox-box x\n",
               0644);
  assert_found (place, "box", "system/libsbx/providers.d/box.conf", "bin/smol-sandbox-box|x");
  place_write (place, "config/libsbx/providers.d/box.conf",
               "[Provider]\nExec=smol-sandbox-box \"y z\" 'a b'\n", 0600);
  assert_found (place, "box", "config/libsbx/providers.d/box.conf",
                "bin/smol-sandbox-box|y z|a b");

  /* What cannot be executed is no program. */
  place_chmod (place, "own/sbx-provider-box", 0644);
  place_unlink (place, "config/libsbx/providers.d/box.conf");
  place_unlink (place, "system/libsbx/providers.d/box.conf");
  assert_found (place, "box", "bin/sbx-provider-box", "bin/sbx-provider-box|serve");
  place_unlink (place, "bin/sbx-provider-box");
  place_mkdir (place, "bin/sbx-provider-box", 0755);
  assert_found (place, "box", "bin/smol-sandbox-box", "bin/smol-sandbox-box|serve");
}

static void
test_path_order (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *path = NULL;

  if (place == NULL)
    return;

  path = g_strdup_printf ("%s/one:%s/two", place->root, place->root);
  g_setenv ("PATH", path, TRUE);
  place_program (place, "two/sbx-provider-box");
  place_program (place, "one/smol-sandbox-box");
  assert_found (place, "box", "two/sbx-provider-box", "two/sbx-provider-box|serve");
  place_program (place, "one/sbx-provider-box");
  assert_found (place, "box", "one/sbx-provider-box", "one/sbx-provider-box|serve");
}

static void
assert_key_file (Place      *place,
                 const char *content,
                 SbxError    code)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxProviderInfo) info = NULL;

  place_write (place, "config/libsbx/providers.d/box.conf", content, 0644);
  info = sbx_provider_info_find ("box", &error);
  g_assert_null (info);
  g_assert_error (error, SBX_ERROR, (int) code);
  g_assert_nonnull (strstr (error->message, "box.conf"));
}

static void
test_key_file (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *large = g_strnfill (70000, '#');
  g_autofree char *fifo = NULL;
  g_autoptr(SbxProviderInfo) info = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *joined = NULL;

  if (place == NULL)
    return;

  place_program (place, "bin/box");
  assert_key_file (place, "", SBX_ERROR_INVALID);
  assert_key_file (place, "nonsense", SBX_ERROR_INVALID);
  assert_key_file (place, "[Other]\nExec=box\n", SBX_ERROR_INVALID);
  assert_key_file (place, "[Provider]\nEnvironment=A=1\n", SBX_ERROR_INVALID);
  assert_key_file (place, "[Provider]\nExec=\n", SBX_ERROR_INVALID);
  assert_key_file (place, "[Provider]\nExec=box \"\n", SBX_ERROR_INVALID);
  assert_key_file (place, "[Provider]\nExec=./box\n", SBX_ERROR_INVALID);
  assert_key_file (place, "[Provider]\nExec=\"\"\n", SBX_ERROR_INVALID);
  assert_key_file (place, "[Provider]\nExec=no-such-box\n", SBX_ERROR_NOT_FOUND);
  assert_key_file (place, "[Provider]\nExec=/no/such/box\n", SBX_ERROR_NOT_FOUND);
  assert_key_file (place, "[Provider]\nExec=box\nEnvironment=A\n", SBX_ERROR_INVALID);
  assert_key_file (place, "[Provider]\nExec=box\nEnvironment==1\n", SBX_ERROR_INVALID);
  assert_key_file (place, large, SBX_ERROR_TOO_LARGE);

  place_write (place, "config/libsbx/providers.d/box.conf",
               "# A comment\n[Provider]\nName=Box\nExec=box\nEnvironment=A=1;B=x=y;C=\n", 0644);
  info = sbx_provider_info_find ("box", &error);
  g_assert_no_error (error);
  joined = g_strjoinv ("|", (GStrv) sbx_provider_info_get_environment (info));
  g_assert_cmpstr (joined, ==, "A=1|B=x=y|C=");

  /* Nobody waits for who might write to it. */
  place_unlink (place, "config/libsbx/providers.d/box.conf");
  fifo = place_path (place, "config/libsbx/providers.d/box.conf");
  g_assert_cmpint (mkfifo (fifo, 0644), ==, 0);
  assert_not_found ("box", SBX_ERROR_INVALID);
  place_unlink (place, "config/libsbx/providers.d/box.conf");
  place_link (place, "config/libsbx/providers.d/box.conf", "nowhere");
  assert_not_found ("box", SBX_ERROR_NOT_FOUND);
}

/* What a variable says relative to a directory means another thing in each. */
static void
test_relative (void)
{
  g_autoptr(Place) place = place_new ();

  if (place == NULL)
    return;

  place_program (place, "bin/sbx-provider-box");
  place_write (place, "config/libsbx/providers.d/box.conf", "[Provider]\nExec=/bin/sh\n", 0644);
  place_chdir (place, "bin");
  g_setenv ("PATH", ":.:../bin::./", TRUE);
  g_setenv ("XDG_CONFIG_HOME", "../config", TRUE);
  g_setenv ("XDG_CONFIG_DIRS", ":../config", TRUE);
  g_setenv ("SBX_PROVIDER_DIR", ".", TRUE);
  assert_not_found ("box", SBX_ERROR_NOT_FOUND);
}

static void
test_writable (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *path = NULL;

  if (place == NULL)
    return;

  /* The second one is in order, and must not take the place of the first. */
  path = g_strdup_printf ("%s/a/bin:%s/good", place->root, place->root);
  g_setenv ("PATH", path, TRUE);
  place_program (place, "good/sbx-provider-box");
  place_program (place, "a/bin/sbx-provider-box");
  assert_found (place, "box", "a/bin/sbx-provider-box", "a/bin/sbx-provider-box|serve");

  place_chmod (place, "a/bin/sbx-provider-box", 0757);
  assert_refused (place, "box", "a/bin/sbx-provider-box");
  place_chmod (place, "a/bin/sbx-provider-box", 0755);
  place_chmod (place, "a/bin", 0757);
  assert_refused (place, "box", "a/bin");
  place_chmod (place, "a/bin", 01777);
  assert_refused (place, "box", "a/bin");
  place_chmod (place, "a/bin", 0755);
  place_chmod (place, "a", 0777);
  assert_refused (place, "box", "a");
  place_chmod (place, "a", 0755);

  place_write (place, "config/libsbx/providers.d/box.conf", "[Provider]\nExec=sbx-provider-box\n",
               0646);
  assert_refused (place, "box", "config/libsbx/providers.d/box.conf");
  place_chmod (place, "config/libsbx/providers.d/box.conf", 0644);
  assert_found (place, "box", "config/libsbx/providers.d/box.conf", "a/bin/sbx-provider-box");
  place_chmod (place, "config", 0757);
  assert_refused (place, "box", "config");
  place_chmod (place, "config", 0755);
  place_chmod (place, "a/bin/sbx-provider-box", 0757);
  assert_refused (place, "box", "a/bin/sbx-provider-box");
}

static void
test_group (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *path = NULL;

  if (place == NULL)
    return;

  place_program (place, "bin/sbx-provider-box");
  place_chmod (place, "bin", 0775);
  path = place_path (place, "bin");

  /* The group of root is root. */
  if (geteuid () == 0)
    {
      g_assert_cmpint (chown (path, 0, 0), ==, 0);
      assert_found (place, "box", "bin/sbx-provider-box", "bin/sbx-provider-box|serve");
      g_assert_cmpint (chown (path, 0, SOMEBODY_ELSE), ==, 0);
    }

  assert_refused (place, "box", "bin");
}

static void
test_owner (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *path = NULL;
  g_autofree char *link = NULL;

  if (place == NULL)
    return;
  if (geteuid () != 0)
    {
      g_test_skip ("Only root can give files away");
      return;
    }

  place_program (place, "a/bin/sbx-provider-box");
  place_set (place, "PATH", "a/bin");
  path = place_path (place, "a/bin/sbx-provider-box");
  g_assert_cmpint (chown (path, SOMEBODY_ELSE, 0), ==, 0);
  assert_refused (place, "box", "a/bin/sbx-provider-box");
  g_assert_cmpint (chown (path, 0, 0), ==, 0);
  g_free (path);
  path = place_path (place, "a");
  g_assert_cmpint (chown (path, SOMEBODY_ELSE, 0), ==, 0);
  assert_refused (place, "box", "a");
  g_assert_cmpint (chown (path, 0, 0), ==, 0);

  place_mkdir (place, "b", 0755);
  place_link (place, "b/sbx-provider-box", "a/bin/sbx-provider-box");
  place_set (place, "PATH", "b");
  assert_found (place, "box", "b/sbx-provider-box", "b/sbx-provider-box|serve");
  link = place_path (place, "b/sbx-provider-box");
  g_assert_cmpint (lchown (link, SOMEBODY_ELSE, 0), ==, 0);
  assert_refused (place, "box", "b/sbx-provider-box");
}

/* Each place that a link leads through counts. */
static void
test_links (void)
{
  g_autoptr(Place) place = place_new ();

  if (place == NULL)
    return;

  place_program (place, "real/program");
  place_mkdir (place, "between", 0755);
  place_mkdir (place, "bin", 0755);
  place_link (place, "between/link", "real/program");
  place_link (place, "between/up", "between/../between/./link");
  place_link (place, "bin/sbx-provider-box", "between/up");
  assert_found (place, "box", "bin/sbx-provider-box", "bin/sbx-provider-box|serve");

  place_chmod (place, "between", 0777);
  assert_refused (place, "box", "between");
  place_chmod (place, "between", 0755);
  place_chmod (place, "real", 0777);
  assert_refused (place, "box", "real");
}

static void
test_workspace (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *path = NULL;

  if (place == NULL)
    return;

  place_program (place, "project/bin/sbx-provider-box");
  place_program (place, "project-2/sbx-provider-box");
  place_program (place, "good/program");
  place_mkdir (place, "links", 0755);
  place_link (place, "links/sbx-provider-out", "project/bin/sbx-provider-box");
  place_link (place, "project/bin/sbx-provider-in", "good/program");
  place_write (place, "project/config/libsbx/providers.d/other.conf", "[Provider]\nExec=/bin/sh\n",
               0644);
  path = g_strdup_printf ("%s/project/bin:%s/links", place->root, place->root);
  g_setenv ("PATH", path, TRUE);
  place_set (place, "XDG_CONFIG_HOME", "project/config");
  assert_found (place, "box", "project/bin/sbx-provider-box",
                "project/bin/sbx-provider-box|serve");

  place_chdir (place, "project");
  assert_refused (place, "box", "project");
  assert_refused (place, "other", "project");
  assert_refused (place, "in", "project");
  assert_refused (place, "out", "project");

  /* Only the tree, and not what is called alike. */
  place_set (place, "PATH", "project-2");
  assert_found (place, "box", "project-2/sbx-provider-box", "project-2/sbx-provider-box|serve");
  place_chdir (place, "project/bin");
  assert_found (place, "box", "project-2/sbx-provider-box", "project-2/sbx-provider-box|serve");
}

static void
test_list (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(GListModel) infos = NULL;
  g_autoptr(GString) seen = g_string_new (NULL);

  if (place == NULL)
    return;

  place_program (place, "bin/sbx-provider-d");
  place_program (place, "bin/smol-sandbox-b");
  place_program (place, "bin/sbx-provider-B");
  place_program (place, "bin/sbx-provider-");
  place_program (place, "bin/other");
  place_write (place, "bin/sbx-provider-text", "", 0644);
  place_program (place, "own/sbx-provider-c");
  place_program (place, "own/sbx-provider-d");
  place_program (place, "own/smol-sandbox-e");
  place_write (place, "config/libsbx/providers.d/a.conf", "nonsense", 0644);
  place_write (place, "config/libsbx/providers.d/.conf", "", 0644);
  place_write (place, "config/libsbx/providers.d/x.txt", "", 0644);
  place_write (place, "system/libsbx/providers.d/d.conf", "[Provider]\nExec=other\n", 0666);

  infos = sbx_provider_info_list ();
  g_assert_true (g_list_model_get_item_type (infos) == SBX_TYPE_PROVIDER_INFO);
  for (guint i = 0; i < g_list_model_get_n_items (infos); i++)
    {
      g_autoptr(SbxProviderInfo) info = g_list_model_get_item (infos, i);
      const GError *problem = sbx_provider_info_get_problem (info);

      g_assert_nonnull (sbx_provider_info_get_environment (info));
      g_assert_true ((problem == NULL) == (sbx_provider_info_get_argv (info) != NULL));
      g_string_append_printf (seen, "%s %s %d\n", sbx_provider_info_get_name (info),
                              sbx_provider_info_get_origin (info) + strlen (place->root),
                              problem != NULL ? problem->code : -1);
    }

  g_assert_cmpstr (seen->str, ==, "a /config/libsbx/providers.d/a.conf 1\n"
                                  "b /bin/smol-sandbox-b -1\n"
                                  "c /own/sbx-provider-c -1\n"
                                  "d /system/libsbx/providers.d/d.conf 3\n");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  /* Not to depend on who runs the tests. */
  umask (022);

  g_test_add_func ("/client/provider-info/names", test_names);
  g_test_add_func ("/client/provider-info/order", test_order);
  g_test_add_func ("/client/provider-info/path-order", test_path_order);
  g_test_add_func ("/client/provider-info/key-file", test_key_file);
  g_test_add_func ("/client/provider-info/relative", test_relative);
  g_test_add_func ("/client/provider-info/writable", test_writable);
  g_test_add_func ("/client/provider-info/group", test_group);
  g_test_add_func ("/client/provider-info/owner", test_owner);
  g_test_add_func ("/client/provider-info/links", test_links);
  g_test_add_func ("/client/provider-info/workspace", test_workspace);
  g_test_add_func ("/client/provider-info/list", test_list);

  return g_test_run ();
}
