/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "quarantine-util.h"

#include "core/sbx-error.h"

#include <time.h>
#include <utime.h>

/* What appears under protected names, without a sandbox: the test is the one who makes it. */

static const char *editor_names[] = { ".mcp.json", ".vscode", ".claude/commands",
                                      ".claude/settings.json", NULL };

static void
test_nothing (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_auto(GStrv) messages = NULL;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, editor_names, NULL);
  put_file (ground.project, "mcp.json", "x");
  put_file (ground.project, ".claude/other", "x");
  assert_finishes (quarantine);

  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (messages), ==, 0);
  g_assert_true (is_there (ground.project, "mcp.json"));
  g_assert_true (is_there (ground.project, ".claude/other"));

  /* No trace of it. */
  g_assert_false (is_there (ground.data, "quarantine"));
}

static void
test_no_names (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autoptr(GError) error = NULL;

  ground_init (&ground, NULL);
  quarantine = try_quarantine (&ground, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (quarantine);
}

static void
test_file (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_auto(GStrv) messages = NULL;
  g_autofree char *place = NULL;
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;
  g_autofree char *command = NULL;
  g_autoptr(GError) error = NULL;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, editor_names, NULL);
  put_file (ground.project, ".mcp.json", "a program");
  assert_finishes (quarantine);

  g_assert_false (is_there (ground.project, ".mcp.json"));
  g_assert_cmpuint (count_aside (&ground), ==, 1);
  place = find_aside (&ground, "-mcp.json");
  text = read_text (place);
  g_assert_cmpstr (text, ==, "a program");

  /* The message says what it was, where it is, and has a command that works. */
  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (messages), ==, 1);
  path = g_build_filename (ground.project, ".mcp.json", NULL);
  g_assert_nonnull (strstr (messages[0], path));
  g_assert_nonnull (strstr (messages[0], place));
  command = g_strdup (strstr (messages[0], "mv '"));
  g_assert_nonnull (command);
  g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (is_there (ground.project, ".mcp.json"));
}

static void
test_kinds (void)
{
  static const char *names[] = { "fifo", "directory", "dangling", "away", "hard", "closed", NULL };
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autofree char *fifo = NULL;
  g_autofree char *closed = NULL;
  g_autofree char *hard = NULL;
  g_autofree char *own = NULL;
  g_autofree char *place = NULL;
  struct stat info;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, names, NULL);

  fifo = g_build_filename (ground.project, "fifo", NULL);
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  put_file (ground.project, "directory/tasks.json", "x");
  put_link (ground.project, "dangling", "/nonexistent/x");
  put_file (ground.outside, "valuable", "v");
  put_link (ground.project, "away", ground.outside);
  put_file (ground.project, "own", "o");
  own = g_build_filename (ground.project, "own", NULL);
  hard = g_build_filename (ground.project, "hard", NULL);
  g_assert_cmpint (link (own, hard), ==, 0);
  closed = make_dir (ground.project, "closed");
  g_assert_cmpint (chmod (closed, 0), ==, 0);

  assert_finishes (quarantine);
  for (gsize i = 0; names[i] != NULL; i++)
    g_assert_false (is_there (ground.project, names[i]));

  /* Each is what it was, and what it led to is where it was. */
  g_assert_cmpuint (count_aside (&ground), ==, 6);
  g_assert_true (is_there (ground.project, "own"));
  g_assert_true (is_there (ground.outside, "valuable"));
  place = find_aside (&ground, "-fifo");
  g_assert_cmpint (lstat (place, &info), ==, 0);
  g_assert_true (S_ISFIFO (info.st_mode));
  g_free (place);
  place = find_aside (&ground, "-directory");
  g_assert_true (is_there (place, "tasks.json"));
}

/* Writes into the file that is there. */
static void
write_in_place (const char *parent,
                const char *name,
                const char *text)
{
  g_autofree char *path = g_build_filename (parent, name, NULL);
  const int fd = open (path, O_WRONLY | O_CLOEXEC);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (pwrite (fd, text, strlen (text), 0), ==, (gssize) strlen (text));
  close (fd);
}

