/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-open-request.h"

#include "core/sbx-reach.h"

/**
 * SbxOpenRequest:
 *
 * What a provider is asked to open.
 *
 * It holds the reach of the sandbox, copied when the request was made, so that it can be used for
 * several opens and cannot change under a provider.
 *
 * Since: 1.0
 */

struct _SbxOpenRequest
{
  GObject   parent_instance;

  SbxReach *reach;
};

G_DEFINE_FINAL_TYPE (SbxOpenRequest, sbx_open_request, G_TYPE_OBJECT)

static void
sbx_open_request_finalize (GObject *object)
{
  SbxOpenRequest *self = SBX_OPEN_REQUEST (object);

  g_clear_object (&self->reach);

  G_OBJECT_CLASS (sbx_open_request_parent_class)->finalize (object);
}

static void
sbx_open_request_class_init (SbxOpenRequestClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sbx_open_request_finalize;
}

static void
sbx_open_request_init (SbxOpenRequest *self)
{
}

/**
 * sbx_open_request_new:
 * @reach: what the sandbox may see and touch
 *
 * Makes a request to open a sandbox with a reach.
 *
 * Returns: (transfer full): a new request
 *
 * Since: 1.0
 */
SbxOpenRequest *
sbx_open_request_new (SbxReach *reach)
{
  SbxOpenRequest *self;

  g_return_val_if_fail (SBX_IS_REACH (reach), NULL);

  self = g_object_new (SBX_TYPE_OPEN_REQUEST, NULL);
  self->reach = sbx_reach_copy (reach);

  return self;
}

/**
 * sbx_open_request_get_reach:
 * @self: a request
 *
 * Gets what the sandbox may see and touch.
 *
 * Returns: (transfer none): the request's own copy of the reach; do not change it
 *
 * Since: 1.0
 */
SbxReach *
sbx_open_request_get_reach (SbxOpenRequest *self)
{
  g_return_val_if_fail (SBX_IS_OPEN_REQUEST (self), NULL);

  return self->reach;
}
