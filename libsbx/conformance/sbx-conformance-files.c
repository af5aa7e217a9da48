/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-checks-private.h"

#include <string.h>

/* The features ranges and files. */

static void
expect_range (SbxTrial   *trial,
              const char *range,
              const char *wanted,
              gboolean    wanted_eof)
{
  g_auto(SbxReply) reply = { NULL };
  g_autoptr(GBytes) content = NULL;
  gint64 size = -1;
  gboolean eof = !wanted_eof;

  if (!_sbx_trial_write (trial, "range", "0123456789", 10) ||
      !_sbx_trial_call (trial, &reply, "read_file", "{'session':$S,'path':'range',%s}", range) ||
      !_sbx_trial_get_payload (trial, reply.result, "content_base64", &content) ||
      !_sbx_trial_expect_bytes (trial, content, "in that part of the file", wanted,
                                strlen (wanted)) ||
      !_sbx_trial_get_int (trial, reply.result, "size", &size) ||
      !_sbx_trial_expect (trial, size == 10, "\"size\" 10, that of the whole file, not %"
                          G_GINT64_FORMAT, size))
    return;

  _sbx_trial_expect (trial, _sbx_json_object_get_boolean (reply.result, "eof", &eof)
                            == SBX_JSON_PRESENT && eof == wanted_eof,
                     "\"eof\" %s", wanted_eof ? "true" : "false");
}

static void
check_range (SbxTrial *trial)
{
  expect_range (trial, "'offset':3,'length':4", "3456", FALSE);
}

static void
check_range_end (SbxTrial *trial)
{
  expect_range (trial, "'offset':8,'length':100", "89", TRUE);
}

static void
check_range_rest (SbxTrial *trial)
{
  expect_range (trial, "'offset':6", "6789", TRUE);
}

static void
check_range_after (SbxTrial *trial)
{
  expect_range (trial, "'offset':50,'length':5", "", TRUE);
}

static void
check_bad_range (SbxTrial *trial)
{
  g_auto(SbxReply) offset = { NULL };
  g_auto(SbxReply) length = { NULL };

  if (_sbx_trial_write (trial, "range", "0123456789", 10) &&
      _sbx_trial_refused (trial, &offset, "read_file",
                          "{'session':$S,'path':'range','offset':-1,'length':1}") &&
      _sbx_trial_refused (trial, &length, "read_file",
                          "{'session':$S,'path':'range','offset':0,'length':-1}"))
    _sbx_trial_is_alive (trial);
}

static void
expect_patch (SbxTrial      *trial,
              const char    *patch,
              const char    *wanted,
              gsize          size)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_write (trial, "patched", "0123456789", 10) &&
      _sbx_trial_call (trial, &reply, "write_file", "{'session':$S,'path':'patched',%s,"
                       "'content_base64':'YWI='}", patch))
    _sbx_trial_read_expect (trial, "patched", wanted, size);
}

static void
check_patch (SbxTrial *trial)
{
  expect_patch (trial, "'offset':3,'truncate':false", "012ab56789", 10);
}

static void
check_patch_truncate (SbxTrial *trial)
{
  expect_patch (trial, "'offset':3,'truncate':true", "012ab", 5);
}

static void
check_patch_after (SbxTrial *trial)
{
  expect_patch (trial, "'offset':12,'truncate':false", "0123456789\0\0ab", 14);
}

static void
check_patch_new (SbxTrial *trial)
{
  g_auto(SbxReply) first = { NULL };
  g_auto(SbxReply) second = { NULL };

  if (_sbx_trial_call (trial, &first, "write_file", "{'session':$S,'path':'parts/file','offset':0,"
                       "'truncate':true,'content_base64':'YWI='}") &&
      _sbx_trial_call (trial, &second, "write_file", "{'session':$S,'path':'parts/file',"
                       "'offset':2,'truncate':false,'content_base64':'Y2Q='}"))
    _sbx_trial_read_expect (trial, "parts/file", "abcd", 4);
}

static void
check_mode (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_trial_call (trial, &reply, "write_file", "{'session':$S,'path':'script','mode':%d,"
                       "'content_base64':'IyEvYmluL3NoCmVjaG8gcmFuCg=='}", 0755) &&
      _sbx_seen_exec (&seen, trial, "['./script']", ""))
    _sbx_seen_expect_out (&seen, trial, "ran\n");
}

