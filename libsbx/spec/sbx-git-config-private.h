/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A reader for git's configuration, for what names other files. Parses, and follows nothing. */

/* A larger one is not read. */
#define SBX_GIT_CONFIG_MAX (1024 * 1024)

/* @section and @key are in lower case; @subsection and @value may be %NULL. Returns whether to go
 * on. */
typedef gboolean (*SbxGitConfigFunc) (const char *section,
                                      const char *subsection,
                                      const char *key,
                                      const char *value,
                                      gpointer    data);

/* Git refuses a file that has an error. Here the line is passed over, and the rest counts: what is
 * found is only ever protected, or looked at. */
void    _sbx_git_config_parse (const char       *text,
                               gsize             size,
                               SbxGitConfigFunc  func,
                               gpointer          data);

/* One that is not there is empty; one that is no file, or larger than the maximum, is an error. */
GBytes *_sbx_git_config_read  (int               dir_fd,
                               const char       *name,
                               GCancellable     *cancellable,
                               GError          **error);

/* The path that @value of a configuration in @base stands for: "~/" is the operator's home. %NULL
 * for what names nothing. ".." is taken away by the text alone. */
char   *_sbx_git_config_path  (const char       *value,
                               const char       *base);

G_END_DECLS
