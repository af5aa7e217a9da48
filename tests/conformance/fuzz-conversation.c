/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "conformance/sbx-conversation-player.h"
#include "conformance/sbx-conversation-recorder.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

/* A number of many digits may be one of many bytes, which take time and show nothing. */
static gboolean
has_large_number (GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);
  guint n_digits = 0;

  for (gsize i = 0; i < size && n_digits < 6; i++)
    n_digits = g_ascii_isdigit (data[i]) ? n_digits + 1 : 0;

  return n_digits >= 6;
}

/* A record from anybody: loaded, looked at, and played. */
static void
load (GBytes *bytes)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(SbxConversation) conversation = sbx_conversation_new_for_bytes (bytes, &error);
  g_autoptr(SbxConversationPlayer) player = NULL;

  g_assert_true ((conversation != NULL) != (error != NULL));
  if (conversation == NULL || has_large_number (bytes))
    return;

  player = sbx_conversation_player_new (conversation);
  for (guint i = 0; i < sbx_conversation_get_n_messages (conversation); i++)
    {
      g_autoptr(GBytes) cut = sbx_conversation_get_cut_line (conversation, i);
      g_autoptr(GBytes) line = sbx_conversation_get_line (conversation, i);
      g_autoptr(GBytes) answer = sbx_conversation_player_answer (player, cut);

      g_assert_nonnull (line);
      g_assert_nonnull (answer);
    }
}

/* A line from anybody: what is cut is as it was, or its entry would not be one; and a record of it
 * can be loaded. */
static void
record (GBytes *bytes)
{
  g_autoptr(SbxConversationRecorder) recorder = sbx_conversation_recorder_new ();
  g_autoptr(SbxConversation) conversation = NULL;
  g_autoptr(GBytes) entries = NULL;
  g_autoptr(GError) error = NULL;

  sbx_conversation_recorder_feed (recorder, SBX_CONVERSATION_SIDE_CLIENT, bytes);
  sbx_conversation_recorder_feed (recorder, SBX_CONVERSATION_SIDE_PROVIDER, bytes);
  sbx_conversation_recorder_finish (recorder, SBX_CONVERSATION_SIDE_CLIENT);
  sbx_conversation_recorder_finish (recorder, SBX_CONVERSATION_SIDE_PROVIDER);
  entries = sbx_conversation_recorder_take (recorder);
  conversation = sbx_conversation_new_for_bytes (entries, &error);
  g_assert_no_error (error);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        size_t        size)
{
  g_autoptr(GBytes) bytes = g_bytes_new (data, size);

  load (bytes);
  record (bytes);

  return 0;
}
