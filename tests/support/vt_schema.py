# SPDX-License-Identifier: BSD-3-Clause

"""Checks that vt LBDatafiles follow their schema, and that sender and receiver of each message are tasks. The schema
and the check were written anew from the requirements of vt's own schema and validator (scripts/LBDatafile_schema.py of
DARMA-tasking/vt)."""

ANYTHING = object()


class Object:
    """Checks a JSON object that has these keys and no others; a key whose name ends in `_` may be missing."""

    def __init__(self, rule=None, **keys):
        self.needed = {name: value for name, value in keys.items() if not name.endswith("_")}
        self.possible = {name[:-1]: value for name, value in keys.items() if name.endswith("_")}
        self.rule = rule


def has_identity(entity):
    if "id" not in entity and "seq_id" not in entity:
        return "needs an id or a seq_id"
    if entity.get("migratable") is True and "seq_id" in entity and "collection_id" not in entity:
        return "can migrate and has a seq_id, so it needs a collection_id"
    return None


RANGES = Object(list=[int], range=[[int]])
IDENTITY = {"id_": int, "seq_id_": int, "collection_id_": int, "objgroup_id_": int, "index_": [int]}
ENTITY = Object(has_identity, type=str, home=int, migratable=bool, **IDENTITY)
END = Object(has_identity, type=str, home_=int, migratable_=bool, **IDENTITY)
TASK = Object(entity=ENTITY, node=int, resource=str, time=float, subphases_=[Object(id=int, time=float)],
              user_defined_={}, attributes_={})
MESSAGE = Object(**{"type": str, "from": END, "to": END, "messages": int, "bytes": float})
ITERATION = {"id": int, "tasks": [TASK], "communications_": [MESSAGE], "user_defined_": {}}
FILE = Object(type_="LBDatafile",
              metadata_=Object(type_="LBDatafile", rank_=int, attributes_={},
                               shared_node_=Object(id=int, size=int, rank=int, num_nodes=int),
                               phases_=Object(count_=int, skipped=RANGES, identical_to_previous=RANGES)),
              phases=[Object(**ITERATION, lb_iterations_=[Object(**ITERATION)])])


def troubles(value, schema=FILE, where="file"):
    """Yields one line of text for each violation of the schema by `value`."""
    if isinstance(schema, Object):
        yield from object_troubles(value, schema, where)
    elif isinstance(schema, list):
        if not isinstance(value, list):
            yield f"{where} is not a list"
            return
        for i, item in enumerate(value):
            yield from troubles(item, schema[0], f"{where}[{i}]")
    elif isinstance(schema, str):
        if value != schema:
            yield f"{where} is {value!r}, not {schema!r}"
    elif schema == {}:
        if not isinstance(value, dict):
            yield f"{where} is not an object"
    elif type(value) is not schema:  # pylint: disable=unidiomatic-typecheck  # True is not an integer, and 1 is not a float
        yield f"{where} is {value!r}, not a value of type {schema.__name__}"


def object_troubles(value, schema, where):
    if not isinstance(value, dict):
        yield f"{where} is not an object"
        return
    for name in schema.needed.keys() - value.keys():
        yield f"{where} has no {name}"
    for name, item in value.items():
        inner = schema.needed.get(name, schema.possible.get(name, ANYTHING))
        if inner is ANYTHING:
            yield f"{where} has {name}, which the schema does not know"
        else:
            yield from troubles(item, inner, f"{where}.{name}")
    if schema.rule and (reason := schema.rule(value)):
        yield f"{where} {reason}"


def missing_tasks(ranks):
    """Yields a line for each sender or receiver of messages that is marked as migratable but is not a task of any rank
    in the same phase. `ranks` has the file of every rank."""
    for number, phases in enumerate(zip(*(rank["phases"] for rank in ranks))):
        key = lambda entity: (entity.get("id"), entity.get("seq_id"), entity.get("home") if "seq_id" in entity else None)
        known = {key(task["entity"]) for phase in phases for task in phase["tasks"]}
        for phase in phases:
            for message in phase.get("communications", []):
                for end in message["from"], message["to"]:
                    if end.get("migratable") and key(end) not in known:
                        yield f"phase {number}: {end} is no task"
