#pragma once

#include <cstdint>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"

namespace stoker {

// Reads the samples of LIBSVM files (formats/libsvm) in order; plain or compressed. With
// `features` they are dense: {x: float32[features], label}. Without, sparse as in the file:
// {indices: int64[-1], values: float32[-1], label}; the index of the first feature is 0. The label
// is float32[], int64[] with `label: int64`, or int64[-1] with `label: several`, for samples of
// several classes; `query` adds {query: int64[]}.
//
// Read by position or in order, like csv. A line that cannot be read is an error that names file,
// record and byte; the pass can continue after it (on_error).
struct Libsvm {
  static constexpr std::string_view kName = "libsvm";
  static constexpr std::string_view kHelp =
      "Samples of LIBSVM and SVMlight files, dense or sparse; plain or compressed.";
  FilePatterns files;
  int64_t features = 0;
  int64_t first_index = 1;
  std::string label = "float32";
  bool query = false;
  std::string index = "stored";
  int64_t max_bytes = 16 << 20;

  static void Describe(OptionTable<Libsvm>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Libsvm>();

}  // namespace stoker
