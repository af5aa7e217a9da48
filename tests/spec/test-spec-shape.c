/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-error.h"
#include "spec-provider.h"
#include "spec/sbx-sandbox-spec-private.h"

#include <string.h>

/* What a spec may look like, before anything of it is looked up on a machine. The ids are those of
 * the table of behaviour that the library was written to. */

/* srt is the default, docker is another; both take all settings. */
static SbxProviderSet *
make_providers (void)
{
  SbxProviderSet *self = sbx_provider_set_new ();
  g_autoptr(SbxProvider) srt = spec_provider_new (SPEC_PROVIDER_ECHO);
  g_autoptr(SbxProvider) docker = spec_provider_new (SPEC_PROVIDER_ECHO);

  sbx_provider_set_add (self, "srt", srt);
  sbx_provider_set_add (self, "docker", docker);
  sbx_provider_set_set_default (self, "srt");

  return self;
}

static SbxSandboxSpec *
parse (const char  *json,
       GError     **error)
{
  g_autoptr(GBytes) bytes = g_bytes_new (json, strlen (json));

  return sbx_sandbox_spec_new_from_json (bytes, error);
}

static SbxReach *
ask_of (const char      *json,
        SbxProviderSet  *providers,
        gboolean         is_inline,
        GError         **error)
{
  g_autoptr(SbxSandboxSpec) spec = parse (json, error);

  return spec != NULL ? _sbx_sandbox_spec_to_asked (spec, providers, is_inline, error) : NULL;
}

static SbxReach *
ask (const char *json)
{
  g_autoptr(SbxProviderSet) providers = make_providers ();
  g_autoptr(GError) error = NULL;
  SbxReach *reach = ask_of (json, providers, FALSE, &error);

  g_assert_no_error (error);

  return reach;
}

/* @parts are what the message must have, separated by “|”. */
static void
assert_error (GError     *error,
              int         code,
              const char *parts)
{
  g_auto(GStrv) all = g_strsplit (parts, "|", -1);

  g_assert_error (error, SBX_ERROR, code);
  for (gsize i = 0; all[i] != NULL; i++)
    if (strstr (error->message, all[i]) == NULL)
      g_error ("“%s” is not in: %s", all[i], error->message);

  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_assert_cmpuint (strlen (error->message), <, 2000);
}

typedef struct
{
  const char *name;
  const char *json;
  const char *parts;
  gboolean    is_inline;
} Refusal;

static void
test_refused (gconstpointer data)
{
  const Refusal *refusal = data;
  g_autoptr(SbxProviderSet) providers = make_providers ();
  g_autoptr(GError) error = NULL;

  g_assert_null (ask_of (refusal->json, providers, refusal->is_inline, &error));
  assert_error (error, SBX_ERROR_INVALID, refusal->parts);
}

