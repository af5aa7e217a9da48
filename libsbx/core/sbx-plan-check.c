/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-domain-private.h"
#include "core/sbx-plan-private.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/*
 * What can be done with a path: follows the links on the way as the sandbox would, in what the plan
 * shows, and asks what is mounted where that leads.
 */

/* As many as the kernel follows. */
#define MAX_LINKS 40

static gboolean
is_below (const char *path,
          const char *ancestor)
{
  const gsize length = strlen (ancestor);

  return strncmp (path, ancestor, length) == 0 &&
         (path[length] == '\0' || path[length] == '/' || strcmp (ancestor, "/") == 0);
}

/* Whether nothing that was there before is seen any more below its path. */
static gboolean
covers (const SbxPlanEntry *entry)
{
  switch (entry->kind)
    {
    case SBX_PLAN_WRITE:
    case SBX_PLAN_READ:
    case SBX_PLAN_MASK:
    case SBX_PLAN_MEMORY:
    case SBX_PLAN_PROC:
    case SBX_PLAN_DEV:
    case SBX_PLAN_HIDDEN:
    case SBX_PLAN_SOCKET:
    case SBX_PLAN_SUBMOUNT:
      return TRUE;

    case SBX_PLAN_DIRECTORY:
    case SBX_PLAN_LINK:
    case SBX_PLAN_COPY:
    case SBX_PLAN_SEAL:
    case SBX_PLAN_QUARANTINE:
    case SBX_PLAN_DOMAIN:
    default:
      return FALSE;
    }
}

void
_sbx_plan_note (SbxPlan      *self,
                SbxPlanEntry *entry)
{
  if (entry->path == NULL)
    return;

  if (covers (entry))
    g_hash_table_replace (self->covering, entry->path, GUINT_TO_POINTER (self->entries->len));
  else if (entry->kind != SBX_PLAN_SEAL && entry->kind != SBX_PLAN_QUARANTINE)
    g_hash_table_replace (self->named, entry->path, GUINT_TO_POINTER (self->entries->len));
}

/* The entry that is seen at @path, which has no link in it: what is mounted there or above, or what
 * was made there by name. %NULL: nothing but maybe the root, which is empty. */
static SbxPlanEntry *
find_entry (SbxPlan    *self,
            const char *path)
{
  guint last = GPOINTER_TO_UINT (g_hash_table_lookup (self->named, path));
  g_autofree char *above = g_strdup (path);

  for (;;)
    {
      const guint there = GPOINTER_TO_UINT (g_hash_table_lookup (self->covering, above));
      char *slash = strrchr (above, '/');

      last = MAX (last, there);
      if (slash == NULL || strcmp (above, "/") == 0)
        break;

      slash[slash == above ? 1 : 0] = '\0';
    }

  return last > 0 ? g_ptr_array_index (self->entries, last - 1) : NULL;
}

static SbxPlanEntry *
find_kind (SbxPlan     *self,
           SbxPlanKind  kind,
           const char  *path,
           gboolean     above)
{
  for (guint i = self->entries->len; i > 0; i--)
    {
      SbxPlanEntry *entry = g_ptr_array_index (self->entries, i - 1);

      if (entry->kind == kind && (above ? is_below (path, entry->path)
                                        : strcmp (path, entry->path) == 0))
        return entry;
    }

  return NULL;
}

/* Where the symbolic link at @path points, or NULL if there is none. */
static char *
read_link (SbxPlan    *self,
           const char *path)
{
  const SbxPlanEntry *entry = find_entry (self, path);
  g_autofree char *host_path = NULL;
  char target[PATH_MAX];
  ssize_t n;

  if (entry == NULL)
    return NULL;

  if (entry->kind == SBX_PLAN_LINK)
    return g_strdup (entry->source_path);

  if (entry->source_path == NULL ||
      (entry->kind != SBX_PLAN_WRITE && entry->kind != SBX_PLAN_READ &&
       entry->kind != SBX_PLAN_SUBMOUNT))
    return NULL;

  host_path = g_strconcat (entry->source_path, path + strlen (entry->path), NULL);
  n = readlink (host_path, target, sizeof target - 1);

  return n > 0 ? g_strndup (target, (gsize) n) : NULL;
}

/* Puts the components of @path before those of @rest, which is a stack. */
static void
push_components (GPtrArray  *rest,
                 const char *path)
{
  g_auto(GStrv) parts = g_strsplit (path, "/", -1);

  for (gsize n = g_strv_length (parts); n > 0; n--)
    if (*parts[n - 1] != '\0')
      g_ptr_array_add (rest, g_strdup (parts[n - 1]));
}

