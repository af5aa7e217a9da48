/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-roots-guard-private.h"

#include "core/sbx-protection-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Sockets behind which somebody does, outside of the sandbox, whatever he is asked to. */

/* With "*" for anything, a "/" as well. The first one that matches is told. */
static const struct
{
  const char *pattern;
  const char *name;
} escapes[] = {
  { "*/docker*.sock*", N_("a container engine (Docker)") },
  { "*/podman*.sock", N_("a container engine (Podman)") },
  { "*/podman/*", N_("a container engine (Podman)") },
  { "*/containerd*.sock*", N_("a container engine (containerd)") },
  { "*/containerd/*", N_("a container engine (containerd)") },
  { "*/crio*.sock", N_("a container engine (CRI-O)") },
  { "*/crio/*", N_("a container engine (CRI-O)") },
  { "*/buildkit*.sock", N_("a builder of container images (BuildKit)") },
  { "/run/buildkit/*", N_("a builder of container images (BuildKit)") },
  { "*/lxd*/unix.socket*", N_("a container engine (LXD)") },
  { "/run/lxd*", N_("a container engine (LXD)") },
  { "*/incus*/unix.socket*", N_("a container engine (Incus)") },
  { "/run/incus*", N_("a container engine (Incus)") },
  { "*/libvirt*/*", N_("virtual machines (libvirt)") },
  { "*/virt*d-sock*", N_("virtual machines (libvirt)") },
  { "*/virt*d-admin-sock*", N_("virtual machines (libvirt)") },
  { "/run/snapd*", N_("the installer of packages (snapd)") },
  { "/run/dbus/*", N_("D-Bus") },
  { "*/dbus-*", N_("D-Bus") },
  { "*/system_bus_socket", N_("D-Bus") },
  { "/run/user/*/bus", N_("D-Bus") },
  { "*/at-spi/*", N_("D-Bus") },
  { "/run/systemd/*", N_("systemd") },
  { "/run/user/*/systemd/*", N_("systemd") },
  { "/run/udev/*", N_("the manager of devices (udev)") },
  { "*/.X11-unix/*", N_("the display (X11)") },
  { "/run/user/*/wayland-*", N_("the display (Wayland)") },
  { "*/wayland-?", N_("the display (Wayland)") },
  { "/run/user/*/sway-ipc*", N_("the window manager") },
  { "/run/user/*/i3/*", N_("the window manager") },
  { "/run/user/*/hypr/*", N_("the window manager") },
  { "*/pipewire-*", N_("sound and cameras (PipeWire)") },
  { "*/pulse/native", N_("sound (PulseAudio)") },
  { "*/pulse/*", N_("sound (PulseAudio)") },
  { "*/ssh-*/agent.*", N_("the agent of ssh, with its keys") },
  { "*ssh-agent*", N_("the agent of ssh, with its keys") },
  { "*ssh_agent*", N_("the agent of ssh, with its keys") },
  { "/run/user/*/gcr/*", N_("the agent of ssh, with its keys") },
  { "*/S.gpg-agent*", N_("the agent of GnuPG, with its keys") },
  { "*/S.scdaemon*", N_("the agent of GnuPG, with its keys") },
  { "*/S.keyboxd*", N_("the agent of GnuPG, with its keys") },
  { "*/gnupg/*", N_("the agent of GnuPG, with its keys") },
  { "*/keyring/*", N_("the keyring") },
  { "*/kwallet*", N_("the keyring") },
  { "*/1password/agent.sock", N_("the keyring") },
  { "*/tmux-*/*", N_("a terminal (tmux)") },
  { "*/screen/S-*", N_("a terminal (screen)") },
  { "*/.screen/*", N_("a terminal (screen)") },
  { "*/emacs*/server", N_("an editor (Emacs)") },
  { "*/nvim.*", N_("an editor (Neovim)") },
  { "*/vscode-*.sock", N_("an editor (VS Code)") },
};

/* Where they usually are, to find them under other names. */
static const char * const places[] = {
  "/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
  "/run/crio/crio.sock", "/run/buildkit/buildkitd.sock", "/run/libvirt/libvirt-sock",
  "/run/snapd.socket", "/run/dbus/system_bus_socket", "/run/systemd/private",
  "/run/systemd/io.systemd.Manager", "/var/lib/lxd/unix.socket",
  "/var/snap/lxd/common/lxd/unix.socket", "/var/lib/incus/unix.socket",
};

/* The same in the user's runtime directory. */
static const char * const runtime_places[] = {
  "bus", "systemd/private", "docker.sock", "podman/podman.sock", "wayland-0", "wayland-1",
  "pipewire-0", "pulse/native", "gnupg/S.gpg-agent", "gnupg/S.gpg-agent.ssh",
  "keyring/control", "keyring/ssh", "gcr/ssh",
};

/* What a variable of the session may hold before the path. */
static const struct
{
  const char *variable;
  const char *prefix;
} variables[] = {
  { "SSH_AUTH_SOCK", "" },
  { "DBUS_SESSION_BUS_ADDRESS", "unix:path=" },
  { "DOCKER_HOST", "unix://" },
  { "CONTAINER_HOST", "unix://" },
  { "SWAYSOCK", "" },
  { "I3SOCK", "" },
  { "NVIM", "" },
};

char **
_sbx_roots_list_escapes (void)
{
  GPtrArray *paths = g_ptr_array_new ();
  const char *runtime = g_getenv ("XDG_RUNTIME_DIR");

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    g_ptr_array_add (paths, g_strdup (places[i]));

  if (runtime != NULL && g_path_is_absolute (runtime))
    for (gsize i = 0; i < G_N_ELEMENTS (runtime_places); i++)
      g_ptr_array_add (paths, g_build_filename (runtime, runtime_places[i], NULL));

  for (gsize i = 0; i < G_N_ELEMENTS (variables); i++)
    {
      const char *value = g_getenv (variables[i].variable);

      if (value == NULL || !g_str_has_prefix (value, variables[i].prefix))
        continue;

      value += strlen (variables[i].prefix);
      if (value[0] == '/')
        g_ptr_array_add (paths, g_strndup (value, strcspn (value, ",;")));
    }

  g_ptr_array_add (paths, NULL);

  return (char **) g_ptr_array_free (paths, FALSE);
}

const char *
_sbx_roots_name_escape (const char *path)
{
  for (gsize i = 0; i < G_N_ELEMENTS (escapes); i++)
    if (g_pattern_match_simple (escapes[i].pattern, path))
      return _(escapes[i].name);

  return NULL;
}

const char *
_sbx_roots_find_escape (const SbxRoots     *self,
                        const char         *path,
                        const struct stat  *st)
{
  const char *name = _sbx_roots_name_escape (path);

  for (guint i = 0; name == NULL && i < self->guarded->len; i++)
    {
      const SbxGuarded *guarded = g_ptr_array_index (self->guarded, i);

      if (guarded->rule != SBX_RULE_ESCAPE ||
          (strcmp (guarded->path, path) != 0 &&
           !(SBX_PROTECTS (F4) && guarded->exists && guarded->id.device == st->st_dev &&
             guarded->id.inode == st->st_ino)))
        continue;

      name = _sbx_roots_name_escape (guarded->path);
      if (name == NULL)
        name = _("an agent or a bus of your session");
    }

  return name;
}
