"""The warehouse as it must be: every data table and history, computed from what the service showed."""

import json
from collections import Counter
from decimal import Decimal

from dictionary import origins
from values import AnyOf, Known, Refused, Unsure, Window, cast, clean, is_number, local_day, parse_instant, zone

TABLES = {  # resource type -> (table, its id)
    "shipment": ("shipments", "shipment_id"), "container": ("containers", "container_id"),
    "transport_event": ("transport_events", "transport_event_id"),
    "tracking_request": ("tracking_requests", "tracking_request_id"),
    "port": ("ports", "port_id"), "metro_area": ("metro_areas", "metro_area_id"),
    "terminal": ("terminals", "terminal_id"), "rail_terminal": ("rail_terminals", "rail_terminal_id"),
    "vessel": ("vessels", "vessel_id"), "raw_event": ("raw_events", "raw_event_id"),
    "custom_field": ("custom_fields", "custom_field_id"),
    "custom_field_definition": ("custom_field_definitions", "custom_field_definition_id"),
    "custom_field_option": ("custom_field_options", "custom_field_option_id"),
    "webhook_event_category": ("webhook_event_categories", "webhook_event_category_id"),
}
REFERENCES = ("port", "metro_area", "terminal", "rail_terminal", "vessel")
HISTORY = {"shipments": "shipment_history", "containers": "container_history"}
# Attributes that change whenever the service looks: no material change (decision 4).
VOLATILE = {"terminal_checked_at", "pod_last_tracking_request_at", "rail_last_tracking_request_at",
            "shipment_last_tracking_request_at", "line_tracking_last_attempted_at",
            "line_tracking_last_succeeded_at", "retry_count"}
POSITION = {"latitude", "longitude", "nautical_speed_knots", "navigational_heading_degrees",
            "position_timestamp"}
VALUE_COLUMNS = {"short_text": "value_text", "enum": "value_text", "reference": "value_text",
                 "number": "value_number", "date": "value_date", "datetime": "value_timestamp",
                 "boolean": "value_boolean", "enum_multi": "value_list"}
VALUE_TYPES = {"value_text": "text", "value_number": "numeric", "value_date": "date",
               "value_timestamp": "timestamptz", "value_boolean": "boolean", "value_list": "text[]"}


class Row:
    def __init__(self, window):
        self.values, self.unmapped, self.coercions = {}, {}, {}
        self.first = self.changed = self.observed = window
        self.deleted, self.was_thin, self.stamps = None, False, [window]


