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

// Returns an array for each field of known shape, whose values are not set, and an empty one for
// each other. Those of few bytes share a block.
std::vector<Array> RoomForFields(const std::vector<Field>& fields, Scratch& scratch);

// Returns an array for each of the fields, which `parser` fills from `row`: parser.Parse(row,
// memory, loose) writes the values of fields of known shape to memory[f], and sets the bytes of the
// others, loose[f]. Errors: the parser's.
template <typename Parser>
Result<std::vector<Array>> ArraysOfRow(const std::vector<Field>& fields, const Parser& parser,
                                       std::string_view row, Scratch& scratch) {
  std::vector<Array> arrays = RoomForFields(fields, scratch);
  std::vector<std::byte*> memory;
  memory.reserve(fields.size());
  for (const Array& array : arrays) memory.push_back(array.data());
  std::vector<std::string> loose(fields.size());
  STOKER_RETURN_IF_ERROR(parser.Parse(row, memory, loose));
  for (size_t f = 0; f < fields.size(); ++f) {
    if (!IsFullyKnown(fields[f].shape)) arrays[f] = ArrayOfBytes(fields[f], loose[f], scratch);
  }
  return arrays;
}

}  // namespace stoker
