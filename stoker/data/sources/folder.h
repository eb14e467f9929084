#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Reads pictures from folders, one for each class: {image: uint8[-1], label: int64[]}, the bytes of
// the file, for `decode`, and the number of its class; with `paths` also {path: uint8[-1]}. Classes
// are sorted by name, and so are the files of each, including those in sub-folders: the numbers are
// those of torchvision's ImageFolder. Ignores names that begin with a dot. `stoker inspect RECIPE`
// prints the names of the classes.
//
// Building the pipeline reads each directory once and opens no file. By position, so the state is
// one number. An element's key is the file's number. Memory: the length of each file's name and 8
// bytes.
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
