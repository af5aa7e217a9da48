/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-quarantine-struct-private.h"

#include "bwrap/sbx-bwrap-worktree-private.h"
#include "core/sbx-text-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/*
 * What is told about it.
 */

/* More than this that nobody has heard yet is counted alone. */
#define MAX_MESSAGES 100

/* What comes again and again under one name is told so often, and then ever more seldom. */
#define MAX_REPEATS 3

/* Who would have run or followed what lies under a name. */
static const struct
{
  const char *name;
  gboolean    is_prefix;
  const char *reason;
} reasons[] = {
  { ".mcp.json", FALSE, N_("agents and editors outside start the programs that it names") },
  { ".vscode", FALSE, N_("editors outside obey the settings and run the tasks in it") },
  { ".idea", FALSE, N_("editors outside obey the settings and run the configurations in it") },
  { ".claude", FALSE, N_("agents outside obey it, and run the commands that it names") },
  { ".codex", FALSE, N_("agents outside obey it, and run the commands that it names") },
  { ".cursor", FALSE, N_("agents outside obey it, and run the commands that it names") },
  { ".gemini", FALSE, N_("agents outside obey it, and run the commands that it names") },
  { ".gitconfig", FALSE, N_("git outside runs what it names") },
  { ".gitmodules", FALSE, N_("git outside follows it") },
  { ".git", FALSE, N_("git outside runs the hooks and obeys the configuration that it leads to") },
  { ".ripgreprc", FALSE, N_("a search outside takes options from it, which can run programs") },
  { ".bash", TRUE, N_("a shell outside runs it") },
  { ".z", TRUE, N_("a shell outside runs it") },
  { ".profile", FALSE, N_("a shell outside runs it") },
};

static const char *
find_reason (const char *path)
{
  g_auto(GStrv) parts = g_strsplit (path, "/", -1);

  for (guint n = g_strv_length (parts); n > 0; n--)
    for (guint i = 0; i < G_N_ELEMENTS (reasons); i++)
      if (reasons[i].is_prefix ? g_str_has_prefix (parts[n - 1], reasons[i].name)
                               : g_str_equal (parts[n - 1], reasons[i].name))
        return _(reasons[i].reason);

  return _("programs outside, such as git, run or follow it");
}

void
_sbx_quarantine_say (SbxBwrapQuarantine *self,
                     char               *message)
{
  g_mutex_lock (&self->mutex);

  if (self->messages.length < MAX_MESSAGES)
    g_queue_push_tail (&self->messages, g_steal_pointer (&message));
  else
    self->n_lost++;

  g_mutex_unlock (&self->mutex);
  g_free (message);
}

/* A command to copy, where it would be shown as it is. */
static char *
make_command (const char *place,
              const char *origin)
{
  g_autofree char *shown_place = _sbx_text_escape (place);
  g_autofree char *shown_origin = _sbx_text_escape (origin);
  g_autofree char *quoted_place = NULL;
  g_autofree char *quoted_origin = NULL;

  if (!g_str_equal (shown_place, place) || !g_str_equal (shown_origin, origin))
    return g_strdup (_("moving it back"));

  quoted_place = g_shell_quote (place);
  quoted_origin = g_shell_quote (origin);

  return g_strdup_printf ("mv %s %s", quoted_place, quoted_origin);
}

char *
_sbx_quarantine_describe_item (const SbxQuarantineItem *item)
{
  g_autofree char *origin = _sbx_text_quote (item->origin);
  g_autofree char *place = _sbx_text_quote (item->place);
  g_autofree char *command = make_command (item->place, item->origin);

  return g_strdup_printf (_("%s appeared in what a sandbox may write. Since %s, it was put aside, "
                            "and is now %s. Look at it, and bring it back, if it is to stay, when "
                            "the sandbox is closed: %s"),
                          origin, find_reason (item->origin), place, command);
}

static void
say_linked (SbxBwrapQuarantine *self,
            const char         *place)
{
  g_autofree char *quoted = _sbx_text_quote (place);

  _sbx_quarantine_say (self, g_strdup_printf (_("%s, or a file in it, may be linked under another "
                                                "name, by which a sandbox can still change it. "
                                                "Look at a copy, and bring that back"), quoted));
}