class Model:
    """The knowledge of the warehouse. `see` takes a record that a complete run was shown."""

    def __init__(self, dictionary):
        self.columns = dictionary["tracking"]
        self.rows = {table: {} for table in self.columns}
        self.versions = {table: {} for table in HISTORY}
        self.intervals = {"container_import_deadline_history": {}, "container_hold_history": {},
                          "container_fee_history": {}}
        self.children = {}  # container -> (deadlines, holds, fees) of its row
        self.child_since = {}  # (table, container, key) -> window of its first sight
        self.origins = {table: origins(columns) for table, columns in self.columns.items()}

    # -- one record ----------------------------------------------------------------------------

    def flatten(self, record, table, shown=()):
        """(values of the columns that were sent, values without a column, values not storable)"""
        record = json.loads(json.dumps(record), parse_float=Decimal)
        attributes, relationships = record.get("attributes", {}), record.get("relationships") or {}
        values, unmapped, coercions, used = {}, {}, {}, {"attributes": set(shown), "relationships": {"raw_events"}}
        for column, (type_, where, path) in self.origins[table].items():
            parts = path.split(".")
            used[where].add(parts[0])
            source = attributes if where == "attributes" else relationships
            if parts[0] not in source:
                continue
            value = source[parts[0]]
            if where == "relationships":
                value = value["data"]
                if column.endswith("_ids"):
                    values[column] = sorted(x["id"] for x in value)
                elif column.endswith("_type") and column != "entity_type":
                    values[column] = value and value["type"]
                else:
                    part = "type" if column == "entity_type" else "id"
                    values[column] = value and value[part]
                continue
            if len(parts) == 2:
                if not isinstance(value, dict) or parts[1] not in value:
                    continue
                value = value[parts[1]]
            if table == "custom_fields" and column in VALUE_TYPES or column == "import_deadline_sources":
                continue
            try:
                values[column] = cast(value, type_)
                if value is not None and clean(value) != value:
                    coercions[column] = value
            except Refused:
                values[column] = None
                coercions[column] = value
        for name, value in attributes.items():
            if name not in used["attributes"]:
                unmapped[name] = clean(value)
        for name, value in relationships.items():
            if name not in used["relationships"]:
                unmapped["relationships." + name] = value["data"]
        return values, unmapped, coercions

    def see(self, record, window, source="sync", **derived):
        table, id_column = TABLES[record["type"]]
        values, unmapped, coercions = self.flatten(record, table, ("positions",))
        key = record["id"]
        values[id_column] = key
        if table == "transport_events":
            values["is_estimated"] = ".estimated" in (values.get("event") or "")
        if table == "custom_fields":
            coercions.update(self._typed_value(record, values, derived.pop("definition")))
        values.update(derived)
        row = self.rows[table].get(key)
        is_new = row is None
        if is_new:
            row = self.rows[table][key] = Row(window)
        changed = {c for c, v in values.items() if c not in row.values or row.values[c] != v}
        returned, row.deleted = row.deleted is not None, None
        material = [c for c in changed if c not in VOLATILE and not c.endswith("_ids")
                    and not (table == "vessels" and c in POSITION)
                    and (values.get(c) is not None or row.values.get(c) is not None)]
        for column in changed:
            row.coercions.pop(column, None)
        lacking = {c for c in row.values if c not in values and c in self.origins[table]}
        if changed or returned or any(row.unmapped.get(k, Unsure) != v for k, v in unmapped.items()):
            row.observed, row.stamps = window, [window]
        row.was_thin = row.was_thin or bool(lacking)
        if row.was_thin or source == "webhook":  # equal to its row: decisions 1 and 2: it is not written
            row.stamps.append(window)
        row.values.update(values)
        row.unmapped.update(unmapped)
        row.coercions.update(coercions)
        if material or returned:
            row.changed = window
        if table in HISTORY:
            self._version(table, key, row, window, source, is_new)
        if table == "containers":
            self._children(key, row, window, source)
        return row

    def _typed_value(self, record, values, definition):
        """Casts the value of a custom field by its definition."""
        kind = definition["attributes"]["data_type"]
        values["data_type"] = kind
        values.update({c: None for c in VALUE_TYPES})
        column = VALUE_COLUMNS[kind]
        value = json.loads(json.dumps(record["attributes"]["value"]), parse_float=Decimal)
        try:
            values[column] = cast(value, VALUE_TYPES[column])
            return {}
        except Refused:
            return {column: value}

    def see_change(self, event, window, notification_id):
        """The changeset of a container_updated_event: each attribute is a row of its own."""
        a = json.loads(json.dumps(event["attributes"]), parse_float=Decimal)
        container_id = event["relationships"]["container"]["data"]["id"]
        for name, (old, new) in a["changeset"].items():
            row = self.rows["container_changes"].setdefault((container_id, event["id"], name), Row(window))
            row.values = row.values or {
                "container_id": container_id, "change_id": event["id"], "attribute": name,
                "changed_at": parse_instant(a["timestamp"]), "old_value": clean(old), "new_value": clean(new),
                "data_source": a["data_source"], "timezone": a["timezone"], "_observed_at": window,
                "_notification_id": notification_id}

    def see_positions(self, vessel_id, positions):
        for p in json.loads(json.dumps(positions), parse_float=Decimal):
            at = parse_instant(p["timestamp"])
            row = self.rows["vessel_positions"].setdefault((vessel_id, at), Row(None))
            row.values = {"vessel_id": vessel_id, "position_at": at, "latitude": p["latitude"],
                          "longitude": p["longitude"], "heading": p["heading"], "is_estimated": p["estimated"]}

    def gone(self, type_, id_, window):
        """The record is gone at the service, and the warehouse has had time to find out."""
        table = TABLES[type_][0]
        row = self.rows[table].get(id_)
        if row is None or row.deleted:
            return
        row.deleted = row.changed = row.observed = window
        row.stamps = [window]
        for version in self.versions.get(table, {}).get(id_, []):
            version["to"] = version["to"] or window
        if type_ == "container":  # its events went with it, and nothing is due or held
            self.children.pop(id_, None)
            for intervals in self.intervals.values():
                for interval in intervals.get(id_, []):
                    interval["to"] = interval["to"] or window
            for other in ("transport_event", "raw_event"):
                for key, event in list(self.rows[TABLES[other][0]].items()):
                    if event.values["container_id"] == id_:
                        self.gone(other, key, window)

    # -- histories -----------------------------------------------------------------------------

    def _version(self, table, key, row, window, source, is_new):
        columns = [c for c in self.columns[HISTORY[table]]
                   if c not in ("valid_from", "valid_to", "source", "_sync_run_id")]
        values = {c: row.values.get(c) for c in columns}
        versions = self.versions[table].setdefault(key, [])
        if versions and versions[-1]["values"] == values and not versions[-1]["to"]:
            return
        if versions and not versions[-1]["to"]:
            versions[-1]["to"] = window
        versions.append({"values": values, "from": window, "to": None, "source": source})

    def _children(self, container_id, row, window, source):
        found = self.deadlines_of(row), self.holds_of(row), self.fees_of(row)
        self.children[container_id] = found
        for table, items, compared in [
            ("container_import_deadline_history", found[0], ("deadline_at", "time_zone", "local_date")),
            ("container_hold_history", found[1], ("status", "detail")),
            ("container_fee_history", found[2], ("amount",)),
        ]:
            open_ = self.intervals[table].setdefault(container_id, [])
            standing = {i["key"]: i for i in open_ if i["to"] is None}
            for key, item in items.items():
                self.child_since.setdefault((table, container_id, key), window)
                old = standing.pop(key, None)
                if old and all(old["values"][c] == item[c] for c in compared):
                    continue
                if old:
                    old["to"] = window
                else:
                    self.child_since[(table, container_id, key)] = window
                open_.append({"key": key, "values": dict(item), "from": window, "to": None, "source": source})
            for old in standing.values():
                old["to"] = window

    def deadlines_of(self, row):
        v, found = row.values, {}
        sent = v.get("import_deadlines") or {}
        pod, ind = v.get("pod_timezone"), v.get("final_destination_timezone")
        days = {"pickup_lfd": (v.get("pickup_lfd"), "port", pod)}
        for kind, old in [("pickup_lfd_terminal", None), ("pickup_lfd_line", "ssl_lfd"),
                          ("pickup_lfd_rail", "ind_facility_lfd_on")]:
            at = v.get(kind) if kind in sent or not old else v.get(old)
            days[kind] = (at, "ramp", ind) if kind == "pickup_lfd_rail" else (at, "port", pod)
        if days["pickup_lfd"][0] == days["pickup_lfd_rail"][0] not in (
                days["pickup_lfd_line"][0], days["pickup_lfd_terminal"][0]):
            days["pickup_lfd"] = days["pickup_lfd_rail"]  # the service picked the railway's day
        for kind, (at, place, name) in days.items():
            if at is not None:
                found[kind] = {"kind": kind, "place": place, "deadline_at": at, "time_zone": name,
                               "local_date": local_day(at, name), "is_zone_known": zone(name) is not None,
                               "details": None}
        return found

    def _items(self, row, columns, key_fields, make):
        found, count = {}, Counter()
        for place, column in columns:
            for position, item in enumerate(row.values.get(column) or []):
                values = dict(make(item), place=place, position=Decimal(position))
                key = tuple(values[f] for f in key_fields)
                found[key + (count[key],)] = values
                count[key] += 1
        return found

    def holds_of(self, row):
        return self._items(
            row, [("port", "holds_at_pod_terminal"), ("ramp", "ind_facility_holds")],
            ("place", "name", "description"),
            lambda i: {c: i.get(c) for c in ("name", "status", "description", "detail")})

    def fees_of(self, row):
        def fee(item):
            amount = item.get("amount")
            return {"type": item.get("type"), "amount": None if amount is None else Decimal(str(amount)),
                    "currency_code": item.get("currency_code"), "description": item.get("description"),
                    "is_total": item.get("type") == "total"}
        return self._items(row, [("port", "fees_at_pod_terminal"), ("ramp", "ind_facility_fees")],
                           ("place", "type", "currency_code"), fee)

    # -- expected rows -------------------------------------------------------------------------

    def expected(self, table):
        """{key: {column: value}} of a table; a column that is not named there is not compared."""
        if table in HISTORY.values():
            return self._expected_versions(table)
        if table in self.intervals:
            return self._expected_intervals(table)
        if table in ("container_import_deadlines", "container_holds", "container_fees"):
            return self._expected_children(table)
        found = {}
        if table in ("vessel_positions", "container_changes"):
            return {key: row.values for key, row in self.rows[table].items()}
        for key, row in self.rows[table].items():
            values = {c: row.values.get(c) for c in self.origins[table] if c != "import_deadline_sources"}
            values.update(row.values)
            values.update({"_unmapped": row.unmapped or None, "_deleted_at": row.deleted,
                           "_coercions": sorted(row.coercions) or None,
                           "_first_seen_at": row.first, "_changed_at": row.changed,
                           "_observed_at": Known("stamp of an equal record", row.observed, AnyOf(row.stamps))})
            found[key] = values
        return found

    def _expected_versions(self, table):
        stream = [t for t, h in HISTORY.items() if h == table][0]
        found = {}
        for key, versions in self.versions[stream].items():
            for number, version in enumerate(versions):
                found[(key, number)] = dict(version["values"], valid_from=version["from"],
                                            valid_to=version["to"], source=version["source"])
        return found

    def _expected_intervals(self, table):
        columns, found = self.columns[table], {}
        for container_id, intervals in self.intervals[table].items():
            count = Counter()
            for interval in intervals:
                key = (container_id,) + interval["key"] if isinstance(interval["key"], tuple) \
                    else (container_id, interval["key"])
                values = {c: v for c, v in interval["values"].items() if c in columns}
                found[key + (count[key],)] = dict(
                    values, container_id=container_id, valid_from=interval["from"],
                    valid_to=interval["to"], source=interval["source"])
                count[key] += 1
        return found

    def _expected_children(self, table):
        number = ["container_import_deadlines", "container_holds", "container_fees"].index(table)
        history = ["container_import_deadline_history", "container_hold_history", "container_fee_history"][number]
        found = {}
        for container_id, children in self.children.items():
            for key, item in children[number].items():
                whole = (container_id,) + (key if isinstance(key, tuple) else (key,))
                found[whole] = dict(item, container_id=container_id,
                                    _first_seen_at=self.child_since[(history, container_id, key)])
        return found


