/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "escape.h"

#include <glib/gstdio.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char *root;

void
escape_init (int    *argc,
             char ***argv)
{
  static const char * const directories[] = {
    "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
  };
  struct rlimit limit;
  const char *base = g_getenv ("TMPDIR");
  g_autofree char *home = NULL;

  /* On disk, as what a user keeps; /tmp may be in memory. */
  root = g_build_filename (base != NULL ? base : "/var/tmp", "sbx-escape-XXXXXX", NULL);
  g_assert_nonnull (g_mkdtemp (root));
  g_assert_cmpint (g_chmod (root, 0755), ==, 0);

  home = g_build_filename (root, "home", NULL);
  g_assert_cmpint (g_mkdir (home, 0700), ==, 0);
  g_setenv ("HOME", home, TRUE);
  for (gsize i = 0; i < G_N_ELEMENTS (directories); i++)
    g_unsetenv (directories[i]);

  g_setenv ("SBX_ESCAPE_SECRET", "sbx-escape-secret", TRUE);

  /* One number on every machine, and no core files from tests that are to fail. */
  g_assert_cmpint (getrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  limit.rlim_cur = MIN (1024, limit.rlim_max);
  g_assert_cmpint (setrlimit (RLIMIT_NOFILE, &limit), ==, 0);
  g_assert_cmpint (getrlimit (RLIMIT_CORE, &limit), ==, 0);
  limit.rlim_cur = 0;
  g_assert_cmpint (setrlimit (RLIMIT_CORE, &limit), ==, 0);

  g_test_init (argc, argv, NULL);
}

const char *
escape_get_root (void)
{
  return root;
}

int
escape_run (void)
{
  const int status = g_test_run ();

  escape_outside ("/", "chmod -R u+rwX \"$ROOT\"; rm -rf --one-file-system \"$ROOT\"");
  g_clear_pointer (&root, g_free);

  return status;
}

void
escape_place (EscapeBox *box)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *template = g_build_filename (root, "work-XXXXXX", NULL);
  g_autofree char *attack = g_test_build_filename (G_TEST_BUILT, "escape", "attack", NULL);
  g_autoptr(GFile) from = g_file_new_for_path (attack);
  g_autoptr(GFile) to = NULL;

  alarm (ESCAPE_DEADLINE_S);

  box->work = g_strdup (g_mkdtemp_full (template, 0755));
  g_assert_nonnull (box->work);
  box->attack = g_build_filename (box->work, "attack", NULL);
  to = g_file_new_for_path (box->attack);
  g_file_copy (from, to, G_FILE_COPY_NONE, NULL, NULL, NULL, &error);
  g_assert_no_error (error);

  box->provider = sbx_bwrap_provider_new ();
}

SbxSession *
escape_try_open (EscapeBox   *box,
                 const char  *write,
                 GError     **error)
{
  g_autoptr(SbxReach) reach = sbx_reach_new (box->work);
  g_autoptr(SbxOpenRequest) request = NULL;

  sbx_reach_add_write (reach, write);
  request = sbx_open_request_new (reach);

  return sbx_provider_open (SBX_PROVIDER (box->provider), request, NULL, error);
}

void
escape_open (EscapeBox *box)
{
  g_autoptr(GError) error = NULL;

  escape_place (box);
  box->session = escape_try_open (box, box->work, &error);
  g_assert_no_error (error);
}

void
escape_close (EscapeBox *box)
{
  g_autoptr(GError) error = NULL;

  sbx_session_close (box->session, NULL, &error);
  g_assert_no_error (error);
  g_clear_object (&box->session);
}

void
escape_box_clear (EscapeBox *box)
{
  if (box->session != NULL)
    sbx_session_close (box->session, NULL, NULL);

  g_clear_object (&box->session);
  g_clear_object (&box->provider);
  g_free (box->work);
  g_free (box->attack);
  alarm (0);
}

static SbxCommand *
make_command (EscapeBox *box,
              va_list    arguments)
{
  g_autoptr(GPtrArray) argv = g_ptr_array_new ();
  const char *word;

  g_ptr_array_add (argv, box->attack);
  while ((word = va_arg (arguments, const char *)) != NULL)
    g_ptr_array_add (argv, (char *) word);
  g_ptr_array_add (argv, NULL);

  return sbx_command_new ((const char * const *) argv->pdata);
}

