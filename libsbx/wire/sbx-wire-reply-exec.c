/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "wire/sbx-wire-reply-members-private.h"

#include "core/sbx-text-private.h"
#include "wire/sbx-wire-errno-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MAX_SIGNAL 64
#define MAX_EXIT_CODE 255

/* What the member "message" of @object says, to be shown. */
static char *
get_message (JsonObject *object)
{
  const char *message = NULL;

  if (object == NULL ||
      _sbx_json_object_get_string (object, "message", &message) != SBX_JSON_PRESENT)
    return NULL;

  return _sbx_text_escape (message);
}

static void
parse_not_started (JsonObject     *object,
                   SbxWireExecEnd *end)
{
  const char *kind = NULL;
  const char *name = NULL;

  end->outcome = SBX_EXEC_OUTCOME_NOT_STARTED;
  end->message = get_message (object);

  if (end->message == NULL)
    end->message = g_strdup (_("The provider could not start the command, and does not say why"));

  if (_sbx_json_object_get_string (object, "kind", &kind) == SBX_JSON_PRESENT)
    end->not_started = _sbx_wire_not_started_from_name (kind);

  if (_sbx_json_object_get_string (object, "errno", &name) == SBX_JSON_PRESENT)
    end->error_number = _sbx_wire_errno_from_name (name);
}

/* The members of "signals". Plain sandbox.v1 does not have them, so that what is not as expected is
 * passed over like any other member that we do not know. */
static gboolean
parse_signals (JsonObject     *object,
               SbxWireExecEnd *end)
{
  JsonObject *not_started = NULL;
  gboolean timed_out = FALSE;
  gint64 number = 0;

  if (_sbx_json_object_get_object (object, "not_started", &not_started) == SBX_JSON_PRESENT)
    {
      parse_not_started (not_started, end);
      return TRUE;
    }

  if (_sbx_json_object_get_boolean (object, "timed_out", &timed_out) == SBX_JSON_PRESENT &&
      timed_out)
    {
      end->outcome = SBX_EXEC_OUTCOME_TIMED_OUT;
      return TRUE;
    }

  if (_sbx_json_object_get_int (object, "signal", &number) == SBX_JSON_PRESENT && number >= 1 &&
      number <= MAX_SIGNAL)
    {
      end->outcome = SBX_EXEC_OUTCOME_SIGNALLED;
      end->signal_number = (int) number;
      _sbx_json_object_get_boolean (object, "core_dumped", &end->core_dumped);
      return TRUE;
    }

  return FALSE;
}

/* What is left to whom has an exit code and nothing else to say it with: providers give -N for
 * signal N, and -1 where they know nothing. */
static gboolean
parse_exit_code (const SbxWireMembers  *members,
                 int                    exit_code,
                 SbxWireExecEnd        *end,
                 GError               **error)
{
  if (exit_code >= 0 && exit_code <= MAX_EXIT_CODE)
    {
      end->outcome = SBX_EXEC_OUTCOME_EXITED;
      end->exit_code = exit_code;
    }
  else if (exit_code < -1 && exit_code >= -MAX_SIGNAL)
    {
      end->outcome = SBX_EXEC_OUTCOME_SIGNALLED;
      end->signal_number = -exit_code;
    }
  else if (exit_code == -1)
    {
      end->outcome = SBX_EXEC_OUTCOME_LOST;
      end->message = members->object != NULL ? get_message (members->object) : NULL;
      if (end->message == NULL)
        end->message = g_strdup (_("The provider could not say how the command ended"));
    }
  else
    return _sbx_wire_members_refuse (members, "exit_code", _("an integer from -64 to 255"), error);

  return TRUE;
}

/* @need: of the exit code, which an event may leave out. */
static gboolean
parse_end (const SbxWireMembers  *members,
           SbxWireNeed            need,
           SbxWireExecEnd        *end,
           GError               **error)
{
  gint64 exit_code = -1;

  if (!_sbx_wire_members_get_int (members, "exit_code", need, G_MININT32, G_MAXINT32, &exit_code,
                                  error))
    return FALSE;

  end->exit_code = -1;

  if (members->object != NULL && parse_signals (members->object, end))
    return TRUE;

  return parse_exit_code (members, (int) exit_code, end, error);
}

