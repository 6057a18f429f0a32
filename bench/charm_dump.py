# SPDX-License-Identifier: BSD-3-Clause

"""Rewrites LB dumps of Charm++ 6.10 and older versions (docs/formats.md) as if another number of PEs had measured the
same objects and messages."""

import struct

HEADER = struct.Struct("<20s")  # the magic number, sizes and versions
# Fields after the header: the number of PEs (stored twice), of objects, of migratable objects, and of communication
# records.
COUNTS = struct.Struct("<iiiii")
# Fields of a PE: total time, idle time, background time, speed, whether it is available, how many objects it has, and
# its id.
PE = struct.Struct("<ddddBii")
# Fields of an object: id of its array, a handle, its id, another handle, its wall time, whether it is migratable,
# whether it may migrate asynchronously, and its size.
OBJECT = struct.Struct("<iiQidBBH")
OBJECT_MESSAGES = 2
FROM_OBJECT = -1


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = form.unpack_from(self.data, self.at)
        self.at += form.size
        return values

    def integer(self):
        return self.take(struct.Struct("<i"))[0]

    def bytes(self, count):
        self.at += count
        return self.data[self.at - count:self.at]


def read_record(reader):
    """Reads a communication record. Returns its bytes, a bool (True if its sender is an object), and its kind."""
    begin = reader.at
    sender, _, _, kind = reader.take(struct.Struct("<iiQB"))
    if kind == 3:
        reader.bytes(12 * reader.integer())
    else:
        reader.bytes(4 if kind == 1 else 16)
    reader.bytes(8)
    return reader.data[begin:reader.at], sender == FROM_OBJECT, kind


class Dump:
    """The content of an LB dump. Objects are sorted by array and id. Of the communication records, only messages from
    one object to another are kept."""

    def __init__(self, data):
        reader = Reader(data)
        (self.head,) = reader.take(HEADER)
        num_pes, _, num_objects, self.num_movable, num_records = reader.take(COUNTS)
        reader.bytes(PE.size * num_pes)
        self.objects = []
        for _ in range(num_objects):
            begin = reader.at
            reader.bytes(reader.integer())  # skips a pointer, which had a meaning only in the process that wrote the dump
            fields = reader.take(OBJECT)
            self.objects.append(((fields[0], fields[2]), fields[4], data[begin:reader.at]))
        self.objects.sort()
        reader.bytes(8 * num_objects)
        records = [read_record(reader) for _ in range(num_records)]
        if reader.at != len(data):
            raise ValueError(f"a dump of {len(data)} bytes ends at {reader.at}; is it of Charm++ 6.10?")
        self.records = [record for record, is_sent_by_object, kind in records
                        if is_sent_by_object and kind == OBJECT_MESSAGES]

    def ids(self):
        return [name[1] for name, _, _ in self.objects]

    def on(self, places, num_pes):
        """Returns the bytes of a dump with `num_pes` PEs, in which object i is on PE places[i]."""
        totals = [0.0] * num_pes
        for place, (_, wall_s, _) in zip(places, self.objects):
            totals[place] += wall_s
        out = [HEADER.pack(self.head),
               COUNTS.pack(num_pes, num_pes, len(self.objects), self.num_movable, len(self.records))]
        for pe, total_s in enumerate(totals):
            out.append(PE.pack(max(totals), max(totals) - total_s, 0, 1, 1, places.count(pe), pe))
        out += [data for _, _, data in self.objects]
        out += 2 * [struct.pack(f"<{len(places)}i", *places)]
        return b"".join(out + self.records)
