/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conversation.h"

#include "conformance/sbx-conversation-cut-private.h"
#include "conformance/sbx-conversation-private.h"
#include "core/sbx-error.h"
#include "core/sbx-library-private.h"
#include "files/sbx-open-private.h"
#include "json/sbx-json-private.h"

#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <unistd.h>

/**
 * SbxConversation:
 *
 * A record of what a client and a provider said to one another, for a bug report.
 *
 * A record is a text file with one JSON object a line, one for each message: `t_ms`, when it was
 * said; `from`, which is `client` or `provider`; and `line`, the message. What was no JSON is
 * `text` instead, of which only the shape is left, and in which a byte that is not UTF-8 is `\xff`.
 *
 * Of a message there is nothing but what is known to be harmless: ids, methods, codes, paths, the
 * program of a command, numbers of the protocol. All else, among it arguments, the environment,
 * tags, messages for people, the content of files and the state of the provider, is a marker that
 * tells how large it was, such as `cut:12` or `cut:base64:1024`.
 *
 * A record is made by [class@ConversationRecorder]. Both its sides can be played:
 * [class@ConversationPlayer] answers as the provider did, and [method@Conversation.replay_async]
 * asks what the client asked.
 *
 * ## Trust
 *
 * A record comes from somebody else. It is bounded in every way when it is loaded. Playing the
 * client's side makes a provider do what stands in the record.
 *
 * Since: 1.0
 */

#define MAX_RECORD (256 * 1024 * 1024)
#define MAX_MESSAGES (1000 * 1000)
/* What is put in place of the markers of one message at most; the rest of them stays. */
#define MAX_FILL (128 * 1024 * 1024)

typedef struct
{
  SbxConversationSide  side;
  gint64               t_ms;
  GBytes              *line;        /* as JSON with markers, or %NULL */
  char                *text;        /* masked, where @line is %NULL */
  guint64              cut;         /* bytes behind @text */
} Message;

struct _SbxConversation
{
  GObject  parent_instance;

  GArray  *messages;
};

G_DEFINE_FINAL_TYPE (SbxConversation, sbx_conversation, G_TYPE_OBJECT)

static void
message_clear (gpointer data)
{
  Message *message = data;

  g_clear_pointer (&message->line, g_bytes_unref);
  g_clear_pointer (&message->text, g_free);
}

static void
sbx_conversation_finalize (GObject *object)
{
  SbxConversation *self = SBX_CONVERSATION (object);

  g_array_unref (self->messages);

  G_OBJECT_CLASS (sbx_conversation_parent_class)->finalize (object);
}

static void
sbx_conversation_class_init (SbxConversationClass *klass)
{
  _sbx_library_init ();

  G_OBJECT_CLASS (klass)->finalize = sbx_conversation_finalize;
}

static void
sbx_conversation_init (SbxConversation *self)
{
  self->messages = g_array_new (FALSE, TRUE, sizeof (Message));
  g_array_set_clear_func (self->messages, message_clear);
}

static gboolean
refuse (guint        line,
        const char  *reason,
        GError     **error)
{
  g_set_error (error, SBX_ERROR, SBX_ERROR_INVALID, _("Line %u is no message of a record: %s"),
               line, reason);

  return FALSE;
}

static gboolean
take_content (Message     *message,
              JsonObject  *entry,
              guint        line,
              GError     **error)
{
  JsonNode *node = json_object_get_member (entry, "line");
  const char *text = NULL;
  gint64 cut = 0;

  if (node != NULL)
    {
      message->line = _sbx_json_to_bytes (node, FALSE);
      return TRUE;
    }

  if (_sbx_json_object_get_string (entry, "text", &text) != SBX_JSON_PRESENT)
    return refuse (line, _("it has neither “line” nor “text”"), error);
  if (_sbx_json_object_get_int (entry, "text_cut_bytes", &cut) == SBX_JSON_WRONG_TYPE || cut < 0)
    return refuse (line, _("“text_cut_bytes” is no size"), error);

  message->text = g_strdup (text);
  message->cut = (guint64) MIN (cut, MAX_FILL);

  return TRUE;
}

