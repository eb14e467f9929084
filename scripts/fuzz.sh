# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev fuzz

readonly fuzz_packages=(clang libclang-rt-14-dev libjxl-testdata zzuf)
# Other people's pictures, which the fuzzers of pictures begin with.
readonly picture_folders=(/usr/libexec/installed-tests/gdk-pixbuf/test-images /usr/share/libjxl-testdata)

# flip_bits FOLDER: other people's JPEGs, each with bits flipped at twenty rates by zzuf; made once.
flip_bits() {
  local folder=$1 picture seed
  [[ -d $folder ]] && return
  command -v zzuf >/dev/null || { warn 'no zzuf here: the fuzzers begin without pictures that it damaged' && return; }
  rm -rf "$folder.partial" && mkdir -p "$folder.partial"
  while IFS= read -r -d '' picture; do
    for seed in {1..20}; do
      zzuf --seed="$seed" --ratio=0.0001:0.01 <"$picture" >"$folder.partial/${picture##*/}.$seed"
    done
  done < <(find "${picture_folders[@]}" -iname '*.jp*g' -size -64k -print0)
  mv "$folder.partial" "$folder"
}

# run_fuzzer PROGRAM SECONDS: true when nothing was found. The corpus is kept: the next run starts where this one ended.
run_fuzzer() {
  local program=$1 seconds=$2 name corpus log reproducer status=0 folder begin=()
  name=$(basename "$program")
  corpus="build/fuzz/corpus/$name"
  log="$log_dir/fuzz-$name.log"
  mkdir -p "$corpus" build/fuzz/crashes
  if [[ $name == decode_fuzz || $name == png_fuzz || $name == pnm_fuzz || $name == jpeg_baseline_fuzz ]]; then
    begin=(-max_len=65536) # longer ones are cut
    for folder in "${picture_folders[@]}" build/fuzz/zzuf; do if [[ -d $folder ]]; then begin+=("$folder"); fi; done
  elif [[ -d build/fuzz/seeds/$name ]]; then
    begin=("build/fuzz/seeds/$name")
  fi
  "$program" -max_total_time="$seconds" -timeout=20 -print_final_stats=1 -artifact_prefix="build/fuzz/crashes/$name-" \
    "$corpus" "${begin[@]}" >"$log" 2>&1 </dev/null || status=$?
  if ((status == 0)); then
    say "$name: $(sed -nE 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s, none broke it"
    return 0
  fi
  reproducer=$(sed -nE 's/.*Test unit written to (.*)/\1/p' "$log" | tail -n 1)
  say "$name: broke (status $status); log: $log"
  say "  reproduce with: $program ${reproducer:-(no input was written)}"
  return 1
}

do_fuzz() {
  local seconds=${1:-60} program broken=0 programs
  [[ $seconds =~ ^[1-9][0-9]*$ && $# -le 1 ]] || usage_error 'fuzz takes a number of seconds for each fuzzer'
  setup_base
  need_packages apt-fuzz "${fuzz_packages[@]}"
  configure_and_build fuzz
  mapfile -t programs < <(compgen -G 'build/fuzz/bin/*_fuzz')
  ((${#programs[@]} > 0)) || fail 'the build made no build/fuzz/bin/*_fuzz' 'a fuzzer is a file x_fuzz.cc beside x.cc'
  flip_bits build/fuzz/zzuf
  PYTHONPATH="$pyarrow_home" "$python" tests/fuzz_seeds.py build/fuzz/seeds
  say "${#programs[@]} fuzzers, $seconds s each"
  for program in "${programs[@]}"; do
    run_fuzzer "$program" "$seconds" || broken=$((broken + 1))
  done
  ((broken == 0)) || fail "$broken of ${#programs[@]} fuzzers found an input that breaks a parser" \
    'make that input a test beside the parser, then correct the parser'
}
