/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "spec/sbx-resolve-path-private.h"

#include "core/sbx-protection-private.h"
#include "files/sbx-path-private.h"
#include "json/sbx-json-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* The sockets that a sandbox could leave through, and those of them that somebody allowed. */

static void
add_all (GPtrArray          *paths,
         const char * const *more)
{
  for (gsize i = 0; more != NULL && more[i] != NULL; i++)
    g_ptr_array_add (paths, g_strdup (more[i]));
}

/* The provider checks its settings itself, and may not have done so yet: what is no list of texts
 * allows nothing. */
static GStrv
read_setting (SbxReach *asked)
{
  const char *text = sbx_reach_get_settings (asked);
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(JsonNode) root = NULL;
  GStrv paths = NULL;

  if (text == NULL)
    return NULL;

  bytes = g_bytes_new_static (text, strlen (text));
  root = _sbx_json_parse (bytes, NULL, NULL);
  if (root == NULL || !JSON_NODE_HOLDS_OBJECT (root) ||
      _sbx_json_object_get_strv (json_node_get_object (root), "allowSockets", &paths) !=
        SBX_JSON_PRESENT)
    return NULL;

  return paths;
}

GStrv
_sbx_resolve_allowed_sockets (const SbxRoots *roots,
                              SbxReach       *asked)
{
  GPtrArray *paths = g_ptr_array_new ();
  g_auto(GStrv) setting = read_setting (asked);

  add_all (paths, (const char * const *) roots->allowed_sockets);
  add_all (paths, (const char * const *) setting);
  g_ptr_array_add (paths, NULL);

  return (GStrv) g_ptr_array_free (paths, FALSE);
}

gboolean
_sbx_resolve_check_escape (const SbxRoots     *roots,
                           const char         *path,
                           const struct stat  *st,
                           GError            **error)
{
  const char *name = _sbx_roots_find_escape (roots, path, st);
  g_autofree char *shown = NULL;

  if (name == NULL || !SBX_PROTECTS (E12) ||
      (roots->allowed_sockets != NULL &&
       g_strv_contains ((const char * const *) roots->allowed_sockets, path)))
    return TRUE;

  shown = _sbx_path_show (path);
  g_set_error (error, SBX_ERROR, SBX_ERROR_REFUSED,
               _("sockets: “%s” leads to %s, through which a sandbox can do what you can do "
                 "outside of it; do without it, or name this very path in the setting "
                 "“allowSockets” of the provider"),
               shown, name);
  return FALSE;
}
