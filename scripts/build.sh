# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev build

# As many compilers as there are processors, but none that would have less than 2 GiB: a file that includes torch needs it.
job_count() {
  local cpus memory_kib file limit
  cpus=$(nproc)
  memory_kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  for file in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
    [[ -r $file ]] || continue
    limit=$(<"$file")
    if [[ $limit =~ ^[0-9]+$ ]] && ((limit / 1024 < memory_kib)); then memory_kib=$((limit / 1024)); fi
  done
  local jobs=$((memory_kib / (2 * 1024 * 1024)))
  if ((jobs > cpus)); then jobs=$cpus; fi
  if ((jobs < 1)); then jobs=1; fi
  echo "$jobs"
}

# On a terminal the progress lines of ninja overwrite each other, so that what else is printed stands out.
show_progress() {
  local line pending='' width
  if [[ ! -t 1 ]]; then
    cat
    return
  fi
  width=$(tput cols 2>/dev/null || echo 80)
  while IFS= read -r line; do
    if [[ $line =~ ^\[[0-9]+/[0-9]+\] ]]; then
      printf '\r\e[K%s' "${line:0:width-1}"
      pending=yes
    else
      printf '%s%s\n' "${pending:+$'\n'}" "$line"
      pending=''
    fi
  done
  if [[ -n $pending ]]; then printf '\n'; fi
}

# configure_and_build PRESET [TARGET...]: all targets where none is named. The caller has run setup_base.
configure_and_build() {
  local preset=$1 log="$log_dir/configure-$1.log" jobs started=$SECONDS
  shift
  mkdir -p "$log_dir"
  jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(job_count)}
  say "configuring $preset in build/$preset"
  cmake --preset "$preset" -DSTOKER_TORCH_DIR="$(torch_dir)" -DSTOKER_ARROW_DIR="$(pyarrow_dir)" >"$log" 2>&1 ||
    fail "cmake --preset $preset" "read the first error in the log; after a change of compiler or libtorch, remove build/$preset" "$log"
  log="$log_dir/build-$preset.log"
  say "compiling, $jobs at a time"
  cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"} 2>&1 | tee "$log" | show_progress ||
    fail "cmake --build --preset $preset" "correct the first error in the log (warnings count as errors), then ./dev build $preset" "$log"
  say "$preset built in $((SECONDS - started)) s: build/$preset/bin"
}

check_preset() {
  case $1 in
    debug | release | asan | tsan) ;;
    *) usage_error "no preset '$1'; there are debug, release, asan and tsan" ;;
  esac
}

do_build() {
  local preset=${1:-release}
  check_preset "$preset"
  setup_base
  configure_and_build "$preset" "${@:2}"
}
