/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/sbx-reach-private.h"
#include "sbx.h"
#include "test-util.h"

G_BEGIN_DECLS

/* An operator's home with a repository and more in it, and a resolver for it. Below, "@" at the
 * start of a path stands for the root of all that. */
typedef struct
{
  char        *root;
  char        *home;
  SbxResolver *resolver;
} Fixture;

#define MAKE_FIXTURE \
  "git_dir () { mkdir -p $1/objects $1/refs; echo 'ref: refs/heads/main' > $1/HEAD; }\n" \
  "mkdir -p home/repo/src/deep home/repo/srcs home/notes home/.ssh home/.awf/sandboxes\n" \
  "mkdir -p home/.orbstack/ssh home/.claude/projects home/scratch home/feature runs/a-run\n" \
  "git_dir home/.git; git_dir home/repo/.git\n" \
  "entry=home/repo/.git/worktrees/feature; mkdir -p $entry; cp home/repo/.git/HEAD $entry/\n" \
  "echo gitdir: $PWD/$entry > home/feature/.git\n" \
  "echo ../.. > $entry/commondir; echo $PWD/home/feature/.git > $entry/gitdir\n" \
  "mkdir -p crafted/points-home crafted/points-runs crafted/points-root crafted/worktrees/entry\n" \
  "echo gitdir: $PWD/home > crafted/points-home/.git\n" \
  "echo $PWD/crafted/points-home/.git > home/gitdir\n" \
  "echo gitdir: $PWD/runs > crafted/points-runs/.git\n" \
  "echo $PWD/crafted/points-runs/.git > runs/gitdir\n" \
  "echo gitdir: $PWD/crafted/worktrees/entry > crafted/points-root/.git\n" \
  "echo ../../../../../../../../../.. > crafted/worktrees/entry/commondir\n" \
  "echo $PWD/crafted/points-root/.git > crafted/worktrees/entry/gitdir\n"

/* What the test itself runs: it must work. */
static inline void
fixture_run (Fixture    *self,
             const char *script)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_nonnull (self->root);
  g_subprocess_launcher_set_cwd (launcher, self->root);
  process = g_subprocess_launcher_spawn (launcher, &error, "sh", "-ec", script, NULL);
  g_assert_no_error (error);

  if (!g_subprocess_wait_check (process, NULL, &error))
    g_error ("“%s”: %s", script, error->message);
}

static inline char *
fixture_path (Fixture    *self,
              const char *path)
{
  return path[0] == '@' ? g_strconcat (self->root, path + 1, NULL) : g_strdup (path);
}

static inline void
fixture_init (Fixture        *self,
              SbxProviderSet *providers)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *made = g_dir_make_tmp ("sbx-resolver-XXXXXX", &error);
  g_autofree char *runs = NULL;
  g_autofree char *machine = NULL;
  g_autofree char *claude = NULL;
  g_autofree char *codex = NULL;
  g_autofree char *pi = NULL;

  g_assert_no_error (error);
  self->root = realpath (made, NULL);
  self->home = g_build_filename (self->root, "home", NULL);
  fixture_run (self, MAKE_FIXTURE);

  runs = fixture_path (self, "@/runs");
  machine = fixture_path (self, "@/home/.awf");
  claude = fixture_path (self, "@/home/.claude");
  codex = fixture_path (self, "@/home/.codex");
  pi = fixture_path (self, "@/home/.pi/agent");

  self->resolver = sbx_resolver_new (providers);
  g_object_set (self->resolver,
                "home", self->home,
                "run-root", runs,
                "machine-root", machine,
                "harness-states", (const char *[]) { claude, codex, pi, NULL },
                NULL);
}

/* One that was never filled has nothing to remove: a working directory of NULL would be the
 * caller's own. */
static inline void
fixture_clear (Fixture *self)
{
  g_autoptr(GSubprocess) chmod = NULL;
  g_autoptr(GSubprocess) rm = NULL;

  if (self->root == NULL)
    return;

  g_assert_nonnull (strstr (self->root, "/sbx-resolver-"));
  chmod = g_subprocess_new (G_SUBPROCESS_FLAGS_STDERR_SILENCE, NULL, "chmod", "-R", "u+rwx", "--",
                            self->root, NULL);
  g_subprocess_wait (chmod, NULL, NULL);
  rm = g_subprocess_new (G_SUBPROCESS_FLAGS_NONE, NULL, "rm", "-rf", "--one-file-system", "--",
                         self->root, NULL);
  g_assert_true (g_subprocess_wait_check (rm, NULL, NULL));
  g_clear_object (&self->resolver);
  free (self->root);
  g_free (self->home);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Fixture, fixture_clear)

static inline void
fixture_set (Fixture    *self,
             const char *property,
             const char *path)
{
  g_autofree char *full = fixture_path (self, path);

  g_object_set (self->resolver, property, full, NULL);
}

static inline void
fixture_set_list (Fixture    *self,
                  const char *property,
                  const char *path)
{
  g_autofree char *full = fixture_path (self, path);

  g_object_set (self->resolver, property, (const char *[]) { full, NULL }, NULL);
}

