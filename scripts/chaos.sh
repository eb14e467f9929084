# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev chaos

do_chaos() {
  local status=0
  setup_base
  configure_and_build release stoker stoker-train stoker_chaos_faults
  (cd tests && STOKER="$root/build/release/bin/stoker" STOKER_CHAOS_LIBRARY="$root/build/release/bin/libstoker_chaos_faults.so" \
    "$python" -B -m chaos "$@" 2>&1) | tee "$log_dir/chaos.log" || status=$?
  case $status in
    0) ;;
    1) fail 'some seeds ended as they must not' 'the lines above say which, and how to replay each' ;;
    *) exit "$status" ;;
  esac
}
