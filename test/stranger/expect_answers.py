"""The facts behind the questions, computed from what the service showed, by what the documents say."""

from collections import defaultdict
from datetime import timedelta
from decimal import Decimal

from rules import after, rule_for
from values import Known, local, local_day, zone

COMMON = ("container_number", "shipment_id", "bill_of_lading_number", "shipping_line_scac",
          "customer_name", "ref_numbers_text", "tags_text", "custom_fields", "pod_terminal_id")


class Facts:
    """The live rows as known at an instant. Customers, tags and references are always the present ones."""

    def __init__(self, model, as_of, columns, present=None):
        self.columns = columns  # of each view, as documented
        live = lambda m, table: {k: r.values for k, r in m.rows[table].items() if not r.deleted}
        self.model, self.as_of = model, as_of
        self.containers, self.shipments = live(model, "containers"), live(model, "shipments")
        self.terminals, self.rail_terminals = live(model, "terminals"), live(model, "rail_terminals")
        self.ports, self.metros = live(model, "ports"), live(model, "metro_areas")
        self.vessels = live(model, "vessels")
        self.events = defaultdict(list)
        present = present or model
        self.requests = live(present, "tracking_requests")  # they have no history, either
        for row in present.rows["transport_events"].values():  # without a history: present values
            if row.first.low <= as_of and (row.deleted is None or row.deleted.low > as_of):
                self.events[row.values["container_id"]].append(row.values)
        stored = lambda table: {k: r.values for k, r in present.rows[table].items()}
        self.now_shipments, self.now_containers = stored("shipments"), stored("containers")
        self.fields = defaultdict(dict)
        for field in live(present, "custom_fields").values():
            shown = field["display_value"]  # the value as it is shown to people
            self.fields[field["entity_id"]][field["api_slug"]] = field["value"] if shown is None else shown

    def shipment(self, box):
        return self.shipments.get(box["shipment_id"], defaultdict(lambda: None))

    def common(self, box):
        """The columns that every answer about containers has."""
        ship, id_ = self.shipment(box), box["container_id"]
        now_box = self.now_containers.get(id_, box)
        now_ship = self.now_shipments.get(now_box["shipment_id"], defaultdict(lambda: None))
        refs = (now_box["ref_numbers"] or []) + (now_ship["ref_numbers"] or [])
        fields = dict(self.fields[now_box["shipment_id"]], **self.fields[id_])
        return {
            "container_id": id_, "container_number": box["number"], "shipment_id": box["shipment_id"],
            "bill_of_lading_number": ship["bill_of_lading_number"],
            "shipping_line_scac": ship["shipping_line_scac"], "customer_name": now_ship["customer_name"],
            "ref_numbers_text": ", ".join(refs) or None,
            "tags_text": ", ".join(now_ship["tags"] or []) or None, "custom_fields": fields or None,
            "pod_terminal_id": box["pod_terminal_id"],
        }

    def terminal_name(self, id_):
        found = self.terminals.get(id_) or self.rail_terminals.get(id_)
        return found and (found["nickname"] or found["name"])

    def event(self, box, kind):
        """The instant and zone of the one transport event of this kind."""
        found = [e for e in self.events[box["container_id"]] if e["event"] == "container.transport." + kind]
        return (found[0]["timestamp"], found[0]["timezone"]) if found else (None, None)

    def place_zone(self, ship, place):
        """The zone of the port or of the destination itself."""
        if place == "port":
            return self.ports.get(ship["port_of_discharge_id"], {}).get("time_zone")
        spot = self.metros.get(ship["destination_id"]) or self.ports.get(ship["destination_id"]) or {}
        return spot.get("time_zone")

    def is_stopped(self, box):
        ship = self.shipment(box)
        return bool(ship["line_tracking_stopped_at"] or ship["line_tracking_stopped_reason"])


def is_rail(box):
    """A rail carrier or a time on rails is reported."""
    return any(box.get(c) for c in ("pod_rail_carrier_scac", "ind_rail_carrier_scac", "pod_rail_loaded_at",
                                    "pod_rail_departed_at", "ind_ata_at", "ind_rail_unloaded_at"))


def goes_inland(box):
    """For a stay at the ramp the railway's estimate is enough."""
    return is_rail(box) or box["ind_eta_at"] is not None


