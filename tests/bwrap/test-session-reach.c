/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "reach-util.h"

/* What a real sandbox can reach, and what it cannot, however it tries. */

/* The deepest path wins, at any depth. */
static void
test_nested (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *read = g_build_filename (place->project, "w/r", NULL);
  g_autofree char *write = g_build_filename (place->project, "w/r/w", NULL);
  g_autofree char *deep = g_build_filename (place->project, "w", NULL);
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
  g_autoptr(SbxSession) session = NULL;

  outside (place, "mkdir -p w/r/w/x w/o; echo r > w/r/file");
  sbx_reach_add_write (reach, write);
  sbx_reach_add_read (reach, read);
  sbx_reach_add_write (reach, deep);
  session = must_open (place, reach);

  inside_works (session, "touch w/r/w/x/made w/made; cat w/r/file");
  inside_fails (session, "touch made");
  inside_fails (session, "touch w/r/made");
  inside_fails (session, "echo x > w/r/file");

  /* Nor by way of a directory that may be written. */
  inside_fails (session, "mv w/r w/r2");
  inside_fails (session, "ln w/r/file w/link && echo x > w/link");
  close_session (session);
  outside (place, "test -f w/r/w/x/made; test -f w/made; test \"$(cat w/r/file)\" = r; "
                  "test ! -e made");
}

/* A read path below a write path stays where it is. */
static void
test_read_is_pinned (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *read = g_build_filename (place->project, "a/b/kept", NULL);
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
  g_autoptr(SbxSession) session = NULL;

  outside (place, "mkdir -p a/b; echo mine > a/b/kept");
  sbx_reach_add_write (reach, place->project);
  sbx_reach_add_read (reach, read);
  session = must_open (place, reach);

  inside_fails (session, "echo x > a/b/kept");
  inside_fails (session, "rm -f a/b/kept");
  inside_fails (session, "mv a/b a/c");
  inside_fails (session, "mv a c");
  inside_works (session, "touch a/b/beside a/beside; mv a/beside a/x");
  close_session (session);
  outside (place, "test \"$(cat a/b/kept)\" = mine; test -f a/b/beside");
}

static void
test_hidden (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *run_root = g_build_filename (place->project, "deep/.sbx/runs", NULL);
  g_autoptr(SbxResolver) resolver = sbx_resolver_new (NULL);
  g_autoptr(SbxReach) asked = sbx_reach_new (place->project);
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  outside (place, "mkdir -p deep/.sbx/runs/one; echo secret > deep/.sbx/runs/one/secret");
  g_object_set (resolver, "run-root", run_root, "machine-root", place->data, NULL);
  sbx_reach_add_write (asked, place->project);
  reach = sbx_resolver_resolve_reach (resolver, asked, NULL, &error);
  g_assert_no_error (error);
  session = must_open (place, reach);

  inside_works (session, "test -d deep/.sbx/runs; test -z \"$(ls -A deep/.sbx/runs)\"");
  inside_fails (session, "touch deep/.sbx/runs/x");
  inside_fails (session, "mkdir deep/.sbx/runs/x");
  inside_fails (session, "chmod u+w deep/.sbx/runs && touch deep/.sbx/runs/x");
  inside_fails (session, "rmdir deep/.sbx/runs");
  inside_fails (session, "mv deep/.sbx/runs deep/.sbx/r");
  inside_fails (session, "mv deep/.sbx deep/s");
  inside_fails (session, "mv deep d");
  inside_works (session, "touch deep/.sbx/beside");
  close_session (session);
  outside (place, "test \"$(cat deep/.sbx/runs/one/secret)\" = secret; test -f deep/.sbx/beside; "
                  "test \"$(ls -A deep/.sbx/runs)\" = one");
}