/* Asks for an error with this errno. */
static void
expect_errno (SbxTrial   *trial,
              const char *method,
              const char *params,
              const char *wanted)
{
  g_auto(SbxReply) reply = { NULL };
  JsonObject *error = NULL;
  const char *name = NULL;

  if (!_sbx_trial_refused (trial, &reply, method, "%s", params))
    return;

  _sbx_json_object_get_object (reply.object, "error", &error);
  if (_sbx_trial_get_string (trial, error, "errno", &name))
    _sbx_trial_expect (trial, strcmp (name, wanted) == 0, "\"errno\" %s", wanted);
}

static gboolean
has_entry (JsonArray  *entries,
           const char *wanted,
           const char *wanted_type)
{
  for (guint i = 0; i < json_array_get_length (entries); i++)
    {
      JsonNode *node = json_array_get_element (entries, i);
      const char *name = NULL;
      const char *type = NULL;

      if (!JSON_NODE_HOLDS_OBJECT (node))
        continue;

      _sbx_json_object_get_string (json_node_get_object (node), "name", &name);
      _sbx_json_object_get_string (json_node_get_object (node), "type", &type);
      if (g_strcmp0 (name, wanted) == 0)
        return g_strcmp0 (type, wanted_type) == 0;
    }

  return FALSE;
}

static void
check_list_dir (SbxTrial *trial)
{
  g_auto(SbxReply) made = { NULL };
  g_auto(SbxReply) reply = { NULL };
  JsonArray *entries = NULL;

  if (!_sbx_trial_write (trial, "listed/file", "x", 1) ||
      !_sbx_trial_call (trial, &made, "create_dir_all", "{'session':$S,'path':'listed/dir'}") ||
      !_sbx_trial_call (trial, &reply, "list_dir", "{'session':$S,'path':'listed'}") ||
      !_sbx_trial_expect (trial, _sbx_json_object_get_array (reply.result, "entries", &entries)
                                 == SBX_JSON_PRESENT, "a list \"entries\""))
    return;

  _sbx_trial_expect (trial, json_array_get_length (entries) == 2, "two entries");
  _sbx_trial_expect (trial, has_entry (entries, "file", "file"), "an entry of type file");
  _sbx_trial_expect (trial, has_entry (entries, "dir", "directory"), "an entry of type directory");
}

static void
check_list_missing (SbxTrial *trial)
{
  expect_errno (trial, "list_dir", "{'session':$S,'path':'no/such/directory'}", "ENOENT");
}

static void
check_list_file (SbxTrial *trial)
{
  if (_sbx_trial_write (trial, "no-directory", "x", 1))
    expect_errno (trial, "list_dir", "{'session':$S,'path':'no-directory'}", "ENOTDIR");
}

static void
check_stat (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };
  const char *type = NULL;
  gint64 size = -1;

  if (!_sbx_trial_write (trial, "looked-at", "12345", 5) ||
      !_sbx_trial_call (trial, &reply, "stat", "{'session':$S,'path':'looked-at'}") ||
      !_sbx_trial_get_string (trial, reply.result, "type", &type) ||
      !_sbx_trial_get_int (trial, reply.result, "size", &size))
    return;

  _sbx_trial_expect (trial, strcmp (type, "file") == 0 && size == 5, "a file of 5 bytes");
}

static void
check_stat_link (SbxTrial *trial)
{
  g_auto(SbxSeen) made = { { NULL } };
  g_auto(SbxReply) reply = { NULL };
  const char *type = NULL;
  const char *target = NULL;

  if (!_sbx_seen_shell (&made, trial, "ln -s no/such/target looked-link", "") ||
      !_sbx_trial_call (trial, &reply, "stat", "{'session':$S,'path':'looked-link'}") ||
      !_sbx_trial_get_string (trial, reply.result, "type", &type) ||
      !_sbx_trial_get_string (trial, reply.result, "target", &target))
    return;

  _sbx_trial_expect (trial, strcmp (type, "symlink") == 0 && strcmp (target, "no/such/target") == 0,
                     "the link itself, with its target");
}

static void
check_stat_missing (SbxTrial *trial)
{
  expect_errno (trial, "stat", "{'session':$S,'path':'no/such/file'}", "ENOENT");
}

