/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/*
 * A provider that speaks sandbox.v1 and can be told to misbehave, for the tests of those who have
 * to live with it: fake-provider [OPTION[=VALUE],…] serve. README.md has the options.
 */

/* A piece of a text, which is not terminated. */
typedef struct
{
  const char *data;     /* NULL: there is no such thing */
  gsize       size;
} FakeText;

/* fake-json.c: just enough to read what a client that is not under test would never get wrong. */
FakeText    fake_json_member     (FakeText    object,
                                  const char *name);
/* The element at or after @position, which moves behind it. */
FakeText    fake_json_element    (FakeText    array,
                                  gsize      *position);
char       *fake_json_string     (FakeText    value);
void        fake_json_append     (GString    *text,
                                  const char *value);

typedef struct
{
  FakeText    line;
  char       *id;
  char       *method;
  FakeText    params;
} FakeRequest;

/* fake-options.c */
void        fake_options_set     (const char *text);
const char *fake_option          (const char *name);
gint64      fake_option_number   (const char *name,
                                  gint64      otherwise);
gboolean    fake_option_is       (const char *name,
                                  const char *value);
/* Whether the option names @method, or all methods. */
gboolean    fake_option_for      (const char *name,
                                  const char *method);

/* fake-lines.c: what goes out. */
void        fake_write           (int         fd,
                                  const void *bytes,
                                  gsize       size);
void        fake_send            (const char *line,
                                  gsize       size);
void        fake_send_event      (FakeRequest *request,
                                  const char  *type,
                                  const void  *bytes,
                                  gsize        size);
void        fake_send_kind       (FakeRequest *request,
                                  const char  *kind);
void        fake_answer          (FakeRequest *request,
                                  const char  *result);
void        fake_answer_error    (FakeRequest *request,
                                  const char  *code,
                                  const char  *message,
                                  gboolean     retryable);
/* NULL where it is none, and with "lax-base64" what GLib makes of it. */
guchar     *fake_decode_base64   (const char  *text,
                                  gsize       *size);
void        fake_append_base64   (GString     *text,
                                  const void  *bytes,
                                  gsize        size);
/* A value that is no base64, with its quotation marks; or NULL where none was asked for. */
const char *fake_broken_base64   (void);
void        fake_flood           (void);
void        fake_share_output    (void);
void        fake_lock_output     (gboolean     locked);

/* fake-end.c: how it ends, and how it does not. */
G_NORETURN
void        fake_die             (void);
G_NORETURN
void        fake_hang            (void);
void        fake_leave_heir      (void);

/* fake-exec.c */
void        fake_exec            (FakeRequest *request,
                                  const char  *cwd);
void        fake_spawn           (FakeRequest *request,
                                  const char  *cwd);
void        fake_end_spawned     (void);
G_NORETURN
void        fake_leave           (void);

/* fake-methods.c */
void        fake_handle          (FakeRequest *request);

G_END_DECLS
