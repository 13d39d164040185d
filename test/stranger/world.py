"""A world of shipments and containers, made from a seed, that moves from day to day.

Records have the form in which the service sends them (JSON:API resource objects). Everything that a
record says is in `World.records`; `move` changes it, the service shows it, and the expectations are
computed from it. An attribute that is not in a record is absent, which is not the same as null.
"""

import random
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

UTC = timezone.utc

PORTS = [  # code, name, zone, country, state
    ("CNSHA", "Shanghai", "Asia/Shanghai", "CN", None),
    ("VNSGN", "Ho Chi Minh City", "Asia/Ho_Chi_Minh", "VN", None),
    ("INNSA", "Nhava Sheva", "Asia/Calcutta", "IN", None),
    ("KRPUS", "Busan", "Asia/Seoul", "KR", None),
    ("USLAX", "Los Angeles", "America/Los_Angeles", "US", "CA"),
    ("USNYC", "New York / New Jersey", "America/New_York", "US", "NY"),
    ("USHOU", "Houston", "America/Chicago", "US", "TX"),
    ("CAVAN", "Vancouver", "America/Vancouver", "CA", "BC"),
    ("NLRTM", "Rotterdam", "Europe/Amsterdam", "NL", None),
]
LADING = ["CNSHA", "VNSGN", "INNSA"]
DISCHARGE = ["USLAX", "USNYC", "USHOU", "CAVAN", "NLRTM"]
METROS = [
    ("USCHI", "Chicago", "America/Chicago", "IL"),
    ("USDET", "Detroit", "America/Detroit", "MI"),
    ("USMEM", "Memphis", "America/Chicago", "TN"),
]
LINES = [("MAEU", "Maersk", "Maersk"), ("OOLU", "Orient Overseas Container Line", "OOCL"),
         ("MSCU", "Mediterranean Shipping Company", "MSC"), ("ZIMU", "ZIM Integrated", "ZIM")]
CUSTOMERS = ["Acme Imports LLC", "Sodor Steamworks", "Müller & Söhne GmbH", "株式会社 海運", None]
# Milestone: (attribute of the container or None, name of the transport event, place, source)
MILESTONES = {
    "empty_out": ("empty_out_at", "empty_out", "pol", "shipping_line"),
    "full_in": ("pol_full_in_at", "full_in", "pol", "terminal"),
    "loaded": ("pol_vessel_loaded_at", "vessel_loaded", "pol", "shipping_line"),
    "departed": ("pol_vessel_departed_at", "vessel_departed", "pol", "ais"),
    "ts_arrived": (None, "transshipment_arrived", "ts", "shipping_line"),
    "ts_discharged": (None, "transshipment_discharged", "ts", "shipping_line"),
    "ts_loaded": (None, "transshipment_loaded", "ts", "shipping_line"),
    "ts_departed": (None, "transshipment_departed", "ts", "ais"),
    "arrived": ("pod_arrived_at", "vessel_arrived", "pod", "ais"),
    "berthed": (None, "vessel_berthed", "pod", "ais"),
    "discharged": ("pod_discharged_at", "vessel_discharged", "pod", "terminal"),
    "available": (None, "available", "pod", "terminal"),
    "full_out": ("pod_full_out_at", "full_out", "pod", "terminal"),
    "rail_loaded": ("pod_rail_loaded_at", "rail_loaded", "pod", "rail"),
    "rail_departed": ("pod_rail_departed_at", "rail_departed", "pod", "rail"),
    "ind_arrived": ("ind_ata_at", "arrived_at_inland_destination", "ind", "rail"),
    "ind_unloaded": ("ind_rail_unloaded_at", "rail_unloaded", "ind", "rail"),
    "ind_full_out": ("final_destination_full_out_at", "full_out", "ind", "rail"),
    "delivered": ("delivered_at", "delivered", "end", "user_input"),
    "empty_in": ("empty_terminated_at", "empty_in", "end", "shipping_line"),
}
NEWER = ["delivered_at", "empty_out_at", "pol_full_in_at", "pol_vessel_loaded_at",
         "pol_vessel_departed_at", "ssl_lfd", "ind_facility_holds", "ind_facility_fees",
         "rail_last_tracking_request_at"]
HOLDS = [("customs", "hold", "CBP exam"), ("freight", "hold", None), ("TMF", "pending", "Fee unpaid"),
         ("other", "hold", "DOWN - Broken Machine Over Pile"), ("USDA", "hold", "")]
ODD_TEXTS = ["=1+1", "line\nbreak\ttab", "nul\u0000inside", "half \ud83d pair", "😀 Ωß", " ", "",
             "'; drop table x; --", "x" * 5000, "<b>&amp;</b>", "e\u0301 vs \u00e9", "\u202eright"]


