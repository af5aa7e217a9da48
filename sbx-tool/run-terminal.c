/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include "run-terminal.h"

#include "run-pump.h"

#include "core/sbx-protection-private.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/*
 * The operator's terminal while a command has one of its own inside: raw, so that every key goes
 * through, and handed back as it was, whatever happened.
 *
 * What the command wrote may have switched the terminal into any mode, and may have asked it
 * something whose answer would land in the operator's shell. There is one terminal and there are
 * signal handlers that must find it, so all this is static.
 */

/* In an unknown state: ends a half-finished string without executing it, then goes back to text. */
#define TO_GROUND "\030\033\\"

/*
 * Everything that could be left on. No order here does anything to a terminal where it is off
 * already. To leave the alternate screen also goes back to the cursor position that was saved
 * before; to save it right here makes that a no-op on the main screen, and every screen has its
 * own. It also brings the cursor back after the scroll region's end moved it.
 */
#define RESET_MODES \
  TO_GROUND \
  "\033[?9l\033[?1000l\033[?1001l\033[?1002l\033[?1003l"  /* the mouse reports */ \
  "\033[?1005l\033[?1006l\033[?1015l\033[?1016l"          /* and how */ \
  "\033[?1004l\033[?2004l"                                /* focus reports; bracketed paste */ \
  "\033[?2026l\033[?2031l\033[?2048l"                     /* held output; colours, size reports */ \
  "\0337\033[?1049l\033[?1047l\033[?47l"                  /* the alternate screen */ \
  "\0337\033[=0u\0338"                                    /* keyboard protocols */ \
  "\0337\033[r\0338"                                      /* the scroll region */ \
  "\033[>4m\033[?1l\033>"                                 /* modified, cursor, keypad keys */ \
  "\033[?25h\033[?7h\033[?5l\033[4l"                      /* cursor, wrap, colours, insert */ \
  "\033(B\017\033[0m"                                     /* characters and their colours */

/* Every terminal answers this, and in the order it was asked. */
#define ASK_IDENTITY "\033[c"

#define ANSWER_MS 1000  /* for a terminal at the far end of a slow line */
#define QUIET_MS 30     /* after the answer: more of them, if the command asked the same */
#define WRITE_MS 1000

static struct
{
  int                   input_fd;
  int                   output_fd;
  int                   keyboard_fd;   /* a terminal: the input if that is one, else the output */
  int                   screen_fd;     /* a terminal: the output if that is one, else the input */
  struct termios        saved;
  guint                 opened : 1;
  guint                 has_keyboard : 1;
  volatile sig_atomic_t raw;           /* there is something to restore */
  volatile sig_atomic_t touched;       /* the command may have changed a mode or asked something */
} terminal = { .input_fd = -1, .output_fd = -1, .keyboard_fd = -1, .screen_fd = -1 };

/* FALSE if neither standard input nor standard output is a terminal. */
gboolean
tool_terminal_open (void)
{
  const gboolean can_read = isatty (STDIN_FILENO);
  const gboolean can_write = isatty (STDOUT_FILENO);

  if (!can_read && !can_write)
    return FALSE;

  terminal.input_fd = can_read ? tool_open_unblocked (STDIN_FILENO) : STDIN_FILENO;
  terminal.output_fd = can_write ? tool_open_unblocked (STDOUT_FILENO) : STDOUT_FILENO;
  terminal.keyboard_fd = can_read ? terminal.input_fd : terminal.output_fd;
  terminal.screen_fd = can_write ? terminal.output_fd : terminal.input_fd;
  terminal.has_keyboard = can_read;
  terminal.opened = TRUE;

  return TRUE;
}

int
tool_terminal_get_input_fd (void)
{
  return terminal.input_fd;
}

int
tool_terminal_get_output_fd (void)
{
  return terminal.output_fd;
}

void
tool_terminal_get_size (guint *rows,
                        guint *columns)
{
  struct winsize size = { 0 };

  if (ioctl (terminal.screen_fd, TIOCGWINSZ, &size) == -1 || size.ws_row == 0 || size.ws_col == 0)
    {
      size.ws_row = 24;
      size.ws_col = 80;
    }

  *rows = size.ws_row;
  *columns = size.ws_col;
}

static void
set_mode (const struct termios *mode,
          int                   when)
{
  while (tcsetattr (terminal.keyboard_fd, when, mode) == -1 && errno == EINTR)
    ;
}

static void
set_raw (gboolean keys)
{
  struct termios raw = terminal.saved;

  /* Keys that the command does not get must go on to mean what they do: ^C interrupts us. */
  if (keys)
    {
      cfmakeraw (&raw);
      raw.c_cc[VMIN] = 1;
      raw.c_cc[VTIME] = 0;
    }
  else
    {
      raw.c_lflag &= ~ECHO;
      raw.c_oflag &= ~OPOST;
    }

  set_mode (&raw, TCSADRAIN);
}

/* May run in a signal handler: nothing but system calls. */
static void
write_all (const char *text,
           gsize       length)
{
  struct pollfd poll_fd = { .fd = terminal.screen_fd, .events = POLLOUT };

  while (length > 0)
    {
      const ssize_t n = write (terminal.screen_fd, text, length);

      if (n > 0)
        {
          text += n;
          length -= n;
        }
      else if (n == -1 && errno == EAGAIN)
        {
          if (poll (&poll_fd, 1, WRITE_MS) == 0)
            return;
        }
      else if (n == -1 && errno != EINTR)
        {
          return;
        }
    }
}

