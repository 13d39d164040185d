"""Values as the warehouse must hold them: casts, instants, and the equality of both sides."""

import re
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

UTC = timezone.utc
INSTANT = re.compile(r"^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})\d*)?"
                     r"(Z|[+-]\d\d(?::?\d\d)?)?$")


class Refused(Exception):
    """The value does not fit its column: null, and kept in _coercions."""


def parse_instant(text, zone_needed=True):
    """An instant, exact to the microsecond; without an offset a wall time."""
    found = INSTANT.match(text)
    if not found:
        raise ValueError(text)
    y, mo, d, h, mi, s = (int(found[i]) for i in range(1, 7))
    micro = int((found[7] or "0").ljust(6, "0"))
    if found[8] is None:
        if zone_needed:
            raise ValueError(text)
        return datetime(y, mo, d, h, mi, s, micro)
    offset = timedelta(0)
    if found[8] != "Z":
        digits = found[8][1:].replace(":", "").ljust(4, "0")
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:])) * (-1 if found[8][0] == "-" else 1)
    return datetime(y, mo, d, h, mi, s, micro, tzinfo=timezone(offset)).astimezone(UTC)


def clean(value):
    """Texts without U+0000 and without half surrogate pairs, also inside of JSON."""
    if isinstance(value, str):
        return re.sub("[\u0000\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, list):
        return [clean(v) for v in value]
    if isinstance(value, dict):
        return {clean(k): clean(v) for k, v in value.items()}
    return value


def is_number(value):
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def cast(value, type_):
    """A JSON value as a column of this type holds it."""
    if value is None:
        return None
    if type_ == "jsonb":
        return clean(value)
    if type_ == "text[]":
        if isinstance(value, list) and all(isinstance(v, str) for v in value):
            return clean(value)
        raise Refused
    if type_ == "text" and is_number(value):
        return str(value)
    if type_ == "text" and isinstance(value, str):
        return clean(value)
    if type_ == "boolean" and isinstance(value, bool):
        return value
    if type_ == "boolean" and value in ("true", "false"):
        return value == "true"
    if type_ in ("integer", "bigint", "numeric"):
        text = str(value) if is_number(value) else value if isinstance(value, str) else ""
        if re.match(r"^-?\d+$" if type_ != "numeric" else r"^-?\d+(\.\d+)?(E[+-]?\d+)?$", text, re.I):
            return Decimal(text)
    if type_ == "timestamptz" and isinstance(value, str):
        try:
            return parse_instant(value)
        except ValueError:
            raise Refused
    if type_ == "date" and isinstance(value, str) and re.match(r"^\d{4}-\d\d-\d\d$", value):
        try:
            return date(*map(int, value.split("-")))
        except ValueError:
            raise Refused
    raise Refused


def actual(value, type_):
    """A value that PostgreSQL printed as JSON, as `cast` makes it."""
    if value is None:
        return None
    if type_ == "timestamptz":
        return parse_instant(value)
    if type_ == "timestamp":
        return parse_instant(value, zone_needed=False)
    if type_ == "date":
        return date(*map(int, value.split("-")))
    if type_ in ("integer", "bigint", "numeric"):
        return Decimal(str(value))
    return value


def zone(name):
    """A zone of the time zone database, or None where it does not know the name."""
    try:
        return ZoneInfo(name) if name else None
    except Exception:
        return None


def local(instant, name):
    """Wall time at the place: as sent where no zone was sent, None where the zone is unknown."""
    if instant is None:
        return None
    if name is None:
        return instant.replace(tzinfo=None)
    known = zone(name)
    return known and instant.astimezone(known).replace(tzinfo=None)


def local_day(instant, name):
    at = local(instant, name)
    return at and at.date()


def equal(expected, found):
    """Equality of two values; an expected window of instants takes every instant within it."""
    if isinstance(expected, (Window, About, Sorted, AnyOf)):
        return expected.holds(found)
    if isinstance(expected, float) or isinstance(found, float):
        raise TypeError("floats are not exact")
    if isinstance(expected, (list, tuple)) and isinstance(found, list):
        return len(expected) == len(found) and all(equal(a, b) for a, b in zip(expected, found))
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(equal(v, found[k]) for k, v in expected.items())
    return type(expected) is type(found) and expected == found or \
        is_number(expected) and is_number(found) and Decimal(expected) == Decimal(found)


class Window:
    """An instant of which only this is known: it is between these two."""

    def __init__(self, low, high, slack=timedelta(seconds=2)):
        self.low, self.high, self.slack = low, high, slack

    def holds(self, at):
        return at is not None and self.low - self.slack <= at <= self.high + self.slack

    def __repr__(self):
        return "%s … %s" % (self.low.isoformat(), self.high.isoformat())


class Unsure:
    """A value that the documents leave open; it is not compared, and not counted."""


class About:
    """A number that the warehouse rounds: hours and days to two places or more."""

    def __init__(self, value, slack="0.011"):
        self.value, self.slack = Decimal(str(value)), Decimal(slack)

    def holds(self, number):
        return number is not None and abs(self.value - number) <= self.slack

    def __repr__(self):
        return "about %s" % self.value


def hours(start, end):
    return None if start is None or end is None else About((end - start).total_seconds() / 3600)


def days(start, end):
    return None if start is None or end is None else About((end - start).total_seconds() / 86400)


class Sorted:
    """A list in any order."""

    def __init__(self, items):
        self.items = sorted(items)

    def holds(self, found):
        return found is not None and sorted(found) == self.items

    def __repr__(self):
        return "in any order %r" % self.items


class Known:
    """A documented value, and the one that the warehouse has instead by a published difference."""

    def __init__(self, name, documented, instead):
        self.name, self.documented, self.instead = name, documented, instead

    def __repr__(self):
        return repr(self.documented)


class AnyOf:
    """One of several windows."""

    def __init__(self, windows):
        self.windows = list(windows)

    def holds(self, at):
        return any(w.holds(at) for w in self.windows)


NO_ROW = object()  # the value of a column in a row that is not there
