# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# Debian packages: what a build needs, and how what is missing is installed.

readonly base_packages=(
  g++ cmake ninja-build ccache pkg-config git ca-certificates python3 python3-dev python3-pip python3-venv
  libhwy-dev libisal-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev libcurl4-openssl-dev libssl-dev libspng-dev libjpeg62-turbo-dev libwebp-dev libcli11-dev libboost-dev
  libre2-dev libutf8proc-dev libsentencepiece-dev liblmdb-dev libhdf5-dev
  libyaml-cpp-dev nlohmann-json3-dev libfmt-dev libgtest-dev libgmock-dev libbenchmark-dev dataset-fashion-mnist
  gdk-pixbuf-tests
)

# sudo may ask for a password only where someone can answer. (It asks on the terminal, whatever stdin is later.)
sudo=(sudo --non-interactive)
if [[ -t 0 ]]; then sudo=(sudo); fi

as_root() {
  if ((EUID == 0)); then "$@"; else "${sudo[@]}" "$@"; fi
}

# may_be_root PACKAGE...: ends the script where the packages cannot be installed, and asks for the password now, before
# anything runs that hides the prompt.
may_be_root() {
  local next
  ((EUID == 0)) && return
  next="have an administrator run: apt-get install --no-install-recommends $(as_list "$@")"
  command -v sudo >/dev/null || fail "$# Debian packages are missing, and this is neither root nor is there sudo" "$next"
  "${sudo[@]}" --validate || fail "$# Debian packages are missing, and sudo refuses" "$next"
}

missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
  done
}

apt_update_and_install() {
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=2 -o DPkg::Lock::Timeout=120)
  # An update may fail for some other repository that this machine uses; only the packages themselves matter here.
  as_root "${apt[@]}" update || echo 'apt-get update failed'
  as_root "${apt[@]}" install --yes --no-install-recommends "$@"
}

# The names that apt's log blames; nothing when it blames none.
apt_culprits() {
  sed -nE -e 's/^E: Unable to locate package (.*)$/\1/p' \
    -e "s/^E: Package '(.*)' has no installation candidate\$/\1/p" \
    -e 's|^E: Failed to fetch .*/([^/_ ]+)_[^/ ]*\.deb .*|\1|p' \
    -e '/^Errors were encountered while processing:/,$ s/^ ([^ :]+).*/\1/p' "$1" | sed 's/%2b/+/g' | sort -u
}

# need_packages LOG PACKAGE...: installs those that are missing; touches neither apt nor the network when none is.
need_packages() {
  local log="$log_dir/$1.log" missing culprits
  shift
  if ! command -v apt-get >/dev/null; then
    warn "no apt here, so nothing is installed; this needs what Debian 12 calls: $(as_list "$@")"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} > 0)) || return 0
  may_be_root "${missing[@]}"
  say "installing ${#missing[@]} Debian packages (${missing[0]}${missing[1]:+, ${missing[1]}}${missing[2]:+, …})"
  if ! retry "$log" apt_update_and_install "${missing[@]}"; then
    mapfile -t culprits < <(apt_culprits "$log")
    ((${#culprits[@]} > 0)) || mapfile -t culprits < <(missing_packages "${missing[@]}")
    if grep -qE '^apt-get update failed|^W: Failed to fetch' "$log"; then
      fail "apt could not install: $(as_short_list "${culprits[@]}"); nor could it update its lists" \
        'check the network, the proxy and the sources in /etc/apt, then run the same command again' "$log"
    fi
    fail "apt could not install: $(as_short_list "${culprits[@]}")" \
      "try \`apt-get install ${culprits[0]}\` by hand; when that works, run the same command again" "$log"
  fi
}

check_system() {
  local ID='' VERSION_ID='' PRETTY_NAME='an unknown system'
  # shellcheck source=/dev/null
  if [[ -r /etc/os-release ]]; then . /etc/os-release; fi
  [[ $ID == debian && $VERSION_ID == 12 ]] && return
  warn "$PRETTY_NAME: only Debian 12 is tried. Needed: a C++20 compiler (g++ 12 or later), CMake 3.25, and" \
    "Debian 12's versions (or later) of $(as_list "${base_packages[@]}")"
}

# need_disk DIRECTORY GIB WHY
need_disk() {
  local free
  free=$(df --output=avail --block-size=1G "$1" | tail -n 1 | tr -d ' ')
  ((free >= $2)) || fail "$1 has $free GiB free; $3 takes up to $2 GiB" "make room there"
}
