/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "server-fixture.h"

#include <string.h>

#include "core/core-child.h"

G_DEFINE_FINAL_TYPE (TestMemorySession, test_memory_session, SBX_TYPE_SESSION)

static void
cancelled_cb (GCancellable *cancellable,
              gpointer      invocation)
{
  g_autoptr(GError) error = NULL;

  g_cancellable_set_error_if_cancelled (cancellable, &error);
  if (!sbx_invocation_is_answered (invocation))
    sbx_invocation_return_gerror (invocation, error);
}

/* Whether the call is kept, as one that takes long; it honours cancelling. */
static gboolean
keep (TestMemorySession *self,
      const char        *path,
      gpointer           invocation)
{
  if (!g_str_has_prefix (path, "keep"))
    return FALSE;

  g_ptr_array_add (self->kept, g_object_ref (invocation));
  g_signal_connect_object (sbx_invocation_get_cancellable (invocation), "cancelled",
                           G_CALLBACK (cancelled_cb), invocation, 0);

  return TRUE;
}

static void
return_not_found (gpointer invocation)
{
  g_autoptr(GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "Not there");

  sbx_invocation_return_gerror (invocation, error);
}

static gboolean
handle_exec (SbxSession        *session,
             SbxExecInvocation *invocation)
{
  TestMemorySession *self = TEST_MEMORY_SESSION (session);

  return SBX_SESSION_GET_CLASS (self->child)->handle_exec (self->child, invocation);
}

static gboolean
handle_read_file (SbxSession            *session,
                  const char            *path,
                  guint64                max_size,
                  SbxReadFileInvocation *invocation)
{
  TestMemorySession *self = TEST_MEMORY_SESSION (session);
  GBytes *content = g_hash_table_lookup (self->files, path);

  self->n_reads++;
  if (keep (self, path, invocation))
    return TRUE;

  if (content == NULL)
    return_not_found (invocation);
  else if (g_bytes_get_size (content) > max_size)
    sbx_invocation_return_error (SBX_INVOCATION (invocation), SBX_ERROR_TOO_LARGE, "Too large");
  else
    sbx_read_file_invocation_return_bytes (invocation, content);

  return TRUE;
}

static gboolean
handle_read_range (SbxSession            *session,
                   const char            *path,
                   guint64                offset,
                   guint64                length,
                   SbxReadFileInvocation *invocation)
{
  TestMemorySession *self = TEST_MEMORY_SESSION (session);
  GBytes *content = g_hash_table_lookup (self->files, path);
  g_autoptr(GBytes) part = NULL;
  guint64 size;

  if (content == NULL)
    {
      return_not_found (invocation);
      return TRUE;
    }

  size = g_bytes_get_size (content);
  offset = MIN (offset, size);
  part = g_bytes_new_from_bytes (content, offset, MIN (length, size - offset));
  sbx_read_file_invocation_return_range (invocation, part, size);

  return TRUE;
}

static gboolean
handle_write_file (SbxSession        *session,
                   const char        *path,
                   GBytes            *content,
                   guint              mode,
                   SbxFileInvocation *invocation)
{
  TestMemorySession *self = TEST_MEMORY_SESSION (session);

  if (keep (self, path, invocation))
    return TRUE;

  g_hash_table_replace (self->files, g_strdup (path), g_bytes_ref (content));
  sbx_file_invocation_return_done (invocation);

  return TRUE;
}

static gboolean
handle_write_range (SbxSession        *session,
                    const char        *path,
                    GBytes            *content,
                    guint64            offset,
                    gboolean           truncate,
                    guint              mode,
                    SbxFileInvocation *invocation)
{
  TestMemorySession *self = TEST_MEMORY_SESSION (session);
  GBytes *old = g_hash_table_lookup (self->files, path);
  g_autoptr(GByteArray) bytes = g_byte_array_new ();
  const gsize end = offset + g_bytes_get_size (content);

  if (old != NULL)
    g_byte_array_append (bytes, g_bytes_get_data (old, NULL), g_bytes_get_size (old));
  if (bytes->len < end || truncate)
    g_byte_array_set_size (bytes, end);
  memcpy (bytes->data + offset, g_bytes_get_data (content, NULL), g_bytes_get_size (content));

  g_hash_table_replace (self->files, g_strdup (path),
                        g_byte_array_free_to_bytes (g_steal_pointer (&bytes)));
  sbx_file_invocation_return_done (invocation);

  return TRUE;
}

static gboolean
handle_create_dir_all (SbxSession        *session,
                       const char        *path,
                       SbxFileInvocation *invocation)
{
  sbx_file_invocation_return_done (invocation);

  return TRUE;
}

static gboolean
handle_create_temp_dir (SbxSession           *session,
                        const char           *prefix,
                        SbxTempDirInvocation *invocation)
{
  g_autofree char *path = g_strconcat ("/tmp/", prefix, "1", NULL);

  sbx_temp_dir_invocation_return_path (invocation, path);

  return TRUE;
}

