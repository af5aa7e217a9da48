/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sbx.h>

#include "test-util.h"

G_BEGIN_DECLS

/*
 * A server in the test's own process, with pipes to it on which the test is the client: what it
 * sends and what it gets are lines as they are on the wire.
 */

/* What its provider opens: files in memory, and commands as plain children. */
#define TEST_TYPE_MEMORY_SESSION (test_memory_session_get_type ())
G_DECLARE_FINAL_TYPE (TestMemorySession, test_memory_session, TEST, MEMORY_SESSION, SbxSession)

struct _TestMemorySession
{
  SbxSession     parent_instance;

  SbxSession    *child;           /* what runs the commands */
  GHashTable    *files;           /* path -> GBytes */
  GPtrArray     *kept;            /* of calls on a path that starts with “keep” */
  SbxInvocation *kept_close;
  gboolean       keep_close;
  guint          n_reads;         /* that have begun */
  guint          n_lists;
};

#define TEST_TYPE_MEMORY_PROVIDER (test_memory_provider_get_type ())
G_DECLARE_FINAL_TYPE (TestMemoryProvider, test_memory_provider, TEST, MEMORY_PROVIDER, GObject)

struct _TestMemoryProvider
{
  GObject             parent_instance;

  TestMemorySession  *session;    /* the one that was opened last */
  SbxInvocation      *kept;       /* of profile “keep” */
  GString            *cleaned;    /* groups, each with a space */
  guint               n_to_clean;
  SbxOpenRequest     *request;
};

typedef struct
{
  TestMemoryProvider *provider;
  SbxProviderServer  *server;
  GCancellable       *cancellable;
  GAsyncResult       *ended;
  int                 request_fd;
  int                 reply_fd;
  guint               watch;
  GString            *received;
} Place;

Place *place_new           (void);
/* Does not run yet. */
Place *place_new_idle      (void);
void   place_run           (Place       *self);
void   place_free          (Place       *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Place, place_free)

/* Sends the line, with a newline. */
void   place_send          (Place       *self,
                            const char  *line);
void   place_send_bytes    (Place       *self,
                            const void  *bytes,
                            gsize        size);
/* The next line, without its newline. */
char  *place_receive       (Place       *self);
gboolean place_has_line    (Place       *self);
/* The client stops reading, and reads again. */
void   place_stop_reading  (Place       *self);
void   place_read_on       (Place       *self);
/* Closes the requests, waits for the end of the run, and checks how that was. */
void   place_close         (Place       *self);
void   place_wait          (Place       *self);
/* Opens a session, whose id is returned. */
char  *place_open          (Place       *self);
/* Sends @line with the session that @session_id is of for the $S in it. */
void   place_send_to       (Place       *self,
                            const char  *session_id,
                            const char  *line);

/* The lines that come next. */
#define place_expect(self, line) \
  G_STMT_START { \
    g_autofree char *place_line = place_receive (self); \
    g_assert_cmpstr (place_line, ==, line); \
  } G_STMT_END

/* A line in any other than its message is this. */
#define place_expect_error(self, id, code) \
  G_STMT_START { \
    g_autofree char *place_line = place_receive (self); \
    const char *place_start = "{\"id\":\"" id "\",\"error\":{\"code\":\"" code "\"," \
                              "\"message\":\""; \
    if (!g_str_has_prefix (place_line, place_start)) \
      g_error ("Got %s instead of %s", place_line, place_start); \
  } G_STMT_END

#define OPEN_LINE(id, profile, group) \
  "{\"id\":\"" id "\",\"method\":\"open\",\"params\":{\"metadata\":{\"protocol_version\":" \
  "\"sandbox.v1\",\"request_id\":\"r\",\"sandbox_group_id\":\"" group "\"},\"profile\":" \
  "{\"provider\":\"memory\",\"name\":\"" profile "\"},\"workspace_sync\":{\"host_path\":" \
  "\"/work\"}}}"

G_END_DECLS
