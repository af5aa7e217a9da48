/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "conformance/sbx-conformance-check.h"
#include "conformance/sbx-conformance-peer-private.h"
#include "json/sbx-json-private.h"

G_BEGIN_DECLS

/* What a run is about; read by the thread of the checks alone. */
typedef struct
{
  char          **argv;
  char           *provider;       /* the two halves of the profile's name */
  char           *profile;
  char           *workspace;
  char           *group;          /* that all sessions are of; needs no escaping */
  guint           timeout_ms;     /* of each exchange */
  GCancellable   *cancellable;
} SbxConformancePlan;

/*
 * SbxTrial:
 *
 * A check at work: the provider, a session in it, and what was found out. All of it is in the
 * thread of the checks, whose functions wait for the provider, and never longer than the time-out.
 */
typedef struct
{
  const SbxConformancePlan *plan;
  SbxPeer   *peer;            /* or %NULL until one is needed */
  JsonNode  *session_node;    /* or %NULL */
  char      *session;         /* the same as text */
  char      *cwd;             /* of the session; empty where it says nothing */
  gboolean   exec;            /* was advertised */
  GStrv      features;
  guint64    last_id;
  gboolean   spoilt;          /* the provider is not fit for a further check */
  gboolean   silent;          /* in this check it did not answer in time */
  guint      n_silent;        /* checks in a row in which it did not */

  /* Of the check. */
  char      *problem;         /* failed */
  char      *reason;          /* skipped */
  GBytes    *sent;
  GBytes    *received;

  /* Of the run: lines that were nobody's. */
  guint      n_strays;
  GBytes    *stray;
} SbxTrial;

/* A final reply, and the events before it, or also those after it. */
typedef struct
{
  char        *id;          /* of the request; set by _sbx_trial_begin() */
  gboolean     follow;      /* events may come after the reply */
  gboolean     lossy;       /* events are counted and not kept */
  JsonNode    *node;        /* %NULL until it has come */
  JsonObject  *object;      /* the line */
  JsonObject  *result;      /* or %NULL; {} where the line says null or nothing */
  const char  *code;        /* of an error, or %NULL */
  const char  *message;
  GPtrArray   *events;      /* of JsonNode, objects all */
  guint64      n_events;
  gint64       first_event; /* when it came, or 0 */
  gint64       time;        /* when the reply came */
} SbxReply;

void        _sbx_reply_clear          (SbxReply        *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxReply, _sbx_reply_clear)

/* Makes sure that there is a provider, and a session in it; otherwise the check has failed. */
gboolean    _sbx_trial_start          (SbxTrial        *self);
gboolean    _sbx_trial_open           (SbxTrial        *self);
/* Ends the provider. */
void        _sbx_trial_stop           (SbxTrial        *self);
/* Forgets the check that was. */
void        _sbx_trial_reset          (SbxTrial        *self);
void        _sbx_trial_clear          (SbxTrial        *self);

gboolean    _sbx_trial_has_feature    (SbxTrial        *self,
                                       const char      *feature);

/* The first problem counts. These return %FALSE, always. */
gboolean    _sbx_trial_fail           (SbxTrial        *self,
                                       const char      *format,
                                       ...) G_GNUC_PRINTF (2, 3);
gboolean    _sbx_trial_skip           (SbxTrial        *self,
                                       const char      *format,
                                       ...) G_GNUC_PRINTF (2, 3);
/* Fails unless @condition. */
gboolean    _sbx_trial_expect         (SbxTrial        *self,
                                       gboolean         condition,
                                       const char      *format,
                                       ...) G_GNUC_PRINTF (3, 4);

gint64      _sbx_trial_deadline       (SbxTrial        *self);

/*
 * @format makes JSON, with ' in place of ". Afterwards $S is the session, $W the workspace, $P and
 * $N the provider's and the profile's name, $G the group and $M the metadata, as JSON. What is put
 * in must have none of these signs, or come from _sbx_trial_quote().
 */
char       *_sbx_trial_expand         (SbxTrial        *self,
                                       const char      *format,
                                       ...) G_GNUC_PRINTF (2, 3);
/* A JSON string that survives the expansion. */
char       *_sbx_trial_quote          (const char      *text);
char       *_sbx_trial_quote_base64   (GBytes          *bytes);

/* Sends a line as it is; a newline is added. */
void        _sbx_trial_send_line      (SbxTrial        *self,
                                       const char      *line);
void        _sbx_trial_send_bytes     (SbxTrial        *self,
                                       GBytes          *bytes);
/* Sends a request and returns its id. */
char       *_sbx_trial_send           (SbxTrial        *self,
                                       const char      *method,
                                       const char      *format,
                                       ...) G_GNUC_PRINTF (3, 4);

/* The final reply to @id. Messages for other ids are counted as strays. */
gboolean    _sbx_trial_receive        (SbxTrial        *self,
                                       const char      *id,
                                       SbxReply        *reply);

/* Sends a request whose reply is waited for later. */
gboolean    _sbx_trial_begin          (SbxTrial        *self,
                                       SbxReply        *reply,
                                       const char      *method,
                                       const char      *format,
                                       ...) G_GNUC_PRINTF (4, 5);
/* Takes the next message, which must be for one of @replies, or is a stray. %NULL ends them. */
gboolean    _sbx_trial_step           (SbxTrial        *self,
                                       SbxReply       **replies,
                                       gint64           deadline);
/* Waits until @reply, one of @replies, has come. */
gboolean    _sbx_trial_finish         (SbxTrial        *self,
                                       SbxReply       **replies,
                                       SbxReply        *reply);
/* The same for an event of @type; the first one that it has. */
JsonObject *_sbx_trial_wait_event     (SbxTrial        *self,
                                       SbxReply       **replies,
                                       SbxReply        *reply,
                                       const char      *type);

/* Sends, receives, and wants a result. */
gboolean    _sbx_trial_call           (SbxTrial        *self,
                                       SbxReply        *reply,
                                       const char      *method,
                                       const char      *format,
                                       ...) G_GNUC_PRINTF (4, 5);
/* Sends, receives, and wants an error. */
gboolean    _sbx_trial_refused        (SbxTrial        *self,
                                       SbxReply        *reply,
                                       const char      *method,
                                       const char      *format,
                                       ...) G_GNUC_PRINTF (4, 5);
/* Sends, receives, and takes either. */
gboolean    _sbx_trial_answered       (SbxTrial        *self,
                                       SbxReply        *reply,
                                       const char      *method,
                                       const char      *format,
                                       ...) G_GNUC_PRINTF (4, 5);
/* The provider still works: it answers the simplest of all requests. */
gboolean    _sbx_trial_is_alive       (SbxTrial        *self);

/* Members of a reply; they fail the check where the member is not as it should be. */
gboolean    _sbx_trial_get_string     (SbxTrial        *self,
                                       JsonObject      *object,
                                       const char      *name,
                                       const char     **value);
gboolean    _sbx_trial_get_int        (SbxTrial        *self,
                                       JsonObject      *object,
                                       const char      *name,
                                       gint64          *value);
/* Strict base64, (transfer full). */
gboolean    _sbx_trial_get_payload    (SbxTrial        *self,
                                       JsonObject      *object,
                                       const char      *name,
                                       GBytes         **value);

G_END_DECLS
