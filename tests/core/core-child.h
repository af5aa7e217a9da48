/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sbx.h>

#include "test-util.h"

G_BEGIN_DECLS

/*
 * A session that runs commands as plain children of the test: they write to the descriptors that
 * the library made for them.
 */
#define TEST_TYPE_CHILD_SESSION (test_child_session_get_type ())
G_DECLARE_FINAL_TYPE (TestChildSession, test_child_session, TEST, CHILD_SESSION, SbxSession)

SbxSession *test_child_session_new (void);

G_END_DECLS
