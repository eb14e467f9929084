#pragma once

#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/core/option_object.h"
#include "stoker/data/options/field_map.h"
#include "stoker/data/sources/chunked_rows_internal.h"

namespace stoker {

// One field. In a recipe `image: /train/images`.
struct Hdf5Field {
  static constexpr std::string_view kName = "field";
  std::string name;  // in a recipe the key
  std::string dataset;

  static void Describe(OptionTable<Hdf5Field>& table);
};
using Hdf5Fields = FieldMap<Hdf5Field>;

// Reads rows of the datasets in HDF5 files (formats/hdf5) in order: element i is part i of the
// first dimension of each. Without `fields` every dataset is a field, named by its path: /train/x
// is `train/x`. Hdf5File::OpenDataset lists the conversion of types.
//
// By position: opening reads the descriptions and the chunk index, no values. Read in order, each
// chunk is decompressed once. An exact `shuffle` of compressed chunks that do not fit into `cache`
// decompresses one for nearly every row; `shuffle: {window: ..., page: ...}` with a page of as many
// rows as a chunk (`stoker inspect` prints it) and a window whose chunks fit decompresses each
// once. Chunks that are neither compressed nor filtered are mapped and need no cache.
//
//   cache  MiB of decompressed chunks that the dataset keeps, for all passes, within half of their
//          memory budget
//
// The files are mapped and must not be changed meanwhile. An element's key is its row in all files.
// Errors: those of Hdf5File and ChunkedRowsDataset; a row in a damaged chunk is named; the other
// rows can be read (on_error).
struct Hdf5 {
  static constexpr std::string_view kName = "hdf5";
  static constexpr std::string_view kHelp = "Rows of the datasets in HDF5 files.";
  FilePatterns files;
  Hdf5Fields fields;
  int64_t cache = kChunkCacheMiB;

  static void Describe(OptionTable<Hdf5>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Hdf5>();

}  // namespace stoker
