"""The tables and columns that docs/dictionary.md promises, read from the page itself."""

import re


def read_dictionary(path):
    """{schema: {table: {column: (type, meaning)}}}"""
    schemas, schema, table = {}, None, None
    with open(path, encoding="utf-8") as page:
        for line in page:
            if line.startswith("## "):
                found = re.match(r"## Schema `(\w+)`", line)
                schema, table = (schemas.setdefault(found[1], {}) if found else None), None
            elif line.startswith("### ") and schema is not None:
                table = schema.setdefault(re.match(r"### `(\w+)`", line)[1], {})
            elif line.startswith("| `") and table is not None:
                name, type_, meaning = [c.strip() for c in line.strip().strip("|").split(" | ", 2)]
                table[name.strip("`")] = (type_, meaning.rstrip(" |"))
    return schemas


def origins(columns):
    """Where each column comes from: {column: (type, 'attributes', path) or (type, 'relationships', name)}."""
    found = {}
    for name, (type_, meaning) in columns.items():
        where = re.search(r"From (attributes|relationships)\.([\w.]+?)[.,](?: |$)", meaning + " ")
        if where:
            found[name] = (type_, where[1], where[2])
    return found
