"""Proof that a difference is noticed: a value of each compared column is spoilt, and must be found."""

from compare import Report

SPOILT = {  # SQL for another value of a column
    "text": "coalesce({0}, '') || 'spoilt'", "text[]": "array['spoilt']", "jsonb": "'[\"spoilt\"]'::jsonb",
    "numeric": "coalesce({0}, 0) + 1", "integer": "coalesce({0}, 0) + 1", "bigint": "coalesce({0}, 0) + 1",
    "boolean": "{0} is not true", "timestamptz": "coalesce({0}, now()) + interval '400 days'",
    "timestamp": "coalesce({0}, now()) + interval '400 days'", "date": "coalesce({0}, current_date) + 400"}

TELLING = {  # columns that tell a row in compare, beside the container
    "container_fees": ("place", "type", "currency_code"), "container_holds": ("place", "name", "description"),
    "container_import_deadlines": ("kind",)}
TELLING.update({t[:-1] + "_history": c for t, c in list(TELLING.items())})


def prove_tables(trial, expected_of, keys_of):
    """Spoils each compared column of each table in the warehouse, within a transaction that is undone."""
    for table, columns in sorted(trial.dictionary["tracking"].items()):
        expected = expected_of(table)
        if expected is None:
            continue
        relation, keyed = "tracking." + table, lambda rows, t=table: keys_of(t, rows)
        compared = {c for row in expected.values() for c in row if c in columns}
        told_by = set(TELLING.get(table, ()))
        compared -= set(key_columns(trial, relation)) - told_by
        spoil(trial, table, relation, columns, expected, keyed, sorted(compared - told_by))
        for column in sorted(compared & told_by):  # a row with another key is a row too many and one too few
            spoil(trial, table, relation, columns, expected, keyed, [column], "(row)")


def spoil(trial, name, relation, columns, expected, keyed, spoilt, noticed_as=None):
    database = trial.database
    places = database.execute("select ctid from %s" % relation).split()
    by_place = {}
    for number, column in enumerate(spoilt):
        by_place.setdefault(places[number % len(places)], []).append(column)
    updates = "".join(
        "update %s set %s where ctid = '%s';\n" % (relation, ", ".join(
            '"%s" = %s' % (c, SPOILT[columns[c][0]].format('"%s"' % c)) for c in own), place)
        for place, own in by_place.items())
    rows = database.rows(relation, undone=updates)
    found = Report([])
    found.compare(name, expected, keyed(rows), columns)
    noticed = {d[2] for d in found.differences}
    missed = [c for c in spoilt if (noticed_as or c) not in noticed]
    trial.report.value("proof", (name, "spoilt columns that nobody noticed"), [], missed)
    trial.spoilt += len(spoilt)


def key_columns(trial, relation):
    """The columns of the primary key, which tell a row and are not compared."""
    return trial.database.execute(
        "select attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(indkey)"
        " where indrelid = '%s'::regclass and indisprimary" % relation).split()


def prove_answer(trial, view, expected, found, columns):
    """Spoils each compared column of an answer, in the rows that came from the database."""
    compared = sorted({c for row in expected.values() for c in row})
    rows = {key: dict(row) for key, row in found.items()}
    for number, column in enumerate(compared):
        keys = [k for k in expected if column in expected[k] and k in rows]
        if not keys:
            continue
        row = rows[keys[number % len(keys)]]
        row[column] = other(row[column], columns.get(column, ("text",))[0])
    report = Report([])
    report.compare(view, expected, rows, columns)
    noticed = {d[2] for d in report.differences}
    trial.report.value("proof", (view, "spoilt columns that nobody noticed"), [],
                       [c for c in compared if c not in noticed])
    trial.spoilt += len(compared)


def other(value, type_):
    if type_ in ("numeric", "integer", "bigint"):
        return (value or 0) + 1000
    return {"boolean": not value, "timestamptz": "1999-01-01T00:00:00+00:00", "timestamp": "1999-01-01T00:00:00",
            "date": "1999-01-01", "text[]": ["spoilt"], "jsonb": ["spoilt"]}.get(type_, "spoilt")