void
_sbx_quarantine_say_moved (SbxBwrapQuarantine *self,
                           SbxQuarantineNode  *node,
                           const char         *place,
                           gboolean            is_linked)
{
  g_autofree char *path = _sbx_quarantine_node_dup_path (node);
  const SbxQuarantineItem item = { path, (char *) place, 0 };

  node->n_met++;
  if (node->n_met <= MAX_REPEATS)
    {
      _sbx_quarantine_say (self, _sbx_quarantine_describe_item (&item));
      if (is_linked)
        say_linked (self, place);
    }
  else if ((node->n_met & (node->n_met - 1)) == 0)
    {
      g_autofree char *quoted = _sbx_text_quote (path);

      _sbx_quarantine_say (self, g_strdup_printf (_("%s has been made, and put aside, %u times so "
                                                    "far"), quoted, node->n_met));
    }
}

void
_sbx_quarantine_say_stuck (SbxBwrapQuarantine *self,
                           SbxQuarantineNode  *node,
                           int                 errsv)
{
  g_autofree char *path = _sbx_quarantine_node_dup_path (node);
  g_autofree char *quoted = _sbx_text_quote (path);

  _sbx_quarantine_say (self,
                       g_strdup_printf (_("%s appeared in what a sandbox may write, and could not "
                                          "be put aside: %s. Remove it before you work there, "
                                          "since %s."),
                                        quoted, g_strerror (errsv), find_reason (path)));
}

void
_sbx_quarantine_say_restored (SbxBwrapQuarantine *self,
                              SbxQuarantineNode  *node)
{
  g_autofree char *path = _sbx_quarantine_node_dup_path (node);
  g_autofree char *quoted = _sbx_text_quote (path);
  g_autofree char *target = _sbx_text_quote (node->link);

  node->n_restored++;
  if (node->n_restored <= MAX_REPEATS || (node->n_restored & (node->n_restored - 1)) == 0)
    _sbx_quarantine_say (self,
                         g_strdup_printf (_("%s, a symbolic link to %s, was taken away while a "
                                            "sandbox that may write there was open, and has been "
                                            "made again"), quoted, target));
}

void
_sbx_quarantine_say_missed (SbxBwrapQuarantine *self,
                            SbxQuarantineNode  *root)
{
  g_autofree char *quoted = _sbx_text_quote (root->name);

  _sbx_quarantine_say (self,
                       g_strdup_printf (_("%s was moved, replaced or deleted while a sandbox "
                                          "that could write it was open, so that it could not be "
                                          "searched for what programs outside would run. If it "
                                          "still is somewhere, look there for .mcp.json, .vscode "
                                          "and the like before you work in it."), quoted));
}

GStrv
_sbx_bwrap_quarantine_steal (SbxBwrapQuarantine *self)
{
  g_autoptr(GStrvBuilder) list = g_strv_builder_new ();
  char *message;

  g_mutex_lock (&self->mutex);

  while ((message = g_queue_pop_head (&self->messages)) != NULL)
    {
      g_strv_builder_add (list, message);
      g_free (message);
    }

  if (self->n_lost > 0)
    {
      g_autofree char *more = g_strdup_printf (_("%u more such messages were left out; all that "
                                                 "was put aside is in “quarantine/%s” in libsbx's "
                                                 "data directory"), self->n_lost, self->id);

      g_strv_builder_add (list, more);
      self->n_lost = 0;
    }

  g_mutex_unlock (&self->mutex);

  return g_strv_builder_end (list);
}

GPtrArray *
_sbx_bwrap_quarantine_steal_kept (SbxBwrapQuarantine *self)
{
  GPtrArray *kept = _sbx_bwrap_kept_list_new ();
  g_auto(GStrv) list = _sbx_bwrap_quarantine_steal (self);

  for (gsize i = 0; list[i] != NULL; i++)
    _sbx_bwrap_kept_add_message (kept, list[i]);

  return kept;
}

void
_sbx_bwrap_quarantine_tell (SbxBwrapQuarantine *self)
{
  g_autoptr(SbxSession) session = g_weak_ref_get (&self->session);
  g_auto(GStrv) list = NULL;

  if (session == NULL)
    return;

  list = _sbx_bwrap_quarantine_steal (self);
  for (gsize i = 0; list[i] != NULL; i++)
    g_signal_emit_by_name (session, "message", list[i]);
}
