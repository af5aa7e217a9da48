/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * What is explained and what is enforced cannot disagree: sandboxes are opened for reaches made by
 * chance, over trees made by chance, and a program inside tries for every path of the tree what can
 * be done with it. That has to be what the plan says, in both directions.
 *
 * SBX_RANDOM_SEED repeats a run, SBX_RANDOM_SPECS says how many specs are tried.
 */

#include "random-tree.h"

#define N_SPECS 40
#define TIME_LIMIT_S 20

typedef struct
{
  Place       *place;
  RandomTree  *tree;
  SbxReach    *reach;
  SbxPlan     *explained;
  SbxPlan     *enforced;
  guint        n_wrong;
} Round;

static guint n_opened;
static guint n_paths;
static guint n_of_each[SBX_PLAN_DOMAIN + 1];

static void
round_clear (Round *self)
{
  g_clear_object (&self->reach);
  g_clear_object (&self->explained);
  g_clear_object (&self->enforced);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Round, round_clear)

/* A path that is asked for, by its own name or through a link. */
static const char *
pick_path (RandomTree *tree)
{
  return tree_pick (tree, tree_chance (tree, 4) ? tree->files : tree->directories);
}

static SbxReach *
make_reach (RandomTree *tree)
{
  SbxReach *reach = sbx_reach_new (tree_pick (tree, tree->directories));
  const int n_write = g_rand_int_range (tree->rand, 0, 4);
  const int n_read = g_rand_int_range (tree->rand, 0, 4);

  g_string_append_printf (tree->story, "cwd %s\n", sbx_reach_get_cwd (reach));
  for (int i = 0; i < n_write; i++)
    {
      const char *path = pick_path (tree);

      sbx_reach_add_write (reach, path);
      g_string_append_printf (tree->story, "write %s\n", path);
    }

  for (int i = 0; i < n_read; i++)
    {
      const char *path = pick_path (tree);

      sbx_reach_add_read (reach, path);
      g_string_append_printf (tree->story, "read %s\n", path);
    }

  if (tree->sockets->len > 0 && tree_chance (tree, 2))
    {
      const char *path = tree_pick (tree, tree->sockets);

      sbx_reach_add_socket (reach, path);
      g_string_append_printf (tree->story, "socket %s\n", path);
    }

  sbx_reach_set_git_mode (reach, g_rand_int_range (tree->rand, 0, SBX_GIT_MODE_FULL + 1));
  g_string_append_printf (tree->story, "git %d\n", sbx_reach_get_git_mode (reach));

  return reach;
}

/* With a run root in the tree, which is then hidden; or resolved beforehand; or as it is. */
static gboolean
resolve (Round   *self,
         GError **error)
{
  g_autoptr(SbxProviderSet) providers = sbx_provider_set_new ();
  g_autoptr(SbxResolver) resolver = NULL;
  SbxReach *resolved;
  const int how = g_rand_int_range (self->tree->rand, 0, 3);

  if (how == 0)
    return TRUE;

  resolver = sbx_resolver_new (providers);
  g_object_set (resolver, "machine-root", self->place->data, NULL);
  if (how == 1)
    {
      const char *run_root = tree_pick (self->tree, self->tree->directories);

      g_object_set (resolver, "run-root", run_root, NULL);
      g_string_append_printf (self->tree->story, "run root %s\n", run_root);
    }

  resolved = sbx_resolver_resolve_reach (resolver, self->reach, NULL, error);
  if (resolved == NULL)
    return FALSE;

  g_object_unref (self->reach);
  self->reach = resolved;
  return TRUE;
}

/* Everything below @path, and for each directory some names that may not be there. */
static void
list_paths (const char *path,
            GPtrArray  *paths)
{
  static const char * const absent[] = { "absent", ".vscode", ".bashrc", "hooks", "config" };
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  g_ptr_array_add (paths, g_strdup (path));
  if (dir == NULL)
    return;

  for (gsize i = 0; i < G_N_ELEMENTS (absent); i++)
    {
      g_autofree char *child = g_build_filename (path, absent[i], NULL);
      struct stat info;

      if (lstat (child, &info) != 0)
        g_ptr_array_add (paths, g_steal_pointer (&child));
    }

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      if (g_file_test (child, G_FILE_TEST_IS_SYMLINK))
        g_ptr_array_add (paths, g_steal_pointer (&child));
      else
        list_paths (child, paths);
    }
}

