/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "core/sbx-domain-private.h"

#include <string.h>

#define LABEL_63 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg"
#define LABEL_61 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffg"

static void
test_accepted (void)
{
  static const char * const domains[] = {
    "api.anthropic.com", "*.chatgpt.com", "localhost", "a-b.c0.io", "A.Example.ORG", "a", "x1",
    "1.example", "127.0.0.1.example.org", "0x7f.a", "a.0x7g", "0xg", "x", "a--b", "*.a.b.c.d",
    "xn--nxasmq6b", "a.1a", LABEL_63 ".org",
    /* 253 characters. */
    LABEL_63 "." LABEL_63 "." LABEL_63 "." LABEL_61,
  };

  for (gsize i = 0; i < G_N_ELEMENTS (domains); i++)
    if (!_sbx_domain_is_valid (domains[i]))
      g_error ("refused: %s", domains[i]);
}

static void
test_refused (void)
{
  static const char * const domains[] = {
    "", "*", "*.", ".", "-a.com", "a-.com", "a.-b", "a..b", ".a", "*.*.com", "*.com", "*.localhost",
    "a.com/path", "a.com.", "127.0.0.1", "2130706433", "0x7f000001", "0X7F000001", "0x", "a.0x",
    "a.0x1f", "a.1", "0177.0.0.01", "1.2.3", "::1", "[::1]", "a:443", "https://a.com", "a b.com",
    "a.com ", " a.com", "a_b.com", "ä.com", "a.com\n", "a*.com", "*a.com", "a.*.com", "**.a.com",
    "*..a.com", "*.-a.com", "*.a.com.", "*.1.2.3.4", "user@a.com", "a.com?", "%61.com", "a\\b.com",
    LABEL_63 "a.org", "a." LABEL_63 "a",
    /* 254 characters. */
    LABEL_63 "." LABEL_63 "." LABEL_63 "." LABEL_61 "x",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (domains); i++)
    if (_sbx_domain_is_valid (domains[i]))
      g_error ("accepted: %s", domains[i]);
}

static void
test_matches (void)
{
  g_assert_true (_sbx_domain_matches ("example.org", "example.org"));
  g_assert_true (_sbx_domain_matches ("Example.org", "EXAMPLE.ORG"));
  g_assert_false (_sbx_domain_matches ("example.org", "a.example.org"));
  g_assert_false (_sbx_domain_matches ("example.org", "example.org."));
  g_assert_false (_sbx_domain_matches ("example.org", "badexample.org"));
  g_assert_false (_sbx_domain_matches ("example.org", ""));

  g_assert_true (_sbx_domain_matches ("*.example.org", "a.example.org"));
  g_assert_true (_sbx_domain_matches ("*.example.org", "a.b.Example.org"));
  g_assert_false (_sbx_domain_matches ("*.example.org", "example.org"));
  g_assert_false (_sbx_domain_matches ("*.example.org", ".example.org"));
  g_assert_false (_sbx_domain_matches ("*.example.org", "badexample.org"));
  g_assert_false (_sbx_domain_matches ("*.example.org", "a.example.org.evil.org"));
  g_assert_false (_sbx_domain_matches ("*.example.org", "a.example.orgs"));
  g_assert_false (_sbx_domain_matches ("*.example.org", ""));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/spec/domain/R16/accepted", test_accepted);
  g_test_add_func ("/spec/domain/R16/refused", test_refused);
  g_test_add_func ("/spec/domain/matches", test_matches);

  return g_test_run ();
}