static const Refusal refusals[] =
{
  { "R10.1/empty-path", "{\"read\": [\"\"]}", "read|non-empty path|\"\"" },
  { "R10.1/blank-path", "{\"write\": [\" \\t\\n\"]}", "write|non-empty path|\" \\t\\n\"" },
  { "R10.2/number-for-path", "{\"write\": [7]}", "write|non-empty path|7" },
  { "R10.2/null-for-path", "{\"write\": [\".\", null]}", "write|non-empty path|null" },
  { "R10.2/list-for-path", "{\"write\": [[\"a\"]]}", "write|non-empty path|[\"a\"]" },
  { "R10.4/text-for-list", "{\"read\": \"src\"}", "read|must be a list|\"src\"" },
  { "R10.4/null-for-list", "{\"write\": null}", "write|must be a list|null" },
  { "R10.4/object-for-list", "{\"network\": {\"a\": 1}}", "network|must be a list|{\"a\":1}" },
  { "R10.16/other-home", "{\"read\": [\"~root\"]}", "read|\"~root\"|only ~ and ~/" },
  { "R10.16/other-home-cwd", "{\"cwd\": \"~root/x\"}", "cwd|\"~root/x\"|only ~ and ~/" },
  { "R10.20/wildcard-of-top",
    "{\"network\": [\"*.com\"]}", "network|\"*.com\"|not a sandbox domain" },
  { "R10.21/hexadecimal",
    "{\"network\": [\"0x7f000001\"]}", "network|\"0x7f000001\"|not a sandbox domain" },
  { "R10.22/two-environments", "{\"srt\": {}, \"docker\": {}}", "one environment|srt and docker" },
  { "R10.22/three-environments",
    "{\"srt\": {}, \"docker\": {}, \"bwrap\": {}}", "srt, docker and bwrap" },
  { "R10.22/null-counts", "{\"docker\": null, \"srt\": {}}", "one environment|docker and srt" },
  { "R10.23/unknown-field", "{\"vm\": {}}", "Unknown field \"vm\"|docker, srt" },
  { "R10.23/before-count", "{\"srt\": {}, \"docker\": {}, \"vm\": {}}", "Unknown field \"vm\"" },
  { "R10.23/strange-name", "{\"v\\\"\\u202em\": 1}", "Unknown field \"v\\\"\\u202em\"" },
  { "R10.23/case", "{\"Read\": []}", "Unknown field \"Read\"" },
  { "R10.23/provider", "{\"provider\": \"srt\"}", "Unknown field \"provider\"" },
  { "R10.24/scheme",
    "{\"network\": [\"https://a.org\"]}", "\"https://a.org\"|not a sandbox domain" },
  { "R10.25/address", "{\"network\": [\"127.0.0.1\"]}", "\"127.0.0.1\"|not a sandbox domain" },
  { "R10.26/port", "{\"network\": [\"a.org:443\"]}", "\"a.org:443\"|not a sandbox domain" },
  { "R10.27/star", "{\"network\": [\"*\"]}", "\"*\"|not a sandbox domain" },
  { "R10.27/number", "{\"network\": [80]}", "80|not a sandbox domain" },
  { "R10.28/null", "null", "must be an object|null" },
  { "R10.28/list", "[{}]", "must be an object|[{}]" },
  { "R10.28/text", "\"read\"", "must be an object|\"read\"" },
  { "R13a/inline-key", "{\"key\": \"a\"}", "inline sandbox cannot name key", TRUE },
  { "R13b/inline-cwd", "{\"cwd\": \"src\"}", "inline sandbox cannot name cwd", TRUE },
  { "R13c/inline-provider",
    "{\"provider\": \"srt\"}", "inline sandbox cannot name provider", TRUE },
  { "R13/inline-unknown", "{\"vm\": 1}", "Unknown field \"vm\"|has read, write", TRUE },
  { "key/empty", "{\"key\": \"\"}", "key|non-empty|\"\"" },
  { "key/number", "{\"key\": 1}", "key|non-empty|1" },
  { "cwd/null", "{\"cwd\": null}", "cwd|non-empty path|null" },
  { "cwd/list", "{\"cwd\": [\"a\"]}", "cwd|non-empty path|[\"a\"]" },
  { "sockets/text", "{\"sockets\": \"/run/x\"}", "sockets|must be a list|\"/run/x\"" },
  { "sockets/number", "{\"sockets\": [1]}", "sockets|non-empty path|1" },
  { "web-search/text", "{\"webSearch\": \"true\"}", "webSearch|true or false|\"true\"" },
  { "web-search/number", "{\"webSearch\": 1}", "webSearch|true or false|1" },
  { "web-search/null", "{\"webSearch\": null}", "webSearch|true or false|null" },
  { "git/unknown", "{\"git\": \"write\"}", "git|\"write\"|\"commit\"" },
  { "git/default", "{\"git\": \"default\"}", "git|\"default\"" },
  { "git/boolean", "{\"git\": false}", "git|false|\"none\"" },
  { "git/null", "{\"git\": null}", "git|null" },
  { "limits/list", "{\"limits\": [1]}", "limits|must be an object|[1]" },
  { "limits/null", "{\"limits\": null}", "limits|must be an object|null" },
  { "limits/unknown", "{\"limits\": {\"disk\": 1}}", "limits|\"disk\"|memory, processes, cpuTime" },
  { "limits/zero", "{\"limits\": {\"processes\": 0}}", "limits|processes|positive integer|0" },
  { "limits/negative", "{\"limits\": {\"memory\": -1}}", "limits|memory|positive integer|-1" },
  { "limits/fraction", "{\"limits\": {\"cpuTime\": 1.5}}", "limits|cpuTime|positive integer|1.5" },
  { "limits/null-value", "{\"limits\": {\"memory\": null}}", "limits|memory|null" },
  { "limits/unit-of-count", "{\"limits\": {\"processes\": \"1K\"}}", "processes|\"1K\"" },
  { "limits/text-of-count", "{\"limits\": {\"openFiles\": \"10\"}}", "openFiles|\"10\"" },
  { "limits/unit-alone", "{\"limits\": {\"memory\": \"M\"}}", "memory|\"M\"|\"512M\"" },
  { "limits/long-unit", "{\"limits\": {\"memory\": \"1MiB\"}}", "memory|\"1MiB\"" },
  { "limits/space", "{\"limits\": {\"memory\": \"1 M\"}}", "memory|\"1 M\"" },
  { "limits/sign", "{\"limits\": {\"memory\": \"+1\"}}", "memory|\"+1\"" },
  { "limits/overflow", "{\"limits\": {\"memory\": \"9000000T\"}}", "memory|\"9000000T\"" },
  { "limits/huge",
    "{\"limits\": {\"memory\": \"9223372036854775808\"}}", "memory|\"9223372036854775808\"" },
  { "limits/zero-text", "{\"limits\": {\"fileSize\": \"0K\"}}", "fileSize|\"0K\"" },
  { "settings/number", "{\"srt\": 7}", "srt|must be an object|7" },
  { "settings/list", "{\"srt\": [{}]}", "srt|must be an object|[{}]" },
  { "settings/text", "{\"srt\": \"{}\"}", "srt|must be an object|\"{}\"" },
  { "syntax/none", "", "spec cannot be read" },
  { "syntax/comment", "{/* */}", "spec cannot be read" },
  { "syntax/comma", "{\"read\": [],}", "spec cannot be read" },
  { "syntax/twice", "{\"read\": [], \"read\": [\"/\"]}", "spec cannot be read" },
  { "syntax/nul", "{\"read\": [\"/a\\u0000b\"]}", "spec cannot be read" },
  { "syntax/second-root", "{} {}", "spec cannot be read" },
};

