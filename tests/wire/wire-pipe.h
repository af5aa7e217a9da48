/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include "test-util.h"
#include "wire/sbx-wire-reader-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

G_BEGIN_DECLS

/* A reader on one end of a pipe, and what it told. */
typedef struct
{
  SbxWireReader *reader;
  int            fd;            /* the other end */
  int            read_fd;       /* the reader's, for a child to close */
  GPtrArray     *lines;         /* SbxWireLine */
  gboolean       ended;
  GError        *error;
  /* Called after each line, if there is one. */
  void         (*after) (gpointer self);
  gpointer       data;
} WirePipe;

static inline void
wire_pipe_line_cb (SbxWireReader *reader,
                   SbxWireLine   *line,
                   gpointer       user_data)
{
  WirePipe *self = user_data;

  g_assert_true (reader == self->reader);
  g_assert_false (self->ended);
  g_ptr_array_add (self->lines, _sbx_wire_line_ref (line));

  if (self->after != NULL)
    self->after (self);
}

static inline void
wire_pipe_end_cb (SbxWireReader *reader,
                  const GError  *error,
                  gpointer       user_data)
{
  WirePipe *self = user_data;

  g_assert_false (self->ended);
  self->ended = TRUE;
  self->error = error != NULL ? g_error_copy (error) : NULL;
}

static inline void
wire_pipe_init (WirePipe *self,
                gsize     max_size)
{
  g_autoptr(GError) error = NULL;
  int fds[2];

  g_unix_open_pipe (fds, FD_CLOEXEC, &error);
  g_assert_no_error (error);

  *self = (WirePipe) { .fd = fds[1], .read_fd = fds[0] };
  self->lines = g_ptr_array_new_with_free_func ((GDestroyNotify) _sbx_wire_line_unref);
  self->reader = _sbx_wire_reader_new (fds[0], NULL, max_size, wire_pipe_line_cb, wire_pipe_end_cb,
                                       self);
}

static inline void
wire_pipe_close (WirePipe *self)
{
  close (self->fd);
  self->fd = -1;
}

static inline void
wire_pipe_clear (WirePipe *self)
{
  if (self->fd >= 0)
    close (self->fd);

  g_clear_pointer (&self->reader, _sbx_wire_reader_free);
  g_clear_pointer (&self->lines, g_ptr_array_unref);
  g_clear_error (&self->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (WirePipe, wire_pipe_clear)

/* The pipe must have room for it. */
static inline void
wire_pipe_write (WirePipe   *self,
                 const char *bytes,
                 gsize       n)
{
  g_assert_cmpint (write (self->fd, bytes, n), ==, n);
}

static inline void
wire_pipe_write_text (WirePipe   *self,
                      const char *text)
{
  wire_pipe_write (self, text, strlen (text));
}

static inline SbxWireLine *
wire_pipe_get (WirePipe *self,
               guint     i)
{
  g_assert_cmpuint (i, <, self->lines->len);

  return g_ptr_array_index (self->lines, i);
}

/* Whether line @i is a JSON object with that "id". */
static inline void
wire_pipe_assert_id (WirePipe   *self,
                     guint       i,
                     const char *id)
{
  SbxWireLine *line = wire_pipe_get (self, i);
  const char *value = NULL;

  g_assert_no_error (_sbx_wire_line_get_error (line));
  g_assert_cmpint (_sbx_json_object_get_string (_sbx_wire_line_get_object (line), "id", &value), ==,
                   SBX_JSON_PRESENT);
  g_assert_cmpstr (value, ==, id);
}

/* Dispatches all that is ready. */
static inline void
wire_pipe_settle (void)
{
  for (int i = 0; i < 5; i++)
    while (g_main_context_iteration (NULL, FALSE))
      ;
}

/* The value of a line of /proc/self/status, in KiB. */
static inline gsize
wire_pipe_memory (const char *name)
{
  g_autofree char *status = NULL;
  const char *at;

  g_assert_true (g_file_get_contents ("/proc/self/status", &status, NULL, NULL));
  at = strstr (status, name);
  g_assert_nonnull (at);

  return (gsize) g_ascii_strtoull (at + strlen (name) + 1, NULL, 10);
}

/* Whether the memory of this process is what the library takes: sanitizers and valgrind keep what
 * was freed, and have a shadow of everything. */
static inline gboolean
memory_is_ours (void)
{
#if defined (__SANITIZE_ADDRESS__)
  return FALSE;
#elif defined (__has_feature)
#if __has_feature (address_sanitizer)
  return FALSE;
#endif
#endif

  return g_getenv ("LD_PRELOAD") == NULL || strstr (g_getenv ("LD_PRELOAD"), "vgpreload") == NULL;
}

/* A child that writes @count blocks of @block, after @head. */
static inline pid_t
spawn_writer (WirePipe   *pipe,
              const char *head,
              const char *block,
              gsize       count,
              const char *tail)
{
  const pid_t pid = fork ();

  if (pid == 0)
    {
      gboolean good;

      close (pipe->read_fd);
      good = write (pipe->fd, head, strlen (head)) == (gssize) strlen (head);

      for (gsize i = 0; good && i < count; i++)
        good = write (pipe->fd, block, strlen (block)) == (gssize) strlen (block);

      if (good)
        good = write (pipe->fd, tail, strlen (tail)) == (gssize) strlen (tail);

      _exit (good ? 0 : 1);
    }

  g_assert_cmpint (pid, >, 0);
  wire_pipe_close (pipe);

  return pid;
}

static inline void
reap (pid_t pid)
{
  int status;

  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
}

G_END_DECLS