static void
complain (Round        *self,
          const char   *path,
          SbxPlanEntry *entry,
          const char   *what,
          const char   *got)
{
  g_autoptr(GEnumClass) kinds = g_type_class_ref (SBX_TYPE_PLAN_KIND);
  const GEnumValue *kind = entry != NULL
                             ? g_enum_get_value (kinds, (int) sbx_plan_entry_get_kind (entry))
                             : NULL;

  if (self->n_wrong++ > 20)
    return;

  g_printerr ("# %s: %s; the probe says “%s”; decided by %s %s (%s; %s)\n", path, what, got,
              kind != NULL ? kind->value_nick : "nothing",
              entry != NULL ? sbx_plan_entry_get_path (entry) : "",
              entry != NULL ? sbx_plan_entry_get_reason (entry) : "",
              entry != NULL ? sbx_plan_entry_get_source (entry) : "");
}

/* The sandbox has a /tmp of its own, in which the ways to what it sees are made: what there is of
 * the host's in such a place is not there, and something else may be. */
static gboolean
is_own (SbxPlanEntry *entry)
{
  return entry != NULL && sbx_plan_entry_get_kind (entry) == SBX_PLAN_WRITE &&
         g_strcmp0 (sbx_plan_entry_get_source_path (entry), sbx_plan_entry_get_path (entry)) != 0;
}

static void
compare (Round      *self,
         const char *path,
         const char *letters,
         guint64     device,
         guint64     inode)
{
  SbxPlanAccess access, enforced_access;
  SbxPlanEntry *entry = sbx_plan_check_path (self->enforced, path, &enforced_access);
  struct stat info = { 0 };
  const gboolean exists = stat (path, &info) == 0;
  const gboolean same = exists && device == info.st_dev && inode == info.st_ino;
  const gboolean reads = strchr (letters, 'r') != NULL && same;
  const gboolean owner_writes = (info.st_mode & S_IWUSR) != 0;

  sbx_plan_check_path (self->explained, path, &access);
  if (access != enforced_access)
    complain (self, path, entry, "explain and the session do not say the same", letters);
  if (entry != NULL)
    n_of_each[sbx_plan_entry_get_kind (entry)]++;

  if (is_own (entry))
    {
      if (reads)
        complain (self, path, entry, "is there, and no entry shows it", letters);
      return;
    }

  if (reads && (access & SBX_PLAN_ACCESS_READ) == 0)
    complain (self, path, entry, "should not be readable", letters);
  if (!reads && exists && !S_ISSOCK (info.st_mode) && (access & SBX_PLAN_ACCESS_READ) != 0)
    complain (self, path, entry, "should be readable", letters);

  if (strchr (letters, 'w') != NULL && (access & SBX_PLAN_ACCESS_WRITE) == 0)
    complain (self, path, entry, "should not be writable", letters);
  if (strchr (letters, 'w') == NULL && exists && owner_writes && !S_ISSOCK (info.st_mode) &&
      (access & SBX_PLAN_ACCESS_WRITE) != 0)
    complain (self, path, entry, "should be writable", letters);

  if ((strchr (letters, 'x') != NULL) != ((access & SBX_PLAN_ACCESS_REPLACE) != 0))
    complain (self, path, entry,
              access & SBX_PLAN_ACCESS_REPLACE ? "should be replaceable"
                                               : "should not be replaceable", letters);
  if ((strchr (letters, 'c') != NULL) != ((access & SBX_PLAN_ACCESS_CONNECT) != 0))
    complain (self, path, entry,
              access & SBX_PLAN_ACCESS_CONNECT ? "should be connectable"
                                               : "should not be connectable", letters);
}

static void
compare_all (Round     *self,
             GPtrArray *paths,
             GBytes    *answers)
{
  g_autofree char *text = bytes_to_text (answers);
  g_auto(GStrv) lines = g_strsplit (text, "\n", -1);

  g_assert_cmpuint (g_strv_length (lines), ==, paths->len + 1);

  for (guint i = 0; i < paths->len; i++)
    {
      unsigned long long device, inode;
      char letters[8];

      g_assert_cmpint (sscanf (lines[i], "%7s %llu %llu", letters, &device, &inode), ==, 3);
      compare (self, g_ptr_array_index (paths, i), letters, device, inode);
    }

  n_paths += paths->len;
}

static void
probe (Round      *self,
       SbxSession *session)
{
  g_autofree char *program = g_build_filename (self->place->root, "probe", NULL);
  const char * const argv[] = { program, NULL };
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GByteArray) input = g_byte_array_new ();
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(SbxExecResult) result = NULL;

  list_paths (self->tree->root, paths);
  for (guint i = 0; i < paths->len; i++)
    {
      const char *path = g_ptr_array_index (paths, i);

      g_byte_array_append (input, (const guint8 *) path, strlen (path) + 1);
    }

  bytes = g_byte_array_free_to_bytes (g_steal_pointer (&input));
  sbx_command_set_stdin_bytes (command, bytes);
  sbx_command_set_collect_limit (command, 16 << 20);
  sbx_command_set_timeout (command, TEST_DEADLINE_S * 1000);
  result = run_command (session, command);

  if (!sbx_exec_result_get_success (result))
    {
      g_autofree char *why = bytes_to_text (sbx_exec_result_get_stderr (result));

      g_printerr ("# %s", self->tree->story->str);
      g_error ("the probe failed: %s", why);
    }

  compare_all (self, paths, sbx_exec_result_get_stdout (result));
}

