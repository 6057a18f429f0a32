#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Writes functions.inc, which has one row for each MPI function that the profile's library wraps.

Names, argument counts and argument positions come from the MPI Forum's own list (PyPI's pympistandard). The meaning
of a call for a profile is defined here, in KINDS and MEANINGS. Usage: generate.py [-o FILE]; without -o it prints."""

import argparse
import re
import sys

import pympistandard

# MPI-1 functions that were removed from the standard but are still in the libraries: their names, and the numbers of
# their arguments in C and in Fortran.
REMOVED = {"Address": (2, 3), "Errhandler_create": (2, 3), "Errhandler_get": (2, 3), "Errhandler_set": (2, 3),
           "Type_extent": (2, 3), "Type_hindexed": (5, 6), "Type_hvector": (5, 6), "Type_lb": (2, 3),
           "Type_struct": (5, 6), "Type_ub": (2, 3)}

# Functions whose Fortran version takes an argument ierror that the standard does not list: MPI_Pcontrol in MPICH's
# mpi_f08, where ierror is optional. A wrapper must pass ierror on. This is harmless if an MPI has no such argument,
# because that MPI does not read the register in which ierror is passed.
WITH_IERROR = {"Pcontrol"}

# Functions without a wrapper. They neither wait nor send, and programs call them in inner loops. Programs also look
# some of them up to find out which MPI library is loaded, if any (mpi4py: MPI_Get_version and MPI_Abi_get_version).
LOCAL = re.compile(r"T_.*|.*_(f2c|c2f|c2f08|f082c|f2f08|f082f|fromint|toint)|Wtime|Wtick|Aint_.*|Initialized|Finalized"
                   r"|Get_version|Get_library_version|Abi_.*")

# How the time of a call is counted: the first pattern that matches its name decides.
KINDS = [
    (r"File_.*|Register_datarep", "io"),
    (r"Win_(fence|create|allocate|allocate_shared|create_dynamic|free)", "collective"),
    (r"(Wait|Test)(all|any|some)?|Request_get_status(_all|_any|_some)?|Parrived", "wait"),
    (r"Win_(lock|lock_all|unlock|unlock_all|flush.*|start|complete|post|wait|test|sync)", "wait"),
    (r"i?(barrier|bcast|gatherv?|scatterv?|allgatherv?|alltoall[vw]?|reduce|allreduce|reduce_scatter(_block)?"
     r"|scan|exscan|neighbor_.*)(_init)?", "collective"),
    (r"[ibsrm]*(send|recv|probe|sendrecv|sendrecv_replace)|[bsr]?send_init|recv_init|p(send|recv)_init|start(all)?"
     r"|pready.*|r?(put|get|accumulate|get_accumulate)|fetch_and_op|compare_and_swap", "point_to_point"),
    (r".*", "other"),
]

# The meaning of each function for the profile: the kind of messages that a call sends, or its effect on the profile
# itself. Each entry has a pattern of function names and the meaning of the functions that match it. None: the meaning
# of each of these functions is its own name. Collectives are not listed here: the meaning of a collective is its name,
# without the leading I of non-blocking calls and the trailing _init of persistent ones.
MEANINGS = [
    (r"init|init_thread", "init"), (r"finalize", "finalize"), (r"abort", "abort"), (r"pcontrol", "pcontrol"),
    (r"i?[bsr]?send|i?sendrecv(_replace)?", "send"),
    (r"[bsrp]?send_init", "send_init"),
    (r"i?recv", "receive"), (r"recv_init", "receive_init"), (r"i?probe", "probe"), (r"i?mprobe", "matched_probe"),
    (r"(start|wait|test)(all|any|some)?|cancel|request_free|type_free", None),
    (r"request_get_status(_all|_any|_some)?|parrived", "poll"),
    (r"comm_create_(from_)?group|intercomm_(merge|create|create_from_groups)", "communicator_create_group"),
    (r"comm_(dup|dup_with_info|idup|idup_with_info|split|split_type|create)|cart_sub", "communicator_create"),
    (r"cart_create|graph_create|dist_graph_create(_adjacent)?", None),
    (r"r?(put|accumulate)", "put"), (r"r?get", "get"),
    (r"r?get_accumulate|fetch_and_op|compare_and_swap", "put_and_get"),
    (r"comm_(free|disconnect)", "communicator_free"), (r"win_free", "window_free"),
    (r"win_(create|allocate|allocate_shared|create_dynamic)", "window_create"), (r"win_fence", "window_fence"),
    (r"win_post", "window_post"), (r"win_start", "window_start"), (r"win_complete", "window_complete"),
    (r"win_wait", "window_wait"), (r"win_test", "window_test"),
    (r"file_(open|close)", None),
    (r"file_(set_view|set_size|set_info|set_atomicity|preallocate|sync|seek_shared"
     r"|(read|write)_(at_all|all|ordered)(_begin|_end)?)", "file_collective"),
]
# Collective functions other than those that send messages. All ranks of a communicator, a window or a file must call
# them, and usually wait for each other in them.
JOINT = re.compile(r"Comm_(dup|dup_with_info|split|split_type|create|create_group|create_from_group)|Intercomm_merge"
                   r"|Cart_(sub|create)|Graph_create|Dist_graph_create(_adjacent)?"
                   r"|Win_(create|allocate|allocate_shared|create_dynamic|free|fence)")
COLLECTIVE = re.compile(r"Barrier|Bcast|Gatherv?|Scatterv?|Allgatherv?|Alltoall[vw]?|Reduce|Allreduce"
                        r"|Reduce_scatter(_block)?|Scan|Exscan|Neighbor_(allgatherv?|alltoall[vw]?)")

# For each argument, the names that the standard uses for it. If several of these names are parameters of a function,
# the name that comes first in this list gives the argument's position.
POSITIONS = {
    "buffer": ["sendbuf", "buf", "buffer", "origin_addr"],
    "count": ["sendcount", "sendcounts", "origin_count", "count", "incount"],
    "type": ["sendtype", "sendtypes", "origin_datatype", "datatype"],
    "partitions": ["partitions"],
    "peer": ["dest", "target_rank", "root"],
    "receive_count": ["recvcount", "recvcounts", "result_count"],
    "receive_type": ["recvtype", "recvtypes", "result_datatype"],
    "comm": ["comm", "comm_old", "win", "fh"],
    "request": ["request", "array_of_requests"],
    "level": ["level"],
    "source": ["source"],
    "tag": ["sendtag", "tag"],
    "receive_tag": ["recvtag"],
    "status": ["status", "array_of_statuses"],
    "flag": ["flag"],
    "index": ["index", "array_of_indices"],
    "index_count": ["outcount"],
    "created_comm": ["newcomm", "newintracomm", "newintercomm", "comm_cart", "comm_graph", "comm_dist_graph"],
    "created_object": ["win", "fh"],
    "reorder": ["reorder"],
    "group": ["group"],
}


def first(table, name):
    return next((value for pattern, value in table if re.fullmatch(pattern, name, re.IGNORECASE)), "nothing")


def meaning_of(name):
    simple = first(MEANINGS, name) or name.lower()
    plain = name.removesuffix("_init")
    if plain[0] == "I" and COLLECTIVE.fullmatch(plain[1:].capitalize()):
        plain = plain[1:].capitalize()
    if COLLECTIVE.fullmatch(plain):
        return plain.lower()
    return simple


def modes(name, meaning):
    """Returns how a collective runs: non-blocking (the program waits for it later), persistent, or blocking."""
    if JOINT.fullmatch(name) or meaning.startswith("file_"):
        return ".mode = Mode::blocking"
    if name.startswith("Comm_idup"):
        return ".mode = Mode::nonblocking"
    if meaning in ("nothing", "send", "put", "get") or not COLLECTIVE.fullmatch(
            name.removesuffix("_init").removeprefix("I").capitalize()):
        return ""
    if name.endswith("_init"):
        return ".mode = Mode::persistent"
    return ".mode = Mode::nonblocking" if name[0] == "I" else ".mode = Mode::blocking"


def positions_of(parameters, meaning):
    if meaning == "nothing":
        return []
    creates = meaning in ("window_create", "file_open")
    found = []
    for position, names in POSITIONS.items():
        if meaning.startswith(("window_", "file_")) and position not in ("comm", "created_object", "group", "flag"):
            continue
        if position == "group" and meaning not in ("window_post", "window_start"):
            continue
        if position == "flag" and meaning.startswith("file_"):
            continue
        if position == "created_object" and not creates:
            continue
        index = next((parameters.index(name) for name in names if name in parameters), None)
        if index is not None:
            found.append(f".{position} = {index}")
    return found


def fortran_arity(procedure):
    """Returns two counts for the Fortran version of a procedure: of all its arguments, including the hidden length
    arguments of strings, and of these hidden arguments alone. Returns -1 and 0 if there is no such version."""
    attributes = procedure._parseset["attributes"]
    if not attributes["f90_expressible"]:
        return -1, 0
    text = str(procedure.express.f90)
    arguments = re.search(r"MPI_\w+\((.*?)\)", text.splitlines()[0])[1]
    strings = sum(len(re.sub(r"\([^)]*\)", "", line.split(None, 1)[1]).split(","))
                  for line in text.splitlines()[1:] if line.strip().startswith("CHARACTER"))
    unlisted = procedure._parseset["name"].removeprefix("MPI_") in WITH_IERROR
    return len([a for a in arguments.split(",") if a.strip()]) + strings + unlisted, strings


def row(name, c_arity, fortran, kind, meaning, positions, mode):
    head = f"POISE_MPI_C({name}, {c_arity}" if fortran < 0 else f"POISE_MPI({name}, {name.lower()}, {c_arity}, {fortran}"
    return ", ".join([head, kind, meaning, *positions, *([mode] if mode else [])]) + ")"


def rows_of(procedure):
    """Yields the row of functions.inc for an MPI function, and the row for its version with large counts if there
    is one."""
    parse = procedure._parseset
    name = parse["name"].removeprefix("MPI_")
    if not parse["attributes"]["c_expressible"] or LOCAL.fullmatch(name):
        return
    in_c = [p for p in parse["parameters"] if "c_parameter" not in p["suppress"].split()]
    parameters = [p["name"] for p in in_c if not p["large_only"]]
    kind = first(KINDS, name)
    meaning = meaning_of(name)
    positions = positions_of(parameters, meaning)
    mode = modes(name, meaning)
    fortran, strings = fortran_arity(procedure)
    own = [f".strings = {strings}"] if strings and meaning != "nothing" else []
    yield row(name, len(parameters), fortran, kind, meaning, positions + own, mode)
    if procedure.has_embiggenment():
        yield row(name + "_c", len(in_c), -1, kind, meaning, positions + [".is_large = true"], mode)


def text():
    pympistandard.use_api_version(1)
    rows = [r for procedure in pympistandard.PROCEDURES.values() for r in rows_of(procedure)]
    rows += [row(name, c, f, "other", "nothing", [], "") for name, (c, f) in REMOVED.items()]
    head = ["// SPDX-License-Identifier: BSD-3-Clause",
            "// Written by generate.py from the MPI Forum's list of functions; do not edit.",
            "// POISE_MPI(name, Fortran name, C arguments, Fortran arguments, kind, meaning, positions...)",
            "// POISE_MPI_C(name, C arguments, kind, meaning, positions...): no Fortran."]
    return "\n".join(head + sorted(rows, key=str.lower)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.o:
        with open(arguments.o, "w", encoding="ascii") as file:
            file.write(text())
    else:
        sys.stdout.write(text())


if __name__ == "__main__":
    main()