static void
go_up (GString *done)
{
  const char *slash = strrchr (done->str, '/');

  g_string_truncate (done, slash != NULL ? (gsize) (slash - done->str) : 0);
}

/* Where @path leads in the sandbox; with @follow_last through a link at its end too. %NULL for a
 * loop. */
static char *
resolve (SbxPlan    *self,
         const char *path,
         gboolean    follow_last)
{
  g_autoptr(GString) done = g_string_new (NULL);
  g_autoptr(GPtrArray) rest = g_ptr_array_new_with_free_func (g_free);
  guint links = 0;

  push_components (rest, path);

  while (rest->len > 0)
    {
      g_autofree char *part = g_ptr_array_steal_index (rest, rest->len - 1);
      g_autofree char *target = NULL;

      if (strcmp (part, ".") == 0)
        continue;

      if (strcmp (part, "..") == 0)
        {
          go_up (done);
          continue;
        }

      g_string_append_printf (done, "/%s", part);
      if (rest->len > 0 || follow_last)
        target = read_link (self, done->str);
      if (target == NULL)
        continue;

      if (++links > MAX_LINKS)
        return NULL;

      if (*target == '/')
        g_string_truncate (done, 0);
      else
        go_up (done);
      push_components (rest, target);
    }

  return g_strdup (done->len > 0 ? done->str : "/");
}

/* The little that a provider's /dev has; anything else could not be made there. */
static gboolean
is_device (const char *name)
{
  static const char * const devices[] = {
    "null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "pts", "shm", "fd",
    "stdin", "stdout", "stderr", "core",
  };
  const gsize length = strcspn (name, "/");

  for (gsize i = 0; i < G_N_ELEMENTS (devices); i++)
    if (strlen (devices[i]) == length && strncmp (devices[i], name, length) == 0)
      return TRUE;

  return FALSE;
}

static SbxPlanAccess
get_dev_access (const SbxPlanEntry *entry,
                const char         *path,
                gboolean            sealed)
{
  const char *name = path + strlen (entry->path);

  if (*name == '\0')
    return SBX_PLAN_ACCESS_READ | (sealed ? 0 : SBX_PLAN_ACCESS_WRITE);

  return is_device (name + 1) || !sealed ? SBX_PLAN_ACCESS_READ | SBX_PLAN_ACCESS_WRITE
                                         : SBX_PLAN_ACCESS_NONE;
}

/* What can be done with what is at @path, which has no link in it. */
static SbxPlanAccess
get_access (SbxPlan            *self,
            const SbxPlanEntry *entry,
            const char         *path)
{
  const gboolean sealed = find_kind (self, SBX_PLAN_SEAL, entry->path, FALSE) != NULL;

  switch (entry->kind)
    {
    case SBX_PLAN_WRITE:
    case SBX_PLAN_PROC:
      return SBX_PLAN_ACCESS_READ | SBX_PLAN_ACCESS_WRITE;

    case SBX_PLAN_MEMORY:
      return SBX_PLAN_ACCESS_READ | (sealed ? 0 : SBX_PLAN_ACCESS_WRITE);

    case SBX_PLAN_SUBMOUNT:
      return SBX_PLAN_ACCESS_READ | (entry->writable ? SBX_PLAN_ACCESS_WRITE : 0);

    case SBX_PLAN_DEV:
      return get_dev_access (entry, path, sealed);

    case SBX_PLAN_SOCKET:
      return SBX_PLAN_ACCESS_CONNECT;

    case SBX_PLAN_READ:
    case SBX_PLAN_DIRECTORY:
    case SBX_PLAN_LINK:
    case SBX_PLAN_COPY:
      return SBX_PLAN_ACCESS_READ;

    case SBX_PLAN_MASK:
    case SBX_PLAN_HIDDEN:
    case SBX_PLAN_SEAL:
    case SBX_PLAN_QUARANTINE:
    case SBX_PLAN_DOMAIN:
    default:
      return SBX_PLAN_ACCESS_NONE;
    }
}

/* Whether the last name of @path can be given to something else: nothing is mounted there, and the
 * directory that it is in can be written. */
