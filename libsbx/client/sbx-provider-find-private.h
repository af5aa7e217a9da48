/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Where a provider was found, and how to start it. */
typedef struct
{
  char   *origin;         /* the key file or the program; %NULL when there is none */
  char  **argv;           /* %NULL where there is a problem */
  char  **environment;    /* NAME=VALUE; perhaps empty */
  GError *problem;
} SbxProviderFound;

void       _sbx_provider_found_clear   (SbxProviderFound *found);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxProviderFound, _sbx_provider_found_clear)

/* Names are made of a to z, 0 to 9 and, though not at the ends, "-". */
gboolean   _sbx_provider_name_is_valid (const char       *name);

/* Fills in @found, which is empty. What is found first decides: where it cannot be used there is a
 * problem, and nothing else is looked at. FALSE when there is nothing of that name. */
gboolean   _sbx_provider_find          (const char       *name,
                                        SbxProviderFound *found);

/* All names that something is found for, sorted. */
GPtrArray *_sbx_provider_list_names    (void);

G_END_DECLS