static void
test_sockets (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *named = g_build_filename (place->project, "s/named", NULL);
  g_autofree char *other = g_build_filename (place->project, "s/other", NULL);
  g_autofree char *renamed = g_build_filename (place->project, "s/renamed", NULL);
  g_autofree char *first = g_build_filename (place->project, "s/first", NULL);
  g_autofree char *beside = g_build_filename (place->root, "beside", NULL);
  g_autofree char *far = g_build_filename (place->root, "far/away/socket", NULL);
  g_autofree char *abstract = g_strdup_printf ("@sbx-reach-%d", getpid ());
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
  g_autoptr(SbxSession) session = NULL;
  int fds[6];

  outside (place, "mkdir -p s ../far/away");
  fds[0] = listen_at (named);
  fds[1] = listen_at (other);
  fds[2] = listen_at (first);
  g_assert_cmpint (rename (first, renamed), ==, 0);
  fds[3] = listen_at (beside);
  fds[4] = listen_at (far);
  fds[5] = listen_at (abstract);

  sbx_reach_add_write (reach, place->project);
  sbx_reach_add_socket (reach, named);
  sbx_reach_add_socket (reach, far);
  session = must_open (place, reach);

  assert_connects (session, named, TRUE);
  assert_connects (session, far, TRUE);
  assert_connects (session, other, FALSE);
  assert_connects (session, renamed, FALSE);
  assert_connects (session, beside, FALSE);
  assert_connects (session, abstract, FALSE);

  /* What covers it cannot be taken away, and what listens inside is the sandbox's own matter. */
  inside_fails (session, "rm -f s/other");
  inside_fails (session, "mv s/renamed s/x");
  inside_works (session, CONNECT "/usr/bin/python3 -c 'import socket, time\n"
                         "s = socket.socket (socket.AF_UNIX)\ns.bind (\"s/own\")\ns.listen ()\n"
                         "time.sleep (30)' & until test -S s/own; do sleep 0.02; done\n"
                         "until connect s/own; do sleep 0.02; done; kill $!");
  close_session (session);

  for (gsize i = 0; i < G_N_ELEMENTS (fds); i++)
    close (fds[i]);
}

/* A socket of the host under a name that the kernel does not list. */
static int
listen_below (const char *directory,
              const char *name)
{
  g_autofree char *before = g_get_current_dir ();
  int fd;

  g_assert_cmpint (g_chdir (directory), ==, 0);
  fd = listen_at (name);
  g_assert_cmpint (g_chdir (before), ==, 0);

  return fd;
}

static void
test_sockets_by_other_names (void)
{
  static const char * const hidden[] = {
    "s/relative", "t/renamed", "t/linked", ".git/relative", "node_modules/a/relative",
    "../read/relative", "../read/a/moved",
  };
  g_autoptr(Place) place = place_new ();
  g_autofree char *source = g_build_filename (place->project, "s", NULL);
  g_autofree char *git = g_build_filename (place->project, ".git", NULL);
  g_autofree char *modules = g_build_filename (place->project, "node_modules/a", NULL);
  g_autofree char *elsewhere = g_build_filename (place->root, "elsewhere", NULL);
  g_autofree char *read = g_build_filename (place->root, "read", NULL);
  g_autofree char *asked = g_build_filename (place->project, "s/asked", NULL);
  g_autofree char *first = g_build_filename (elsewhere, "first", NULL);
  g_autofree char *second = g_build_filename (elsewhere, "second", NULL);
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
  g_autoptr(SbxSession) session = NULL;
  int fds[7];

  outside (place, "git init -q; mkdir -p s t node_modules/a ../elsewhere ../read/a");
  fds[0] = listen_below (source, "./relative");
  fds[1] = listen_below (source, "asked");
  fds[2] = listen_at (first);
  fds[3] = listen_at (second);
  fds[4] = listen_below (git, "relative");
  fds[5] = listen_below (modules, "relative");
  fds[6] = listen_below (read, "relative");
  outside (place, "ln ../elsewhere/first ../read/a/moved; mv ../elsewhere/first t/renamed; "
                  "ln ../elsewhere/second t/linked");

  sbx_reach_add_write (reach, place->project);
  sbx_reach_add_read (reach, read);
  sbx_reach_add_socket (reach, asked);
  session = must_open (place, reach);

  assert_connects (session, asked, TRUE);
  for (gsize i = 0; i < G_N_ELEMENTS (hidden); i++)
    assert_connects (session, hidden[i], FALSE);
  inside_fails (session, "mv t/linked t/x");

  /* They are there, for whoever is not in the sandbox. */
  for (gsize i = 0; i < G_N_ELEMENTS (hidden); i++)
    {
      g_autofree char *script = g_strdup_printf (CONNECT "connect %s", hidden[i]);

      outside (place, script);
    }

  close_session (session);
  for (gsize i = 0; i < G_N_ELEMENTS (fds); i++)
    close (fds[i]);
}