static gboolean
take_entry (SbxConversation  *self,
            GBytes           *text,
            guint             line,
            GError          **error)
{
  g_autoptr(GError) local_error = NULL;
  g_autoptr(JsonNode) root = _sbx_json_parse (text, NULL, &local_error);
  Message message = { SBX_CONVERSATION_SIDE_CLIENT, 0, NULL, NULL, 0 };
  const char *from = NULL;
  JsonObject *entry;

  if (root == NULL)
    return refuse (line, local_error->message, error);
  if (!JSON_NODE_HOLDS_OBJECT (root))
    return refuse (line, _("it is no object"), error);

  entry = json_node_get_object (root);
  if (_sbx_json_object_get_string (entry, "from", &from) != SBX_JSON_PRESENT ||
      (strcmp (from, "client") != 0 && strcmp (from, "provider") != 0))
    return refuse (line, _("“from” is neither “client” nor “provider”"), error);
  if (_sbx_json_object_get_int (entry, "t_ms", &message.t_ms) != SBX_JSON_PRESENT ||
      message.t_ms < 0)
    return refuse (line, _("“t_ms” is no time"), error);
  if (self->messages->len >= MAX_MESSAGES)
    return refuse (line, _("there are too many"), error);

  if (strcmp (from, "provider") == 0)
    message.side = SBX_CONVERSATION_SIDE_PROVIDER;
  if (!take_content (&message, entry, line, error))
    return FALSE;

  g_array_append_val (self->messages, message);

  return TRUE;
}

/**
 * sbx_conversation_new_for_bytes:
 * @record: a record
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a conversation of a record.
 *
 * The error is %SBX_ERROR_INVALID for what is no record, or is unreasonably large.
 *
 * Returns: (transfer full): a new conversation
 *
 * Since: 1.0
 */
