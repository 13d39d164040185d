"""The service as `service-interface.md` describes it, over HTTP, with faults."""

import json
import random
import threading
import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, urlsplit

UTC = timezone.utc
LISTS = {"shipments": "shipment", "containers": "container", "tracking_requests": "tracking_request",
         "custom_fields": "custom_field", "custom_field_definitions": "custom_field_definition",
         "ports": "port", "terminals": "terminal", "vessels": "vessel", "metro_areas": "metro_area",
         "webhooks": "webhook", "webhook_notifications": "webhook_notification",
         "rail_terminals": "rail_terminal", "transport_events": "transport_event"}
PAGED = ("shipments", "containers", "tracking_requests", "custom_fields", "custom_field_definitions",
         "webhooks", "webhook_notifications")
FAULTS = ["500", "502 html", "503", "429", "cut", "truncated", "slow", "empty body", "html as 200"]


class Service:
    def __init__(self, world, key, page_size=17, includes=True, drift=timedelta(0)):
        self.world, self.key, self.page_size, self.includes = world, key, page_size, includes
        self.drift = drift  # the service's clock less ours
        self.rng = random.Random(world.seed + 1)
        self.lock = threading.RLock()
        self.faults_left = 0  # of this run
        self.faulted = set()  # requests that had their fault
        self.unstable, self.walks = set(), {}  # lists whose pages shift during their first walk
        self.hits = {}  # fault -> how often
        self.log = []  # (method, path, status)
        self.on_request = None  # called with the number of requests; used to kill a run
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                service.answer(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # a killed program cuts its connections
        self.server.daemon_threads = True
        self.url = "http://127.0.0.1:%d/v2" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def now(self):
        return datetime.now(UTC) + self.drift

    def close(self):
        self.server.shutdown()

    # -- one request ---------------------------------------------------------------------------

    def answer(self, handler):
        parts = urlsplit(handler.path)
        query = {k: v[-1] for k, v in parse_qs(parts.query, keep_blank_values=True).items()}
        path = parts.path[len("/v2/"):].strip("/")
        with self.lock:
            if self.on_request:
                self.on_request(len(self.log))
            fault = self._fault(handler.path)
            if handler.headers.get("Authorization") != "Token " + self.key:
                status, body = 401, {"errors": [{"status": "401", "title": "Unauthorized"}]}
            else:
                status, body = self.read(path, query, handler.path)
            self.log.append((handler.command, handler.path, fault or status))
        try:
            self._send(handler, status, body, fault)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True

    def _fault(self, key):
        if self.faults_left <= 0 or key in self.faulted or self.rng.random() > 0.2:
            return None
        self.faults_left -= 1
        self.faulted.add(key)
        fault = FAULTS[sum(self.hits.values()) % len(FAULTS)]
        self.hits[fault] = self.hits.get(fault, 0) + 1
        return fault

    def _send(self, handler, status, body, fault):
        data, kind, extra = json.dumps(body).encode(), "application/vnd.api+json", {}
        if fault == "cut":
            handler.close_connection = True
            handler.connection.close()
            return
        if fault == "slow":
            time.sleep(0.8)
        elif fault == "429":
            status, extra = 429, {"Retry-After": "1"}
            data = json.dumps({"errors": [{"status": "429", "title": "Too Many Requests"}]}).encode()
        elif fault == "empty body":
            data = b""
        elif fault == "html as 200":
            data, kind = b"<html><body>Maintenance</body></html>", "text/html"
        elif fault in ("500", "502 html", "503"):
            status, data, kind = int(fault[:3]), b"<html>Bad Gateway</html>", "text/html"
        handler.send_response_only(status)
        handler.send_header("Date", format_datetime(self.now(), usegmt=True))
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        handler.send_header("X-RateLimit-Limit", "100")
        handler.send_header("X-RateLimit-Remaining", str(self.rng.randrange(100)))
        for name, value in extra.items():
            handler.send_header(name, value)
        handler.end_headers()
        if fault == "truncated":
            handler.wfile.write(data[:len(data) // 2])
            handler.close_connection = True
            handler.connection.close()
            return
        handler.wfile.write(data)

    # -- resources -----------------------------------------------------------------------------

    def read(self, path, query, url):
        world, parts = self.world, path.split("/")
        not_found = 404, {"errors": [{"status": "404", "title": "Not Found"}]}
        if path == "webhooks/events":
            return 200, {"data": world.of("webhook_event_category")}
        if path == "webhooks/ips":
            return 200, {"webhook_notification_ips": ["127.0.0.1"]}
        if len(parts) == 1 and parts[0] in PAGED:
            return self._list(parts[0], query)
        if len(parts) == 2 and parts[0] in LISTS:
            record = world.get(LISTS[parts[0]], parts[1])
            if record is None or parts[0] == "rail_terminals":
                return not_found
            if parts[0] == "vessels" and query.get("show_positions") == "true":
                record = dict(record, attributes=dict(
                    record["attributes"], positions=world.positions[record["id"]]))
            if parts[0] == "tracking_requests" and "include" not in query:
                query = dict(query, include="tracked_object")
            return self._document(record, query, url)
        if len(parts) == 3 and parts[0] == "containers" and world.get("container", parts[1]):
            if parts[2] == "transport_events":
                listed = world.get("container", parts[1])["relationships"]["transport_events"]["data"]
                return self._document([world.records["transport_event"][x["id"]] for x in listed],
                                      query, url, {"size": len(listed), "total": len(listed)})
            if parts[2] == "raw_events":
                return 200, {"data": world.raw_events[parts[1]]}
        if len(parts) == 3 and parts[2] == "options" and parts[1] in world.options:
            return 200, {"data": world.options[parts[1]]}
        if len(parts) == 3 and parts[2] == "custom_fields" and parts[0] in LISTS:
            if world.get(LISTS[parts[0]], parts[1]):
                return self._list("custom_fields", dict(query, **{"filter[entity_id]": parts[1]}))
        return not_found

    def _list(self, name, query):
        type_ = LISTS[name]
        records = self.world.of(type_)
        if "filter[tracking_stopped]" in query:
            stopped = query["filter[tracking_stopped]"] == "true"
            records = [r for r in records if stopped == bool(r["attributes"]["line_tracking_stopped_at"])]
        if "filter[updated_at][start]" in query:
            since = datetime.fromisoformat(query["filter[updated_at][start]"].replace("Z", "+00:00"))
            records = [r for r in records if datetime.fromisoformat(
                r["attributes"]["updated_at"].replace("Z", "+00:00")) >= since]
        for key, relation in [("filter[entity_id]", "entity"), ("filter[definition_id]", "definition")]:
            if key in query:
                records = [r for r in records if r["relationships"][relation]["data"]["id"] == query[key]]
        if not any(k.startswith("filter") for k in query):
            records = records + self.world.malformed.get(type_, [])
        size = min(int(query.get("page[size]", 25)), self.page_size)
        number = max(1, int(query.get("page[number]", 1)))
        total, pages = len(records), max(1, -(-len(records) // size))
        if number == 1:
            self.walks[name] = self.walks.get(name, 0) + 1
        moved = 1 if name in self.unstable and self.walks[name] == 1 and number > 1 else 0
        if moved and number * size >= total:
            self.hits["page shifted"] = self.hits.get("page shifted", 0) + 1
        page = records[(number - 1) * size - moved:number * size - moved]  # one twice, another never
        own = "/v2/" + name
        def link(n):
            kept = dict(query, **{"page[number]": n, "page[size]": size})
            return own + "?" + "&".join("%s=%s" % (quote(k), quote(str(v))) for k, v in kept.items())
        status, body = self._document(page, query, link(number), {"size": len(page), "total": total})
        if status == 200:
            body["links"] = {"self": link(number), "first": link(1), "last": link(pages)}
            body["links"]["next"] = link(number + 1) if number < pages else None
            body["links"]["prev"] = link(number - 1) if number > 1 else None
        return status, body

    def _document(self, data, query, url, meta=None):
        body = {"data": data, "links": {"self": url}}
        if meta:
            body["meta"] = meta
        paths = [p for p in query.get("include", "").split(",") if p]
        if paths:
            records = data if isinstance(data, list) else [data]
            included = {}
            for path in paths:
                if "." in path and not self.includes:
                    return 400, {"errors": [{"status": "400", "title": "Invalid include " + path}]}
                if not self._follow(records, path.split("."), included):
                    return 400, {"errors": [{"status": "400", "title": "Invalid include " + path}]}
            shown = {(r.get("type"), r.get("id")) for r in records}
            body["included"] = [r for key, r in included.items() if key not in shown]
        return 200, body

    def _follow(self, records, path, included):
        name, rest = path[0], path[1:]
        known = not records
        following = []
        for record in records:
            relation = (record.get("relationships") or {}).get(name) if isinstance(record, dict) else None
            if relation is None:
                continue
            known = True
            data = relation["data"]
            for linkage in data if isinstance(data, list) else [data] if data else []:
                target = self.world.get(linkage["type"], linkage["id"])
                if target:
                    included[(target["type"], target["id"])] = target
                    following.append(target)
        return known and (not rest or not following or self._follow(following, rest, included))