static guint64
get_count (JsonObject *object,
           const char *name)
{
  gint64 count = 0;

  if (_sbx_json_object_get_int (object, name, &count) != SBX_JSON_PRESENT || count < 0)
    return 0;

  return (guint64) count;
}

gboolean
_sbx_wire_reply_get_exec_end (SbxWireReply    *self,
                              SbxWireExecEnd  *end,
                              GError         **error)
{
  g_auto(SbxWireExecEnd) parsed = { 0 };
  SbxWireMembers members;

  memset (end, 0, sizeof *end);

  if (!_sbx_wire_reply_get_members (self, &members, error) ||
      !parse_end (&members, SBX_WIRE_REQUIRED, &parsed, error) ||
      !_sbx_wire_members_get_payload (&members, self->line, "stdout_base64", SBX_WIRE_OPTIONAL,
                                      &parsed.stdout_bytes, error) ||
      !_sbx_wire_members_get_payload (&members, self->line, "stderr_base64", SBX_WIRE_OPTIONAL,
                                      &parsed.stderr_bytes, error))
    return FALSE;

  parsed.stdout_truncated = get_count (members.object, "stdout_truncated");
  parsed.stderr_truncated = get_count (members.object, "stderr_truncated");

  *end = parsed;
  memset (&parsed, 0, sizeof parsed);

  return TRUE;
}

static SbxWireEventType
type_of_name (const char *name)
{
  static const char * const names[] = {
    [SBX_WIRE_EVENT_STARTED] = "started",
    [SBX_WIRE_EVENT_STDOUT] = "stdout",
    [SBX_WIRE_EVENT_STDERR] = "stderr",
    [SBX_WIRE_EVENT_EXITED] = "exited",
    [SBX_WIRE_EVENT_END] = "end",
  };

  for (gsize i = SBX_WIRE_EVENT_STARTED; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i], name))
      return (SbxWireEventType) i;

  return SBX_WIRE_EVENT_UNKNOWN;
}

gboolean
_sbx_wire_reply_get_event (SbxWireReply  *self,
                           SbxWireEvent  *event,
                           GError       **error)
{
  SbxWireMembers members = { self->event, "event", SBX_ERROR_PROTOCOL };
  g_auto(SbxWireEvent) parsed = { 0 };
  const char *type = NULL;

  memset (event, 0, sizeof *event);

  if (!_sbx_wire_members_get_string (&members, "type", SBX_WIRE_REQUIRED, &type, error))
    return FALSE;

  parsed.type = type_of_name (type);

  /* Of a type that we do not know we do not know the members either. */
  if (parsed.type != SBX_WIRE_EVENT_UNKNOWN &&
      !_sbx_wire_members_get_string (&members, "process_id", SBX_WIRE_OPTIONAL, &parsed.process_id,
                                     error))
    return FALSE;

  if ((parsed.type == SBX_WIRE_EVENT_STDOUT || parsed.type == SBX_WIRE_EVENT_STDERR) &&
      !_sbx_wire_members_get_payload (&members, self->line, "data_base64", SBX_WIRE_OPTIONAL,
                                      &parsed.data, error))
    return FALSE;

  if (parsed.type == SBX_WIRE_EVENT_EXITED &&
      !parse_end (&members, SBX_WIRE_OPTIONAL, &parsed.end, error))
    return FALSE;

  if (parsed.data == NULL)
    parsed.data = g_bytes_new_static ("", 0);

  *event = parsed;
  memset (&parsed, 0, sizeof parsed);

  return TRUE;
}

void
_sbx_wire_event_clear (SbxWireEvent *event)
{
  g_clear_pointer (&event->data, g_bytes_unref);
  _sbx_wire_exec_end_clear (&event->end);
  event->process_id = NULL;
}

gboolean
_sbx_wire_reply_get_spawned (SbxWireReply  *self,
                             char         **process_id,
                             GError       **error)
{
  SbxWireMembers members;
  const char *id = NULL;

  if (!_sbx_wire_reply_get_members (self, &members, error) ||
      !_sbx_wire_members_get_string (&members, "process_id", SBX_WIRE_OPTIONAL, &id, error))
    return FALSE;

  *process_id = g_strdup (id);

  return TRUE;
}
