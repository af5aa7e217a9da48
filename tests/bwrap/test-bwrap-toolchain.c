/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap-util.h"
#include "core/sbx-error.h"

#define MAKE_TOOLS \
  "P() { mkdir -p $(dirname $1); printf '#!/bin/sh\\necho %s\\n' $1 > $1; chmod +x $1; }; " \
  "P .nvm/versions/node/v1/bin/node; " \
  "P .nvm/versions/node/v1/lib/node_modules/npm/bin/npm-cli.js; " \
  "" \
  "ln -s ../lib/node_modules/npm/bin/npm-cli.js .nvm/versions/node/v1/bin/npm; " \
  "echo token > .nvm/versions/node/v1/.npmrc; " \
  "P .local/pipx/venvs/tool/bin/tool; mkdir .local/pipx/venvs/tool/lib; " \
  "P .local/bin/own; ln -s ../pipx/venvs/tool/bin/tool .local/bin/tool; " \
  "P .cargo/bin/cargo; echo token > .cargo/credentials.toml; P project/sh; " \
  "mkdir .local/lib .ssh; echo key > .ssh/id; P mods/node_modules/@a/b/cli.js; mkdir mods/bin; " \
  "ln -s ../node_modules/@a/b/cli.js mods/bin/ab; ln -s nowhere .local/bin/dangling; " \
  "ln -s /usr/bin/env .local/bin/system"

static char *
make_path (TestPlace *place)
{
  static const char * const entries[] = {
    ".nvm/versions/node/v1/bin", ".local/bin", ".cargo/bin", "mods/bin", ".", ".local", "missing",
    ".local/bin",
  };
  GString *path = g_string_new ("/usr/bin:relative::");
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (entries); i++)
    g_string_append_printf (path, "%s/%s:", place->operator_home, entries[i]);

  return g_string_free (path, FALSE);
}

static char *
relative (TestPlace  *place,
          char      **paths)
{
  g_autofree char *joined = g_strjoinv ("|", paths);
  g_autoptr(GString) text = g_string_new (joined);
  g_autofree char *prefix = g_strconcat (place->operator_home, "/", NULL);

  g_string_replace (text, prefix, "", 0);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
test_trees (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapToolchain) toolchain = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *path = NULL;
  g_autofree char *trees = NULL;
  g_autofree char *directories = NULL;
  g_autofree char *secrets = NULL;
  g_autofree char *inside = NULL;

  test_place_init (&place);
  test_run_outside (place.operator_home, MAKE_TOOLS);
  path = make_path (&place);
  toolchain = _sbx_bwrap_toolchain_new (path, place.operator_home, NULL, &error);
  g_assert_no_error (error);

  trees = relative (&place, toolchain->trees);
  g_assert_cmpstr (trees, ==, ".nvm/versions/node/v1|.local/bin|.local/pipx/venvs/tool|.cargo/bin|"
                              "mods/bin|mods/node_modules/@a/b");
  directories = relative (&place, toolchain->directories);
  g_assert_cmpstr (directories, ==, ".nvm/versions/node/v1/bin|.local/bin|.cargo/bin|mods/bin");
  secrets = relative (&place, toolchain->secrets);
  g_assert_cmpstr (secrets, ==, ".nvm/versions/node/v1/.npmrc");

  inside = _sbx_bwrap_toolchain_get_path (toolchain);
  g_assert_true (g_str_has_prefix (inside, toolchain->directories[0]));
  g_assert_true (g_str_has_suffix (inside, ":/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:"
                                           "/usr/sbin:/sbin"));
}

static void
test_inside (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapToolchain) toolchain = NULL;
  g_autoptr(SbxBwrapPlan) plan = NULL;
  g_autoptr(SbxReach) asked = NULL;
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(SbxRoots) roots = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *path = NULL;
  g_autofree char *script = NULL;
  g_autofree char *output = NULL;
  g_autofree char *inside = NULL;
  SbxBwrapPlanInput input = { 0 };
  int status;

  test_place_init (&place);
  test_run_outside (place.operator_home, MAKE_TOOLS);
  path = make_path (&place);
  toolchain = _sbx_bwrap_toolchain_new (path, place.operator_home, NULL, &error);
  g_assert_no_error (error);

  asked = sbx_reach_new (place.work);
  reach = test_resolve (&place, asked, &roots, &error);
  g_assert_no_error (error);
  input.reach = reach;
  input.roots = roots;
  input.tmp_path = place.tmp;
  input.home_path = place.home;
  input.init_path = "/usr/bin/env";
  input.toolchain = toolchain;
  plan = _sbx_bwrap_plan_new (&input, NULL, &error);
  g_assert_no_error (error);

  inside = _sbx_bwrap_toolchain_get_path (toolchain);
  script = g_strdup_printf ("set -e; PATH=%s; node; npm; tool; own; cargo; ab; cd %s; "
                            "! cat .nvm/versions/node/v1/.npmrc; ! cat .cargo/credentials.toml; "
                            "! cat .ssh/id; ! touch .cargo/bin/x; ! ls project", inside,
                            place.operator_home);
  output = test_run_in (plan, place.work, script, &status);
  if (status != 0)
    g_error ("%s", output);
}

static void
test_hint (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autofree char *path = NULL;
  g_autofree char *cargo = NULL;
  g_autofree char *nothing = NULL;

  test_place_init (&place);
  test_run_outside (place.operator_home, MAKE_TOOLS "; cp .cargo/bin/cargo .cargo/bin/env");
  path = make_path (&place);
  cargo = _sbx_bwrap_toolchain_find ("cargo", path, place.operator_home);
  g_assert_true (g_str_has_suffix (cargo, "/.cargo/bin/cargo"));
  g_assert_null (_sbx_bwrap_toolchain_find ("env", path, place.operator_home));
  g_assert_null (_sbx_bwrap_toolchain_find ("no-such-thing", path, place.operator_home));
  g_assert_null (_sbx_bwrap_toolchain_find ("", path, place.operator_home));
  g_assert_null (_sbx_bwrap_toolchain_find ("./cargo", path, place.operator_home));
  g_assert_null (_sbx_bwrap_toolchain_find ("cargo", NULL, place.operator_home));

  nothing = _sbx_bwrap_toolchain_get_path (NULL);
  g_assert_true (g_str_has_prefix (nothing, "/usr/local/bin:"));
}

static void
test_too_many (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxBwrapToolchain) toolchain = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *path = NULL;

  test_place_init (&place);
  test_run_outside (place.operator_home, "mkdir bin; for i in $(seq 100); do mkdir -p t/$i; "
                                         "cp /bin/sh t/$i/p; ln -s ../t/$i/p bin/p$i; done");
  path = g_build_filename (place.operator_home, "bin", NULL);
  toolchain = _sbx_bwrap_toolchain_new (path, place.operator_home, NULL, &error);
  g_assert_null (toolchain);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/bwrap/toolchain/trees", test_trees);
  g_test_add_func ("/bwrap/toolchain/inside", test_inside);
  g_test_add_func ("/bwrap/toolchain/hint", test_hint);
  g_test_add_func ("/bwrap/toolchain/too-many", test_too_many);

  return g_test_run ();
}
