/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "reach-plan.h"

gboolean tool_plan_toolchain;

gboolean
tool_plan_take_options (ToolReachOptions   *self,
                        const char * const *arguments,
                        gsize              *n_used)
{
  *n_used = 0;

  if (tool_reach_options_name_used (&tool_reach_parsed) == NULL && arguments != NULL
      && arguments[0] != NULL)
    {
      tool_reach_parsed.spec = g_strdup (arguments[0]);
      *n_used = 1;
    }

  return tool_reach_options_take (self);
}

SbxPlan *
tool_plan_make (const ToolReachOptions  *options,
                GError                 **error)
{
  g_autoptr(SbxSandboxSpec) spec = tool_reach_options_make_spec (options, error);
  g_autoptr(SbxBwrapProvider) provider = NULL;
  g_autoptr(SbxResolver) resolver = NULL;
  g_autoptr(SbxReach) reach = NULL;

  if (spec == NULL)
    return NULL;

  provider = sbx_bwrap_provider_new ();
  sbx_bwrap_provider_set_toolchain (provider, tool_plan_toolchain);
  resolver = tool_resolver_new (provider);
  reach = sbx_resolver_resolve (resolver, spec, options->base, SBX_RESOLVE_NONE, NULL, error);
  if (reach == NULL)
    return NULL;

  return sbx_bwrap_provider_explain (provider, reach, NULL, error);
}
