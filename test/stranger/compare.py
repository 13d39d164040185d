"""Both sides, value by value; every table counts its rows and values."""

import json
from decimal import Decimal

from values import NO_ROW, Known, Unsure, actual, equal


class Report:
    def __init__(self, published):
        self.published = published  # differences that are known, with their reasons
        for known in published:
            known["count"] = 0
        self.tables = {}  # name -> {rows, values, differences, published}
        self.differences = []  # those that are not published

    def table(self, name):
        return self.tables.setdefault(name, {"rows": 0, "values": 0, "differences": 0, "published": 0})

    def difference(self, name, key, column, expected, found, known_as=None):
        entry = self.table(name)
        for known in self.published:
            if known["name"] == known_as:
                known["count"] += 1
                entry["published"] += 1
                return
        entry["differences"] += 1
        self.differences.append((name, key, column, expected, found))

    def value(self, name, key, expected, found):
        """Compares one value that is not in a row of a table."""
        entry = self.table(name)
        entry["rows"] += 1
        entry["values"] += 1
        if not equal(expected, found):
            self.difference(name, key, "value", expected, found)

    def compare(self, name, expected, found, types):
        """Compares rows by key: {key: {column: value}} with rows of PostgreSQL by the same keys."""
        entry = self.table(name)
        for key in expected.keys() - found.keys():
            known = {v.name if isinstance(v, Known) and NO_ROW in (v.documented, v.instead) else None
                     for v in expected[key].values()}
            if len(known) > 1 or None in known:
                self.difference(name, key, "(row)", expected[key], "no row")
            elif any(v.instead is NO_ROW for v in expected[key].values()):
                self.difference(name, key, "(row)", expected[key], "no row", known.pop())
        for key in found.keys() - expected.keys():
            self.difference(name, key, "(row)", "no row", found[key])
        for key in expected.keys() & found.keys():
            entry["rows"] += 1
            row = found[key]
            for column, value in expected[key].items():
                if isinstance(value, Unsure):
                    continue
                if column not in row:
                    self.difference(name, key, column, value, "no such column")
                    continue
                entry["values"] += 1
                shown = self._shown(column, row[column], types.get(column, ("text",))[0])
                if isinstance(value, Known):
                    if value.documented is NO_ROW or not equal(value.documented, shown):
                        self.difference(name, key, column, value, row[column],
                                        value.name if value.instead is not NO_ROW
                                        and equal(value.instead, shown) else None)
                elif not equal(value, shown):
                    self.difference(name, key, column, value, row[column])

    def _shown(self, column, value, type_):
        if column == "_coercions":
            return sorted(value) if value else None
        if column == "_unmapped":
            return value or None
        if column.endswith("_ids") and isinstance(value, list):
            return sorted(value)
        return actual(value, type_)


def short(value, width=70):
    if isinstance(value, dict):
        text = json.dumps(value, default=str)
    else:
        text = repr(value) if not isinstance(value, Decimal) else str(value)
    return text if len(text) <= width else text[:width - 1] + "…"