def text_of(instant, style=0):
    """An instant as the service writes it: with Z, with an offset, or with a fraction."""
    if instant is None:
        return None
    if style == 1:
        return instant.astimezone(timezone(timedelta(hours=-7))).strftime("%Y-%m-%dT%H:%M:%S-07:00")
    if style == 2:
        return instant.strftime("%Y-%m-%dT%H:%M:%S.") + "%06dZ" % instant.microsecond
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def link(type_, id_):
    return {"data": None if id_ is None else {"id": id_, "type": type_}}


def links(type_, ids):
    return {"data": [{"id": i, "type": type_} for i in ids]}


class Journey:
    """The events to come of one container, and those reported so far."""

    def __init__(self, container_id, shipment_id, plan, is_rail):
        self.container_id, self.shipment_id = container_id, shipment_id
        self.plan, self.is_rail = plan, is_rail
        self.reported = {}  # milestone -> instant as reported
        self.events = {}  # milestone -> id of its transport event
        self.withdrawn = set()


class World:
    def __init__(self, seed, shipments, start):
        self.seed, self.rng, self.now = seed, random.Random(seed), start
        self.records = {}  # type -> id -> record
        self.hidden = {}  # (type, id) -> day on which it returns, or None
        self.malformed = {}  # type -> records that nobody can store
        self.odd = {}  # (type, id) -> {attribute: value}; a value of ABSENT takes it out
        self.positions, self.raw_events, self.options = {}, {}, {}
        self.journeys, self.day, self.counts = {}, 0, {}
        self.left_out = []  # (record, attributes that it lacks today)
        self._places()
        self._custom_field_definitions()
        for _ in range(shipments):
            self._add_shipment()
        self._oddities()
        self._move_journeys()

    # -- helpers -------------------------------------------------------------------------------

    def id(self):
        r = self.rng
        return "%08x-%04x-4%03x-a%03x-%012x" % (r.getrandbits(32), r.getrandbits(16),
                                               r.getrandbits(12), r.getrandbits(12), r.getrandbits(48))

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def add(self, type_, attributes, relationships=None, id_=None, self_link=None):
        record = {"id": id_ or self.id(), "type": type_, "attributes": attributes}
        if relationships is not None:
            record["relationships"] = relationships
        if self_link:
            record["links"] = {"self": "/v2/%s/%s" % (self_link, record["id"])}
        self.records.setdefault(type_, {})[record["id"]] = record
        return record

    def of(self, type_):
        """The records of a type that the service shows now."""
        return [r for r in self.records.get(type_, {}).values() if not self.is_hidden(r)]

    def is_hidden(self, record):
        return (record["type"], record["id"]) in self.hidden

    def get(self, type_, id_):
        record = self.records.get(type_, {}).get(id_)
        return None if record is None or self.is_hidden(record) else record

    def chance(self, probability):
        return self.rng.random() < probability

    def hours(self, low, high):
        return timedelta(seconds=int(self.rng.uniform(low, high) * 3600))

    # -- places --------------------------------------------------------------------------------

    def _places(self):
        r = self.rng
        self.port, self.metro, self.terminal, self.rail, self.ramp = {}, {}, {}, {}, {}
        for code, name, zone, country, state in PORTS:
            self.port[code] = self.add("port", {
                "name": name, "code": code, "state_abbr": state, "city": name.split(" /")[0],
                "country_code": country, "time_zone": zone,
                "latitude": "%.9f" % r.uniform(-60, 60), "longitude": r.uniform(-170, 170)},
                {"terminals": links("terminal", [])})
        for code, name, zone, state in METROS:
            self.metro[code] = self.add("metro_area", {
                "name": name, "code": code, "state_abbr": state, "country_code": "US",
                "time_zone": zone, "latitude": 41.25, "longitude": None})
            self.rail[code] = self.add("rail_terminal", {
                "name": name + " Intermodal", "nickname": name[:3].upper(), "firms_code": None,
                "city": name}, {"port": link("port", None),
                                "metro_area": link("metro_area", self.metro[code]["id"])})
            self.ramp[code] = self.add("terminal", {
                "name": name + " Ramp", "nickname": None, "firms_code": "R%03d" % r.randrange(999),
                "city": name, "state_abbr": state, "facility_type": "rail"},
                {"port": link("port", None)})
        for code in DISCHARGE:
            port = self.port[code]
            self.terminal[code] = []
            for n in range(2):
                terminal = self.add("terminal", {
                    "name": "%s Terminal %d" % (code, n), "nickname": ["T-%s" % code[2:], None][n],
                    "firms_code": "F%03d" % r.randrange(999), "smdg_code": "S%d" % n,
                    "bic_facility_code": None, "street": "%d Pier Rd" % r.randrange(999),
                    "city": port["attributes"]["city"], "state": None, "state_abbr": None,
                    "zip": "0%04d" % r.randrange(9999), "country": "United States",
                    "facility_type": "ocean_terminal",
                    "provided_data": {"pickup_lfd": n == 0, "pickup_lfd_notes": ""}},
                    {"port": link("port", port["id"])})
                self.terminal[code].append(terminal)
            ids = [t["id"] for t in self.terminal[code]]
            port["relationships"]["terminals"] = links("terminal", ids)
        self.vessels = []
        for n in range(6):
            vessel = self.add("vessel", {
                "name": "STRANGER %d" % n, "imo": "9%06d" % r.randrange(10**6),
                "mmsi": None if n == 0 else "%09d" % r.randrange(10**9), "latitude": 12.5 + n,
                "longitude": -118.255820307, "nautical_speed_knots": 13.4 + n,
                "navigational_heading_degrees": 270, "position_timestamp": text_of(self.now)})
            self.vessels.append(vessel)
            self.positions[vessel["id"]] = []
        self.add("webhook_event_category", {
            "name": "Tracking Request Events", "events": [
                {"name": "tracking_request.succeeded", "description": "Shipment created."},
                {"name": "tracking_request.failed", "description": None}]},
            id_="tracking-request-events")
        self.add("webhook_event_category", {"name": "Container Events", "events": [
            {"name": "container.updated", "description": "Something changed."}]},
            id_="container-events")

    def _custom_field_definitions(self):
        for entity, slug, kind, extra in [
            ("Shipment", "po_owner", "short_text", {"description": "Who ordered it"}),
            ("Shipment", "margin", "number", {"default_format": "0.00", "default_value": 0}),
            ("Container", "due_date", "date", {}),
            ("Container", "seen_at", "datetime", {"validation": {"min": "2020-01-01"}}),
            ("Container", "is_urgent", "boolean", {}),
            ("Shipment", "priority", "enum", {}),
            ("TrackingRequest", "teams", "enum_multi", {}),
            ("Shipment", "contact", "reference", {"reference_type": "User"}),
        ]:
            attributes = {"entity_type": entity, "api_slug": slug, "display_name": slug.title(),
                          "data_type": kind, "description": None, "reference_type": None,
                          "validation": None, "default_format": None, "default_value": None}
            attributes.update(extra)
            definition = self.add("custom_field_definition", attributes)
            self.options[definition["id"]] = []
            if kind.startswith("enum"):
                for n, label in enumerate(["low", "high"]):
                    self.options[definition["id"]].append(self.add(
                        "custom_field_option", {"label": label.title(), "value": label, "position": n},
                        {"definition": link("custom_field_definition", definition["id"])}))

    def _custom_field(self, record, slug, value):
        kinds = {"shipment": "Shipment", "container": "Container", "tracking_request": "TrackingRequest"}
        for definition in self.of("custom_field_definition"):
            a = definition["attributes"]
            if a["api_slug"] == slug and a["entity_type"] == kinds[record["type"]]:
                self.add("custom_field", {
                    "api_slug": slug, "value": value,
                    "display_value": None if value is None or slug == "margin" else str(value)},
                    {"entity": link(record["type"], record["id"]),
                     "definition": link("custom_field_definition", definition["id"])})

    # -- shipments and containers --------------------------------------------------------------

    def _add_shipment(self):
        r = self.rng
        pol, pod = r.choice(LADING), r.choice(DISCHARGE)
        is_rail = pod in ("USLAX", "USNYC") and self.chance(0.5)
        inland = r.choice(METROS)[0] if is_rail else None
        scac, line, short = r.choice(LINES)
        number = "%s%09d" % (scac, r.randrange(10**9))
        vessel = r.choice(self.vessels)
        departed = self.now - self.hours(-4 * 24, 45 * 24)
        arrival = departed + self.hours(14 * 24, 20 * 24)
        zone = lambda code: self.port[code]["attributes"]["time_zone"]
        pod_zone = zone(pod)
        if self.chance(0.08):
            pod_zone = r.choice([None, "Mars/Olympus"])
        terminal = r.choice(self.terminal[pod]) if self.chance(0.9) else None
        shipment = self.add("shipment", {
            "bill_of_lading_number": number, "normalized_number": number[4:],
            "ref_numbers": r.choice([[], None, ["PO-%d" % r.randrange(999), "ß, €"]]),
            "created_at": text_of(departed - timedelta(days=6)), "tags": r.choice([[], ["vip", "late"]]),
            "port_of_lading_locode": pol, "port_of_lading_name": self.port[pol]["attributes"]["name"],
            "port_of_discharge_locode": pod,
            "port_of_discharge_name": self.port[pod]["attributes"]["name"],
            "destination_locode": inland,
            "destination_name": inland and self.metro[inland]["attributes"]["name"],
            "shipping_line_scac": scac, "shipping_line_name": line, "shipping_line_short_name": short,
            "customer_name": r.choice(CUSTOMERS), "pod_vessel_name": vessel["attributes"]["name"],
            "pod_vessel_imo": vessel["attributes"]["imo"], "pod_voyage_number": "%03dE" % r.randrange(999),
            "pol_etd_at": text_of(departed - self.hours(0, 20)),
            "pol_original_etd_at": text_of(departed - self.hours(20, 40)), "pol_atd_at": None,
            "pod_eta_at": text_of(arrival), "pod_original_eta_at":
                text_of(arrival - self.hours(-40, 60)) if self.chance(0.85) else None,
            "pod_ata_at": None,
            "destination_eta_at": text_of(arrival + timedelta(days=6)) if inland else None,
            "destination_original_eta_at": None, "destination_ata_at": None,
            "pol_timezone": zone(pol), "pod_timezone": pod_zone,
            "destination_timezone": inland and self.metro[inland]["attributes"]["time_zone"],
            "line_tracking_last_attempted_at": text_of(self.now),
            "line_tracking_last_succeeded_at": text_of(self.now),
            "line_tracking_stopped_at": None, "line_tracking_stopped_reason": None,
        }, {
            "port_of_lading": link("port", self.port[pol]["id"]),
            "port_of_discharge": link("port", self.port[pod]["id"]),
            "pod_terminal": link("terminal", terminal and terminal["id"]),
            "destination": link("metro_area", inland and self.metro[inland]["id"]),
            "destination_terminal": link("rail_terminal", inland and self.rail[inland]["id"]),
            "line_tracking_stopped_by_user": link("user", None), "containers": links("container", []),
        }, self_link="shipments")
        self._add_tracking_request(shipment, number, scac, departed)
        transshipment = self.chance(0.3)
        for _ in range(r.randint(1, 3)):
            self._add_container(shipment, departed, arrival, is_rail, inland, terminal, transshipment)
        self._custom_field(shipment, "po_owner", r.choice(["A. Okafor", "Zoë", None]))
        if self.chance(0.5):
            self._custom_field(shipment, "margin", r.choice([12.5, 3, "twelve"]))
            self._custom_field(shipment, "priority", r.choice(["low", "high"]))
        return shipment

    def _add_tracking_request(self, shipment, number, scac, departed):
        at = departed - timedelta(days=6, hours=1)
        request = self.add("tracking_request", {
            "request_number": number, "request_type": "bill_of_lading", "scac": scac,
            "ref_numbers": [], "created_at": text_of(at, 1), "updated_at": text_of(at, 1),
            "status": "created", "failed_reason": None, "is_retrying": False, "retry_count": None,
            "tags": ["x"], "shipment_tags": []},
            {"tracked_object": link("shipment", shipment and shipment["id"]),
             "customer": link("party", self.id() if self.chance(0.3) else None),
             "user": link("user", None)}, self_link="tracking_requests")
        if self.chance(0.3):
            self._custom_field(request, "teams", ["low", "high"])
        return request

    def _add_container(self, shipment, departed, arrival, is_rail, inland, terminal, transshipment):
        r, a = self.rng, shipment["attributes"]
        plan, at = {}, departed
        plan["loaded"] = departed - self.hours(4, 24)
        plan["full_in"] = plan["loaded"] - self.hours(10, 70)
        plan["empty_out"] = plan["full_in"] - self.hours(10, 60)
        plan["departed"] = departed
        if transshipment:
            plan["ts_arrived"] = departed + timedelta(days=5)
            plan["ts_discharged"] = plan["ts_arrived"] + self.hours(3, 20)
            plan["ts_loaded"] = plan["ts_discharged"] + self.hours(20, 70)
            plan["ts_departed"] = plan["ts_loaded"] + self.hours(3, 20)
        plan["arrived"] = arrival + self.hours(-10, 40)
        plan["berthed"] = plan["arrived"] + self.hours(1, 10)
        plan["discharged"] = at = plan["berthed"] + self.hours(3, 40)
        plan["available"] = at + self.hours(4, 60)
        if is_rail:
            plan["rail_loaded"] = at = at + self.hours(20, 90)
            plan["rail_departed"] = at = at + self.hours(4, 24)
            plan["ind_arrived"] = at = at + self.hours(60, 120)
            plan["ind_unloaded"] = at = at + self.hours(2, 12)
            plan["ind_full_out"] = at = at + self.hours(20, 110)
        else:
            plan["full_out"] = at = plan["available"] + self.hours(5, 200)
        if self.chance(0.5):
            plan["delivered"] = at + self.hours(3, 30)
        plan["empty_in"] = at + self.hours(40, 200)
        container = self.add("container", {
            "number": "STRU%07d" % r.randrange(10**7), "ref_numbers": r.choice([[], ["C-%d" % r.randrange(99)]]),
            "equipment_type": r.choice(["dry", "reefer", "open top", None]),
            "equipment_length": r.choice([20, 40, 40, 45, None]), "equipment_height": "high_cube",
            "weight_in_lbs": r.choice([53502, 41234.567, None]), "created_at": a["created_at"],
            "seal_number": r.choice([None, "S-1"]), "pickup_lfd": None, "ssl_lfd": None,
            "pickup_appointment_at": None, "availability_known": self.chance(0.85),
            "available_for_pickup": False, "terminal_checked_at": None,
            "pod_full_out_chassis_number": None, "location_at_pod_terminal": None,
            "holds_at_pod_terminal": [], "fees_at_pod_terminal": [], "ind_facility_holds": None,
            "ind_facility_fees": None, "pod_timezone": a["pod_timezone"],
            "final_destination_timezone": a["destination_timezone"],
            "empty_terminated_timezone": a["destination_timezone"] or a["pod_timezone"],
            "pod_rail_carrier_scac": "CSXT" if is_rail else None,
            "ind_rail_carrier_scac": "CSXT" if is_rail else None,
            "pod_last_tracking_request_at": text_of(self.now), "rail_last_tracking_request_at": None,
            "shipment_last_tracking_request_at": text_of(self.now), "ind_eta_at": None,
            "ind_facility_lfd_on": None, "current_status": "new",
            "import_deadlines": {"pickup_lfd_terminal": None, "pickup_lfd_rail": None,
                                 "pickup_lfd_line": None},
        }, {
            "shipment": link("shipment", shipment["id"]),
            "pickup_facility": link("terminal", self.ramp[inland]["id"] if inland else None),
            "pod_terminal": link("terminal", terminal and terminal["id"]),
            "transport_events": links("transport_event", []), "raw_events": links("raw_event", []),
        })
        for attribute, _, _, _ in MILESTONES.values():
            if attribute:
                container["attributes"][attribute] = None
        shipment["relationships"]["containers"]["data"].append(
            {"id": container["id"], "type": "container"})
        self.journeys[container["id"]] = Journey(container["id"], shipment["id"], plan, is_rail)
        self.raw_events[container["id"]] = []
        if self.chance(0.25):  # a record as the service sent it before it knew these attributes
            for name in NEWER:
                container["attributes"].pop(name)
        if self.chance(0.4):
            self._custom_field(container, "due_date", r.choice(["2026-12-24", "soon", None]))
            self._custom_field(container, "is_urgent", self.chance(0.5))
            self._custom_field(container, "seen_at", text_of(self.now, 2))

    def _oddities(self):
        """Values of a wrong type or form, and attributes and types that nobody described."""
        boxes = self.of("container")
        for n, odd in enumerate([
            {"seal_number": 12345}, {"equipment_length": "40"}, {"equipment_length": "forty"},
            {"weight_in_lbs": "53502.10"}, {"weight_in_lbs": "13,5"}, {"ref_numbers": "one"},
            {"created_at": "2026-02-30T10:00:00Z"}, {"created_at": "2026-11-01T10:00:00"},
            {"created_at": 1700000000}, {"availability_known": "true"}, {"availability_known": "maybe"},
            {"weight_in_lbs": 12345678901234567.25}, {"new_attribute": {"a": [1, None]}},
            {"equipment_length": 41}, {"equipment_type": "submarine"}, {"current_extra": "ignored?"},
            {"ind_eta_at": "2026-11-20T10:00:00.123456+05:30"}, {"ind_eta_at": "2026-11-20"},
        ]):
            self.odd[("container", boxes[n % len(boxes)]["id"])] = odd
        for box, text in zip(boxes[20:], ODD_TEXTS):
            box["attributes"]["location_at_pod_terminal"] = text
        for shipment, text in zip(self.of("shipment")[3:], ODD_TEXTS):
            shipment["attributes"]["customer_name"] = text
        self.apply_odd()

    def apply_odd(self):
        for (type_, id_), values in self.odd.items():
            record = self.records[type_].get(id_)
            if record:
                record["attributes"].update(values)

    # -- movement ------------------------------------------------------------------------------

    def move(self, now):
        """Moves the world on to another day."""
        self.day, self.now = self.day + 1, now
        r = self.rng
        self.shown_before = [r for t in ("container", "shipment", "tracking_request") for r in self.of(t)]
        for record, attributes in self.left_out:
            record["attributes"].update(attributes)
        self.left_out = []
        self._add_shipment()
        self._move_journeys()
        self._come_and_go()
        for field in r.sample(self.of("custom_field"), min(3, len(self.of("custom_field")))):
            a = field["attributes"]
            if a["api_slug"] == "po_owner":
                a["value"] = a["display_value"] = "owner %d" % r.randrange(99)
                self.count("custom field changed")
        for vessel in self.vessels:
            a = vessel["attributes"]
            a["latitude"], a["position_timestamp"] = round(r.uniform(-60, 60), 6), text_of(now)
            self.positions[vessel["id"]].append({
                "latitude": a["latitude"], "longitude": a["longitude"],
                "heading": r.choice([None, 90.5]), "timestamp": text_of(now), "estimated": self.chance(0.3)})
        self.malformed = {} if self.day not in (1, 2) else {
            "shipment": [{"type": "shipment", "attributes": {"bill_of_lading_number": "without an id"}}],
            "tracking_request": [{"id": "broken-%d" % self.seed, "type": "tracking_request",
                                  "attributes": ["not", "an", "object"]}]}
        self.apply_odd()
        self._leave_out()

    def _leave_out(self):
        """Some records lack some attributes for a day, which says nothing about their values."""
        for type_, names in [("container", ["seal_number", "weight_in_lbs", "equipment_type", "ref_numbers"]),
                             ("shipment", ["customer_name", "tags", "pod_voyage_number"]),
                             ("tracking_request", ["failed_reason", "tags"])]:
            for record in self.rng.sample(self.shown_before, min(12, len(self.shown_before))):
                if record["type"] == type_:
                    a = record["attributes"]
                    self.left_out.append((record, {n: a.pop(n) for n in names if n in a}))
                    self.count("attributes left out")

    def _come_and_go(self):
        """Records disappear from the service and some return."""
        r = self.rng
        for (type_, id_), day in list(self.hidden.items()):
            if day is not None and day <= self.day:
                del self.hidden[(type_, id_)]
                self._list_container(self.records[type_][id_])
                self.count("record returned")

        def hide(type_, returns):
            shown = self.of(type_)
            if len(shown) > 8:
                record = r.choice(shown)
                self.hidden[(type_, record["id"])] = returns and self.day + returns
                self._list_container(record)
                self.count(type_ + " disappeared")
                return record

        hide("container", r.choice([2, 3, None]))
        if self.day == 2:
            gone = hide("shipment", None)
            for box in self.of("container"):
                if gone and box["relationships"]["shipment"]["data"]["id"] == gone["id"]:
                    self.hidden[("container", box["id"])] = None
        if self.day % 2 == 0:
            hide("custom_field", None)
            hide("tracking_request", r.choice([2, None]))

    def _list_container(self, record):
        """Lists a container with its shipment while the service shows it."""
        if record["type"] == "container":
            shipment = self.records["shipment"][record["relationships"]["shipment"]["data"]["id"]]
            listed = [x for x in shipment["relationships"]["containers"]["data"] if x["id"] != record["id"]]
            if not self.is_hidden(record):
                listed.append({"id": record["id"], "type": "container"})
            shipment["relationships"]["containers"]["data"] = listed

    def _move_journeys(self):
        for journey in self.journeys.values():
            container = self.records["container"][journey.container_id]
            shipment = self.records["shipment"][container["relationships"]["shipment"]["data"]["id"]]
            if not (self.is_hidden(container) or self.is_hidden(shipment)):
                self._report(journey, container, shipment)
                self._terminal_says(journey, container, shipment)
        for shipment in self.of("shipment"):
            self._line_says(shipment)

    def _report(self, journey, container, shipment):
        old, a = dict(journey.reported), container["attributes"]
        for name, at in journey.plan.items():
            if at <= self.now and name not in journey.reported:
                if name in journey.withdrawn and self.chance(0.5):
                    continue
                journey.reported[name] = at
                self._event(journey, container, shipment, name, at)
        for name in list(journey.reported):
            if name in old and self.day and self.chance(0.03 if MILESTONES[name][2] in ("pod", "ind") else 0.004):
                if self.chance(0.6):  # corrected: a new event replaces the old one
                    at = journey.reported[name] + self.hours(-5, 5)
                    if at < self.now:
                        previous = journey.events[name]
                        journey.reported[name] = at
                        self._remove_event(container, previous)
                        self._event(journey, container, shipment, name, at, previous)
                        self.count("milestone corrected")
                else:
                    self._remove_event(container, journey.events.pop(name))
                    del journey.reported[name]
                    journey.withdrawn.add(name)
                    self.count("milestone withdrawn")
        style = self.rng.randrange(3) if self.day == 0 else 0
        for name, (attribute, _, _, _) in MILESTONES.items():
            if attribute and attribute in a:
                if journey.reported.get(name) != old.get(name):
                    a[attribute] = text_of(journey.reported.get(name), style)

    def _event(self, journey, container, shipment, name, at, previous=None):
        _, kind, place, source = MILESTONES[name]
        a = shipment["attributes"]
        code = {"pol": a["port_of_lading_locode"], "ts": "KRPUS", "pod": a["port_of_discharge_locode"],
                "ind": a["destination_locode"],
                "end": a["destination_locode"] or a["port_of_discharge_locode"]}[place]
        spot = self.metro.get(code) or self.port[code]
        zone = {"pod": container["attributes"]["pod_timezone"]}.get(place, spot["attributes"]["time_zone"])
        terminal = container["relationships"]["pod_terminal"]["data"] if place == "pod" else None
        ship = self.rng.choice(self.vessels) if kind.startswith(("vessel", "transshipment")) else None
        event = self.add("transport_event", {
            "event": "container.transport." + kind,
            "voyage_number": a["pod_voyage_number"] if ship else None, "timestamp": text_of(at),
            "timezone": zone, "location_locode": code,
            "created_at": text_of(min(self.now, at + self.hours(0, 30))), "data_source": source,
        }, {
            "shipment": link("shipment", shipment["id"]), "container": link("container", container["id"]),
            "location": link(spot["type"], spot["id"]), "vessel": link("vessel", ship and ship["id"]),
            "terminal": link("terminal", terminal and terminal["id"])})
        if previous:
            event["relationships"]["previous_version"] = link("transport_event", previous)
        if at is not self.now:
            journey.events[name] = event["id"]
        container["relationships"]["transport_events"]["data"].insert(
            0, {"id": event["id"], "type": "transport_event"})
        raw = self.add("raw_event", {
            "event": kind, "original_event": "Carrier: " + kind, "timestamp": text_of(at),
            "estimated": False, "index": len(self.raw_events[container["id"]]),
            "created_at": text_of(self.now), "voyage_number": None, "location_name": spot["attributes"]["name"],
            "location_locode": code, "vessel_name": None, "vessel_imo": None, "timezone": zone,
            "actual_on": at.strftime("%Y-%m-%d"), "estimated_on": None, "actual_at": text_of(at),
            "estimated_at": None}, {"location": link(spot["type"], spot["id"]),
                                    "vessel": link("vessel", ship and ship["id"])})
        self.raw_events[container["id"]].append(raw)
        container["relationships"]["raw_events"]["data"].append({"id": raw["id"], "type": "raw_event"})
        return event

    def _remove_event(self, container, event_id):
        listed = container["relationships"]["transport_events"]
        listed["data"] = [x for x in listed["data"] if x["id"] != event_id]
        self.hidden[("transport_event", event_id)] = None

    def _local_midnight(self, day, zone):
        try:
            return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
        except Exception:  # without a zone the service sends wall time marked as UTC
            return datetime(day.year, day.month, day.day, tzinfo=UTC)

    def _terminal_says(self, journey, container, shipment):
        """Holds, fees, last free days, availability, appointment and status."""
        r, a, said = self.rng, container["attributes"], journey.reported
        deadlines = a["import_deadlines"]
        zone = a["pod_timezone"]
        there = "discharged" in said and not ({"full_out", "rail_departed"} & set(said))
        if "discharged" in said and deadlines["pickup_lfd_terminal"] is None and self.chance(0.8):
            day = (said["discharged"] + timedelta(days=r.randint(2, 5))).date()
            deadlines["pickup_lfd_terminal"] = text_of(self._local_midnight(day, zone))
            if self.chance(0.5):
                deadlines["pickup_lfd_line"] = text_of(
                    self._local_midnight(day + timedelta(days=r.choice([-1, 0, 1])), zone))
            self.count("last free day given")
        elif there and self.day and deadlines["pickup_lfd_terminal"] and self.chance(0.15):
            day = datetime.strptime(deadlines["pickup_lfd_terminal"][:10], "%Y-%m-%d")
            deadlines["pickup_lfd_terminal"] = text_of(self._local_midnight(day + timedelta(days=1), zone))
            self.count("last free day moved")
            event = self._event(journey, container, shipment, "discharged", self.now)
            event["attributes"].update(event="container.pickup_lfd.changed", data_source="terminal",
                                       value=deadlines["pickup_lfd_terminal"],
                                       value_timestamp=deadlines["pickup_lfd_terminal"])
        if "ind_arrived" in said and deadlines["pickup_lfd_rail"] is None:
            day = (said["ind_arrived"] + timedelta(days=2)).date()
            deadlines["pickup_lfd_rail"] = text_of(
                self._local_midnight(day, a["final_destination_timezone"]))
        a["pickup_lfd"] = deadlines["pickup_lfd_line"] or deadlines["pickup_lfd_terminal"] \
            or deadlines["pickup_lfd_rail"]
        holds = a["holds_at_pod_terminal"]
        if there or "arrived" in said and not holds and "discharged" not in said:
            if len(holds) < 3 and self.chance(0.2):
                name, status, description = r.choice(HOLDS)
                if name not in [h["name"] for h in holds]:
                    holds = holds + [{"name": name, "status": status, "description": description}]
                    self.count("hold placed")
            elif holds and self.chance(0.35):
                holds = holds[1:]
                self.count("hold cleared")
            elif holds and self.chance(0.2):
                holds = [dict(holds[0], status="hold" if holds[0]["status"] == "pending" else "pending")] \
                    + holds[1:]
                self.count("hold changed")
        elif holds:
            holds = []
        a["holds_at_pod_terminal"] = holds
        over = deadlines["pickup_lfd_terminal"]
        if there and over and text_of(self.now) > over and self.chance(0.6):
            days = (self.now - datetime.strptime(over, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)).days + 1
            fees = [{"type": "demurrage", "amount": 150.25 * days, "currency_code": "USD"}]
            if self.chance(0.3):
                fees.append({"type": "exam", "amount": 80, "currency_code": r.choice(["USD", "CAD"])})
            if self.chance(0.3):
                fees.append({"type": "total", "amount": "%.2f" % (150.25 * days), "currency_code": "USD"})
            a["fees_at_pod_terminal"] = fees
            self.count("fees changed")
        elif not there and a["fees_at_pod_terminal"]:
            a["fees_at_pod_terminal"] = []
        if "ind_arrived" in said and "ind_facility_holds" in a:
            inland = "ind_full_out" not in said
            a["ind_facility_holds"] = [{"name": "rail", "status": "hold", "description": None,
                                        "detail": "storage unpaid"}] if inland and self.chance(0.5) else []
            a["ind_facility_fees"] = [{"type": "storage", "amount": 33, "currency_code": "USD"}] \
                if inland and self.chance(0.5) else []
        if a["availability_known"] is True:
            a["available_for_pickup"] = there and "available" in said and not holds
        if there and a["pickup_appointment_at"] is None and self.chance(0.2):
            a["pickup_appointment_at"] = text_of(self.now + self.hours(5, 90))
        if "rail_departed" in said and "ind_arrived" not in said:
            a["ind_eta_at"] = text_of(journey.plan["ind_arrived"] + self.hours(-20, 20))
        if self.chance(0.5):
            a["terminal_checked_at"] = text_of(self.now)
            a["pod_last_tracking_request_at"] = text_of(self.now)
        stages = [("empty_in", "empty_returned"), ("delivered", "delivered"), ("ind_full_out", "picked_up"),
                  ("full_out", "picked_up"), ("ind_arrived", "available"), ("rail_departed", "on_rail"),
                  ("available", "available"), ("discharged", "grounded"), ("loaded", "on_ship")]
        a["current_status"] = next((s for m, s in stages if m in said), "new")

    def _line_says(self, shipment):
        """Estimates, the actual times of the shipment, and the end of tracking."""
        a = shipment["attributes"]
        boxes = [self.journeys[x["id"]] for x in shipment["relationships"]["containers"]["data"]]
        if not boxes or a["line_tracking_stopped_at"]:
            return
        said = boxes[0].reported
        for attribute, name in [("pol_atd_at", "departed"), ("pod_ata_at", "arrived")]:
            a[attribute] = text_of(said.get(name))
        if a["destination_locode"]:
            a["destination_ata_at"] = text_of(said.get("ind_arrived"))
        if "arrived" not in said and self.day and self.chance(0.3):
            eta = datetime.strptime(a["pod_eta_at"], "%Y-%m-%dT%H:%M:%SZ") if a["pod_eta_at"] else None
            arrival = boxes[0].plan["arrived"]
            a["pod_eta_at"] = None if eta and self.chance(0.1) else text_of(arrival + self.hours(-30, 30))
            self.count("ETA moved")
            if self.chance(0.1):
                vessel = self.rng.choice(self.vessels)["attributes"]
                a["pod_vessel_name"], a["pod_vessel_imo"] = vessel["name"], vessel["imo"]
                a["pod_voyage_number"] = "%03dW" % self.rng.randrange(999)
                self.count("vessel changed")
        if self.chance(0.5):
            a["line_tracking_last_attempted_at"] = text_of(self.now)
            a["line_tracking_last_succeeded_at"] = text_of(self.now)
        if all("empty_in" in j.reported for j in boxes) and self.chance(0.5):
            a["line_tracking_stopped_at"] = text_of(self.now)
            a["line_tracking_stopped_reason"] = "all_containers_terminated"
            self.count("tracking stopped")
