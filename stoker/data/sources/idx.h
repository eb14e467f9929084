#pragma once

#include <filesystem>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Reads images and labels from IDX files (formats/idx); plain or compressed. Elements:
// image uint8 [1, height, width] (or [channels, height, width] if the file has four dimensions),
// and label, an integer scalar, if a label file is given. Building the dataset reads and compares
// the headers; the first Open loads the values, which stay in memory as long as the dataset lives,
// charged to the memory budget of each pass. Errors of Open: kResourceExhausted if they do not fit
// into it.
struct Idx {
  static constexpr std::string_view kName = "idx";
  static constexpr std::string_view kHelp =
      "Images and labels from IDX files, as MNIST and Fashion-MNIST are published; plain or "
      "compressed.";
  std::filesystem::path images;
  std::filesystem::path labels;

  static void Describe(OptionTable<Idx>& table);
  Result<Dataset> Build() const;
};

// Returns the shape of one image of an IDX file of this shape: [n, height, width] or [n, channels,
// height, width]. `who` names the file in errors.
Result<Shape> IdxImageShape(std::string_view who, const Shape& file_shape);

}  // namespace stoker
