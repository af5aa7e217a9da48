/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#if !defined (SBX_INSIDE) && !defined (SBX_COMPILATION)
#error "Only <sbx.h> can be included directly."
#endif

#include <glib.h>

#include "sbx-version-macros.h"

G_BEGIN_DECLS

/**
 * SBX_ERROR:
 *
 * The error domain of the library. Codes are from [error@Error].
 *
 * Since: 1.0
 */
#define SBX_ERROR (sbx_error_quark ())

/**
 * SbxError:
 * @SBX_ERROR_FAILED: an error that fits no other code
 * @SBX_ERROR_INVALID: what was asked for makes no sense: a relative path, an empty command line, a
 *   name with a NUL byte
 * @SBX_ERROR_NOT_FOUND: a path that was asked for does not exist
 * @SBX_ERROR_REFUSED: what was asked for would let a sandbox reach what no sandbox may
 * @SBX_ERROR_UNSUPPORTED: the provider cannot do this at all
 * @SBX_ERROR_NOT_ENFORCEABLE: this machine cannot hold what was asked for, and the message says
 *   what is missing
 * @SBX_ERROR_SETUP_FAILED: the sandbox could not be made
 * @SBX_ERROR_CLOSED: the session is closed, or is on its way out
 * @SBX_ERROR_LOST: the sandbox ended, or broke its promises, while something was asked of it
 * @SBX_ERROR_TOO_LARGE: something went over a limit, which the message names
 * @SBX_ERROR_BUSY: the object is doing this already, or belongs to another thread
 * @SBX_ERROR_UNANSWERED: an implementation dropped a request without an answer
 * @SBX_ERROR_PROTOCOL: a peer said something that is not the protocol
 * @SBX_ERROR_PROVIDER: a provider answered with an error of its own; its code starts the message
 * @SBX_ERROR_PROVIDER_RETRYABLE: as %SBX_ERROR_PROVIDER, and the provider says that trying again
 *   may help
 *
 * Why an operation of this library failed.
 *
 * Cancellation is never in this domain: it is always %G_IO_ERROR_CANCELLED, so that a caller can
 * test for it in one way. The file verbs of a session give %G_IO_ERROR codes such as
 * %G_IO_ERROR_NOT_FOUND where the sandbox's own file system said so.
 *
 * Since: 1.0
 */
typedef enum /*< enum >*/
{
  SBX_ERROR_FAILED,
  SBX_ERROR_INVALID,
  SBX_ERROR_NOT_FOUND,
  SBX_ERROR_REFUSED,
  SBX_ERROR_UNSUPPORTED,
  SBX_ERROR_NOT_ENFORCEABLE,
  SBX_ERROR_SETUP_FAILED,
  SBX_ERROR_CLOSED,
  SBX_ERROR_LOST,
  SBX_ERROR_TOO_LARGE,
  SBX_ERROR_BUSY,
  SBX_ERROR_UNANSWERED,
  SBX_ERROR_PROTOCOL,
  SBX_ERROR_PROVIDER,
  SBX_ERROR_PROVIDER_RETRYABLE,
} SbxError;

SBX_AVAILABLE_IN_1_0
GQuark sbx_error_quark (void);

G_END_DECLS
