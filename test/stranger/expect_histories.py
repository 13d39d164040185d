"""Answers that come from histories: intervals of holds and fees, and versions of rows."""

from collections import Counter

from values import About, Window, hours

MILESTONES = [
    ("arrival at the port", "pod_arrived_at"), ("discharge", "pod_discharged_at"),
    ("pickup at the port", "pod_full_out_at"), ("loading on rail", "pod_rail_loaded_at"),
    ("departure by rail", "pod_rail_departed_at"), ("arrival at the ramp", "ind_ata_at"),
    ("unloading at the ramp", "ind_rail_unloaded_at"),
    ("pickup at the ramp", "final_destination_full_out_at"), ("empty return", "empty_terminated_at")]


def span(start, end):
    """Hours between two instants of which windows are known."""
    low = end.low if isinstance(end, Window) else end
    high = end.high if isinstance(end, Window) else end
    middle = start.low + (start.high - start.low) / 2, low + (high - low) / 2
    slack = (start.high - start.low + high - low).total_seconds() / 7200 + 0.02
    return About((middle[1] - middle[0]).total_seconds() / 3600, str(slack))


def is_first(f, container_id, window):
    return window is f.model.rows["containers"][container_id].first


def _intervals(f, table):
    for id_, box in f.containers.items():
        for interval in f.model.intervals[table].get(id_, []):
            yield id_, box, interval


def hold_durations(f):
    found, count = {}, Counter()
    for id_, box, interval in _intervals(f, "container_hold_history"):
        v = interval["values"]
        key = (id_, v["place"], v["name"], v["status"])
        found[key + (count[key],)] = dict(
            f.common(box), place=v["place"], hold_name=v["name"], status=v["status"],
            description=v["description"], source=interval["source"], is_open=interval["to"] is None,
            hours=span(interval["from"], interval["to"] or f.as_of), placed_at=interval["from"],
            cleared_at=interval["to"], is_start_known=not is_first(f, id_, interval["from"]),
            pod_terminal=f.terminal_name(box["pod_terminal_id"]))
        count[key] += 1
    return found


def fee_history(f):
    found, last, count = {}, {}, Counter()
    for id_, box, interval in _intervals(f, "container_fee_history"):
        v = interval["values"]
        key = (id_, v["place"], v["type"], v["currency_code"])
        before = last.get(key)
        found[key + (count[key],)] = dict(
            f.common(box), place=v["place"], fee_type=v["type"], currency_code=v["currency_code"],
            source=interval["source"], amount=v["amount"],
            amount_before=before and before["values"]["amount"],
            change_amount=before and v["amount"] - before["values"]["amount"],
            is_total=v["is_total"], is_open=interval["to"] is None,
            is_gap_before=before is not None and before["to"] is not interval["from"],
            is_start_known=not is_first(f, id_, interval["from"]), seen_at=interval["from"],
            gone_at=interval["to"], pod_terminal=f.terminal_name(box["pod_terminal_id"]))
        last[key] = interval
        count[key] += 1
    return found


def eta_changes(f):
    found, count = {}, Counter()
    for id_, ship in f.shipments.items():
        had, versions = False, f.model.versions["shipments"][id_]
        for old, new in zip(versions, versions[1:]):
            a, b = old["values"]["pod_eta_at"], new["values"]["pod_eta_at"]
            had = had or a is not None
            if a == b or not had:
                continue
            found[(id_, count[id_])] = {
                "shipment_id": id_, "bill_of_lading_number": ship["bill_of_lading_number"],
                "shipping_line_scac": ship["shipping_line_scac"],
                "kind": "withdrawn" if b is None else "given again" if a is None else "moved",
                "source": new["source"], "slip_hours": hours(a, b), "changed_at": new["from"],
                "from_eta_at": a, "to_eta_at": b, "is_voyage_changed":
                    old["values"]["pod_voyage_number"] != new["values"]["pod_voyage_number"]}
            count[id_] += 1
    return found


def status_durations(f):
    found = {}
    for id_, box in f.containers.items():
        spells = []  # status, from, to: versions that follow one another in one status are one spell
        for version in f.model.versions["containers"][id_]:
            status = version["values"]["current_status"]
            if spells and spells[-1][0] == status and spells[-1][2] is version["from"]:
                spells[-1][2] = version["to"]
            else:
                spells.append([status, version["from"], version["to"]])
        for status in {s[0] for s in spells}:
            own = [s for s in spells if s[0] == status]
            parts = [span(s[1], s[2] or f.as_of) for s in own]
            found[(id_, status)] = dict(
                f.common(box), status=status, is_current=own[-1][2] is None, first_seen_at=own[0][1],
                is_start_known=not is_first(f, id_, own[0][1]), ended_at=own[-1][2],
                hours=About(sum(p.value for p in parts), str(sum(p.slack for p in parts))))
    return found


def date_corrections(f):
    found, count = {}, Counter()
    for id_, box in f.containers.items():
        versions = f.model.versions["containers"][id_]
        for old, new in zip(versions, versions[1:]):
            for label, column in MILESTONES:
                a, b = old["values"][column], new["values"][column]
                if a is None or a == b:
                    continue
                sources = sorted({e["data_source"] for e in f.events[id_] if b and e["timestamp"] == b})
                key = (id_, label)
                found[key + (count[key],)] = dict(
                    f.common(box), milestone=label, kind="moved" if b else "taken back", source=new["source"],
                    data_source=", ".join(sources) or None, shift_hours=hours(a, b),
                    learned_at=new["from"], from_at=a, to_at=b)
                count[key] += 1
    return found


def container_version_changes(f):
    """The instants of it: milestones and plans."""
    found, count = {}, Counter()
    plans = [("ETA at the ramp", "ind_eta_at"), ("pickup appointment", "pickup_appointment_at")]
    for id_, versions in f.model.versions["containers"].items():  # also of containers that are gone
        for old, new in zip(versions, versions[1:]):
            for label, column in MILESTONES + plans:
                a, b = old["values"][column], new["values"][column]
                if a != b:
                    found[(id_, label, count[(id_, label)])] = {
                        "kind": "plan" if (label, column) in plans else "milestone", "source": new["source"],
                        "learned_at": new["from"], "from_at": a, "to_at": b}
                    count[(id_, label)] += 1
    return found


VIEWS = {"container_version_changes": container_version_changes, "hold_durations": hold_durations, "fee_history": fee_history, "eta_changes": eta_changes,
         "status_durations": status_durations, "date_corrections": date_corrections}
KEYS = {"container_version_changes": (("container_id", "attribute"), "learned_at"),
        "hold_durations": (("container_id", "place", "hold_name", "status"), "placed_at"),
        "fee_history": (("container_id", "place", "fee_type", "currency_code"), "seen_at"),
        "eta_changes": (("shipment_id",), "changed_at"),
        "status_durations": (("container_id", "status"), None),
        "date_corrections": (("container_id", "milestone"), "learned_at")}
ONLY = {"container_version_changes": "kind in ('milestone', 'plan')"}
