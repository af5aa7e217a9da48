/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#define SBX_INSIDE
#include "core/sbx-error.h"
#include "sbx-enum-types.h"
#include "sbx-version-macros.h"
#include "sbx-version.h"
#undef SBX_INSIDE
