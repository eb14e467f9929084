#pragma once

#include <cstdint>
#include <optional>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"

namespace stoker {

// Reads files, one an element: {path: uint8[-1]}, the characters of the path; with `read`, {bytes:
// uint8[-1]}, its content (not decompressed), and with `paths` both. `size` is the exact size of
// every file: then the shape is known, batch works, and a file of another size is an error.
//
// The list is made when the pipeline is built. By position, so the state is one number. An
// element's key is the file's place in the list.
struct Files {
  static constexpr std::string_view kName = "files";
  static constexpr std::string_view kHelp = "Files by name or pattern: their paths or contents.";
  FilePatterns path;
  bool read = false;
  bool paths = false;
  bool sorted = true;
  std::optional<int64_t> size;

  static void Describe(OptionTable<Files>& table);
  Result<Dataset> Build() const;
};

template <>
const std::vector<Option>& OptionsOf<Files>();

}  // namespace stoker
