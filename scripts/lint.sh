# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev lint and ./dev format

# clang beside clang-format takes some 60 MB more, 9 MB of them to download.
readonly lint_packages=(clang-format clang shellcheck python3 git)

# Formatting differs between releases of clang-format; Debian 12's is the one that counts.
clang_format() {
  if command -v clang-format-14 >/dev/null; then clang-format-14 "$@"; else clang-format "$@"; fi
}

# tracked PATTERN...: the files of that kind that git knows and that are there, each ended by a zero byte.
tracked() {
  local file
  while IFS= read -r -d '' file; do
    if [[ -f $file ]]; then printf '%s\0' "$file"; fi
  done < <(git ls-files -z -- "$@")
}

# Each check prints one line a problem and nothing else.
lint_format() {
  local files
  mapfile -d '' -t files < <(tracked '*.h' '*.cc')
  ((${#files[@]} > 0)) || return 0
  clang_format --dry-run -Werror "${files[@]}" >"$log_dir/lint-format.log" 2>&1 ||
    sed -nE 's/^([^:]+):[0-9]+:[0-9]+: .*clang-format.*/\1: not formatted; .\/dev format does it/p' "$log_dir/lint-format.log" | uniq
}

# scripts SUFFIX INTERPRETER: the tracked files whose names end in .SUFFIX, or have no ending and whose first line names
# such an interpreter, each ended by a zero byte.
scripts() {
  local file line
  while IFS= read -r -d '' file; do
    if [[ ${file##*/} == *.* && ${file##*/} != *."$1" ]]; then continue; fi
    if [[ $file != *."$1" ]]; then
      line=$(head -n 1 "$file" | tr -d '\0')
      [[ $line =~ ^'#!'.*[/\ ]($2)(\ |$) ]] || continue
    fi
    printf '%s\0' "$file"
  done < <(tracked .)
}

# The parts of ./dev use each other's names, which only a check of the whole can know.
lint_shell() {
  local files file parts=() others=()
  mapfile -d '' -t files < <(scripts sh '(ba|da)?sh')
  for file in "${files[@]}"; do
    if [[ $file == scripts/*.sh ]]; then parts+=("$file"); else others+=("$file"); fi
  done
  if ((${#others[@]} > 0)); then shellcheck --format=gcc --external-sources "${others[@]}" || true; fi
  if ((${#parts[@]} > 0)); then shellcheck --format=gcc --exclude=SC2034,SC2154 "${parts[@]}" || true; fi
  shellcheck --format=gcc --external-sources --check-sourced --include=SC2034,SC2154 dev || true
}

# Compiles each, which runs nothing and leaves nothing behind.
lint_python() {
  scripts py 'python3?' | xargs -0 -r "$python" -c '
import sys
for name in sys.argv[1:]:
    try:
        with open(name, "rb") as file:
            compile(file.read(), name, "exec")
    except (SyntaxError, ValueError) as error:
        print("{}:{}: {}".format(name, getattr(error, "lineno", None) or 1, getattr(error, "msg", None) or error))
'
}

lint_space() {
  git grep -nIE '[[:space:]]$|'$'\t' -- '*.h' '*.cc' | sed -E 's/^([^:]+:[0-9]+):.*/\1: a tab, or white space at the end/' || true
}

lint_size() {
  tracked . | xargs -0 -r stat --printf '%s %n\n' | awk '$1 > 1048576 {size = $1; $1 = ""; print substr($0, 2) ": " size " bytes; 1 MiB is the limit"}'
}

lint_functions() { tracked '*.h' '*.cc' | xargs -0 -r "$python" -B tests/long_functions.py; }

# Every folder below stoker/, those included that hold only folders.
lint_readme() {
  local folder
  git ls-files -- stoker | awk -F/ '{path = $1; for (i = 2; i < NF; ++i) {path = path "/" $i; print path}}' | sort -u |
    while IFS= read -r folder; do
      [[ -f $folder/README.md ]] || echo "$folder: no README.md (what lives here, what may not, where to start reading)"
    done
}

# What the compiler does not know of is not checked: every lock is one of stoker/base/mutex.h. Only its own benchmark has others, to compare.
lint_mutex() {
  git grep -nE 'std::((recursive_|timed_|shared_)*mutex|condition_variable)' -- 'stoker/*.h' 'stoker/*.cc' ':!stoker/base/mutex*' |
    sed -E 's/^([^:]+:[0-9]+):.*/\1: a lock that clang cannot check; use Mutex and CondVar of stoker\/base\/mutex.h/' || true
}

# The sources that lock, and those that may hold a member function of a class with a lock: they stand in the folder of its
# header and include it.
files_with_locks() {
  local words='\b(Mutex|MutexLock|CondVar)\b' header
  {
    git grep -lE "$words" -- 'stoker/*.cc' || true
    { git grep -lE "$words" -- 'stoker/*.h' || true; } | while IFS= read -r header; do
      git grep -lF "#include \"$header\"" -- "${header%/*}/*.cc" ':!*_test.cc' ':!*_bench.cc' ':!*_fuzz.cc' || true
    done
  } | sort -u
}

# gloo_headers: the folder of the empty headers that the build puts in place of Gloo's (cmake/StokerGloo.cmake).
gloo_headers() {
  local folder="$root/build/lint/gloo_headers" names header
  read -ra names < <(sed -n 's/^ *foreach(header \(.*\))$/\1/p' cmake/StokerGloo.cmake)
  for header in "${names[@]}"; do
    mkdir -p "$(dirname "$folder/gloo/$header")"
    : >"$folder/gloo/$header.h"
  done
  printf '%s' "$folder"
}

# clang_flags FILE: how clang compiles it, into the array `flags`; false where that cannot be: plug-ins of Arrow without its
# headers.
clang_flags() {
  local torch arrow
  torch=$(torch_dir)
  arrow=$(pyarrow_dir)/include
  if [[ $1 == stoker/formats/arrow/*_plugin.cc && ! -d $arrow ]]; then return 1; fi
  flags=(-std=c++20 -I. -DFMT_SHARED -DHWY_SHARED_DEFINE -DSTOKER_VERSION='"lint"' -DSTOKER_PLUGIN_TAG='"lint"' -isystem "$arrow")
  # Only where they are used: torch brings an fmt of its own.
  case $1 in
    stoker/cluster/* | stoker/device/* | stoker/train/* | stoker/tools/trainer/* | examples/*)
      flags+=(-isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" -isystem "$(gloo_headers)")
      ;;
  esac
}

# clang_check 'FILE...': prints what the analysis finds, at once, so that several may print to one place. The files are compiled
# together.
clang_check() {
  local said flags files
  read -ra files <<<"$1"
  clang_flags "${files[0]}" || return 0
  said=$(printf '#include "%s"\n' "${files[@]}" |
    clang++ "${flags[@]}" -x c++ -fsyntax-only -fno-caret-diagnostics -Wthread-safety -Wthread-safety-beta - 2>&1) || true
  if [[ -n $said ]]; then printf '%s\n' "$said"; fi
}

# together: the files that standard input names, in lines of up to eight of one folder that may be compiled together, as the build
# does it (stoker_join in cmake/StokerFolder.cmake); most of a file's time goes into headers that its neighbours include too.
together() {
  awk '{
    folder = $0; sub("/[^/]*$", "", folder)
    if ($0 ~ /_test\.cc$/) folder = folder " tests"
    if ($0 ~ /_(plugin|library|bench|fuzz)\.cc$/) folder = $0
    if (line != "" && (folder != last || count == 8)) { print line; line = ""; count = 0 }
    line = line (line == "" ? "" : " ") $0; last = folder; ++count
  } END { if (line != "") print line }' < <(awk '{test = /_test\.cc$/; print test, $0}' | sort | cut -d" " -f2-)
}

# tidy_check FILE: likewise, by .clang-tidy.
tidy_check() {
  local said flags status=0
  clang_flags "$1" || return 0
  said=$(clang-tidy --quiet "$1" -- "${flags[@]}" -Wno-everything 2>/dev/null) || status=$?
  # One that crashed has said nothing.
  if ((status != 0)) && [[ -z $said ]]; then said="$(pwd)/$1:1:1: error: clang-tidy ended with status $status and said nothing"; fi
  if [[ -n $said ]]; then printf '%s\n' "$said"; fi
}

# each_at_once CHECK LOG: CHECK of each line of standard input, a file or several, as many at once as there are processors.
each_at_once() {
  local file jobs
  jobs=$(job_count)
  : >"$2"
  while IFS= read -r file; do
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
    "$1" "$file" >>"$2" &
  done
  wait
}

# clang's analysis of what is guarded by which lock (stoker/base/mutex.h).
lint_threads() {
  local log="$log_dir/lint-threads.log"
  each_at_once clang_check "$log" < <(files_with_locks | together)
  sed -nE 's/^(\.\/)?([^ :]+:[0-9]+:[0-9]+): (fatal error|error|warning): (.*)/\2: \4/p' "$log" | sort -u
}

# lint_tidy [FILE...]: clang-tidy's checks of these sources; of all that are no tests where none is named. Of one file it takes
# some seconds, of all an hour.
lint_tidy() {
  local log="$log_dir/lint-tidy.log" folder
  if (($# > 0)); then
    each_at_once tidy_check "$log" < <(printf '%s\n' "$@")
  else
    each_at_once tidy_check "$log" < <(git ls-files -- 'stoker/*.cc' 'examples/*.cc' ':!*_test.cc' ':!*_bench.cc' ':!*_fuzz.cc')
  fi
  folder=$(pwd)/
  sed -nE 's/^([^ :]+:[0-9]+):[0-9]+: (error|warning): (.*)/\1: \3/p' "$log" | sed "s|^$folder||; s|^\./||" | sort -u
}

do_tidy() {
  local found
  if (($# > 0)); then ls -- "$@" >/dev/null || exit 2; fi
  setup_base
  need_packages apt-tidy clang-tidy
  found=$(lint_tidy "$@")
  if [[ -n $found ]]; then
    printf '%s\n' "$found"
    fail "clang-tidy has $(printf '%s\n' "$found" | wc -l) complaints, each on a line above" 'correct them, or say in .clang-tidy why not'
  fi
  say 'clang-tidy has no complaint'
}

do_lint() {
  local check problems='' found
  mkdir -p "$log_dir"
  need_packages apt-lint "${lint_packages[@]}"
  if [[ ${1:-} == --tidy ]]; then
    shift
    do_tidy "$@"
    return
  fi
  (($# == 0)) || usage_error "lint takes --tidy [FILE...] alone, not '$1'"
  [[ -x $python ]] || python=python3
  if [[ -n $(files_with_locks) ]]; then setup_base; fi
  for check in format shell python space size functions readme mutex threads; do
    found=$("lint_$check")
    if [[ -n $found ]]; then problems+="$found"$'\n'; fi
  done
  if [[ -n $problems ]]; then
    printf '%s' "$problems" | tee "$log_dir/lint.log"
    fail "$(printf '%s' "$problems" | wc -l) problems, each on a line above" 'correct them, then ./dev lint'
  fi
  say 'no problems'
}

do_format() {
  local files
  mkdir -p "$log_dir"
  need_packages apt-lint "${lint_packages[@]}"
  mapfile -d '' -t files < <(tracked '*.h' '*.cc')
  if ((${#files[@]} > 0)); then clang_format -i "${files[@]}"; fi
  say "${#files[@]} files formatted"
}
