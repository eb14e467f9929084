# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev chaos

do_chaos() {
  local status=0 targets=(stoker stoker-train stoker_chaos_faults)
  setup_base
  if [[ -r $(pyarrow_dir)/include/parquet/arrow/reader.h ]]; then targets+=(stoker_arrow stoker_arrow_testing); fi
  configure_and_build release "${targets[@]}"
  (cd tests && STOKER="$root/build/release/bin/stoker" STOKER_CHAOS_LIBRARY="$root/build/release/bin/libstoker_chaos_faults.so" \
    "$python" -B -m chaos "$@" 2>&1) | tee "$log_dir/chaos.log" || status=$?
  case $status in
    0) ;;
    1) fail 'some seeds ended as they must not' 'the lines above say which, and how to replay each' ;;
    *) exit "$status" ;;
  esac
}
