/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "resolve-util.h"
#include "spec/sbx-resolve-scan-private.h"

/* What a sandbox could have left where the next one is looked for. Nothing waits for ever, nothing
 * is read without an end, and nothing leads elsewhere. */

#define DEADLINE_S 120
#define DEADLINE_WITHOUT_S 10   /* when a protection is taken out, which makes it hang */

#define MAKE_LINKED \
  "git init -q -b main main; cd main; git commit -q --allow-empty -m one; " \
  "git worktree add -q ../linked -b linked; cd ..; "

static void
fails_with (TestPlace  *place,
            const char *cwd,
            const char *write,
            GQuark      domain,
            int         code,
            const char *says)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxReach) reach = test_resolve_with (place, cwd, NULL, write, SBX_GIT_MODE_DEFAULT,
                                                 NULL, &error);

  g_assert_null (reach);
  g_assert_error (error, domain, code);
  if (strstr (error->message, says) == NULL)
    g_error ("“%s” does not say “%s”", error->message, says);
}

/* In place of ".git": git takes it for none. */
static void
test_no_pointer (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  test_place_init (&place);
  test_run_in_place (&place, "mkdir -p dir/in loop; mkfifo dir/.git dir/in/.git; "
                             "ln -s .git loop/.git; ln -s . loop/more");
  reach = test_resolve (&place, "dir/in", NULL, "dir loop");
  test_assert_git_dirs (&place, reach, "");

  test_run_in_place (&place, "rm dir/in/.git; truncate -s 10G dir/in/.git");
  fails_with (&place, "dir/in", "dir/in", G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE, ".git");

  /* Below a write path one that says nothing is passed over. */
  g_clear_object (&reach);
  reach = test_resolve (&place, "dir", NULL, "dir");
  test_assert_git_dirs (&place, reach, "");
}

static void
test_commondir (void)
{
  static const char * const scripts[] = {
    "rm commondir; mkfifo commondir",
    "rm commondir; truncate -s 10G commondir",
    "rm commondir; mkdir commondir",
    "rm commondir; ln -s gitdir commondir",
    "echo ../../../.. > commondir",
    "echo nowhere > commondir",
    ": > commondir",
    "rm gitdir; mkfifo gitdir",
    "truncate -s 10G gitdir",
    "echo /dev/zero > gitdir",
    ": > gitdir",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (scripts); i++)
    {
      g_auto(TestPlace) place = { 0 };
      g_autofree char *script = g_strconcat (MAKE_LINKED "cd main/.git/worktrees/linked; ",
                                             scripts[i], NULL);

      g_test_message ("%s", scripts[i]);
      test_place_init (&place);
      test_run_in_place (&place, script);
      fails_with (&place, "linked", "linked", SBX_ERROR, SBX_ERROR_REFUSED, "linked");
    }
}