SbxCommand *
escape_command (EscapeBox *box,
                ...)
{
  SbxCommand *command;
  va_list arguments;

  va_start (arguments, box);
  command = make_command (box, arguments);
  va_end (arguments);

  return command;
}

SbxExecResult *
escape_exec (EscapeBox  *box,
             SbxCommand *command)
{
  g_autoptr(GError) error = NULL;
  SbxExecResult *result = sbx_session_exec (box->session, command, NULL, &error);

  g_assert_no_error (error);
  return result;
}

char *
escape_get_stdout (SbxExecResult *result)
{
  GBytes *bytes = sbx_exec_result_get_stdout (result);

  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

char *
escape_attack (EscapeBox *box,
               ...)
{
  g_autoptr(SbxCommand) command = NULL;
  g_autoptr(SbxExecResult) result = NULL;
  char *output;
  va_list arguments;

  va_start (arguments, box);
  command = make_command (box, arguments);
  va_end (arguments);

  result = escape_exec (box, command);
  output = escape_get_stdout (result);
  g_test_message ("%s", output);
  g_assert_cmpint (sbx_exec_result_get_outcome (result), ==, SBX_EXEC_OUTCOME_EXITED);
  g_assert_cmpint (sbx_exec_result_get_exit_code (result), ==, 0);

  return output;
}

SbxProcess *
escape_hold (EscapeBox   *box,
             SbxCommand  *command,
             char       **output)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GString) seen = g_string_new (NULL);
  g_autoptr(SbxProcess) process = sbx_session_create_process (box->session, command);
  const gboolean terminal = sbx_command_get_terminal (command);
  GInputStream *stream = terminal ? NULL : sbx_process_get_stdout_pipe (process);

  /* Both are to be asked for before it starts. */
  if (terminal)
    sbx_process_get_terminal (process);

  sbx_process_start (process, NULL, &error);
  g_assert_no_error (error);
  if (terminal)
    stream = sbx_terminal_get_input_stream (sbx_process_get_terminal (process));

  while (strstr (seen->str, "ready 0") == NULL)
    {
      char chunk[4096];
      const gssize n = g_input_stream_read (stream, chunk, sizeof chunk, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpint (n, >, 0);
      g_string_append_len (seen, chunk, n);
    }

  g_test_message ("%s", seen->str);
  if (output != NULL)
    *output = g_string_free (g_steal_pointer (&seen), FALSE);

  return g_steal_pointer (&process);
}

gint64
escape_get (const char *output,
            const char *name)
{
  g_auto(GStrv) lines = g_strsplit (output, "\n", -1);

  for (char **line = lines; *line != NULL; line++)
    if (g_str_has_prefix (*line, name) && (*line)[strlen (name)] == ' ')
      return g_ascii_strtoll (*line + strlen (name) + 1, NULL, 10);

  g_error ("The attacker said nothing of “%s”: %s", name, output);
}

void
escape_outside (const char *cwd,
                const char *script)
{
  g_autoptr(GSubprocessLauncher) launcher = NULL;
  g_autoptr(GSubprocess) process = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *output = NULL;

  launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                        G_SUBPROCESS_FLAGS_STDERR_MERGE);
  g_subprocess_launcher_set_cwd (launcher, cwd);
  g_subprocess_launcher_setenv (launcher, "ROOT", root, TRUE);
  process = g_subprocess_launcher_spawn (launcher, &error, "/bin/sh", "-e", "-c", script, NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, &error);
  g_assert_no_error (error);

  if (!g_subprocess_get_successful (process))
    g_error ("On the host “%s” failed: %s", script, output);
}

guint
escape_count (const char *text)
{
  g_autoptr(GDir) dir = g_dir_open ("/proc", 0, NULL);
  const char *name;
  guint n = 0;

  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename ("/proc", name, "cmdline", NULL);
      g_autofree char *content = NULL;
      gsize size;

      if (!g_ascii_isdigit (name[0]) || !g_file_get_contents (path, &content, &size, NULL))
        continue;

      n += memmem (content, size, text, strlen (text)) != NULL;
    }

  return n;
}
