/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-roots-guard-private.h"

/* Where people, desktops and agents keep what is not for sandboxes. */

/* Keys, tokens and passwords; all below a home directory. */
static const char * const key_places[] = {
  ".ssh", ".gnupg", ".aws", ".docker", ".kube", ".orbstack/ssh", ".azure", ".password-store",
  ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".vault-token",
  ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
  ".terraform.d/credentials.tfrc.json",
  ".config/gh", ".config/gcloud", ".config/hub", ".config/glab-cli", ".config/rclone",
  ".config/git/credentials", ".config/containers/auth.json",
  ".config/op", ".config/1Password", ".config/Bitwarden", ".config/keepassxc",
  ".local/share/keyrings", ".local/share/kwalletd",

  /* Browsers: a cookie is as good as a password. */
  ".mozilla", ".config/mozilla", ".thunderbird", ".librewolf", ".waterfox", ".zen",
  ".tor-browser", ".local/share/torbrowser", ".local/share/epiphany", ".config/epiphany",
  ".local/share/qutebrowser", ".local/share/falkon", ".config/falkon",
  ".config/google-chrome", ".config/google-chrome-beta", ".config/google-chrome-unstable",
  ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/opera",
  ".config/vivaldi", ".config/vivaldi-snapshot", ".config/yandex-browser",
  ".var/app/org.mozilla.firefox", ".var/app/org.mozilla.Thunderbird",
  ".var/app/org.mozilla.thunderbird", ".var/app/io.gitlab.librewolf-community",
  ".var/app/app.zen_browser.zen", ".var/app/net.waterfox.waterfox",
  ".var/app/com.google.Chrome", ".var/app/com.google.ChromeDev",
  ".var/app/org.chromium.Chromium", ".var/app/io.github.ungoogled_software.ungoogled_chromium",
  ".var/app/com.brave.Browser", ".var/app/com.microsoft.Edge", ".var/app/com.opera.Opera",
  ".var/app/com.vivaldi.Vivaldi", ".var/app/org.gnome.Epiphany",
  ".var/app/org.torproject.torbrowser-launcher",
  ".var/app/com.github.micahflee.torbrowser-launcher",
  "snap/firefox", "snap/thunderbird", "snap/chromium", "snap/brave", "snap/opera", "snap/vivaldi",
};

/* What the desktop, a shell, git or an editor runs outside; all below a home directory. */
static const char * const start_places[] = {
  ".config/systemd", ".config/autostart", ".config/environment.d", ".config/plasma-workspace",
  ".local/bin", "bin", ".cargo/bin", ".local/share/systemd", ".local/share/applications",
  ".local/share/dbus-1", ".local/share/gnome-shell",
  ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
  ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc",
  ".config/fish", ".config/nushell", ".config/zsh",
  ".xprofile", ".xsessionrc", ".xsession", ".xinitrc", ".pam_environment",
  ".gitconfig", ".config/git", ".vimrc", ".vim", ".config/nvim", ".emacs", ".emacs.d",
};

/* The state of coding agents, and the variable that moves it. */
static const struct
{
  const char *place;
  const char *variable;
} harness_places[] = {
  { ".claude", "CLAUDE_CONFIG_DIR" },
  { ".claude.json", NULL },
  { ".codex", "CODEX_HOME" },
  { ".pi/agent", "PI_CODING_AGENT_DIR" },
  { ".cursor", "CURSOR_CONFIG_DIR" },
};

static char **
end_list (GPtrArray *paths)
{
  g_ptr_array_add (paths, NULL);

  return (char **) g_ptr_array_free (paths, FALSE);
}

static char **
list_below (const char         *home,
            const char * const *places,
            gsize               n_places)
{
  GPtrArray *paths = g_ptr_array_new ();

  for (gsize i = 0; i < n_places; i++)
    g_ptr_array_add (paths, g_build_filename (home, places[i], NULL));

  return end_list (paths);
}

char **
_sbx_roots_list_keys (const char *home)
{
  return list_below (home, key_places, G_N_ELEMENTS (key_places));
}

char **
_sbx_roots_list_starts (const char *home)
{
  return list_below (home, start_places, G_N_ELEMENTS (start_places));
}

