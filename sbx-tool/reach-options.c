/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "reach-options.h"

#include "spec-file.h"
#include "tool-path.h"
#include "tool-text.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <string.h>

ToolReachOptions tool_reach_parsed;

gboolean
tool_reach_parse_git (const char  *option_name,
                      const char  *value,
                      gpointer     data,
                      GError     **error)
{
  static const char * const names[] = {
    [SBX_GIT_MODE_NONE] = "none",
    [SBX_GIT_MODE_READ] = "read",
    [SBX_GIT_MODE_COMMIT] = "commit",
    [SBX_GIT_MODE_FULL] = "full",
  };
  g_autofree char *shown = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_strcmp0 (names[i], value) == 0)
      {
        tool_reach_parsed.git_mode = (SbxGitMode) i;
        return TRUE;
      }

  shown = tool_quote (value);
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               _("--git %s: the modes are none, read, commit and full"), shown);
  return FALSE;
}

typedef struct
{
  const char *name;
  const char *units;    /* letters, each a multiple of the one before; the first is of 1 */
  guint64     factors[6];
} LimitName;

static const LimitName limit_names[] = {
  [SBX_LIMIT_MEMORY] = { "memory", "bKMGT", { 1, 1 << 10, 1 << 20, 1 << 30, 1ULL << 40 } },
  [SBX_LIMIT_PROCESSES] = { "processes", "", { 0 } },
  [SBX_LIMIT_CPU_TIME] = { "cpuTime", "smh", { 1, 60, 3600 } },
  [SBX_LIMIT_FILE_SIZE] = { "fileSize", "bKMGT", { 1, 1 << 10, 1 << 20, 1 << 30, 1ULL << 40 } },
  [SBX_LIMIT_OPEN_FILES] = { "openFiles", "", { 0 } },
};

/* A whole number above 0, with a unit behind it where there are some. */
static gboolean
parse_amount (const LimitName *name,
              const char      *text,
              guint64         *amount)
{
  char *end = NULL;
  guint64 number, factor = 1;
  const char *unit;

  if (!g_ascii_isdigit (*text))
    return FALSE;

  errno = 0;
  number = g_ascii_strtoull (text, &end, 10);
  if (errno != 0 || number == 0)
    return FALSE;

  if (*end != '\0')
    {
      unit = strchr (name->units, *end);
      if (unit == NULL || end[1] != '\0')
        return FALSE;
      factor = name->factors[unit - name->units];
    }

  return g_uint64_checked_mul (amount, number, factor) && *amount <= G_MAXINT64;
}

static gboolean
set_limit (const char  *shown,
           gsize        limit,
           const char  *text,
           GError     **error)
{
  const LimitName *name = &limit_names[limit];

  if (parse_amount (name, text, &tool_reach_parsed.limits[limit]))
    return TRUE;

  if (*name->units == '\0')
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 _("--limit %s: a whole number above 0 is needed"), shown);
  else if (*name->units == 's')
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 _("--limit %s: seconds are needed, as in %s=90, or %s=5m or 2h"), shown,
                 name->name, name->name);
  else
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 _("--limit %s: bytes are needed, as in %s=512M; the units are K, M, G and T"),
                 shown, name->name);

  return FALSE;
}

gboolean
tool_reach_parse_limit (const char  *option_name,
                        const char  *value,
                        gpointer     data,
                        GError     **error)
{
  const char *equals = strchr (value, '=');
  const gsize length = equals != NULL ? (gsize) (equals - value) : strlen (value);
  g_autofree char *shown = tool_quote (value);

  for (gsize i = 0; equals != NULL && i < G_N_ELEMENTS (limit_names); i++)
    if (strlen (limit_names[i].name) == length &&
        strncmp (limit_names[i].name, value, length) == 0)
      return set_limit (shown, i, equals + 1, error);

  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               _("--limit %s: NAME=VALUE is needed; the names are memory, processes, cpuTime, "
                 "fileSize and openFiles"), shown);
  return FALSE;
}

