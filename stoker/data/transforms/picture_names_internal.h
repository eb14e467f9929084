// What messages call the picture in a field of a sample.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "stoker/data/core/sample_names.h"

namespace stoker {

// Thread-safe.
class PictureNames {
 public:
  // Of field number `field` of the elements of `input`, with the keys they have there.
  PictureNames(const Dataset& input, size_t field);

  // The path of its file or the place of its record, by the source or by a field `path`, otherwise
  // "element 12"; and what its own archive calls it, by a field `key`: "a.tar: record 12: '0012'".
  std::string NameOf(const Element& element) const;

 private:
  const std::string field_;
  const std::shared_ptr<const SampleNames> source_;
  std::optional<size_t> path_field_, key_field_;
};

}  // namespace stoker