/* The value that a message shows cannot make the message say something else. */
static void
test_shown (void)
{
  g_autoptr(SbxProviderSet) providers = make_providers ();
  g_autoptr(GError) error = NULL;

  g_assert_null (ask_of ("{\"network\": [\"\\u202ea\\n\\u001b[2J\\u00e9\"]}", providers, FALSE,
                         &error));
  assert_error (error, SBX_ERROR_INVALID, "\"\\u202ea\\n\\u001b[2J\u00e9\"");
  g_assert_null (strchr (error->message, '\n'));
  g_assert_null (strchr (error->message, '\033'));
}

static void
test_r3 (void)
{
  g_autoptr(SbxReach) reach = ask ("{\"docker\": {\"tag\": \"1\", \"image\": \"debian\"}}");

  g_assert_cmpstr (sbx_reach_get_environment_key (reach), ==, "docker");
  g_assert_cmpstr (sbx_reach_get_settings (reach), ==, "{\"image\":\"debian\",\"tag\":\"1\"}");
}

static void
test_r1_raw_settings (void)
{
  g_autoptr(SbxProviderSet) providers = make_providers ();
  SbxProvider *srt = sbx_provider_set_lookup (providers, NULL, NULL);
  g_autoptr(SbxReach) reach = ask_of ("{}", providers, FALSE, NULL);

  g_assert_cmpstr (spec_provider_asked (srt), ==, "{}");
  g_assert_cmpstr (sbx_reach_get_environment_key (reach), ==, "srt");
  g_assert_cmpstr (sbx_reach_get_settings (reach), ==, "{}");
}

/* JSON has no undefined. In code it is what is taken back. */
static void
test_r12 (void)
{
  g_autoptr(SbxProviderSet) providers = make_providers ();
  g_autoptr(SbxSandboxSpec) spec = sbx_sandbox_spec_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxReach) reach = NULL;

  sbx_sandbox_spec_set_environment_key (spec, "srt", "{}");
  sbx_sandbox_spec_set_environment_key (spec, NULL, NULL);
  sbx_sandbox_spec_set_environment_key (spec, "docker", "{}");

  reach = _sbx_sandbox_spec_to_asked (spec, providers, FALSE, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sbx_reach_get_environment_key (reach), ==, "docker");
}