/* What git would run cannot be known: an error that names the file. */
static void
test_config (void)
{
  static const struct
  {
    const char *script;
    const char *names;
  } rows[] = {
    { "rm config; mkfifo config", ".git/config" },
    { "truncate -s 10G config", ".git/config" },
    { "rm config; mkdir config", ".git/config" },
    { "rm config; ln -s HEAD config", ".git/config" },
    { "mkfifo config.worktree", ".git/config.worktree" },
    { "mkfifo ../fifo; git config include.path ../fifo", "fifo" },
    { "truncate -s 10G ../large; git config includeIf.gitdir:/x.path ../large", "large" },
    { "printf '[include]\\npath = /dev/zero\\n' >> config", "/dev/zero" },
    { "ln -s /dev/zero ../zero; printf '[include]\\npath = ../zero\\n' >> config", "zero" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto(TestPlace) place = { 0 };
      g_autofree char *script = g_strconcat (MAKE_LINKED "cd main/.git; ", rows[i].script, NULL);

      g_test_message ("%s", rows[i].script);
      test_place_init (&place);
      test_run_in_place (&place, script);
      fails_with (&place, "main", "main", SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE, rows[i].names);
    }
}

/* T23: what a configuration includes, and what it names to be run. */
static void
test_includes (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;

  test_place_init (&place);
  test_run_in_place (&place, MAKE_LINKED
                     "cd main; mkdir conf tools; touch tools/clean.sh; ln -s conf/third other; "
                     "printf '[include]\\npath = ../conf/first\\n"
                     "[includeIf \"onbranch:x\"]\\npath = \"../conf/no\\\\\"t\"\\n"
                     "[core]\\nattributesFile = conf/attributes\\nhooksPath = ~/hooks\\n"
                     "fsmonitor = sh tools/clean.sh --x\\n"
                     "[filter \"x\"]\\nclean = \"tools/clean.sh %%f; missing.sh\"\\n"
                     "[include]\\npath = own\\npath = ../other\\n' >> .git/config; "
                     "printf '[include]\\npath = second\\n' > conf/first; "
                     "printf '[include]\\npath = first\\n[CORE] HooksPath = \"conf/hooks dir\" ; x'"
                     " > conf/second; touch conf/third");
  reach = test_resolve (&place, "main", NULL, "main");

  test_assert_protected (&place, reach,
                         "main/conf/first main/conf/second main/conf/no\"t main/conf/attributes "
                         "main/tools/clean.sh main/.git/own main/other main/conf/third");
  test_assert_not_protected (&place, reach, "main/missing.sh linked/conf/attributes home/hooks");
  g_assert_nonnull (test_find_entry (&place, reach, SBX_REACH_PROTECTED, "main/conf/hooks dir"));
}

/* The operator's own configuration has hooks in every repository. */
static void
test_global (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_build_filename (g_get_home_dir (), ".gitconfig", NULL);

  test_place_init (&place);
  test_run_in_place (&place, MAKE_LINKED);
  g_mkdir_with_parents (g_get_home_dir (), 0700);
  g_assert_true (g_file_set_contents (path, "[core]\nhooksPath = .hooks\n", -1, &error));
  reach = test_resolve (&place, "linked", NULL, "linked");
  test_assert_protected (&place, reach, "linked/.hooks");
  test_assert_not_protected (&place, reach, "main/.hooks");
  g_unlink (path);
}

/* Files that nothing reads to the end, or at all, end in an error or in nothing: never here. */
static void
test_device (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(SbxReach) reach = NULL;
  g_autofree char *path = NULL;

  test_place_init (&place);
  test_run_in_place (&place, "mkdir dir");
  path = g_build_filename (place.root, "dir", ".git", NULL);

  if (mknod (path, S_IFCHR | 0600, makedev (1, 5)) < 0)
    g_assert_cmpint (mkfifo (path, 0600), ==, 0);

  reach = test_resolve (&place, "dir", NULL, "dir");
  test_assert_git_dirs (&place, reach, "");
}

static GPtrArray *
scan (TestPlace *place,
      guint      max_dirs)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_build_filename (place->root, "tree", NULL);

  g_assert_true (_sbx_scan_trees (path, max_dirs, found, NULL, &error));
  g_assert_no_error (error);

  return found;
}

static int
compare_paths (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char * const *) a, *(const char * const *) b);
}

static void
test_scan (void)
{
  static const char * const expected[] = {
    "tree/a", "tree/a/deep/er", "tree/b", "tree/new\nline",
  };
  g_auto(TestPlace) place = { 0 };
  g_autoptr(GPtrArray) found = NULL;

  test_place_init (&place);
  test_run_in_place (&place, "mkdir -p tree/.git tree/a/.git/b/.git tree/a/deep/er/.git tree/b "
                             "tree/node_modules/x/.git elsewhere/.git 'tree/new\nline/.git' "
                             "tree/c/.gitx tree/c/git; touch tree/b/.git; "
                             "ln -s ../elsewhere tree/link; ln -s . tree/c/loop");
  found = scan (&place, 100);
  g_ptr_array_sort (found, compare_paths);
  g_assert_cmpuint (found->len, ==, G_N_ELEMENTS (expected));

  for (guint i = 0; i < found->len; i++)
    {
      g_autofree char *path = g_build_filename (place.root, expected[i], NULL);

      g_assert_cmpstr (g_ptr_array_index (found, i), ==, path);
    }
}

static void
put_socket (TestPlace  *place,
            const char *relative)
{
  g_autofree char *path = g_build_filename (place->root, relative, NULL);

  g_assert_cmpint (mknod (path, S_IFSOCK | 0600, 0), ==, 0);
}