def container_customers(f):
    found = {}
    for id_, box in f.now_containers.items():
        common = f.common(box)
        ship = f.now_shipments.get(box["shipment_id"], defaultdict(lambda: None))
        found[id_] = {c: common[c] for c in ("customer_name", "ref_numbers_text", "tags_text", "custom_fields")}
        found[id_].update(container_ref_numbers=box["ref_numbers"], shipment_ref_numbers=ship["ref_numbers"],
                          tags=ship["tags"])
    return found


def journey(f):
    found = {}
    for id_, box in f.containers.items():
        ship = f.shipment(box)
        row = f.common(box)
        for c in ("port_of_lading_id", "port_of_discharge_id", "destination_id", "shipping_line_name",
                  "port_of_lading_locode", "port_of_discharge_locode", "destination_locode"):
            row[c] = ship[c]
        for c in ("equipment_type", "equipment_length", "current_status"):
            row[c] = box[c]
        row.update(is_availability_known=box["availability_known"], is_tracking_stopped=f.is_stopped(box),
                   tracking_stopped_reason=ship["line_tracking_stopped_reason"],
                   tracking_stopped_at=ship["line_tracking_stopped_at"])
        pol, pod, ind = ship["pol_timezone"], box["pod_timezone"], box["final_destination_timezone"]
        instants = {
            "pol_etd": (ship["pol_etd_at"], pol), "pod_original_eta": (ship["pod_original_eta_at"], ship["pod_timezone"]),
            "pod_eta": (ship["pod_eta_at"], ship["pod_timezone"]), "pod_arrived": (box["pod_arrived_at"], pod),
            "pod_discharged": (box["pod_discharged_at"], pod), "pod_full_out": (box["pod_full_out_at"], pod),
            "pickup_appointment": (box["pickup_appointment_at"], pod),
            "pod_rail_loaded": (box["pod_rail_loaded_at"], pod),
            "pod_rail_departed": (box["pod_rail_departed_at"], pod), "ind_eta": (box["ind_eta_at"], ind),
            "ind_arrived": (box["ind_ata_at"], ind), "ind_rail_unloaded": (box["ind_rail_unloaded_at"], ind),
            "final_destination_full_out": (box["final_destination_full_out_at"], ind),
            "empty_terminated": (box["empty_terminated_at"], box["empty_terminated_timezone"]),
        }
        for name, kind, attribute, place in [
            ("empty_out", "empty_out", "empty_out_at", pol), ("full_in", "full_in", "pol_full_in_at", pol),
            ("pol_loaded", "vessel_loaded", "pol_vessel_loaded_at", pol),
            ("pod_berthed", "vessel_berthed", None, pod), ("delivered", "delivered", "delivered_at", ind or pod),
        ]:
            at, its_zone = f.event(box, kind)
            at = attribute and box.get(attribute) or at
            its_zone = at and (its_zone or place)
            instants[name], row[name + "_zone"] = (at, its_zone), its_zone
            row["is_%s_zone_known" % name] = zone(its_zone) is not None
        for name, at in [("pol", pol), ("pod_eta", ship["pod_timezone"]), ("pod", pod), ("ind", ind),
                         ("empty_return", box["empty_terminated_timezone"])]:
            row[name + "_zone"], row["is_%s_zone_known" % name] = at, zone(at) is not None
        for name, (at, its_zone) in instants.items():
            row[name + "_at"], row[name + "_local"] = at, local(at, its_zone)
        found[id_] = row
    return found


