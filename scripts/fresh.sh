# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev fresh, and the bare Debian 12 that it and ./dev wheel try things in

readonly fresh_packages=(debootstrap)

# The repositories of Debian 12 that this machine's apt uses, as lines `URI SUITE`.
debian_sources() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
    awk '$2 ~ /^bookworm(-updates|-security)?$/ && $3 == "main" {print $1, $2}' | sort -u
}

# copy_into CHROOT PATH...: those that exist, links followed, at the same place below CHROOT.
copy_into() {
  local chroot=$1 path
  shift
  for path in "$@"; do
    [[ -e $path ]] || continue
    mkdir -p "$chroot$(dirname "$path")"
    cp -rLT --preserve=mode "$path" "$chroot$path"
  done
}

# What a machine needs to reach the same registries as this one: apt's and pip's configuration, names, certificates.
copy_machine_configuration() {
  local chroot=$1 uri suite home=${HOME:-/root}
  copy_into "$chroot" /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt /usr/local/share/ca-certificates \
    /etc/apt/apt.conf /etc/apt/apt.conf.d /etc/apt/auth.conf /etc/apt/auth.conf.d /etc/pip.conf
  if [[ -d $home/.config/pip ]]; then mkdir -p "$chroot/root/.config" && cp -r "$home/.config/pip" "$chroot/root/.config/"; fi
  if [[ -d $home/.pip ]]; then cp -r "$home/.pip" "$chroot/root/"; fi
  debian_sources | while read -r uri suite; do
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $suite main"
  done >"$chroot/etc/apt/sources.list.new"
  # Without a Debian 12 of its own to copy from, debootstrap's default stays.
  if [[ -s $chroot/etc/apt/sources.list.new ]]; then
    mv "$chroot/etc/apt/sources.list.new" "$chroot/etc/apt/sources.list"
  else
    rm "$chroot/etc/apt/sources.list.new"
  fi
}

# The environment that the commands in the chroot get, as shell: this machine's proxies, certificates and pip settings,
# nothing else. It goes there in a file, for a proxy may have a password and arguments can be seen by all.
fresh_environment() {
  local chroot=$1 name
  printf 'export %q\n' HOME=/root "TERM=${TERM:-dumb}" LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  for name in $(compgen -e); do
    case $name in
      *_proxy | *_PROXY | PIP_* | SSL_CERT_FILE | SSL_CERT_DIR | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE | GIT_SSL_CAINFO | CMAKE_BUILD_PARALLEL_LEVEL)
        printf 'export %s=%q\n' "$name" "${!name}"
        if [[ -f ${!name} && ! -e $chroot${!name} ]]; then copy_into "$chroot" "${!name}"; fi
        ;;
    esac
  done
}

# Runs in the chroot, from a file: all that a new user types, and the clock.
fresh_script() {
  cat <<'SCRIPT'
set -eu
if ! { apt-get update && apt-get install --yes --no-install-recommends git ca-certificates; } >/root/apt.log 2>&1; then
  tail -n 20 /root/apt.log
  echo 'fresh: git could not be installed in the chroot'
  exit 1
fi
cd /root
git -c advice.detachedHead=false clone --quiet stoker.bundle stoker
cd stoker
timed() {
  started=$(date +%s) status=0
  echo "fresh: $*"
  "$@" </dev/null || status=$?
  echo "fresh: $* took $(($(date +%s) - started)) s and ended with status $status"
  return "$status"
}
timed ./dev quickstart
timed ./dev test
SCRIPT
}

fresh_root='' fresh_pid=''

