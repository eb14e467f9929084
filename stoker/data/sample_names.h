// What a source knows of its samples besides what is in the elements: what messages call them, and
// what the classes are called.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/dataset.h"

namespace stoker {

// Implemented by the nodes of sources whose elements come from a file each. Thread-safe.
class SampleNames {
 public:
  virtual ~SampleNames() = default;

  // The path of the file that the field `field` of the element whose key has this index was read
  // from. Empty where there is no such element or field.
  virtual std::string NameOf(int64_t index, std::string_view field) const = 0;

  // What the labels 0, 1, ... stand for; empty where they have no names.
  virtual std::vector<std::string> ClassNames() const { return {}; }
};

// Those of the source that the keys of the elements of `dataset` belong to: nothing but stages that
// keep keys lies in between. Null where there are none. They keep the source alive.
std::shared_ptr<const SampleNames> FindSampleNames(const Dataset& dataset);

// The names of the first source among all inputs that has some.
std::vector<std::string> FindClassNames(const Dataset& dataset);

}  // namespace stoker
