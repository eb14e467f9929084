# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev python, ./dev reference and ./dev friends

# What builds the package, and what its tests use beside torch, which is the copy of setup.
# Sphinx and its theme make the reference; mypy checks a program that uses the package.
readonly python_requirements=(scikit-build-core 'nanobind>=3,<4' numpy sphinx furo mypy)

# What examples/python runs under.
readonly friends_requirements=(accelerate lightning transformers datasets 'jax[cpu]' keras 'ray[data,train]' torchvision nbclient ipykernel)

# The environment build/python with what builds the package; it sees our copy of torch through a .pth file, so that pip
# fetches only what that copy lacks.
setup_python() {
  local venv="$root/build/python" have='' site torch version wanted
  torch=$(torch_dir)
  # Packages are listed without the "+cu130" that PyTorch's own version may end with.
  version=$(torch_version_in "$torch")
  version=${version%%+*}
  wanted=$(as_list "${python_requirements[@]}" "$version")
  if [[ -r $venv/.complete ]]; then have=$(<"$venv/.complete"); fi
  if [[ $have == "$wanted" ]]; then return; fi
  say "making the environment build/python"
  rm -rf "$venv"
  "$python" -m venv "$venv" >"$log_dir/venv-python.log" 2>&1 ||
    fail 'no virtual environment could be made' 'install python3-venv' "$log_dir/venv-python.log"
  lock_deps
  if [[ -r $torch/__init__.py ]]; then
    site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    dirname "$torch" >"$site/stoker_torch.pth"
    pip_install pip-python "$venv/bin/python" "${python_requirements[@]}" "torch==$version"
  else
    warn "$torch has no Python package, so the tests with torch are left out"
    pip_install pip-python "$venv/bin/python" "${python_requirements[@]}"
  fi
  unlock_deps
  printf '%s' "$wanted" >"$venv/.complete"
}

# pip_builds LOG SOURCE TREE ARGUMENT...: pip builds the package in SOURCE, in a tree that the next time begins with.
pip_builds() {
  local log="$log_dir/$1.log" source=$2 tree=$3
  shift 3
  # The compiler of ./dev build, and not Python's own name for it: ccache goes by the name.
  CXX=${CXX:-c++} CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(job_count)} "$root/build/python/bin/python" -m pip "$@" \
    --no-build-isolation --no-deps --no-input --progress-bar off --config-settings=build-dir="$tree" \
    --config-settings=cmake.define.STOKER_ARROW_DIR="$(pyarrow_dir)" \
    --config-settings=cmake.define.STOKER_TORCH_DIR="$(torch_dir)" "$source" >"$log" 2>&1 </dev/null ||
    fail "pip $1 $source" 'correct the first error in the log (warnings count as errors), then run the same command again' "$log"
}

install_package() {
  local started=$SECONDS
  say "building the package (build/log/pip-stoker.log)"
  pip_builds pip-stoker ./python "$root/build/python-build" install --force-reinstall
  say "installed in build/python after $((SECONDS - started)) s"
}

# trainer_package YES_OR_NOTHING: makes the package stoker-train in build/python, or takes it out. Its executable is that of the release build,
# which stays where it is: compiled once more, as `pip install ./python/train` does, it takes as long as that build.
trainer_package() {
  local package
  package=$("$root/build/python/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/stoker_train
  rm -rf "$package"
  [[ -n $1 ]] || return 0
  configure_and_build release stoker-train
  mkdir -p "$package/bin"
  cp "$root/python/train/stoker_train/__init__.py" "$package"
  ln -s "$root/build/release/bin/stoker-train" "$package/bin/stoker-train"
}

do_python() {
  local status=0 train='' pattern='*_test.py'
  while (($# > 0)); do
    case $1 in
      --train) train=yes ;;
      -*) usage_error "python has no option '$1'" ;;
      *) pattern=$1 ;;
    esac
    shift
  done
  setup_base
  mkdir -p "$log_dir"
  setup_python
  install_package
  trainer_package "$train"
  say 'running the tests'
  "$root/build/python/bin/python" -B -m unittest discover --start-directory python/tests --pattern "$pattern" || status=$?
  ((status == 0)) || fail "tests of the Python package" "build/python/bin/python python/tests/NAME_test.py runs one file"
}

# Of the package as it is installed in build/python; what was changed since then in the checkout is not in it.
do_reference() {
  local log="$log_dir/reference.log"
  (($# == 0)) || usage_error "reference takes no argument, not '$1'"
  setup_base
  mkdir -p "$log_dir"
  setup_python
  "$root/build/python/bin/python" -c 'import stoker' 2>/dev/null || install_package
  say 'making the reference (build/log/reference.log)'
  "$root/build/python/bin/python" -B python/reference/build.py --to build/reference >"$log" 2>&1 ||
    fail 'the reference has problems' 'correct each line of the log; where the checkout is newer than the package, ./dev python first' "$log"
  say 'every public name has its entry, and no link is dead: build/reference/index.html'
}

# The environment build/friends, which sees the package and torch that build/python sees.
setup_friends() {
  local venv="$root/build/friends" have='' site version wanted
  version=$(torch_version_in "$(torch_dir)")
  wanted=$(as_list "${friends_requirements[@]}" "${version%%+*}")
  if [[ -r $venv/.complete ]]; then have=$(<"$venv/.complete"); fi
  if [[ $have == "$wanted" ]]; then return; fi
  say "making the environment build/friends (2 GB)"
  rm -rf "$venv"
  "$python" -m venv "$venv" >"$log_dir/venv-friends.log" 2>&1 ||
    fail 'no virtual environment could be made' 'install python3-venv' "$log_dir/venv-friends.log"
  site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$root/build/python/${site#"$venv"/}" "$(dirname "$(torch_dir)")" >"$site/stoker.pth"
  lock_deps
  pip_install pip-friends "$venv/bin/python" "${friends_requirements[@]}" "torch==${version%%+*}"
  unlock_deps
  printf '%s' "$wanted" >"$venv/.complete"
}

do_friends() {
  local status=0
  (($# == 0)) || usage_error "friends takes no argument, not '$1'"
  do_python 'none_*.py'
  setup_friends
  say "running the examples in examples/python, and their tests"
  "$root/build/friends/bin/python" -B -m unittest discover --start-directory python/tests --pattern friends_test.py || status=$?
  ((status == 0)) || fail "tests with other libraries" "build/friends/bin/python python/tests/friends_test.py runs them alone"
}
