#pragma once

#include <optional>
#include <set>
#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Implemented by the nodes that make samples of different sizes one batch (padded_batch,
// bucket_by_length). Thread-safe.
class PadsFields {
 public:
  virtual ~PadsFields() = default;
  // Returns the number that fills the smaller samples of `field` up; nothing if it is not padded.
  virtual std::optional<double> PaddingOf(std::string_view field) const = 0;
};

// Returns these numbers of a field of `batches`: several where pipelines that are joined differ.
std::set<double> FindPaddings(const Dataset& batches, std::string_view field);

}  // namespace stoker
