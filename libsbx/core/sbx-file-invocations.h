/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include "core/sbx-invocation.h"

G_BEGIN_DECLS

#define SBX_TYPE_CLOSE_INVOCATION (sbx_close_invocation_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxCloseInvocation, sbx_close_invocation, SBX,
                      CLOSE_INVOCATION, SbxInvocation)

SBX_AVAILABLE_IN_1_0
void sbx_close_invocation_return_done (SbxCloseInvocation *self);

#define SBX_TYPE_FILE_INVOCATION (sbx_file_invocation_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxFileInvocation, sbx_file_invocation, SBX, FILE_INVOCATION, SbxInvocation)

SBX_AVAILABLE_IN_1_0
void sbx_file_invocation_return_done (SbxFileInvocation *self);

#define SBX_TYPE_READ_FILE_INVOCATION (sbx_read_file_invocation_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxReadFileInvocation, sbx_read_file_invocation, SBX,
                      READ_FILE_INVOCATION, SbxInvocation)

SBX_AVAILABLE_IN_1_0
void sbx_read_file_invocation_return_bytes (SbxReadFileInvocation *self,
                                            GBytes                *bytes);
SBX_AVAILABLE_IN_1_0
void sbx_read_file_invocation_return_range (SbxReadFileInvocation *self,
                                            GBytes                *bytes,
                                            guint64                size);

#define SBX_TYPE_TEMP_DIR_INVOCATION (sbx_temp_dir_invocation_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxTempDirInvocation, sbx_temp_dir_invocation, SBX,
                      TEMP_DIR_INVOCATION, SbxInvocation)

SBX_AVAILABLE_IN_1_0
void sbx_temp_dir_invocation_return_path (SbxTempDirInvocation *self,
                                          const char           *path);

#define SBX_TYPE_LIST_DIR_INVOCATION (sbx_list_dir_invocation_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxListDirInvocation, sbx_list_dir_invocation, SBX,
                      LIST_DIR_INVOCATION, SbxInvocation)

SBX_AVAILABLE_IN_1_0
void sbx_list_dir_invocation_return_infos (SbxListDirInvocation *self,
                                           GListModel           *infos);

#define SBX_TYPE_STAT_INVOCATION (sbx_stat_invocation_get_type ())

SBX_AVAILABLE_IN_1_0
G_DECLARE_FINAL_TYPE (SbxStatInvocation, sbx_stat_invocation, SBX, STAT_INVOCATION, SbxInvocation)

SBX_AVAILABLE_IN_1_0
void sbx_stat_invocation_return_info (SbxStatInvocation *self,
                                      GFileInfo         *info);

G_END_DECLS
