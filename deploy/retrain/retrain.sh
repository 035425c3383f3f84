#!/bin/sh
# Trains the model of a step again: collect, build, train, gate, publish, reload, watch. `retrain.sh back` puts the model
# before it in its place. docs/retrain.md has the settings and ways to run it.
# It exits with 0 if the model was published or nothing changed, with 3 if the gate refused, and otherwise with another code.
set -eu

: "${RETRAIN_STEP:?names the step whose model is trained, e.g. search:ltr}"
: "${RETRAIN_MODEL:?is the path of the model in the project, e.g. models/ltr.txt}"
: "${RETRAIN_URLS:?has the addresses of all instances of the service, separated by spaces}"
: "${RETRAIN_EVALUATE:?has the options of the gate, e.g. --judgments judgments.csv}"
MILLRACE_PROJECT=$(cd "${MILLRACE_PROJECT:-.}" && pwd)
export MILLRACE_PROJECT
served=$MILLRACE_PROJECT/$RETRAIN_MODEL
name=$(basename "$served")
work=${RETRAIN_WORK:-$MILLRACE_PROJECT/.retrain}
pipeline=${RETRAIN_STEP%%:*}
desk=$work/desk
data=$work/data

step=start
# What is served if the script ends now: the model `as before`, an `unconfirmed` one, or a `new` one.
serves='as before'

begin() {
  step=$1
  echo "=== $1"
}

setting() {
  node -p 'JSON.parse(process.argv[1]).settings.find(({ key }) => key === process.argv[2]).value' "$settings" "$1"
}

# One line: the status of /readyz of an instance and the version of its project.
readiness() {
  node -e 'fetch(`${process.argv[1]}/readyz`).then((answer) => answer.json())
    .then(({ status, project_version: version }) => console.log(status, version), () => console.log("unreachable"))' "$1"
}

# Puts a model and its card in the place of those that are served. The rename is atomic: nobody reads half a file.
place() {
  cp "$1" "$served.new"
  sync "$served.new"
  for card in .card.json .card.md; do
    if [ -f "$1$card" ]; then cp "$1$card" "$served$card"; fi
  done
  serves=unconfirmed
  mv "$served.new" "$served"
}

publish() {
  if cmp -s "$1" "$served"; then
    echo "$1 is the same model as the one that is served"
    exit 0
  fi
  begin publish
  place "$1"
  begin reload
  sh -c "${RETRAIN_RELOAD:-:}"
  for url in $RETRAIN_URLS; do
    left=${RETRAIN_WAIT:-120}
    until now=$(readiness "$url") && [ "$now" != "OK $before" ] && [ "${now%% *}" = OK ]; do
      left=$((left - 1))
      if [ "$left" -lt 0 ]; then
        echo "$url does not serve the new version of the project after ${RETRAIN_WAIT:-120} s; /readyz: $now; its log says why" >&2
        exit 1
      fi
      sleep 1
    done
    echo "$url serves project version ${now#OK }, before it $before"
  done
  serves=new
  rm -rf "$work/previous"
  mv "$work/taken" "$work/previous"
}

finish() {
  code=$?
  trap - EXIT
  if [ "$serves" = unconfirmed ]; then
    if place "$work/taken/$name" && sh -c "${RETRAIN_RELOAD:-:}"; then serves='as before'; fi
  fi
  if [ "$code" -ne 0 ] && [ "$code" -ne 3 ]; then echo "retrain: $step failed; the model that is served: $serves" >&2; fi
  exit "$code"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

if [ ! -f "$served" ]; then
  echo "$served is no file: train and serve the first model by hand" >&2
  exit 1
fi
before=''
for url in $RETRAIN_URLS; do
  now=$(readiness "$url")
  before=${before:-${now#OK }}
  if [ "$now" != "OK $before" ]; then
    echo "$url is not ready, or serves another version than the first instance: $now" >&2
    exit 1
  fi
done
rm -rf "$work/taken"
mkdir -p "$work/taken"
cp "$served" "$served".card.* "$work/taken/" 2>/dev/null || cp "$served" "$work/taken/"
if [ "${1:-}" = back ]; then
  publish "$work/previous/$name"
  exit 0
fi

begin collect
settings=$(millrace settings --json)
ledger=${RETRAIN_LEDGER:-$(setting ledger.dir)}
engine=$(setting store)
sh -c "${RETRAIN_COLLECT:-:}"
millrace ledger stats --ledger "$ledger"

begin build
# Settings with several options are split at spaces.
# shellcheck disable=SC2086
millrace dataset build "$pipeline" --ledger "$ledger" --out "$data" ${RETRAIN_BUILD:-}

begin train
rm -rf "$desk"
mkdir "$desk"
# Without hidden files: the data folder and the folder of this script.
cp -RL "$MILLRACE_PROJECT"/* "$desk/"
# shellcheck disable=SC2086
millrace train "$RETRAIN_STEP" --project "$desk" --data "$data" --out "$desk/$RETRAIN_MODEL" ${RETRAIN_TRAIN:-}

begin gate
store=$work/store
rm -rf "$store" "$work/gate.xml"
if [ "$engine" = embedded ]; then
  # The service owns its embedded store, so the gate has a copy of what the service exports.
  for kind in entities features; do
    for file in "$desk/schemas/$kind"/*.yaml; do
      if [ ! -f "$file" ]; then continue; fi
      of=$(basename "$file" .yaml)
      millrace "$kind" export "$of" --url "${RETRAIN_URLS%% *}" --out "$work/$kind.jsonl"
      millrace "$kind" load "$of" "$work/$kind.jsonl" --project "$desk" --data-dir "$store"
    done
  done
fi
code=0
# shellcheck disable=SC2086
millrace evaluate "$pipeline" --project "$desk" --data-dir "$store" --against "$MILLRACE_PROJECT" \
  $RETRAIN_EVALUATE --require "${RETRAIN_REQUIRE:-lower(delta.ndcg@10) > -0.002}" --junit "$work/gate.xml" || code=$?
if [ "$code" -ne 0 ]; then
  # `evaluate` exits with 1 for a refusal and for a failure; it writes the report only if it could decide.
  if [ ! -f "$work/gate.xml" ]; then exit "$code"; fi
  echo "retrain: the gate refused; the model that is served: $serves" >&2
  exit 3
fi

publish "$desk/$RETRAIN_MODEL"

begin watch
cp "$work/previous/$name" "$desk/$RETRAIN_MODEL"
sleep "${RETRAIN_WATCH:-0}"
for url in $RETRAIN_URLS; do echo "$url $(readiness "$url")"; done
millrace ledger stats --ledger "$ledger" --against "$data"
# Only to look at: clicks favour what was at the top.
millrace evaluate "$pipeline" --data-dir "$store" --ledger "$ledger" --against "$desk" --metrics ndcg@10 --worst 0
echo "to go back: sh $0 back"
