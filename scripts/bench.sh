# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev bench

# The peers are installed only where there are scripts to run them; where there are none, the benchmarks say so.
do_bench() {
  local option peers=yes folder
  for option in "$@"; do
    case $option in
      --quick) ;;
      --no-peers) peers='' ;;
      --help) exec bench/run.sh --help ;;
      *) usage_error "bench has no option '$option'" ;;
    esac
  done
  setup_base
  folder=$(cd bench && "$python" -B -c 'import measure; print(measure.PEERS)')
  if [[ -n $peers && -d $folder ]]; then setup_peers all; fi
  need_packages apt-interop "${interop_packages[@]}" # the server of bench/remote
  do_photos "$root/build/photos"
  configure_and_build release
  do_python 'none_*.py' # without its tests
  exec bench/run.sh "$@"
}
