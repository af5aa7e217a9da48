/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-bwrap-scope-private.h"

#include "core/sbx-error.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/*
 * Systemd says that a limit is set when it was told so, also where the kernel has no controller for
 * it, or none that this user was given. So what the kernel has is looked at.
 */

/* Where a limit is kept: version 2 has one tree, version 1 has one for each controller. */
typedef struct
{
  const char *name;            /* of the limit, as in a spec */
  const char *file;
  const char *old_controller;
  const char *old_file;
} Place;

static const Place memory_place = {
  "memory", "memory.max", "memory", "memory.limit_in_bytes"
};
static const Place processes_place = { "processes", "pids.max", "pids", "pids.max" };

static gboolean
refuse (GError     **error,
        const char  *format,
        ...) G_GNUC_PRINTF (2, 3);

static gboolean
refuse (GError     **error,
        const char  *format,
        ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error, g_error_new_valist (SBX_ERROR, SBX_ERROR_NOT_ENFORCEABLE, format,
                                                args));
  va_end (args);

  return FALSE;
}

/* The kernel rounds down, to whole pages. */
static gboolean
check_file (const char  *path,
            const char  *name,
            guint64      value,
            GError     **error)
{
  g_autofree char *text = NULL;
  guint64 found = 0;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return refuse (error, _("systemd made a control group, but that has no limit of %s: the "
                            "controller is not delegated to this user"), name);

  if (g_ascii_string_to_unsigned (g_strstrip (text), 10, 0, G_MAXUINT64, &found, NULL) &&
      found <= value)
    return TRUE;

  return refuse (error, _("systemd made a control group, but its limit of %s is not what was asked "
                          "for"), name);
}

/* "0::/a/b" of version 2, "4:pids:/a/b" of version 1. */
static gboolean
is_member (const char *membership,
           const char *controller,
           const char *control_group)
{
  g_auto(GStrv) lines = g_strsplit (membership, "\n", -1);

  for (gsize i = 0; lines[i] != NULL; i++)
    {
      g_auto(GStrv) parts = g_strsplit (lines[i], ":", 3);
      g_auto(GStrv) controllers = NULL;

      if (g_strv_length (parts) != 3 || !g_str_equal (parts[2], control_group))
        continue;

      controllers = g_strsplit (parts[1], ",", -1);
      if (*controller == '\0' ? *parts[1] == '\0'
                              : g_strv_contains ((const char * const *) controllers, controller))
        return TRUE;
    }

  return FALSE;
}

static gboolean
check_member (const char  *membership,
              const char  *controller,
              const char  *control_group,
              GError     **error)
{
  return is_member (membership, controller, control_group) ||
         refuse (error, _("systemd made a control group, but did not move the sandbox into it"));
}

static gboolean
check_limit (const Place  *place,
             guint64       value,
             const char   *root,
             const char   *control_group,
             const char   *membership,
             gboolean      unified,
             GError      **error)
{
  g_autofree char *path = NULL;

  if (value == 0)
    return TRUE;

  if (unified)
    path = g_build_filename (root, control_group, place->file, NULL);
  else
    path = g_build_filename (root, place->old_controller, control_group, place->old_file, NULL);

  return check_member (membership, unified ? "" : place->old_controller, control_group, error) &&
         check_file (path, place->name, value, error);
}

static gboolean
is_dir (const char *root,
        const char *tree,
        const char *control_group)
{
  g_autofree char *path = g_build_filename (root, tree, control_group, NULL);

  return g_file_test (path, G_FILE_TEST_IS_DIR);
}

gboolean
_sbx_bwrap_scope_verify (const SbxBwrapScope  *scope,
                         const char           *root,
                         const char           *control_group,
                         const char           *membership,
                         GError              **error)
{
  const gboolean unified = is_dir (root, "", control_group);

  if (*control_group != '/' || strstr (control_group, "/..") != NULL)
    return refuse (error, _("systemd named no control group for the sandbox"));

  /* Neither of version 2 nor of 1: this program does not see what systemd sees. */
  if (!unified && !is_dir (root, "systemd", control_group) &&
      !is_dir (root, "unified", control_group) &&
      !is_dir (root, memory_place.old_controller, control_group) &&
      !is_dir (root, processes_place.old_controller, control_group))
    return TRUE;

  return check_limit (&memory_place, scope->memory, root, control_group, membership, unified,
                      error) &&
         check_limit (&processes_place, scope->processes, root, control_group, membership, unified,
                      error);
}
