/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "client-util.h"

#include <string.h>

/*
 * Lines that no provider should send. Rows 2, 3, 4, 5, 18, 19 and 21 of what the reference client
 * does not survive: here such a line costs at most the one call that it was meant for, and never
 * the next one.
 */

#define PASSES (-1)

typedef struct
{
  int         row;              /* of the reference client's weak points, or 0 */
  const char *options;
  int         code;             /* of SBX_ERROR, of the exec; or PASSES */
  int         n_dropped;        /* lines that were dropped, or -1 where that does not matter */
  const char *output;           /* standard output, or NULL */
} Fault;

static const Fault faults[] = {
  /* A line between others that is nobody's. */
  { 4, "before=log", PASSES, 1, "hello" },
  { 4, "before=not-utf8", PASSES, 1, "hello" },
  { 4, "before=number", PASSES, 1, "hello" },
  { 4, "before=array", PASSES, -1, "hello" },
  { 2, "before=number-id", PASSES, 1, "hello" },
  { 2, "before=null-id", PASSES, 1, "hello" },
  { 2, "before=object-id", PASSES, 1, "hello" },
  { 2, "before=empty-id", PASSES, 1, "hello" },
  { 2, "before=no-id", PASSES, 1, "hello" },
  { 2, "before=foreign-id", PASSES, 1, "hello" },
  { 2, "before=later-id", PASSES, 1, "hello" },
  { 2, "before=padded-id", PASSES, 1, "hello" },
  { 2, "before=spaced-id", PASSES, 1, "hello" },
  { 2, "before=old-id", PASSES, 1, "hello" },
  { 2, "before=old-event", PASSES, 1, "hello" },
  { 21, "before=event-unknown", PASSES, 0, "hello" },
  { 4, "before=event-no-data", PASSES, 0, "hello" },
  { 4, "before=event-null-data", PASSES, 0, "hello" },

  /* After the answer, when nobody waits for it any more. */
  { 3, "behind=log", PASSES, 1, "hello" },
  { 3, "behind=event", PASSES, 1, "hello" },
  { 3, "behind=second-result", PASSES, 1, "hello" },
  { 3, "behind=empty-error", PASSES, 1, "hello" },
  { 3, "behind=nested", PASSES, 1, "hello" },
  { 3, "behind=not-utf8-inside", PASSES, 1, "hello" },

  /* For a call that waits, and not as it should be. */
  { 4, "before=event-text", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "before=event-no-type", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "before=event-number-type", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "before=event-number-data", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "before=event-bad-base64", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "before=event-huge-exit", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=not-utf8-inside", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=two-roots", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=comment", SBX_ERROR_PROTOCOL, -1, NULL },
  { 19, "instead=only-id", SBX_ERROR_PROTOCOL, -1, NULL },
  { 19, "instead=nulls", SBX_ERROR_PROTOCOL, -1, NULL },
  { 19, "instead=null-result", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=array-result", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=text-result", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=empty-result", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=text-error", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=empty-error", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=number-code", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=big-integer", SBX_ERROR_TOO_LARGE, -1, NULL },
  { 4, "instead=huge-float", SBX_ERROR_TOO_LARGE, -1, NULL },
  { 4, "instead=lone-surrogate", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=nul-escape", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=nul-byte", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=duplicate", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "instead=nested", SBX_ERROR_TOO_LARGE, -1, NULL },
  { 4, "instead=error+result", SBX_ERROR_PROVIDER, 0, NULL },
  { 4, "instead=event+error", SBX_ERROR_PROVIDER, 0, NULL },
  { 18, "instead=event+result", PASSES, 0, "hellohi" },

  /* Exit codes. */
  { 4, "exit-code=0", PASSES, 0, "hello" },
  { 4, "exit-code=255", PASSES, 0, "hello" },
  { 4, "exit-code=256", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "exit-code=-65", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "exit-code=2147483648", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "exit-code=-9223372036854775809", SBX_ERROR_TOO_LARGE, -1, NULL },
  { 4, "exit-code=0.5", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "exit-code=\"0\"", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "exit-code=true", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "exit-code=null", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "exit-code=", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "exit-code=01", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "exit-code=NaN", SBX_ERROR_PROTOCOL, -1, NULL },

  /* Base64. */
  { 4, "base64=unpadded", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "base64=overpadded", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "base64=character", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "base64=newline", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "base64=space", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "base64=bits", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "base64=url", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "base64=inner", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "base64=one", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "base64=pads", SBX_ERROR_PROTOCOL, -1, NULL },
  { 4, "base64=number", SBX_ERROR_PROTOCOL, -1, NULL },

  /* How lines are written. */
  { 0, "crlf", PASSES, 0, "hello" },
  { 0, "blank", PASSES, 0, "hello" },
  { 0, "dribble", PASSES, 0, "hello" },
};

static void
check_output (SbxExecResult *result,
              const char    *expected)
{
  gsize size;
  const char *data = g_bytes_get_data (sbx_exec_result_get_stdout (result), &size);

  g_assert_cmpmem (data, size, expected, strlen (expected));
}

static void
test_fault (gconstpointer data)
{
  const Fault *fault = data;
  g_autofree char *options = g_strconcat (fault->options, ",strict", NULL);
  g_autoptr(TestClient) self = test_client_new (options);
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("printf", "hello", NULL);
  g_autoptr(GBytes) content = g_bytes_new_static ("x", 1);
  g_autoptr(SbxExecResult) result = NULL;
  g_autoptr(GError) error = NULL;

  /* After that, a call that lost its answer is over. */
  sbx_provider_client_set_grace (self->client, 150);
  result = sbx_session_exec (session, command, NULL, &error);
  if (fault->code == PASSES)
    {
      g_assert_no_error (error);
      g_assert_cmpint (sbx_exec_result_get_exit_code (result), ==,
                       strstr (fault->options, "255") != NULL ? 255 : 0);
      check_output (result, fault->output);
    }
  else
    {
      g_assert_error (error, SBX_ERROR, fault->code);
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
    }
  g_clear_error (&error);

  /* The next calls never know. */
  g_assert_true (sbx_session_write_file (session, "a", content, 0, NULL, &error));
  g_assert_no_error (error);
  if (fault->n_dropped >= 0)
    g_assert_cmpuint (sbx_provider_client_get_n_dropped (self->client), ==, fault->n_dropped);
  g_assert_cmpint (sbx_session_get_state (session), ==, SBX_SESSION_STATE_OPEN);
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (sbx_provider_client_close (self->client, NULL, &error));
  g_assert_no_error (error);
}

/* Row 19: where the protocol has an answer of no content, it takes one without. */
static void
test_acknowledged (void)
{
  const char *modes[] = { "at=remove,instead=null-result", "at=remove,instead=empty-result",
                          "at=remove,instead=text-result" };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr(TestClient) self = test_client_new (modes[i]);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(GError) error = NULL;

      g_assert_true (sbx_session_remove (session, "a", NULL, &error));
      g_assert_no_error (error);
    }
}

static void
test_not_acknowledged (void)
{
  const char *modes[] = { "at=remove,instead=only-id", "at=remove,instead=text-error",
                          "at=remove,instead=nested" };
  const int codes[] = { SBX_ERROR_PROTOCOL, SBX_ERROR_PROTOCOL, SBX_ERROR_TOO_LARGE };

  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr(TestClient) self = test_client_new (modes[i]);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(GError) error = NULL;

      g_assert_false (sbx_session_remove (session, "a", NULL, &error));
      g_assert_error (error, SBX_ERROR, codes[i]);
      g_clear_error (&error);
      g_assert_true (sbx_session_create_dir_all (session, "a", NULL, &error));
      g_assert_no_error (error);
    }
}

/* Base64 that is not, in a file. */
static void
test_file_base64 (void)
{
  const char *kinds[] = { "unpadded", "overpadded", "character", "newline", "space", "bits", "url",
                          "inner", "one", "pads", "number", "null" };

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *options = g_strconcat ("base64=", kinds[i], NULL);
      g_autoptr(TestClient) self = test_client_new (options);
      g_autoptr(SbxSession) session = test_client_open (self);
      g_autoptr(GError) error = NULL;

      g_assert_null (sbx_session_read_file (session, "a", 0, NULL, &error));
      g_assert_error (error, SBX_ERROR, SBX_ERROR_PROTOCOL);
      g_clear_error (&error);
      g_assert_true (sbx_session_remove (session, "a", NULL, &error));
      g_assert_no_error (error);
    }
}

