"""The cost of days past a last free day, by rules that this test imports (docs/questions.md)."""

import csv
from datetime import timedelta
from decimal import Decimal

from expect_answers import goes_inland, stays
from rules import FIRST_DAY, HOLIDAYS, MERGED, RULES, after, rule_for
from values import local_day

def write_files(folder):
    """The files for `rules import`: rules and holidays."""
    rules, holidays = folder + "/rules.csv", folder + "/holidays.csv"
    with open(rules, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow("rule,charge,line,terminal,locode,place,equipment_type,equipment_length,free_days,counts,"
                     "holiday_calendar,starts_with,from_day,daily_rate,currency,valid_from,valid_to,note,first_day,until".split(","))
        for name, (charge, line, free, counts, currency, tiers) in RULES.items():
            for from_day, rate in tiers:
                out.writerow([name, charge, line, "", "", "" if charge == "detention" else "port", "", "", free,
                              counts, "stranger" if counts == "working" else "",
                              "discharge" if charge == "demurrage" else "", from_day, rate, currency, "", "", "",
                              FIRST_DAY.get(name, ""), "empty_return" if name in MERGED else ""])
    with open(holidays, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["calendar", "holiday_on", "name"])
        out.writerows(["stranger", day.isoformat(), "a holiday"] for day in sorted(HOLIDAYS))
    return rules, holidays


def rate(tiers, day_over):
    return Decimal([r for from_day, r in tiers if from_day <= day_over][-1])


def cost(tiers, days_over):
    return sum((rate(tiers, d) for d in range(1, days_over + 1)), Decimal("0.00"))


def clocks(f):
    """A clock for storage and demurrage at the port, and for detention outside."""
    found = {}
    both = stays(f)
    for (id_, place), stay in both.items():
        box = f.containers[id_]
        if place == "port" and stay["has_begun"]:
            start = local_day(stay["start_at"], box["pod_timezone"])
            for charge, own in [("storage", "terminal"), ("demurrage", "line")]:
                end = (stay["has_ended"], stay["out_on"], stay["is_untold"])
                if is_merged(stay, charge):
                    back = box["empty_terminated_at"]
                    end = (back is not None, local_day(back, box["empty_terminated_timezone"]), f.is_stopped(box))
                has_ended, ended_on, is_untold = end
                found[(id_, "port", charge)] = _clock(
                    stay, charge, start, {own: stay[own + "_on"]}, stay["reported_on"], has_ended,
                    ended_on, stay["time_zone"], is_untold, stay["today_on"])
    for id_, box in f.containers.items():
        out, left = box["final_destination_full_out_at"], "final_destination_timezone"
        back = box["empty_terminated_at"]
        if out is None:
            out, left = box["pod_full_out_at"], "pod_timezone"
        if out is None and back is None and not (box.get("delivered_at") or f.event(box, "delivered")[0]):
            continue
        if is_merged(both[(id_, "port")], "demurrage"):
            continue
        stay, known = both[(id_, "ramp" if left.startswith("final") else "port")], box[left]
        row = _clock(stay, "detention", local_day(out, known), {}, None, back is not None,
                     local_day(back, box["empty_terminated_timezone"]), stay["time_zone"], f.is_stopped(box), stay["today_on"])
        found[(id_, "out", "detention")] = row
    return found


def is_merged(stay, charge):
    return rule_for(charge, stay["shipping_line_scac"]) in MERGED


def _clock(stay, charge, start, reported, binding, has_ended, ended_on, time_zone, is_stopped, today):
    name = rule_for(charge, stay["shipping_line_scac"])
    _, _, free, _, currency, tiers = RULES[name]
    by_rule = after(start, name) if free is not None and start else None
    last = next((d for d in reported.values() if d), None) or by_rule or binding
    end = ended_on if has_ended else today
    over = max(0, (end - last).days) if end and last else None
    if last is None or has_ended and ended_on is None or not has_ended and (is_stopped or today is None):
        state = "unknown"
    elif has_ended:
        state = "ended_late" if over else "ended_in_time"
    else:
        state = "overdue" if over else "due_today" if today == last else "upcoming"
    known = state != "unknown"
    row = {c: stay[c] for c in ("container_id", "container_number", "customer_name", "shipping_line_scac")}
    row.update(charge=charge, rule_name=name, currency_code=currency, state=state, clock_on=start,
               by_rule_on=by_rule, last_free_on=last, ended_on=ended_on if has_ended else None,
               days_over=Decimal(over) if known else None, today_on=today,
               days_left=Decimal((last - today).days) if known and not has_ended else None,
               amount=cost(tiers, over) if known else None, tiers=tiers)
    if known and not has_ended:
        left = (last - today).days
        for column, ahead in [("one_day", 1), ("seven_days", 7), ("fourteen_days", 14)]:
            row[column + "_amount"] = cost(tiers, max(0, ahead - left))
    return row


def charge_clocks(f):
    return {key: {c: v for c, v in row.items() if c != "tiers"} for key, row in clocks(f).items()}


def exposure_forecast(f):
    names = ("container_id", "container_number", "charge", "rule_name", "currency_code", "state", "days_left",
             "amount", "seven_days_amount", "fourteen_days_amount", "last_free_on")
    return {key: {c: row[c] for c in names} for key, row in clocks(f).items()
            if row["state"] in ("upcoming", "due_today", "overdue")}


def detention_clock(f):
    found = {}
    for (id_, place, charge), row in clocks(f).items():
        box = f.containers[id_]
        picked = box["final_destination_full_out_at"], box["final_destination_timezone"]
        if picked[0] is None and not goes_inland(box):
            picked = box["pod_full_out_at"], box["pod_timezone"]
        if charge == "detention" or row["rule_name"] in MERGED and picked[0] is not None:
            new = {c: row[c] for c in ("container_id", "container_number", "customer_name", "rule_name", "state",
                                       "currency_code", "days_left", "days_over", "amount")}
            new.update(gate_out_on=row["clock_on"] if charge == "detention" else local_day(*picked),
                       return_by_on=row["last_free_on"], has_rule=True, returned_on=row["ended_on"],
                       free_days=Decimal(RULES[row["rule_name"]][2]))
            found[id_] = new
    return found


def charged_days(f):
    found = {}
    for key, row in clocks(f).items():
        for over in range(1, int(row["days_over"] or 0) + 1):
            day = row["last_free_on"] + timedelta(days=over)
            found[key + (day.isoformat(),)] = {
                "container_number": row["container_number"], "rule_name": row["rule_name"],
                "currency_code": row["currency_code"], "day_over": Decimal(over), "charged_on": day,
                "charge_amount": rate(row["tiers"], over), "last_free_on": row["last_free_on"]}
    return found


def free_time_costs(f):
    """Up to the first day of each tier: the days of the tiers before it, at their rates."""
    found = {}
    for name, (_, _, _, _, _, tiers) in RULES.items():
        before = [cost(tiers, from_day - 1) for from_day, _ in tiers]
        found[name] = {"rule_name": name, "charged": "calendar", "tier_counts": "over",
                       "first_day": Decimal(FIRST_DAY.get(name, 0)), "minimum": None, "cap": None,
                       "from_days": [Decimal(from_day) for from_day, _ in tiers],
                       "daily_rates": [Decimal(rate) for _, rate in tiers], "costs_before": before, "once_rates": [Decimal(0) for _ in tiers]}
    return found


def rule_comparisons(f):
    found, both = {}, stays(f)
    for (id_, place, charge), row in clocks(f).items():
        if place != "port":
            continue
        stay, free = both[(id_, place)], RULES[row["rule_name"]][2]
        said = stay["line_on" if charge == "demurrage" else "terminal_on"]
        if not said and not stay["line_on"] and not stay["terminal_on"]:
            said = stay["reported_on"]  # the pick of the service
        if free is None or not said:
            continue
        apart = (said - row["by_rule_on"]).days if row["by_rule_on"] else None
        new = {c: row[c] for c in ("container_id", "container_number", "customer_name", "shipping_line_scac", "charge",
                                   "rule_name", "clock_on", "by_rule_on")}
        new.update(place=place, compared_on=said, days_apart=None if apart is None else Decimal(apart),
                   free_days=Decimal(free))
        if apart is None or apart == 0:
            new["difference"] = "unknown_start" if apart is None else "same"
        elif abs(apart) > 12:
            new["difference"] = "more_days" if apart > 0 else "fewer_days"
        found[(id_, place, charge)] = new
    return found


VIEWS = {"free_time_costs": free_time_costs, "rule_comparisons": rule_comparisons,
         "charge_clocks": charge_clocks, "exposure_forecast": exposure_forecast,
         "detention_clock": detention_clock, "charged_days": charged_days}
KEYS = {"free_time_costs": (("rule_name",), None),
        "rule_comparisons": (("container_id", "place", "charge"), None),
        "charge_clocks": (("container_id", "place", "charge"), None),
        "exposure_forecast": (("container_id", "place", "charge"), None),
        "charged_days": (("container_id", "place", "charge", "charged_on"), None)}
ONLY = {view: "place <> 'ramp'" for view in ("charge_clocks", "exposure_forecast", "charged_days", "rule_comparisons")}