/* Another name of a file, to write in it. */
static void
put_hard_link (Ground     *ground,
               const char *from,
               const char *to)
{
  g_autofree char *from_path = g_build_filename (ground->project, from, NULL);
  g_autofree char *to_path = g_build_filename (ground->project, to, NULL);
  g_autofree char *directory = g_path_get_dirname (to_path);

  g_assert_cmpint (g_mkdir_with_parents (directory, 0700), ==, 0);
  g_assert_cmpint (link (from_path, to_path), ==, 0);
}

/* What was put aside cannot be changed by the names that it has elsewhere. */
static void
test_hard_links (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_auto(GStrv) messages = NULL;
  g_autofree char *file = NULL;
  g_autofree char *directory = NULL;
  g_autofree char *large = NULL;
  g_autofree char *deep = NULL;
  g_autofree char *text = NULL;
  g_autofree char *deep_text = NULL;
  struct stat info;
  guint n_warned = 0;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, editor_names, NULL);
  put_file (ground.project, "x", "good");
  put_hard_link (&ground, "x", ".mcp.json");
  put_file (ground.project, "y", "good");
  put_hard_link (&ground, "y", ".vscode/a/tasks.json");
  put_file (ground.project, "large", "good");
  large = g_build_filename (ground.project, "large", NULL);
  g_assert_cmpint (truncate (large, 17 * 1024 * 1024), ==, 0);
  put_hard_link (&ground, "large", ".claude/settings.json");
  assert_finishes (quarantine);

  /* In place, as whoever has the other name would. */
  write_in_place (ground.project, "x", "evil");
  write_in_place (ground.project, "y", "evil");

  file = find_aside (&ground, "-mcp.json");
  text = read_text (file);
  g_assert_cmpstr (text, ==, "good");
  g_assert_cmpint (lstat (file, &info), ==, 0);
  g_assert_cmpuint (info.st_nlink, ==, 1);

  directory = find_aside (&ground, "-vscode");
  deep = g_build_filename (directory, "a/tasks.json", NULL);
  deep_text = read_text (deep);
  g_assert_cmpstr (deep_text, ==, "good");

  /* One that is too large to be copied is told about. */
  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (messages), ==, 4);
  for (gsize i = 0; messages[i] != NULL; i++)
    if (strstr (messages[i], "linked under another") != NULL)
      {
        g_assert_nonnull (strstr (messages[i], "-settings.json"));
        n_warned++;
      }
  g_assert_cmpuint (n_warned, ==, 1);
}

/* Whoever had it open gives it another name when it was put aside already. */
static void
test_hard_link_later (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autofree char *place = NULL;
  g_autofree char *other = NULL;
  g_autofree char *text = NULL;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, editor_names, NULL);
  put_file (ground.project, ".mcp.json", "good");
  assert_finishes (quarantine);
  place = find_aside (&ground, "-mcp.json");
  other = g_build_filename (ground.project, "x", NULL);
  g_assert_cmpint (link (place, other), ==, 0);

  put_file (ground.project, ".vscode/tasks.json", "x");
  assert_finishes (quarantine);
  write_in_place (ground.project, "x", "evil");
  text = read_text (place);
  g_assert_cmpstr (text, ==, "good");
}

static void
test_chain (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, editor_names, NULL);

  put_file (ground.project, ".claude/commands/x.md", "x");
  put_file (ground.project, ".claude/settings.json", "x");
  put_file (ground.project, ".claude/notes", "x");
  assert_finishes (quarantine);

  g_assert_true (is_there (ground.project, ".claude/notes"));
  g_assert_false (is_there (ground.project, ".claude/commands"));
  g_assert_false (is_there (ground.project, ".claude/settings.json"));
  g_assert_cmpuint (count_aside (&ground), ==, 2);
}

/* Also where nothing is behind it yet. */
static void
test_link_on_the_way (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;

  ground_init (&ground, NULL);
  put_file (ground.outside, "commands/x.md", "x");
  quarantine = look_after (&ground, editor_names, NULL);
  put_link (ground.project, ".claude", ground.outside);
  assert_finishes (quarantine);

  g_assert_false (is_there (ground.project, ".claude"));
  g_assert_true (is_there (ground.outside, "commands/x.md"));
}

/* A file where a directory would have to be is nothing that anybody obeys. */
static void
test_file_on_the_way (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, editor_names, NULL);
  put_file (ground.project, ".claude", "x");
  assert_finishes (quarantine);
  g_assert_true (is_there (ground.project, ".claude"));
}

