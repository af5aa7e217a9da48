/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "conformance/sbx-conversation-recorder.h"

#include "conformance/sbx-conversation-cut-private.h"

/**
 * SbxConversationRecorder:
 *
 * Makes a record out of what passes between a client and a provider.
 *
 * Whoever passes it on gives it the bytes as they come. What is secret or long is cut out of every
 * line as it comes in, so a line of any size takes little memory, and nothing of it gets further
 * than here; see [func@Conversation.cut_line]. Each message gets the time at which its line ended,
 * counted from when the recorder was made.
 *
 * Since: 1.0
 */

struct _SbxConversationRecorder
{
  GObject        parent_instance;

  gint64         start;
  SbxCutScanner  scanners[2];     /* by side */
  GByteArray    *entries;         /* not taken yet */
};

G_DEFINE_FINAL_TYPE (SbxConversationRecorder, sbx_conversation_recorder, G_TYPE_OBJECT)

static const char * const side_names[] = { "client", "provider" };

/* What a scanner tells of is somebody's. */
typedef struct
{
  SbxConversationRecorder *self;
  const char              *from;
} Feed;

static void
line_cb (GBytes   *line,
         guint64   dropped,
         gpointer  user_data)
{
  Feed *feed = user_data;
  const gint64 t_ms = (g_get_monotonic_time () - feed->self->start) / 1000;
  g_autoptr(GBytes) entry = _sbx_cut_make_entry (feed->from, t_ms, line, dropped);

  g_byte_array_append (feed->self->entries, g_bytes_get_data (entry, NULL),
                       (guint) g_bytes_get_size (entry));
}

static void
sbx_conversation_recorder_finalize (GObject *object)
{
  SbxConversationRecorder *self = SBX_CONVERSATION_RECORDER (object);

  _sbx_cut_scanner_clear (&self->scanners[0]);
  _sbx_cut_scanner_clear (&self->scanners[1]);
  g_byte_array_unref (self->entries);

  G_OBJECT_CLASS (sbx_conversation_recorder_parent_class)->finalize (object);
}

static void
sbx_conversation_recorder_class_init (SbxConversationRecorderClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = sbx_conversation_recorder_finalize;
}

static void
sbx_conversation_recorder_init (SbxConversationRecorder *self)
{
  self->start = g_get_monotonic_time ();
  self->entries = g_byte_array_new ();
}

/**
 * sbx_conversation_recorder_new:
 *
 * Makes a recorder, and starts its clock.
 *
 * Returns: (transfer full): a new recorder
 *
 * Since: 1.0
 */
SbxConversationRecorder *
sbx_conversation_recorder_new (void)
{
  return g_object_new (SBX_TYPE_CONVERSATION_RECORDER, NULL);
}

/**
 * sbx_conversation_recorder_feed:
 * @self: a recorder
 * @side: who said it
 * @bytes: what was said, from where it was left, and as little or as much of it as there is
 *
 * Takes part of the conversation.
 *
 * Since: 1.0
 */
void
sbx_conversation_recorder_feed (SbxConversationRecorder *self,
                                SbxConversationSide      side,
                                GBytes                  *bytes)
{
  Feed feed = { self, NULL };
  gsize size;
  const char *data;

  g_return_if_fail (SBX_IS_CONVERSATION_RECORDER (self));
  g_return_if_fail (side <= SBX_CONVERSATION_SIDE_PROVIDER);
  g_return_if_fail (bytes != NULL);

  feed.from = side_names[side];
  data = g_bytes_get_data (bytes, &size);
  _sbx_cut_scanner_feed (&self->scanners[side], data, size, line_cb, &feed);
}

/**
 * sbx_conversation_recorder_finish:
 * @self: a recorder
 * @side: who says nothing more
 *
 * Takes the last line of a side even if it has no newline.
 *
 * Since: 1.0
 */
void
sbx_conversation_recorder_finish (SbxConversationRecorder *self,
                                  SbxConversationSide      side)
{
  Feed feed = { self, NULL };

  g_return_if_fail (SBX_IS_CONVERSATION_RECORDER (self));
  g_return_if_fail (side <= SBX_CONVERSATION_SIDE_PROVIDER);

  feed.from = side_names[side];
  _sbx_cut_scanner_finish (&self->scanners[side], line_cb, &feed);
}

/**
 * sbx_conversation_recorder_take:
 * @self: a recorder
 *
 * Takes what there is of the record and was not taken yet. All that was taken, in its order, is the
 * record: see [ctor@Conversation.new_for_bytes].
 *
 * Returns: (transfer full): whole lines of text, or nothing
 *
 * Since: 1.0
 */
GBytes *
sbx_conversation_recorder_take (SbxConversationRecorder *self)
{
  GByteArray *entries;

  g_return_val_if_fail (SBX_IS_CONVERSATION_RECORDER (self), NULL);

  entries = g_steal_pointer (&self->entries);
  self->entries = g_byte_array_new ();

  return g_byte_array_free_to_bytes (entries);
}