/* "@" stands for the root, as an own word in JSON. */
static inline SbxSandboxSpec *
fixture_spec (Fixture    *self,
              const char *json)
{
  g_auto(GStrv) parts = g_strsplit (json, "@", -1);
  g_autofree char *text = g_strjoinv (self->root, parts);
  g_autoptr(GBytes) bytes = g_bytes_new (text, strlen (text));
  g_autoptr(GError) error = NULL;
  SbxSandboxSpec *spec = sbx_sandbox_spec_new_from_json (bytes, &error);

  g_assert_no_error (error);
  return spec;
}

static inline SbxReach *
fixture_try (Fixture          *self,
             const char       *json,
             SbxResolveFlags   flags,
             GError          **error)
{
  g_autoptr(SbxSandboxSpec) spec = fixture_spec (self, json);
  g_autofree char *cwd = fixture_path (self, "@/home/repo");

  return sbx_resolver_resolve (self->resolver, spec, cwd, flags, NULL, error);
}

static inline SbxReach *
fixture_resolve (Fixture    *self,
                 const char *json)
{
  g_autoptr(GError) error = NULL;
  SbxReach *reach = fixture_try (self, json, SBX_RESOLVE_NONE, &error);

  g_assert_no_error (error);
  g_assert_true (sbx_reach_is_resolved (reach));
  return reach;
}

/* One path to read, in the repository. */
static inline SbxReach *
fixture_ask (Fixture    *self,
             const char *read)
{
  g_autofree char *cwd = fixture_path (self, "@/home/repo");
  g_autofree char *path = fixture_path (self, read);
  SbxReach *asked = sbx_reach_new (cwd);

  sbx_reach_add_read (asked, path);

  return asked;
}

/* The message must have each of @says, separated by "|". */
static inline void
fixture_assert_error (Fixture      *self,
                      const char   *asked,
                      SbxReach     *reach,
                      const GError *error,
                      int           code,
                      const char   *says)
{
  g_auto(GStrv) words = NULL;
  g_autofree char *all = NULL;
  g_auto(GStrv) parts = g_strsplit (says, "@", -1);

  if (reach != NULL)
    g_error ("%s is not refused", asked);

  g_assert_error (error, SBX_ERROR, code);
  g_test_message ("%s", error->message);

  all = g_strjoinv (self->root, parts);
  words = g_strsplit (all, "|", -1);
  for (guint i = 0; words[i] != NULL; i++)
    if (strstr (error->message, words[i]) == NULL)
      g_error ("%s: “%s” does not say “%s”", asked, error->message, words[i]);
}

static inline void
fixture_refuses (Fixture    *self,
                 const char *json,
                 int         code,
                 const char *says)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxReach) reach = fixture_try (self, json, SBX_RESOLVE_NONE, &error);

  fixture_assert_error (self, json, reach, error, code, says);
}

static inline void
fixture_reach_refuses (Fixture    *self,
                       const char *read,
                       int         code,
                       const char *says)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxReach) asked = fixture_ask (self, read);
  g_autoptr(SbxReach) reach = sbx_resolver_resolve_reach (self->resolver, asked, NULL, &error);

  fixture_assert_error (self, read, reach, error, code, says);
}

/* The entries of one kind in order, separated by blanks; "+" after one that can be written. */
static inline char *
fixture_list (Fixture      *self,
              SbxReach     *reach,
              SbxReachKind  kind)
{
  GListModel *entries = sbx_reach_get_entries (reach);
  GString *list = g_string_new (NULL);

  for (guint i = 0; i < g_list_model_get_n_items (entries); i++)
    {
      g_autoptr(SbxReachEntry) entry = g_list_model_get_item (entries, i);
      const char *path = sbx_reach_entry_get_path (entry);

      if (sbx_reach_entry_get_kind (entry) != kind)
        continue;

      g_string_append (list, list->len > 0 ? " " : "");
      if (path != NULL && g_str_has_prefix (path, self->root))
        g_string_append_printf (list, "@%s", path + strlen (self->root));
      else
        g_string_append (list, path != NULL ? path : sbx_reach_entry_get_domain (entry));
      g_string_append (list, sbx_reach_entry_get_writable (entry) ? "+" : "");
    }

  return g_string_free (list, FALSE);
}

#define fixture_assert(self, reach, kind, expected) \
  G_STMT_START { \
    g_autofree char *fixture_listed = fixture_list (self, reach, kind); \
    g_assert_cmpstr (fixture_listed, ==, expected); \
  } G_STMT_END

/* A socket that listens at a path, for as long as the descriptor is open. */
static inline int
fixture_listen (Fixture    *self,
                const char *path)
{
  g_autofree char *full = fixture_path (self, path);
  g_autofree char *parent = g_path_get_dirname (full);
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  const int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  g_assert_cmpint (g_mkdir_with_parents (parent, 0755), ==, 0);
  g_assert_cmpint (strlen (full), <, sizeof address.sun_path);
  memcpy (address.sun_path, full, strlen (full));
  g_assert_cmpint (bind (fd, (const struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (fd, 1), ==, 0);

  return fd;
}

G_END_DECLS