/* An escape in it is how JSON may well write the same text. */
static void
test_file_base64_escaped (void)
{
  g_autoptr(TestClient) self = test_client_new ("base64=escaped");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(GBytes) content = NULL;
  g_autoptr(GError) error = NULL;

  content = sbx_session_read_file (session, "a", 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (content, NULL), g_bytes_get_size (content), "hi", 2);
}

/* A mark before a line makes it no JSON: the call that waits ends, not the client. */
static void
test_mark (void)
{
  g_autoptr(TestClient) self = test_client_new ("bom");
  g_autoptr(GError) error = NULL;

  sbx_provider_client_set_open_timeout (self->client, 500);
  if (sbx_provider_client_start (self->client, NULL, &error))
    return;
  g_assert_nonnull (error);
  g_assert_cmpint (error->domain, ==, SBX_ERROR);
}

/* Told once for each kind, not for each line. */
static void
test_told_once (void)
{
  g_autoptr(TestClient) self = test_client_new ("before=log,behind=event,strict");
  g_autoptr(SbxSession) session = test_client_open (self);
  g_autoptr(SbxCommand) command = test_command ("printf", "hello", NULL);
  g_autoptr(GError) error = NULL;
  guint n_lines = 0;

  for (guint i = 0; i < 20; i++)
    {
      g_autoptr(SbxExecResult) result = sbx_session_exec (session, command, NULL, &error);

      g_assert_no_error (error);
      check_output (result, "hello");
    }
  g_assert_true (sbx_session_close (session, NULL, &error));
  g_assert_cmpuint (sbx_provider_client_get_n_dropped (self->client), ==, 40);
  for (const char *c = self->log->str; *c != '\0'; c++)
    if (*c == '\n')
      n_lines++;
  g_assert_cmpuint (n_lines, >=, 1);
  g_assert_cmpuint (n_lines, <=, 4);
}

