#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the gate with the JSON of Python, made strict, on generated texts."""

import json
import math
import random
import struct
import subprocess
import sys

COUNT = 20000
MAX_DEPTH = 64
MAX_NUMBER = 128

PIECES = [
    b'"', b"\\", b"{", b"}", b"[", b"]", b":", b",", b" ", b"\n", b"0", b"1", b"-", b".", b"e", b"E", b"+",
    b"true", b"false", b"null", b"NaN", b"Infinity", b"\\u", b"\\ud83d\\ude00", b"\\ud800", b"\\u0000", b"\\n",
    b"\xc3\xa9", b"\xe2\x82\xac", b"\xed\xa0\x80", b"\xff", b"\x00", b"\x1f", b"\x7f", b"/*", b"//", b"'", b"a",
    b"9223372036854775807", b"9223372036854775808", b"1e400", b"1e308", b'"a":', b'"b":', b"\xef\xbb\xbf", b"\xc2\xa0",
]


class Refused(Exception):
    pass


def pairs(members):
    result = dict(members)
    if len(result) != len(members):
        raise Refused("a name twice")
    return result


def integer(text):
    value = int(text)
    if len(text) > MAX_NUMBER or not -2**63 <= value < 2**63:
        raise Refused("an integer too large")
    return value


def real(text):
    value = float(text)
    if len(text) > MAX_NUMBER or not math.isfinite(value):
        raise Refused("a number too large")
    return value


def word(text):
    raise Refused(text)


def check(value, depth):
    if isinstance(value, str) and ("\0" in value or any("\ud800" <= c <= "\udfff" for c in value)):
        raise Refused("a character that may not be")
    if isinstance(value, (dict, list)) and depth >= MAX_DEPTH:
        raise Refused("too deep")
    if isinstance(value, dict):
        for name, member in value.items():
            check(name, depth + 1)
            check(member, depth + 1)
    if isinstance(value, list):
        for element in value:
            check(element, depth + 1)


def expected(text):
    """What Python reads, or None if a strict reader must refuse it."""
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=pairs, parse_int=integer, parse_float=real,
                           parse_constant=word)
        check(value, 0)
        return (value,)
    except (ValueError, Refused, RecursionError):
        return None


def make_value(rng, depth):
    kind = rng.randrange(8 if depth < 5 else 6)
    if kind == 0:
        return rng.choice([True, False, None])
    if kind == 1:
        return rng.choice([0, -1, 7, 2**31, 2**63 - 1, -2**63, rng.randrange(-10**6, 10**6)])
    if kind == 2:
        return rng.choice([0.5, -1.25, 1e300, 5e-324, rng.uniform(-1e6, 1e6), rng.random()])
    if kind < 6:
        return "".join(rng.choice('abc"\\/\n\t\x01\x7fé€😀 \u2028') for _ in range(rng.randrange(20)))
    if kind == 6:
        return [make_value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {str(rng.randrange(100)): make_value(rng, depth + 1) for _ in range(rng.randrange(5))}


def make_text(rng):
    if rng.randrange(4) == 0:
        return b"".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 9)))
    text = bytearray(json.dumps(make_value(rng, 0), ensure_ascii=rng.random() < 0.5,
                                indent=rng.choice([None, 1])).encode())
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        at = rng.randrange(len(text) + 1)
        change = rng.randrange(3)
        if change == 0:
            text[at:at] = rng.choice(PIECES)
        elif change == 1:
            del text[at:at + rng.randrange(1, 4)]
        else:
            text[at:at + 1] = bytes([rng.randrange(256)])
    return bytes(text)


def main():
    rng = random.Random(20)
    texts = [make_text(rng) for _ in range(COUNT)]
    texts += [b"[" * n + b"]" * n for n in (63, 64, 65, 200)]
    sent = b"".join(struct.pack("=I", len(text)) + text for text in texts)
    answer = subprocess.run([sys.argv[1]], input=sent, stdout=subprocess.PIPE, check=True).stdout
    # Not splitlines(), which takes more than a newline for one.
    lines = answer.decode("utf-8").split("\n")[:-1]
    assert len(lines) == len(texts), (len(lines), len(texts))

    taken = 0
    for text, line in zip(texts, lines):
        want = expected(text)
        got = None if line == "-" else (json.loads(line),)
        taken += want is not None
        if repr(want) != repr(got):
            sys.exit(f"{text!r}: the gate says {got!r}, Python {want!r}")

    print(f"{len(texts)} texts, {taken} of them JSON: the same verdicts")
    # A corpus that is all of one kind would show nothing.
    assert COUNT / 5 < taken < COUNT * 4 / 5, taken


main()