def keys_of_rows(table, rows):
    """The rows of the warehouse by the keys that `Model.expected` uses."""
    found, count = {}, Counter()
    if table == "vessel_positions":
        return {(r["vessel_id"], parse_instant(r["position_at"])): r for r in rows}
    if table == "container_changes":
        return {(r["container_id"], r["change_id"], r["attribute"]): r for r in rows}
    order = lambda row: (row.get("container_id") or row.get("shipment_id") or "",
                         parse_instant(row["valid_from"]) if row.get("valid_from") else None,
                         row.get("position") or 0)
    if any("valid_from" in r for r in rows) or any("position" in r and "container_id" in r for r in rows):
        rows = sorted(rows, key=order)
    for row in rows:
        if table in HISTORY.values():
            base = (row["container_id" if table.startswith("container") else "shipment_id"],)
        elif table.startswith("container_import_deadline"):
            base = (row["container_id"], row["kind"])
        elif table in ("container_holds", "container_hold_history"):
            base = (row["container_id"], row["place"], row["name"], row["description"])
        elif table in ("container_fees", "container_fee_history"):
            base = (row["container_id"], row["place"], row["type"], row["currency_code"])
        elif table == "container_import_deadlines":
            base = (row["container_id"], row["kind"])
        else:
            id_column = next(i for t, i in TABLES.values() if t == table)
            found[row[id_column]] = row
            continue
        if table in ("container_hold_history", "container_fee_history"):
            # An ordinal among equals is not told by the row; the hold_key or fee_key tells it.
            key_column = "hold_key" if "hold" in table else "fee_key"
            names = found.setdefault("\0" + str(base), [])
            if row[key_column] not in names:
                names.append(row[key_column])
            base = base + (names.index(row[key_column]),)
        number = count[base]
        count[base] += 1
        found[base if table == "container_import_deadlines" else base + (number,)] = row
    return {k: v for k, v in found.items() if not (isinstance(k, str) and k.startswith("\0"))}
