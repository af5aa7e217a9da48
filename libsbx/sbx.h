/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#define SBX_INSIDE
#include "bwrap/sbx-bwrap-provider.h"
#include "bwrap/sbx-finding.h"
#include "client/sbx-execution-environment.h"
#include "client/sbx-provider-client.h"
#include "client/sbx-provider-info.h"
#include "conformance/sbx-conformance-check.h"
#include "conformance/sbx-conformance.h"
#include "conformance/sbx-conversation-player.h"
#include "conformance/sbx-conversation-recorder.h"
#include "conformance/sbx-conversation.h"
#include "core/sbx-capabilities.h"
#include "core/sbx-cleanup-invocation.h"
#include "core/sbx-command.h"
#include "core/sbx-error.h"
#include "core/sbx-exec-invocation.h"
#include "core/sbx-exec-result.h"
#include "core/sbx-file-invocations.h"
#include "core/sbx-invocation.h"
#include "core/sbx-open-invocation.h"
#include "core/sbx-open-request.h"
#include "core/sbx-process.h"
#include "core/sbx-provider.h"
#include "core/sbx-reach.h"
#include "core/sbx-session-files.h"
#include "core/sbx-session.h"
#include "core/sbx-terminal.h"
#include "core/sbx-types.h"
#include "server/sbx-provider-server.h"
#include "sbx-enum-types.h"
#include "sbx-version-macros.h"
#include "sbx-version.h"
#undef SBX_INSIDE
