"""Answers that tell what happened to a container: its timeline, the evidence, and the changes."""

from collections import Counter

from expect_histories import MILESTONES, is_first
from values import hours

DEADLINES = {"pickup_lfd": "service", "pickup_lfd_line": "line", "pickup_lfd_terminal": "terminal",
             "pickup_lfd_rail": "rail"}


def numbered(rows, columns):
    """Rows by their key; those that share it are numbered in the order in which we learned of them."""
    found, count = {}, Counter()
    for row in rows:
        key = tuple(row[c] for c in columns)
        found[key + (count[key],)] = row
        count[key] += 1
    return found


def _pairs(versions):
    return zip(versions, versions[1:])


def evidence(f):
    rows = []
    for id_, box in f.containers.items():
        common = dict(f.common(box), pod_zone=box["pod_timezone"], pod_terminal=f.terminal_name(box["pod_terminal_id"]),
                      **{c: box[c] for c in ("pod_arrived_at", "pod_discharged_at", "pod_rail_departed_at",
                                             "pod_full_out_at", "final_destination_full_out_at")})
        for kind, table in [("last free day", "container_import_deadline_history"),
                            ("hold", "container_hold_history"), ("fee", "container_fee_history")]:
            for i in f.model.intervals[table].get(id_, []):
                v = i["values"]
                subject = DEADLINES.get(v.get("kind")) or v.get("name") or v.get("type")
                rows.append(dict(
                    common, kind=kind, place=v["place"], subject=subject, source=i["source"],
                    is_open=i["to"] is None, is_start_known=not is_first(f, id_, i["from"]),
                    last_free_on=v.get("local_date"), amount=v.get("amount"), seen_at=i["from"], gone_at=i["to"],
                    currency_code=v.get("currency_code")))
    return numbered(rows, KEYS["evidence"][0])


def timeline(f):
    """Transport events, statuses, holds and fees."""
    rows = []
    for id_, box in f.containers.items():
        common = {k: f.common(box)[k] for k in ("container_id", "shipment_id", "container_number", "customer_name",
                                                "ref_numbers_text", "tags_text", "custom_fields")}
        for e in f.events[id_]:
            if not e["is_estimated"]:
                rows.append(dict(common, topic="transport event", kind="transport event", subject=e["event"],
                                 occurred_at=e["timestamp"], recorded_at=e["created_at"],
                                 location_locode=e["location_locode"], source=e["data_source"],
                                 detail=e["voyage_number"]))
        for old, new in _pairs(f.model.versions["containers"][id_]):
            a, b = old["values"]["current_status"], new["values"]["current_status"]
            if a != b:
                rows.append(dict(common, topic="status", kind="status", subject="current_status", from_value=a,
                                 to_value=b, occurred_at=new["from"], learned_at=new["from"], source=new["source"]))
    rows = [r for r in rows if r["topic"] == "status" or r["occurred_at"]]
    rows.sort(key=lambda r: r["occurred_at"].low if hasattr(r["occurred_at"], "low") else r["occurred_at"])
    return numbered(rows, KEYS["timeline"][0])


def changes(f):
    """Milestones, appointments, ETAs at the port, vessels and what is available."""
    rows = []
    for id_, box in f.containers.items():
        common = f.common(box)

        def add(change, subject, new, **more):
            rows.append(dict(common, change=change, subject=subject, learned_at=new["from"],
                             source=new["source"], **more))

        for old, new in _pairs(f.model.versions["containers"][id_]):
            a, b = old["values"], new["values"]
            for label, column in MILESTONES:
                if a[column] != b[column]:
                    add("milestone", label, new)
            if a["pickup_appointment_at"] != b["pickup_appointment_at"]:
                add("appointment", None, new)
            said = [available(v) for v in (a, b)]
            if said[0] != said[1]:
                add("availability", None, new, from_value=said[0], to_value=said[1])
        for old, new in _pairs(f.model.versions["shipments"].get(box["shipment_id"], [])):
            a, b = (v["values"]["pod_eta_at"] for v in (old, new))
            if a != b:
                later = hours(a, b)
                more = {"effect": "worse" if later.value > 0 else "better"} if later else {}
                add("ETA", "port", new, shift_hours=later, **more)
    return numbered(rows, KEYS["changes"][0])


def available(values):
    if not values["availability_known"]:
        return "not known"
    return "available" if values["available_for_pickup"] else "not available"


VIEWS = {"evidence": evidence, "timeline": timeline, "changes": changes}
KEYS = {"evidence": (("container_id", "kind", "place", "subject"), "seen_at"),
        "timeline": (("container_id", "topic", "subject"), "occurred_at"),
        "changes": (("container_id", "change", "subject"), "learned_at")}
ONLY = {"evidence": "kind in ('last free day', 'hold', 'fee')",
        "timeline": "topic = 'transport event' or kind = 'status'",
        "changes": "change in ('milestone', 'appointment', 'availability') or change = 'ETA' and subject = 'port'"}
