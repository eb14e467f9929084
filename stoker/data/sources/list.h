#pragma once

#include <filesystem>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Reads files that a text file lists, one sample a line: `PATH LABEL`, which gives {image:
// uint8[-1], label: int64[]}; with `pairs` two files, `PATH PATH`, which gives {image: uint8[-1],
// mask: uint8[-1]}; the bytes of the files, for `decode`. With `paths` also {path: uint8[-1]}, that
// of the first.
//
// A tab separates the two; without one, the last blank of a line precedes the label, so paths may
// have blanks, but with `pairs` they may not. Empty lines are ignored; the list may be
// compressed. Paths are addresses of files on servers, absolute, or start at `root` or the list.
//
// Building the pipeline reads the list. By position, like `folder`. An element's key is its number
// in the list.
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
