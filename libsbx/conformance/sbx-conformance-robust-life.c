/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conformance-checks-private.h"

#include "conformance/sbx-conformance-run-private.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Robustness: what must not be reached, and what must not be left. */

#define N_STORM 100

/* A directory of the host that is nobody's business, with one file in it. */
typedef struct
{
  char *path;
  char *file;
  char *content;
} Outside;

static void
outside_clear (Outside *self)
{
  if (self->path != NULL)
    _sbx_workspace_remove (self->path);
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->file, g_free);
  g_clear_pointer (&self->content, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Outside, outside_clear)

static gboolean
outside_make (Outside  *self,
              SbxTrial *trial)
{
  self->path = g_dir_make_tmp ("sbx-conformance-outside-XXXXXX", NULL);
  if (self->path == NULL)
    return _sbx_trial_skip (trial, "no directory can be made outside of the workspace");

  self->file = g_build_filename (self->path, "file", NULL);
  self->content = g_strdup_printf ("outside %08x", g_random_int ());

  return g_file_set_contents (self->file, self->content, -1, NULL)
         || _sbx_trial_skip (trial, "no file can be made outside of the workspace");
}

static void
expect_untouched (SbxTrial      *trial,
                  const Outside *outside)
{
  g_autofree char *content = NULL;

  if (!g_file_get_contents (outside->file, &content, NULL, NULL) ||
      strcmp (content, outside->content) != 0)
    _sbx_trial_fail (trial, "expected a file outside of the workspace to be left alone");
}

static void
expect_unread (SbxTrial      *trial,
               const Outside *outside,
               const char    *path)
{
  g_auto(SbxReply) reply = { NULL };
  g_autofree char *name = _sbx_trial_quote (path);
  g_autofree char *secret = g_base64_encode ((const guchar *) outside->content,
                                             strlen (outside->content));
  const char *content = "";

  if (!_sbx_trial_answered (trial, &reply, "read_file", "{'session':$S,'path':%s}", name))
    return;

  if (reply.result != NULL)
    _sbx_json_object_get_string (reply.result, "content_base64", &content);
  _sbx_trial_expect (trial, strcmp (content, secret) != 0,
                     "a file outside of the workspace not to be read");
}

/* The way up and down again; @path is absolute. */
static char *
climb (const char *path)
{
  return g_strconcat ("../../../../../../../../../../../../../../..", path, NULL);
}

static void
check_escape_read (SbxTrial *trial)
{
  g_auto(Outside) outside = { NULL };
  g_autofree char *path = NULL;

  if (!outside_make (&outside, trial))
    return;

  path = climb (outside.file);
  expect_unread (trial, &outside, path);
  expect_unread (trial, &outside, outside.file);
}

static void
check_escape_write (SbxTrial *trial)
{
  g_auto(Outside) outside = { NULL };
  g_auto(SbxReply) up = { NULL };
  g_auto(SbxReply) absolute = { NULL };
  g_auto(SbxReply) removed = { NULL };
  g_autofree char *path = NULL;
  g_autofree char *name = NULL;
  g_autofree char *file = NULL;

  if (!outside_make (&outside, trial))
    return;

  path = climb (outside.file);
  name = _sbx_trial_quote (path);
  file = _sbx_trial_quote (outside.file);
  if (_sbx_trial_answered (trial, &up, "write_file",
                           "{'session':$S,'path':%s,'content_base64':'YWJj'}", name) &&
      _sbx_trial_answered (trial, &absolute, "write_file",
                           "{'session':$S,'path':%s,'content_base64':'YWJj'}", file) &&
      _sbx_trial_answered (trial, &removed, "remove", "{'session':$S,'path':%s}", file))
    expect_untouched (trial, &outside);
}

