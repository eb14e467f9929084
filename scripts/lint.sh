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

# What the compiler does not know of is not checked: every lock is one of stoker/base/mutex.h.
lint_mutex() {
  git grep -nE 'std::((recursive_|timed_|shared_)*mutex|condition_variable)' -- 'stoker/*.h' 'stoker/*.cc' ':!stoker/base/mutex.h' |
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

# clang_check FILE: prints what the analysis finds, at once, so that several may print to one place. Plug-ins of Arrow are left
# out where its headers could not be had.
clang_check() {
  local said torch arrow headers=()
  torch=$(torch_dir)
  arrow=$(pyarrow_dir)/include
  # Only where they are used: torch brings an fmt of its own.
  case $1 in
    stoker/device/* | stoker/train/* | stoker/tools/trainer/*)
      headers=(-isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include")
      ;;
  esac
  if [[ $1 == stoker/formats/arrow/*_plugin.cc && ! -d $arrow ]]; then return; fi
  said=$(clang++ -std=c++20 -I. -DFMT_SHARED -DHWY_SHARED_DEFINE -DSTOKER_VERSION='"lint"' -DSTOKER_PLUGIN_TAG='"lint"' \
    "${headers[@]}" -isystem "$arrow" -fsyntax-only -fno-caret-diagnostics -Wthread-safety -Wthread-safety-beta "$1" 2>&1) || true
  if [[ -n $said ]]; then printf '%s\n' "$said"; fi
}

# clang's analysis of what is guarded by which lock (stoker/base/mutex.h).
lint_threads() {
  local log="$log_dir/lint-threads.log" file jobs
  jobs=$(job_count)
  : >"$log"
  while IFS= read -r file; do
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
    clang_check "$file" >>"$log" &
  done < <(files_with_locks)
  wait
  sed -nE 's/^([^ :]+:[0-9]+:[0-9]+): (fatal error|error|warning): (.*)/\1: \3/p' "$log" | sort -u
}

do_lint() {
  local check problems='' found
  mkdir -p "$log_dir"
  need_packages apt-lint "${lint_packages[@]}"
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
