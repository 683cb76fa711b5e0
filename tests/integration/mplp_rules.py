"""The constraints of an MPLP 1.0 trace, written from their description: objects are closed, identifiers are UUIDs of version 4
in lower case, types of events are dotted words, times are RFC 3339. Returns what is wrong, as texts."""
import datetime
import re

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
EVENT_TYPE = re.compile(r"[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*")
SEMVER = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z")
STATUSES = {"pending", "running", "completed", "failed", "cancelled"}
CONCERNS = {"coordination", "error-handling", "event-bus", "learning-feedback", "observability", "orchestration", "performance",
            "protocol-versioning", "security", "state-sync", "transaction"}


def matches(pattern):
    return lambda v: isinstance(v, str) and pattern.fullmatch(v)


def is_text(v):
    return isinstance(v, str)


def is_object(v):
    return isinstance(v, dict)


def is_set_of(check):
    return lambda v: isinstance(v, list) and len(set(v)) == len(v) and all(check(i) for i in v)


def is_list(v):
    return isinstance(v, list)


is_uuid = matches(UUID)
is_time = matches(TIME)

META = {"protocol_version!": matches(SEMVER), "schema_version!": matches(SEMVER), "created_at": is_time, "created_by": is_text,
        "updated_at": is_time, "updated_by": is_text, "tags": is_set_of(is_text), "cross_cutting": is_set_of(lambda v: v in CONCERNS)}
BASE = {"trace_id!": is_uuid, "span_id!": is_uuid, "parent_span_id": is_uuid, "context_id": is_uuid, "attributes": is_object}
GOVERNANCE = {"lifecyclePhase": is_text, "truthDomain": is_text, "locked": lambda v: isinstance(v, bool), "lastConfirmRef": is_object}
SEGMENT = {"segment_id!": is_uuid, "parent_segment_id": is_uuid, "label!": is_text, "status!": lambda v: v in STATUSES | {"skipped"},
           "started_at": is_time, "finished_at": is_time, "attributes": is_object}
EVENT = {"event_id!": is_uuid, "event_type!": matches(EVENT_TYPE), "source!": is_text, "timestamp!": is_time, "trace_id": is_uuid,
         "data": lambda v: v is None or isinstance(v, dict)}
TRACE = {"meta!": is_object, "governance": is_object, "trace_id!": is_uuid, "context_id!": is_uuid, "plan_id": is_uuid,
         "root_span!": is_object, "status!": lambda v: v in STATUSES, "started_at": is_time, "finished_at": is_time,
         "segments": is_list, "events": is_list}


def closed(where, value, rules):
    members = {name.rstrip("!"): check for name, check in rules.items()}
    for name in rules:
        if name.endswith("!") and name[:-1] not in value:
            yield f"{where} lacks {name[:-1]}"
    for name, v in value.items():
        if name not in members:
            yield f"{where} has the unknown member {name}"
        elif not members[name](v):
            yield f"{where}.{name} is {v!r}"


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def shape(trace):
    yield from closed("trace", trace, TRACE)
    yield from closed("meta", trace.get("meta", {}), META)
    yield from closed("governance", trace.get("governance", {}), GOVERNANCE)
    yield from closed("root_span", trace.get("root_span", {}), BASE)
    for i, segment in enumerate(trace.get("segments", [])):
        yield from closed(f"segments[{i}]", segment, SEGMENT)
    for i, event in enumerate(trace.get("events", [])):
        yield from closed(f"events[{i}]", event, EVENT)


def invariants(trace):
    segments = {s["segment_id"]: s for s in trace["segments"]}
    if trace["root_span"]["trace_id"] != trace["trace_id"] or trace["root_span"]["context_id"] != trace["context_id"]:
        yield "the root span is of another trace or context"
    if len(segments) != len(trace["segments"]):
        yield "two segments have one id"
    if len({s[:18] for s in segments}) != len(segments):
        yield "two segments have one id in W3C Trace Context"
    if len({e["event_id"] for e in trace["events"]}) != len(trace["events"]) or not trace["events"]:
        yield "events have no id of their own, or there are none"
    for s in trace["segments"]:
        parent = segments.get(s.get("parent_segment_id"))
        if (parent is None) != (s["segment_id"] == trace["root_span"]["span_id"]):
            yield f"{s['label']}: the parent is unknown"
        times = [moment(s[k]) for k in ("started_at", "finished_at") if k in s]
        if times != sorted(times):
            yield f"{s['label']}: ends before it begins"
        if parent and times and "started_at" in parent and moment(parent["started_at"]) > times[0]:
            yield f"{s['label']}: begins before its parent"


def faults(trace):
    return list(shape(trace)) or list(invariants(trace))
