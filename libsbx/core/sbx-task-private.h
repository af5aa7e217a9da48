/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Calls @func with @task when its cancellable is cancelled, in the context of the task, until the
 * task is completed. */
void _sbx_task_watch_cancellable (GTask                  *task,
                                  GCancellableSourceFunc  func);

G_END_DECLS
