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

// Reads rows of N5 datasets (formats/n5): element i is part i of the slowest dimension of each, the
// last in attributes.json, and its shape is that of the others, reversed: dimensions [x, y, z] are
// z elements of [y, x]. Without `fields` every dataset of the container is a field, named by its
// path, or `value` if the path is a dataset itself.
//
// By position. Blocks are read when one of their rows is first read, and cached like the chunks of
// `hdf5`; its advice on `cache` and shuffles by window applies. A block without a file is all
// zeros. An element's key is its row. Errors: those of OpenN5 and ChunkedRowsDataset; a row in a
// damaged block is named; the other rows can be read (on_error).
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