static void
check_read_errno (SbxTrial *trial)
{
  g_auto(SbxReply) made = { NULL };

  expect_errno (trial, "read_file", "{'session':$S,'path':'no/such/file'}", "ENOENT");
  if (_sbx_trial_call (trial, &made, "create_dir_all", "{'session':$S,'path':'is-dir'}"))
    expect_errno (trial, "read_file", "{'session':$S,'path':'is-dir'}", "EISDIR");
}

static void
check_rename (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_write (trial, "old-name", "moved", 5) &&
      _sbx_trial_write (trial, "new-name", "replaced", 8) &&
      _sbx_trial_call (trial, &reply, "rename",
                       "{'session':$S,'path':'old-name','new_path':'new-name'}") &&
      _sbx_trial_read_expect (trial, "new-name", "moved", 5))
    _sbx_trial_is_missing (trial, "old-name");
}

static void
check_rename_missing (SbxTrial *trial)
{
  expect_errno (trial, "rename", "{'session':$S,'path':'nothing-here','new_path':'there'}",
                "ENOENT");
}

static void
check_copy (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_write (trial, "original", "copied", 6) &&
      _sbx_trial_call (trial, &reply, "copy",
                       "{'session':$S,'path':'original','new_path':'a-copy'}") &&
      _sbx_trial_read_expect (trial, "original", "copied", 6))
    _sbx_trial_read_expect (trial, "a-copy", "copied", 6);
}

static void
check_copy_tree (SbxTrial *trial)
{
  g_auto(SbxReply) reply = { NULL };

  if (_sbx_trial_write (trial, "tree/a/file", "leaf", 4) &&
      _sbx_trial_call (trial, &reply, "copy",
                       "{'session':$S,'path':'tree','new_path':'tree-copy'}"))
    _sbx_trial_read_expect (trial, "tree-copy/a/file", "leaf", 4);
}

#define RANGES SBX_CONFORMANCE_LEVEL_RANGES
#define FILES SBX_CONFORMANCE_LEVEL_FILES

const SbxCheckEntry _sbx_checks_files[] = {
  { 361, RANGES, "a part of a file is read, with its size", check_range, SBX_CHECK_SESSION },
  { 362, RANGES, "a part may go beyond the end", check_range_end, SBX_CHECK_SESSION },
  { 363, RANGES, "without a length the rest is read", check_range_rest, SBX_CHECK_SESSION },
  { 364, RANGES, "after the end there is nothing", check_range_after, SBX_CHECK_SESSION },
  { 365, RANGES, "a negative part is answered with an error", check_bad_range,
    SBX_CHECK_SESSION },
  { 366, RANGES, "a part of a file is written, and the rest is kept", check_patch,
    SBX_CHECK_SESSION },
  { 367, RANGES, "with truncate the file ends with the part", check_patch_truncate,
    SBX_CHECK_SESSION },
  { 368, RANGES, "a part after the end leaves zeros before it", check_patch_after,
    SBX_CHECK_SESSION },
  { 369, RANGES, "a file is made from parts", check_patch_new, SBX_CHECK_SESSION },
  { 370, RANGES, "a new file has the mode that was asked for", check_mode, SBX_CHECK_EXEC },
  { 381, FILES, "list_dir tells names and types", check_list_dir, SBX_CHECK_SESSION },
  { 382, FILES, "list_dir of nothing is ENOENT", check_list_missing, SBX_CHECK_SESSION },
  { 383, FILES, "list_dir of a file is ENOTDIR", check_list_file, SBX_CHECK_SESSION },
  { 384, FILES, "stat tells type and size", check_stat, SBX_CHECK_SESSION },
  { 385, FILES, "stat does not follow a link", check_stat_link, SBX_CHECK_EXEC },
  { 386, FILES, "stat of nothing is ENOENT", check_stat_missing, SBX_CHECK_SESSION },
  { 387, FILES, "read_file tells ENOENT and EISDIR", check_read_errno, SBX_CHECK_SESSION },
  { 388, FILES, "rename moves a file over another", check_rename, SBX_CHECK_SESSION },
  { 389, FILES, "rename of nothing is ENOENT", check_rename_missing, SBX_CHECK_SESSION },
  { 390, FILES, "copy copies a file", check_copy, SBX_CHECK_SESSION },
  { 391, FILES, "copy copies a directory with all in it", check_copy_tree, SBX_CHECK_SESSION },
  { 0 }
};
