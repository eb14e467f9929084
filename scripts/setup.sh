# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev setup, and setup_base, with which every other command begins.

# torchvision's models and PyTorch's files are compared with ours by tests/interop_weights_test.py too.
readonly peer_requirements=("torch==$torch_version" torchvision numpy psutil pandas)
readonly more_peer_requirements=(tensorflow-cpu grain tokenizers sentencepiece lightning "pyarrow==$pyarrow_version" webdataset datasets
  spdl opencv-python-headless nvidia-dali-cuda130)
# The formats' own software, which writes files for tests/interop_*_test.py and reads ours. moto brings botocore, which signs.
readonly interop_requirements=(tensorflow-cpu tensorboard numpy tokenizers sentencepiece lmdb scikit-learn webdataset h5py tensorstore 'moto[server]'
  safetensors ml_dtypes pillow idx2numpy gcsfs requests "pyarrow==$pyarrow_version" viztracer)
# Alone, for what it says it requires is older than what the others do, and its reader and writer of records need none of
# it; of amd64 only.
readonly interop_alone=('mxnet==1.9.1')
# Programs that compress, for the tests too; nginx is the server that bench/remote reads from, and of prometheus promtool checks
# our metrics; Debian starts the two servers only where systemd runs. node runs the processor of traces that viztracer brings. Both
# kinds of MPI start ranks.
readonly interop_packages=(zip unzip zstd xz-utils bzip2 gzip pigz pbzip2 pixz nginx-light libnginx-mod-http-echo prometheus nodejs
  zsh fish man-db groff mandoc mpich openmpi-bin)

# One set-up at a time: two that fill .deps together would spoil each other's work. The lock goes with the process.
lock_deps() {
  mkdir -p "$deps" "$log_dir"
  command -v flock >/dev/null || return 0
  exec {lock}>"$deps/lock"
  flock --nonblock "$lock" && return
  say "waiting for another ./dev that is setting up"
  flock "$lock"
}

unlock_deps() {
  if [[ -n ${lock:-} ]]; then exec {lock}>&-; fi
}

# What every build needs; quick, silent and without the network when it is there.
setup_base() {
  lock_deps
  check_system
  need_packages apt "${base_packages[@]}"
  [[ -x $python ]] || python=python3
  setup_torch "$@"
  setup_pyarrow
  unlock_deps
}

# A virtual environment with the libraries that ./dev bench compares with. It sees our copy of torch through a .pth file,
# so pip fetches only what that copy lacks.
setup_peers() {
  local venv="$deps/peers" requirements=("${peer_requirements[@]}") have='' site torch
  local all=("${peer_requirements[@]}" "${more_peer_requirements[@]}")
  if [[ ${1:-} == all ]]; then requirements=("${all[@]}"); fi
  if [[ -r $venv/.complete ]]; then have=$(<"$venv/.complete"); fi
  # An environment with all of them has these too.
  if [[ $have == "$(as_list "${requirements[@]}")" || $have == "$(as_list "${all[@]}")" ]]; then return; fi
  torch=$(torch_dir)
  [[ -r $torch/__init__.py ]] ||
    fail "the peers need torch's Python package, and $torch has none" 'unset STOKER_TORCH, or ./dev bench --no-peers'
  lock_deps
  need_disk "$deps" 10 'the peers'
  say "installing the peers that bench compares with ($(as_list "${requirements[@]}"))"
  if [[ ! -x $venv/bin/python ]]; then
    rm -rf "$venv"
    "$python" -m venv "$venv" >"$log_dir/venv-peers.log" 2>&1 ||
      fail 'no virtual environment could be made' 'install python3-venv' "$log_dir/venv-peers.log"
  fi
  site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  dirname "$torch" >"$site/stoker_torch.pth"
  pip_install pip-peers "$venv/bin/python" "${requirements[@]}"
  "$venv/bin/python" -c 'import torch, numpy, psutil' >"$log_dir/peers-import.log" 2>&1 ||
    fail 'the peers are installed but cannot be imported' "remove $venv and run \`./dev setup --peers\` again" "$log_dir/peers-import.log"
  as_list "${requirements[@]}" >"$venv/.complete"
  unlock_deps
}

# A virtual environment with the software whose formats we read.
setup_interop() {
  local venv="$deps/interop" have='' alone=()
  if [[ $(uname -m) == x86_64 ]]; then alone=("${interop_alone[@]}"); fi
  if [[ -r $venv/.complete ]]; then have=$(<"$venv/.complete"); fi
  if [[ $have == "$(as_list "${interop_requirements[@]}" "${alone[@]}")" ]]; then return; fi
  lock_deps
  need_disk "$deps" 3 'the software of other formats'
  say "installing the software whose formats are read ($(as_list "${interop_requirements[@]}" "${alone[@]}"))"
  if [[ ! -x $venv/bin/python ]]; then
    rm -rf "$venv"
    "$python" -m venv "$venv" >"$log_dir/venv-interop.log" 2>&1 ||
      fail 'no virtual environment could be made' 'install python3-venv' "$log_dir/venv-interop.log"
  fi
  pip_install pip-interop "$venv/bin/python" "${interop_requirements[@]}"
  if ((${#alone[@]} > 0)); then pip_install pip-interop-alone "$venv/bin/python" --no-deps "${alone[@]}"; fi
  as_list "${interop_requirements[@]}" "${alone[@]}" >"$venv/.complete"
  unlock_deps
}

do_setup() {
  local fuzz='' peers='' interop='' option
  for option in "$@"; do
    case $option in
      --fuzz) fuzz=yes ;;
      --peers) peers=${peers:-yes} ;;
      --interop) interop=yes ;;
      --all) fuzz=yes peers=all interop=yes ;;
      *) usage_error "setup has no option '$option'" ;;
    esac
  done
  setup_base upgrade
  if [[ -n $fuzz ]]; then need_packages apt-fuzz "${fuzz_packages[@]}"; fi
  if [[ -n $peers ]]; then setup_peers "$peers"; fi
  if [[ -n $interop ]]; then
    need_packages apt-interop "${interop_packages[@]}"
    setup_interop
  fi
  say "ready; libtorch $(torch_version_in "$(torch_dir)") in $(torch_dir)"
}