/* What opening would refuse, explaining refuses, and the other way round. */
static SbxSession *
explain_and_open (Round *self)
{
  g_autoptr(SbxOpenRequest) request = sbx_open_request_new (self->reach);
  g_autoptr(GError) explain_error = NULL;
  g_autoptr(GError) open_error = NULL;
  SbxSession *session;

  self->explained = sbx_bwrap_provider_explain (self->place->provider, self->reach, NULL,
                                                &explain_error);
  session = sbx_provider_open (SBX_PROVIDER (self->place->provider), request, NULL, &open_error);

  if (session == NULL)
    {
      if (self->explained != NULL)
        {
          g_printerr ("# opening fails: %s\n", open_error->message);
          self->n_wrong++;
        }
      else
        {
          g_assert_cmpstr (explain_error->message, ==, open_error->message);
        }
      return NULL;
    }

  g_assert_no_error (explain_error);
  g_assert_null (sbx_plan_get_problems (self->explained)[0]);
  g_assert_true (g_set_object (&self->enforced, sbx_session_get_plan (session)));

  return session;
}

static void
try_spec (Place   *place,
          guint32  seed)
{
  g_autofree char *root = g_build_filename (place->root, "t", NULL);
  g_autofree char *program = g_build_filename (place->root, "probe", NULL);
  g_autoptr(RandomTree) tree = random_tree_new (root, seed);
  g_auto(Round) self = { .place = place, .tree = tree };
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  self.reach = make_reach (tree);
  sbx_reach_add_read (self.reach, program);
  if (!resolve (&self, &error))
    {
      g_test_message ("%u: refused: %s", seed, error->message);
      return;
    }

  session = explain_and_open (&self);
  if (session != NULL)
    {
      n_opened++;
      probe (&self, session);
      close_session (session);
    }

  if (self.n_wrong > 0)
    {
      g_printerr ("# SBX_RANDOM_SEED=%u SBX_RANDOM_SPECS=1: %u answers are wrong\n%s", seed,
                  self.n_wrong, tree->story->str);
      g_test_fail ();
    }
}

static guint
get_number (const char *variable,
            guint       otherwise)
{
  const char *text = g_getenv (variable);

  return text != NULL ? (guint) g_ascii_strtoull (text, NULL, 10) : otherwise;
}

static void
copy_probe (Place *place)
{
  g_autofree char *from = g_test_build_filename (G_TEST_BUILT, "bwrap", "probe-reach", NULL);
  g_autofree char *to = g_build_filename (place->root, "probe", NULL);
  g_autofree char *content = NULL;
  g_autoptr(GError) error = NULL;
  gsize size;

  g_file_get_contents (from, &content, &size, &error);
  g_assert_no_error (error);
  g_file_set_contents (to, content, (gssize) size, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_chmod (to, 0755), ==, 0);
}

static void
test_random (void)
{
  g_autoptr(Place) place = place_new ();
  const guint32 seed = get_number ("SBX_RANDOM_SEED", (guint32) g_test_rand_int ());
  const guint n = get_number ("SBX_RANDOM_SPECS", N_SPECS);
  const gint64 end = g_get_monotonic_time () + TIME_LIMIT_S * G_USEC_PER_SEC;
  guint i;

  g_test_message ("SBX_RANDOM_SEED=%u", seed);
  copy_probe (place);

  for (i = 0; i < n && g_get_monotonic_time () < end && !g_test_failed (); i++)
    try_spec (place, seed + i);

  g_test_message ("%u specs, %u sandboxes, %u paths", i, n_opened, n_paths);
  for (gsize kind = 0; kind < G_N_ELEMENTS (n_of_each); kind++)
    g_test_message ("kind %u decided %u times", (guint) kind, n_of_each[kind]);

  /* Chance must not have tried nothing. */
  if (n == N_SPECS && !g_test_failed ())
    {
      g_assert_cmpuint (n_opened, >, i / 4);
      g_assert_cmpuint (n_of_each[SBX_PLAN_WRITE], >, 0);
      g_assert_cmpuint (n_of_each[SBX_PLAN_READ], >, 0);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  adopt_orphans ();

  g_test_add_func ("/explain/random", test_random);

  return g_test_run ();
}
