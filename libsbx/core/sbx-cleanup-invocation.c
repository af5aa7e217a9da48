/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-cleanup-invocation.h"

#include "core/sbx-invocation-private.h"

/**
 * SbxCleanupInvocation:
 *
 * A call of [method@Provider.cleanup_group_async] that a provider has to answer.
 *
 * See [class@Invocation] for what all invocations have in common.
 *
 * Since: 1.0
 */

struct _SbxCleanupInvocation
{
  SbxInvocation parent_instance;
};

G_DEFINE_FINAL_TYPE (SbxCleanupInvocation, sbx_cleanup_invocation, SBX_TYPE_INVOCATION)

static void
sbx_cleanup_invocation_class_init (SbxCleanupInvocationClass *klass)
{
}

static void
sbx_cleanup_invocation_init (SbxCleanupInvocation *self)
{
}

/**
 * sbx_cleanup_invocation_return_count:
 * @self: an invocation
 * @cleaned_count: how many sandboxes were ended or removed
 *
 * Answers that nothing of the group is left.
 *
 * Since: 1.0
 */
void
sbx_cleanup_invocation_return_count (SbxCleanupInvocation *self,
                                     guint                 cleaned_count)
{
  guint *count;

  g_return_if_fail (SBX_IS_CLEANUP_INVOCATION (self));

  count = g_new (guint, 1);
  *count = cleaned_count;
  _sbx_invocation_return (SBX_INVOCATION (self), count, g_free);
}
