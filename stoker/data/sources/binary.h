#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/options/field_map.h"

namespace stoker {

// One field of a record. In a recipe `label: uint8`, or `image: {type: uint8, shape: [3, 32, 32]}`.
struct BinaryField {
  static constexpr std::string_view kName = "field";
  std::string name;  // in a recipe the key
  std::string type = "uint8";
  std::vector<int64_t> shape;  // none: one value
  int64_t offset = -1;         // in the record; -1: after the preceding field

  static void Describe(OptionTable<BinaryField>& table);
};
using BinaryFields = FieldMap<BinaryField>;

// Reads records of fixed length (formats/binary), such as those of CIFAR's binary files, from
// plain or compressed files in order.
//
// Plain files are read by position, without an index: shuffle is exact, and a record takes one
// read. An element's key is its number in all files. If one is compressed, records are read in
// order; the state is a file and a byte. Errors: kDataLoss for a file that is not a whole number of
// records.
struct Binary {
  static constexpr std::string_view kName = "binary";
  static constexpr std::string_view kHelp =
      "Records of one length, with fields at fixed places; plain or compressed.";
  FilePatterns files;
  BinaryFields fields;
  int64_t record_bytes = 0;
  int64_t header_bytes = 0;
  int64_t footer_bytes = 0;
  bool big_endian = false;

  static void Describe(OptionTable<Binary>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Binary>();

}  // namespace stoker
