"""The rules that this test imports, and the last free day by them (docs/questions.md)."""

from datetime import date, timedelta

HOLIDAYS = {date(2026, 11, 26), date(2026, 12, 25), date(2027, 1, 1)}
RULES = {  # name: (charge, line, free days or None, counts, currency, ((from day, rate), ...))
    "Storage": ("storage", None, None, None, "USD", ((1, "95.00"), (4, "240.50"))),
    "Demurrage": ("demurrage", None, 3, "working", "EUR", ((1, "100.00"), (8, "150.00"))),
    "Demurrage of Maersk": ("demurrage", "MAEU", 2, "calendar", "USD", ((1, "310.00"),)),
    "Detention": ("detention", None, 4, "calendar", "USD", ((1, "120.00"), (3, "200.00"))),
}


FIRST_DAY = {"Demurrage of Maersk": 1}  # the day of the start is day 1
MERGED = {"Demurrage of Maersk"}  # one clock until the empty is back


def rule_for(charge, line):
    """Of the rules that hold the one that names most."""
    own = [n for n, r in RULES.items() if r[0] == charge and r[1] in (None, line)]
    return max(own, key=lambda n: RULES[n][1] is not None)


def after(start, name):
    """The last free day of a rule; the day on which the clock starts is one only where it says so."""
    _, _, free, counts, _, _ = RULES[name]
    day = start - timedelta(days=FIRST_DAY.get(name, 0))
    while free:
        day += timedelta(days=1)
        if counts == "calendar" or day.weekday() < 5 and day not in HOLIDAYS:
            free -= 1
    return day
