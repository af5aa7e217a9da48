/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-session.h"

G_BEGIN_DECLS

/**
 * SBX_READ_FILE_DEFAULT_MAX_SIZE:
 *
 * How many bytes [method@Session.read_file_async] reads when it is given 0: 64 MiB.
 *
 * Since: 1.0
 */
#define SBX_READ_FILE_DEFAULT_MAX_SIZE (64 * 1024 * 1024)

SBX_AVAILABLE_IN_1_0
void        sbx_session_read_file_async        (SbxSession           *self,
                                                const char           *path,
                                                guint64               max_size,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
GBytes     *sbx_session_read_file_finish       (SbxSession           *self,
                                                GAsyncResult         *result,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
GBytes     *sbx_session_read_file              (SbxSession           *self,
                                                const char           *path,
                                                guint64               max_size,
                                                GCancellable         *cancellable,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
void        sbx_session_write_file_async       (SbxSession           *self,
                                                const char           *path,
                                                GBytes               *content,
                                                guint                 mode,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
gboolean    sbx_session_write_file_finish      (SbxSession           *self,
                                                GAsyncResult         *result,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean    sbx_session_write_file             (SbxSession           *self,
                                                const char           *path,
                                                GBytes               *content,
                                                guint                 mode,
                                                GCancellable         *cancellable,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
void        sbx_session_create_dir_all_async   (SbxSession           *self,
                                                const char           *path,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
gboolean    sbx_session_create_dir_all_finish  (SbxSession           *self,
                                                GAsyncResult         *result,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean    sbx_session_create_dir_all         (SbxSession           *self,
                                                const char           *path,
                                                GCancellable         *cancellable,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
void        sbx_session_create_temp_dir_async  (SbxSession           *self,
                                                const char           *prefix,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
char       *sbx_session_create_temp_dir_finish (SbxSession           *self,
                                                GAsyncResult         *result,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
char       *sbx_session_create_temp_dir        (SbxSession           *self,
                                                const char           *prefix,
                                                GCancellable         *cancellable,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
void        sbx_session_remove_async           (SbxSession           *self,
                                                const char           *path,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
gboolean    sbx_session_remove_finish          (SbxSession           *self,
                                                GAsyncResult         *result,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean    sbx_session_remove                 (SbxSession           *self,
                                                const char           *path,
                                                GCancellable         *cancellable,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
void        sbx_session_list_dir_async         (SbxSession           *self,
                                                const char           *path,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
GListModel *sbx_session_list_dir_finish        (SbxSession           *self,
                                                GAsyncResult         *result,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
GListModel *sbx_session_list_dir               (SbxSession           *self,
                                                const char           *path,
                                                GCancellable         *cancellable,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
void        sbx_session_stat_async             (SbxSession           *self,
                                                const char           *path,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
GFileInfo  *sbx_session_stat_finish            (SbxSession           *self,
                                                GAsyncResult         *result,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
GFileInfo  *sbx_session_stat                   (SbxSession           *self,
                                                const char           *path,
                                                GCancellable         *cancellable,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
void        sbx_session_read_range_async       (SbxSession           *self,
                                                const char           *path,
                                                guint64               offset,
                                                guint64               length,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
GBytes     *sbx_session_read_range_finish      (SbxSession           *self,
                                                GAsyncResult         *result,
                                                guint64              *size,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
GBytes     *sbx_session_read_range             (SbxSession           *self,
                                                const char           *path,
                                                guint64               offset,
                                                guint64               length,
                                                guint64              *size,
                                                GCancellable         *cancellable,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
void        sbx_session_write_range_async      (SbxSession           *self,
                                                const char           *path,
                                                GBytes               *content,
                                                guint64               offset,
                                                gboolean              truncate,
                                                guint                 mode,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
gboolean    sbx_session_write_range_finish     (SbxSession           *self,
                                                GAsyncResult         *result,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean    sbx_session_write_range            (SbxSession           *self,
                                                const char           *path,
                                                GBytes               *content,
                                                guint64               offset,
                                                gboolean              truncate,
                                                guint                 mode,
                                                GCancellable         *cancellable,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
void        sbx_session_rename_async           (SbxSession           *self,
                                                const char           *path,
                                                const char           *new_path,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
gboolean    sbx_session_rename_finish          (SbxSession           *self,
                                                GAsyncResult         *result,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean    sbx_session_rename                 (SbxSession           *self,
                                                const char           *path,
                                                const char           *new_path,
                                                GCancellable         *cancellable,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
void        sbx_session_copy_async             (SbxSession           *self,
                                                const char           *path,
                                                const char           *new_path,
                                                GCancellable         *cancellable,
                                                GAsyncReadyCallback   callback,
                                                gpointer              user_data);
SBX_AVAILABLE_IN_1_0
gboolean    sbx_session_copy_finish            (SbxSession           *self,
                                                GAsyncResult         *result,
                                                GError              **error);
SBX_AVAILABLE_IN_1_0
gboolean    sbx_session_copy                   (SbxSession           *self,
                                                const char           *path,
                                                const char           *new_path,
                                                GCancellable         *cancellable,
                                                GError              **error);

G_END_DECLS
