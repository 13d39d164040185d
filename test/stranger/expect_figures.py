"""Answers that are figures: arrivals, transits, dwell, rail legs, and what a container costs."""

from collections import defaultdict
from datetime import timedelta
from decimal import Decimal

from expect_answers import COMMON, goes_inland, is_rail, stays
from values import About, Known, Sorted, days, hours, local, local_day, zone


def percentile(numbers, share):
    """Interpolated, as PostgreSQL's percentile_cont."""
    ordered = sorted(numbers)
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def about(number, slack="0.011"):
    return None if number is None else About(number, slack)


def rounded(value, slack):
    return value and About(value.value, slack)


def container_completeness(f):
    found = {}
    for id_, box in f.containers.items():
        ship, rail = f.shipment(box), is_rail(box)
        steps = [("departed", ship["pol_atd_at"]),
                 ("arrived", box["pod_arrived_at"]), ("discharged", box["pod_discharged_at"])]
        if rail:
            steps += [("rail departed", box["pod_rail_departed_at"]), ("arrived inland", box["ind_ata_at"])]
        steps.append(("picked up", box["pod_full_out_at"] or box["final_destination_full_out_at"]))
        steps.append(("empty returned", box["empty_terminated_at"]))
        furthest = max([n + 1 for n, (_, at) in enumerate(steps) if at] or [0])
        missing = [name for name, at in steps[:furthest] if not at]
        found[id_] = dict(
            {k: v for k, v in f.common(box).items() if k != "bill_of_lading_number"},
            missing=missing, milestones_expected=Decimal(furthest), is_rail=rail,
            milestones_reported=Decimal(furthest - len(missing)), pod_timezone=box["pod_timezone"],
            tracking_stopped_reason=ship["line_tracking_stopped_reason"])
    return found