static void
test_r14a (void)
{
  g_autoptr(SbxProviderSet) providers = sbx_provider_set_new ();
  g_autoptr(SbxProvider) srt = spec_provider_new (SPEC_PROVIDER_ECHO);
  g_autoptr(GError) error = NULL;

  sbx_provider_set_add (providers, "srt", srt);
  sbx_provider_set_add_unavailable (providers, "docker", NULL);
  sbx_provider_set_set_default (providers, "srt");

  g_assert_null (ask_of ("{\"docker\": {}}", providers, FALSE, &error));
  assert_error (error, SBX_ERROR_NOT_FOUND, "“docker” is not installed|“srt”");
  g_clear_error (&error);

  g_assert_null (ask_of ("{\"bwrap\": {}}", providers, FALSE, &error));
  assert_error (error, SBX_ERROR_NOT_FOUND, "“bwrap” is not installed");
  g_clear_error (&error);

  /* It was found, and did not work: no other takes its place. */
  sbx_provider_set_add_unavailable (providers, "docker", "its daemon\ndoes not answer");
  sbx_provider_set_set_default (providers, "docker");
  g_assert_null (ask_of ("{}", providers, FALSE, &error));
  assert_error (error, SBX_ERROR_NOT_ENFORCEABLE,
                "“docker” was found but is not usable: its daemon\\ndoes not answer");
}

static void
test_r14b (void)
{
  g_autoptr(SbxProviderSet) providers = sbx_provider_set_new ();
  g_autoptr(SbxProvider) srt = spec_provider_new (SPEC_PROVIDER_ECHO);
  g_autoptr(GError) error = NULL;

  g_assert_null (ask_of ("{}", providers, FALSE, &error));
  assert_error (error, SBX_ERROR_NOT_FOUND, "o provider of sandboxes is installed");
  g_clear_error (&error);

  sbx_provider_set_add (providers, "srt", srt);
  g_assert_null (ask_of ("{}", providers, FALSE, &error));
  assert_error (error, SBX_ERROR_NOT_FOUND, "No provider is installed|name one of “srt”");
}