static void
assert_link (const char *parent,
             const char *name,
             const char *target)
{
  g_autofree char *path = g_build_filename (parent, name, NULL);
  g_autoptr(GError) error = NULL;
  g_autofree char *found = g_file_read_link (path, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (found, ==, target);
}

static void
test_links_stay (void)
{
  static const char *present[] = { ".vscode", ".idea", ".claude/commands", ".same", NULL };
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_auto(GStrv) messages = NULL;
  g_autofree char *vscode = NULL;
  g_autofree char *idea = NULL;
  g_autofree char *claude = NULL;

  ground_init (&ground, NULL);
  put_file (ground.project, "shared/tasks.json", "x");
  put_file (ground.project, "shared/commands/x", "x");
  put_link (ground.project, ".vscode", "shared");
  put_link (ground.project, ".idea", "/nonexistent/idea");
  put_link (ground.project, ".claude", "shared");
  put_link (ground.project, ".same", "shared");
  quarantine = look_after (&ground, NULL, present);

  /* Another target, something else, nothing. */
  vscode = g_build_filename (ground.project, ".vscode", NULL);
  idea = g_build_filename (ground.project, ".idea", NULL);
  claude = g_build_filename (ground.project, ".claude", NULL);
  g_assert_cmpint (unlink (vscode), ==, 0);
  put_link (ground.project, ".vscode", "/etc");
  g_assert_cmpint (unlink (idea), ==, 0);
  put_file (ground.project, ".idea/x", "x");
  g_assert_cmpint (unlink (claude), ==, 0);
  assert_finishes (quarantine);

  assert_link (ground.project, ".vscode", "shared");
  assert_link (ground.project, ".idea", "/nonexistent/idea");
  assert_link (ground.project, ".claude", "shared");
  assert_link (ground.project, ".same", "shared");
  g_assert_cmpuint (count_aside (&ground), ==, 2);
  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (messages), ==, 5);
}

/* What is there already is somebody else's to protect. */
static void
test_present (void)
{
  static const char *names[] = { ".mcp.json", NULL };
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autoptr(GError) error = NULL;

  ground_init (&ground, NULL);
  put_file (ground.project, ".mcp.json", "x");
  quarantine = try_quarantine (&ground, NULL, names, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (quarantine);

  quarantine = try_quarantine (&ground, names, NULL, NULL, &error);
  g_assert_null (quarantine);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_BUSY);
  g_assert_nonnull (strstr (error->message, ".mcp.json"));
}

/* The first ones and the last one are kept. */
static void
test_repeated (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autofree char *last = NULL;
  g_autofree char *text = NULL;
  g_auto(GStrv) messages = NULL;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, editor_names, NULL);

  for (guint i = 0; i < 50; i++)
    {
      g_autofree char *content = g_strdup_printf ("%u", i);

      /* A file, a directory, and each after the other. */
      put_file (ground.project, ".mcp.json", content);
      put_file (ground.project, i % 3 == 0 ? ".vscode/x" : ".vscode", content);
      assert_finishes (quarantine);
      g_assert_false (is_there (ground.project, ".mcp.json"));
      g_assert_false (is_there (ground.project, ".vscode"));
    }

  g_assert_cmpuint (count_aside (&ground), ==, 18);
  last = find_aside (&ground, ".8-mcp.json");
  text = read_text (last);
  g_assert_cmpstr (text, ==, "49");

  /* Three times in full, and then at 4, 8, 16 and 32. */
  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (messages), ==, 14);
}

static void
test_moved_root (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autofree char *moved = NULL;
  g_auto(GStrv) messages = NULL;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, editor_names, NULL);
  moved = g_build_filename (ground.root, "moved", NULL);
  g_assert_cmpint (g_rename (ground.project, moved), ==, 0);
  g_assert_cmpint (g_mkdir (ground.project, 0755), ==, 0);
  put_file (ground.project, ".mcp.json", "somebody else's");
  assert_finishes (quarantine);

  g_assert_true (is_there (ground.project, ".mcp.json"));
  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (messages), ==, 1);
  g_assert_nonnull (strstr (messages[0], ground.project));
}

/* The names of a hostile project do not reach a terminal as they are. */
static void
test_escaped (void)
{
  static const char *names[] = { "a\n\033[31m/.vscode", NULL };
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_auto(GStrv) messages = NULL;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, names, NULL);
  put_file (ground.project, "a\n\033[31m/.vscode", "x");
  assert_finishes (quarantine);

  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (messages), ==, 1);
  g_assert_null (strchr (messages[0], '\033'));
  g_assert_null (strchr (messages[0], '\n'));
}

