/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "resolver-util.h"

/* What no sandbox gets, rule by rule, by name and by symbolic link. The names of the tests are
 * those of the switches. */

static const char * const nothing[] = { NULL };

static void
ask_to_read (Fixture    *fixture,
             const char *path,
             const char *says)
{
  g_autofree char *json = g_strdup_printf ("{\"read\": [\"%s\"]}", path);
  g_autoptr(SbxReach) reach = NULL;

  if (says != NULL)
    fixture_refuses (fixture, json, SBX_ERROR_REFUSED, says);
  else
    reach = fixture_resolve (fixture, json);
}

static void
ask_to_write (Fixture    *fixture,
              const char *path,
              const char *says)
{
  g_autofree char *json = g_strdup_printf ("{\"write\": [\"%s\"]}", path);
  g_autoptr(SbxReach) reach = NULL;

  if (says != NULL)
    fixture_refuses (fixture, json, SBX_ERROR_REFUSED, says);
  else
    reach = fixture_resolve (fixture, json);
}

/* Below the home directory: a directory that ends with "/", or a file. */
static char *
make_place (Fixture    *fixture,
            const char *place)
{
  g_autofree char *script = NULL;
  char *path = g_strconcat ("@/home/", place, NULL);

  if (g_str_has_suffix (place, "/"))
    {
      path[strlen (path) - 1] = '\0';
      script = g_strdup_printf ("mkdir -p 'home/%s/inside'", place);
    }
  else
    script = g_strdup_printf ("mkdir -p \"$(dirname 'home/%s')\"; > 'home/%s'", place, place);

  fixture_run (fixture, script);
  return path;
}

static void
test_home (void)
{
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);
  g_object_set (fixture.resolver, "key-dirs", nothing, "start-dirs", nothing,
                "harness-states", nothing, "config-dirs", nothing, NULL);
  fixture_run (&fixture, "mkdir -p elsewhere; ln -s ../home elsewhere/link");
  fixture_set (&fixture, "machine-root", "@/elsewhere/data");

  ask_to_read (&fixture, "~", "read: |@/home” is or contains the home directory");
  ask_to_write (&fixture, "~", "write: |home directory");
  ask_to_read (&fixture, "~/notes/..", "home directory");
  ask_to_read (&fixture, "@/elsewhere/link", "@/home” is or contains the home directory");
  ask_to_read (&fixture, "@/elsewhere/link/notes", NULL);
  ask_to_write (&fixture, "~/notes", NULL);

  /* Whatever home is said to be, that of the account is one. */
  if (strcmp (g_get_home_dir (), "/") != 0 && g_file_test (g_get_home_dir (), G_FILE_TEST_IS_DIR))
    ask_to_read (&fixture, g_get_home_dir (), "home directory");
}

static void
test_run_root (void)
{
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);
  fixture_run (&fixture, "mkdir -p other/runs/one; ln -s runs/one other/link");
  fixture_set (&fixture, "run-root", "@/other/runs");

  ask_to_read (&fixture, "@/other/runs", "read: |exposes “@/other/runs”, the run root");
  ask_to_write (&fixture, "@/other/runs/one", "write: |the run root");
  ask_to_read (&fixture, "@/other/link", "@/other/runs/one” exposes");
  ask_to_read (&fixture, "@/other", NULL);
}

static void
test_states (void)
{
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);
  fixture_run (&fixture, "mkdir -p home/.pi/agent/x home/.pi/other home/.codex; "
                         "ln -s .codex home/link");

  ask_to_read (&fixture, "~/.claude", "coding agent|@/home/.claude”");
  ask_to_read (&fixture, "~/.claude/projects", "coding agent");
  ask_to_write (&fixture, "~/.codex", "coding agent");
  ask_to_read (&fixture, "~/link", "@/home/.codex” overlaps");
  ask_to_read (&fixture, "~/.pi", "coding agent|@/home/.pi/agent”");
  ask_to_write (&fixture, "~/.pi/agent/x", "coding agent");
  ask_to_read (&fixture, "~/.pi/other", NULL);
}