static gboolean
handle_remove (SbxSession        *session,
               const char        *path,
               SbxFileInvocation *invocation)
{
  g_hash_table_remove (TEST_MEMORY_SESSION (session)->files, path);
  sbx_file_invocation_return_done (invocation);

  return TRUE;
}

static GFileInfo *
make_info (TestMemorySession *self,
           const char        *path)
{
  GBytes *content = g_hash_table_lookup (self->files, path);
  GFileInfo *info;

  if (content == NULL)
    return NULL;

  info = g_file_info_new ();
  g_file_info_set_name (info, path);
  g_file_info_set_file_type (info, G_FILE_TYPE_REGULAR);
  g_file_info_set_size (info, (goffset) g_bytes_get_size (content));

  return info;
}

static gboolean
handle_list_dir (SbxSession           *session,
                 const char           *path,
                 SbxListDirInvocation *invocation)
{
  TestMemorySession *self = TEST_MEMORY_SESSION (session);
  g_autoptr(GListStore) infos = g_list_store_new (G_TYPE_FILE_INFO);
  g_autoptr(GList) names = g_list_sort (g_hash_table_get_keys (self->files),
                                        (GCompareFunc) strcmp);

  self->n_lists++;
  for (GList *l = names; l != NULL; l = l->next)
    {
      g_autoptr(GFileInfo) info = make_info (self, l->data);

      g_list_store_append (infos, info);
    }

  sbx_list_dir_invocation_return_infos (invocation, G_LIST_MODEL (infos));

  return TRUE;
}

static gboolean
handle_stat (SbxSession        *session,
             const char        *path,
             SbxStatInvocation *invocation)
{
  g_autoptr(GFileInfo) info = make_info (TEST_MEMORY_SESSION (session), path);

  if (info == NULL)
    return_not_found (invocation);
  else
    sbx_stat_invocation_return_info (invocation, info);

  return TRUE;
}

static gboolean
copy (SbxSession        *session,
      const char        *path,
      const char        *new_path,
      gboolean           with_old,
      SbxFileInvocation *invocation)
{
  TestMemorySession *self = TEST_MEMORY_SESSION (session);
  GBytes *content = g_hash_table_lookup (self->files, path);

  if (content == NULL)
    {
      return_not_found (invocation);
      return TRUE;
    }

  g_hash_table_replace (self->files, g_strdup (new_path), g_bytes_ref (content));
  if (!with_old)
    g_hash_table_remove (self->files, path);
  sbx_file_invocation_return_done (invocation);

  return TRUE;
}

static gboolean
handle_rename (SbxSession        *session,
               const char        *path,
               const char        *new_path,
               SbxFileInvocation *invocation)
{
  return copy (session, path, new_path, FALSE, invocation);
}

static gboolean
handle_copy (SbxSession        *session,
             const char        *path,
             const char        *new_path,
             SbxFileInvocation *invocation)
{
  return copy (session, path, new_path, TRUE, invocation);
}

static gboolean
handle_close (SbxSession         *session,
              SbxCloseInvocation *invocation)
{
  TestMemorySession *self = TEST_MEMORY_SESSION (session);

  if (self->keep_close)
    g_set_object (&self->kept_close, SBX_INVOCATION (invocation));
  else
    sbx_close_invocation_return_done (invocation);

  return TRUE;
}

static void
test_memory_session_finalize (GObject *object)
{
  TestMemorySession *self = TEST_MEMORY_SESSION (object);

  g_clear_object (&self->child);
  g_clear_object (&self->kept_close);
  g_ptr_array_unref (self->kept);
  g_hash_table_unref (self->files);

  G_OBJECT_CLASS (test_memory_session_parent_class)->finalize (object);
}

static void
test_memory_session_class_init (TestMemorySessionClass *klass)
{
  SbxSessionClass *session_class = SBX_SESSION_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = test_memory_session_finalize;

  session_class->handle_exec = handle_exec;
  session_class->handle_read_file = handle_read_file;
  session_class->handle_read_range = handle_read_range;
  session_class->handle_write_file = handle_write_file;
  session_class->handle_write_range = handle_write_range;
  session_class->handle_create_dir_all = handle_create_dir_all;
  session_class->handle_create_temp_dir = handle_create_temp_dir;
  session_class->handle_remove = handle_remove;
  session_class->handle_list_dir = handle_list_dir;
  session_class->handle_stat = handle_stat;
  session_class->handle_rename = handle_rename;
  session_class->handle_copy = handle_copy;
  session_class->handle_close = handle_close;
}

static void
test_memory_session_init (TestMemorySession *self)
{
  self->child = test_child_session_new ();
  self->kept = g_ptr_array_new_with_free_func (g_object_unref);
  self->files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                       (GDestroyNotify) g_bytes_unref);
}
