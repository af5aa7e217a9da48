/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#include "spec/sbx-git-config-private.h"

/* The reader, against git itself. */

static const char * const valid[] = {
  "",
  "[core]\n\thooksPath = x\n",
  "[CORE]\n\tHooksPath=x\n[core]\nhookspath\t=\ty\n",
  "[core] a = 1\n[Core]b=2\n[cOre \"Sub\"] c = 3",
  "[a \"s\\\"u\\\\b\\x]\"]\nk = v\n",
  "[old.SUB.More]\nk = v\n",
  "[a]\nk = \"  quoted # no comment ; \" # comment\n",
  "[a]\nk = one \"two  \" three   \n",
  "[a]\nk = va\\\nlue\\\n  more\n",
  "[a]\nk = \"a\\\nb\"\n",
  "[a]\nk = tab\\tnew\\nback\\\\quote\\\"end\\b\n",
  "[a]\nk\n  j \t\ni",
  "[a]\nk =\nj = \n",
  "# comment\n; another\n\n[a]\n  # in it\n  k = v;x\n",
  "[a]\r\nk = v\r\nj = \"x\"\r\n",
  "\357\273\277[a]\nk = v\n",
  "[include]\n\tpath = ~/x\n[includeIf \"gitdir:~/y/\"]\n\tpath = \"a b\"\n",
  "[a \"\"]\nk = v\n",
  "[remote \"o\"]\nurl = https://x/#y\nfetch = +refs/*:refs/*\n",
  "[a-b.c]\nk-1 = v\n",
  "[a]k=v # no line end",
};

static gboolean
append (const char *section,
        const char *subsection,
        const char *key,
        const char *value,
        gpointer    data)
{
  GString *list = data;

  g_string_append (list, section);
  g_string_append_c (list, '.');
  if (subsection != NULL)
    g_string_append_printf (list, "%s.", subsection);
  g_string_append (list, key);
  if (value != NULL)
    g_string_append_printf (list, "\n%s", value);
  g_string_append_c (list, '\0');

  return TRUE;
}

static GBytes *
ask_git (const char *path)
{
  g_autoptr(GSubprocess) git = NULL;
  g_autoptr(GError) error = NULL;
  GBytes *output = NULL;

  git = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error, "git", "config", "--file", path,
                          "--list", "-z", NULL);
  g_assert_no_error (error);
  g_subprocess_communicate (git, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_subprocess_get_exit_status (git), ==, 0);

  return output;
}

static void
test_as_git (void)
{
  g_autofree char *dir = g_dir_make_tmp ("sbx-git-config-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (dir, "config", NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (valid); i++)
    {
      g_autoptr(GString) list = g_string_new (NULL);
      g_autoptr(GBytes) expected = NULL;
      g_autoptr(GError) error = NULL;

      g_test_message ("%s", valid[i]);
      g_file_set_contents (path, valid[i], -1, &error);
      g_assert_no_error (error);
      expected = ask_git (path);
      _sbx_git_config_parse (valid[i], strlen (valid[i]), append, list);
      g_assert_cmpmem (list->str, list->len, g_bytes_get_data (expected, NULL),
                       g_bytes_get_size (expected));
    }

  g_unlink (path);
  g_rmdir (dir);
}

/* What git refuses whole still says what the rest of it says. */
static void
test_broken (void)
{
  static const char * const broken[] = {
    "[a\nk = v\n[core]\nhookspath = x\n",
    "[a \"x\nk = v\n[core]\nhookspath = x\n",
    "[a]\nk = \"open\n[core]\nhookspath = x\n",
    "[a]\nk = bad \\q escape\n[core]\nhookspath = x\n",
    "[a]\n= v\n1 = 2\n[core]\nhookspath = x\n",
    "[a]\nk v\n[core]\nhookspath = x\n",
    "\001\002\n[core]\nhookspath = x\n",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      g_autoptr(GString) list = g_string_new (NULL);
      gsize at = 0;
      gboolean found = FALSE;

      g_test_message ("%s", broken[i]);
      _sbx_git_config_parse (broken[i], strlen (broken[i]), append, list);

      for (; at < list->len; at += strlen (list->str + at) + 1)
        found |= strcmp (list->str + at, "core.hookspath\nx") == 0;
      g_assert_true (found);
    }
}

static void
test_paths (void)
{
  static const struct
  {
    const char *value;
    const char *path;
  } rows[] = {
    { "x", "/base/x" },
    { "../x", "/x" },
    { "../../../x", "/x" },
    { "/a/./b/../c", "/a/c" },
    { "", NULL },
    { NULL, NULL },
    { "~user/x", NULL },
    { "~", NULL },
    { "%(prefix)/x", NULL },
  };
  g_autofree char *home = g_build_filename (g_get_home_dir (), "x", NULL);
  g_autofree char *in_home = _sbx_git_config_path ("~/x", "/base");

  g_assert_cmpstr (in_home, ==, home);

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = _sbx_git_config_path (rows[i].value, "/base");

      g_assert_cmpstr (path, ==, rows[i].path);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/spec/git-config/as-git", test_as_git);
  g_test_add_func ("/spec/git-config/broken", test_broken);
  g_test_add_func ("/spec/git-config/paths", test_paths);

  return g_test_run ();
}
