"""A sink for OTLP over HTTP that decodes with the official protobufs, and prints each record as a line of JSON.

The first argument is a comma-separated list of answers to requests, in their order; later ones are accepted:

    200 or 503 …     that status
    busy=SECONDS     429 with Retry-After
    reject=N         a partial success
    hang             no answer for three seconds
    cut              the connection is closed in the middle of the answer, after the records were taken
    huge             an answer without an end
    page             200 with a page
    redirect=URL     307
    echo             401 with the headers of the request in the text

Others are of all requests: `slow=SECONDS` waits before each, `limit=N` refuses those with more records or data points by 413, `poison=TEXT`
those with a body that has the text by 400. `metrics=STATUS` and `metrics=reject` are the answers to all requests with metrics;
`metrics-busy=SECONDS` is that to the first one, 429 with Retry-After.
The second argument, if there is one, is a file with a certificate and its key. The first line that is printed is the port.
"""

import gzip
import http.server
import json
import math
import ssl
import sys
import threading
import time

from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics

answers, limit, poison, slow, of_metrics, busy_metrics = [], None, None, 0, "200", []
for word in filter(None, sys.argv[1].split(",") if len(sys.argv) > 1 else []):
    if word.startswith("limit="):
        limit = int(word.removeprefix("limit="))
    elif word.startswith("slow="):
        slow = float(word.removeprefix("slow="))
    elif word.startswith("poison="):
        poison = word.removeprefix("poison=")
    elif word.startswith("metrics-busy="):
        busy_metrics.append(word.removeprefix("metrics-busy="))
    elif word.startswith("metrics="):
        of_metrics = word.removeprefix("metrics=")
    else:
        answers.append(word)
lock = threading.Lock()


def value(any_value):
    kind = any_value.WhichOneof("value")
    content = getattr(any_value, kind) if kind else None
    # JSON has no NaN.
    return content if not isinstance(content, float) or math.isfinite(content) else str(content)


def attributes(pairs):
    return {pair.key: value(pair.value) for pair in pairs}


def show(line):
    with lock:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def show_logs(request, headers, path):
    for resource in request.resource_logs:
        of = attributes(resource.resource.attributes)
        for scope in resource.scope_logs:
            for record in scope.log_records:
                show({
                    "path": path,
                    "token": headers.get("x-token"),
                    "resource": of,
                    "scope": scope.scope.name,
                    "time": record.time_unix_nano,
                    "observed": record.observed_time_unix_nano,
                    "severity": record.severity_number,
                    "level": record.severity_text,
                    "event": record.event_name,
                    "trace_id": record.trace_id.hex(),
                    "span_id": record.span_id.hex(),
                    "body": record.body.string_value,
                    "attributes": attributes(record.attributes),
                })


def number(point):
    return getattr(point, point.WhichOneof("value"))


def show_metrics(request, path):
    for resource in request.resource_metrics:
        of = attributes(resource.resource.attributes)
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                line = {"path": path, "resource": of, "metric": metric.name, "unit": metric.unit}
                data = getattr(metric, metric.WhichOneof("data"))
                for point in data.data_points:
                    line["temporality"] = data.aggregation_temporality
                    line["start"], line["time"] = point.start_time_unix_nano, point.time_unix_nano
                    line["attributes"] = attributes(point.attributes)
                    if metric.HasField("sum"):
                        line |= {"value": number(point), "monotonic": data.is_monotonic}
                    else:
                        line |= {"count": point.count, "buckets": list(point.bucket_counts)}
                        line["sum"] = point.sum if point.HasField("sum") else None
                        line["bounds"] = list(point.explicit_bounds)
                    show(line)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 64 << 10

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        time.sleep(slow)
        if self.path.endswith("/v1/metrics"):
            return self.accept_metrics(body)
        with lock:
            answer = answers.pop(0) if answers else "200"
        kind, _, argument = answer.partition("=")
        if kind == "hang":
            time.sleep(3)
            self.close_connection = True
        elif kind == "busy":
            self.reply(429, b"", {"retry-after": argument})
        elif kind == "redirect":
            self.reply(307, b"", {"location": argument})
        elif kind == "page":
            self.reply(200, b"<html></html>", {"content-type": "text/html"})
        elif kind == "echo":
            self.reply(401, ("bad token: " + str(self.headers)).encode(), {"content-type": "text/plain"})
        elif kind.isdigit() and kind != "200":
            self.reply(int(kind), b"", {})
        else:
            self.accept(body, kind, argument)

    def accept(self, body, kind, argument):
        assert self.headers["content-type"] == "application/x-protobuf"
        if self.headers["content-encoding"] == "gzip":
            body = gzip.decompress(body)
        request = logs.ExportLogsServiceRequest.FromString(body)
        records = [it for of in request.resource_logs for scope in of.scope_logs for it in scope.log_records]
        if limit and len(records) > limit:
            return self.reply(413, b"", {})
        if poison and any(poison in record.body.string_value for record in records):
            return self.reply(400, b"\x12\x0bpoisoned \xe2\x80\xa6"[:13], {})
        show_logs(request, self.headers, self.path)
        reply = logs.ExportLogsServiceResponse()
        if kind == "reject":
            reply.partial_success.rejected_log_records = int(argument)
            reply.partial_success.error_message = "too old"
        if kind == "cut":
            self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-le")
            self.wfile.flush()
            self.connection.shutdown(2)
            self.close_connection = True
        elif kind == "huge":
            self.send_response(200)
            self.end_headers()
            self.close_connection = True
            try:
                while True:
                    self.wfile.write(bytes(1 << 20))
            except OSError:
                pass
        else:
            self.reply(200, reply.SerializeToString(), {"content-type": "application/x-protobuf"})

    def accept_metrics(self, body):
        assert self.headers["content-type"] == "application/x-protobuf"
        if self.headers["content-encoding"] == "gzip":
            body = gzip.decompress(body)
        request = metrics.ExportMetricsServiceRequest.FromString(body)
        all = [it for of in request.resource_metrics for scope in of.scope_metrics for it in scope.metrics]
        points = sum(len(getattr(it, it.WhichOneof("data")).data_points) for it in all)
        if limit and points > limit:
            return self.reply(413, b"", {})
        if busy_metrics:
            return self.reply(429, b"", {"retry-after": busy_metrics.pop()})
        if of_metrics.isdigit() and of_metrics != "200":
            return self.reply(int(of_metrics), b"", {})
        show_metrics(request, self.path)
        reply = metrics.ExportMetricsServiceResponse()
        if of_metrics == "reject":
            reply.partial_success.rejected_data_points = 1
            reply.partial_success.error_message = "too many"
        self.reply(200, reply.SerializeToString(), {"content-type": "application/x-protobuf"})

    def reply(self, status, content, headers):
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, text)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        kind = sys.exc_info()[0]
        if not issubclass(kind, OSError):
            super().handle_error(*_)


port = int(sys.argv[3]) if len(sys.argv) > 3 else 0
server = Server(("127.0.0.1", port), Handler)
if len(sys.argv) > 2 and sys.argv[2]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
