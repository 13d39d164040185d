"""A stranger's test: a program that shares nothing with tracking-sync checks it from outside.

It serves a world of its own, lets the built program load it through faults and kills, moves the
world, and compares every table with its own computation. Usage: python3 test/stranger/run.py --help
"""

import argparse
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from decimal import Decimal

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from compare import Report, short
from database import Database, Unavailable
from dictionary import read_dictionary
import expect_answers
import expect_changes
import expect_charges
import expect_datasync
import expect_figures
import expect_histories
from expect_answers import Facts
from expect_tables import REFERENCES, TABLES, Model, keys_of_rows
from prove import prove_answer, prove_tables
from service import Service
from values import Unsure, Window
from webhooks import Receiver, tell
from world import World

UTC = timezone.utc
FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
ANSWERS = {**expect_answers.VIEWS, **expect_histories.VIEWS, **expect_figures.VIEWS,
           **expect_changes.VIEWS, **expect_charges.VIEWS}
KEYS = {**expect_answers.KEYS, **expect_histories.KEYS, **expect_figures.KEYS, **expect_changes.KEYS,
        **expect_charges.KEYS}
ONLY = {**expect_histories.ONLY, **expect_figures.ONLY, **expect_changes.ONLY, **expect_charges.ONLY}
KEY = "a-key-of-a-stranger"


