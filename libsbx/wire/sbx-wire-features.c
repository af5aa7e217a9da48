/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-features-private.h"

#include "wire/sbx-wire-member-private.h"

/* What brings what. A plain session has files, and where it has exec it can start something as
 * well; what becomes of that is known only with "process". */
static const struct
{
  SbxWireFeatures  feature;
  const char      *name;
  SbxCapabilities  capabilities;
} table[] = {
  { SBX_WIRE_MULTIPLEX, "multiplex", SBX_CAPABILITIES_NONE },
  { SBX_WIRE_CANCEL, "cancel", SBX_CAPABILITIES_NONE },
  { SBX_WIRE_PROCESS, "process", SBX_CAPABILITIES_SPAWN | SBX_CAPABILITIES_SIGNALS },
  { SBX_WIRE_STDIN, "stdin", SBX_CAPABILITIES_STDIN },
  { SBX_WIRE_PTY, "pty", SBX_CAPABILITIES_TERMINAL },
  { SBX_WIRE_SIGNALS, "signals", SBX_CAPABILITIES_NONE },
  { SBX_WIRE_TIMEOUT, "timeout", SBX_CAPABILITIES_NONE },
  { SBX_WIRE_QUIET_RESULT, "quiet-result", SBX_CAPABILITIES_NONE },
  { SBX_WIRE_RANGES, "ranges", SBX_CAPABILITIES_RANGES },
  { SBX_WIRE_FILES, "files", SBX_CAPABILITIES_LISTING | SBX_CAPABILITIES_MOVING },
};

/* These need a command that runs. */
#define OF_EXEC (SBX_CAPABILITIES_SPAWN | SBX_CAPABILITIES_SIGNALS | SBX_CAPABILITIES_STDIN | \
                 SBX_CAPABILITIES_TERMINAL)

/* Those that come after as many are not known to anybody. */
#define MAX_NAMES 1024

static SbxWireFeatures
parse_names (JsonArray *names)
{
  SbxWireFeatures features = 0;

  for (guint i = 0; i < MIN (json_array_get_length (names), MAX_NAMES); i++)
    {
      JsonNode *node = json_array_get_element (names, i);

      if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
        continue;

      for (gsize j = 0; j < G_N_ELEMENTS (table); j++)
        if (g_str_equal (table[j].name, json_node_get_string (node)))
          features |= table[j].feature;
    }

  return features;
}

gboolean
_sbx_wire_features_parse (JsonObject       *object,
                          gboolean         *exec,
                          SbxWireFeatures  *features,
                          GError          **error)
{
  SbxWireMembers members = { object, "capabilities", SBX_ERROR_PROTOCOL };
  JsonObject *wrapped = NULL;
  JsonArray *names = NULL;
  SbxJsonFound found = SBX_JSON_ABSENT;

  *exec = FALSE;
  *features = 0;

  if (!_sbx_wire_members_get_object (&members, "capabilities", SBX_WIRE_OPTIONAL, &wrapped, error))
    return FALSE;

  if (wrapped != NULL && !json_object_has_member (object, "exec"))
    members.object = wrapped;

  if (!_sbx_wire_members_get_boolean (&members, "exec", exec, error))
    return FALSE;

  if (members.object != NULL)
    found = _sbx_json_object_get_array (members.object, "features", &names);

  if (found == SBX_JSON_WRONG_TYPE)
    return _sbx_wire_members_refuse (&members, "features", "an array", error);

  if (found == SBX_JSON_PRESENT)
    *features = parse_names (names);

  return TRUE;
}

void
_sbx_wire_features_append (GString         *text,
                           gboolean         exec,
                           SbxWireFeatures  features)
{
  const char *separator = "";

  g_string_append_printf (text, "{\"exec\":%s,\"features\":[", exec ? "true" : "false");

  for (gsize i = 0; i < G_N_ELEMENTS (table); i++)
    if (features & table[i].feature)
      {
        g_string_append_printf (text, "%s\"%s\"", separator, table[i].name);
        separator = ",";
      }

  g_string_append (text, "]}");
}

GStrv
_sbx_wire_features_to_names (SbxWireFeatures features)
{
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (table); i++)
    if (features & table[i].feature)
      g_strv_builder_add (builder, table[i].name);

  return g_strv_builder_end (builder);
}

SbxCapabilities
_sbx_wire_features_to_capabilities (gboolean        exec,
                                    SbxWireFeatures features)
{
  SbxCapabilities capabilities = SBX_CAPABILITIES_FILES;

  for (gsize i = 0; i < G_N_ELEMENTS (table); i++)
    if (features & table[i].feature)
      capabilities |= table[i].capabilities;

  if (exec)
    capabilities |= SBX_CAPABILITIES_EXEC | SBX_CAPABILITIES_START;
  else
    capabilities &= ~OF_EXEC;

  return capabilities;
}

/* Whoever can end a process and not send it any other signal may still promise "process", and says
 * so when it is asked for another. */
SbxWireFeatures
_sbx_wire_features_of_capabilities (SbxCapabilities capabilities)
{
  SbxWireFeatures features = 0;

  if (capabilities & SBX_CAPABILITIES_SPAWN)
    capabilities |= SBX_CAPABILITIES_SIGNALS;

  for (gsize i = 0; i < G_N_ELEMENTS (table); i++)
    if (table[i].capabilities != SBX_CAPABILITIES_NONE &&
        (capabilities & table[i].capabilities) == table[i].capabilities)
      features |= table[i].feature;

  return features;
}