static void
check_escape_link (SbxTrial *trial)
{
  g_auto(Outside) outside = { NULL };
  g_auto(SbxSeen) made = { { NULL } };
  g_auto(SbxReply) written = { NULL };
  g_auto(SbxReply) removed = { NULL };
  g_autofree char *script = NULL;

  if (!outside_make (&outside, trial))
    return;

  script = g_strdup_printf ("ln -sfn %s escape-dir; ln -sf %s escape-file", outside.path,
                            outside.file);
  if (!_sbx_seen_shell (&made, trial, script, "") || !_sbx_seen_expect_exit (&made, trial, 0))
    return;

  expect_unread (trial, &outside, "escape-dir/file");
  expect_unread (trial, &outside, "escape-file");
  if (_sbx_trial_answered (trial, &written, "write_file", "{'session':$S,'path':'escape-dir/file',"
                           "'content_base64':'YWJj'}") &&
      _sbx_trial_answered (trial, &removed, "remove", "{'session':$S,'path':'escape-dir'}"))
    expect_untouched (trial, &outside);
}

/*
 * Names that lead out of where a provider keeps things, as JSON. They lead to the directory that is
 * there for it and to nothing else: a provider that is caught by one removes what it finds there,
 * and what ".." or "/" lead to would be somebody's files.
 */
static char **
make_hostile_names (const Outside *outside)
{
  g_autofree char *path = climb (outside->path);
  g_autofree char *length = g_strnfill (5000, 'n');
  g_autoptr(GPtrArray) names = g_ptr_array_new ();

  g_ptr_array_add (names, _sbx_trial_quote (outside->path));
  g_ptr_array_add (names, _sbx_trial_quote (path));
  g_ptr_array_add (names, _sbx_trial_quote (length));
  g_ptr_array_add (names, _sbx_trial_quote ("sbx-no/../such"));
  g_ptr_array_add (names, _sbx_trial_quote ("-rf"));
  g_ptr_array_add (names, _sbx_trial_quote ("%s%n$(exit)`exit`;exit"));
  g_ptr_array_add (names, _sbx_trial_quote ("\n\033[2J"));
  g_ptr_array_add (names, g_strdup ("\"sbx\\u0000no\""));
  g_ptr_array_add (names, NULL);

  return (char **) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}

#define METADATA \
  "{'protocol_version':'sandbox.v1','request_id':'r','sandbox_group_id':%s}"

static void
check_groups (SbxTrial *trial)
{
  g_auto(Outside) outside = { NULL };
  g_auto(GStrv) names = NULL;

  if (!outside_make (&outside, trial) || !_sbx_trial_write (trial, "still-here", "yes", 3))
    return;

  names = make_hostile_names (&outside);
  for (gsize i = 0; names[i] != NULL; i++)
    {
      g_auto(SbxReply) reply = { NULL };
      gint64 count = 0;

      if (!_sbx_trial_answered (trial, &reply, "cleanup_group",
                                "{'metadata':" METADATA ",'sandbox_group_id':%s}",
                                names[i], names[i]))
        return;

      if (reply.result != NULL)
        _sbx_json_object_get_int (reply.result, "cleaned_count", &count);
      if (!_sbx_trial_expect (trial, count == 0, "nothing to be cleaned for a group nobody is in"))
        return;
    }

  expect_untouched (trial, &outside);
  _sbx_trial_read_expect (trial, "still-here", "yes", 3);
}

static void
check_open_groups (SbxTrial *trial)
{
  g_auto(Outside) outside = { NULL };
  g_auto(GStrv) names = NULL;

  if (!outside_make (&outside, trial))
    return;

  names = make_hostile_names (&outside);
  for (gsize i = 0; names[i] != NULL; i++)
    {
      g_auto(SbxReply) reply = { NULL };
      g_auto(SbxReply) cleaned = { NULL };

      if (!_sbx_trial_answered (trial, &reply, "open", "{'metadata':" METADATA ",'profile':"
                                "{'provider':$P,'name':$N},'workspace_sync':{'host_path':$W}}",
                                names[i]) ||
          !_sbx_trial_answered (trial, &cleaned, "cleanup_group",
                                "{'metadata':" METADATA ",'sandbox_group_id':%s}", names[i],
                                names[i]))
        return;
    }

  expect_untouched (trial, &outside);
  _sbx_trial_expect (trial, g_file_test (trial->plan->workspace, G_FILE_TEST_IS_DIR),
                     "the workspace to be there still");
}