/* What comes behind the answers is nobody's, and what is asked next is answered. */
static void
test_many_old (void)
{
  g_autoptr(TestClient) self = test_client_new ("at=all,before=old-id,behind=old-event,strict");
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;

  session = test_client_open (self);
  for (guint i = 0; i < 50; i++)
    {
      g_assert_true (sbx_session_create_dir_all (session, "a/b", NULL, &error));
      g_assert_no_error (error);
    }
}

int
main (int   argc,
      char *argv[])
{
  test_client_init (&argc, &argv);

  for (gsize i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autofree char *row = g_strdup_printf ("row-%d/", faults[i].row);
      g_autofree char *path = g_strconcat ("/client/faults/", faults[i].row > 0 ? row : "",
                                           faults[i].options, NULL);

      g_test_add_data_func (path, &faults[i], test_fault);
    }
  g_test_add_func ("/client/faults/acknowledged", test_acknowledged);
  g_test_add_func ("/client/faults/not-acknowledged", test_not_acknowledged);
  g_test_add_func ("/client/faults/file-base64", test_file_base64);
  g_test_add_func ("/client/faults/file-base64-escaped", test_file_base64_escaped);
  g_test_add_func ("/client/faults/mark", test_mark);
  g_test_add_func ("/client/faults/told-once", test_told_once);
  g_test_add_func ("/client/faults/many-old", test_many_old);

  return g_test_run ();
}