/* A program that was killed leaves what a sweep finishes. */
static void
test_sweep (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autoptr(GPtrArray) kept = _sbx_bwrap_kept_list_new ();
  g_autoptr(GError) error = NULL;
  const SbxBwrapKept *first;

  ground_init (&ground, NULL);
  put_file (ground.project, "shared/x", "x");
  put_link (ground.project, ".idea", "shared");
  quarantine = look_after (&ground, (const char *[]) { ".mcp.json", ".vscode", NULL },
                           (const char *[]) { ".idea", NULL });

  /* One thing was put aside, of which nobody heard. */
  put_file (ground.project, ".vscode", "first");
  assert_finishes (quarantine);
  g_clear_pointer (&quarantine, _sbx_bwrap_quarantine_unref);

  put_file (ground.project, ".mcp.json", "x");
  put_file (ground.project, ".vscode", "second");
  g_assert_true (_sbx_bwrap_quarantine_sweep (ground.sessions_fd, ground.data, SESSION, kept,
                                              &error));
  g_assert_no_error (error);
  g_assert_false (is_there (ground.project, ".mcp.json"));
  g_assert_false (is_there (ground.project, ".vscode"));
  assert_link (ground.project, ".idea", "shared");
  g_assert_cmpuint (count_aside (&ground), ==, 3);
  g_assert_cmpuint (kept->len, ==, 3);
  first = g_ptr_array_index (kept, 0);
  g_assert_null (first->path);
  g_assert_nonnull (strstr (first->message, ".vscode"));

  /* One that was cut is nothing to follow. */
  {
    g_autofree char *note = g_build_filename (ground.data, "sessions", SESSION, "watched", NULL);
    g_autofree char *content = NULL;
    gsize size;

    g_assert_true (g_file_get_contents (note, &content, &size, NULL));
    for (gsize length = 0; length < size; length += 7)
      {
        g_assert_true (g_file_set_contents (note, content, (gssize) length, NULL));
        _sbx_bwrap_quarantine_sweep (ground.sessions_fd, ground.data, SESSION, NULL, NULL);
      }
  }
}

static void
test_expire (void)
{
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *path = NULL;
  g_autofree char *old_path = NULL;
  g_autofree char *session = NULL;
  g_auto(GStrv) removed = NULL;
  const struct utimbuf past = { time (NULL) - 31 * 24 * 60 * 60, time (NULL) - 31 * 24 * 60 * 60 };

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, editor_names, NULL);
  put_file (ground.project, ".mcp.json", "x");
  assert_finishes (quarantine);

  path = g_build_filename (ground.data, "quarantine", SESSION, NULL);
  old_path = g_build_filename (ground.data, "quarantine", "old", NULL);
  session = g_build_filename (ground.data, "sessions", SESSION, NULL);
  remove_all (session);
  put_file (old_path, "1.0-vscode", "x");
  g_assert_cmpint (utime (old_path, &past), ==, 0);

  removed = _sbx_bwrap_quarantine_expire (ground.data, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (removed), ==, 1);
  g_assert_cmpstr (removed[0], ==, old_path);
  g_assert_false (is_there (ground.data, "quarantine/old"));
  g_assert_cmpuint (count_aside (&ground), ==, 1);
}

static void
test_business (void)
{
  static const char *git_dirs[] = { ".git", NULL };
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autoptr(GError) error = NULL;
  g_auto(GStrv) messages = NULL;

  ground_init (&ground, NULL);
  put_file (ground.project, ".git/HEAD", "ref: refs/heads/main\n");
  put_file (ground.project, ".git/BISECT_LOG", "x");
  quarantine = try_quarantine (&ground, NULL, NULL, git_dirs, &error);
  g_assert_no_error (error);

  put_file (ground.project, ".git/rebase-merge/git-rebase-todo",
            "pick 1234 one\nexec rm -rf /\n# exec not this\n  x true\nexecutable\nbreak\n");
  put_file (ground.project, ".git/CHERRY_PICK_HEAD", "x");
  assert_finishes (quarantine);

  /* What was unfinished before is the user's. */
  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (messages), ==, 2);
  g_assert_nonnull (strstr (messages[0], "git rebase --continue"));
  g_assert_nonnull (strstr (messages[0], "2 commands"));
  g_assert_nonnull (strstr (messages[0], ground.project));
  g_assert_nonnull (strstr (messages[1], "git cherry-pick --continue"));
}