/* A variable that moves such a state adds a place, and takes none away. */
static void
test_states_moved (void)
{
  g_auto(Fixture) fixture = { 0 };
  g_autofree char *moved = NULL;

  fixture_init (&fixture, NULL);
  fixture_run (&fixture, "mkdir -p home/moved/x home/.cursor");
  moved = fixture_path (&fixture, "@/home/moved");
  g_object_set (fixture.resolver, "harness-states", NULL, NULL);

  ask_to_read (&fixture, "~/moved", NULL);
  g_setenv ("CURSOR_CONFIG_DIR", moved, TRUE);
  ask_to_read (&fixture, "~/moved/x", "coding agent|@/home/moved”");
  ask_to_read (&fixture, "~/.cursor", "coding agent");
  g_unsetenv ("CURSOR_CONFIG_DIR");
  ask_to_read (&fixture, "~/moved", NULL);
}

/* Places of keys are neither read nor written, nor is what contains them. */
static void
test_keys (void)
{
  static const char * const places[] = {
    ".ssh/", ".gnupg/", ".aws/", ".docker/", ".kube/", ".orbstack/ssh/", ".azure/",
    ".password-store/", ".netrc", ".npmrc", ".pypirc", ".git-credentials",
    ".cargo/credentials", ".cargo/credentials.toml", ".config/gh/", ".config/gcloud/",
    ".local/share/keyrings/", ".mozilla/", ".config/google-chrome/", ".config/chromium/",
    ".config/BraveSoftware/", ".thunderbird/", ".var/app/org.mozilla.firefox/", "snap/firefox/",
  };
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *path = make_place (&fixture, places[i]);
      g_autofree char *inside = g_build_filename (path, "inside", NULL);
      g_autofree char *parent = g_path_get_dirname (path);

      ask_to_read (&fixture, path, "read: |keys, tokens or passwords");
      ask_to_write (&fixture, path, "write: |keys, tokens or passwords");

      if (g_str_has_suffix (places[i], "/"))
        ask_to_read (&fixture, inside, "keys, tokens or passwords");
      if (strcmp (parent, "@/home") != 0)
        ask_to_read (&fixture, parent, "keys, tokens or passwords");
    }
}

/* All that a link stands for, and every place on the way. */
static void
test_keys_links (void)
{
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);
  fixture_run (&fixture, "ln -s ../.ssh home/notes/a; ln -s a home/notes/b; "
                         "mkdir -p on/the/way far/away/keys; ln -s ../../../far/away on/the/way/l; "
                         "ln -s ../on/the/way/l/keys home/.gnupg; mkdir far/near; > home/.ssh/id; "
                         "ln -s ../.ssh/id home/notes/file");

  ask_to_read (&fixture, "~/notes/a", "@/home/.ssh” overlaps “@/home/.ssh”");
  ask_to_read (&fixture, "~/notes/b", "keys");
  ask_to_read (&fixture, "~/notes/file", "@/home/.ssh/id” overlaps");
  ask_to_read (&fixture, "~/.gnupg", "@/far/away/keys");
  ask_to_read (&fixture, "@/far/away/keys", "keys");
  ask_to_read (&fixture, "@/far/away", "keys");
  ask_to_write (&fixture, "@/on/the/way", "keys|@/on/the/way/l”");
  ask_to_read (&fixture, "@/far/near", NULL);
}

/* From where something is started: to be read, but not to be written. */
static void
test_starts (void)
{
  static const char * const places[] = {
    ".config/systemd/", ".config/autostart/", ".config/environment.d/", ".local/bin/",
    ".local/share/systemd/", ".local/share/applications/", ".bashrc", ".profile", ".zshenv",
    ".gitconfig", ".vimrc", ".config/nvim/",
  };
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);
  g_object_set (fixture.resolver, "key-dirs", nothing, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *path = make_place (&fixture, places[i]);
      g_autofree char *inside = g_build_filename (path, "inside", NULL);
      g_autofree char *parent = g_path_get_dirname (path);

      ask_to_read (&fixture, path, NULL);
      ask_to_write (&fixture, path, "write: |programs are started outside");

      if (g_str_has_suffix (places[i], "/"))
        ask_to_write (&fixture, inside, "programs are started outside");
      if (strcmp (parent, "@/home") != 0)
        ask_to_write (&fixture, parent, "programs are started outside");
    }

  ask_to_read (&fixture, "~/.config", NULL);
  ask_to_write (&fixture, "~/.config", "@/home/.config” overlaps “@/home/.config/systemd”");
}

/* So are the directories that configuration comes from: a sandbox could add a provider or a profile
 * there. */