class Trial:
    def __init__(self, options, database, dictionary, report):
        self.options, self.database, self.report = options, database, report
        self.dictionary = dictionary
        self.days = options.days
        self.start = datetime.now(UTC) - timedelta(days=self.days - 1)
        self.world = World(options.seed, options.shipments, self.start)
        self.service = Service(self.world, KEY, includes=not options.thin, drift=-timedelta(days=self.days - 1))
        self.model = Model(dictionary)
        self.runs, self.kills, self.spoilt = [], 0, 0
        self.webhook = self.world.add("webhook", {
            "url": "https://hooks.example/webhooks", "active": True, "events": ["all"], "headers": []})
        self.program = ROOT + "/bin/tracking-sync.cjs"
        self.quarantined = {}  # what was served and cannot be stored
        self.read_raw = {}  # container -> what its raw events were read for
        self.environment = dict(
            {k: v for k, v in os.environ.items() if not k.startswith("TRACKING_")},
            TRACKING_API_URL=self.service.url, TRACKING_API_KEY=KEY, DATABASE_URL=database.url,
            TRACKING_ALLOW_INSECURE_API_URL="true", TRACKING_RATE_LIMIT_PER_MINUTE="60000",
            TRACKING_VESSEL_POSITIONS="true", TRACKING_RAW_EVENTS="true", TRACKING_FULL_SYNC_HOURS="0")

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    # -- the program ---------------------------------------------------------------------------

    def run(self, *words, kill_after=None):
        """Runs the program to its end, or kills it after so many requests. Gives its exit code."""
        before = len(self.service.log)
        process = subprocess.Popen(["node", self.program] + list(words), cwd=ROOT,
                                   env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True)
        if kill_after is not None:
            self.service.on_request = lambda n: n - before >= kill_after and process.kill()
        began = time.time()
        out = process.communicate()[0]
        self.service.on_request = None
        self.runs.append((words, process.returncode, out))
        if process.returncode == -9:
            self.kills += 1
        if self.options.verbose:
            self.say("%s: %s, %.1f s, %d requests" % (
                " ".join(words), process.returncode, time.time() - began, len(self.service.log) - before))
        return process.returncode

    def whole(self, command):
        """A run that must be complete, then the same again: the second one may change no row."""
        if self.kill_now:
            self.run(command, *(["--full"] if command == "sync" else []),
                     kill_after=self.world.rng.randint(2, 25))
        for number in (1, 2):
            before = self.digests() if number == 2 else None
            self.service.faults_left = 0 if number == 2 else self.options.faults
            self.service.walks = {}
            self.service.unstable = {"shipments", "tracking_requests"} \
                if self.options.faults and number == 1 and self.world.day % 2 else set()
            while True:
                code = self.run(*([command] + (["--full"] if command == "sync" else [])))
                if code != 7:
                    break
                time.sleep(1)
            if code != 0:
                self.report.difference("exit codes", command, "code", 0, code)
                self.say(self.runs[-1][2][-2000:])
            command = "sync"
        for table, digest in self.digests().items():
            self.report.value("second run", table, before[table], digest)

    def digests(self):
        """One digest per data table, of all its rows and columns."""
        names = sorted(self.dictionary["tracking"])
        gone = ["'%%%s%%'" % id_ for _, id_ in self.world.hidden]  # what the second run marks as deleted
        out = self.database.execute(" union all ".join(
            "select '%s', md5(coalesce(string_agg(t::text, '|' order by t::text), '')) from tracking.%s t"
            " where not t::text like any(array[%s]::text[])" % (name, name, ",".join(gone)) for name in names))
        return dict(line.split("|") for line in out.split())

    # -- what the warehouse must know now ------------------------------------------------------

    def observe(self, window):
        world, model = self.world, self.model
        definitions = {d["id"]: d for d in world.of("custom_field_definition")}
        seen = []
        for shipment in world.of("shipment"):
            seen.append(shipment)
            for linkage in shipment["relationships"]["containers"]["data"]:
                container = world.get("container", linkage["id"])
                if container:
                    seen.append(container)
                    for event in container["relationships"]["transport_events"]["data"]:
                        seen.append(world.records["transport_event"][event["id"]])
        for type_ in ("tracking_request", "custom_field_definition", "webhook_event_category"):
            seen += world.of(type_)
        for options in world.options.values():
            seen += options
        shown = {(r["type"], r["id"]) for r in seen}
        queue = list(seen)
        while queue:  # places and vessels that a record names are read, and what they name
            for linkage in linkages(queue.pop()):
                key = (linkage["type"], linkage["id"])
                target = world.get(*key) if key[0] in REFERENCES and key not in shown else None
                if target:
                    shown.add(key)
                    seen.append(target)
                    queue.append(target)
        for record in seen:
            model.see(record, window)
        for id_, positions in world.positions.items():
            if ("vessel", id_) in shown:
                model.see_positions(id_, positions)
        for field in world.of("custom_field"):
            definition = definitions[field["relationships"]["definition"]["data"]["id"]]
            model.see(field, window, definition=definition)
            shown.add(("custom_field", field["id"]))
        self._raw_events(shown, window)
        for type_, records in world.malformed.items():
            for record in records:
                self.quarantined[(TABLES[type_][0], record.get("id"))] = {
                    "stream": TABLES[type_][0], "resource_type": record.get("type"),
                    "record_id": record.get("id")}
        for (type_, id_) in list(world.hidden):
            if (type_, id_) not in shown:
                model.gone(type_, id_, window)

    def _raw_events(self, shown, window):
        for type_, id_ in sorted(shown):
            if type_ == "container":
                row = self.model.rows["containers"][id_]
                state = (row.changed, tuple(row.values["transport_event_ids"]))
                if self.read_raw.get(id_) != state:
                    self.read_raw[id_] = state
                    for raw in self.world.raw_events[id_]:
                        self.model.see(raw, window, container_id=id_, attributes=raw["attributes"])

    # -- comparison ----------------------------------------------------------------------------

    def compare_tables(self, is_sync=True):
        tables = self.dictionary["tracking"]
        for table, columns in sorted(tables.items()):
            if table != "other_resources":
                rows = self.database.rows("tracking.%s" % table)
                self.report.compare(table, self.model.expected(table), keys_of_rows(table, rows), columns)
        if is_sync:
            self.compare_bookkeeping()

    def compare_bookkeeping(self):
        """Runs with their ends and counts, records set aside, and attributes that nobody described."""
        columns, report = self.dictionary["tracking_sync"], self.report
        rows = self.database.rows("tracking_sync.sync_runs order by sync_run_id")
        report.value("sync_runs", "count", len(self.runs), len(rows))
        for (words, code, _), row in zip(self.runs, rows):
            report.compare("sync_runs", {row["sync_run_id"]: {"command": words[0]} if code == -9 else {
                "command": words[0], "exit_code": code, "outcome": "complete" if code == 0 else Unsure()}},
                {row["sync_run_id"]: row}, columns["sync_runs"])
        streams = self.database.rows("tracking_sync.sync_run_streams")
        parts = ("inserted", "updated", "unchanged", "stale", "duplicate", "quarantined")
        for row in streams:
            if row["sync_run_id"] == rows[-1]["sync_run_id"]:  # undisturbed, and nothing has changed
                report.value("sync_run_streams", (row["stream"], "fetched"), row["fetched"],
                             sum(row[p] for p in parts))
                report.value("sync_run_streams", (row["stream"], "written"), 0, row["inserted"] + row["updated"])
        shown = {r["stream"]: r["fetched"] for r in streams if r["sync_run_id"] == rows[-1]["sync_run_id"]}
        for type_ in ("shipment", "tracking_request", "custom_field"):
            stream = TABLES[type_][0]
            report.value("sync_run_streams", (stream, "shown"), shown.get(stream),
                         len(self.world.of(type_)) + len(self.world.malformed.get(type_, [])))
        found = {(r["stream"], r["record_id"]): r for r in self.database.rows("tracking_sync.quarantine")}
        report.compare("quarantine", self.quarantined, found, columns["quarantine"])
        drift = [r["name"] for r in self.database.rows("tracking_sync.schema_drift where kind = 'new_attribute'")]
        report.value("schema_drift", "new_attribute", ["current_extra", "new_attribute"], sorted(drift))

    def views(self):
        """Columns of the views for people and of their parts."""
        return {**self.dictionary["tracking_analytics"], **self.dictionary["tracking_parts"]}

    def compare_answers(self, model, as_of, last):
        """The answers as of an instant, which is that of the model, or that of the database's clock."""
        columns = self.views()
        facts = Facts(model, as_of, columns, self.model)
        for view, make in ANSWERS.items():
            expected = make(facts)
            only = ONLY.get(view)
            rows = self.database.rows("tracking_as_of.%s%s" % (view, only and " t where " + only or ""),
                                      as_of.isoformat())
            found = keyed(view, rows)
            self.report.compare(view, expected, found, columns[view])
            if self.options.prove and model is last:
                prove_answer(self, view, expected, found, columns[view])

    def compare_datasync(self):
        facts = Facts(self.model, datetime.now(UTC), self.views())
        for view, make in expect_datasync.VIEWS.items():
            columns, expected = self.dictionary["tracking_datasync"][view], make(facts)
            rows = self.database.rows("tracking_datasync." + view)
            found = {r[expect_datasync.KEYS[view]]: r for r in rows}
            self.report.compare("datasync." + view, expected, found, columns)
            if self.options.prove:
                prove_answer(self, "datasync." + view, expected, found, columns)

    def compare_freshness(self):
        """Live rows of each stream, and how the last run ended for it."""
        for row in self.database.rows("tracking_analytics.freshness"):
            table = row["stream"]
            live = sum(not r.deleted for r in self.model.rows[table].values())
            self.report.compare("freshness", {table: {
                "last_outcome": "complete", "rows": Decimal(live), "last_detail": None}}, {table: row},
                self.dictionary["tracking_analytics"]["freshness"])

    def every_table_is_named(self):
        """Every table and view of the dictionary is compared, or listed with the reason why not."""
        excused = {t for entry in self.options.not_compared for t in entry["tables"]}
        for schema, prefix in [("tracking", ""), ("tracking_analytics", ""), ("tracking_parts", ""),
                               ("tracking_datasync", "datasync.")]:
            for table in self.dictionary[schema]:
                if "%s.%s" % (schema, table) not in excused:
                    self.report.table(prefix + table)

    def import_rules(self):
        with tempfile.TemporaryDirectory() as folder:
            for file in expect_charges.write_files(folder):
                done = subprocess.run(["node", self.program, "rules", "import", file], env=self.environment,
                                      cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.report.value("exit codes", "rules import", 0, done.returncode)
                if done.returncode:
                    self.say(done.stdout)

    def tell(self):
        """Webhooks: `serve` is told of changes, killed in between, and stopped."""
        with tempfile.TemporaryDirectory() as folder:
            receiver = Receiver(self, folder)
            tell(self, receiver, 12)
            self.compare_tables(is_sync=False)
            self.report.value("exit codes", "serve", 0, receiver.stop())

    def go(self):
        earlier = []
        for day in range(self.days):
            self.kill_now = day in self.options.kill_days
            low = self.service.now()
            self.whole("backfill" if day == 0 else "sync")
            if day == 0:
                self.import_rules()
            self.observe(Window(low, self.service.now()))
            self.compare_tables()
            if day == self.days - 2:
                self.tell()
            earlier.append((copy.deepcopy(self.model), self.service.now()))
            if day + 1 < self.days:
                with self.service.lock:
                    self.service.drift += timedelta(days=1)
                    self.world.move(self.service.now())
        for model, as_of in earlier[1:-1:2] + earlier[-1:]:
            self.compare_answers(model, as_of, earlier[-1][0])
        self.compare_datasync()
        self.compare_freshness()
        self.every_table_is_named()
        if self.options.prove:
            prove_tables(self, lambda t: None if t == "other_resources" else self.model.expected(t), keys_of_rows)


def keyed(view, rows):
    """Rows of an answer by their key; those that share it are numbered in their order."""
    columns, order = KEYS.get(view, (("container_id",), None))
    found, count = {}, {}
    for row in sorted(rows, key=lambda r: r[order] or "") if order else rows:
        key = tuple(row[c] for c in columns) if len(columns) > 1 or order else row[columns[0]]
        count[key] = count.get(key, 0) + 1
        found[key + (count[key] - 1,) if order else key] = row
    if len(found) != len(rows):
        raise ValueError("%s: %s is not a key" % (view, columns))
    return found


def linkages(record):
    """The records that a record names; the terminals that a port lists are no reason to read them."""
    for name, relation in (record.get("relationships") or {}).items():
        data = relation["data"] if name != "terminals" else None
        for linkage in data if isinstance(data, list) else [data] if data else []:
            yield linkage


def print_differences(report, verbose):
    """The first of each table and column, and how many there are."""
    groups = {}
    for difference in report.differences:
        groups.setdefault((difference[0], difference[2]), []).append(difference)
    for (name, column), found in groups.items():
        for _, key, _, expected, actual in found[:9 if verbose or name == "proof" else 1]:
            print("%s %s, %d×: %s expected %s, found %s" % (
                name, column, len(found), short(key), short(expected, 300), short(actual, 300)))


def result_of(trial, report, seconds):
    """The run as JSON: for reports/stranger.json, and with --publish for docs/reliability.md."""
    return {
        "on": datetime.now(UTC).strftime("%Y-%m-%d"), "seed": trial.options.seed,
        "shipments": trial.options.shipments, "days": trial.days, "runs": len(trial.runs),
        "kills": trial.kills, "seconds": round(seconds), "faults": dict(sorted(trial.service.hits.items())),
        "tables": report.tables, "differences": len(report.differences),
    }


def write_results(trial, report, known, seconds):
    result = result_of(trial, report, seconds)
    os.makedirs(ROOT + "/reports", exist_ok=True)
    with open(ROOT + "/reports/stranger.json", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=2)
    if trial.options.publish:
        known["lastRun"] = dict(result, tables={
            name: {"rows": t["rows"], "values": t["values"], "published": t["published"]}
            for name, t in sorted(report.tables.items())})
        with open(FOLDER + "/differences.json", "w", encoding="utf-8") as file:
            json.dump(known, file, indent=2)
            file.write("\n")


def print_table(trial, report, seconds):
    print("%-36s %8s %9s %6s %9s" % ("table", "rows", "values", "differ", "published"))
    for name, entry in sorted(report.tables.items()):
        print("%-36s %8d %9d %6d %9d" % (name[:36], entry["rows"], entry["values"], entry["differences"],
                                         entry["published"]))
    if trial.spoilt:
        print("proof: %d columns were spoilt; those that nobody noticed are above" % trial.spoilt)
    print("faults: " + ", ".join("%s %d" % f for f in sorted(trial.service.hits.items())))
    print("moves: " + ", ".join("%s %d" % f for f in sorted(trial.world.counts.items())))
    print("seed %d, %d shipments, %d days, %d runs, %d kills, %.0f s" % (
        trial.options.seed, trial.options.shipments, trial.days, len(trial.runs), trial.kills, seconds))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=int, default=5)
    parser.add_argument("--shipments", type=int, default=40)
    parser.add_argument("--faults", type=int, default=5, help="of each first run")
    parser.add_argument("--kill-days", type=int, nargs="*", default=[0, 3])
    parser.add_argument("--thin", action="store_true", help="a service that includes no transport events")
    parser.add_argument("--publish", action="store_true",
                        help="write the counts of this run into differences.json, for docs/reliability.md")
    parser.add_argument("--prove", action="store_true",
                        help="spoil a value of every compared column, and expect that it is found")
    parser.add_argument("--keep", action="store_true", help="keep the database, to look at it")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    began = time.time()
    with open(FOLDER + "/differences.json", encoding="utf-8") as file:
        known = json.load(file)
    report, options.not_compared = Report(known["differences"]), known["notCompared"]
    dictionary = read_dictionary(ROOT + "/docs/dictionary.md")
    try:
        database = Database(ROOT, "stranger_%d_%d" % (options.seed, os.getpid()))
    except Unavailable as missing:
        sys.exit("test:stranger: %s" % missing)
    try:
        trial = Trial(options, database, dictionary, report)
        trial.go()
    finally:
        if options.keep:
            print("kept: " + database.url)
        else:
            database.close()
    for name, entry in report.tables.items():
        if entry["rows"] == 0:
            report.differences.append((name, None, "(rows)", "at least one compared row", "none"))
    print_differences(report, options.verbose)
    print_table(trial, report, time.time() - began)
    write_results(trial, report, known, time.time() - began)
    sys.exit(1 if report.differences else 0)


if __name__ == "__main__":
    main()
