#!/usr/bin/env bash
# Prints every figure that docs/performance.md gives, both sides measured in the same run.
#   bench/run.sh [--quick]     --quick: one round, and without the recipe that takes minutes
set -uo pipefail
cd "$(dirname "$0")" || exit 1

rounds=3
recipes=()
case "${1:-}" in
  '') ;;
  --quick) rounds=1 recipes=(recipes/fashion-mnist.yaml) ;;
  *) sed -n '2,3s/^# //p' "$0"; [[ $1 == --help ]] && exit 0 || exit 2 ;;
esac

missed=0
run() {
  "$@" || missed=$((missed + 1))
  echo
}
run ./startup
run ./records "$rounds"
run ./train "$rounds"
run ./accuracy "${recipes[@]}"
for benchmark in "${STOKER_BIN:-../build/release/bin}"/*_bench; do
  run "$benchmark" --benchmark_min_time=0.2
done
((missed == 0)) || echo "$missed of the benchmarks missed a figure or failed"
exit $((missed > 0))
