/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "core/sbx-reach.h"
#include "spec/sbx-sandbox-spec-private.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

static void
try_spec (GBytes   *bytes,
          gboolean  is_inline)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GError) again_error = NULL;
  g_autoptr(SbxSandboxSpec) spec = sbx_sandbox_spec_new_from_json (bytes, &error);
  g_autoptr(SbxSandboxSpec) again = NULL;
  g_autoptr(SbxReach) asked = NULL;
  g_autoptr(GBytes) written = NULL;

  g_assert_true ((spec != NULL) != (error != NULL));
  if (spec == NULL)
    return;

  written = sbx_sandbox_spec_to_json (spec, &again_error);
  g_assert_no_error (again_error);
  again = sbx_sandbox_spec_new_from_json (written, &again_error);
  g_assert_no_error (again_error);
  g_assert_true (sbx_sandbox_spec_equal (spec, again));

  asked = _sbx_sandbox_spec_to_asked (spec, NULL, is_inline, &error);
  g_assert_true ((asked != NULL) != (error != NULL));
  g_assert_true (error == NULL || g_utf8_validate (error->message, -1, NULL));
}

static void
try_reach (GBytes *bytes)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GError) again_error = NULL;
  g_autoptr(SbxReach) reach = sbx_reach_new_from_json (bytes, &error);
  g_autoptr(SbxReach) again = NULL;
  g_autoptr(GBytes) written = NULL;

  g_assert_true ((reach != NULL) != (error != NULL));
  if (reach == NULL)
    return;

  g_assert_false (sbx_reach_is_resolved (reach));
  written = sbx_reach_to_json (reach, &again_error);
  g_assert_no_error (again_error);
  again = sbx_reach_new_from_json (written, &again_error);
  g_assert_no_error (again_error);
  g_assert_true (sbx_reach_equal (reach, again));
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        size_t        size)
{
  g_autoptr(GBytes) bytes = g_bytes_new (data, size);

  try_spec (bytes, size % 2 == 0);
  try_reach (bytes);

  return 0;
}
