/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-quarantine-struct-private.h"

#include "core/sbx-protection-private.h"
#include "core/sbx-text-private.h"
#include "files/sbx-fd-private.h"
#include "spec/sbx-resolve-scan-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>

/*
 * Repositories that a sandbox has made below what it may write. They stay, since to make one is
 * what many commands are for, and are told.
 */

#define MAX_SHOWN 10
/* How far the clock of a file system is behind. */
#define CLOCK_US 10000

/* Whoever closes a session waits for it. */
#define TIME_LIMIT_US (300 * 1000)

/* Ends a search that takes too long. */
typedef struct
{
  GMutex        mutex;
  GCond         cond;
  gboolean      is_over;
  GCancellable *cancellable;
} Limit;

static gpointer
wait_in_thread (gpointer data)
{
  Limit *limit = data;
  const gint64 end = g_get_monotonic_time () + TIME_LIMIT_US;

  g_mutex_lock (&limit->mutex);
  while (!limit->is_over)
    if (!g_cond_wait_until (&limit->cond, &limit->mutex, end))
      {
        g_cancellable_cancel (limit->cancellable);
        break;
      }
  g_mutex_unlock (&limit->mutex);

  return NULL;
}

/* What was there before, and could not be told from what it is, has not changed since. */
static gboolean
is_new (SbxBwrapQuarantine *self,
        const char         *tree)
{
  g_autofree char *git = g_build_filename (tree, ".git", NULL);
  struct stat info;

  return !g_hash_table_contains (self->trees, tree) && lstat (git, &info) == 0 &&
         info.st_ctim.tv_sec * G_USEC_PER_SEC + info.st_ctim.tv_nsec / 1000 >=
           self->opened - CLOCK_US;
}

/* FALSE: not all of it was seen. */
static gboolean
search (SbxBwrapQuarantine *self,
        GPtrArray          *found)
{
  Limit limit = { .cancellable = g_cancellable_new () };
  gboolean all = TRUE;
  GThread *thread;

  g_mutex_init (&limit.mutex);
  g_cond_init (&limit.cond);
  thread = g_thread_new ("sbx-limit", wait_in_thread, &limit);

  for (guint i = 0; i < self->roots->len && all; i++)
    {
      SbxQuarantineNode *root = g_ptr_array_index (self->roots, i);
      sbx_autofd int fd = _sbx_quarantine_root_open (root);
      struct stat info;

      if (fd < 0)
        continue;

      if (fstatat (fd, ".git", &info, AT_SYMLINK_NOFOLLOW) == 0)
        g_ptr_array_add (found, g_strdup (root->name));

      all = _sbx_scan_trees (root->name, SBX_SCAN_MAX_DIRS, found, limit.cancellable, NULL);
    }

  g_mutex_lock (&limit.mutex);
  limit.is_over = TRUE;
  g_cond_signal (&limit.cond);
  g_mutex_unlock (&limit.mutex);

  g_thread_join (thread);
  g_mutex_clear (&limit.mutex);
  g_cond_clear (&limit.cond);
  g_object_unref (limit.cancellable);

  return all;
}

void
_sbx_quarantine_say_repositories (SbxBwrapQuarantine *self)
{
  g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GHashTable) told = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr(GString) text = g_string_new (NULL);
  guint n = 0;
  gboolean all;

  /* Of a session that is swept nobody knows whether anything ran. */
  if (!SBX_PROTECTS (T23) || (!self->used && self->boot_id == NULL))
    return;

  all = search (self, found);

  for (guint i = 0; i < found->len; i++)
    {
      char *tree = g_ptr_array_index (found, i);
      g_autofree char *quoted = NULL;

      /* Where one root lies in another it is found twice. */
      if (!is_new (self, tree) || !g_hash_table_add (told, tree) || n++ >= MAX_SHOWN)
        continue;

      quoted = _sbx_text_quote (tree);
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", quoted);
    }

  if (n > 0)
    _sbx_quarantine_say (self,
                         g_strdup_printf (_("While the sandbox was open, git repositories appeared "
                                            "in what it may write (%u): %s%s. Git runs what their "
                                            "configuration and hooks say when it is started there, "
                                            "and also looks into those that are entered as "
                                            "submodules; look at them, or remove their “.git”, "
                                            "before you use git there."),
                                          n, text->str, n > MAX_SHOWN ? ", …" : ""));
  if (!all)
    _sbx_quarantine_say (self,
                         g_strdup (_("What the sandbox may write is too large to be searched for "
                                     "git repositories that it made; “find . -name .git” does "
                                     "that")));
}
