/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-quarantine-struct-private.h"

#include "files/sbx-fd-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Looks at every name, from the directories that can be written down, with nothing but descriptors
 * of directories that were opened without following a link. Each directory is watched before it is
 * looked at, so that nothing is missed in between.
 */

/* How often one name is looked at again, that somebody keeps putting something under. While
 * commands run whatever comes next is seen to come. */
#define TRIES 4
#define LAST_TRIES 1000

typedef struct
{
  SbxBwrapQuarantine *self;
  gboolean            is_last;   /* nothing runs in the sandbox any more */
} Check;

static void visit (Check             *check,
                   SbxQuarantineNode *node,
                   int                dir_fd);

/* What is not where it was is not watched any more. */
static void
unwatch (Check             *check,
         SbxQuarantineNode *node)
{
  GHashTableIter iter;
  gpointer child;

  if (node->watch < 0 || check->self->watcher == NULL)
    return;

  _sbx_bwrap_watcher_remove (check->self->watcher, node->watch, node);
  node->watch = -1;

  if (node->children == NULL)
    return;

  g_hash_table_iter_init (&iter, node->children);
  while (g_hash_table_iter_next (&iter, NULL, &child))
    unwatch (check, child);
}

static gboolean
has_links (SbxQuarantineNode *node)
{
  GHashTableIter iter;
  gpointer child;

  g_hash_table_iter_init (&iter, node->children);
  while (g_hash_table_iter_next (&iter, NULL, &child))
    if (((SbxQuarantineNode *) child)->link != NULL)
      return TRUE;

  return FALSE;
}

static void
watch (Check             *check,
       SbxQuarantineNode *node,
       int                dir_fd)
{
  SbxBwrapWatcher *watcher = check->self->watcher;
  const gboolean removals = has_links (node);
  int number;

  if (watcher == NULL)
    return;

  number = _sbx_bwrap_watcher_add (watcher, dir_fd, removals, node);
  if (number < 0 && errno == EACCES && _sbx_quarantine_make_accessible (dir_fd, node->mode))
    number = _sbx_bwrap_watcher_add (watcher, dir_fd, removals, node);

  if (number < 0)
    check->self->blind = TRUE;
  if (node->watch >= 0 && node->watch != number)
    _sbx_bwrap_watcher_remove (watcher, node->watch, node);

  node->watch = number;
}

static void
report_stuck (Check             *check,
              SbxQuarantineNode *node,
              int                errsv)
{
  g_ptr_array_add (check->self->stuck, _sbx_quarantine_node_dup_path (node));

  if (node->problem == errsv)
    return;

  node->problem = errsv;
  _sbx_quarantine_say_stuck (check->self, node, errsv);
}

/* One that is opened again after its session has died may find what its user made since. */
static gboolean
is_later (Check             *check,
          SbxQuarantineNode *node,
          int                dir_fd)
{
  g_autofree char *boot_id = NULL;
  struct statx info;
  struct timespec now;
  struct timespec up;

  if (check->self->boot_id == NULL || *check->self->boot_id == '\0' ||
      statx (dir_fd, node->name, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &info) != 0 ||
      (info.stx_mask & STATX_BTIME) == 0)
    return FALSE;

  boot_id = _sbx_quarantine_dup_boot_id ();
  if (*boot_id == '\0' || strcmp (boot_id, check->self->boot_id) == 0 ||
      clock_gettime (CLOCK_REALTIME, &now) != 0 || clock_gettime (CLOCK_BOOTTIME, &up) != 0)
    return FALSE;

  return info.stx_btime.tv_sec > now.tv_sec - up.tv_sec;
}

/* What was found under a name. */
typedef enum
{
  FOUND_GOOD,
  FOUND_BAD,
  FOUND_ELSE,   /* it is another thing by now: look again */
} Found;

