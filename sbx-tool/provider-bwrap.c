/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <glib-unix.h>
#include <sbx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The provider of bubblewrap's sandboxes, for clients in other processes: sandbox.v1 on standard
 * input and output. What it says of itself is for whoever starts it by hand or reads its log, and
 * is in English, as a log is.
 */

#define PROGRAM "sbx-provider-bwrap"
#define EXIT_USAGE 2

static const char help[] =
  "Usage:\n"
  "  " PROGRAM " serve\n"
  "\n"
  "Opens sandboxes with bubblewrap for a client that speaks sandbox.v1 on standard\n"
  "input and output. It ends, and all its sandboxes with it, when its input ends.\n"
  "\n"
  "Options:\n"
  "  --help     Show this help\n"
  "  --version  Show the version\n";

static gboolean
end_cb (gpointer user_data)
{
  g_cancellable_cancel (user_data);

  return G_SOURCE_CONTINUE;
}

/* A client passes on, to whoever it works for, what comes here. */
static void
worktree_kept_cb (SbxBwrapProvider *provider,
                  const char       *path,
                  const char       *branch,
                  const char       *message,
                  gpointer          user_data)
{
  fprintf (stderr, PROGRAM ": %s\n", message);
}

static void
message_cb (SbxBwrapProvider *provider,
            const char       *message,
            gpointer          user_data)
{
  fprintf (stderr, PROGRAM ": %s\n", message);
}

static int
serve (void)
{
  static const int ends[] = { SIGTERM, SIGINT, SIGHUP };
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(SbxBwrapProvider) provider = NULL;
  g_autoptr(SbxProviderServer) server = NULL;
  g_autoptr(GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (ends); i++)
    g_unix_signal_add (ends[i], end_cb, cancellable);

  provider = sbx_bwrap_provider_new ();
  g_signal_connect (provider, "worktree-kept", G_CALLBACK (worktree_kept_cb), NULL);
  g_signal_connect (provider, "message", G_CALLBACK (message_cb), NULL);
  server = sbx_provider_server_new_for_stdio (SBX_PROVIDER (provider), &error);
  if (server != NULL)
    {
      sbx_provider_server_set_provider_name (server, "bwrap");
      sbx_provider_server_run (server, cancellable, &error);
    }

  if (error == NULL || g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return EXIT_SUCCESS;

  fprintf (stderr, PROGRAM ": %s\n", error->message);

  return EXIT_FAILURE;
}

int
main (int    argc,
      char **argv)
{
  if (argc == 2 && strcmp (argv[1], "serve") == 0)
    return serve ();

  if (argc == 2 && strcmp (argv[1], "--help") == 0)
    return fputs (help, stdout) < 0 || fflush (stdout) != 0;

  if (argc == 2 && strcmp (argv[1], "--version") == 0)
    return fputs (PROGRAM " " PACKAGE_VERSION "\n", stdout) < 0 || fflush (stdout) != 0;

  fputs (PROGRAM ": the one command is “serve”; --help tells more\n", stderr);

  return EXIT_USAGE;
}
