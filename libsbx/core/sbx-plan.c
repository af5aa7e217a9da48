/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-library-private.h"
#include "core/sbx-plan-private.h"

/**
 * SbxPlan:
 *
 * What a sandbox is made of, and why.
 *
 * A plan lists everything that a sandbox sees, in the order in which it is mounted: where entries
 * overlap, the last one that holds a path is what is seen there. What no entry holds is not there.
 * Each entry says why it is there, and which line asked for it.
 *
 * It is made of what the provider enforces, not of what was asked for: [method@Session.get_plan]
 * gives the one of a sandbox that is open, and [method@BwrapProvider.explain_async] the one that
 * opening would enforce.
 *
 * ```python
 * plan = provider.explain(reach, None)
 * for entry in plan:
 *     print(entry.get_kind().value_nick, entry.get_path(), entry.get_reason())
 * entry, access = plan.check_path("/home/me/project/.git/config")
 * if not access & Sbx.PlanAccess.WRITE:
 *     print("read-only:", entry.get_reason())
 * ```
 *
 * A plan is a list of [class@PlanEntry]. It never changes, and can be used in any thread.
 *
 * ## What a plan does not say
 *
 * Who owns a file and what its mode allows is not the plan's matter: what can be written is so as
 * far as the user that opened the sandbox could write it, without any capability. Nor does it say
 * whether a path exists.
 *
 * Since: 1.0
 */

static void sbx_plan_list_model_init (GListModelInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (SbxPlan, sbx_plan, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, sbx_plan_list_model_init))

static GType
sbx_plan_get_item_type (GListModel *model)
{
  return SBX_TYPE_PLAN_ENTRY;
}

static guint
sbx_plan_get_n_items (GListModel *model)
{
  return SBX_PLAN (model)->entries->len;
}

static gpointer
sbx_plan_get_item (GListModel *model,
                   guint       position)
{
  SbxPlan *self = SBX_PLAN (model);

  return position < self->entries->len ? g_object_ref (g_ptr_array_index (self->entries, position))
                                       : NULL;
}

static void
sbx_plan_list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = sbx_plan_get_item_type;
  iface->get_n_items = sbx_plan_get_n_items;
  iface->get_item = sbx_plan_get_item;
}

static void
sbx_plan_finalize (GObject *object)
{
  SbxPlan *self = SBX_PLAN (object);

  g_clear_pointer (&self->cwd, g_free);
  g_clear_object (&self->reach);
  g_clear_pointer (&self->covering, g_hash_table_unref);
  g_clear_pointer (&self->named, g_hash_table_unref);
  g_clear_pointer (&self->entries, g_ptr_array_unref);
  g_clear_pointer (&self->problems, g_ptr_array_unref);
  for (gsize i = 0; i < SBX_N_LIMITS; i++)
    g_clear_pointer (&self->means[i], g_free);

  G_OBJECT_CLASS (sbx_plan_parent_class)->finalize (object);
}

static void
sbx_plan_class_init (SbxPlanClass *klass)
{
  _sbx_library_init ();

  G_OBJECT_CLASS (klass)->finalize = sbx_plan_finalize;
}

static void
sbx_plan_init (SbxPlan *self)
{
  self->entries = g_ptr_array_new_with_free_func (g_object_unref);
  self->covering = g_hash_table_new (g_str_hash, g_str_equal);
  self->named = g_hash_table_new (g_str_hash, g_str_equal);
  self->problems = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->problems, NULL);
}

SbxPlan *
_sbx_plan_new (const char *cwd,
               SbxReach   *reach)
{
  SbxPlan *self = g_object_new (SBX_TYPE_PLAN, NULL);

  self->cwd = g_strdup (cwd);
  if (reach != NULL)
    self->reach = sbx_reach_copy (reach);

  return self;
}

SbxPlanEntry *
_sbx_plan_add (SbxPlan     *self,
               SbxPlanKind  kind,
               const char  *path,
               const char  *source_path,
               const char  *reason,
               const char  *source)
{
  SbxPlanEntry *entry = _sbx_plan_entry_new (kind, reason, source);

  entry->path = g_strdup (path);
  entry->source_path = g_strdup (source_path);
  g_ptr_array_add (self->entries, entry);
  _sbx_plan_note (self, entry);

  return entry;
}

SbxPlanEntry *
_sbx_plan_add_domain (SbxPlan    *self,
                      const char *domain,
                      const char *reason,
                      const char *source)
{
  SbxPlanEntry *entry = _sbx_plan_entry_new (SBX_PLAN_DOMAIN, reason, source);

  entry->domain = g_strdup (domain);
  g_ptr_array_add (self->entries, entry);

  return entry;
}

void
_sbx_plan_add_problem (SbxPlan    *self,
                       const char *problem)
{
  g_ptr_array_insert (self->problems, (int) self->problems->len - 1, g_strdup (problem));
}

void
_sbx_plan_set_limit (SbxPlan    *self,
                     SbxLimit    limit,
                     guint64     value,
                     const char *means)
{
  self->limits[limit] = value;
  g_free (self->means[limit]);
  self->means[limit] = g_strdup (means);
}

/**
 * sbx_plan_get_cwd:
 * @self: a plan
 *
 * Gets the working directory, inside the sandbox.
 *
 * Returns: (type filename) (transfer none): an absolute path
 *
 * Since: 1.0
 */
const char *
sbx_plan_get_cwd (SbxPlan *self)
{
  g_return_val_if_fail (SBX_IS_PLAN (self), NULL);

  return self->cwd;
}

/**
 * sbx_plan_get_reach:
 * @self: a plan
 *
 * Gets the resolved reach that the plan was made of.
 *
 * It belongs to the plan; take a [method@Reach.copy] to change it.
 *
 * Returns: (transfer none) (nullable): the reach
 *
 * Since: 1.0
 */
SbxReach *
sbx_plan_get_reach (SbxPlan *self)
{
  g_return_val_if_fail (SBX_IS_PLAN (self), NULL);

  return self->reach;
}

/**
 * sbx_plan_get_limit:
 * @self: a plan
 * @limit: what is limited
 *
 * Gets a limit that is in force in the sandbox, whether it was asked for or not.
 *
 * Returns: how much, in the unit of @limit, or 0 if there is no such limit
 *
 * Since: 1.0
 */
guint64
sbx_plan_get_limit (SbxPlan  *self,
                    SbxLimit  limit)
{
  g_return_val_if_fail (SBX_IS_PLAN (self), 0);
  g_return_val_if_fail (limit < SBX_N_LIMITS, 0);

  return self->limits[limit];
}

/**
 * sbx_plan_get_limit_means:
 * @self: a plan
 * @limit: what is limited
 *
 * Gets by what means a limit is in force, for people.
 *
 * Returns: (transfer none) (nullable): a few words, or %NULL if there is no such limit
 *
 * Since: 1.0
 */
const char *
sbx_plan_get_limit_means (SbxPlan  *self,
                          SbxLimit  limit)
{
  g_return_val_if_fail (SBX_IS_PLAN (self), NULL);
  g_return_val_if_fail (limit < SBX_N_LIMITS, NULL);

  return self->means[limit];
}

/**
 * sbx_plan_get_problems:
 * @self: a plan
 *
 * Gets what was asked for and cannot be enforced, for people: opening fails while there is one.
 *
 * Returns: (array zero-terminated=1) (transfer none): sentences
 *
 * Since: 1.0
 */
const char * const *
sbx_plan_get_problems (SbxPlan *self)
{
  g_return_val_if_fail (SBX_IS_PLAN (self), NULL);

  return (const char * const *) self->problems->pdata;
}
