#pragma once

#include <filesystem>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Files that a text file lists, one sample a line: `PATH LABEL`, which gives {image: uint8[-1],
// label: int64[]}; with `pairs` two files, `PATH PATH`, which gives {image: uint8[-1], mask:
// uint8[-1]}; the bytes of the files as they are, for `decode`. With `paths` also {path:
// uint8[-1]}, that of the first.
//
// A tab stands between the two; without one, a label is what is behind the last blank of the line,
// so names may have blanks, and of two paths neither may. Empty lines are left out; the list may be
// .gz, .zst, .xz or .bz2. Paths that are not absolute are relative to `root`, or, where that is not
// given, to the folder that the list is in.
//
// The list is read when the pipeline is built; what is in the files is read when it is wanted, by
// position: see `folder`. An element's key is its number in the list.
struct List {
  static constexpr std::string_view kName = "list";
  static constexpr std::string_view kHelp =
      "Files that a text file lists with their labels, or in pairs, such as images and masks.";
  std::filesystem::path path;
  std::filesystem::path root;
  bool pairs = false;
  bool paths = false;

  static void Describe(OptionTable<List>& table);
  Result<Dataset> Build() const;
};

}  // namespace stoker
