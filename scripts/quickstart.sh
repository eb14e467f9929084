# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev quickstart

do_quickstart() {
  local status=0
  setup_base
  configure_and_build release stoker stoker-train # the tests can wait
  say 'training the Fashion-MNIST classifier (recipes/fashion-mnist.yaml)'
  build/release/bin/stoker train recipes/fashion-mnist.yaml "$@" || status=$?
  case $status in
    0) ;;
    130 | 143) exit "$status" ;; # interrupted; the last line above says how to go on
    *) fail "stoker train recipes/fashion-mnist.yaml" 'the message above says what it found; `build/release/bin/stoker train --help` explains the options' ;;
  esac
  say 'what next: PATH=$PWD/build/release/bin:$PATH, then `stoker eval RUN` and `stoker predict RUN FILE...` with the run above'
}
