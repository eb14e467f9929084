# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# Apache Arrow's C++ libraries and headers, out of PyPI's pyarrow: what the plug-in for Parquet and Arrow files is built with.

readonly pyarrow_version=26.0.1
readonly pyarrow_home="$deps/pyarrow-$pyarrow_version" # what pip --target fills; the package is in pyarrow/ below it

pyarrow_dir() { printf '%s' "$pyarrow_home/pyarrow"; }

# Without it all but these two formats works, so that it cannot be had is a warning. It gets its name only when it is whole.
setup_pyarrow() {
  local partial="$deps/partial-pyarrow-$pyarrow_version" log="$log_dir/pip-pyarrow.log"
  if [[ -r $pyarrow_home/pyarrow/include/parquet/arrow/reader.h ]]; then return; fi
  say "downloading Apache Arrow's libraries (pyarrow $pyarrow_version) from PyPI (about 55 MB)"
  rm -rf "$partial"
  if ! "$python" -m pip install --no-input --no-compile --no-deps --progress-bar off --target "$partial" \
    "pyarrow==$pyarrow_version" >"$log" 2>&1 </dev/null; then
    rm -rf "$partial"
    warn "pip could not install pyarrow $pyarrow_version (see $log); Parquet and Arrow files cannot be read until it can"
    return
  fi
  rm -rf "$pyarrow_home"
  mv "$partial" "$pyarrow_home"
}
