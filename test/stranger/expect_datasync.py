"""The views with the names of the service's own export."""

from values import Known, local

COPIED = {  # column of the export -> column of the container
    "container_number": "number", "shipment_id": "shipment_id", "pod_timezone": "pod_timezone",
    "pod_rail_carrier_scac": "pod_rail_carrier_scac", "ind_rail_carrier_scac": "ind_rail_carrier_scac",
    "location_at_pod_terminal": "location_at_pod_terminal", "seal_number": "seal_number",
    "equipment_length": "equipment_length", "pod_full_out_chassis_number": "pod_full_out_chassis_number"}
OF_SHIPMENT = {"shipment_bill_of_lading_number": "bill_of_lading_number", "pol_locode": "port_of_lading_locode",
               "shipment_normalized_number": "normalized_number", "customer_name": "customer_name",
               "shipping_line_scac": "shipping_line_scac", "shipping_line_name": "shipping_line_name",
               "pol_timezone": "pol_timezone", "pod_locode": "port_of_discharge_locode",
               "pod_voyage_number": "pod_voyage_number", "pod_vessel_name": "pod_vessel_name",
               "pod_vessel_imo": "pod_vessel_imo", "line_tracking_stopped_reason": "line_tracking_stopped_reason"}
INSTANTS = {"pod_arrived_at": "pod_arrived_at", "pod_discharged_at": "pod_discharged_at",
            "pod_full_out_at": "pod_full_out_at", "pod_rail_loaded_at": "pod_rail_loaded_at",
            "pod_rail_departed_at": "pod_rail_departed_at", "pod_pickup_appointment_at": "pickup_appointment_at",
            "ind_eta_at": "ind_eta_at", "ind_arrived_at": "ind_ata_at", "ind_full_out_at":
            "final_destination_full_out_at", "ind_rail_unloaded_at": "ind_rail_unloaded_at",
            "empty_terminated_at": "empty_terminated_at"}


def utc(at):
    return at and at.replace(tzinfo=None)


def joined(texts, in_order=False):
    return ", ".join(sorted(texts) if in_order else texts) or None if texts else None


def wall(at, zone_name):
    found = local(at, zone_name)
    return found and found.strftime("%Y-%m-%d %H:%M:%S")


def yes(value):
    return None if value is None else "Yes" if value else "No"


def containers(f):
    found = {}
    for id_, box in f.containers.items():
        ship = f.shipment(box)
        row = {c: box[o] for c, o in COPIED.items()}
        row.update({c: ship[o] for c, o in OF_SHIPMENT.items()})
        for column, origin in INSTANTS.items():
            zone_name = box["empty_terminated_timezone" if column.startswith("empty") else
                            "pod_timezone" if column.startswith("pod") else "final_destination_timezone"]
            row[column], row[column + "_local"] = utc(box[origin]), wall(box[origin], zone_name)
        for column in ("pol_etd_at", "pod_eta_at"):
            row[column] = utc(ship[column])
        terminal = f.terminals.get(box["pod_terminal_id"]) or {}
        row.update(
            container_reference_numbers=joined(box["ref_numbers"]), shipment_tags=joined(ship["tags"], True),
            shipment_reference_numbers=joined(ship["ref_numbers"]), created_at=utc(box["created_at"]),
            pod_terminal_firms_code=terminal.get("firms_code"), pod_terminal_name=terminal.get("name"),
            availability_known=yes(box["availability_known"]), terminal_checked_at=utc(box["terminal_checked_at"]),
            available_for_pickup=yes(box["available_for_pickup"]) if box["availability_known"] else
            None if box["availability_known"] is False else
            Known("availability not said", None, yes(box["available_for_pickup"])))
        found[id_] = row
    return found


def shipments(f):
    names = ("shipping_line_scac", "shipping_line_name", "bill_of_lading_number", "normalized_number",
             "customer_name", "pod_voyage_number", "pod_vessel_name", "pod_vessel_imo",
             "line_tracking_stopped_reason")
    instants = ("pol_atd_at", "pol_etd_at", "pod_eta_at", "created_at", "line_tracking_stopped_at",
                "line_tracking_last_succeeded_at")
    return {id_: dict(
        {n: ship[n] for n in names}, **{n: utc(ship[n]) for n in instants}, pod_arrived_at=utc(ship["pod_ata_at"]),
        reference_numbers=joined(ship["ref_numbers"]), tags=joined(ship["tags"], True),
        pol_locode=ship["port_of_lading_locode"], pod_locode=ship["port_of_discharge_locode"],
        destination_locode=ship["destination_locode"]) for id_, ship in f.shipments.items()}


def tracking_requests(f):
    names = ("request_number", "status", "failed_reason", "request_type", "scac")
    return {id_: dict(
        {n: request[n] for n in names}, reference_numbers=joined(request["ref_numbers"]),
        shipment_tags=joined(request["shipment_tags"], True), shipment_id=request["tracked_object_id"],
        created_at=utc(request["created_at"]), updated_at=utc(request["updated_at"]))
        for id_, request in f.requests.items()}


def transport_events(f):
    found = {}
    for id_, row in f.model.rows["transport_events"].items():  # withdrawn ones, too
        e = row.values
        box, ship = f.now_containers.get(e["container_id"]), f.now_shipments.get(e["shipment_id"])
        vessel = f.vessels.get(e["vessel_id"]) or {}
        found[id_] = {
            "event": e["event"], "event_timestamp": utc(e["timestamp"]), "container_id": e["container_id"],
            "event_timestamp_local": wall(e["timestamp"], e["timezone"]), "container_number": box["number"],
            "shipment_id": e["shipment_id"], "shipment_number": ship["bill_of_lading_number"],
            "port_metro_id": e["location_id"], "port_metro_locode": e["location_locode"],
            "facility_id": e["terminal_id"], "vessel_id": e["vessel_id"], "vessel_name": vessel.get("name"),
            "vessel_imo": vessel.get("imo"), "voyage_number": e["voyage_number"],
            "data_source_label": e["data_source"], "created_at": utc(e["created_at"]),
            "previous_version_id": e.get("previous_version_id")}
    return found


VIEWS = {"containers": containers, "shipments": shipments, "tracking_requests": tracking_requests,
         "transport_events": transport_events}
KEYS = {"containers": "container_id", "shipments": "shipment_id", "tracking_requests": "tracking_request_id",
        "transport_events": "id"}
