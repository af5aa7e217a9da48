/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "sbx.h"
#include "test-util.h"

#include <glib/gstdio.h>
#include <string.h>

/* The plain provider knows nothing but sandbox.v1; the other one does as it is told. */

static char **
make_plain (void)
{
  g_autofree char *script = g_test_build_filename (G_TEST_DIST, "providers", "plain-provider.py",
                                                   NULL);
  const char *argv[] = { "python3", script, "serve", NULL };

  return g_strdupv ((char **) argv);
}

static char **
make_fake (const char *mode)
{
  const char *argv[] = { g_getenv ("SBX_FAKE_PROVIDER"), mode, "serve", NULL };

  return g_strdupv ((char **) argv);
}

static SbxConformance *
make_conformance (char                **argv,
                  SbxConformanceLevel   level,
                  guint                 timeout_ms)
{
  SbxConformance *conformance = sbx_conformance_new ((const char * const *) argv);

  sbx_conformance_set_level (conformance, level);
  sbx_conformance_set_timeout (conformance, timeout_ms);

  return conformance;
}

/* The numbers of the checks with that outcome, as "101 146". */
static char *
list (GListModel            *checks,
      SbxConformanceOutcome  outcome)
{
  g_autoptr(GString) text = g_string_new (NULL);

  for (guint i = 0; i < g_list_model_get_n_items (checks); i++)
    {
      g_autoptr(SbxConformanceCheck) check = g_list_model_get_item (checks, i);

      if (sbx_conformance_check_get_outcome (check) == outcome)
        g_string_append_printf (text, "%s%u", text->len > 0 ? " " : "",
                                sbx_conformance_check_get_number (check));
    }

  return g_string_free (g_steal_pointer (&text), FALSE);
}

static SbxConformanceCheck *
find (GListModel *checks,
      guint       number)
{
  for (guint i = 0; i < g_list_model_get_n_items (checks); i++)
    {
      g_autoptr(SbxConformanceCheck) check = g_list_model_get_item (checks, i);

      if (sbx_conformance_check_get_number (check) == number)
        return g_steal_pointer (&check);
    }

  g_assert_not_reached ();
}

static GListModel *
run (char                **argv,
     SbxConformanceLevel   level,
     guint                 timeout_ms)
{
  g_autoptr(SbxConformance) conformance = make_conformance (argv, level, timeout_ms);
  g_autoptr(GError) error = NULL;
  GListModel *checks = sbx_conformance_run (conformance, NULL, &error);

  g_assert_no_error (error);

  return checks;
}

static void
count_cb (SbxConformance      *conformance,
          SbxConformanceCheck *check,
          guint               *n)
{
  g_assert_cmpint (sbx_conformance_check_get_outcome (check), !=, SBX_CONFORMANCE_OUTCOME_PENDING);
  (*n)++;
}

static void
test_plain (void)
{
  g_auto(GStrv) argv = make_plain ();
  g_autoptr(SbxConformance) conformance = make_conformance (argv, SBX_CONFORMANCE_LEVEL_PLAIN,
                                                            20000);
  g_autoptr(GListModel) checks = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *failed = NULL;
  g_autofree char *skipped = NULL;
  guint n = 0;

  g_signal_connect (conformance, "check-done", G_CALLBACK (count_cb), &n);
  checks = sbx_conformance_run (conformance, NULL, &error);
  g_assert_no_error (error);

  failed = list (checks, SBX_CONFORMANCE_OUTCOME_FAILED);
  skipped = list (checks, SBX_CONFORMANCE_OUTCOME_SKIPPED);
  g_assert_cmpstr (failed, ==, "");
  g_assert_cmpstr (skipped, ==, "");
  g_assert_cmpuint (n, ==, g_list_model_get_n_items (checks));
  g_assert_cmpuint (n, >=, 60);
}

/* What is claimed and was not advertised has failed; what is not claimed is skipped. */
static void
test_not_advertised (void)
{
  g_auto(GStrv) argv = make_fake ("plain");
  g_autoptr(GListModel) checks = run (argv, SBX_CONFORMANCE_LEVEL_PTY, 5000);
  g_autofree char *failed = list (checks, SBX_CONFORMANCE_OUTCOME_FAILED);
  g_autoptr(SbxConformanceCheck) check = find (checks, 281);

  g_assert_cmpstr (failed, ==, "281 282 283");
  g_assert_cmpstr (sbx_conformance_check_get_detail (check), ==,
                   "expected the feature \"pty\" to be advertised");
}

