/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include <gio/gio.h>

#include "sbx-version-macros.h"

G_BEGIN_DECLS

/* Said once here, so that headers need not include each other. */
typedef struct _SbxReach SbxReach;
typedef struct _SbxOpenRequest SbxOpenRequest;
typedef struct _SbxProvider SbxProvider;
typedef struct _SbxProviderSet SbxProviderSet;
typedef struct _SbxSession SbxSession;
typedef struct _SbxCommand SbxCommand;
typedef struct _SbxProcess SbxProcess;
typedef struct _SbxExecResult SbxExecResult;
typedef struct _SbxTerminal SbxTerminal;
typedef struct _SbxInvocation SbxInvocation;
typedef struct _SbxOpenInvocation SbxOpenInvocation;
typedef struct _SbxCleanupInvocation SbxCleanupInvocation;
typedef struct _SbxExecInvocation SbxExecInvocation;
typedef struct _SbxCloseInvocation SbxCloseInvocation;
typedef struct _SbxReadFileInvocation SbxReadFileInvocation;
typedef struct _SbxFileInvocation SbxFileInvocation;
typedef struct _SbxTempDirInvocation SbxTempDirInvocation;
typedef struct _SbxListDirInvocation SbxListDirInvocation;
typedef struct _SbxStatInvocation SbxStatInvocation;

G_END_DECLS
