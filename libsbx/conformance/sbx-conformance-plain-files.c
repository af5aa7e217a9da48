/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-checks-private.h"

#include <string.h>

/* sandbox.v1: files. */

static void
check_create_dir_all (SbxTrial *trial)
{
  for (int i = 0; i < 2; i++)
    {
      g_auto(SbxReply) reply = { NULL };

      if (!_sbx_trial_call (trial, &reply, "create_dir_all", "{'session':$S,'path':'d1/d2/d3'}"))
        return;
    }

  if (_sbx_trial_write (trial, "d1/d2/d3/file", "x", 1))
    _sbx_trial_read_expect (trial, "d1/d2/d3/file", "x", 1);
}

static void
check_dir_over_file (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_write (trial, "in-the-way", "x", 1) &&
      _sbx_trial_refused (trial, &reply, "create_dir_all", "{'session':$S,'path':'in-the-way'}"))
    _sbx_trial_read_expect (trial, "in-the-way", "x", 1);
}

static void
check_binary (SbxTrial *trial)
{
  guint8 data[3 * 256 + 1];

  for (gsize i = 0; i < sizeof data; i++)
    data[i] = (guint8) (i * 7);

  if (_sbx_trial_write (trial, "binary", data, sizeof data))
    _sbx_trial_read_expect (trial, "binary", data, sizeof data);
}

static void
check_replace (SbxTrial *trial)
{
  if (_sbx_trial_write (trial, "replaced", "a longer content", 16) &&
      _sbx_trial_write (trial, "replaced", "short", 5))
    _sbx_trial_read_expect (trial, "replaced", "short", 5);
}

static void
check_parents (SbxTrial *trial)
{
  if (_sbx_trial_write (trial, "p1/p2/p3/file", "deep", 4))
    _sbx_trial_read_expect (trial, "p1/p2/p3/file", "deep", 4);
}

static void
check_empty (SbxTrial *trial)
{
  if (_sbx_trial_write (trial, "empty", "", 0))
    _sbx_trial_read_expect (trial, "empty", "", 0);
}

static void
check_large (SbxTrial *trial)
{
  const gsize size = 3 * 1024 * 1024 + 1;
  g_autofree guint8 *data = g_malloc (size);

  for (gsize i = 0; i < size; i++)
    data[i] = (guint8) ((i * 2654435761u) >> 13);

  if (_sbx_trial_write (trial, "large", data, size))
    _sbx_trial_read_expect (trial, "large", data, size);
}

static void
check_absolute (SbxTrial *trial)
{
  g_autofree char *path = g_build_filename (trial->cwd, "absolute", NULL);

  if (*trial->cwd == '\0')
    _sbx_trial_skip (trial, "the session does not say where it is");
  else if (_sbx_trial_write (trial, path, "abs", 3))
    _sbx_trial_read_expect (trial, "absolute", "abs", 3);
}

static void
check_names (SbxTrial *trial)
{
  static const char * const names[] = { "with space", "-dash", "new\nline", "Ünïcödé-文",
                                        "quo'te\"s", "$HOME `x` *", "back\\slash" };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    if (!_sbx_trial_write (trial, names[i], names[i], strlen (names[i])) ||
        !_sbx_trial_read_expect (trial, names[i], names[i], strlen (names[i])))
      return;
}

static void
check_read_missing (SbxTrial *trial)
{
  if (_sbx_trial_is_missing (trial, "there/is/no/such/file"))
    _sbx_trial_is_alive (trial);
}

static void
check_read_directory (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_call (trial, &reply, "create_dir_all", "{'session':$S,'path':'a-directory'}"))
    _sbx_trial_is_missing (trial, "a-directory");
}

static void
check_remove_missing (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  _sbx_trial_call (trial, &reply, "remove", "{'session':$S,'path':'nothing/of/that/name'}");
}

static void
check_remove (SbxTrial *trial)
{
  g_auto(SbxReply) file = { NULL };
  g_auto(SbxReply) tree = { NULL };

  if (!_sbx_trial_write (trial, "r/one", "1", 1) || !_sbx_trial_write (trial, "r/s/two", "2", 1) ||
      !_sbx_trial_call (trial, &file, "remove", "{'session':$S,'path':'r/one'}") ||
      !_sbx_trial_is_missing (trial, "r/one") ||
      !_sbx_trial_read_expect (trial, "r/s/two", "2", 1) ||
      !_sbx_trial_call (trial, &tree, "remove", "{'session':$S,'path':'r'}"))
    return;

  _sbx_trial_is_missing (trial, "r/s/two");
}

