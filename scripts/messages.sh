# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# What every command says, how it fails, and how a step that may fail for a moment is tried again.

bold='' red='' yellow='' plain=''
if [[ -t 1 && -t 2 && -z ${NO_COLOR:-} ]]; then
  bold=$'\e[1m' red=$'\e[31m' yellow=$'\e[33m' plain=$'\e[0m'
fi

say() { printf '%s%s:%s %s\n' "$bold" "$command" "$plain" "$*"; }
warn() { printf '%s%s: warning:%s %s\n' "$yellow" "$command" "$plain" "$*" >&2; }

# fail WHAT NEXT [LOG]: says what went wrong, the end of the log and what to do about it, and ends the script.
fail() {
  trap - ERR
  printf '%s%s: failed:%s %s\n' "$red" "$command" "$plain" "$1" >&2
  if [[ -n ${3:-} && -s $3 ]]; then
    printf '  log:  %s, which ends with\n' "$3" >&2
    tail -n 8 "$3" | sed 's/^/        | /' >&2
  fi
  printf '  next: %s\n' "$2" >&2
  exit 1
}

# For what nobody foresaw; every failure that can be explained goes through fail.
on_error() {
  local status=$1 place=$2 what=$3
  trap - ERR
  ((BASH_SUBSHELL > 0)) && exit "$status" # the shell around this one reports it
  printf '%s%s: failed:%s `%s` ended with status %s (%s)\n' "$red" "$command" "$plain" "$what" "$status" "$place" >&2
  printf '  log:  the newest file in %s\n  next: run the command again with `bash -x ./dev …` to see how it got there\n' "$log_dir" >&2
  exit "$status"
}
trap 'on_error $? "${BASH_SOURCE[0]}:$LINENO" "$BASH_COMMAND"' ERR

# retry LOG COMMAND...: up to three times, output to LOG, waiting 5 and 20 seconds: long enough for a mirror to recover.
retry() {
  local log=$1 attempt
  shift
  : >"$log"
  for attempt in 1 2 3; do
    printf '%s: attempt %s: %s\n' "$(date -u +%FT%TZ)" "$attempt" "$*" >>"$log"
    if "$@" >>"$log" 2>&1 </dev/null; then return 0; fi
    case $attempt in
      1) say "that failed (see $log); trying again in 5 s" && sleep 5 ;;
      2) say "that failed again; a last try in 20 s" && sleep 20 ;;
    esac
  done
  return 1
}

as_list() { local IFS=' ' && printf '%s' "$*"; }

# The same for names that may be many: the first ten.
as_short_list() {
  as_list "${@:1:10}"
  if (($# > 10)); then printf ' and %s more' $(($# - 10)); fi
}
