/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "resolver-util.h"
#include "spec-provider.h"

/* Which provider a spec comes to, and with which settings, as far as a resolver says. */

static SbxProviderSet *
make_set (const char       *first,
          SpecProviderKind  first_kind,
          const char       *second)
{
  SbxProviderSet *self = sbx_provider_set_new ();
  g_autoptr(SbxProvider) provider = spec_provider_new (first_kind);

  sbx_provider_set_add (self, first, provider);
  sbx_provider_set_set_default (self, first);

  if (second != NULL)
    {
      g_autoptr(SbxProvider) other = spec_provider_new (SPEC_PROVIDER_ECHO);

      sbx_provider_set_add (self, second, other);
    }

  return self;
}

static void
assert_environment (Fixture    *fixture,
                    const char *json,
                    const char *key,
                    const char *settings)
{
  g_autoptr(SbxReach) reach = fixture_resolve (fixture, json);

  g_assert_cmpstr (sbx_reach_get_environment_key (reach), ==, key);
  g_assert_cmpstr (sbx_reach_get_settings (reach), ==, settings);
}

static void
test_r3 (void)
{
  g_autoptr(SbxProviderSet) providers = make_set ("srt", SPEC_PROVIDER_ECHO, "docker");
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, providers);
  assert_environment (&fixture, "{\"docker\": {\"image\": \"debian\"}}", "docker",
                      "{\"image\":\"debian\"}");
  assert_environment (&fixture, "{\"read\": [\"~/notes\"]}", "srt", "{}");
}

/* What is taken back was never named. */
static void
test_r12 (void)
{
  g_autoptr(SbxProviderSet) providers = make_set ("srt", SPEC_PROVIDER_ECHO, "docker");
  g_autoptr(SbxSandboxSpec) spec = sbx_sandbox_spec_new ();
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(GError) error = NULL;
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, providers);
  sbx_sandbox_spec_set_environment_key (spec, "srt", "{}");
  sbx_sandbox_spec_set_environment_key (spec, NULL, NULL);
  sbx_sandbox_spec_set_environment_key (spec, "docker", "{}");

  reach = sbx_resolver_resolve (fixture.resolver, spec, fixture.home, SBX_RESOLVE_NONE, NULL,
                                &error);
  g_assert_null (reach);
  g_assert_error (error, SBX_ERROR, SBX_ERROR_REFUSED);
  g_clear_error (&error);

  sbx_sandbox_spec_set_cwd (spec, "notes");
  reach = sbx_resolver_resolve (fixture.resolver, spec, fixture.home, SBX_RESOLVE_NONE, NULL,
                                &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sbx_reach_get_environment_key (reach), ==, "docker");
}

static void
test_r14 (void)
{
  g_autoptr(SbxProviderSet) one = make_set ("srt", SPEC_PROVIDER_ECHO, NULL);
  g_autoptr(SbxProviderSet) none = sbx_provider_set_new ();
  g_auto(Fixture) with_one = { 0 };
  g_auto(Fixture) with_none = { 0 };

  /* R14a */
  sbx_provider_set_add_unavailable (one, "docker", NULL);
  fixture_init (&with_one, one);
  fixture_refuses (&with_one, "{\"docker\": {}}", SBX_ERROR_NOT_FOUND, "“docker” is not installed");

  /* R14b */
  fixture_init (&with_none, none);
  fixture_refuses (&with_none, "{}", SBX_ERROR_NOT_FOUND, "o provider of sandboxes is installed");
}

/* What the provider says comes through, and before any path is looked at. */
static void
test_r15 (void)
{
  g_autoptr(SbxProviderSet) providers = make_set ("picky", SPEC_PROVIDER_REFUSES, NULL);
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(GError) error = NULL;
  g_auto(Fixture) fixture = { 0 };

  fixture_init (&fixture, providers);
  reach = fixture_try (&fixture, "{\"picky\": {\"image\": \"x\"}, \"read\": [\"~/missing\"]}",
                       SBX_RESOLVE_NONE, &error);
  g_assert_null (reach);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
  g_assert_cmpstr (error->message, ==, "picky: no such image; pull it");
}

/* A resolver keeps its providers, and drops them. */
static void
test_life (void)
{
  SbxProviderSet *providers = make_set ("srt", SPEC_PROVIDER_ECHO, NULL);
  SbxResolver *resolver = sbx_resolver_new (providers);
  g_autoptr(SbxProviderSet) kept = NULL;

  g_object_get (resolver, "providers", &kept, NULL);
  g_assert_true (kept == providers);
  g_clear_object (&kept);
  test_assert_finalizes (resolver);
  test_assert_finalizes (providers);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL);

  g_test_add_func ("/resolve/R3", test_r3);
  g_test_add_func ("/resolve/R12", test_r12);
  g_test_add_func ("/resolve/R14", test_r14);
  g_test_add_func ("/resolve/R15", test_r15);
  g_test_add_func ("/resolve/providers", test_life);

  return g_test_run ();
}