static gboolean
can_replace (SbxPlan    *self,
             const char *path)
{
  const SbxPlanEntry *here = find_entry (self, path);
  g_autofree char *parent = g_path_get_dirname (path);
  const SbxPlanEntry *above = find_entry (self, parent);

  if (here == NULL || above == NULL || (strcmp (here->path, path) == 0 && !here->in_place))
    return FALSE;

  return (get_access (self, above, parent) & SBX_PLAN_ACCESS_WRITE) != 0 &&
         above->kind != SBX_PLAN_PROC && above->kind != SBX_PLAN_DEV;
}

/* Of two sentences about one path, what becomes of it later is the more important. */
static SbxPlanEntry *
find_quarantine (SbxPlan       *self,
                 const char    *path,
                 SbxPlanAccess  access)
{
  if ((access & (SBX_PLAN_ACCESS_WRITE | SBX_PLAN_ACCESS_REPLACE)) == 0)
    return NULL;

  return find_kind (self, SBX_PLAN_QUARANTINE, path, TRUE);
}

/* The root is there in any case, and empty but for what the plan has. */
static SbxPlanEntry *
find_target (SbxPlan       *self,
             const char    *path,
             SbxPlanAccess *access)
{
  SbxPlanEntry *entry;

  if (strcmp (path, "/") == 0)
    {
      *access = SBX_PLAN_ACCESS_READ;
      return find_kind (self, SBX_PLAN_SEAL, path, FALSE);
    }

  entry = find_entry (self, path);
  if (entry != NULL)
    *access = get_access (self, entry, path);

  return entry;
}

/**
 * sbx_plan_check_path:
 * @self: a plan
 * @path: (type filename): a path inside the sandbox; one that is relative is taken from the working
 *   directory
 * @access: (out): what can be done with it
 *
 * Finds out what can be done with a path, and which entry decides.
 *
 * Symbolic links are followed as they would be in the sandbox, those of the plan as well as those
 * that are in what it shows of the host: this looks at the disk. %SBX_PLAN_ACCESS_REPLACE alone is
 * about the path itself, if that is a link.
 *
 * Whether the path exists is not looked at: what can be written can be made. Nor are owners and
 * modes, see [class@Plan].
 *
 * Returns: (transfer none) (nullable): the entry that decides, or %NULL if no entry holds the path,
 *   so that it is not there and cannot be made
 *
 * Since: 1.0
 */
SbxPlanEntry *
sbx_plan_check_path (SbxPlan       *self,
                     const char    *path,
                     SbxPlanAccess *access)
{
  g_autofree char *absolute = NULL;
  g_autofree char *target = NULL;
  g_autofree char *itself = NULL;
  SbxPlanEntry *entry;
  SbxPlanEntry *quarantine;

  g_return_val_if_fail (SBX_IS_PLAN (self), NULL);
  g_return_val_if_fail (path != NULL, NULL);
  g_return_val_if_fail (access != NULL, NULL);

  *access = SBX_PLAN_ACCESS_NONE;
  absolute = *path == '/' ? g_strdup (path) : g_strconcat (self->cwd, "/", path, NULL);
  target = resolve (self, absolute, TRUE);
  itself = resolve (self, absolute, FALSE);
  if (itself == NULL)
    return NULL;

  entry = target != NULL ? find_target (self, target, access) : NULL;
  if (can_replace (self, itself))
    {
      *access |= SBX_PLAN_ACCESS_REPLACE;
      if (entry == NULL)
        entry = find_entry (self, itself);
    }

  quarantine = find_quarantine (self, target != NULL ? target : itself, *access);

  return quarantine != NULL ? quarantine : entry;
}

/**
 * sbx_plan_check_domain:
 * @self: a plan
 * @domain: a domain name
 * @allowed: (out): whether it can be reached
 *
 * Finds out whether a host of the network can be reached, and which entry decides.
 *
 * A name is compared, and nothing asked of the network.
 *
 * Returns: (transfer none) (nullable): the first entry that allows it, or %NULL if none does
 *
 * Since: 1.0
 */
SbxPlanEntry *
sbx_plan_check_domain (SbxPlan    *self,
                       const char *domain,
                       gboolean   *allowed)
{
  g_return_val_if_fail (SBX_IS_PLAN (self), NULL);
  g_return_val_if_fail (domain != NULL, NULL);
  g_return_val_if_fail (allowed != NULL, NULL);

  *allowed = FALSE;

  for (guint i = 0; i < self->entries->len; i++)
    {
      SbxPlanEntry *entry = g_ptr_array_index (self->entries, i);

      if (entry->kind == SBX_PLAN_DOMAIN && _sbx_domain_matches (entry->domain, domain))
        {
          *allowed = TRUE;
          return entry;
        }
    }

  return NULL;
}
