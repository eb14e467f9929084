#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Pictures sorted into folders, one for each class: {image: uint8[-1], label: int64[]}, the bytes
// of the file as they are, for `decode`, and the number of its class; with `paths` also {path:
// uint8[-1]}. Classes are sorted by name, and so are the files of each, those in folders of folders
// too: the numbers are those of torchvision's ImageFolder. Names that begin with a dot are left
// out. What the classes are called `stoker inspect RECIPE` prints.
//
// Which files there are is found out when the pipeline is built, in one reading of each directory
// and without a look at any file; what is in them is read when it is wanted, by position, so
// shuffle, shard and many threads work on it, and the state is one number. An element's key is the
// file's number. Memory: the length of a file's name and 8 bytes for each.
struct Folder {
  static constexpr std::string_view kName = "folder";
  static constexpr std::string_view kHelp =
      "Files in a folder for each class: their bytes and the number of the class.";
  std::filesystem::path path;
  std::vector<std::string> extensions = {"jpg", "jpeg", "png", "bmp", "webp", "ppm", "pgm", "pnm"};
  bool allow_empty = false;
  bool paths = false;

  static void Describe(OptionTable<Folder>& table);
  Result<Dataset> Build() const;
};

}  // namespace stoker
