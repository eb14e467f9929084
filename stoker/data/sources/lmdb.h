#pragma once

#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"

namespace stoker {

// The values of an LMDB database (formats/lmdb), in the order of their keys, as {value: uint8[-1]},
// their bytes where they lie mapped; with `key` also {key: uint8[-1]}. `prefix` takes only those
// whose keys begin so: two sources with two prefixes, zipped, are what image-0001 and label-0001
// belong to. Several databases are read one after the other.
//
// A database that `stoker pack` wrote gives the elements that were packed, with their fields, types
// and shapes (packed_values_internal.h), unless a prefix is given.
//
// By position: opening looks at the leaves of the tree once and keeps 24 bytes a value. An
// element's key is its position. The database must not be written to meanwhile.
struct Lmdb {
  static constexpr std::string_view kName = "lmdb";
  static constexpr std::string_view kHelp = "The values of an LMDB database, by their keys' order.";
  FilePatterns path;
  std::string database;
  std::string prefix;
  bool key = false;
  std::string field = "value";

  static void Describe(OptionTable<Lmdb>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Lmdb>();

}  // namespace stoker
