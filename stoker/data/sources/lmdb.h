#pragma once

#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"

namespace stoker {

// Reads the values of LMDB databases (formats/lmdb), in the order of their keys, as {value:
// uint8[-1]}, shared with the mapped file; with `key` also {key: uint8[-1]}. `prefix` keeps only
// values whose keys begin so: to read image-0001 and label-0001 as one sample, zip two sources with
// two prefixes. Several databases are read in order.
//
// A database of `stoker pack` has the packed elements, with their fields, types and shapes
// (packed_values.h), unless a prefix is given.
//
// By position: opening reads the leaves of the tree once and keeps 24 bytes a value. An element's
// key is its position. Do not write to the database meanwhile.
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