static void
check_profiles (SbxTrial *trial)
{
  static const char * const names[] = { "..", "../../../etc/passwd", "/etc/passwd", "", "a\\u0000b",
                                        "sbx-there-is-no-such-profile\\n" };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_auto(SbxReply) reply = { NULL };

      if (!_sbx_trial_refused (trial, &reply, "open", "{'metadata':$M,'profile':{'provider':$P,"
                               "'name':'%s'},'workspace_sync':{'host_path':$W}}", names[i]))
        return;
    }
}

static void
check_workspaces (SbxTrial *trial)
{
  static const char * const paths[] = { "/no/such/directory", "relative", "", "/dev/null",
                                        "/tmp/a\\u0000b" };

  for (gsize i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_auto(SbxReply) reply = { NULL };

      if (!_sbx_trial_refused (trial, &reply, "open", "{'metadata':$M,'profile':{'provider':$P,"
                               "'name':$N},'workspace_sync':{'host_path':'%s'}}", paths[i]))
        return;
    }
}

/* The session as it might come back from somebody who means harm: the state names another place. */
static char *
forge_session (SbxTrial   *trial,
               const char *state)
{
  g_autoptr(JsonObject) object = json_object_new ();
  g_autoptr(JsonNode) forged = json_node_new (JSON_NODE_OBJECT);
  g_autoptr(GBytes) bytes = NULL;
  JsonObject *original = json_node_get_object (trial->session_node);
  g_autoptr(GList) names = json_object_get_members (original);

  for (GList *l = names; l != NULL; l = l->next)
    json_object_set_member (object, l->data,
                            json_node_copy (json_object_get_member (original, l->data)));
  json_object_set_string_member (object, "provider_state_json", state);

  json_node_set_object (forged, object);
  bytes = _sbx_json_to_bytes (forged, FALSE);

  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static void
check_state (SbxTrial *trial)
{
  g_auto(Outside) outside = { NULL };
  g_autofree char *named = NULL;

  if (!outside_make (&outside, trial))
    return;

  named = g_strdup_printf ("{\"workspace\":\"%s\",\"worktree\":\"%s\",\"path\":\"%s\","
                           "\"state_path\":\"%s\",\"root\":\"%s\",\"pid\":1,\"repo\":\"%s\"}",
                           outside.path, outside.path, outside.path, outside.file, outside.path,
                           outside.path);

  for (int i = 0; i < 4; i++)
    {
      const char *states[] = { named, "", "{", "\xf0\x9f\x92\xa5 7" };
      g_auto(SbxReply) reply = { NULL };
      g_autofree char *session = forge_session (trial, states[i]);

      if (!_sbx_trial_answered (trial, &reply, "close", "{'session':%s}", session))
        return;
    }

  expect_untouched (trial, &outside);
  _sbx_trial_is_alive (trial);
}

static void
check_session_ids (SbxTrial *trial)
{
  g_auto(Outside) outside = { NULL };
  g_auto(GStrv) ids = NULL;

  if (!outside_make (&outside, trial))
    return;

  ids = make_hostile_names (&outside);
  for (gsize i = 0; ids[i] != NULL; i++)
    {
      g_auto(SbxReply) read = { NULL };
      g_auto(SbxReply) closed = { NULL };

      if (!_sbx_trial_refused (trial, &read, "read_file",
                               "{'session':{'id':%s,'capabilities':{'exec':true}},'path':'a'}",
                               ids[i]) ||
          !_sbx_trial_answered (trial, &closed, "close",
                                "{'session':{'id':%s,'capabilities':{'exec':true}}}", ids[i]))
        return;
    }

  expect_untouched (trial, &outside);
  _sbx_trial_is_alive (trial);
}

static void
check_closed (SbxTrial *trial)
{
  g_auto(SbxReply) closed = { NULL };
  g_auto(SbxReply) exec = { NULL };

  if (_sbx_trial_call (trial, &closed, "close", "{'session':$S}"))
    _sbx_trial_refused (trial, &exec, "exec", "{'session':$S,'argv':['true']}");
}

static void
check_background (SbxTrial *trial)
{
  const gint64 start = g_get_monotonic_time ();
  g_auto(SbxSeen) seen = { { NULL } };

  if (_sbx_seen_shell (&seen, trial, "sleep 6 & echo done", "") &&
      _sbx_seen_expect_out (&seen, trial, "done\n"))
    _sbx_trial_expect (trial, g_get_monotonic_time () - start < 4 * G_USEC_PER_SEC,
                       "the result when the command has ended, not when all that it left has");
}

/* Whether the process has @marker in its command line. */
static gboolean
has_marker (const char *pid,
            const char *marker)
{
  g_autofree char *path = g_strdup_printf ("/proc/%s/cmdline", pid);
  g_autofree char *text = NULL;
  gsize size = 0;

  return g_file_get_contents (path, &text, &size, NULL)
         && memmem (text, size, marker, strlen (marker)) != NULL;
}

/* Looks at all processes of this machine. A command that nobody else ends is ended here: it is
 * known by its mark, again after it is held by a descriptor, so that no other one is hit. */
static gboolean
is_running (const char *marker,
            gboolean    end_it)
{
  g_autoptr(GDir) dir = g_dir_open ("/proc", 0, NULL);
  gboolean found = FALSE;
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      int fd;

      if (!g_ascii_isdigit (*name) || !has_marker (name, marker))
        continue;

      found = TRUE;
      if (!end_it)
        break;

      fd = (int) syscall (SYS_pidfd_open, (pid_t) g_ascii_strtoll (name, NULL, 10), 0);
      if (fd != -1 && has_marker (name, marker))
        syscall (SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
      if (fd != -1)
        close (fd);
    }

  return found;
}

/* Starts a command with a mark by which it can be found among the processes of this machine; it
 * ends by itself after a while. */
static char *
start_marked (SbxTrial  *trial,
              SbxReply  *reply,
              SbxReply **replies)
{
  g_autofree char *marker = g_strdup_printf ("sbx-conformance-mark-%08x%08x", g_random_int (),
                                             g_random_int ());
  g_autofree char *script = NULL;

  script = _sbx_trial_quote ("i=0; while [ $i -lt 300 ]; do sleep 0.1; i=$((i+1)); done");
  if (!_sbx_trial_begin (trial, reply, "exec", "{'session':$S,'argv':['sh','-c',%s,'%s']}", script,
                         marker) ||
      _sbx_trial_wait_event (trial, replies, reply, "started") == NULL)
    return NULL;

  for (int i = 0; i < 20 && !is_running (marker, FALSE); i++)
    g_usleep (20 * 1000);
  if (!is_running (marker, FALSE))
    {
      _sbx_trial_skip (trial, "the commands of this provider cannot be seen from here");
      return NULL;
    }

  return g_steal_pointer (&marker);
}

static void
expect_gone (SbxTrial   *trial,
             const char *marker)
{
  const gint64 deadline = g_get_monotonic_time () + 5 * G_USEC_PER_SEC;

  while (is_running (marker, FALSE) && g_get_monotonic_time () < deadline)
    g_usleep (50 * 1000);

  _sbx_trial_expect (trial, !is_running (marker, TRUE),
                     "no process of the command 5 seconds after its end");
}

static void
check_killed (SbxTrial *trial)
{
  g_auto(SbxReply) exec = { NULL };
  SbxReply *replies[] = { &exec, NULL };
  g_autofree char *marker = start_marked (trial, &exec, replies);

  if (marker == NULL)
    return;

  _sbx_peer_kill (trial->peer);
  _sbx_peer_wait (trial->peer, _sbx_trial_deadline (trial));
  expect_gone (trial, marker);
}

static void
check_end_during_exec (SbxTrial *trial)
{
  g_auto(SbxReply) exec = { NULL };
  SbxReply *replies[] = { &exec, NULL };
  g_autofree char *marker = start_marked (trial, &exec, replies);

  if (marker == NULL)
    return;

  _sbx_peer_end_input (trial->peer);
  if (_sbx_trial_expect (trial, _sbx_peer_wait (trial->peer, _sbx_trial_deadline (trial))
                                == SBX_PEER_ENDED,
                         "the provider to end when its client has gone"))
    expect_gone (trial, marker);
  else
    is_running (marker, TRUE);
}

static void
check_close_during_exec (SbxTrial *trial)
{
  g_auto(SbxReply) exec = { NULL };
  g_auto(SbxReply) closed = { NULL };
  SbxReply *replies[] = { &exec, &closed, NULL };
  g_autofree char *marker = NULL;

  if (!_sbx_trial_has_feature (trial, "multiplex"))
    {
      _sbx_trial_skip (trial, "the feature \"multiplex\" is not advertised");
      return;
    }

  marker = start_marked (trial, &exec, replies);
  if (marker == NULL || !_sbx_trial_begin (trial, &closed, "close", "{'session':$S}") ||
      !_sbx_trial_finish (trial, replies, &closed) || !_sbx_trial_finish (trial, replies, &exec))
    return;

  expect_gone (trial, marker);
  _sbx_trial_is_alive (trial);
}

static void
check_storm (SbxTrial *trial)
{
  SbxReply all[2 * N_STORM] = { { NULL } };
  SbxReply *replies[2 * N_STORM + 1] = { NULL };

  if (!_sbx_trial_has_feature (trial, "cancel") || !_sbx_trial_has_feature (trial, "multiplex"))
    {
      _sbx_trial_skip (trial, "the features \"multiplex\" and \"cancel\" are not advertised");
      return;
    }

  for (guint i = 0; i < 2 * N_STORM; i++)
    replies[i] = &all[i];
  for (guint i = 0; i < N_STORM; i++)
    _sbx_trial_begin (trial, &all[i], "exec", "{'session':$S,'argv':['sleep','60']}");
  for (guint i = 0; i < N_STORM; i++)
    _sbx_trial_begin (trial, &all[N_STORM + i], "cancel", "{'request_id':'%s'}",
                      all[(i * 37) % N_STORM].id);

  for (guint i = 0; i < 2 * N_STORM; i++)
    if (!_sbx_trial_finish (trial, replies, &all[i]))
      break;

  for (guint i = 0; i < 2 * N_STORM; i++)
    _sbx_reply_clear (&all[i]);

  if (trial->problem == NULL)
    _sbx_trial_is_alive (trial);
}

#define ROBUST SBX_CONFORMANCE_LEVEL_ROBUSTNESS

const SbxCheckEntry _sbx_checks_robust_life[] = {
  { 441, ROBUST, "files outside are not read, by .. or by an absolute path", check_escape_read,
    SBX_CHECK_SESSION },
  { 442, ROBUST, "files outside are not written or removed", check_escape_write,
    SBX_CHECK_SESSION },
  { 443, ROBUST, "nor through symbolic links that a command made", check_escape_link,
    SBX_CHECK_EXEC },
  { 444, ROBUST, "cleanup_group of hostile names cleans nothing", check_groups,
    SBX_CHECK_SESSION },
  { 445, ROBUST, "open in a group with a hostile name harms nothing", check_open_groups,
    SBX_CHECK_SPOILS },
  { 446, ROBUST, "profiles with hostile names are answered with an error", check_profiles,
    SBX_CHECK_NONE },
  { 447, ROBUST, "workspaces that are none are answered with an error", check_workspaces,
    SBX_CHECK_NONE },
  { 448, ROBUST, "a forged state reaches nothing", check_state,
    SBX_CHECK_SESSION | SBX_CHECK_SPOILS },
  { 449, ROBUST, "a session that nobody opened is answered with an error", check_session_ids,
    SBX_CHECK_NONE },
  { 450, ROBUST, "a session that was closed is answered with an error", check_closed,
    SBX_CHECK_EXEC | SBX_CHECK_SPOILS },
  { 451, ROBUST, "what a command leaves running does not hold its result", check_background,
    SBX_CHECK_EXEC | SBX_CHECK_SPOILS },
  { 452, ROBUST, "close during a command ends it", check_close_during_exec,
    SBX_CHECK_EXEC | SBX_CHECK_SPOILS },
  { 453, ROBUST, "a hundred commands cancelled at once are all answered", check_storm,
    SBX_CHECK_EXEC | SBX_CHECK_SPOILS },
  { 454, ROBUST, "when its client goes the provider ends, and its commands with it",
    check_end_during_exec, SBX_CHECK_EXEC | SBX_CHECK_SPOILS },
  { 455, ROBUST, "when the provider is killed its commands end", check_killed,
    SBX_CHECK_EXEC | SBX_CHECK_SPOILS },
  { 0 }
};
