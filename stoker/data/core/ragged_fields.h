#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Implemented by the nodes whose batches may have ragged fields: the values of all samples in one
// array, one sample's after the other's, and where each sample's begin in a field beside it. The
// layout is that of TensorFlow's RaggedTensor (row_splits) and of torch's EmbeddingBag with
// include_last_offset. Thread-safe.
class RaggedFields {
 public:
  virtual ~RaggedFields() = default;
  // Returns the name of the field of the offsets of `field`: int64 [samples + 1], and sample i has
  // the values from offsets[i] to below offsets[i + 1]. Nothing if `field` is not ragged.
  virtual std::optional<std::string> OffsetsOf(std::string_view field) const = 0;
};

// Returns this name for a field of `batches`; nothing if no stage has made it ragged, or a later
// one has given it another shape.
std::optional<std::string> FindOffsets(const Dataset& batches, std::string_view field);

// Returns this name for each ragged field, by the name of the field.
std::map<std::string, std::string> OffsetsByField(const Dataset& batches);

// Returns the names of the fields that have no row for each sample: ragged ones and their offsets.
std::set<std::string> FieldsWithoutRows(const Dataset& batches);

}  // namespace stoker