def stays(f, ids=None):
    """Both stays of each container: when they began and ended, the days that apply, and their state."""
    found = {}
    for id_ in ids or f.containers:
        box = f.containers[id_]
        ship = f.shipment(box)
        deadlines = f.model.children[id_][0]

        def day(kind, place):
            item = deadlines.get(kind)
            if item is None or item["place"] != place:
                return None
            return item["local_date"]
        inland_done = [box[c] for c in ("ind_ata_at", "ind_rail_unloaded_at", "final_destination_full_out_at")]
        out = [box[c] for c in ("final_destination_full_out_at", "empty_terminated_at")] + [
            box.get("delivered_at") or f.event(box, "delivered")[0]]
        end = box["pod_rail_departed_at"] if goes_inland(box) else box["pod_full_out_at"]
        left = [box["pod_full_out_at"], box["pod_rail_departed_at"]] + inland_done + out
        port = {"start": box["pod_discharged_at"], "end": end,
                "begun": [box["pod_discharged_at"], box["pod_rail_loaded_at"]] + left, "left": left,
                "terminal_on": day("pickup_lfd_terminal", "port"), "line_on": day("pickup_lfd_line", "port"),
                "rail_on": None, "service_on": day("pickup_lfd", "port"), "zone": box["pod_timezone"],
                "arrived": box["pod_arrived_at"]}
        picked = deadlines.get("pickup_lfd")
        port["shown"] = port["service_on"] if port["service_on"] or not picked else \
            Known("pick of the railway", None, picked["local_date"])
        places = {"port": port}
        if goes_inland(box):
            places["ramp"] = {
                "start": box["ind_ata_at"] or box["ind_rail_unloaded_at"], "end": box["final_destination_full_out_at"],
                "begun": inland_done + out, "left": out, "terminal_on": None, "line_on": None,
                "rail_on": day("pickup_lfd_rail", "ramp"), "service_on": None, "shown": None,
                "zone": box["final_destination_timezone"], "arrived": box["ind_ata_at"] or box["ind_rail_unloaded_at"]}
        for place, s in places.items():
            begun, ended = any(x for x in s["begun"]), any(x for x in s["left"])
            own = {n: s[n + "_on"] for n in ("terminal", "line", "rail") if s[n + "_on"]}
            own = own or ({"service": s["service_on"]} if s["service_on"] else {})
            reported, rule = min(own.values()) if own else None, None
            name = rule_for("demurrage", ship["shipping_line_scac"])
            if place == "port" and begun and s["start"] and not s["line_on"]:  # the line reports no day
                rule = after(local_day(s["start"], s["zone"]), name) if local_day(s["start"], s["zone"]) else None
                own = dict(own, **({"rule": rule} if rule else {}))
            binding = min(own.values()) if own else None
            seen = f.now_containers[id_]["terminal_checked_at"]
            is_fresh = place == "port" and seen and f.as_of - timedelta(hours=48) < seen <= f.as_of
            is_untold = f.is_stopped(box) and not is_fresh
            spot = f.place_zone(ship, place) if s["zone"] is None else s["zone"]
            counted = spot if zone(spot) else None  # the zone in which days are counted
            today = local_day(f.as_of, counted) if counted else None
            out_on = local_day(s["end"], s["zone"])
            row = dict(
                f.common(box), place=place, has_begun=begun, has_ended=ended, start_at=s["start"],
                end_at=s["end"], binding_on=binding, terminal_on=s["terminal_on"], line_on=s["line_on"],
                rail_on=s["rail_on"], service_on=s["shown"], today_on=today, out_on=out_on, rule_on=rule,
                reported_on=reported, is_untold=is_untold,
                time_zone=counted, is_zone_known=zone(s["zone"]) is not None,
                current_status=box["current_status"], is_tracking_stopped=f.is_stopped(box),
                tracking_stopped_reason=ship["line_tracking_stopped_reason"],
                equipment_length=box["equipment_length"], equipment_type=box["equipment_type"],
                place_locode=ship["port_of_discharge_locode" if place == "port" else "destination_locode"],
                pickup_appointment_at=box["pickup_appointment_at"], arrived_at=s["arrived"],
                pod_terminal=f.terminal_name(box["pod_terminal_id"]))
            if not begun:
                state = "not_started"
            elif ended:
                state = "unknown" if out_on is None else \
                    "none" if binding is None else "out_late" if out_on > binding else "out_in_time"
            elif is_untold or today is None:
                state = "unknown"
            else:
                state = "none" if binding is None else "overdue" if today > binding else \
                    "due_today" if today == binding else "upcoming"
            row["state"] = state
            there = state in ("upcoming", "due_today", "overdue")
            row["days_left"] = Decimal((binding - today).days) if there else None
            row["days_over"] = Decimal(((out_on if ended else today) - binding).days) \
                if state in ("overdue", "out_late") else None
            if own and list(own.values()).count(binding) == 1:
                row["binding_source"] = min(own, key=own.get)
            found[(id_, place)] = row
    return found


