// Names of the picture in a field of a sample, for messages.
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
  // For field number `field` of the elements of `input`, by their keys there.
  PictureNames(const Dataset& input, size_t field);

  // Returns the path of its file or the place of its record, from the source or a field `path`,
  // otherwise "element 12"; and its name in its archive, from a field `key`: "a.tar: record 12:
  // '0012'".
  std::string NameOf(const Element& element) const;

 private:
  const std::string field_;
  const std::shared_ptr<const SampleNames> source_;
  std::optional<size_t> path_field_, key_field_;
};

}  // namespace stoker
