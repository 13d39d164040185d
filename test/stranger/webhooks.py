"""Signed notifications to a running `serve`: new, repeated, old, unsigned and thin ones."""

import hashlib
import hmac
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from datetime import timedelta

from values import Window
from world import text_of

SECRET = "the-secret-of-a-stranger"
HEADER = "X-SVC-Webhook-Signature"


class Receiver:
    """`serve` as a process: receiver and processor, no scheduler."""

    def __init__(self, trial, folder):
        self.trial = trial
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        preset = folder + "/stranger.json"  # a preset file, as docs/settings.md describes it
        with open(preset, "w", encoding="utf-8") as file:
            json.dump({"title": "Stranger", "rateLimitPerMinute": 60000, "pageSize": 100, "webhooks": {
                "signature": {"header": HEADER, "algorithm": "sha256", "encoding": "hex", "prefix": ""},
                "events": ["all"]}}, file)
        self.environment = dict(
            trial.environment, TRACKING_SERVICE=preset, TRACKING_WEBHOOK_SECRET=SECRET,
            TRACKING_WEBHOOK_IDS=trial.webhook["id"], PORT=str(self.port), TRACKING_HOST="127.0.0.1",
            TRACKING_PAGES_PORT="0")
        self.url = "http://127.0.0.1:%d" % self.port
        self.start()

    def start(self):
        self.output = open(os.devnull, "w")
        self.process = subprocess.Popen(
            ["node", self.trial.program, "serve", "--no-scheduler"], env=self.environment,
            cwd=os.path.dirname(os.path.dirname(self.trial.program)), stdout=self.output, stderr=self.output)
        for _ in range(600):
            try:
                urllib.request.urlopen(self.url + "/readyz", timeout=2).read()
                return
            except OSError:
                if self.process.poll() is not None:
                    raise RuntimeError("serve ended with exit code %d" % self.process.returncode)
                time.sleep(0.1)
        raise RuntimeError("serve was not ready within a minute")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.trial.kills += 1
        self.start()

    def stop(self):
        """The exit code after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)

    def deliver(self, notification, secret=SECRET):
        """Sends a delivery and gives the status of the answer."""
        body = json.dumps(notification).encode()
        headers = {"Content-Type": "application/json"}
        if secret:
            headers[HEADER] = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        request = urllib.request.Request(self.url + "/webhooks", data=body, headers=headers, method="POST")
        try:
            return urllib.request.urlopen(request, timeout=30).status
        except urllib.error.HTTPError as refused:
            return refused.code


def notification(world, webhook, event, subject, included, at):
    id_ = world.id()
    return {"data": {"id": id_, "type": "webhook_notification", "attributes": {
        "id": id_, "event": event, "delivery_status": "pending", "created_at": text_of(at, 2)},
        "relationships": {
            "reference_object": {"data": {"id": subject["id"], "type": subject["type"]}},
            "webhook": {"data": {"id": webhook["id"], "type": "webhook"}},
            "webhook_notification_logs": {"data": []}}}, "included": included}


def tell(trial, receiver, count):
    """Tells of changes of some containers, and gives the model what the warehouse must know now."""
    world, model, service = trial.world, trial.model, trial.service
    low, sent, shown = service.now(), [], []
    boxes = [b for b in world.of("container") if b["id"] in model.rows["containers"]
             and not model.rows["containers"][b["id"]].deleted]
    for number, box in enumerate(world.rng.sample(boxes, min(count, len(boxes)))):
        old = json.loads(json.dumps(box))
        a = box["attributes"]
        a["location_at_pod_terminal"] = "told %d" % number
        a["holds_at_pod_terminal"] = [{"name": "customs", "status": "hold", "description": "told"}]
        at = service.now()
        change = {"id": world.id(), "type": "container_updated_event", "attributes": {
            "changeset": {"location_at_pod_terminal": [
                old["attributes"]["location_at_pod_terminal"], a["location_at_pod_terminal"]],
                "holds_at_pod_terminal": [old["attributes"]["holds_at_pod_terminal"], a["holds_at_pod_terminal"]]},
            "timestamp": text_of(at), "data_source": "terminal", "timezone": a["pod_timezone"]},
            "relationships": {"container": {"data": {"id": box["id"], "type": "container"}}}}
        shipment = world.records["shipment"][box["relationships"]["shipment"]["data"]["id"]]
        told = notification(world, trial.webhook, "container.updated", change, [box, shipment, change], at)
        expected = 202
        if number % 4 == 1:  # an older one about the record as it was: it may change nothing
            before, then = dict(change, id=world.id()), at - timedelta(hours=30)
            stale = notification(world, trial.webhook, "container.updated", before, [old, before], then)
            sent.append((receiver.deliver(stale), stale["data"]["id"]))
            model.see_change(before, Window(then, then), stale["data"]["id"])  # kept all the same
        if number % 5 == 2:
            trial.report.value("deliveries", "unsigned", 401, receiver.deliver(told, None))
            trial.report.value("deliveries", "signed by another", 401, receiver.deliver(told, "x" * 20))
        status = receiver.deliver(told)
        sent.append((status, told["data"]["id"]))
        trial.report.value("deliveries", number, expected, status)
        if number % 3 == 0:
            trial.report.value("deliveries", (number, "again"), True, receiver.deliver(told) in (200, 202))
        if number == count // 2:
            receiver.kill()
        model.see_change(change, Window(at, at), told["data"]["id"])
        shown += [shipment, box] + [world.records["transport_event"][x["id"]]
                                    for x in box["relationships"]["transport_events"]["data"]]
    wait_until_applied(trial)
    window = Window(low, service.now())  # what is in doubt is read again, some seconds later
    for record in shown:
        model.see(record, window, "webhook")
    rows = {r["notification_id"]: r["state"] for r in trial.database.rows("tracking_sync.webhook_notifications")}
    trial.report.value("webhook_notifications", "ids", sorted(i for _, i in sent), sorted(rows))
    for _, id_ in sent:
        trial.report.value("webhook_notifications", id_, "processed", rows.get(id_))


def wait_until_applied(trial):
    for _ in range(600):
        left = trial.database.execute(
            "select (select count(*) from tracking_sync.webhook_notifications where state = 'received')"
            " + (select count(*) from tracking_sync.refetch_queue)").strip()
        if left == "0":
            return
        time.sleep(0.1)
    trial.report.value("webhook_notifications", "left after a minute", "0", left)