# The mounts live in a name space of their own and the processes too: however this ends, both are gone with it, and
# removing the chroot can never reach through a mount. Runs beside this script, so that a signal can end it.
start_in_chroot() { # CHROOT CACHE LOG, and the script on stdin
  local chroot=$1 cache=$2 log=$3
  if [[ -n $cache ]]; then mkdir -p "$cache" "$chroot/root/.cache/ccache"; fi # where ccache looks by itself
  (umask 077 && fresh_environment "$chroot" >"$chroot/root/environment.sh")
  cat >"$chroot/root/fresh.sh"
  unshare --mount --propagation private --pid --fork --kill-child bash -euc '
    chroot=$1 cache=$2
    mount -t proc proc "$chroot/proc"
    mount --rbind /sys "$chroot/sys"
    mount --rbind /dev "$chroot/dev"
    if [[ -n $cache ]]; then mount --bind "$cache" "$chroot/root/.cache/ccache"; fi
    chroot "$chroot" env -i bash -c ". /root/environment.sh && exec bash /root/fresh.sh"
  ' bash "$chroot" "$cache" >>"$log" 2>&1 </dev/null &
  fresh_pid=$!
}

remove_fresh_root() {
  if [[ -n $fresh_pid ]] && kill -KILL "$fresh_pid" 2>/dev/null; then wait "$fresh_pid" 2>/dev/null || true; fi
  if [[ -z $fresh_root || ! -d $fresh_root ]]; then return; fi
  mkdir -p "$log_dir/fresh"
  cp -r "$fresh_root/root/stoker/build/log/." "$log_dir/fresh/" 2>/dev/null || true
  if [[ -n ${keep:-} ]]; then
    say "kept: $fresh_root"
  else
    rm -rf --one-file-system "$fresh_root"
  fi
}

# make_fresh_root LOG: a bare Debian 12 in $fresh_root, which goes when this script ends.
make_fresh_root() {
  local log=$1 mirror
  ((EUID == 0)) || fail 'a chroot with its mounts needs root' "sudo ./dev $command"
  need_packages apt-fresh "${fresh_packages[@]}"
  trap remove_fresh_root EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  fresh_root=$(mktemp -d "${TMPDIR:-/tmp}/stoker-fresh.XXXXXX")
  chmod 755 "$fresh_root" # apt drops to a user of its own
  mirror=$(debian_sources | awk '$2 == "bookworm" {print $1; exit}')
  say "making a bare Debian 12 in $fresh_root"
  # No mirror: debootstrap has a default.
  debootstrap --variant=minbase bookworm "$fresh_root" ${mirror:+"$mirror"} >"$log" 2>&1 ||
    fail 'debootstrap' 'check the network and the sources in /etc/apt' "$log"
  copy_machine_configuration "$fresh_root"
}

# try_in_fresh_root CACHE LOG: runs the script on stdin in it, shows what it prints, and returns its status.
try_in_fresh_root() {
  local cache=$1 log=$2 status=0
  start_in_chroot "$fresh_root" "$cache" "$log"
  # Both in the background: bash attends to a signal at once only while it waits.
  tail --lines=0 --follow --pid="$fresh_pid" "$log" &
  wait "$fresh_pid" || status=$?
  fresh_pid=''
  wait # for tail to show the end
  return "$status"
}

do_fresh() {
  local cache='' log="$log_dir/fresh.log"
  keep=''
  while (($# > 0)); do
    case $1 in
      --keep) keep=yes ;;
      --cache)
        [[ -n ${2:-} ]] || usage_error '--cache needs a directory'
        cache=$(realpath --canonicalize-missing "$caller/$2")
        if [[ $2 == /* ]]; then cache=$2; fi
        shift
        ;;
      *) usage_error "fresh has no option '$1'" ;;
    esac
    shift
  done
  mkdir -p "$log_dir"
  rm -rf "$log_dir/fresh"
  need_disk "${TMPDIR:-/tmp}" 12 'a fresh system with a build in it (TMPDIR says where)'
  if [[ -n $(git status --porcelain) ]]; then warn "only what is committed is tried; \`git status\` shows changes that are not"; fi
  make_fresh_root "$log"
  git bundle create --quiet "$fresh_root/root/stoker.bundle" HEAD
  say "trying $(git rev-parse --short HEAD) in it"
  try_in_fresh_root "$cache" "$log" < <(fresh_script) || fail 'a new user would be stuck; the output above says where' \
    "./dev fresh --keep leaves the chroot; its own logs are in $log_dir/fresh"
  say 'both commands work on a bare Debian 12'
}
