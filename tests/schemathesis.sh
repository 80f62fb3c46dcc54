#!/usr/bin/env bash
# Lets schemathesis look for requests on which the server does not do as its OpenAPI document says.
#
#   tests/schemathesis.sh JACUZZI SCHEMATHESIS     the two programs
#
# The server runs on the real data, in a data folder that is thrown away.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jacuzzi=$(realpath "$1") schemathesis=$(realpath -s "$2")
ready_within=60 # seconds

folder=$(mktemp -d -t jacuzzi-schemathesis.XXXXXX)
server=
# Called by the trap below.
# shellcheck disable=SC2317
finish() {
    if [[ -n $server ]]; then
        kill -9 "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$folder"
}
trap finish EXIT
: >"$folder/stdout"

# Requests come faster here than one client may send them, and a 429 would hide every other answer.
export JACUZZI__LIMITS__READS_PER_SECOND=1000000 JACUZZI__LIMITS__WRITES_PER_SECOND=1000000
"$jacuzzi" serve --farm config/mozilla.toml --data-dir "$folder/data" --listen 127.0.0.1:0 \
    >"$folder/stdout" 2>"$folder/stderr" </dev/null &
server=$!
url=
for ((tenth = 0; tenth < ready_within * 10; tenth++)); do
    url=$(sed -n 's/^listening on //p' "$folder/stdout")
    if [[ -n $url ]] || ! kill -0 "$server" 2>/dev/null; then
        break
    fi
    sleep 0.1
done
if [[ -z $url ]]; then
    echo "the server ended, or was not ready within $ready_within s; it logged:" >&2
    cat "$folder/stderr" >&2
    exit 1
fi

outcome=0
config=$PWD/tests/schemathesis.toml
cd "$folder" # where it may leave its own files
"$schemathesis" --config-file "$config" run "$url/openapi.json" \
    --header "Authorization: Bearer $(<"$folder/data/operator.token")" --no-color || outcome=$?
if ! kill -0 "$server" 2>/dev/null; then
    echo "the server did not survive" >&2
    outcome=1
fi
if ((outcome != 0)); then
    echo "the last lines that the server logged:" >&2
    tail -n 20 "$folder/stderr" | cut -c -300 >&2
fi
exit "$outcome"
