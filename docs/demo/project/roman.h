/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#pragma once

#include <stddef.h>

/* Enough for 3888, the longest one, and its end. */
#define ROMAN_SIZE 16

int roman_format (int     number,
                  char   *out,
                  size_t  size);