typedef struct
{
  const char *mode;
  const char *faults;     /* of sandbox.v1 */
  guint       number;     /* one of them, */
  const char *received;   /* and what was received */
} Fault;

/* Precisely these, and no others. */
static const Fault faults[] = {
  { "lax-base64", "146 182", 146, "\"result\":{}" },
  { "capabilities=wrapped", "101", 101, "\"capabilities\":{" },
  { "exit=3", "192 193 194", 192, "\"result\":{}" },
  { "before=log,at=read_file", "199", 199, "12:00:01 INFO warming up" },
  { "behind=foreign-id,at=exec", "191 199", 199, "somebody's" },
  { "fail=remove", "142 143 144", 142, "\"error\":{" },
  { "strict", "108", 108, NULL },
};

static void
test_faults (gconstpointer user_data)
{
  const Fault *fault = user_data;
  g_auto(GStrv) argv = make_fake (fault->mode);
  g_autoptr(GListModel) checks = run (argv, SBX_CONFORMANCE_LEVEL_PLAIN, 20000);
  g_autofree char *failed = list (checks, SBX_CONFORMANCE_OUTCOME_FAILED);
  g_autoptr(SbxConformanceCheck) check = find (checks, fault->number);
  GBytes *received = sbx_conformance_check_get_received (check);
  g_autofree char *text = NULL;

  g_assert_cmpstr (failed, ==, fault->faults);
  g_assert_nonnull (sbx_conformance_check_get_detail (check));
  if (fault->received == NULL)
    return;

  g_assert_nonnull (received);
  text = g_strndup (g_bytes_get_data (received, NULL), g_bytes_get_size (received));
  g_assert_nonnull (strstr (text, fault->received));
}

/* It is given up after a few checks, not waited for in each. */
static void
test_silent (void)
{
  g_auto(GStrv) argv = make_fake ("silent=all");
  const gint64 start = g_get_monotonic_time ();
  g_autoptr(GListModel) checks = run (argv, SBX_CONFORMANCE_LEVEL_PLAIN, 200);
  g_autofree char *passed = list (checks, SBX_CONFORMANCE_OUTCOME_PASSED);

  g_assert_cmpstr (passed, ==, "");
  g_assert_cmpint (g_get_monotonic_time () - start, <, 20 * G_USEC_PER_SEC);
}

static void
test_floods (void)
{
  static const char * const modes[] = { "flood=lines,amount=64,at=all",
                                        "flood=not-utf8,amount=64,at=all" };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_auto(GStrv) argv = make_fake (modes[i]);
      g_autoptr(GListModel) checks = run (argv, SBX_CONFORMANCE_LEVEL_MULTIPLEX, 2000);
      g_autofree char *passed = list (checks, SBX_CONFORMANCE_OUTCOME_PASSED);

      g_assert_cmpstr (passed, ==, "");
    }
}

static void
test_no_program (void)
{
  const char *argv[] = { "/nonexistent/provider", "serve", NULL };
  g_autoptr(SbxConformance) conformance = sbx_conformance_new (argv);
  g_autoptr(GListModel) checks = NULL;
  g_autoptr(GError) error = NULL;

  checks = sbx_conformance_run (conformance, NULL, &error);
  g_assert_error (error, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT);
  g_assert_null (checks);
}

/* One that ends at once, and one that says back what it is told. */
static void
test_no_provider (void)
{
  static const char * const programs[] = { "true", "cat" };

  for (gsize i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      const char *argv[] = { programs[i], NULL };
      g_autoptr(GListModel) checks = run ((char **) argv, SBX_CONFORMANCE_LEVEL_PLAIN, 500);
      g_autofree char *failed = list (checks, SBX_CONFORMANCE_OUTCOME_FAILED);

      g_assert_true (g_str_has_prefix (failed, "101 "));
    }
}

static void
cancel_cb (SbxConformance      *conformance,
           SbxConformanceCheck *check,
           GCancellable        *cancellable)
{
  g_cancellable_cancel (cancellable);
}

