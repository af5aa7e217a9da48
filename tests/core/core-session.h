/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <sbx.h>

#include "test-util.h"

G_BEGIN_DECLS

/*
 * A provider and a session as an application would write them, through public API alone. What they
 * do with a call is a function that the test chooses.
 */

typedef struct _TestSession TestSession;
typedef struct _TestProvider TestProvider;

/* What to do with a call; @owner is the session, or the provider. */
typedef gboolean (*TestBehaviour) (GObject       *owner,
                                   SbxInvocation *invocation);

struct _TestSession
{
  SbxSession     parent_instance;

  TestBehaviour  behaviour;
  TestBehaviour  close_behaviour;
  SbxInvocation *kept;              /* the call that was kept last */
  GString       *calls;             /* their names, each with a space */
  char          *path;              /* of the last call */
  char          *new_path;
  GBytes        *content;
  guint64        max_size;
  guint64        offset;
  gboolean       truncate;
  guint          mode;
};

struct _TestProvider
{
  GObject         parent_instance;

  TestBehaviour   behaviour;
  TestSession    *session;          /* what it opens */
  SbxInvocation  *kept;
  SbxOpenRequest *request;
  guint           n_opens;
};

#define TEST_TYPE_SESSION (test_session_get_type ())
G_DECLARE_FINAL_TYPE (TestSession, test_session, TEST, SESSION, SbxSession)

#define TEST_TYPE_PROVIDER (test_provider_get_type ())
G_DECLARE_FINAL_TYPE (TestProvider, test_provider, TEST, PROVIDER, GObject)

/* Without a single function of its own. */
#define TEST_TYPE_BARE_SESSION (test_bare_session_get_type ())
G_DECLARE_FINAL_TYPE (TestBareSession, test_bare_session, TEST, BARE_SESSION, SbxSession)
#define TEST_TYPE_BARE_PROVIDER (test_bare_provider_get_type ())
G_DECLARE_FINAL_TYPE (TestBareProvider, test_bare_provider, TEST, BARE_PROVIDER, GObject)

#define TEST_ALL_CAPABILITIES \
  (SBX_CAPABILITIES_EXEC | SBX_CAPABILITIES_SPAWN | SBX_CAPABILITIES_STDIN | \
   SBX_CAPABILITIES_SIGNALS | SBX_CAPABILITIES_TERMINAL | SBX_CAPABILITIES_FILES | \
   SBX_CAPABILITIES_LISTING | SBX_CAPABILITIES_START | SBX_CAPABILITIES_RANGES | \
   SBX_CAPABILITIES_MOVING)

TestSession  *test_session_new      (TestBehaviour  behaviour);
TestProvider *test_provider_new     (TestBehaviour  behaviour);

/* The answer that a call of its kind succeeds with. */
void          test_answer           (GObject       *owner,
                                     SbxInvocation *invocation);

gboolean      test_answer_at_once   (GObject       *owner,
                                     SbxInvocation *invocation);
gboolean      test_keep             (GObject       *owner,
                                     SbxInvocation *invocation);
gboolean      test_drop             (GObject       *owner,
                                     SbxInvocation *invocation);
gboolean      test_refuse           (GObject       *owner,
                                     SbxInvocation *invocation);
gboolean      test_answer_and_refuse (GObject      *owner,
                                     SbxInvocation *invocation);
/* Keeps the call and answers it, as an implementation does that honours cancelling, when its
 * cancellable is cancelled: commands as ended by a signal, all else with that error. */
gboolean      test_honour           (GObject       *owner,
                                     SbxInvocation *invocation);
/* Runs a main loop of its own until it has answered from there. */
gboolean      test_answer_in_loop   (GObject       *owner,
                                     SbxInvocation *invocation);
/* Says that the command runs, and keeps it. */
gboolean      test_start_and_keep   (GObject       *owner,
                                     SbxInvocation *invocation);

/* One call of an asynchronous method, which calls back once and not before it has returned. */
typedef struct
{
  gboolean      returned;
  GAsyncResult *result;
} TestCall;

void          test_call_cb          (GObject       *object,
                                     GAsyncResult  *result,
                                     gpointer       user_data);
void          test_call_clear       (TestCall      *call);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TestCall, test_call_clear)

/* The asynchronous verbs, all in one shape. */
typedef struct
{
  const char *name;
  void      (*begin) (TestProvider        *provider,
                      GCancellable        *cancellable,
                      TestCall            *call);
  gboolean  (*end)   (TestCall            *call,
                      GError             **error);
  gboolean  (*sync)  (TestProvider        *provider,
                      GCancellable        *cancellable,
                      GError             **error);
} TestVerb;

/* Ends in one without a name. */
extern const TestVerb test_verbs[];

/* Where a call of the verb is kept. */
SbxInvocation **test_verb_kept      (const TestVerb *verb,
                                     TestProvider   *provider);
void          test_verb_begin       (const TestVerb *verb,
                                     TestProvider   *provider,
                                     GCancellable   *cancellable,
                                     TestCall       *call);
void            test_verb_assert_error   (const TestVerb *verb,
                                          TestCall       *call,
                                          GQuark          domain,
                                          int             code);
void            test_verb_assert_success (const TestVerb *verb,
                                          TestCall       *call);

/* Lets everything run that can run now. */
void          test_run_ready        (void);

SbxCommand   *test_command          (const char     *first,
                                     ...) G_GNUC_NULL_TERMINATED;

static inline gboolean
test_wake_cb (gpointer user_data)
{
  return G_SOURCE_CONTINUE;
}

/* For a condition that no source of the main loop tells about. */
#define test_poll_for(condition) \
  G_STMT_START { \
    const guint test_wake = g_timeout_add (1, test_wake_cb, NULL); \
    test_wait_for (condition); \
    g_source_remove (test_wake); \
  } G_STMT_END

#define test_assert_bytes(bytes, text) \
  G_STMT_START { \
    gsize test_size; \
    const char *test_data = g_bytes_get_data ((bytes), &test_size); \
    g_assert_cmpmem (test_data, test_size, (text), strlen (text)); \
  } G_STMT_END

G_END_DECLS