def arrivals(f):
    """Shipments that have arrived: {id: (row, arrival as wall time)}"""
    found = {}
    for id_, ship in f.shipments.items():
        ata, zone_name = ship["pod_ata_at"], ship["pod_timezone"]
        if ata is None or ata > f.as_of:
            continue
        first, of_line = ship["pod_original_eta_at"], ship["pod_original_eta_at"] is not None
        if first is None:
            seen = [v["values"]["pod_eta_at"] for v in f.model.versions["shipments"][id_]
                    if v["values"]["pod_eta_at"] and v["from"].high < ata]
            first = seen[0] if seen else None
        arrived_on, first_on = local_day(ata, zone_name), local_day(first, zone_name)
        atd = ship["pol_atd_at"]
        found[id_] = {
            "shipment_id": id_, "shipping_line_scac": ship["shipping_line_scac"],
            "port_of_lading_locode": ship["port_of_lading_locode"],
            "port_of_discharge_locode": ship["port_of_discharge_locode"],
            "bill_of_lading_number": ship["bill_of_lading_number"], "pod_vessel_imo": ship["pod_vessel_imo"],
            "first_eta_on": first_on, "arrived_on": arrived_on, "is_first_eta_of_line": of_line,
            "arrival_month_on": arrived_on and arrived_on.replace(day=1),
            "arrival_quarter_on": arrived_on and arrived_on.replace(
                day=1, month=(arrived_on.month - 1) // 3 * 3 + 1),
            "days_late": Decimal((arrived_on - first_on).days) if arrived_on and first_on else None,
            "delay_days": days(first, ata), "transit_days": days(atd, ata) if atd and atd < ata else None,
            "is_zone_known": zone(zone_name) is not None, "first_eta_at": first, "pol_atd_at": atd,
            "pol_etd_at": ship["pol_etd_at"], "pod_ata_at": ata, "created_at": ship["created_at"]}
    return found


def schedule_reliability(f):
    groups = defaultdict(list)
    for row in arrivals(f).values():
        month = row["arrival_month_on"]
        groups[tuple(row[c] for c in KEYS["schedule_reliability"][0][:3])
               + (month and month.isoformat(),)].append(row)
    found = {}
    for key, rows in groups.items():
        late = [r["days_late"] for r in rows if r["days_late"] is not None]
        on_time = sum(1 for d in late if abs(d) <= 1)
        found[key] = {
            "n": Decimal(len(late)), "on_time": Decimal(on_time),
            "early": Decimal(sum(1 for d in late if d < -1)), "late": Decimal(sum(1 for d in late if d > 1)),
            "not_measured": Decimal(len(rows) - len(late)),
            "on_time_share": about(on_time / len(late), "0.0001") if late else None}
    return found


def transit_times(f):
    groups = defaultdict(list)
    for row in arrivals(f).values():
        lane = (row["port_of_lading_locode"], row["port_of_discharge_locode"])
        periods = [("month", row["arrival_month_on"])]
        if row["pod_ata_at"] > f.as_of - timedelta(days=90):
            periods.append(("last 90 days", None))
        for period, month in periods:
            for cut, line, imo in [("lane", None, None), ("lane and line", row["shipping_line_scac"], None),
                                   ("lane and vessel", None, row["pod_vessel_imo"])]:
                groups[(cut, period) + lane + (line, imo, month and month.isoformat())].append(row)
    found = {}
    for key, rows in groups.items():
        measured = [float(r["transit_days"].value) for r in rows if r["transit_days"]]
        found[key] = {"n": Decimal(len(measured)), "not_measured": Decimal(len(rows) - len(measured)),
                      "mean_days": about(sum(measured) / len(measured)) if measured else None,
                      "is_single": len(measured) == 1}
        for name, share in [("p10_days", 0.1), ("median_days", 0.5), ("p90_days", 0.9)]:
            found[key][name] = about(percentile(measured, share)) if measured else None
    return found


def rail(f):
    found = {}
    steps = [("discharged", "pod_discharged_at"), ("loaded", "pod_rail_loaded_at"),
             ("departed", "pod_rail_departed_at"), ("arrived", "ind_ata_at"),
             ("unloaded", "ind_rail_unloaded_at"), ("picked_up", "final_destination_full_out_at")]
    for id_, box in f.containers.items():
        if not is_rail(box):
            continue
        ship, at = f.shipment(box), [box[c] for _, c in steps]
        row = dict(f.common(box), pod_rail_carrier_scac=box["pod_rail_carrier_scac"],
                   port_of_discharge_locode=ship["port_of_discharge_locode"],
                   destination_locode=ship["destination_locode"], is_tracking_stopped=f.is_stopped(box),
                   is_pod_zone_known=zone(box["pod_timezone"]) is not None,
                   is_ind_zone_known=zone(box["final_destination_timezone"]) is not None,
                   ind_eta_at=box["ind_eta_at"])
        for n, (name, column) in enumerate(steps):
            place = box["pod_timezone"] if n < 3 else box["final_destination_timezone"]
            row[column], row[column[:-3] + "_local"] = box[column], local(box[column], place)
            if n:
                row["%s_to_%s_hours" % (steps[n - 1][0], name)] = hours(at[n - 1], at[n])
        reached = [n for n, x in enumerate(at) if x]
        row["stage"] = steps[reached[-1]][0].replace("_", " ") if reached else "not landed"
        row["hours_in_stage"] = hours(at[reached[-1]], f.as_of) if reached and reached[-1] < 5 else None
        if (box["empty_terminated_at"] or box.get("delivered_at")) and row["stage"] != "picked up":
            row["stage"] = Known("stage not reported", row["stage"], "picked up")
            row["hours_in_stage"] = Known("stage not reported", row["hours_in_stage"], None)
        row["discharged_to_picked_up_hours"] = hours(at[0], at[5])
        known = [x for x in at if x]
        row["is_in_order"] = known == sorted(known)
        found[id_] = row
    return found


def empty_return_times(f):
    found = {}
    for id_, box in f.containers.items():
        out, back = box["final_destination_full_out_at"], box["empty_terminated_at"]
        out_zone = box["final_destination_timezone"]
        by_rail = any(box[c] for c in ("pod_rail_departed_at", "ind_ata_at", "ind_rail_unloaded_at"))
        place = "ramp" if out else "port"
        if out is None and not by_rail:  # a truck that takes it to the train is not the last pickup
            out, out_zone = box["pod_full_out_at"], box["pod_timezone"]
        if out is None and back is None:
            continue
        state = "pickup not reported" if out is None else "out" if back is None else \
            "out of order" if back < out else "returned"
        here = f.place_zone(f.shipment(box), place) if out_zone is None else out_zone
        end, end_zone = (f.as_of, here) if state == "out" else (back, box["empty_terminated_timezone"])
        first, last = local_day(out, out_zone), local_day(end, end_zone)
        measured = state in ("out", "returned")
        found[id_] = dict(
            f.common(box), state=state, days=days(out, end) if measured else None,
            calendar_days=Decimal((last - first).days) if measured and first and last else None,
            is_tracking_stopped=f.is_stopped(box), full_out_at=out, empty_terminated_at=back,
            full_out_local=local(out, out_zone), equipment_length=box["equipment_length"],
            empty_terminated_local=local(back, box["empty_terminated_timezone"]))
    return found


def demurrage_exposure(f):
    found = {}
    stays_ = stays(f)
    for (id_, place), stay in stays_.items():
        if stay["state"] not in ("overdue", "out_late"):
            continue
        fees, sums, totals = f.model.children[id_][2], defaultdict(Decimal), {}
        said = [fee for fee in fees.values() if fee["amount"] != 0]
        at_ramp = stays_[(id_, "ramp")]["has_begun"] if (id_, "ramp") in stays_ else False
        lists = ("port",) if place == "port" else \
            ("ramp",) if any(fee["place"] == "ramp" for fee in said) else ("port",)
        for fee in said:
            if fee["place"] in lists and at_ramp == (place == "ramp"):
                currency = fee["currency_code"] or "local"
                if fee["is_total"]:
                    totals[currency] = fee["amount"]
                else:
                    sums[currency] += fee["amount"]
        by_currency = {c: max(sums.get(c, Decimal(0)), totals.get(c, Decimal(0))) for c in {*sums, *totals}}
        only = list(by_currency.items())[0] if len(by_currency) == 1 else (None, None)
        names = ("container_id", "container_number", "customer_name", "state", "days_over", "binding_on",
                 "out_on", "pod_terminal", "is_zone_known", "tracking_stopped_reason")
        found[(id_, place)] = dict({n: stay[n] for n in names}, fees_by_currency=by_currency or None,
                                   fee_amount=only[1], fee_currency_code=only[0])
    return found


def transshipments(f):
    found = {}
    for id_, box in f.containers.items():
        at = {k: f.event(box, "transshipment_" + k)[0] for k in ("arrived", "discharged", "loaded", "departed")}
        if any(at.values()):
            start, end = at["arrived"] or at["discharged"], at["departed"] or at["loaded"]
            common = {k: v for k, v in f.common(box).items()
                      if k not in ("bill_of_lading_number", "pod_terminal_id")}
            found[id_] = dict(
                common, location_locode="KRPUS", dwell_hours=hours(start, end),
                is_tracking_stopped=f.is_stopped(box), **{k + "_at": v for k, v in at.items()})
    return found


def terminal_dwell(f):
    groups = defaultdict(list)
    for id_, box in f.containers.items():
        start = box["pod_discharged_at"]
        if start is None:
            continue
        ship, terminal = f.shipment(box), f.terminals.get(box["pod_terminal_id"])
        port = f.ports.get(terminal["port_id"])["code"] if terminal else ship["port_of_discharge_locode"]
        day = local_day(start, box["pod_timezone"])
        week = day and (day - timedelta(days=day.weekday())).isoformat()
        stay = stays(f, ids=[id_])[(id_, "port")]
        groups[(box["pod_terminal_id"], port, "rail" if goes_inland(box) else "truck", week)].append(
            (start, stay["end_at"], stay["has_ended"], f.is_stopped(box)))
    found = {}
    for key, boxes in groups.items():
        done = [(b - a).total_seconds() / 86400 for a, b, _, _ in boxes if b and b >= a]
        there = [(f.as_of - a).total_seconds() / 86400 for a, _, ended, stopped in boxes if not ended and not stopped]
        found[key] = {
            "n": Decimal(len(done)), "mean_days": about(sum(done) / len(done)) if done else None,
            "median_days": about(percentile(done, 0.5)) if done else None,
            "p90_days": about(percentile(done, 0.9)) if done else None,
            "over_5_days_share": about(sum(d > 5 for d in done) / len(done), "0.0001") if done else None,
            "still_there": Decimal(sum(not b[2] for b in boxes)),
            "still_there_not_tracked": Decimal(sum(not b[2] and b[3] for b in boxes)),
            "still_there_mean_age_days": about(sum(there) / len(there)) if there else None,
            "still_there_max_age_days": about(max(there)) if there else None,
            "not_measured": Decimal(sum(ended and not (b and b >= a) for a, b, ended, _ in boxes))}
    return found


def arrivals_calendar(f):
    groups = defaultdict(list)
    for id_, box in f.containers.items():
        ship = f.shipment(box)
        eta, zone_name = ship["pod_eta_at"], ship["pod_timezone"]
        if box["pod_arrived_at"] or ship["pod_ata_at"] or box["pod_discharged_at"] or eta is None:
            continue
        day, today = local_day(eta, zone_name), local_day(f.as_of, zone_name)
        if day is None and eta <= f.as_of + timedelta(hours=720) or day and day < today + timedelta(days=30):
            groups[(ship["port_of_discharge_locode"], ship["shipping_line_scac"],
                    day and day.isoformat())].append((box, ship, day < today if day else eta < f.as_of))
    teu = {10: "0.5", 20: "1", 40: "2", 45: "2.25"}
    found = {}
    for key, boxes in groups.items():
        lengths = [b["equipment_length"] and teu.get(int(b["equipment_length"])) for b, _, _ in boxes]
        found[key] = {
            "shipments": Decimal(len({s["shipment_id"] for _, s, _ in boxes})), "containers": Decimal(len(boxes)),
            "teu": sum((Decimal(x) for x in lengths if x), Decimal(0)),
            "length_unknown": Decimal(sum(not x for x in lengths)),
            "eta_passed": Decimal(sum(passed for _, _, passed in boxes)),
            "tracking_stopped": Decimal(sum(f.is_stopped(b) for b, _, _ in boxes)),
            "zone_unknown": Decimal(sum(zone(s["pod_timezone"]) is None for _, s, _ in boxes))}
    return found


def pickups(f):
    found = {}
    for (id_, place), stay in stays(f).items():
        box = f.containers[id_]
        if not stay["has_begun"] or stay["has_ended"] or place == "port" and goes_inland(box):
            continue
        holds = f.model.children[id_][1].values()
        blocking = {h["name"] for h in holds if h["place"] in ("port", place) and h["status"] != "pending"}
        available = box["available_for_pickup"] if box["availability_known"] else None
        if place == "ramp" and available is not False:
            available = True if box["current_status"] == "available" else None
        blockers = ["hold: " + n for n in blocking] + {
            True: [], False: ["not available"], None: ["availability unknown"]}[available]
        names = ("container_id", "container_number", "customer_name", "state", "days_left", "binding_on",
                 "place_locode", "current_status", "is_zone_known", "start_at", "pickup_appointment_at",
                 "bill_of_lading_number", "tracking_stopped_reason", "pod_terminal")
        found[(id_, place)] = dict(
            {n: stay[n] for n in names}, is_ready=not blockers, blockers=Sorted(blockers),
            days_there=rounded(days(stay["start_at"], f.as_of), "0.051"),
            pickup_facility_name=f.terminal_name(box["pickup_facility_id"]))
    return found


def carrier_scorecards(f):
    groups = defaultdict(list)
    for row in arrivals(f).values():
        quarter = row["arrival_quarter_on"]
        if quarter:
            groups[(row["shipping_line_scac"], quarter.isoformat())].append(row)
    found = {}
    for key, rows in groups.items():
        late = [r["days_late"] for r in rows if r["days_late"] is not None]
        transit = [float(r["transit_days"].value) for r in rows if r["transit_days"]]
        found[key] = {
            "arrivals": Decimal(len(rows)), "reliability_n": Decimal(len(late)),
            "on_time_share": about(sum(abs(d) <= 1 for d in late) / len(late), "0.0001") if late else None,
            "transit_n": Decimal(len(transit)),
            "median_transit_days": about(percentile(transit, 0.5)) if transit else None}
    return found


def data_quality(f):
    """Completeness, zones and tracking by shipping line and by terminal."""
    complete, groups = container_completeness(f), defaultdict(list)
    for id_, box in f.containers.items():
        groups[("shipping_line", f.shipment(box)["shipping_line_scac"])].append((id_, box))
        if box["pod_terminal_id"]:
            groups[("terminal", box["pod_terminal_id"])].append((id_, box))
    found = {}
    for (kind, subject), boxes in groups.items():
        expected = sum(complete[id_]["milestones_expected"] for id_, _ in boxes)
        reported = sum(complete[id_]["milestones_reported"] for id_, _ in boxes)
        zones = [b["pod_timezone"] for _, b in boxes]
        row = {"containers": Decimal(len(boxes)), "milestones_expected": expected,
               "milestones_reported": reported, "zone_missing": Decimal(sum(z is None for z in zones)),
               "zone_invalid": Decimal(sum(z is not None and zone(z) is None for z in zones)),
               "milestone_completeness": about(reported / expected, "0.0001") if expected else None}
        if kind == "shipping_line":
            ships = [s for s in f.shipments.values() if s["shipping_line_scac"] == subject]
            row["stopped"] = Decimal(sum(bool(s["line_tracking_stopped_reason"]) for s in ships))
            row["tracked"] = len(ships) - row["stopped"]
            requests = [r for r in f.requests.values() if r["scac"] == subject]
            row["requests"], row["failed_requests"] = Decimal(len(requests)), Decimal(0)
        else:
            row["subject_name"] = f.terminal_name(subject)
            row["stopped"] = Decimal(sum(f.is_stopped(b) for _, b in boxes))
        found[(kind, subject)] = row
    return found


def overdue_exceptions(f):
    """The containers past their last free day, of all exceptions."""
    return {(id_, "overdue"): {n: stay[n] for n in COMMON}
            for (id_, _), stay in stays(f).items() if stay["state"] == "overdue"}


VIEWS = {"carrier_scorecards": carrier_scorecards, "data_quality": data_quality, "container_completeness": container_completeness, "shipment_arrivals": arrivals,
         "schedule_reliability": schedule_reliability, "transit_times": transit_times,
         "rail": rail, "empty_return_times": empty_return_times,
         "demurrage_exposure": demurrage_exposure, "transshipments": transshipments,
         "terminal_dwell": terminal_dwell, "arrivals_calendar": arrivals_calendar,
         "pickups": pickups, "attention": overdue_exceptions}
KEYS = {"carrier_scorecards": (("shipping_line_scac", "arrival_quarter_on"), None),
        "data_quality": (("subject_type", "subject_id"), None), "terminal_dwell": (("terminal_id", "port_locode", "mode", "discharge_week_on"), None),
        "arrivals_calendar": (("port_of_discharge_locode", "shipping_line_scac", "arrival_on"), None),
        "pickups": (("container_id", "place"), None),
        "attention": (("container_id", "exception"), None),
        "shipment_arrivals": (("shipment_id",), None),
        "schedule_reliability": (("shipping_line_scac", "port_of_lading_locode", "port_of_discharge_locode",
                                  "arrival_month_on"), None),
        "transit_times": (("cut", "period", "port_of_lading_locode", "port_of_discharge_locode",
                           "shipping_line_scac", "pod_vessel_imo", "arrival_month_on"), None),
        "demurrage_exposure": (("container_id", "place"), None)}
ONLY = {"attention": "exception = 'overdue'", "data_quality": "subject_type <> 'stream'"}  # the part of an answer that is computed here
