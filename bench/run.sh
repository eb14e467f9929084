#!/usr/bin/env bash
# Usage: bench/run.sh [--quick] [--no-peers]
# Prints the figures of docs/performance.md, both sides measured in the same run; what it leaves out is said there.
#   --quick     one round, and without the recipe that takes minutes
#   --no-peers  Stoker alone, on purpose; without it a comparison that cannot be made ends in exit code 3
# Exit: 0 all figures reached, 1 one missed or a benchmark failed, 2 wrong usage, 3 reached, but not compared with every peer
set -uo pipefail
cd "$(dirname "$0")" || exit 1

usage() { sed -n '2,6s/^# //p' "${BASH_SOURCE[0]##*/}"; }

options=(3) # what the benchmarks that have peers are given
recipes=()
for option in "$@"; do
  case $option in
    --quick) options[0]=1 recipes=(recipes/fashion-mnist.yaml) ;;
    --no-peers) options+=(--no-peers) ;;
    --help) usage && exit 0 ;;
    *) printf 'bench: no option %s\n' "'$option'" >&2 && usage >&2 && exit 2 ;;
  esac
done

missed=0 not_compared=0
run() {
  local status=0
  "$@" || status=$?
  case $status in
    0) ;;
    3) not_compared=$((not_compared + 1)) ;;
    *) missed=$((missed + 1)) ;;
  esac
  echo
}
run ./startup
run ./records "${options[@]}"
run ./small_files "${options[@]}"
run ./formats "${options[@]}"
run ./tables "${options[@]}"
run ./wide_and_deep "${options[@]}"
run ./embeddings "${options[@]}"
run ./text "${options[@]}"
run ./sequences "${options[@]}"
run ./images "${options[@]}"
run ./remote "${options[@]}"
run ./train "${options[@]}"
run ./loop "${options[@]}"
run ./distributed "${options[@]}"
run ./feed "${options[@]}"
run ./tracing "${options[@]}"
run ./python "${options[@]}"
run ./python_datasets "${options[@]}"
run ./python_loop "${options[@]}"
run ./accuracy "${recipes[@]}"
run ./time_to_accuracy "${options[@]}"
for benchmark in "${STOKER_BIN:-../build/release/bin}"/*_bench; do
  run "$benchmark" --benchmark_min_time=0.2
done
if ((not_compared > 0)); then echo "$not_compared of the benchmarks were not compared with every peer; each says why"; fi
if ((missed > 0)); then
  echo "$missed of the benchmarks missed a figure or failed"
  exit 1
fi
exit $((not_compared > 0 ? 3 : 0))