/* Servers put their sockets in directories of which a sandbox has its own. */
static void
test_sockets_in_own_places (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *in_tmp = g_strdup_printf ("/tmp/.s.sbx-%d", getpid ());
  g_autofree char *other = g_strdup_printf ("/tmp/.s.sbx-%d-other", getpid ());
  g_autofree char *run_dir = g_strdup_printf ("/run/sbx-test-%d", getpid ());
  g_autofree char *in_run = g_build_filename (run_dir, "socket", NULL);
  g_autofree char *in_var_run = g_strconcat ("/var", in_run, NULL);
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
  g_autoptr(SbxSession) session = NULL;
  const gboolean has_run = g_mkdir (run_dir, 0755) == 0;
  const int tmp_fd = listen_at (in_tmp);
  const int other_fd = listen_at (other);
  const int run_fd = has_run ? listen_at (in_run) : -1;

  sbx_reach_add_socket (reach, in_tmp);
  if (has_run)
    sbx_reach_add_socket (reach, in_var_run);
  session = must_open (place, reach);

  assert_connects (session, in_tmp, TRUE);
  assert_connects (session, other, FALSE);
  inside_works (session, "touch /tmp/own");
  if (has_run)
    {
      assert_connects (session, in_run, TRUE);
      assert_connects (session, in_var_run, TRUE);
      inside_fails (session, "touch /run/x");
    }
  close_session (session);

  close (tmp_fd);
  close (other_fd);
  g_assert_cmpint (g_unlink (in_tmp), ==, 0);
  g_assert_cmpint (g_unlink (other), ==, 0);
  if (has_run)
    {
      close (run_fd);
      g_assert_cmpint (g_unlink (in_run), ==, 0);
      g_assert_cmpint (g_rmdir (run_dir), ==, 0);
    }
}

/* What programs of the user's run or follow when they are started in there. */
static void
test_protected (void)
{
  static const char * const attacks[] = {
    "echo x > .mcp.json", "rm -f .mcp.json", "mv .mcp.json m", "echo x > n; mv -f n .mcp.json",
    "ln -f n .mcp.json", "touch .vscode/tasks.json", "rm -rf .vscode; ! test -e .vscode/settings",
    "mv .vscode v", "echo x > .claude/settings.json", "mv .claude/settings.json .claude/s",
    "mv .claude .c", "mv .claude .c; mkdir .claude", "rm -rf .claude/commands",
    "mkdir .claude/commands/x", "echo x > tools/hooks/pre-commit", "mv tools t",
    "mv tools/hooks tools/h", "chmod 0777 .mcp.json",
  };
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
  g_autoptr(SbxSession) session = NULL;

  outside (place, "git init -q; git config core.hooksPath tools/hooks; mkdir -p tools/hooks; "
                  "echo h > tools/hooks/pre-commit; echo m > .mcp.json; mkdir -p .vscode "
                  ".claude/commands; echo s > .vscode/settings; echo s > .claude/settings.json; "
                  "echo c > .claude/commands/c");
  sbx_reach_add_write (reach, place->project);
  session = must_open (place, reach);

  inside_works (session, "echo n > n");
  for (gsize i = 0; i < G_N_ELEMENTS (attacks); i++)
    inside_fails (session, attacks[i]);
  inside_works (session, "cat .mcp.json .vscode/settings .claude/settings.json; "
                         "echo own > .claude/own; echo own > tools/own; mv tools/own tools/o; "
                         "git add .mcp.json n; git -c core.hooksPath=/dev/null commit -qm work");
  close_session (session);
  outside (place, "test \"$(cat .mcp.json .vscode/settings .claude/settings.json "
                  ".claude/commands/c tools/hooks/pre-commit | tr -d '\\n')\" = mssch; "
                  "test -f .claude/own; git log --format=%s | grep -qx work");
}

