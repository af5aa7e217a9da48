/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "sbx.h"
#include "test-util.h"

#include <glib/gstdio.h>

/* Our own provider passes every check of every level, and none is skipped. */

static void
check_done_cb (SbxConformance      *conformance,
               SbxConformanceCheck *check,
               gpointer             user_data)
{
  if (sbx_conformance_check_get_outcome (check) != SBX_CONFORMANCE_OUTCOME_PASSED)
    g_test_message ("%u %s: %s", sbx_conformance_check_get_number (check),
                    sbx_conformance_check_get_title (check),
                    sbx_conformance_check_get_detail (check));
}

static void
test_bwrap (gconstpointer profile)
{
  const char *argv[] = { g_getenv ("SBX_PROVIDER_BWRAP"), "serve", NULL };
  g_autoptr(SbxConformance) conformance = sbx_conformance_new (argv);
  g_autofree char *data = g_dir_make_tmp ("test-conformance-XXXXXX", NULL);
  const char *remove[] = { "rm", "-rf", data, NULL };
  g_autoptr(GSubprocess) child = NULL;
  g_autoptr(GListModel) checks = NULL;
  g_autoptr(GError) error = NULL;

  g_setenv ("XDG_DATA_HOME", data, TRUE);
  sbx_conformance_set_profile (conformance, profile);
  sbx_conformance_set_timeout (conformance, 30000);
  g_signal_connect (conformance, "check-done", G_CALLBACK (check_done_cb), NULL);
  checks = sbx_conformance_run (conformance, NULL, &error);
  g_assert_no_error (error);

  for (guint i = 0; i < g_list_model_get_n_items (checks); i++)
    {
      g_autoptr(SbxConformanceCheck) check = g_list_model_get_item (checks, i);

      g_assert_cmpint (sbx_conformance_check_get_outcome (check), ==,
                       SBX_CONFORMANCE_OUTCOME_PASSED);
    }

  child = g_subprocess_newv (remove, G_SUBPROCESS_FLAGS_NONE, &error);
  g_assert_no_error (error);
  g_subprocess_wait_check (child, NULL, &error);
  g_assert_no_error (error);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/conformance/bwrap/default", "default", test_bwrap);
  g_test_add_data_func ("/conformance/bwrap/worktree", "worktree", test_bwrap);

  return g_test_run ();
}
