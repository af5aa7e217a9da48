/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-denials-private.h"

#include "core/sbx-denial-private.h"
#include "core/sbx-reach-entry.h"
#include "core/sbx-text-private.h"
#include "spec/sbx-roots-private.h"

#include <glib/gi18n-lib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * What must have become of a call, by the plan and by what the host has. A path that is neither
 * inside nor on the host is missing everywhere, and of no interest.
 */

#define MAX_DENIED 200
#define MAX_SIBLINGS 5

/* What was judged already, so that a loop over the same names costs little. */
#define MAX_SEEN 8192
#define MAX_SEEN_BYTES (1024 * 1024)

typedef struct
{
  const char *field;          /* (nullable) static */
  char       *path;
  char       *suggested;      /* (nullable) */
  char       *text;
} Denied;

struct _SbxBwrapJudge
{
  SbxPlan    *plan;
  SbxRoots   *roots;          /* (nullable) real, when first needed */
  GHashTable *seen;           /* of owned strings: the kind, then the path */
  gsize       seen_bytes;

  GMutex      lock;           /* of what follows */
  GPtrArray  *denied;
  GHashTable *known;          /* borrowed: the same by the field, then the path */
  guint64     truncated;
};

static void
denied_free (gpointer data)
{
  Denied *denied = data;

  g_free (denied->path);
  g_free (denied->suggested);
  g_free (denied->text);
  g_free (denied);
}

SbxBwrapJudge *
_sbx_bwrap_judge_new (SbxPlan *plan)
{
  SbxBwrapJudge *self = g_new0 (SbxBwrapJudge, 1);

  self->plan = g_object_ref (plan);
  self->seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->denied = g_ptr_array_new_with_free_func (denied_free);
  self->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_mutex_init (&self->lock);

  return self;
}

void
_sbx_bwrap_judge_free (SbxBwrapJudge *self)
{
  g_object_unref (self->plan);
  g_clear_pointer (&self->roots, _sbx_roots_free);
  g_hash_table_unref (self->seen);
  g_ptr_array_unref (self->denied);
  g_hash_table_unref (self->known);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static gboolean
is_below (const char *path,
          const char *ancestor)
{
  const gsize length = strlen (ancestor);

  return strncmp (path, ancestor, length) == 0 &&
         (path[length] == '\0' || path[length] == '/' || strcmp (ancestor, "/") == 0);
}

/* What libraries and shells look for wherever they run, and do well without. */
static gboolean
is_noise (const char *path)
{
  static const char * const places[] = {
    "/dev/log", "/etc/.pwd.lock", "/etc/gshadow", "/etc/ld.so.preload", "/etc/selinux",
    "/etc/shadow", "/lib/locale", "/proc", "/run/nscd", "/run/systemd", "/selinux", "/sys",
    "/usr/lib/locale", "/usr/share/locale", "/var/lib/sss", "/var/run/nscd",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    if (is_below (path, places[i]))
      return TRUE;

  return strcmp (path, "/") == 0 || strstr (path, "/__pycache__/") != NULL;
}

static char *
make_key (SbxBwrapTry  what,
          const char  *path)
{
  return g_strdup_printf ("%c%s", 'a' + (int) what, path);
}

static gboolean
was_tried (SbxBwrapJudge *self,
           SbxBwrapTry    what,
           const char    *path)
{
  g_autofree char *key = make_key (what, path);

  return g_hash_table_contains (self->seen, key);
}

/* Whether nothing inside has made @path, which is somewhere in memory, or what it is in. */
static gboolean
was_not_made (SbxBwrapJudge *self,
              const char    *root,
              const char    *path)
{
  g_autofree char *at = g_strdup (path);

  while (strlen (at) > strlen (root))
    {
      char *slash;

      if (was_tried (self, SBX_BWRAP_TRY_MAKE, at) || was_tried (self, SBX_BWRAP_TRY_CREATE, at) ||
          was_tried (self, SBX_BWRAP_TRY_REPLACE, at))
        return FALSE;

      slash = strrchr (at, '/');
      if (slash == NULL)
        break;
      *slash = '\0';
    }

  return strcmp (path, root) != 0;
}

/* Where the sandbox has a place of its own by that name, whether only the host has @path in it. */
static gboolean
is_left_outside (SbxBwrapJudge *self,
                 SbxPlanEntry  *entry,
                 const char    *path)
{
  const SbxPlanKind kind = entry != NULL ? sbx_plan_entry_get_kind (entry) : SBX_PLAN_PROC;
  const char *place = entry != NULL ? sbx_plan_entry_get_path (entry) : NULL;
  const char *source = entry != NULL ? sbx_plan_entry_get_source_path (entry) : NULL;
  g_autofree char *really = NULL;
  struct stat st;

  if (place == NULL || !is_below (path, place))
    return FALSE;
  if (kind == SBX_PLAN_MEMORY)
    return was_not_made (self, place, path);
  if ((kind != SBX_PLAN_WRITE && kind != SBX_PLAN_READ) || source == NULL ||
      strcmp (source, place) == 0)
    return FALSE;

  really = g_strconcat (source, path + strlen (place), NULL);
  return lstat (really, &st) < 0;
}

static gboolean
is_new (SbxBwrapJudge       *self,
        const SbxBwrapTried *tried)
{
  char *key = make_key (tried->what, tried->path);

  if (g_hash_table_contains (self->seen, key))
    {
      g_free (key);
      return FALSE;
    }

  if (g_hash_table_size (self->seen) >= MAX_SEEN || self->seen_bytes >= MAX_SEEN_BYTES)
    {
      g_hash_table_remove_all (self->seen);
      self->seen_bytes = 0;
    }

  self->seen_bytes += strlen (key) + 1;
  g_hash_table_add (self->seen, key);

  return TRUE;
}

/* The directories on the way to what the plan has are there as well. */
static gboolean
leads_somewhere (SbxBwrapJudge *self,
                 const char    *path)
{
  const guint n = g_list_model_get_n_items (G_LIST_MODEL (self->plan));

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(SbxPlanEntry) entry = g_list_model_get_item (G_LIST_MODEL (self->plan), i);
      const char *place = sbx_plan_entry_get_path (entry);

      if (place != NULL && is_below (place, path))
        return TRUE;
    }

  return FALSE;
}

/* Whether @path is protected: the deepest entry of the reach that holds it says so. */
static gboolean
is_protected (SbxBwrapJudge *self,
              const char    *path)
{
  SbxReach *reach = sbx_plan_get_reach (self->plan);
  GListModel *entries = reach != NULL ? sbx_reach_get_entries (reach) : NULL;
  const guint n = entries != NULL ? g_list_model_get_n_items (entries) : 0;
  gsize longest = 0;
  gboolean found = FALSE;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(SbxReachEntry) entry = g_list_model_get_item (entries, i);
      const SbxReachKind kind = sbx_reach_entry_get_kind (entry);
      const char *place = sbx_reach_entry_get_path (entry);
      const gboolean protects = kind == SBX_REACH_PROTECTED || kind == SBX_REACH_GIT_DIR ||
                                kind == SBX_REACH_HIDDEN;

      if (place == NULL || !is_below (path, place) || strlen (place) < longest)
        continue;

      found = strlen (place) > longest ? protects : found || protects;
      longest = strlen (place);
    }

  return found;
}