static void
check_remove_link (SbxTrial *trial)
{
  g_auto(SbxSeen) made = { { NULL } };
  g_auto(SbxSeen) looked = { { NULL } };
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_write (trial, "target/file", "kept", 4) &&
      _sbx_seen_shell (&made, trial, "ln -s target link", "") &&
      _sbx_seen_expect_exit (&made, trial, 0) &&
      _sbx_trial_call (trial, &reply, "remove", "{'session':$S,'path':'link'}") &&
      _sbx_trial_read_expect (trial, "target/file", "kept", 4) &&
      _sbx_seen_shell (&looked, trial, "test -h link", ""))
    _sbx_trial_expect (trial, looked.exit_code == 1,
                       "the symbolic link to a directory to be gone");
}

static gboolean
make_temp_dir (SbxTrial  *trial,
               char     **path)
{
  g_auto(SbxReply) reply = { NULL };
  const char *text = NULL;
  g_autofree char *file = NULL;
  g_autofree char *base = NULL;

  if (!_sbx_trial_call (trial, &reply, "create_temp_dir", "{'session':$S,'prefix':'conf-'}") ||
      !_sbx_trial_get_string (trial, reply.result, "path", &text))
    return FALSE;

  *path = g_strdup (text);
  file = g_build_filename (text, "file", NULL);
  base = g_path_get_basename (text);

  return _sbx_trial_expect (trial, g_str_has_prefix (base, "conf-"),
                            "the name of the directory to begin with the prefix \"conf-\"")
         && _sbx_trial_write (trial, file, "t", 1) && _sbx_trial_read_expect (trial, file, "t", 1);
}

static void
check_temp_dir (SbxTrial *trial)
{
  g_autofree char *first = NULL;
  g_autofree char *second = NULL;

  if (make_temp_dir (trial, &first) && make_temp_dir (trial, &second))
    _sbx_trial_expect (trial, strcmp (first, second) != 0, "two directories to have two names");
}

static void
check_bad_base64 (SbxTrial *trial)
{
  static const char * const texts[] = { "AAA", "A", "A===" };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_auto(SbxReply) reply = { NULL };

      if (!_sbx_trial_refused (trial, &reply, "write_file",
                               "{'session':$S,'path':'bad-base64','content_base64':'%s'}",
                               texts[i]))
        return;
    }

  _sbx_trial_is_alive (trial);
}

#define PLAIN SBX_CONFORMANCE_LEVEL_PLAIN

const SbxCheckEntry _sbx_checks_plain_files[] = {
  { 131, PLAIN, "create_dir_all makes a path, and takes one that is there", check_create_dir_all,
    SBX_CHECK_SESSION },
  { 132, PLAIN, "create_dir_all over a file is an error", check_dir_over_file, SBX_CHECK_SESSION },
  { 133, PLAIN, "any bytes are written and read as they are", check_binary, SBX_CHECK_SESSION },
  { 134, PLAIN, "write_file replaces what was there", check_replace, SBX_CHECK_SESSION },
  { 135, PLAIN, "write_file makes missing parents", check_parents, SBX_CHECK_SESSION },
  { 136, PLAIN, "an empty file is written and read", check_empty, SBX_CHECK_SESSION },
  { 137, PLAIN, "a file of 3 MiB is written and read", check_large, SBX_CHECK_SESSION },
  { 138, PLAIN, "an absolute path in the working directory is the same file", check_absolute,
    SBX_CHECK_SESSION },
  { 139, PLAIN, "names may have any character", check_names, SBX_CHECK_SESSION },
  { 140, PLAIN, "reading a file that is not there is an error", check_read_missing,
    SBX_CHECK_SESSION },
  { 141, PLAIN, "reading a directory is an error", check_read_directory, SBX_CHECK_SESSION },
  { 142, PLAIN, "removing what is not there is no error", check_remove_missing,
    SBX_CHECK_SESSION },
  { 143, PLAIN, "remove takes a file, and a directory with all in it", check_remove,
    SBX_CHECK_SESSION },
  { 144, PLAIN, "remove takes a link and leaves the directory behind it", check_remove_link,
    SBX_CHECK_EXEC },
  { 145, PLAIN, "create_temp_dir makes a new directory each time", check_temp_dir,
    SBX_CHECK_SESSION },
  { 146, PLAIN, "content that is no base64 is answered with an error", check_bad_base64,
    SBX_CHECK_SESSION },
  { 0 }
};
