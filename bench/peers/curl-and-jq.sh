#!/usr/bin/env bash
# The first half of a load by hand, as a careful person would write it: the list of shipments with
# all that it includes, page after page by its links, through jq into files of tab-separated values,
# one for each table. $1: a folder for the files. See by-hand.js for jq's program and for who stores
# the files.
set -euo pipefail
includes=containers,containers.transport_events
next="$API_URL/shipments?page%5Bnumber%5D=1&page%5Bsize%5D=100"
for table in $TABLES; do : > "$1/$table.tsv"; done
: > "$1/rows"
while [ -n "$next" ]; do
    curl --silent --show-error --fail --globoff --compressed --header "authorization: Token $API_KEY" \
        --output "$1/page.json" "$next&include=$includes"
    # One reading of the page: its first line is the link of the next one.
    jq --raw-output "$JQ_PROGRAM" "$1/page.json" > "$1/part"
    IFS= read -r next < "$1/part" || true
    tail --lines=+2 "$1/part" >> "$1/rows"
    next=$(printf '%s' "$next" | sed 's/&include=[^&]*//')
    case "$next" in /*) next="${API_URL%/v2}$next" ;; esac
done
awk -F '\t' -v folder="$1" '{ table = $1; print substr($0, length(table) + 2) > (folder "/" table ".tsv") }' "$1/rows"
