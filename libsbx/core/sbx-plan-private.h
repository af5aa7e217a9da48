/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "core/sbx-plan.h"
#include "core/sbx-reach-private.h"

G_BEGIN_DECLS

/* What the files of the classes share, and what a provider fills them with. */

struct _SbxPlanEntry
{
  GObject      parent_instance;

  SbxPlanKind  kind;
  char        *path;          /* (nullable) inside, canonical; NULL of a domain */
  char        *source_path;   /* (nullable) on the host, or where a link points */
  char        *domain;        /* (nullable) */
  char        *reason;        /* why, for people */
  char        *source;        /* (nullable) which line asked for it, for people */
  gboolean     writable;      /* of a submount alone */
  gboolean     in_place;      /* of a socket: it is shown by what holds it, nothing is mounted */
};

struct _SbxPlan
{
  GObject     parent_instance;

  char       *cwd;
  SbxReach   *reach;                      /* (nullable) */
  GPtrArray  *entries;                    /* (element-type SbxPlanEntry) */
  GHashTable *covering;                   /* path of an entry -> 1 + the place of the last one
                                           * there that covers what was seen before */
  GHashTable *named;                      /* the same of those seen at their very path */
  GPtrArray  *problems;                   /* of owned texts, ends in %NULL */
  guint64     limits[SBX_N_LIMITS];       /* 0 for none */
  char       *means[SBX_N_LIMITS];        /* (nullable) */
};

/* A plan never changes once others have it: all of these are for whoever makes it. */
SbxPlan      *_sbx_plan_new         (const char   *cwd,
                                     SbxReach     *reach);
SbxPlanEntry *_sbx_plan_add         (SbxPlan      *self,
                                     SbxPlanKind   kind,
                                     const char   *path,
                                     const char   *source_path,
                                     const char   *reason,
                                     const char   *source);
SbxPlanEntry *_sbx_plan_add_domain  (SbxPlan      *self,
                                     const char   *domain,
                                     const char   *reason,
                                     const char   *source);
void          _sbx_plan_add_problem (SbxPlan      *self,
                                     const char   *problem);
void          _sbx_plan_set_limit   (SbxPlan      *self,
                                     SbxLimit      limit,
                                     guint64       value,
                                     const char   *means);

/* For finding what was just added. */
void          _sbx_plan_note        (SbxPlan      *self,
                                     SbxPlanEntry *entry);

SbxPlanEntry *_sbx_plan_entry_new   (SbxPlanKind   kind,
                                     const char   *reason,
                                     const char   *source);

G_END_DECLS