static gboolean
find_sockets (TestPlace *place,
              guint      max_dirs,
              gint64     deadline,
              gboolean   whole,
              GPtrArray *sockets)
{
  g_autofree char *path = g_build_filename (place->root, "tree", NULL);
  g_autoptr(GError) error = NULL;
  gboolean is_complete = FALSE;

  g_ptr_array_set_size (sockets, 0);
  g_assert_true (_sbx_scan_sockets (path, max_dirs, deadline, whole, sockets, &is_complete, NULL,
                                    &error));
  g_assert_no_error (error);

  return is_complete;
}

static void
test_scan_sockets (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(GPtrArray) sockets = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *top = NULL;

  test_place_init (&place);
  test_run_in_place (&place, "mkdir -p tree/a/b tree/.git/c tree/node_modules/d elsewhere; "
                             "ln -s ../elsewhere tree/link; mkfifo tree/fifo");
  put_socket (&place, "tree/s");
  put_socket (&place, "tree/a/b/s");
  put_socket (&place, "tree/.git/c/s");
  put_socket (&place, "tree/node_modules/d/s");
  put_socket (&place, "elsewhere/s");

  g_assert_true (find_sockets (&place, 100, 0, TRUE, sockets));
  g_assert_cmpuint (sockets->len, ==, 4);
  g_assert_true (find_sockets (&place, 100, 0, FALSE, sockets));
  g_assert_cmpuint (sockets->len, ==, 2);

  /* As far as it may go: no further, and no error. */
  g_assert_false (find_sockets (&place, 3, 0, TRUE, sockets));
  g_assert_false (find_sockets (&place, 100, 1, TRUE, sockets));
  top = g_build_filename (place.root, "tree/s", NULL);
  g_assert_cmpuint (sockets->len, >=, 1);
  g_assert_cmpstr (g_ptr_array_index (sockets, 0), ==, top);
}

/* Without as many descriptors as the tree is deep, and of a path longer than any path may be. */
static void
test_scan_deep (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(GPtrArray) found = NULL;
  g_autoptr(SbxReach) reach = NULL;
  struct rlimit before, small;

  test_place_init (&place);
  test_run_in_place (&place, "mkdir tree; cd tree; i=0; while [ $i -lt 600 ]; do "
                             "mkdir -p before-$i/.git level-$i; cd -P ./level-$i; i=$((i+1)); "
                             "done; mkdir .git");

  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &before), ==, 0);
  small = before;
  small.rlim_cur = 64;
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &small), ==, 0);
  found = scan (&place, 5000);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &before), ==, 0);
  g_assert_cmpuint (found->len, ==, 601);

  reach = test_resolve (&place, "tree", NULL, "tree");
}

static void
test_scan_unreadable (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(GPtrArray) found = NULL;
  int before;

  test_place_init (&place);
  test_run_in_place (&place, "chmod 755 .; mkdir -p tree/closed/in/.git tree/open/.git; "
                             "chmod 000 tree/closed");

  /* Root reads everything. */
  before = setfsuid (65534);
  found = scan (&place, 100);
  setfsuid ((uid_t) before);

  g_assert_cmpuint (found->len, ==, 1);
  g_assert_true (g_str_has_suffix (g_ptr_array_index (found, 0), "/tree/open"));
}

/* Many directories are made in memory, where that is possible. */
static void
init_for_many (TestPlace *place)
{
  test_place_init_in (place, g_access ("/dev/shm", W_OK) == 0 ? "/dev/shm" : g_get_tmp_dir ());
}

static void
make_many (const char *path,
           guint       from,
           guint       to)
{
  const int fd = open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  for (guint i = from; i < to; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u", i);

      g_assert_cmpint (mkdirat (fd, name, 0755), ==, 0);
    }
  close (fd);
}

