/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-error.h"
#include "core/sbx-types.h"

G_BEGIN_DECLS

#define SBX_TYPE_INVOCATION (sbx_invocation_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_DERIVABLE_TYPE (SbxInvocation, sbx_invocation, SBX, INVOCATION, GObject)

/**
 * SbxInvocationClass:
 * @parent_class: the parent class
 *
 * The class of [class@Invocation]. It cannot be subclassed outside of the library.
 *
 * Since: 1.0
 */
struct _SbxInvocationClass
{
  GObjectClass parent_class;

  /*< private >*/
  void     (*discard) (SbxInvocation *self,
                       gpointer       answer);
  gpointer   reserved[7];
};

SBX_AVAILABLE_IN_1_0
GCancellable *sbx_invocation_get_cancellable (SbxInvocation *self);
SBX_AVAILABLE_IN_1_0
gboolean      sbx_invocation_is_answered     (SbxInvocation *self);
SBX_AVAILABLE_IN_1_0
void          sbx_invocation_return_error    (SbxInvocation *self,
                                              SbxError       code,
                                              const char    *message);
SBX_AVAILABLE_IN_1_0
void          sbx_invocation_return_gerror   (SbxInvocation *self,
                                              const GError  *error);

G_END_DECLS