const char *
tool_reach_options_name_used (const ToolReachOptions *self)
{
  if (self->spec != NULL)
    return "--spec";
  if (self->read != NULL)
    return "--read";
  if (self->write != NULL)
    return "--write";
  if (self->sockets != NULL)
    return "--socket";
  if (self->git_mode != SBX_GIT_MODE_DEFAULT)
    return "--git";
  for (gsize i = 0; i < TOOL_N_LIMITS; i++)
    if (self->limits[i] != 0)
      return "--limit";

  return NULL;
}

static gboolean
resolve_paths (ToolReachOptions *self)
{
  char *cwd[] = { self->cwd, NULL };
  g_autofree char *here = NULL;

  if (self->cwd == NULL || tool_path_needs_base (cwd) || tool_path_needs_base (self->read)
      || tool_path_needs_base (self->write) || tool_path_needs_base (self->sockets))
    {
      here = tool_path_get_base ();
      if (here == NULL)
        return FALSE;
    }

  if (!tool_path_make_all_absolute (cwd, "--cwd", here))
    return FALSE;
  self->cwd = cwd[0];
  self->base = g_strdup (here != NULL ? here : self->cwd);

  return tool_path_make_all_absolute (self->read, "--read", here)
         && tool_path_make_all_absolute (self->write, "--write", here)
         && tool_path_make_all_absolute (self->sockets, "--socket", here);
}

gboolean
tool_reach_options_take (ToolReachOptions *self)
{
  *self = tool_reach_parsed;
  memset (&tool_reach_parsed, 0, sizeof tool_reach_parsed);

  if (self->spec != NULL && *self->spec == '\0')
    {
      tool_complain (_("%s needs a path, and got an empty one"), "--spec");
      return FALSE;
    }

  return resolve_paths (self);
}

void
tool_reach_options_clear (ToolReachOptions *self)
{
  g_clear_pointer (&self->spec, g_free);
  g_clear_pointer (&self->read, g_strfreev);
  g_clear_pointer (&self->write, g_strfreev);
  g_clear_pointer (&self->sockets, g_strfreev);
  g_clear_pointer (&self->cwd, g_free);
  g_clear_pointer (&self->base, g_free);
}

typedef void (*AddFunc) (SbxSandboxSpec *spec,
                         const char     *path);

static void
add_all (SbxSandboxSpec *spec,
         GStrv           paths,
         AddFunc         add)
{
  for (gsize i = 0; paths != NULL && paths[i] != NULL; i++)
    add (spec, paths[i]);
}

SbxSandboxSpec *
tool_reach_options_make_spec (const ToolReachOptions  *self,
                              GError                 **error)
{
  g_autoptr(SbxSandboxSpec) spec = NULL;

  if (self->spec != NULL)
    spec = tool_spec_file_read (self->spec, error);
  else
    spec = sbx_sandbox_spec_new ();
  if (spec == NULL)
    return NULL;

  if (self->cwd != NULL)
    sbx_sandbox_spec_set_cwd (spec, self->cwd);
  add_all (spec, self->read, sbx_sandbox_spec_add_read);
  add_all (spec, self->write, sbx_sandbox_spec_add_write);
  add_all (spec, self->sockets, sbx_sandbox_spec_add_socket);
  if (self->git_mode != SBX_GIT_MODE_DEFAULT)
    sbx_sandbox_spec_set_git_mode (spec, self->git_mode);
  for (gsize i = 0; i < TOOL_N_LIMITS; i++)
    if (self->limits[i] != 0)
      sbx_sandbox_spec_set_limit (spec, (SbxLimit) i, self->limits[i]);

  return g_steal_pointer (&spec);
}

SbxResolver *
tool_resolver_new (SbxBwrapProvider *provider)
{
  g_autoptr(SbxProviderSet) providers = sbx_provider_set_new ();

  sbx_provider_set_add (providers, "bwrap", SBX_PROVIDER (provider));
  sbx_provider_set_set_default (providers, "bwrap");

  return sbx_resolver_new (providers);
}