static void
test_r15 (void)
{
  g_autoptr(SbxProviderSet) providers = sbx_provider_set_new ();
  g_autoptr(SbxProvider) refuses = spec_provider_new (SPEC_PROVIDER_REFUSES);
  g_autoptr(SbxProvider) forgets = spec_provider_new (SPEC_PROVIDER_FORGETS);
  g_autoptr(SbxProvider) lies = spec_provider_new (SPEC_PROVIDER_LIES);
  g_autoptr(SpecPlainProvider) plain = g_object_new (SPEC_TYPE_PLAIN_PROVIDER, NULL);
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(GError) error = NULL;

  sbx_provider_set_add (providers, "refuses", refuses);
  sbx_provider_set_add (providers, "forgets", forgets);
  sbx_provider_set_add (providers, "lies", lies);
  sbx_provider_set_add (providers, "plain", SBX_PROVIDER (plain));

  g_assert_null (ask_of ("{\"refuses\": {\"image\": \"x\"}}", providers, FALSE, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED);
  g_assert_cmpstr (error->message, ==, "refuses: no such image; pull it");
  g_clear_error (&error);

  g_assert_null (ask_of ("{\"forgets\": {}}", providers, FALSE, &error));
  assert_error (error, SBX_ERROR_FAILED, "forgets|gave back none");
  g_clear_error (&error);

  g_assert_null (ask_of ("{\"lies\": {}}", providers, FALSE, &error));
  assert_error (error, SBX_ERROR_FAILED, "lies|gave back none");
  g_clear_error (&error);

  g_assert_null (ask_of ("{\"plain\": {\"image\": \"x\"}}", providers, FALSE, &error));
  assert_error (error, SBX_ERROR_INVALID, "plain|takes no settings");
  g_clear_error (&error);

  reach = ask_of ("{\"plain\": null}", providers, FALSE, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sbx_reach_get_settings (reach), ==, "{}");
}

/* Without a set of providers there is the one that comes with the library. */
static void
test_no_set (void)
{
  g_autoptr(SbxReach) reach = NULL;
  g_autoptr(SbxReach) named = NULL;
  g_autoptr(GError) error = NULL;

  reach = ask_of ("{}", NULL, FALSE, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sbx_reach_get_environment_key (reach), ==, "bwrap");

  named = ask_of ("{\"bwrap\": {\"b\": [1, {\"d\": 1, \"c\": 2}], \"a\": 1}}", NULL, TRUE, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sbx_reach_get_settings (named), ==, "{\"a\":1,\"b\":[1,{\"c\":2,\"d\":1}]}");

  g_assert_null (ask_of ("{\"srt\": {}}", NULL, FALSE, &error));
  assert_error (error, SBX_ERROR_INVALID, "Unknown field \"srt\"|bwrap");
}

static void
assert_list (const char * const *list,
             const char         *joined)
{
  g_autofree char *actual = g_strjoinv ("|", (GStrv) list);

  g_assert_cmpstr (actual, ==, joined);
}

static void
test_asked (void)
{
  g_autoptr(SbxReach) reach =
    ask ("{\"key\": \"build\", \"cwd\": \"src\", \"read\": [\"~/notes\", \"..\", \"~/notes\"],"
         " \"write\": [\".\", \"~\"], \"network\": [\"API.Example.org\", \"*.x.org\"],"
         " \"sockets\": [\"/run/s\"], \"webSearch\": true, \"git\": \"full\","
         " \"limits\": {\"memory\": \"512M\", \"processes\": 10, \"cpuTime\": 60,"
         " \"fileSize\": \"2g\", \"openFiles\": 64}}");

  g_assert_false (sbx_reach_is_resolved (reach));
  g_assert_cmpstr (sbx_reach_get_cwd (reach), ==, "src");
  assert_list (sbx_reach_get_read (reach), "~/notes|..|~/notes");
  assert_list (sbx_reach_get_write (reach), ".|~");
  assert_list (sbx_reach_get_network (reach), "API.Example.org|*.x.org");
  assert_list (sbx_reach_get_sockets (reach), "/run/s");
  g_assert_true (sbx_reach_get_web_search (reach));
  g_assert_cmpint (sbx_reach_get_git_mode (reach), ==, SBX_GIT_MODE_FULL);
  g_assert_cmpuint (sbx_reach_get_limit (reach, SBX_LIMIT_MEMORY), ==, 536870912);
  g_assert_cmpuint (sbx_reach_get_limit (reach, SBX_LIMIT_PROCESSES), ==, 10);
  g_assert_cmpuint (sbx_reach_get_limit (reach, SBX_LIMIT_CPU_TIME), ==, 60);
  g_assert_cmpuint (sbx_reach_get_limit (reach, SBX_LIMIT_FILE_SIZE), ==, 2147483648);
  g_assert_cmpuint (sbx_reach_get_limit (reach, SBX_LIMIT_OPEN_FILES), ==, 64);
}

static void
test_asked_least (void)
{
  g_autoptr(SbxReach) reach = ask ("{}");

  g_assert_null (sbx_reach_get_cwd (reach));
  assert_list (sbx_reach_get_read (reach), "");
  assert_list (sbx_reach_get_write (reach), "");
  g_assert_false (sbx_reach_get_web_search (reach));
  g_assert_cmpint (sbx_reach_get_git_mode (reach), ==, SBX_GIT_MODE_DEFAULT);
  for (int i = SBX_LIMIT_MEMORY; i <= SBX_LIMIT_OPEN_FILES; i++)
    g_assert_cmpuint (sbx_reach_get_limit (reach, i), ==, 0);
}

static void
test_units (void)
{
  static const struct { const char *text; guint64 value; } amounts[] = {
    { "1", 1 }, { "1K", 1024 }, { "1M", 1048576 }, { "3G", 3221225472 }, { "1T", 1099511627776 },
    { "1k", 1024 }, { "007", 7 }, { "9223372036854775807", G_MAXINT64 },
    { "8388607T", 9223370937343148032 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (amounts); i++)
    {
      g_autofree char *json = g_strdup_printf ("{\"limits\": {\"memory\": \"%s\"}}",
                                               amounts[i].text);
      g_autoptr(SbxSandboxSpec) spec = sbx_sandbox_spec_new ();
      g_autoptr(SbxReach) reach = ask (json);
      g_autoptr(GError) error = NULL;

      g_assert_cmpuint (sbx_reach_get_limit (reach, SBX_LIMIT_MEMORY), ==, amounts[i].value);
      g_assert_true (sbx_sandbox_spec_set_limit_from_text (spec, "memory", amounts[i].text,
                                                           &error));
      g_assert_no_error (error);
      g_assert_cmpuint (sbx_sandbox_spec_get_limit (spec, SBX_LIMIT_MEMORY), ==, amounts[i].value);
    }
}

static void
test_limit_text (void)
{
  g_autoptr(SbxSandboxSpec) spec = sbx_sandbox_spec_new ();
  g_autoptr(GError) error = NULL;

  g_assert_true (sbx_sandbox_spec_set_limit_from_text (spec, "processes", "100", &error));
  g_assert_cmpuint (sbx_sandbox_spec_get_limit (spec, SBX_LIMIT_PROCESSES), ==, 100);

  g_assert_false (sbx_sandbox_spec_set_limit_from_text (spec, "processes", "1K", &error));
  assert_error (error, SBX_ERROR_INVALID, "limits|processes|\"1K\"");
  g_clear_error (&error);

  g_assert_false (sbx_sandbox_spec_set_limit_from_text (spec, "disk", "1", &error));
  assert_error (error, SBX_ERROR_INVALID, "limits|\"disk\"");
  g_assert_cmpuint (sbx_sandbox_spec_get_limit (spec, SBX_LIMIT_PROCESSES), ==, 100);
}

/* In code the same rules hold, once the spec is used. */
static void
test_built (void)
{
  g_autoptr(SbxProviderSet) providers = make_providers ();
  static const char * const bad[] = { "", " ", "~root" };

  for (gsize i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr(SbxSandboxSpec) spec = sbx_sandbox_spec_new ();
      g_autoptr(GError) error = NULL;

      sbx_sandbox_spec_add_socket (spec, bad[i]);
      g_assert_null (_sbx_sandbox_spec_to_asked (spec, providers, FALSE, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "sockets"));
    }
}

static void
test_built_more (void)
{
  g_autoptr(SbxProviderSet) providers = make_providers ();
  g_autoptr(SbxSandboxSpec) domain = sbx_sandbox_spec_new ();
  g_autoptr(SbxSandboxSpec) limit = sbx_sandbox_spec_new ();
  g_autoptr(SbxSandboxSpec) settings = sbx_sandbox_spec_new ();
  g_autoptr(GError) error = NULL;

  sbx_sandbox_spec_add_domain (domain, "a..b\xff");
  g_assert_null (_sbx_sandbox_spec_to_asked (domain, providers, FALSE, &error));
  assert_error (error, SBX_ERROR_INVALID, "network|not a sandbox domain");
  g_clear_error (&error);

  sbx_sandbox_spec_set_limit (limit, SBX_LIMIT_CPU_TIME, G_MAXUINT64);
  g_assert_null (_sbx_sandbox_spec_to_asked (limit, providers, FALSE, &error));
  assert_error (error, SBX_ERROR_INVALID, "limits|cpuTime|18446744073709551615");
  g_clear_error (&error);

  sbx_sandbox_spec_set_environment_key (settings, "srt", "{\"a\": ");
  g_assert_null (_sbx_sandbox_spec_to_asked (settings, providers, FALSE, &error));
  assert_error (error, SBX_ERROR_INVALID, "srt: |cannot be read as JSON");
  g_clear_error (&error);
  sbx_sandbox_spec_set_environment_key (settings, "bwrap", "{\"a\": ");
  g_assert_null (_sbx_sandbox_spec_to_asked (settings, NULL, FALSE, &error));
  assert_error (error, SBX_ERROR_INVALID, "bwrap: |cannot be read as JSON");
}

static void
add_refusals (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      g_autofree char *path = g_strconcat ("/spec/shape/", refusals[i].name, NULL);

      g_test_add_data_func (path, &refusals[i], test_refused);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  add_refusals ();
  g_test_add_func ("/spec/shape/R1/raw-settings", test_r1_raw_settings);
  g_test_add_func ("/spec/shape/R3", test_r3);
  g_test_add_func ("/spec/shape/R12", test_r12);
  g_test_add_func ("/spec/shape/R14a", test_r14a);
  g_test_add_func ("/spec/shape/R14b", test_r14b);
  g_test_add_func ("/spec/shape/R15", test_r15);
  g_test_add_func ("/spec/shape/no-set", test_no_set);
  g_test_add_func ("/spec/shape/asked", test_asked);
  g_test_add_func ("/spec/shape/asked-least", test_asked_least);
  g_test_add_func ("/spec/shape/units", test_units);
  g_test_add_func ("/spec/shape/limit-text", test_limit_text);
  g_test_add_func ("/spec/shape/shown", test_shown);
  g_test_add_func ("/spec/shape/built", test_built);
  g_test_add_func ("/spec/shape/built-more", test_built_more);

  return g_test_run ();
}
