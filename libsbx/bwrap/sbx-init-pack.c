/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "bwrap/sbx-init-pack-private.h"

#include "core/sbx-error.h"
#include "files/sbx-memfd-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static gsize
size_of_strings (const char * const *strings,
                 guint              *n_strings)
{
  gsize size = 0;

  for (guint i = 0; strings != NULL && strings[i] != NULL; i++, (*n_strings)++)
    size += strlen (strings[i]) + 1;

  return size;
}

static char *
put_string (char       *at,
            const char *string)
{
  const gsize size = strlen (string) + 1;

  memcpy (at, string, size);
  return at + size;
}

static char *
put_strings (char               *at,
             const char * const *strings)
{
  for (guint i = 0; strings != NULL && strings[i] != NULL; i++)
    at = put_string (at, strings[i]);

  return at;
}

int
_sbx_init_pack_request (const SbxInitRequest  *request,
                        GError               **error)
{
  SbxInitRequestHead head = { .magic = SBX_INIT_MAGIC };
  g_autofree char *data = NULL;
  gsize size = sizeof head + strlen (request->cwd) + 1;
  guint argc = 0, envc = 0;
  char *at;

  size += size_of_strings (request->argv, &argc);
  size += size_of_strings (request->environment, &envc);

  if (size > SBX_INIT_MAX_REQUEST || argc > SBX_INIT_MAX_STRINGS || envc > SBX_INIT_MAX_STRINGS)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
                           "Arguments and environment are larger than any command can have");
      return -1;
    }

  head.size = (guint32) size;
  head.argc = argc;
  head.envc = envc;

  data = g_malloc (size);
  memcpy (data, &head, sizeof head);
  at = put_string (data + sizeof head, request->cwd);
  at = put_strings (at, request->argv);
  put_strings (at, request->environment);

  return _sbx_memfd_sealed ("sbx-request", data, size, error);
}

int
_sbx_init_pack_expectations (const SbxInitExpectation  *expectations,
                             gsize                      n_expectations,
                             GError                   **error)
{
  SbxInitExpectationsHead head = { .magic = SBX_INIT_MAGIC };
  g_autoptr(GByteArray) data = g_byte_array_new ();

  g_byte_array_append (data, (const guint8 *) &head, sizeof head);
  for (gsize i = 0; i < n_expectations; i++)
    g_byte_array_append (data, (const guint8 *) expectations[i].path,
                         (guint) strlen (expectations[i].path) + 1);

  if (n_expectations > SBX_INIT_MAX_EXPECTATIONS || data->len > SBX_INIT_MAX_PATHS)
    {
      g_set_error_literal (error, SBX_ERROR, SBX_ERROR_TOO_LARGE,
                           _("The sandbox has too many mounts; let it reach fewer paths"));
      return -1;
    }

  head.size = data->len;
  head.n_paths = (guint32) n_expectations;
  memcpy (data->data, &head, sizeof head);

  return _sbx_memfd_sealed ("sbx-expectations", data->data, data->len, error);
}

/* Any bytes, for a person to read. */
static char *
escape_path (const char *path)
{
  if (!g_utf8_validate (path, -1, NULL))
    return g_strescape (path, NULL);

  for (const char *p = path; *p != '\0'; p = g_utf8_next_char (p))
    {
      const gunichar c = g_utf8_get_char (p);

      if (!g_unichar_isprint (c) || g_unichar_type (c) == G_UNICODE_FORMAT)
        return g_strescape (path, NULL);
    }

  return g_strdup (path);
}

gboolean
_sbx_init_check_mount (const SbxInitExpectation  *expectation,
                       const SbxInitMount        *mount,
                       GError                   **error)
{
  g_autofree char *path = escape_path (expectation->path);

  if (mount->error != 0)
    g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                 _("“%s” is not there inside the sandbox: %s"),
                 path, g_strerror ((int) mount->error));
  else if (mount->device != (guint64) expectation->device ||
           mount->inode != (guint64) expectation->inode)
    g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                 _("“%s” is something else inside the sandbox than what was looked up; it was "
                   "replaced meanwhile. Try again, and find out what replaces it"),
                 path);
  else if ((mount->read_only != 0) != (expectation->read_only != FALSE))
    g_set_error (error, SBX_ERROR, SBX_ERROR_SETUP_FAILED,
                 mount->read_only != 0
                   ? _("“%s” is read-only inside the sandbox, and should be writable")
                   : _("“%s” is writable inside the sandbox, and should be read-only"),
                 path);
  else
    return TRUE;

  return FALSE;
}