static void
test_scan_limit (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(GPtrArray) found = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *tree = NULL;
  g_autofree char *inner = NULL;

  init_for_many (&place);
  test_run_in_place (&place, "mkdir -p tree/0");
  tree = g_build_filename (place.root, "tree", NULL);
  inner = g_build_filename (tree, "0", NULL);

  /* 100,000 with the one that half of them are in. */
  make_many (inner, 0, 50000);
  make_many (tree, 1, 50000);
  found = scan (&place, SBX_SCAN_MAX_DIRS);
  g_assert_cmpuint (found->len, ==, 0);

  make_many (tree, 50000, 50001);
  g_assert_false (_sbx_scan_trees (tree, SBX_SCAN_MAX_DIRS, found, NULL, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_TOO_LARGE);
  g_assert_nonnull (strstr (error->message, tree));
  g_assert_nonnull (strstr (error->message, "100000"));
  g_assert_nonnull (strstr (error->message, "narrower"));
}

typedef struct
{
  char         *path;
  GCancellable *cancellable;
  GMutex        mutex;
  GCond         cond;
  guint         n_done;
} Scans;

static gpointer
scan_until_cancelled (gpointer data)
{
  Scans *self = data;
  GError *error = NULL;

  while (error == NULL)
    {
      g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func (g_free);

      _sbx_scan_trees (self->path, SBX_SCAN_MAX_DIRS, found, self->cancellable, &error);
      g_mutex_lock (&self->mutex);
      self->n_done++;
      g_cond_signal (&self->cond);
      g_mutex_unlock (&self->mutex);
    }

  return error;
}

static void
test_scan_cancel (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  Scans scans = { .cancellable = cancellable };
  GThread *thread;

  init_for_many (&place);
  test_run_in_place (&place, "mkdir tree");
  scans.path = g_build_filename (place.root, "tree", NULL);
  make_many (scans.path, 0, 20000);

  g_mutex_init (&scans.mutex);
  g_cond_init (&scans.cond);
  thread = g_thread_new ("scan", scan_until_cancelled, &scans);

  g_mutex_lock (&scans.mutex);
  while (scans.n_done < 2)
    g_cond_wait (&scans.cond, &scans.mutex);
  g_mutex_unlock (&scans.mutex);

  g_cancellable_cancel (cancellable);
  error = g_thread_join (thread);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);

  g_mutex_clear (&scans.mutex);
  g_cond_clear (&scans.cond);
  g_free (scans.path);
}

/* Somebody makes, moves and removes directories all the time: what stays is found each time. */
static void
test_scan_changing (void)
{
  g_auto(TestPlace) place = { 0 };
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_autoptr(GSubprocess) churn = NULL;
  g_autoptr(GError) error = NULL;

  test_place_init (&place);
  test_run_in_place (&place, "mkdir -p tree/a/b/c/.git tree/z/.git tree/m; "
                             "for i in 1 2 3 4 5 6 7 8 9; do mkdir -p tree/m/$i/x/y; done");
  g_subprocess_launcher_set_cwd (launcher, place.root);
  churn = g_subprocess_launcher_spawn (launcher, &error, "sh", "-c",
                                       "cd tree/m && while :; do mkdir -p n/o/p; mv 1/x 2/w; "
                                       "mv n/o q; rmdir n q/p q; mv 2/w 1/x; ln -s / s; "
                                       "rm s; done 2> /dev/null",
                                       NULL);
  g_assert_no_error (error);

  for (guint i = 0; i < 500; i++)
    {
      g_autoptr(GPtrArray) found = scan (&place, 1000);

      g_assert_cmpuint (found->len, ==, 2);
    }

  g_subprocess_force_exit (churn);
  g_subprocess_wait (churn, NULL, NULL);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  /* What hangs, fails. */
  alarm (g_getenv ("SBX_UNPROTECT") != NULL ? DEADLINE_WITHOUT_S : DEADLINE_S);

  g_test_add_func ("/spec/resolve-git-hostile/no-pointer", test_no_pointer);
  g_test_add_func ("/spec/resolve-git-hostile/commondir", test_commondir);
  g_test_add_func ("/spec/resolve-git-hostile/T16-config", test_config);
  g_test_add_func ("/spec/resolve-git-hostile/T23-includes", test_includes);
  g_test_add_func ("/spec/resolve-git-hostile/global", test_global);
  g_test_add_func ("/spec/resolve-git-hostile/device", test_device);
  g_test_add_func ("/spec/resolve-git-hostile/scan", test_scan);
  g_test_add_func ("/spec/resolve-git-hostile/scan/sockets", test_scan_sockets);
  g_test_add_func ("/spec/resolve-git-hostile/scan-deep", test_scan_deep);
  g_test_add_func ("/spec/resolve-git-hostile/scan-unreadable", test_scan_unreadable);
  g_test_add_func ("/spec/resolve-git-hostile/scan-limit", test_scan_limit);
  g_test_add_func ("/spec/resolve-git-hostile/scan-cancel", test_scan_cancel);
  g_test_add_func ("/spec/resolve-git-hostile/scan-changing", test_scan_changing);

  return g_test_run ();
}