/* Takes @text and @suggested. */
static void
note (SbxBwrapJudge *self,
      const char    *field,
      const char    *path,
      char          *suggested,
      char          *text)
{
  g_autofree char *key = g_strdup_printf ("%s:%s", field != NULL ? field : "", path);
  Denied *denied = g_new0 (Denied, 1);

  denied->field = field;
  denied->path = g_strdup (path);
  denied->suggested = suggested;
  denied->text = text;

  g_mutex_lock (&self->lock);
  if (g_hash_table_contains (self->known, key))
    denied_free (denied);
  else if (self->denied->len >= MAX_DENIED)
    {
      self->truncated++;
      denied_free (denied);
    }
  else
    {
      g_ptr_array_add (self->denied, denied);
      g_hash_table_add (self->known, g_steal_pointer (&key));
    }
  g_mutex_unlock (&self->lock);
}

/* Why no spec can name @path, or NULL if one can. */
static char *
find_rule (SbxBwrapJudge *self,
           SbxRootsUse    use,
           const char    *field,
           const char    *path)
{
  g_autoptr(GError) error = NULL;
  char real[PATH_MAX];
  struct stat st;

  if (self->roots == NULL)
    {
      g_autoptr(SbxRoots) roots = _sbx_roots_new ();

      self->roots = _sbx_roots_real (roots, NULL);
    }

  if (self->roots == NULL || realpath (path, real) == NULL || stat (real, &st) < 0 ||
      _sbx_roots_check (self->roots, use, field, real, &st, &error))
    return NULL;

  return g_strdup (error->message);
}

