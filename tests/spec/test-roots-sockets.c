/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "resolver-util.h"

#include <errno.h>

/* Sockets, and which of them are ways out. */

#define ALLOWED(path) \
  "{\"sockets\": [\"" path "\"], \"bwrap\": {\"allowSockets\": [\"@/eng/docker.sock\"]}}"

static void
link_to (Fixture    *fixture,
         const char *from,
         const char *to)
{
  g_autofree char *source = fixture_path (fixture, from);
  g_autofree char *target = fixture_path (fixture, to);

  if (link (source, target) < 0)
    g_error ("%s: %s", target, g_strerror (errno));
}

static void
test_known (void)
{
  static const char * const names[] = {
    "eng/docker.sock", "podman/podman.sock", "containerd/containerd.sock", "lxd/unix.socket",
    "libvirt/libvirt-sock", "dbus-AbCdEf", ".X11-unix/X0", "pipewire-0", "pulse/native",
    "ssh-XXXX/agent.17", "gnupg/S.gpg-agent", "keyring/control", "tmux-0/default",
  };
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strconcat ("@/", names[i], NULL);
      g_autofree char *json = g_strdup_printf ("{\"sockets\": [\"%s\"]}", path);
      g_autofree char *says = g_strdup_printf ("sockets: |%s” leads to |allowSockets", path);
      const int fd = fixture_listen (&fixture, path);

      fixture_refuses (&fixture, json, SBX_ERROR_REFUSED, says);
      close (fd);
    }
}

/* By whatever path it is named, the real one counts, for being refused and for being allowed. */
static void
test_links (void)
{
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxReach) itself = NULL;
  g_autoptr(SbxReach) linked = NULL;
  int fd;

  fixture_init (&fixture, NULL);
  fd = fixture_listen (&fixture, "@/eng/docker.sock");
  fixture_run (&fixture, "ln -s ../../eng/docker.sock home/repo/link; "
                         "ln -s ../../eng home/repo/dir");

  fixture_refuses (&fixture, "{\"sockets\": [\"link\"]}", SBX_ERROR_REFUSED,
                   "@/eng/docker.sock” leads to a container engine");
  fixture_refuses (&fixture, "{\"sockets\": [\"dir/docker.sock\"]}", SBX_ERROR_REFUSED,
                   "container engine");
  fixture_refuses (&fixture,
                   "{\"sockets\": [\"link\"], \"bwrap\": {\"allowSockets\": "
                   "[\"@/home/repo/link\"]}}", SBX_ERROR_REFUSED, "container engine");

  itself = fixture_resolve (&fixture, ALLOWED ("@/eng/docker.sock"));
  fixture_assert (&fixture, itself, SBX_REACH_SOCKET, "@/eng/docker.sock");
  linked = fixture_resolve (&fixture, ALLOWED ("link"));
  fixture_assert (&fixture, linked, SBX_REACH_SOCKET, "@/eng/docker.sock");
  close (fd);
}

/* What this session's variables lead to is known by what it is, whatever its name. */
static void
test_inode (void)
{
  g_auto(Fixture) fixture = { 0 };
  g_autofree char *agent = NULL;
  g_autoptr(SbxReach) reach = NULL;
  int fd;
  int other;

  fixture_init (&fixture, NULL);
  agent = fixture_path (&fixture, "@/plain/a");
  fd = fixture_listen (&fixture, "@/plain/a");
  other = fixture_listen (&fixture, "@/plain/b");
  link_to (&fixture, "@/plain/a", "@/home/repo/innocent");
  g_setenv ("SSH_AUTH_SOCK", agent, TRUE);

  fixture_refuses (&fixture, "{\"sockets\": [\"@/plain/a\"]}", SBX_ERROR_REFUSED,
                   "@/plain/a” leads to an agent or a bus of your session");
  fixture_refuses (&fixture, "{\"sockets\": [\"innocent\"]}", SBX_ERROR_REFUSED,
                   "@/home/repo/innocent” leads to an agent");
  reach = fixture_resolve (&fixture, "{\"sockets\": [\"@/plain/b\"]}");
  fixture_assert (&fixture, reach, SBX_REACH_SOCKET, "@/plain/b");

  g_unsetenv ("SSH_AUTH_SOCK");
  close (fd);
  close (other);
}

/* The other rules hold for sockets too. */
static void
test_forbidden (void)
{
  static const struct { const char *path; const char *says; } rows[] = {
    { "@/home/.ssh/s", "keys" },
    { "@/home/.claude/s", "coding agent" },
    { "@/home/.awf/s", "sandboxes themselves are kept" },
    { "@/runs/s", "the run root" },
    { "@/control/s", "its doors" },
    { "@/control/sbx-x/s", "its doors" },
  };
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxReach) reach = NULL;
  int fd;

  fixture_init (&fixture, NULL);
  fixture_run (&fixture, "mkdir -p control/sbx-x");
  fixture_set (&fixture, "control-root", "@/control");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *json = g_strdup_printf ("{\"sockets\": [\"%s\"]}", rows[i].path);

      fd = fixture_listen (&fixture, rows[i].path);
      fixture_refuses (&fixture, json, SBX_ERROR_REFUSED, rows[i].says);
      close (fd);
    }

  fd = fixture_listen (&fixture, "@/control/mine/s");
  reach = fixture_resolve (&fixture, "{\"sockets\": [\"@/control/mine/s\"]}");
  fixture_assert (&fixture, reach, SBX_REACH_SOCKET, "@/control/mine/s");
  close (fd);
}

static void
test_kinds (void)
{
  g_auto(Fixture) fixture = { 0 };
  g_autoptr(SbxReach) reach = NULL;
  int fd;

  fixture_init (&fixture, NULL);
  fd = fixture_listen (&fixture, "@/home/notes/s");
  fixture_run (&fixture, "> home/notes/file; ln -s s home/notes/link");

  fixture_refuses (&fixture, "{\"sockets\": [\"~/notes/file\"]}", SBX_ERROR_INVALID,
                   "sockets: |is not a socket");
  fixture_refuses (&fixture, "{\"sockets\": [\"~/notes\"]}", SBX_ERROR_INVALID,
                   "is not a socket");
  fixture_refuses (&fixture, "{\"sockets\": [\"~/notes/none\"]}", SBX_ERROR_NOT_FOUND,
                   "sockets: |~/notes/none|does not exist");
  fixture_refuses (&fixture, "{\"read\": [\"~/notes/s\"]}", SBX_ERROR_INVALID,
                   "read: |but a socket|“sockets”");

  reach = fixture_resolve (&fixture, "{\"sockets\": [\"~/notes/s\", \"~/notes/link\"]}");
  fixture_assert (&fixture, reach, SBX_REACH_SOCKET, "@/home/notes/s");
  close (fd);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/roots/E12/known", test_known);
  g_test_add_func ("/roots/E12/links", test_links);
  g_test_add_func ("/roots/F4/inode", test_inode);
  g_test_add_func ("/roots/sockets/forbidden", test_forbidden);
  g_test_add_func ("/roots/sockets/kinds", test_kinds);

  return g_test_run ();
}