static void
reset_modes (void)
{
  if (terminal.touched && SBX_PROTECTS (T17))
    write_all (RESET_MODES, sizeof RESET_MODES - 1);
}

/* The last resort, for a signal that is fatal and for exit(). */
static void
restore_now (void)
{
  sigset_t block, before;

  if (!terminal.raw)
    return;

  /* From the background this would stop us half way. */
  sigemptyset (&block);
  sigaddset (&block, SIGTTOU);
  pthread_sigmask (SIG_BLOCK, &block, &before);
  reset_modes ();
  tcsetattr (terminal.keyboard_fd, TCSAFLUSH, &terminal.saved);
  terminal.raw = 0;
  pthread_sigmask (SIG_SETMASK, &before, NULL);
}

static void
fatal_cb (int signal_number)
{
  restore_now ();

  /* The handler was for one time, so that this is the end. */
  raise (signal_number);
}

static void
restore_whatever_happens (void)
{
  static const int fatal[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGXCPU, SIGXFSZ,
                               SIGALRM, SIGUSR1, SIGUSR2 };
  struct sigaction action = { .sa_handler = fatal_cb, .sa_flags = SA_RESETHAND | SA_NODEFER };
  struct sigaction before;

  for (gsize i = 0; i < G_N_ELEMENTS (fatal); i++)
    if (sigaction (fatal[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction (fatal[i], &action, NULL);

  atexit (restore_now);
}

/* From now on every key goes to the command. INT, TERM, HUP, QUIT and TSTP are in other hands. */
void
tool_terminal_enter (void)
{
  if (!terminal.opened || terminal.raw || tcgetattr (terminal.keyboard_fd, &terminal.saved) == -1)
    return;

  restore_whatever_happens ();
  terminal.raw = 1;
  set_raw (terminal.has_keyboard);
}

/*
 * Output without a control character that starts something can neither change a mode nor ask a
 * question, and then the terminal is left in peace. In UTF-8 text the bytes of the second set of
 * control characters may mean something else, which does no harm.
 */
void
tool_terminal_see_output (const guint8 *data,
                          gsize         size)
{
  for (gsize i = 0; i < size && !terminal.touched; i++)
    terminal.touched = data[i] == 0x05 || data[i] == 0x0e || data[i] == 0x1b
                       || (data[i] >= 0x80 && data[i] < 0xa0);
}

/* Gives the terminal back for a while, and comes again with tool_terminal_resume(). */
void
tool_terminal_suspend (void)
{
  if (!terminal.raw)
    return;

  reset_modes ();
  set_mode (&terminal.saved, TCSADRAIN);
}

void
tool_terminal_resume (void)
{
  if (terminal.raw)
    set_raw (terminal.has_keyboard);
}

/* Feeds one byte of input; TRUE at the end of an answer to ASK_IDENTITY: ESC [ ? 6 2 ; … c */
static gboolean
is_identity (guint8 *state,
             guint8  byte)
{
  if (byte == 0x1b)
    *state = 1;
  else if (*state == 1 && byte == '[')
    *state = 2;
  else if (*state == 2 && byte == '?')
    *state = 3;
  else if (*state == 3 && byte == 'c')
    {
      *state = 0;
      return TRUE;
    }
  else if (*state != 3 || !(g_ascii_isdigit (byte) || byte == ';'))
    *state = 0;

  return FALSE;
}

/*
 * Takes what the terminal still answers to the command. The terminal answers in order, so that the
 * answer to a question of our own comes after all of those. One that never answers is waited for
 * only so long.
 */
static void
drain_answers (void)
{
  struct pollfd poll_fd = { .fd = terminal.keyboard_fd, .events = POLLIN };
  const gint64 deadline = g_get_monotonic_time () + ANSWER_MS * 1000;
  gboolean answered = FALSE;
  guint8 state = 0;
  guint8 bytes[256];

  write_all (ASK_IDENTITY, sizeof ASK_IDENTITY - 1);

  for (;;)
    {
      const int left_ms = (deadline - g_get_monotonic_time ()) / 1000;
      ssize_t n;

      if (left_ms <= 0 || poll (&poll_fd, 1, answered ? MIN (left_ms, QUIET_MS) : left_ms) <= 0)
        return;

      n = read (terminal.keyboard_fd, bytes, sizeof bytes);
      if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
        return;
      for (ssize_t i = 0; i < n; i++)
        answered = is_identity (&state, bytes[i]) || answered;
    }
}

/* Everything that the command wrote must have been written to the terminal before. */
void
tool_terminal_leave (void)
{
  if (!terminal.raw)
    return;

  if (!SBX_PROTECTS (T17))
    {
      terminal.raw = 0;
      set_mode (&terminal.saved, TCSADRAIN);
      return;
    }

  reset_modes ();
  if (terminal.touched)
    {
      set_raw (TRUE);
      drain_answers ();
    }
  terminal.touched = 0;
  restore_now ();
}
