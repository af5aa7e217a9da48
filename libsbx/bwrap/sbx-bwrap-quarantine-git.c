/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-quarantine-struct-private.h"

#include "core/sbx-protection-private.h"
#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"
#include "files/sbx-open-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * What git has begun and not finished: it is the state of commands that work in the sandbox, and so
 * can be written there, and what goes on with it on the host runs what it says.
 */

#define REBASE_LIST "rebase-merge/git-rebase-todo"
#define MAX_TODO_SIZE (4 * 1024 * 1024)

static const struct
{
  const char *name;
  const char *what;
  const char *command;
} kinds[] = {
  { "rebase-merge", N_("a rebase"), "git rebase --continue" },
  { "rebase-apply", N_("a rebase or the applying of mails"), "git rebase --continue" },
  { "sequencer", N_("a row of picked or reverted commits"), "git cherry-pick --continue" },
  { "BISECT_LOG", N_("a bisection"), "git bisect" },
  { "CHERRY_PICK_HEAD", N_("the picking of a commit"), "git cherry-pick --continue" },
  { "REVERT_HEAD", N_("the reverting of a commit"), "git revert --continue" },
  { "MERGE_HEAD", N_("a merge"), "git merge --continue" },
};

void
_sbx_quarantine_business_free (SbxQuarantineBusiness *self)
{
  g_free (self->git_dir);
  g_free (self->name);
  g_free (self);
}

static gboolean
is_command (const char *line)
{
  line += strspn (line, " \t");

  return g_str_has_prefix (line, "exec ") || g_str_has_prefix (line, "exec\t") ||
         g_str_has_prefix (line, "x ") || g_str_has_prefix (line, "x\t");
}

/* The commands that a rebase has still to run. What cannot be read counts as many. */
static guint
count_commands (int dir_fd)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = _sbx_read_beneath (dir_fd, REBASE_LIST, MAX_TODO_SIZE, NULL, &error);
  g_autofree char *text = NULL;
  g_auto(GStrv) lines = NULL;
  guint n = 0;

  if (bytes == NULL)
    return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND) ? 0 : G_MAXUINT;

  text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  lines = g_strsplit (text, "\n", -1);
  for (gsize i = 0; lines[i] != NULL; i++)
    if (is_command (lines[i]))
      n++;

  return n;
}

static void
find_in (const char *git_dir,
         GPtrArray  *found)
{
  g_autofree char *real_path = NULL;
  sbx_autofd int fd = _sbx_open_real (git_dir, O_PATH | O_DIRECTORY, &real_path, NULL);
  struct stat info;

  /* Real once, and so still: nobody put a link on the way. */
  if (fd < 0 || !g_str_equal (real_path, git_dir))
    return;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      SbxQuarantineBusiness *one;

      if (fstatat (fd, kinds[i].name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        continue;

      one = g_new0 (SbxQuarantineBusiness, 1);
      one->git_dir = g_strdup (git_dir);
      one->name = g_strdup (kinds[i].name);
      if (i == 0)
        one->n_commands = count_commands (fd);
      g_ptr_array_add (found, one);
    }
}

GPtrArray *
_sbx_quarantine_find_business (GPtrArray *git_dirs)
{
  GPtrArray *found =
    g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_quarantine_business_free);

  for (guint i = 0; i < git_dirs->len; i++)
    find_in (g_ptr_array_index (git_dirs, i), found);

  return found;
}

/* Whether it was there from the beginning, with as many commands. */
static gboolean
is_known (SbxBwrapQuarantine          *self,
          const SbxQuarantineBusiness *one)
{
  for (guint i = 0; i < self->business->len; i++)
    {
      const SbxQuarantineBusiness *known = g_ptr_array_index (self->business, i);

      if (g_str_equal (known->git_dir, one->git_dir) && g_str_equal (known->name, one->name))
        return one->n_commands <= known->n_commands;
    }

  return FALSE;
}

static char *
describe (const SbxQuarantineBusiness *one)
{
  g_autofree char *git_dir = _sbx_text_quote (one->git_dir);
  guint kind = 0;

  while (!g_str_equal (kinds[kind].name, one->name))
    kind++;

  if (one->n_commands == G_MAXUINT)
    return g_strdup_printf (_("In the git directory %s %s has been left unfinished, with a list of "
                              "what is to be done that cannot be read. Do not go on with it; “git "
                              "rebase --abort” drops it."), git_dir, _(kinds[kind].what));

  if (one->n_commands > 0)
    return g_strdup_printf (ngettext ("In the git directory %s %s has been left unfinished, and "
                                      "“%s” would run %u command of the file git-rebase-todo "
                                      "there. Look at it (“git rebase --edit-todo”) before you go "
                                      "on, or drop it.",
                                      "In the git directory %s %s has been left unfinished, and "
                                      "“%s” would run %u commands of the file git-rebase-todo "
                                      "there. Look at it (“git rebase --edit-todo”) before you go "
                                      "on, or drop it.", one->n_commands),
                            git_dir, _(kinds[kind].what), kinds[kind].command, one->n_commands);

  return g_strdup_printf (_("In the git directory %s %s has been left unfinished. Look at it "
                            "before you go on (“%s”)."),
                          git_dir, _(kinds[kind].what), kinds[kind].command);
}

void
_sbx_quarantine_say_business (SbxBwrapQuarantine *self)
{
  g_autoptr(GPtrArray) found = NULL;

  if (!SBX_PROTECTS (T23))
    return;

  found = _sbx_quarantine_find_business (self->git_dirs);
  for (guint i = 0; i < found->len; i++)
    if (!is_known (self, g_ptr_array_index (found, i)))
      _sbx_quarantine_say (self, describe (g_ptr_array_index (found, i)));
}
