/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <json-glib/json-glib.h>
#include <gio/gio.h>

G_BEGIN_DECLS

/* What a line that is kept has at most, after the scanner shortened it. */
#define SBX_CUT_MAX_LINE (4 * 1024 * 1024)

/*
 * SbxCutScanner:
 *
 * Takes a stream apart into lines as it comes, and shortens what is long in them on the way, so
 * that a line of any size takes little memory: a string of more than some thousand bytes becomes
 * the marker that stands for it.
 */
typedef struct
{
  GString  *line;           /* so far */
  guint64   dropped;        /* what did not fit in it */
  gboolean  in_string;
  gboolean  escaped;
  gsize     string_start;   /* in @line, behind the quotation mark */
  guint64   string_size;
  guint64   n_base64;       /* leading bytes that are base64's */
  guint     n_padding;
  gboolean  not_base64;
} SbxCutScanner;

/* Called for each line, which has neither newline nor carriage return; blank ones are left out. */
typedef void (*SbxCutLineFunc) (GBytes   *line,
                                guint64   dropped,
                                gpointer  user_data);

void        _sbx_cut_scanner_feed    (SbxCutScanner   *self,
                                      const char      *data,
                                      gsize            size,
                                      SbxCutLineFunc   func,
                                      gpointer         user_data);
/* What is left without a newline is a line. */
void        _sbx_cut_scanner_finish  (SbxCutScanner   *self,
                                      SbxCutLineFunc   func,
                                      gpointer         user_data);
void        _sbx_cut_scanner_clear   (SbxCutScanner   *self);

/* Takes out of a message all that is not known to be harmless. */
JsonNode   *_sbx_cut_message         (JsonNode        *node);
/* Makes a text of which only the shape is left: of every byte it is still seen what kind it is of.
 * It is UTF-8, and _sbx_cut_unmask() makes bytes of it again. */
char       *_sbx_cut_mask            (const char      *text,
                                      gsize            size);
GBytes     *_sbx_cut_unmask          (const char      *text);

/* A copy that may be changed, with something of the same size in the place of every marker, as far
 * as @budget goes, which is made smaller by what was used. */
JsonNode   *_sbx_cut_fill            (JsonNode        *node,
                                      gsize           *budget);

/* A line as it stands in a record; @line is as the scanner gives it. */
GBytes     *_sbx_cut_make_line       (GBytes          *line,
                                      guint64          dropped);
/* One entry of a record, with its newline; @line is as the scanner gives it. */
GBytes     *_sbx_cut_make_entry      (const char      *from,
                                      gint64           t_ms,
                                      GBytes          *line,
                                      guint64          dropped);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SbxCutScanner, _sbx_cut_scanner_clear)

G_END_DECLS
