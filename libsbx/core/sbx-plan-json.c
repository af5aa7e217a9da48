/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-plan-private.h"
#include "json/sbx-json-private.h"
#include "sbx-enum-types.h"

/* A plan as JSON: made for tools, and to be compared. Nothing here is ever read back. */

static const char *
get_nick (SbxPlanKind kind)
{
  g_autoptr(GEnumClass) klass = g_type_class_ref (SBX_TYPE_PLAN_KIND);
  const GEnumValue *found = g_enum_get_value (klass, (int) kind);

  return found != NULL ? found->value_nick : "unknown";
}

/* A path that is no UTF-8 is {"escaped": …}, where \xNN is a byte that is not ASCII and \\ a
 * backslash, so that nobody takes the one for the other. */
static void
add_bytes (JsonBuilder *builder,
           const char  *name,
           const char  *bytes)
{
  g_autoptr(GString) escaped = NULL;

  json_builder_set_member_name (builder, name);
  if (bytes == NULL)
    {
      json_builder_add_null_value (builder);
      return;
    }
  if (g_utf8_validate (bytes, -1, NULL))
    {
      json_builder_add_string_value (builder, bytes);
      return;
    }

  escaped = g_string_new (NULL);
  for (; *bytes != '\0'; bytes++)
    if (*bytes == '\\')
      g_string_append (escaped, "\\\\");
    else if (*bytes & 0x80)
      g_string_append_printf (escaped, "\\x%02x", (guchar) *bytes);
    else
      g_string_append_c (escaped, *bytes);

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "escaped");
  json_builder_add_string_value (builder, escaped->str);
  json_builder_end_object (builder);
}

static void
add_entry (JsonBuilder        *builder,
           const SbxPlanEntry *entry)
{
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "kind");
  json_builder_add_string_value (builder, get_nick (entry->kind));
  if (entry->domain != NULL)
    add_bytes (builder, "domain", entry->domain);
  else
    add_bytes (builder, "path", entry->path);
  add_bytes (builder, "sourcePath", entry->source_path);
  add_bytes (builder, "reason", entry->reason);
  add_bytes (builder, "source", entry->source);
  json_builder_end_object (builder);
}

/* A number of JSON is exact up to 2^53 for most who read it. */
static void
add_limits (JsonBuilder   *builder,
            const SbxPlan *self)
{
  static const char * const names[] = {
    [SBX_LIMIT_MEMORY] = "memory",
    [SBX_LIMIT_PROCESSES] = "processes",
    [SBX_LIMIT_CPU_TIME] = "cpuTime",
    [SBX_LIMIT_FILE_SIZE] = "fileSize",
    [SBX_LIMIT_OPEN_FILES] = "openFiles",
  };

  json_builder_set_member_name (builder, "limits");
  json_builder_begin_object (builder);
  for (int i = 0; i < SBX_N_LIMITS; i++)
    {
      if (self->limits[i] == 0)
        continue;

      json_builder_set_member_name (builder, names[i]);
      json_builder_begin_object (builder);
      json_builder_set_member_name (builder, "value");
      json_builder_add_int_value (builder, (gint64) MIN (self->limits[i], (guint64) G_MAXINT64));
      add_bytes (builder, "means", self->means[i]);
      json_builder_end_object (builder);
    }
  json_builder_end_object (builder);
}

/**
 * sbx_plan_to_json:
 * @self: a plan
 * @error: return location for a [struct@GLib.Error]
 *
 * Writes the plan as a JSON text, for tools, and to compare one with another.
 *
 * It is an object with `version`, which is 1, `cwd`, `entries` in the order of mounting, each with
 * `kind` (as [enum@PlanKind] is called), `path` or `domain`, `sourcePath`, `reason` and `source`;
 * `limits`, as a spec calls them, each with `value` and `means`; and `problems`. A path that is no
 * UTF-8 is an object with `escaped`, in which `\xNN` stands for a byte that is not ASCII and `\\`
 * for a backslash.
 *
 * Returns: (transfer full): the text, in UTF-8, with a newline at its end
 *
 * Since: 1.0
 */
GBytes *
sbx_plan_to_json (SbxPlan  *self,
                  GError  **error)
{
  g_autoptr(JsonBuilder) builder = NULL;
  g_autoptr(JsonNode) root = NULL;

  g_return_val_if_fail (SBX_IS_PLAN (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  builder = json_builder_new ();
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "version");
  json_builder_add_int_value (builder, 1);
  add_bytes (builder, "cwd", self->cwd);

  json_builder_set_member_name (builder, "entries");
  json_builder_begin_array (builder);
  for (guint i = 0; i < self->entries->len; i++)
    add_entry (builder, g_ptr_array_index (self->entries, i));
  json_builder_end_array (builder);

  add_limits (builder, self);

  json_builder_set_member_name (builder, "problems");
  json_builder_begin_array (builder);
  for (guint i = 0; i + 1 < self->problems->len; i++)
    json_builder_add_string_value (builder, g_ptr_array_index (self->problems, i));
  json_builder_end_array (builder);
  json_builder_end_object (builder);

  root = json_builder_get_root (builder);

  return _sbx_json_to_bytes (root, TRUE);
}