/* The user's own rebase, to which commands were added; and a list that nobody is to wait for. */
static void
test_business_changed (void)
{
  static const char *git_dirs[] = { ".git", NULL };
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *todo = NULL;
  g_auto(GStrv) messages = NULL;
  g_auto(GStrv) more = NULL;

  ground_init (&ground, NULL);
  put_file (ground.project, ".git/rebase-merge/git-rebase-todo", "pick 1\nexec make\npick 2\n");
  quarantine = try_quarantine (&ground, NULL, NULL, git_dirs, &error);
  g_assert_no_error (error);
  put_file (ground.project, ".git/rebase-merge/git-rebase-todo", "pick 2\nexec a\nexec b\n");
  assert_finishes (quarantine);
  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (messages), ==, 1);

  todo = g_build_filename (ground.project, ".git/rebase-merge/git-rebase-todo", NULL);
  g_assert_cmpint (unlink (todo), ==, 0);
  g_assert_cmpint (mkfifo (todo, 0600), ==, 0);
  assert_finishes (quarantine);
  more = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (more), ==, 1);
  g_assert_nonnull (strstr (more[0], "cannot be read"));
}

static void
test_repositories (void)
{
  static const char *names[] = { ".mcp.json", NULL };
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_auto(GStrv) messages = NULL;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, names, NULL);
  _sbx_bwrap_quarantine_begin (quarantine);
  for (guint i = 0; i < 12; i++)
    {
      g_autofree char *head = g_strdup_printf ("sub/%u/.git/HEAD", i);

      put_file (ground.project, head, "ref: refs/heads/main\n");
    }
  assert_finishes (quarantine);

  /* They stay. */
  g_assert_true (is_there (ground.project, "sub/0/.git/HEAD"));
  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (messages), ==, 1);
  g_assert_nonnull (strstr (messages[0], "(12)"));
  g_assert_nonnull (strstr (messages[0], "/sub/"));
}

/* Where nothing ran nobody looks for what it made. */
static void
test_unused (void)
{
  static const char *names[] = { ".mcp.json", NULL };
  g_auto(Ground) ground = GROUND_NONE;
  g_autoptr(SbxBwrapQuarantine) quarantine = NULL;
  g_auto(GStrv) messages = NULL;

  ground_init (&ground, NULL);
  quarantine = look_after (&ground, names, NULL);
  put_file (ground.project, "sub/.git/HEAD", "ref: refs/heads/main\n");
  assert_finishes (quarantine);
  messages = _sbx_bwrap_quarantine_steal (quarantine);
  g_assert_cmpuint (g_strv_length (messages), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/quarantine/nothing", test_nothing);
  g_test_add_func ("/quarantine/no-names", test_no_names);
  g_test_add_func ("/quarantine/file", test_file);
  g_test_add_func ("/quarantine/kinds", test_kinds);
  g_test_add_func ("/quarantine/T24/hard-links", test_hard_links);
  g_test_add_func ("/quarantine/T24/hard-link-later", test_hard_link_later);
  g_test_add_func ("/quarantine/chain", test_chain);
  g_test_add_func ("/quarantine/link-on-the-way", test_link_on_the_way);
  g_test_add_func ("/quarantine/file-on-the-way", test_file_on_the_way);
  g_test_add_func ("/quarantine/links-stay", test_links_stay);
  g_test_add_func ("/quarantine/present", test_present);
  g_test_add_func ("/quarantine/repeated", test_repeated);
  g_test_add_func ("/quarantine/moved-root", test_moved_root);
  g_test_add_func ("/quarantine/escaped", test_escaped);
  g_test_add_func ("/quarantine/sweep", test_sweep);
  g_test_add_func ("/quarantine/expire", test_expire);
  g_test_add_func ("/quarantine/business", test_business);
  g_test_add_func ("/quarantine/business/changed", test_business_changed);
  g_test_add_func ("/quarantine/repositories", test_repositories);
  g_test_add_func ("/quarantine/unused", test_unused);

  return g_test_run ();
}
