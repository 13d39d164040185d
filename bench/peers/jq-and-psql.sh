#!/usr/bin/env bash
# A load by hand, as a careful person would write it: the list of shipments with all that it includes, page after page by its links, through jq into files of
# tab-separated values, which psql copies and upserts. $1: a folder for the files. See jq-and-psql.js for the two programs.
set -euo pipefail
includes=containers,containers.transport_events
next="$API_URL/shipments?page%5Bnumber%5D=1&page%5Bsize%5D=100"
for table in $TABLES; do : > "$1/$table.tsv"; done
while [ -n "$next" ]; do
    curl --silent --show-error --fail --globoff --compressed --header "authorization: Token $API_KEY" \
        --output "$1/page.json" "$next&include=$includes"
    jq --raw-output "$JQ_PROGRAM" "$1/page.json" >> "$1/rows"
    next=$(jq --raw-output '.links.next // ""' "$1/page.json" | sed 's/&include=[^&]*//')
    case "$next" in /*) next="${API_URL%/v2}$next" ;; esac
done
awk -F '\t' -v folder="$1" '{ table = $1; print substr($0, length(table) + 2) > (folder "/" table ".tsv") }' "$1/rows"
printf '%s\n' "$MERGE_SQL" | psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 "$DATABASE_URL"
