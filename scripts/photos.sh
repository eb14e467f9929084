# shellcheck shell=bash disable=SC2016  # backquotes in messages mark commands; nothing is to be expanded
# ./dev photos

readonly photo_packages=(mate-backgrounds lomiri-wallpapers-16.04 lomiri-wallpapers-20.04 ukui-wallpapers)

# The photographs of photo_packages, one path a line. The rest of these packages is drawn, or the same picture again.
photographs() {
  dpkg -L "${photo_packages[@]}" | grep -E '^/usr/share/backgrounds/(mate/nature/)?[^/]*\.jpg$' | LC_ALL=C sort |
    while IFS= read -r path; do if [[ -f $path && ! -L $path ]]; then printf '%s\n' "$path"; fi; done
}

# What the tiles are made from: another answer means that they are made again.
photos_stamp() {
  dpkg-query --show "${photo_packages[@]}"
  cksum <examples/cut_photos.cc
}

# Into a folder of its own, which gets its name only when all is written: what was cut short is never taken for the whole.
do_photos() {
  local folder=${1:-build/photos} log="$log_dir/photos.log" partial stamp photographs
  (($# <= 1)) || usage_error 'photos takes one folder'
  if (($# == 1)); then folder=$(cd "$caller" && realpath --canonicalize-missing "$1"); fi
  setup_base
  need_packages apt-photos "${photo_packages[@]}"
  stamp=$(photos_stamp)
  if [[ -r $folder/.complete && $(<"$folder/.complete") == "$stamp" ]]; then
    say "all there: $folder"
    return
  fi
  if [[ -e $folder && ! -e $folder/.complete && -n $(ls -A "$folder") ]]; then
    fail "$folder is there, and not made by ./dev photos" 'name another folder, or remove it'
  fi
  configure_and_build release cut_photos
  mapfile -t photographs < <(photographs)
  partial="$folder.partial"
  rm -rf "$partial" && mkdir -p "$partial"
  need_disk "$partial" 2 'the tiles'
  say "cutting ${#photographs[@]} photographs"
  build/release/bin/cut_photos "$partial" "${photographs[@]}" 2>&1 | tee "$log" ||
    fail 'cut_photos' 'the message says which photograph; reinstall its package' "$log"
  printf '%s\n' "$stamp" >"$partial/.complete"
  sync --file-system "$partial"
  rm -rf "$folder" && mv "$partial" "$folder"
  say "done: $folder; next: build/release/bin/stoker train recipes/photos.yaml --set data.root=$folder/q92-420"
}