char **
_sbx_roots_list_harnesses (const char *home)
{
  GPtrArray *paths = g_ptr_array_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (harness_places); i++)
    g_ptr_array_add (paths, g_build_filename (home, harness_places[i].place, NULL));

  return end_list (paths);
}

/* A state that was moved leaves the old place behind, with what is in it: both count. */
static char **
list_harness_states (const char *home)
{
  GPtrArray *paths = g_ptr_array_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (harness_places); i++)
    {
      const char *variable = harness_places[i].variable;
      const char *moved = variable != NULL ? g_getenv (variable) : NULL;

      g_ptr_array_add (paths, g_build_filename (home, harness_places[i].place, NULL));
      if (moved != NULL && g_path_is_absolute (moved))
        g_ptr_array_add (paths, g_strdup (moved));
    }

  return end_list (paths);
}

/* What is not absolute would mean something else in each working directory: it is never looked
 * at. */
static void
add_own (GPtrArray  *paths,
         const char *parent)
{
  if (parent != NULL && g_path_is_absolute (parent))
    g_ptr_array_add (paths, g_build_filename (parent, "libsbx", NULL));
}

static void
add_search_path (GPtrArray  *paths,
                 const char *variable,
                 const char *fallback)
{
  const char *joined = g_getenv (variable);
  g_auto(GStrv) parts = NULL;

  parts = g_strsplit (joined != NULL && *joined != '\0' ? joined : fallback, ":", -1);

  for (gsize i = 0; parts[i] != NULL; i++)
    add_own (paths, parts[i]);
}

static void
add_system_dirs (GPtrArray          *paths,
                 const char * const *parents)
{
  for (gsize i = 0; parents[i] != NULL; i++)
    add_own (paths, parents[i]);
}

/* Profiles and providers are looked for in all of these: some where the environment says, and some
 * where GLib found it saying when it was first asked. */
static char **
list_config_dirs (const SbxRoots *self)
{
  GPtrArray *paths = g_ptr_array_new ();

  g_ptr_array_add (paths, g_build_filename (self->home, ".config", "libsbx", NULL));
  add_own (paths, g_getenv ("XDG_CONFIG_HOME"));
  add_own (paths, g_get_user_config_dir ());
  add_own (paths, g_getenv ("XDG_DATA_HOME"));
  add_own (paths, g_get_user_data_dir ());
  add_search_path (paths, "XDG_CONFIG_DIRS", "/etc/xdg");
  add_system_dirs (paths, g_get_system_config_dirs ());
  add_search_path (paths, "XDG_DATA_DIRS", "/usr/local/share/:/usr/share/");
  add_system_dirs (paths, g_get_system_data_dirs ());

  return end_list (paths);
}

static char *
dup_machine_root (const SbxRoots *self)
{
  const char *data = g_get_user_data_dir ();

  return g_path_is_absolute (data) ? g_build_filename (data, "libsbx", NULL)
                                   : g_build_filename (self->home, ".local/share/libsbx", NULL);
}

static char *
dup_control_root (void)
{
  const char *runtime = g_getenv ("XDG_RUNTIME_DIR");

  return runtime != NULL && g_path_is_absolute (runtime)
           ? g_build_filename (runtime, "libsbx", NULL) : NULL;
}

void
_sbx_roots_fill (SbxRoots *self)
{
  if (self->home == NULL)
    {
      const char *home = g_get_home_dir ();

      self->home_is_default = TRUE;
      self->home = g_strdup (home != NULL && g_path_is_absolute (home) ? home : "/");
    }

  if (self->harness_states == NULL)
    self->harness_states = list_harness_states (self->home);
  if (self->key_dirs == NULL)
    self->key_dirs = _sbx_roots_list_keys (self->home);
  if (self->start_dirs == NULL)
    self->start_dirs = _sbx_roots_list_starts (self->home);
  if (self->machine_root == NULL)
    self->machine_root = dup_machine_root (self);
  if (self->config_dirs == NULL)
    self->config_dirs = list_config_dirs (self);
  if (self->escape_sockets == NULL)
    self->escape_sockets = _sbx_roots_list_escapes ();
  if (self->control_root == NULL)
    self->control_root = dup_control_root ();
}