def last_free_days(f):
    names = COMMON + (
        "container_id", "place", "place_locode", "state", "time_zone", "days_left", "days_over", "is_zone_known",
        "has_ended", "binding_on", "line_on", "terminal_on", "rail_on", "service_on", "rule_on", "today_on", "out_on",
        "start_at", "end_at", "pod_terminal", "tracking_stopped_reason", "current_status", "binding_source")
    return {key: {n: row[n] for n in names if n in row} for key, row in stays(f).items()}



def stay_facts(f):
    names = COMMON + (
        "container_id", "place", "place_locode", "time_zone", "is_zone_known", "has_begun", "has_ended", "start_at",
        "end_at", "line_on", "terminal_on", "rail_on", "service_on", "reported_on", "today_on", "out_on", "is_untold",
        "equipment_type", "equipment_length", "is_tracking_stopped", "arrived_at")
    return {key: {n: row[n] for n in names if n in row} for key, row in stays(f).items()}


def known_shipments(f):
    return {id_: dict({c: v for c, v in ship.items() if c in f.columns["known_shipments"]}, is_tracking_stopped=bool(
        ship["line_tracking_stopped_at"] or ship["line_tracking_stopped_reason"]))
        for id_, ship in f.shipments.items()}


def known_containers(f):
    names = [c for c in f.columns["known_containers"] if c not in ("import_deadline_sources", "known_since")]
    found = {}
    for id_, box in f.containers.items():
        found[id_] = {c: box.get(c) for c in names}
        seen = f.now_containers[id_]["terminal_checked_at"]  # of these looks only the last is kept
        found[id_]["terminal_checked_at"] = seen if seen and seen <= f.as_of else None
    return found


def journeys(f):
    found = {}
    for id_, box in f.containers.items():
        out, by_rail = box["final_destination_full_out_at"], any(
            box[c] for c in ("pod_rail_departed_at", "ind_ata_at", "ind_rail_unloaded_at"))
        left = [box[c] for c in ("pod_full_out_at", "pod_rail_departed_at") if box[c]]
        found[id_] = dict(
            {c: v for c, v in f.common(box).items() if c in f.columns["journey_facts"]},
            vessel_arrived_at=box["pod_arrived_at"], discharged_at=box["pod_discharged_at"],
            full_out_at=box["pod_full_out_at"], rail_loaded_at=box["pod_rail_loaded_at"],
            rail_departed_at=box["pod_rail_departed_at"], left_port_at=min(left) if left else None,
            ind_arrived_at=box["ind_ata_at"], rail_unloaded_at=box["ind_rail_unloaded_at"],
            ramp_out_at=out, picked_up_at=out or (None if by_rail else box["pod_full_out_at"]),
            returned_at=box["empty_terminated_at"], went_by_rail=by_rail or out is not None,
            is_tracking_stopped=f.is_stopped(box))
    return found


def known_transport_events(f):
    return {e["transport_event_id"]: {c: e.get(c) for c in f.columns["known_transport_events"]}
            for events in f.events.values() for e in events}


def known_import_deadlines(f):
    return {(id_, kind): {c: v for c, v in item.items() if c in f.columns["known_import_deadlines"]}
            for id_ in f.containers for kind, item in f.model.children[id_][0].items()}


def known_children(view, number):
    def make(f):
        return {(id_,) + key: {c: v for c, v in item.items() if c in f.columns[view]}
                for id_ in f.containers for key, item in f.model.children[id_][number].items()}
    return make


VIEWS = {"known_shipments": known_shipments, "known_containers": known_containers, "journey_facts": journeys,
         "known_transport_events": known_transport_events, "known_import_deadlines": known_import_deadlines,
         "known_holds": known_children("known_holds", 1), "known_fees": known_children("known_fees", 2),
         "container_customers": container_customers, "journey": journey,
         "container_stays": stays, "stay_facts": stay_facts,
         "last_free_days": last_free_days}
# How a row of an answer is told: its columns, and the order of rows that share them.
KEYS = {"known_shipments": (("shipment_id",), None), "known_transport_events": (("transport_event_id",), None),
        "known_import_deadlines": (("container_id", "kind"), None),
        "known_holds": (("container_id", "place", "name", "description"), "hold_key"),
        "known_fees": (("container_id", "place", "type", "currency_code"), "fee_key"),
        "container_stays": (("container_id", "place"), None), "stay_facts": (("container_id", "place"), None),
        "last_free_days": (("container_id", "place"), None)}
