#pragma once

#include <cstdint>
#include <string>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/file_patterns.h"
#include "stoker/data/options/jsonl_fields.h"

namespace stoker {

// Reads the objects of JSON lines files (formats/jsonl) in order; plain or compressed.
// Fields are members, nested ones by their path; without `fields` every member is a field, of a
// type inferred from the first 100 lines, in order of appearance. Numbers become arrays of their
// type and shape, lists of any length [-1, ...], texts uint8[-1]; json keeps the text of any value.
//
// Plain files are read by position, with an index that one scan makes and that is stored beside
// each file (formats/offset_index). An element's key is its number in all files. If a file is
// compressed, or `index` is none, lines are read in order; the state is a file and a byte.
//
// A line that cannot be read is an error that names file, record, byte and member; the pass can
// continue after it (on_error).
struct Jsonl {
  static constexpr std::string_view kName = "jsonl";
  static constexpr std::string_view kHelp =
      "JSON objects, one a line: numbers, lists and texts by member; plain or compressed.";
  FilePatterns files;
  JsonlFields fields;
  std::string index = "stored";
  int64_t max_bytes = 16 << 20;

  static void Describe(OptionTable<Jsonl>& table);
  Result<Dataset> Build() const;
};
template <>
const std::vector<Option>& OptionsOf<Jsonl>();

}  // namespace stoker
