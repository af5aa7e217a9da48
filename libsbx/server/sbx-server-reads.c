/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "server/sbx-server-private.h"

#include "core/sbx-error.h"
#include "core/sbx-session-files.h"

/*
 * Reading files, within bounds: a client may ask for a thousand large ones and read none of the
 * replies. A number of them is read at a time, each only as far as a small file goes; one that
 * proves to be larger waits until it can be read alone. Directories, which may have any number of
 * entries, are listed few at a time. Nothing is begun while replies wait.
 */

#define MAX_READS 64
#define SMALL_FILE (1024 * 1024)
#define MAX_LISTS 2

static void begin_read (SbxServerCall *call,
                        gboolean       large);
static void begin_list (SbxServerCall *call);

static gboolean
is_room (SbxServerConnection *connection)
{
  return _sbx_server_connection_waiting (connection) < SBX_SERVER_REPLIES_HIGH;
}

/* The client gave up before its turn came. */
static void
withdraw_cb (SbxServerCall *call)
{
  GQueue *queue = call->place;

  if (g_queue_remove (queue, call))
    _sbx_server_call_unref (call);
}

static void
wait_in (GQueue        *queue,
         SbxServerCall *call)
{
  call->place = queue;
  call->withdraw = withdraw_cb;
  g_queue_push_tail (queue, _sbx_server_call_ref (call));
}

/* Nobody takes it out of there any more. */
static SbxServerCall *
take_first (GQueue *queue)
{
  SbxServerCall *call = g_queue_pop_head (queue);

  call->withdraw = NULL;

  return call;
}

void
_sbx_server_reads_go_on (SbxServerConnection *connection)
{
  while (is_room (connection) && connection->n_large_reads == 0 &&
         !g_queue_is_empty (&connection->large_reads))
    {
      g_autoptr(SbxServerCall) call = take_first (&connection->large_reads);

      begin_read (call, TRUE);
    }

  while (is_room (connection) && connection->n_lists < MAX_LISTS &&
         !g_queue_is_empty (&connection->lists))
    {
      g_autoptr(SbxServerCall) call = take_first (&connection->lists);

      begin_list (call);
    }

  while (is_room (connection) && connection->n_reads < MAX_READS &&
         !g_queue_is_empty (&connection->reads))
    {
      g_autoptr(SbxServerCall) call = take_first (&connection->reads);

      begin_read (call, FALSE);
    }
}

static void
read_over (SbxServerCall *call)
{
  SbxServerConnection *connection = call->connection;

  if (call->count > 0)
    connection->n_large_reads--;
  else
    connection->n_reads--;
}

static void
read_cb (GObject      *object,
         GAsyncResult *result,
         gpointer      user_data)
{
  g_autoptr(SbxServerCall) call = user_data;
  g_autoptr(SbxServerConnection) connection = _sbx_server_connection_ref (call->connection);
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;

  read_over (call);
  bytes = sbx_session_read_file_finish (SBX_SESSION (object), result, &error);

  if (bytes != NULL)
    _sbx_server_call_answer (call, _sbx_wire_answer_content (call->wire.id, bytes, -1, TRUE));
  else if (call->count == 0 && g_error_matches (error, SBX_ERROR, SBX_ERROR_TOO_LARGE) &&
           !g_cancellable_is_cancelled (call->cancellable))
    wait_in (&connection->large_reads, call);
  else
    _sbx_server_call_fail (call, error);

  _sbx_server_reads_go_on (connection);
}

static void
range_read_cb (GObject      *object,
               GAsyncResult *result,
               gpointer      user_data)
{
  g_autoptr(SbxServerCall) call = user_data;
  g_autoptr(SbxServerConnection) connection = _sbx_server_connection_ref (call->connection);
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GError) error = NULL;
  guint64 size = 0;
  guint64 end;

  read_over (call);
  bytes = sbx_session_read_range_finish (SBX_SESSION (object), result, &size, &error);

  if (bytes == NULL)
    {
      _sbx_server_call_fail (call, error);
    }
  else
    {
      end = call->range.offset + g_bytes_get_size (bytes);
      _sbx_server_call_answer (call, _sbx_wire_answer_content (call->wire.id, bytes,
                                                               (gint64) MIN (size, G_MAXINT64),
                                                               end >= size));
    }

  _sbx_server_reads_go_on (connection);
}

/* @large is kept in call->count. */
static void
begin_read (SbxServerCall *call,
            gboolean       large)
{
  call->count = large ? 1 : 0;
  if (large)
    call->connection->n_large_reads++;
  else
    call->connection->n_reads++;

  if (call->range.has_range)
    sbx_session_read_range_async (call->session->session, call->path, call->range.offset,
                                  MIN (call->range.length, SBX_READ_FILE_DEFAULT_MAX_SIZE),
                                  call->cancellable, range_read_cb, _sbx_server_call_ref (call));
  else
    sbx_session_read_file_async (call->session->session, call->path,
                                 large ? SBX_READ_FILE_DEFAULT_MAX_SIZE : SMALL_FILE,
                                 call->cancellable, read_cb, _sbx_server_call_ref (call));
}

void
_sbx_server_read_file (SbxServerCall *call)
{
  SbxServerConnection *connection = call->connection;
  g_autoptr(GError) error = NULL;

  call->path = g_strdup (_sbx_wire_call_get_path (&call->wire, &error));
  if (call->path == NULL || !_sbx_wire_call_get_range (&call->wire, &call->range, &error))
    {
      _sbx_server_call_fail (call, error);
      return;
    }

  /* How much of a range there is to read is not known either. */
  wait_in (call->range.has_range && call->range.length > SMALL_FILE ? &connection->large_reads
                                                                    : &connection->reads, call);
  _sbx_server_reads_go_on (connection);
}

static void
listed_cb (GObject      *object,
           GAsyncResult *result,
           gpointer      user_data)
{
  g_autoptr(SbxServerCall) call = user_data;
  g_autoptr(SbxServerConnection) connection = _sbx_server_connection_ref (call->connection);
  g_autoptr(GListModel) infos = NULL;
  g_autoptr(GError) error = NULL;

  connection->n_lists--;
  infos = sbx_session_list_dir_finish (SBX_SESSION (object), result, &error);
  if (infos == NULL)
    _sbx_server_call_fail (call, error);
  else
    _sbx_server_call_answer (call, _sbx_wire_answer_infos (call->wire.id, infos));

  _sbx_server_reads_go_on (connection);
}

static void
begin_list (SbxServerCall *call)
{
  call->connection->n_lists++;
  sbx_session_list_dir_async (call->session->session, call->path, call->cancellable, listed_cb,
                              _sbx_server_call_ref (call));
}

void
_sbx_server_list_dir (SbxServerCall *call)
{
  SbxServerConnection *connection = call->connection;
  g_autoptr(GError) error = NULL;

  call->path = g_strdup (_sbx_wire_call_get_path (&call->wire, &error));
  if (call->path == NULL)
    {
      _sbx_server_call_fail (call, error);
      return;
    }

  wait_in (&connection->lists, call);
  _sbx_server_reads_go_on (connection);
}
