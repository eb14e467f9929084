// Makes arrays for the fields that a parser of text fills, for sources and stages whose samples are
// rows of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"
#include "stoker/data/core/transform.h"

namespace stoker {

// Returns the values of a field whose first extent follows from the number of bytes. The others
// must be known.
Array ArrayOfBytes(const Field& field, const std::string& bytes, Scratch& scratch);

// Returns an array for each of the fields, which `parser` fills from `row`: parser.Parse(row,
// memory, loose) writes the values of fields of known shape to memory[f], and sets the bytes of the
// others, loose[f]. Errors: the parser's.
template <typename Parser>
Result<std::vector<Array>> ArraysOfRow(const std::vector<Field>& fields, const Parser& parser,
                                       std::string_view row, Scratch& scratch) {
  std::vector<Array> arrays;
  std::vector<std::byte*> memory;
  for (const Field& field : fields) {
    const bool known = IsFullyKnown(field.shape);
    arrays.push_back(known ? scratch.NewArray(field.dtype, field.shape) : Array());
    memory.push_back(arrays.back().data());
  }
  std::vector<std::string> loose(fields.size());
  STOKER_RETURN_IF_ERROR(parser.Parse(row, memory, loose));
  for (size_t f = 0; f < fields.size(); ++f) {
    if (!IsFullyKnown(fields[f].shape)) arrays[f] = ArrayOfBytes(fields[f], loose[f], scratch);
  }
  return arrays;
}

}  // namespace stoker