/* @suggested is on the host. */
static void
note_path (SbxBwrapJudge *self,
           const char    *field,
           const char    *path,
           const char    *suggested,
           const char    *reason)
{
  const gboolean writes = strcmp (field, "write") == 0;
  g_autofree char *quoted = _sbx_text_quote (path);
  g_autofree char *rule = find_rule (self, writes ? SBX_ROOTS_WRITE : SBX_ROOTS_READ, field,
                                     suggested);
  const char *why = rule != NULL ? rule : reason;
  char *text = writes ? g_strdup_printf (_("changing %s: %s"), quoted, why)
                      : g_strdup_printf (_("reading %s: %s"), quoted, why);

  note (self, rule == NULL ? field : NULL, path, rule == NULL ? g_strdup (suggested) : NULL, text);
}

static void
note_protected (SbxBwrapJudge *self,
                SbxPlanEntry  *entry,
                const char    *path)
{
  g_autofree char *quoted = _sbx_text_quote (path);
  const char *reason = entry != NULL ? sbx_plan_entry_get_reason (entry) : NULL;

  if (reason == NULL)
    reason = _("it is hidden");

  note (self, NULL, path, NULL, g_strdup_printf (_("%s is protected: %s"), quoted, reason));
}

static void
judge_read (SbxBwrapJudge *self,
            const char    *path)
{
  SbxPlanAccess access;
  SbxPlanEntry *entry = sbx_plan_check_path (self->plan, path, &access);

  if (leads_somewhere (self, path) ||
      ((access & (SBX_PLAN_ACCESS_READ | SBX_PLAN_ACCESS_CONNECT)) != 0 &&
       !is_left_outside (self, entry, path)))
    return;

  if (is_protected (self, path))
    note_protected (self, entry, path);
  else if (entry != NULL && access == SBX_PLAN_ACCESS_NONE)
    note_path (self, "read", path, path, _("nothing of it can be seen in the sandbox"));
  else
    note_path (self, "read", path, path, _("it is not in the sandbox"));
}

/* @exists is whether the host has something there. */
static void
judge_write (SbxBwrapJudge *self,
             const char    *path,
             SbxPlanAccess  needed,
             gboolean       exists)
{
  g_autofree char *parent = g_path_get_dirname (path);
  SbxPlanAccess access;
  SbxPlanEntry *entry = sbx_plan_check_path (self->plan, path, &access);
  struct stat st;

  if ((access & needed) != 0)
    return;

  /* Where the directory is missing as well, that is what is wrong. */
  if (!exists && stat (parent, &st) < 0)
    return;

  if (is_protected (self, path))
    note_protected (self, entry, path);
  else
    note_path (self, "write", path,
               exists && (needed & SBX_PLAN_ACCESS_REPLACE) == 0 ? path : parent,
               (access & SBX_PLAN_ACCESS_READ) != 0 ? _("it can only be read")
                                                    : _("it is not in the sandbox"));
}

static void
judge_socket (SbxBwrapJudge *self,
              const char    *path)
{
  g_autofree char *quoted = _sbx_text_quote (path);
  const char *escape;
  SbxPlanEntry *entry;
  SbxPlanAccess access;
  struct stat st;

  entry = sbx_plan_check_path (self->plan, path, &access);
  if (((access & (SBX_PLAN_ACCESS_READ | SBX_PLAN_ACCESS_WRITE | SBX_PLAN_ACCESS_CONNECT)) != 0 &&
       !is_left_outside (self, entry, path)) ||
      stat (path, &st) < 0 || !S_ISSOCK (st.st_mode))
    return;

  escape = _sbx_roots_name_escape (path);
  if (escape != NULL)
    note (self, NULL, path, NULL,
          g_strdup_printf (_("connecting to %s: behind it is %s, which would do anything outside "
                             "of the sandbox"), quoted, g_dgettext (GETTEXT_PACKAGE, escape)));
  else
    note (self, "sockets", path, g_strdup (path),
          g_strdup_printf (_("connecting to %s: the socket is not in the sandbox"), quoted));
}

static void
judge_network (SbxBwrapJudge *self,
               const char    *address)
{
  note (self, "network", address, NULL,
        g_strdup_printf (_("connecting to %s: the sandbox has no network, and does not look up "
                           "names; which name this is the address does not tell"), address));
}

