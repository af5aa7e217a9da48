/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "session-util.h"

#include "bwrap/sbx-bwrap-limits-private.h"
#include "bwrap/sbx-bwrap-reach-settings-private.h"

/* What a spec says to this provider alone, and what is decided of limits before a start. */

static void
test_canonical (void)
{
  static const struct { const char *text, *canonical; } cases[] = {
    { "{}", "{}" },
    { " { \"toolchain\" : true } ", "{\"toolchain\":true}" },
    { "{\"freshHome\":false,\"allowWeaker\":[]}", "{\"freshHome\":false}" },
    { "{\"allowWeaker\":[\"processes\",\"memory\",\"processes\"]}",
      "{\"allowWeaker\":[\"memory\",\"processes\"]}" },
    { "{\"toolchain\":true,\"allowSockets\":[\"/run/b\",\"/run/./a\",\"/run//b\",\"/run/x/../a\"],"
      "\"allowWeaker\":[\"memory\"],\"freshHome\":true}",
      "{\"allowSockets\":[\"/run/a\",\"/run/b\"],\"allowWeaker\":[\"memory\"],\"freshHome\":true,"
      "\"toolchain\":true}" },
  };
  g_autoptr(SbxBwrapProvider) provider = sbx_bwrap_provider_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autofree char *canonical = NULL;
      g_autofree char *again = NULL;

      canonical = sbx_provider_check_settings (SBX_PROVIDER (provider), cases[i].text, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (canonical, ==, cases[i].canonical);
      again = sbx_provider_check_settings (SBX_PROVIDER (provider), canonical, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (again, ==, canonical);
    }
}

static void
test_refused (void)
{
  static const struct { const char *text, *named; } cases[] = {
    { "{\"alowSockets\":[]}", "alowSockets" },
    { "{\"\\u001b[31m\":1}", "\\x1b[31m" },
    { "{\"allowSockets\":\"/run/a\"}", "allowSockets" },
    { "{\"allowSockets\":[\"run/a\"]}", "allowSockets" },
    { "{\"allowSockets\":[\"\"]}", "allowSockets" },
    { "{\"allowSockets\":[1]}", "allowSockets" },
    { "{\"allowWeaker\":[\"cpuTime\"]}", "cpuTime" },
    { "{\"allowWeaker\":[\"Memory\"]}", "Memory" },
    { "{\"allowWeaker\":true}", "allowWeaker" },
    { "{\"toolchain\":1}", "toolchain" },
    { "{\"freshHome\":null}", "freshHome" },
    { "[]", "{}" },
    { "null", "{}" },
    { "{", "bwrap" },
    { "{\"toolchain\":true,\"toolchain\":true}", "bwrap" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(SbxBwrapReachSettings) settings = NULL;

      settings = _sbx_bwrap_reach_settings_parse (cases[i].text, &error);
      g_assert_null (settings);
      g_assert_nonnull (error);
      g_test_message ("%s: %s", cases[i].text, error->message);
      if (strstr (error->message, cases[i].named) == NULL)
        g_error ("“%s” does not name “%s”", error->message, cases[i].named);
      g_assert_null (strchr (error->message, '\033'));
    }
}

static void
test_values (void)
{
  g_autoptr(SbxReach) reach = sbx_reach_new ("/");
  g_autoptr(SbxBwrapReachSettings) none = NULL;
  g_autoptr(SbxBwrapReachSettings) some = NULL;
  g_autoptr(GError) error = NULL;

  none = _sbx_bwrap_reach_settings_of (reach, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (none->allow_weaker, ==, 0);
  g_assert_cmpint (none->toolchain, ==, SBX_BWRAP_CHOICE_UNSET);
  g_assert_false (_sbx_bwrap_reach_settings_allow_socket (none, "/run/a"));

  sbx_reach_set_environment_key (reach, "bwrap",
                                 "{\"allowSockets\":[\"/run/a\"],\"toolchain\":false}");
  some = _sbx_bwrap_reach_settings_of (reach, &error);
  g_assert_no_error (error);
  g_assert_cmpint (some->toolchain, ==, SBX_BWRAP_CHOICE_NO);
  g_assert_cmpint (some->fresh_home, ==, SBX_BWRAP_CHOICE_UNSET);
  g_assert_true (_sbx_bwrap_reach_settings_allow_socket (some, "/run/a"));
  g_assert_false (_sbx_bwrap_reach_settings_allow_socket (some, "/run/a/b"));

  sbx_reach_set_environment_key (reach, "other", "{}");
  g_assert_null (_sbx_bwrap_reach_settings_of (reach, &error));
  g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "other"));
}

/* The settings of one sandbox come before those of the provider. */
static void
test_fresh_home (void)
{
  g_autoptr(Place) place = place_new ();
  g_autoptr(SbxReach) reach = sbx_reach_new (place->project);
  g_autoptr(SbxOpenRequest) request = NULL;
  g_autoptr(SbxSession) kept = place_open (place);
  g_autoptr(SbxSession) fresh = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *mark G_GNUC_UNUSED = shell_output (kept, "echo kept > ~/mark");
  g_autofree char *found = NULL;

  close_session (kept);
  g_clear_object (&kept);
  kept = place_open (place);
  found = shell_output (kept, "cat ~/mark");
  g_assert_cmpstr (found, ==, "kept\n");
  close_session (kept);

  sbx_reach_set_environment_key (reach, "bwrap", "{\"freshHome\":true}");
  request = sbx_open_request_new (reach);
  fresh = sbx_provider_open (SBX_PROVIDER (place->provider), request, NULL, &error);
  g_assert_no_error (error);
  g_free (shell_output (fresh, "test ! -e ~/mark"));
  close_session (fresh);
}

/* Since Linux 5.14, and never for root. */
static void
test_processes_bind (void)
{
  g_assert_true (_sbx_bwrap_limits_processes_bind (1000, "5.14.0"));
  g_assert_true (_sbx_bwrap_limits_processes_bind (1, "6.1.0-28-amd64"));
  g_assert_true (_sbx_bwrap_limits_processes_bind (1000, "10.0"));
  g_assert_false (_sbx_bwrap_limits_processes_bind (1000, "5.13.19"));
  g_assert_false (_sbx_bwrap_limits_processes_bind (1000, "4.18.0-553.el8"));
  g_assert_false (_sbx_bwrap_limits_processes_bind (1000, "five"));
  g_assert_false (_sbx_bwrap_limits_processes_bind (0, "6.1.0"));
}

/* What holds a sandbox to a limit, where there is no systemd and weaker means are allowed. */
static void
test_means (void)
{
  static const struct
  {
    SbxLimit limit;
    guint64  value;
  } asked[] = {
    { SBX_LIMIT_MEMORY, 1 << 30 }, { SBX_LIMIT_PROCESSES, 100 }, { SBX_LIMIT_CPU_TIME, 60 },
    { SBX_LIMIT_FILE_SIZE, 1 << 20 }, { SBX_LIMIT_OPEN_FILES, 64 },
  };
  g_autoptr(SbxReach) reach = sbx_reach_new ("/");
  g_autoptr(SbxBwrapReachSettings) settings = NULL;
  g_autoptr(SbxBwrapLimits) limits = NULL;
  g_autoptr(GError) error = NULL;

  g_setenv ("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", TRUE);
  g_setenv ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus", TRUE);
  for (gsize i = 0; i < G_N_ELEMENTS (asked); i++)
    sbx_reach_set_limit (reach, asked[i].limit, asked[i].value);
  settings = _sbx_bwrap_reach_settings_parse ("{\"allowWeaker\":[\"memory\",\"processes\"]}",
                                              &error);
  limits = _sbx_bwrap_limits_new (reach, settings, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (limits->limits->len, ==, G_N_ELEMENTS (asked));

  for (gsize i = 0; i < G_N_ELEMENTS (asked); i++)
    {
      const SbxBwrapLimit *found = _sbx_bwrap_limits_find (limits, asked[i].limit);
      SbxBwrapMeans means = SBX_BWRAP_MEANS_RLIMIT;

      if (asked[i].limit == SBX_LIMIT_MEMORY)
        means = SBX_BWRAP_MEANS_EACH;
      else if (asked[i].limit == SBX_LIMIT_PROCESSES && geteuid () == 0)
        means = SBX_BWRAP_MEANS_NOTHING;

      g_assert_nonnull (found);
      g_assert_cmpuint (found->value, ==, asked[i].value);
      g_assert_cmpint (found->means, ==, means);
    }

  g_assert_false (_sbx_bwrap_limits_need_scope (limits));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);
  adopt_orphans ();

  g_test_add_func ("/bwrap/settings/canonical", test_canonical);
  g_test_add_func ("/bwrap/settings/refused", test_refused);
  g_test_add_func ("/bwrap/settings/values", test_values);
  g_test_add_func ("/bwrap/settings/fresh-home", test_fresh_home);
  g_test_add_func ("/bwrap/limits/processes-bind", test_processes_bind);
  g_test_add_func ("/bwrap/limits/means", test_means);

  return g_test_run ();
}
