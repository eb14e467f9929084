# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# libtorch: which copy is used, whether it can be, and how it is downloaded.

readonly torch_version=2.11.0
readonly torch_oldest=2.6
readonly torch_home="$deps/torch-$torch_version" # what pip --target fills; the package is in torch/ below it
# libtorch_cpu.so is linked against runtime and cupti; the wheel's other dependencies serve only its CUDA half. The headers of
# the runtime, by which the plug-ins for CUDA are built, include those of crt.
readonly cuda_headers='nvidia-cuda-crt==13.0.*'
readonly torch_cpu_requirements=("torch==$torch_version" 'nvidia-cuda-runtime==13.0.*' 'nvidia-cuda-cupti==13.0.*' "$cuda_headers")

has_nvidia_driver() { [[ -e /dev/nvidiactl ]]; }

# The directory with libtorch's include/ and lib/.
torch_dir() { printf '%s' "${STOKER_TORCH:-$torch_home/torch}"; }

torch_version_in() {
  if [[ -r $1/version.py ]]; then
    sed -nE "s/^__version__ = '([^']*)'.*/\1/p" "$1/version.py"
  elif [[ -r $1/build-version ]]; then
    head -n 1 "$1/build-version"
  fi
}

# torch_problem DIRECTORY: prints why it cannot serve as libtorch; nothing when it can.
torch_problem() {
  local dir=$1 file version
  for file in include/torch/csrc/api/include/torch/torch.h lib/libtorch_cpu.so lib/libc10.so; do
    [[ -e $dir/$file ]] || { echo "$dir/$file does not exist" && return; }
  done
  version=$(torch_version_in "$dir")
  if [[ -z $version ]]; then
    echo "$dir has no version.py and no build-version that names its version"
  elif [[ $(printf '%s\n' "$torch_oldest" "$version" | sort --version-sort | head -n 1) != "$torch_oldest" ]]; then
    echo "$dir is torch $version; $torch_oldest or later is needed"
  elif ! grep -qa '_ZN3c105ErrorC[12]ENS_14SourceLocationENSt7__cxx11' "$dir/lib/libc10.so"; then
    echo "$dir was built with the C++ ABI from before C++11, which does not link with today's g++"
  fi
}

check_own_torch() {
  local problem hint='name a `torch` package directory or an unpacked libtorch (with include/ and lib/ in it), or unset STOKER_TORCH'
  problem=$(torch_problem "$STOKER_TORCH")
  [[ -z $problem ]] && return
  if [[ -z $(torch_problem "$STOKER_TORCH/torch") ]]; then hint="STOKER_TORCH=$STOKER_TORCH/torch looks right"; fi
  fail "STOKER_TORCH: $problem" "$hint"
}

# What pip was fetching when it gave up, from its log; $2 when the log does not say.
pip_culprit() {
  local name
  name=$(sed -nE -e 's/^ERROR: No matching distribution found for ([^ ]+).*/\1/p' -e 's/^Collecting ([^ ]+).*/\1/p' "$1" | tail -n 1)
  printf '%s' "${name:-$2}"
}

# pip_install LOG PYTHON ARGUMENT...: pip with this machine's own configuration. Its temporary files go where the result
# will be: /tmp may be too small for libtorch, and a move within one file system is instant.
pip_install() {
  local log="$log_dir/$1.log" interpreter=$2
  shift 2
  rm -rf "$deps/tmp" && mkdir -p "$deps/tmp"
  if ! retry "$log" env TMPDIR="$deps/tmp" "$interpreter" -m pip install --no-input --no-compile --progress-bar off "$@"; then
    rm -rf "$deps/tmp"
    fail "pip could not install: $(pip_culprit "$log" "${!#}")" \
      "check the network, and the index and proxy that \`pip config list\` shows, then run the same command again" "$log"
  fi
  rm -rf "$deps/tmp"
}

# Into a directory of its own, which gets its name only when it is whole: a set-up that was killed leaves nothing that
# could be taken for libtorch.
download_torch() {
  local kind=$1 partial="$deps/partial-torch-$torch_version" problem
  rm -rf "$partial"
  if [[ $kind == cuda ]]; then
    need_disk "$deps" 14 'libtorch with CUDA'
    say "downloading libtorch $torch_version with its CUDA libraries from PyPI (about 2.5 GB)"
    pip_install pip-torch "$python" --target "$partial" "torch==$torch_version" "$cuda_headers"
  else
    need_disk "$deps" 4 libtorch
    say "downloading libtorch $torch_version from PyPI (about 530 MB)"
    pip_install pip-torch "$python" --no-deps --target "$partial" "${torch_cpu_requirements[@]}"
  fi
  problem=$(torch_problem "$partial/torch")
  [[ -z $problem ]] || fail "pip installed a torch that cannot be used: $problem" "look into $partial" "$log_dir/pip-torch.log"
  echo "$kind" >"$partial/.complete"
  rm -rf "$torch_home"
  mv "$partial" "$torch_home"
}

# setup_torch [upgrade]: with `upgrade`, a driver that came later gets its CUDA libraries.
setup_torch() {
  local kind=cpu have=''
  if [[ -n ${STOKER_TORCH:-} ]]; then
    check_own_torch
    return
  fi
  if has_nvidia_driver; then kind=cuda; fi
  if [[ -r $torch_home/.complete ]]; then have=$(<"$torch_home/.complete"); fi
  if [[ $have == "$kind" || $have == cuda ]]; then
    return
  elif [[ $have == cpu && ${1:-} != upgrade ]]; then
    warn "there is an NVIDIA driver, but $torch_home is for the CPU only; \`./dev setup\` adds the CUDA libraries"
    return
  fi
  download_torch "$kind"
}