void
_sbx_bwrap_judge_add (SbxBwrapJudge       *self,
                      const SbxBwrapTried *tried)
{
  struct stat st;
  gboolean exists;

  if (tried->what == SBX_BWRAP_TRY_NETWORK)
    {
      judge_network (self, tried->path);
      return;
    }

  if (is_noise (tried->path) || !is_new (self, tried))
    return;

  exists = lstat (tried->path, &st) == 0;

  switch (tried->what)
    {
    case SBX_BWRAP_TRY_READ:
      if (exists)
        judge_read (self, tried->path);
      break;

    case SBX_BWRAP_TRY_WRITE:
      if (exists)
        judge_write (self, tried->path, SBX_PLAN_ACCESS_WRITE, TRUE);
      break;

    case SBX_BWRAP_TRY_CREATE:
      judge_write (self, tried->path,
                   SBX_PLAN_ACCESS_WRITE | (exists ? 0 : SBX_PLAN_ACCESS_REPLACE), exists);
      break;

    case SBX_BWRAP_TRY_MAKE:
      if (!exists)
        judge_write (self, tried->path, SBX_PLAN_ACCESS_REPLACE, FALSE);
      break;

    case SBX_BWRAP_TRY_REPLACE:
      judge_write (self, tried->path, SBX_PLAN_ACCESS_REPLACE, exists);
      break;

    case SBX_BWRAP_TRY_REMOVE:
      if (exists)
        judge_write (self, tried->path, SBX_PLAN_ACCESS_REPLACE, TRUE);
      break;

    case SBX_BWRAP_TRY_CONNECT:
      judge_socket (self, tried->path);
      break;

    case SBX_BWRAP_TRY_NETWORK:
    default:
      break;
    }
}

/* As a member of an object; NULL for what JSON cannot say. */
static char *
make_suggestion (const char *field,
                 const char *path)
{
  g_autoptr(GString) text = NULL;

  if (field == NULL || path == NULL || !g_utf8_validate (path, -1, NULL))
    return NULL;

  text = g_string_new (NULL);
  g_string_append_printf (text, "\"%s\": [\"", field);
  for (const char *p = path; *p != '\0'; p++)
    {
      const guchar c = (guchar) *p;

      if (c == '"' || c == '\\')
        g_string_append_printf (text, "\\%c", c);
      else if (c < 0x20 || c == 0x7f)
        g_string_append_printf (text, "\\u%04x", c);
      else
        g_string_append_c (text, *p);
    }
  g_string_append (text, "\"]");

  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* The directory of what @denied suggests, with the field before it. */
static char *
get_family (const Denied *denied)
{
  g_autofree char *directory = denied->suggested != NULL ? g_path_get_dirname (denied->suggested)
                                                         : NULL;

  if (directory == NULL || strcmp (denied->path, denied->suggested) != 0 ||
      strchr (directory + 1, '/') == NULL)
    return NULL;

  return g_strdup_printf ("%s:%s", denied->field, directory);
}

static GHashTable *
count_families (SbxBwrapJudge *self)
{
  GHashTable *families = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < self->denied->len; i++)
    {
      char *family = get_family (g_ptr_array_index (self->denied, i));

      if (family != NULL)
        g_hash_table_replace (families, family,
                              GUINT_TO_POINTER (1 + GPOINTER_TO_UINT
                                                      (g_hash_table_lookup (families, family))));
    }

  return families;
}

/* The directory in place of many in it; the first one brings it, and the rest nothing. */
static SbxDenial *
make_family (const Denied *denied,
             GHashTable   *told,
             const char   *family,
             guint         n)
{
  g_autofree char *directory = g_path_get_dirname (denied->suggested);
  g_autofree char *quoted = _sbx_text_quote (directory);
  g_autofree char *suggestion = make_suggestion (denied->field, directory);
  g_autofree char *text = NULL;

  if (!g_hash_table_add (told, g_strdup (family)))
    return NULL;

  text = g_strdup_printf (_("%u of what is in %s, of which this sandbox does not have all"),
                          n, quoted);
  return _sbx_denial_new (denied->field, directory, text, suggestion);
}

GListModel *
_sbx_bwrap_judge_list (SbxBwrapJudge *self,
                       guint64       *truncated)
{
  GListStore *list = g_list_store_new (SBX_TYPE_DENIAL);
  g_autoptr(GHashTable) families = NULL;
  g_autoptr(GHashTable) told = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  g_mutex_lock (&self->lock);
  families = count_families (self);
  *truncated = self->truncated;

  for (guint i = 0; i < self->denied->len; i++)
    {
      const Denied *denied = g_ptr_array_index (self->denied, i);
      g_autofree char *family = get_family (denied);
      const guint n = family != NULL
                        ? GPOINTER_TO_UINT (g_hash_table_lookup (families, family)) : 0;
      g_autofree char *suggestion = make_suggestion (denied->field, denied->suggested);
      g_autoptr(SbxDenial) denial = NULL;

      if (n > MAX_SIBLINGS)
        denial = make_family (denied, told, family, n);
      else
        denial = _sbx_denial_new (denied->field, denied->path, denied->text, suggestion);

      if (denial != NULL)
        g_list_store_append (list, denial);
    }
  g_mutex_unlock (&self->lock);

  return G_LIST_MODEL (list);
}