/* Goes into what may be there, if there is anything in it. */
static Found
judge (Check             *check,
       SbxQuarantineNode *node,
       int                dir_fd,
       const struct stat *info)
{
  sbx_autofd int fd = -1;

  if (node->link != NULL)
    {
      g_autofree char *link = S_ISLNK (info->st_mode)
                                ? _sbx_quarantine_read_link (dir_fd, node->name) : NULL;

      return g_strcmp0 (link, node->link) == 0 ? FOUND_GOOD : FOUND_BAD;
    }

  /* A link on the way leads past everything that is watched, and its target may come later. */
  if (node->is_protected || S_ISLNK (info->st_mode))
    return FOUND_BAD;

  if (!S_ISDIR (info->st_mode))
    {
      unwatch (check, node);
      return FOUND_GOOD;
    }

  fd = openat (dir_fd, node->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return FOUND_ELSE;

  visit (check, node, fd);

  return FOUND_GOOD;
}

/* Nothing is there. The link that was there from the beginning is put back. */
static gboolean
be_missing (Check             *check,
            SbxQuarantineNode *node,
            int                dir_fd)
{
  unwatch (check, node);

  if (node->link == NULL)
    return TRUE;

  if (symlinkat (node->link, dir_fd, node->name) == 0)
    {
      _sbx_quarantine_say_restored (check->self, node);
      return TRUE;
    }

  if (errno == EEXIST)
    return FALSE;

  report_stuck (check, node, errno);

  return TRUE;
}

/* Looks once. FALSE with errno: look again. */
static gboolean
look_once (Check             *check,
           SbxQuarantineNode *node,
           int                dir_fd,
           SbxQuarantineNode *parent)
{
  struct stat info;
  Found found;
  int errsv;

  if (fstatat (dir_fd, node->name, &info, AT_SYMLINK_NOFOLLOW) != 0)
    {
      if (errno == ENOENT)
        return be_missing (check, node, dir_fd);
      if (errno == EACCES && _sbx_quarantine_make_accessible (dir_fd, parent->mode))
        return FALSE;

      report_stuck (check, node, errno);
      return TRUE;
    }

  found = judge (check, node, dir_fd, &info);
  if (found == FOUND_ELSE)
    return FALSE;
  if (found == FOUND_GOOD || is_later (check, node, dir_fd))
    return TRUE;

  unwatch (check, node);
  errsv = _sbx_quarantine_put_aside (check->self, node, dir_fd);

  /* Somebody may have been faster, and may put it back. */
  if (errsv == 0 || errsv == ENOENT)
    {
      errno = EAGAIN;
      return FALSE;
    }

  report_stuck (check, node, errsv);

  return TRUE;
}

static void
look (Check             *check,
      SbxQuarantineNode *node,
      int                dir_fd,
      SbxQuarantineNode *parent)
{
  const guint tries = check->is_last ? LAST_TRIES : TRIES;

  for (guint i = 0; i < tries; i++)
    if (look_once (check, node, dir_fd, parent))
      return;

  if (check->is_last)
    report_stuck (check, node, errno);
  else
    check->self->blind = TRUE;
}

static void
visit (Check             *check,
       SbxQuarantineNode *node,
       int                dir_fd)
{
  GHashTableIter iter;
  gpointer child;

  if (node->children == NULL)
    return;

  watch (check, node, dir_fd);

  g_hash_table_iter_init (&iter, node->children);
  while (g_hash_table_iter_next (&iter, NULL, &child))
    look (check, child, dir_fd, node);
}

void
_sbx_quarantine_check (SbxBwrapQuarantine *self,
                       gboolean            is_last)
{
  Check check = { self, is_last };

  self->blind = self->watcher == NULL;
  g_ptr_array_set_size (self->stuck, 0);

  for (guint i = 0; i < self->roots->len; i++)
    {
      SbxQuarantineNode *root = g_ptr_array_index (self->roots, i);
      sbx_autofd int fd = _sbx_quarantine_root_open (root);

      if (fd >= 0)
        {
          visit (&check, root, fd);
          continue;
        }

      unwatch (&check, root);
      self->blind = TRUE;
      if (is_last && !root->was_missed)
        {
          root->was_missed = TRUE;
          _sbx_quarantine_say_missed (self, root);
        }
    }

  if (is_last)
    _sbx_quarantine_break_all (self);

  _sbx_clear_fd (&self->place_fd);
}
