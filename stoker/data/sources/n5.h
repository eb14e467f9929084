#pragma once

#include <filesystem>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/option_object.h"
#include "stoker/data/options/field_map.h"
#include "stoker/data/sources/chunked_rows_internal.h"

namespace stoker {

// One field. In a recipe `image: volumes/raw`.
struct N5Field {
  static constexpr std::string_view kName = "field";
  std::string name;  // in a recipe the key
  std::string dataset;

  static void Describe(OptionTable<N5Field>& table);
};
using N5Fields = FieldMap<N5Field>;

// Rows of N5 datasets (formats/n5): element i is part i of the slowest dimension of each, the last
// that attributes.json lists, and its shape is that of the others, reversed: dimensions [x, y, z]
// are z elements of [y, x]. Without `fields` every dataset of the container is one, called by its
// path, or, where the path is a dataset itself, `value`.
//
// By position. Blocks are read when a row of theirs is first wanted, and kept in a cache: what is
// said of chunks in `hdf5` holds of them, `cache` and shuffles by window included. A block whose
// file is not there is all zeros. An element's key is its row. Errors: those of OpenN5 and
// ChunkedRowsDataset; a row in a damaged block is named, and those elsewhere can be read
// (on_error).
struct N5 {
  static constexpr std::string_view kName = "n5";
  static constexpr std::string_view kHelp = "Rows of N5 datasets, along their slowest dimension.";
  std::filesystem::path path;
  N5Fields fields;
  int64_t cache = kChunkCacheMiB;

  static void Describe(OptionTable<N5>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<N5>();

}  // namespace stoker