static void
test_cancel (void)
{
  g_auto(GStrv) argv = make_fake ("plain");
  g_autoptr(SbxConformance) conformance = make_conformance (argv, SBX_CONFORMANCE_LEVEL_PLAIN,
                                                            20000);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GAsyncResult) result = NULL;
  g_autoptr(GListModel) checks = NULL;
  g_autoptr(GError) error = NULL;

  g_signal_connect (conformance, "check-done", G_CALLBACK (cancel_cb), cancellable);
  sbx_conformance_run_async (conformance, cancellable, test_store_result, &result);
  g_assert_null (result);
  test_wait_for (result != NULL);

  checks = sbx_conformance_run_finish (conformance, result, &error);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_null (checks);
  g_clear_object (&result);
  test_assert_finalizes (conformance);
}

static void
test_workspace (void)
{
  g_auto(GStrv) argv = make_fake ("plain");
  g_autoptr(SbxConformance) conformance = make_conformance (argv, SBX_CONFORMANCE_LEVEL_PLAIN,
                                                            20000);
  g_autofree char *workspace = g_dir_make_tmp ("test-conformance-XXXXXX", NULL);
  g_autofree char *written = g_build_filename (workspace, "binary", NULL);
  const char *remove[] = { "rm", "-rf", workspace, NULL };
  g_autoptr(GSubprocess) child = NULL;
  g_autoptr(GListModel) checks = NULL;
  g_autoptr(GError) error = NULL;

  sbx_conformance_set_workspace (conformance, workspace);
  sbx_conformance_set_profile (conformance, "fake/default");
  g_assert_cmpstr (sbx_conformance_get_workspace (conformance), ==, workspace);
  g_assert_cmpstr (sbx_conformance_get_profile (conformance), ==, "fake/default");
  checks = sbx_conformance_run (conformance, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (checks);
  g_assert_true (g_file_test (written, G_FILE_TEST_EXISTS));

  child = g_subprocess_newv (remove, G_SUBPROCESS_FLAGS_NONE, &error);
  g_assert_no_error (error);
  g_subprocess_wait_check (child, NULL, &error);
  g_assert_no_error (error);
}

/* Numbers are for ever: each once, in order, a hundred for each kind of level. */
static void
test_list (void)
{
  g_autoptr(GListModel) checks = sbx_conformance_list_checks ();
  SbxConformanceLevel level;
  guint last = 100;

  g_assert_cmpuint (g_list_model_get_n_items (checks), >=, 100);
  for (guint i = 0; i < g_list_model_get_n_items (checks); i++)
    {
      g_autoptr(SbxConformanceCheck) check = g_list_model_get_item (checks, i);

      g_assert_cmpuint (sbx_conformance_check_get_number (check), >, last);
      g_assert_cmpint (sbx_conformance_check_get_outcome (check), ==,
                       SBX_CONFORMANCE_OUTCOME_PENDING);
      g_assert_null (sbx_conformance_check_get_sent (check));
      last = sbx_conformance_check_get_number (check);
    }

  for (guint i = 0; i <= SBX_CONFORMANCE_LEVEL_ROBUSTNESS; i++)
    {
      g_assert_true (sbx_conformance_level_parse (sbx_conformance_level_to_string (i), &level));
      g_assert_cmpint (level, ==, i);
    }
  g_assert_false (sbx_conformance_level_parse ("", &level));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/conformance/plain", test_plain);
  g_test_add_func ("/conformance/not-advertised", test_not_advertised);
  for (gsize i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autofree char *path = g_strconcat ("/conformance/faults/", faults[i].mode, NULL);

      g_test_add_data_func (path, &faults[i], test_faults);
    }
  g_test_add_func ("/conformance/silent", test_silent);
  g_test_add_func ("/conformance/floods", test_floods);
  g_test_add_func ("/conformance/no-program", test_no_program);
  g_test_add_func ("/conformance/no-provider", test_no_provider);
  g_test_add_func ("/conformance/cancel", test_cancel);
  g_test_add_func ("/conformance/workspace", test_workspace);
  g_test_add_func ("/conformance/list", test_list);

  return g_test_run ();
}
