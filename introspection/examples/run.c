/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * Runs a command in a sandbox that may change the current directory and reach nothing else, and
 * prints its output as it comes.
 *
 *   cc $(pkg-config --cflags libsbx-1) run.c $(pkg-config --libs libsbx-1)
 */

#include <sbx.h>

#include <stdio.h>

static void
copy_cb (SbxProcess *process,
         GBytes     *bytes,
         gpointer    user_data)
{
  FILE *stream = user_data;

  fwrite (g_bytes_get_data (bytes, NULL), 1, g_bytes_get_size (bytes), stream);
  fflush (stream);
}

static int
run (SbxSession          *session,
     const char * const  *argv,
     GError             **error)
{
  g_autoptr(SbxCommand) command = sbx_command_new (argv);
  g_autoptr(SbxProcess) process = sbx_session_create_process (session, command);
  g_autoptr(SbxExecResult) result = NULL;

  g_signal_connect (process, "stdout", G_CALLBACK (copy_cb), stdout);
  g_signal_connect (process, "stderr", G_CALLBACK (copy_cb), stderr);

  result = sbx_process_run (process, NULL, error);
  if (result == NULL)
    return 125;

  if (sbx_exec_result_get_outcome (result) == SBX_EXEC_OUTCOME_EXITED)
    return sbx_exec_result_get_exit_code (result);

  if (sbx_exec_result_get_outcome (result) == SBX_EXEC_OUTCOME_SIGNALLED)
    return 128 + sbx_exec_result_get_signal (result);

  fprintf (stderr, "run: %s\n", sbx_exec_result_get_message (result));

  return 1;
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *cwd = g_get_current_dir ();
  g_autoptr(SbxReach) reach = sbx_reach_new (cwd);
  g_autoptr(SbxOpenRequest) request = NULL;
  g_autoptr(SbxBwrapProvider) provider = sbx_bwrap_provider_new ();
  g_autoptr(SbxSession) session = NULL;
  g_autoptr(GError) error = NULL;
  int status = 125;

  if (argc < 2)
    {
      fprintf (stderr, "Usage: %s COMMAND [ARGUMENT…]\n", argv[0]);
      return status;
    }

  sbx_reach_add_write (reach, cwd);
  request = sbx_open_request_new (reach);

  session = sbx_provider_open (SBX_PROVIDER (provider), request, NULL, &error);
  if (session != NULL)
    {
      status = run (session, (const char * const *) &argv[1], &error);
      sbx_session_close (session, NULL, error == NULL ? &error : NULL);
    }

  if (error != NULL)
    fprintf (stderr, "run: %s\n", error->message);

  return status;
}
