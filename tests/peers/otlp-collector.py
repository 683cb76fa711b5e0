"""An OpenTelemetry collector over HTTP that decodes what it gets with the official classes.

Arguments are what it does with each POST, in turn, the last one for all that follow: a status, with a second number after ':'
for Retry-After, or 'date:N' for its date in N seconds; 'partial:N', to reject N spans; 'hang', to send nothing; 'page', to respond as a web server. Prints its port, then for each POST a line of JSON:
the path, the headers, the length of the body, and the spans as otlp-decode.py has them."""
import email.utils
import gzip
import http.server
import importlib
import json
import sys
import threading
import time

decode = importlib.import_module("otlp-decode")
plan = sys.argv[1:] or ["200"]
count = 0


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global count
        body = self.rfile.read(int(self.headers["Content-Length"]))
        text = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
        parsed = decode.ParseDict(decode.with_base64_ids(json.loads(text)), decode.ExportTraceServiceRequest())
        print(json.dumps({"path": self.path, "headers": {k.lower(): v for k, v in self.headers.items()}, "bytes": len(body),
                          "spans": list(decode.spans(parsed))}), flush=True)
        kind, _, number = plan[min(count, len(plan) - 1)].partition(":")
        count += 1
        if kind == "hang":
            threading.Event().wait()
        if kind == "date":
            kind, number = "503", email.utils.formatdate(time.time() + int(number), usegmt=True)
        answer = {"partialSuccess": {"rejectedSpans": number, "errorMessage": "too old"}} if kind == "partial" else {}
        data = b"<!doctype html><title>shop</title>" if kind == "page" else json.dumps(answer).encode()
        self.send_response(200 if kind in ("partial", "page") else int(kind))
        if number and kind != "partial":
            self.send_header("Retry-After", number)
        self.send_header("Content-Type", "text/html" if kind == "page" else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    print(server.server_port, flush=True)
    server.serve_forever()