/* Somebody who may write a part of a path puts something else there in between. */
static void
test_T9_replaced (void)
{
  static const char * const swaps[] = {
    "mv shared/sub shared/away; ln -s ../secret shared/sub",
    "mv shared/sub shared/away; mkdir shared/sub",
    "mv shared/sub shared/away; cp -r secret shared/sub",
    "mv shared s; mkdir shared; ln -s ../secret shared/sub",
    "mv shared/sub shared/away",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (swaps); i++)
    {
      g_autoptr(Place) place = place_new ();
      g_autofree char *sub = g_build_filename (place->project, "shared/sub", NULL);
      g_autoptr(SbxResolver) resolver = sbx_resolver_new (NULL);
      g_autoptr(SbxReach) asked = sbx_reach_new (place->project);
      g_autoptr(SbxReach) reach = NULL;
      g_autoptr(SbxSession) session = NULL;
      g_autoptr(GError) error = NULL;

      outside (place, "mkdir -p shared/sub secret; echo secret > secret/s");
      sbx_reach_add_read (asked, sub);
      reach = sbx_resolver_resolve_reach (resolver, asked, NULL, &error);
      g_assert_no_error (error);

      outside (place, swaps[i]);
      session = open_reach (place, reach, &error);
      g_assert_null (session);
      g_assert_error (error, SBX_ERROR, SBX_ERROR_REFUSED);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, sub));
      g_assert_nonnull (strstr (error->message, "was replaced since it was resolved"));
    }
}

/* A reach that says it is resolved gets no more for that. */
static void
test_resolved_elsewhere (void)
{
  g_autoptr(Place) place = place_new ();
  g_autofree char *kept = g_build_filename (place->data, "sub", NULL);
  g_autofree char *nowhere = g_build_filename (place->root, "nowhere", NULL);
  g_autoptr(SbxResolver) resolver = sbx_resolver_new (NULL);
  const char *paths[] = { kept, place->data };

  g_assert_cmpint (g_mkdir_with_parents (kept, 0700), ==, 0);
  g_object_set (resolver, "machine-root", nowhere, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr(SbxReach) asked = sbx_reach_new (place->project);
      g_autoptr(SbxReach) reach = NULL;
      g_autoptr(SbxSession) session = NULL;
      g_autoptr(GError) error = NULL;

      sbx_reach_add_read (asked, paths[i]);
      reach = sbx_resolver_resolve_reach (resolver, asked, NULL, &error);
      g_assert_no_error (error);
      session = open_reach (place, reach, &error);
      g_assert_null (session);
      g_assert_error (error, SBX_ERROR, SBX_ERROR_REFUSED);
    }
}

static void
test_network (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  sbx_reach_add_domain (reach, "api.example.org");
  session = open_reach (place, reach, &error);
  g_assert_null (session);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE);
  g_assert_nonnull (strstr (error->message, "api.example.org"));
  g_assert_cmpint (count_sessions (place->data), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/session/reach/nested", test_nested);
  g_test_add_func ("/session/reach/read-is-pinned", test_read_is_pinned);
  g_test_add_func ("/session/reach/hidden", test_hidden);
  g_test_add_func ("/session/reach/T31/sockets", test_sockets);
  g_test_add_func ("/session/reach/T31/other-names", test_sockets_by_other_names);
  g_test_add_func ("/session/reach/sockets-in-own-places", test_sockets_in_own_places);
  g_test_add_func ("/session/reach/T28/protected", test_protected);
  g_test_add_func ("/session/reach/T9/replaced", test_T9_replaced);
  g_test_add_func ("/session/reach/resolved-elsewhere", test_resolved_elsewhere);
  g_test_add_func ("/session/reach/network", test_network);

  return g_test_run ();
}