SbxConversation *
sbx_conversation_new_for_bytes (GBytes  *record,
                                GError **error)
{
  g_autoptr(SbxConversation) self = NULL;
  const char *data;
  const char *end;
  gsize size;
  guint line = 0;

  g_return_val_if_fail (record != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  self = g_object_new (SBX_TYPE_CONVERSATION, NULL);
  data = g_bytes_get_data (record, &size);
  end = size > 0 ? data + size : data;

  while (data < end)
    {
      const char *newline = memchr (data, '\n', (gsize) (end - data));
      const gsize length = (gsize) ((newline != NULL ? newline : end) - data);
      g_autoptr(GBytes) text = g_bytes_new_static (data, length);

      line++;
      if (length > 0 && !take_entry (self, text, line, error))
        return NULL;
      data += length + 1;
    }

  return g_steal_pointer (&self);
}

/**
 * sbx_conversation_load:
 * @path: (type filename): an absolute path
 * @error: return location for a [struct@GLib.Error]
 *
 * Loads a record from a regular file, which is read while the caller waits.
 *
 * The error is from %G_IO_ERROR where the file cannot be read, or %SBX_ERROR_INVALID for what is no
 * record.
 *
 * Returns: (transfer full): a new conversation
 *
 * Since: 1.0
 */
SbxConversation *
sbx_conversation_load (const char  *path,
                       GError     **error)
{
  g_autofree char *folder = NULL;
  g_autofree char *name = NULL;
  g_autofree char *real = NULL;
  g_autofree char *real_folder = NULL;
  g_autoptr(GBytes) record = NULL;
  int fd;

  g_return_val_if_fail (path != NULL && g_path_is_absolute (path), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  /* The operator may have named it through a link. */
  fd = _sbx_open_real (path, O_PATH | O_CLOEXEC, &real, error);
  if (fd < 0)
    return NULL;
  close (fd);

  folder = g_path_get_dirname (real);
  name = g_path_get_basename (real);
  fd = _sbx_open_real (folder, O_PATH | O_DIRECTORY | O_CLOEXEC, &real_folder, error);
  if (fd < 0)
    return NULL;

  record = _sbx_read_beneath (fd, name, MAX_RECORD, NULL, error);
  close (fd);

  return record != NULL ? sbx_conversation_new_for_bytes (record, error) : NULL;
}

static void
cut_line_cb (GBytes   *line,
             guint64   dropped,
             gpointer  user_data)
{
  GBytes **cut = user_data;

  if (*cut == NULL)
    *cut = _sbx_cut_make_line (line, dropped);
}

/**
 * sbx_conversation_cut_line:
 * @line: a message, as it is on the wire
 *
 * Cuts out of a message all that might be secret, and all that is long.
 *
 * Returns: (transfer full): the message as it stands in a record, without a newline; of what is no
 *   JSON the shape alone
 *
 * Since: 1.0
 */
GBytes *
sbx_conversation_cut_line (GBytes *line)
{
  g_auto(SbxCutScanner) scanner = { NULL };
  GBytes *cut = NULL;
  gsize size;
  const char *data;

  g_return_val_if_fail (line != NULL, NULL);

  data = g_bytes_get_data (line, &size);
  _sbx_cut_scanner_feed (&scanner, data, size, cut_line_cb, &cut);
  _sbx_cut_scanner_finish (&scanner, cut_line_cb, &cut);

  return cut != NULL ? cut : g_bytes_new (NULL, 0);
}

/**
 * sbx_conversation_get_n_messages:
 * @self: a conversation
 *
 * Gets how many messages there are.
 *
 * Returns: a number
 *
 * Since: 1.0
 */
guint
sbx_conversation_get_n_messages (SbxConversation *self)
{
  g_return_val_if_fail (SBX_IS_CONVERSATION (self), 0);

  return self->messages->len;
}

static const Message *
get_message (SbxConversation *self,
             guint            message)
{
  return &g_array_index (self->messages, Message, message);
}

/**
 * sbx_conversation_get_side:
 * @self: a conversation
 * @message: which one, from 0
 *
 * Gets who said it.
 *
 * Returns: the side
 *
 * Since: 1.0
 */
SbxConversationSide
sbx_conversation_get_side (SbxConversation *self,
                           guint            message)
{
  g_return_val_if_fail (SBX_IS_CONVERSATION (self), SBX_CONVERSATION_SIDE_CLIENT);
  g_return_val_if_fail (message < self->messages->len, SBX_CONVERSATION_SIDE_CLIENT);

  return get_message (self, message)->side;
}

/**
 * sbx_conversation_get_time:
 * @self: a conversation
 * @message: which one, from 0
 *
 * Gets when it was said.
 *
 * Returns: milliseconds since the beginning of the record
 *
 * Since: 1.0
 */
gint64
sbx_conversation_get_time (SbxConversation *self,
                           guint            message)
{
  g_return_val_if_fail (SBX_IS_CONVERSATION (self), 0);
  g_return_val_if_fail (message < self->messages->len, 0);

  return get_message (self, message)->t_ms;
}

/**
 * sbx_conversation_get_cut_line:
 * @self: a conversation
 * @message: which one, from 0
 *
 * Gets what was said, with markers in place of what was cut out.
 *
 * Returns: (transfer full): a line of text without its newline
 *
 * Since: 1.0
 */
GBytes *
sbx_conversation_get_cut_line (SbxConversation *self,
                               guint            message)
{
  const Message *found;

  g_return_val_if_fail (SBX_IS_CONVERSATION (self), NULL);
  g_return_val_if_fail (message < self->messages->len, NULL);

  found = get_message (self, message);

  return found->line != NULL ? g_bytes_ref (found->line)
                             : g_bytes_new (found->text, strlen (found->text));
}

JsonNode *
_sbx_conversation_get_node (SbxConversation *self,
                            guint            message)
{
  const Message *found = get_message (self, message);

  return found->line != NULL ? _sbx_json_parse (found->line, NULL, NULL) : NULL;
}

JsonNode *
_sbx_conversation_fill_node (SbxConversation *self,
                             guint            message,
                             gsize           *budget)
{
  g_autoptr(JsonNode) node = _sbx_conversation_get_node (self, message);

  return node != NULL ? _sbx_cut_fill (node, budget) : NULL;
}

/**
 * sbx_conversation_get_line:
 * @self: a conversation
 * @message: which one, from 0
 *
 * Gets what was said, with something of the same size in place of what was cut out.
 *
 * Returns: (transfer full): a message as it could be on the wire, without its newline
 *
 * Since: 1.0
 */
GBytes *
sbx_conversation_get_line (SbxConversation *self,
                           guint            message)
{
  gsize budget = MAX_FILL;
  g_autoptr(JsonNode) node = NULL;
  const Message *found;
  GByteArray *array;
  guint old;

  g_return_val_if_fail (SBX_IS_CONVERSATION (self), NULL);
  g_return_val_if_fail (message < self->messages->len, NULL);

  node = _sbx_conversation_fill_node (self, message, &budget);
  if (node != NULL)
    return _sbx_json_to_bytes (node, FALSE);

  found = get_message (self, message);
  array = g_bytes_unref_to_array (_sbx_cut_unmask (found->text));
  old = array->len;
  g_byte_array_set_size (array, old + (guint) found->cut);
  if (found->cut > 0)
    memset (array->data + old, 'x', found->cut);

  return g_byte_array_free_to_bytes (array);
}
