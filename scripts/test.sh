# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev test

# summary STATUS REPORT...: the last line of ./dev test, from ctest's JUnit reports. What ended badly without a test being at
# fault (the build, ctest itself) counts as one failure, so that the line never looks better than the exit status.
summary() {
  local status=$1 report passed=0 failed=0 skipped=0 all run left_out
  shift
  for report in "$@"; do
    [[ -s $report ]] || continue
    run=$(grep -c '<testcase .* status="run"' "$report" || true)
    left_out=$(grep -c -e '<skipped message="SKIP_' -e '<testcase .* status="disabled"' "$report" || true)
    all=$(grep -c '<testcase ' "$report" || true)
    passed=$((passed + run)) skipped=$((skipped + left_out))
    failed=$((failed + all - run - left_out)) # failed, timed out, or could not be started
  done
  if ((status != 0 && failed == 0)); then failed=1; fi
  if ((skipped > 0)); then say "$skipped skipped, each for the reason that $log_dir gives"; fi
  printf '%s passed, %s failed\n' "$passed" "$failed"
}

# plan_since PRESET COMMIT: fills `targets` and `filter` (options of ctest) with what is to be built and tested of what differs
# from COMMIT.
plan_since() {
  local preset=$1 folders folder names=()
  [[ -x $python ]] || python=python3
  mapfile -t folders < <("$python" -B tests/changed_folders.py "$2" 2>&1 || echo '!')
  ((${#folders[@]} > 0)) || return 0
  [[ ${folders[-1]} != '!' ]] || fail "test --since $2: ${folders[0]}" 'name a commit of this repository, such as HEAD~3 or main'
  for folder in "${folders[@]}"; do
    if [[ $folder == program ]]; then
      targets+=(all) # the programs, and what tests of them are built of
    elif [[ $preset == tsan && $folder =~ ^(device|cluster|train)$ ]]; then
      continue # this preset has no libtorch
    elif [[ -n $(git ls-files --cached --others --exclude-standard -- "stoker/$folder/*_test.cc") ]]; then
      targets+=("stoker_${folder}_test")
    else
      continue
    fi
    names+=("$folder")
  done
  filter=(--tests-regex "^($(IFS='|' && printf '%s' "${names[*]}"))\\." --label-exclude bench)
}

# What other x86-64 CPUs do otherwise than this one, each setting with the tests whose subject reads it: SETTING TESTS.
# torch's kernels, oneDNN and MKL choose by the instruction sets there are, and OpenMP by the number of CPUs: only device/
# and train/ compute with these, and the tests of programs that train compare what one machine gives with itself. Highway's
# kernels are in the other folders named; their tests that take the instruction sets one by one run in every ./dev test.
readonly portable_settings=(
  'ATEN_CPU_CAPABILITY=default ^(device|cluster|train|tools)\.'
  'ATEN_CPU_CAPABILITY=avx2 ^(device|cluster|train|tools)\.'
  'DNNL_MAX_CPU_ISA=AVX2 ^(device|cluster|train|tools)\.'
  'MKL_CBWR=COMPATIBLE ^(device|cluster|train|tools)\.'
  'OMP_NUM_THREADS=1 ^(device|cluster|train|tools)\.'
  'STOKER_HIGHWAY=SSE4 ^(base|data|image|train)\.'
  'STOKER_HIGHWAY=AVX2 ^(base|data|image|train)\.'
)

# The whole suite, as an old CPU with one core and as one without AVX-512, with all that limits them at once.
readonly portable_cpus=(
  'ATEN_CPU_CAPABILITY=default,DNNL_MAX_CPU_ISA=SSE41,MKL_CBWR=COMPATIBLE,OMP_NUM_THREADS=1,STOKER_HIGHWAY=SSE4 .'
  'ATEN_CPU_CAPABILITY=avx2,DNNL_MAX_CPU_ISA=AVX2,STOKER_HIGHWAY=AVX2 .'
)

# test_portable [--whole] CTEST-OPTION...: the unit tests of the settings above, one setting after the other, or all tests as the
# CPUs above; the last line counts all.
test_portable() {
  local setting tests report reports=() status=0 one log="$log_dir/test-portable.log" limiter="$root/build/release/lib/liblimit_highway.so"
  local variables settings=("${portable_settings[@]}") labels='^unit$'
  if [[ ${1:-} == --whole ]]; then
    shift
    settings=("${portable_cpus[@]}") labels='.'
  fi
  "$self" build release || status=$?
  : >"$log"
  # The loader only warns of a library to preload that it does not find; then nothing would be limited.
  [[ $status -ne 0 || -e $limiter ]] || fail "$limiter is not there, which limits Highway" './dev build release makes it'
  if ((status == 0)); then
    for setting in "${settings[@]}"; do
      tests=${setting#* } setting=${setting%% *} one=0
      IFS=, read -ra variables <<<"$setting"
      report="$log_dir/test-portable-${setting//[^[:alnum:]]/-}.xml"
      rm -f "$report"
      reports+=("$report")
      say "running the tests of $tests with $setting"
      env "${variables[@]}" LD_PRELOAD="$limiter${LD_PRELOAD:+:$LD_PRELOAD}" \
        CTEST_PARALLEL_LEVEL="${CTEST_PARALLEL_LEVEL:-$(job_count)}" \
        ctest --preset release --label-regex "$labels" --tests-regex "$tests" \
        --exclude-regex '/(SCALAR|SSSE3|SSE4|AVX2|AVX3|AVX3_DL)$' --output-on-failure --no-tests=error \
        --output-junit "$report" "$@" 2>&1 | tee -a "$log" || one=$?
      if ((one != 0)); then
        status=$one
        say "failed with $setting; log: $log"
      fi
    done
  fi
  summary "$status" "${reports[@]}"
  ((status == 0)) || exit 1
}

do_test() {
  local preset=release status=0 since='' list='' targets=() filter=() options=()
  if [[ ${1:-} == portable ]]; then
    shift
    mkdir -p "$log_dir"
    test_portable "$@"
    return
  fi
  if (($# > 0)) && [[ $1 != -* ]]; then
    preset=$1
    shift
  fi
  check_preset "$preset"
  while (($# > 0)); do
    case $1 in
      --since)
        since=${2:-}
        [[ -n $since ]] || usage_error 'test --since needs a commit'
        shift
        ;;
      --list) list=yes ;;
      *) options+=("$1") ;;
    esac
    shift
  done
  [[ -z $list || -n $since ]] || usage_error 'test --list goes with --since'
  local report="$log_dir/test-$preset.xml" log="$log_dir/test-$preset.log"
  mkdir -p "$log_dir"
  if [[ -n $since ]]; then
    plan_since "$preset" "$since"
    if ((${#targets[@]} == 0)); then
      say "no folder of stoker/ and no test differs from $since"
      echo '0 passed, 0 failed'
      return
    fi
    say "since $since: $(as_list "${targets[@]}"), tests ${filter[1]}"
    if [[ -n $list ]]; then return; fi
  fi
  rm -f "$report"
  # In a process of its own: whatever ends it, the summary is still printed here.
  "$self" build "$preset" "${targets[@]}" || status=$?
  if ((status == 0)); then
    say "running the tests of $preset"
    CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-$(job_count)} \
      ctest --preset "$preset" --output-on-failure --no-tests=error --output-junit "$report" "${filter[@]}" "${options[@]}" 2>&1 |
      tee "$log" || status=$?
    if ((status != 0)); then
      say "failed; log: $log; next: ./dev test $preset -R NAME runs one test, build/$preset/bin/ has the programs"
    fi
  fi
  summary "$status" "$report"
  ((status == 0)) || exit 1 # whatever ctest's own code was
}
