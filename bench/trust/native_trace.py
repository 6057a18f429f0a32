# SPDX-License-Identifier: BSD-3-Clause

"""Writes one phase as a .poise file (docs/formats.md), so that `poise` reads the same programs as trust_replay."""

import struct
import zlib


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number % 128 + 128)
        number //= 128
    out.append(number)
    return bytes(out)


def signed(number):
    return varint(2 * number if number >= 0 else -2 * number - 1)


def section(tag, payload):
    rest = tag + struct.pack("<Q", len(payload)) + payload
    return struct.pack("<I", zlib.crc32(rest)) + rest


def column(name, data):
    return varint(len(name)) + name + varint(len(data)) + data


def message_columns(messages):
    """Returns the columns of messages, from rows [from, to, count, bytes of all count messages]."""
    columns = {b"from": b"", b"to": b"", b"count": b"", b"message_bytes": b""}
    before = 0
    for sender, receiver, count, size in messages:
        columns[b"from"] += signed(sender - before)
        columns[b"to"] += signed(receiver - sender)
        columns[b"count"] += varint(count)
        columns[b"message_bytes"] += varint(size)
        before = sender
    return b"".join(column(name, data) for name, data in columns.items())


def write(path, load_s, messages, places, num_places, task_bytes=0, overlap=0.0):
    """Writes tasks with their loads (in seconds), sizes and current places, and the messages between them. `overlap` is
    the share of communication that the program hides behind its work."""
    phase = varint(0) + struct.pack("<d", 0) + varint(len(load_s)) + varint(len(messages))
    phase += column(b"load_s", struct.pack(f"<{len(load_s)}d", *load_s))
    if task_bytes:
        phase += column(b"bytes", varint(task_bytes) * len(load_s))
    phase += column(b"place", b"".join(map(varint, places)))
    phase += message_columns(messages)
    if overlap:
        phase += column(b"communication", varint(0) + struct.pack("<d", overlap))
    with open(path, "wb") as file:
        file.write(b"\x89POISE\r\n" + struct.pack("<I", 1) + section(b"head", varint(num_places))
                   + section(b"phas", phase) + section(b"end ", varint(1)))
