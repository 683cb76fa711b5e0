"""Decodes OTLP/JSON with the official classes of OpenTelemetry.

Reads lines of JSON on standard input, each an ExportTraceServiceRequest; writes for each span a line of JSON, made from the
protobuf message after a round trip through its binary form. Fails on an unknown member or a value of a wrong type. In OTLP/JSON
ids are hexadecimal, in protobuf's JSON they are base64: that is the only change of the input."""
import base64
import json
import sys

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

SIZES = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def with_base64_ids(value):
    if isinstance(value, list):
        return [with_base64_ids(v) for v in value]
    if not isinstance(value, dict):
        return value
    for name, size in SIZES.items():
        if name in value:
            raw = bytes.fromhex(value[name])
            assert len(raw) == size and any(raw), f"{name} {value[name]}"
    return {k: base64.b64encode(bytes.fromhex(v)).decode() if k in SIZES else with_base64_ids(v) for k, v in value.items()}


def attributes(of):
    found = {}
    for pair in of.attributes:
        assert pair.key not in found, f"{pair.key} twice"
        found[pair.key] = getattr(pair.value, pair.value.WhichOneof("value"))
    return found


def spans(request):
    for resource in request.resource_spans:
        service = attributes(resource.resource)
        for scope in resource.scope_spans:
            for s in scope.spans:
                assert s.name and s.end_time_unix_nano >= s.start_time_unix_nano, s
                yield {"service": service["service.name"], "trace": s.trace_id.hex(), "id": s.span_id.hex(), "parent": s.parent_span_id.hex(),
                       "name": s.name, "kind": Span.SpanKind.Name(s.kind)[len("SPAN_KIND_"):], "start": s.start_time_unix_nano,
                       "end": s.end_time_unix_nano, "attributes": attributes(s), "events": [e.name for e in s.events],
                       "error": s.status.code == Status.STATUS_CODE_ERROR, "message": s.status.message, "state": s.trace_state, "flags": s.flags,
                       "links": [link.trace_id.hex() for link in s.links]}


if __name__ == "__main__":
    for line in sys.stdin:
        parsed = ParseDict(with_base64_ids(json.loads(line)), ExportTraceServiceRequest())
        for span in spans(ExportTraceServiceRequest.FromString(parsed.SerializeToString())):
            print(json.dumps(span))