static void
test_config (void)
{
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);
  fixture_run (&fixture, "mkdir -p home/.config/libsbx/providers.d etc/libsbx etc/other");
  g_object_set (fixture.resolver, "key-dirs", nothing, "start-dirs", nothing, NULL);

  ask_to_read (&fixture, "~/.config", NULL);
  ask_to_write (&fixture, "~/.config", "looks for its configuration|@/home/.config/libsbx”");
  ask_to_write (&fixture, "~/.config/libsbx/providers.d", "looks for its configuration");

  fixture_set_list (&fixture, "config-dirs", "@/etc/libsbx");
  ask_to_read (&fixture, "@/etc/libsbx", NULL);
  ask_to_write (&fixture, "@/etc/libsbx", "looks for its configuration");
  ask_to_write (&fixture, "@/etc", "looks for its configuration");
  ask_to_write (&fixture, "@/etc/other", NULL);
}

static void
test_own (void)
{
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);
  ask_to_read (&fixture, "~/.awf", "sandboxes themselves are kept|@/home/.awf”");
  ask_to_write (&fixture, "~/.awf/sandboxes", "sandboxes themselves are kept");

  /* Elsewhere the home directory is no cover: what contains it is refused as well. */
  fixture_run (&fixture, "mkdir -p srv/data/libsbx/x srv/other; ln -s data srv/link");
  fixture_set (&fixture, "machine-root", "@/srv/link/libsbx");
  ask_to_read (&fixture, "@/srv/data/libsbx/x", "sandboxes themselves are kept");
  ask_to_read (&fixture, "@/srv/data", "sandboxes themselves are kept|@/srv/data/libsbx”");
  ask_to_write (&fixture, "@/srv", "sandboxes themselves are kept");
  ask_to_read (&fixture, "@/srv/other", NULL);

  /* Nor need it be there. */
  fixture_set (&fixture, "machine-root", "@/srv/other/not/yet");
  ask_to_write (&fixture, "@/srv/other", "sandboxes themselves are kept|@/srv/other/not/yet”");
}

static void
test_doors (void)
{
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);
  fixture_run (&fixture, "mkdir -p up/control/sbx-run/a1 up/control/awf-run up/control/mine; "
                         "ln -s control/sbx-run up/link");
  fixture_set (&fixture, "control-root", "@/up/control");

  ask_to_read (&fixture, "@/up", "its doors|@/up/control”");
  ask_to_read (&fixture, "@/up/control", "its doors");
  ask_to_read (&fixture, "@/up/control/sbx-run/a1", "its doors");
  ask_to_write (&fixture, "@/up/control/awf-run", "its doors");
  ask_to_read (&fixture, "@/up/link", "its doors");
  ask_to_write (&fixture, "@/up/control/mine", NULL);
}

/* What is to be kept is not taken for what it is not. */
static void
test_bad_roots (void)
{
  static const struct { const char *name; const char *path; int code; const char *says; } rows[] = {
    { "home", "relative", SBX_ERROR_INVALID, "“relative”|is relative" },
    { "home", "/nonexistent/home", SBX_ERROR_NOT_FOUND, "home: |/nonexistent/home" },
    { "run-root", "/nonexistent/runs", SBX_ERROR_NOT_FOUND, "run root: |/nonexistent/runs" },
    { "machine-root", "x", SBX_ERROR_INVALID, "is relative" },
    { "control-root", "x", SBX_ERROR_INVALID, "is relative" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto(Fixture) fixture = { 0 };

      fixture_init (&fixture, NULL);
      g_object_set (fixture.resolver, rows[i].name, rows[i].path, NULL);
      fixture_refuses (&fixture, "{}", rows[i].code, rows[i].says);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/roots/HOME/names", test_home);
  g_test_add_func ("/roots/RUN_ROOT/names", test_run_root);
  g_test_add_func ("/roots/STATES/names", test_states);
  g_test_add_func ("/roots/STATES/moved", test_states_moved);
  g_test_add_func ("/roots/KEYS/places", test_keys);
  g_test_add_func ("/roots/KEYS/links", test_keys_links);
  g_test_add_func ("/roots/F1/starts", test_starts);
  g_test_add_func ("/roots/F1/config", test_config);
  g_test_add_func ("/roots/OWN/names", test_own);
  g_test_add_func ("/roots/DOORS/names", test_doors);
  g_test_add_func ("/roots/bad", test_bad_roots);

  return g_test_run ();
}
