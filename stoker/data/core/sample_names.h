// Names of a source's samples, for messages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Implemented by the nodes of sources that know the file, or the record in it, of an element.
// Thread-safe.
class SampleNames {
 public:
  virtual ~SampleNames() = default;

  // Returns what the field `field` of the element whose key has this index was read from:
  // "a/1.jpg", "a.tfrecord: record 12 (byte 812)". Empty if there is no such element or field, or
  // the place is unknown.
  virtual std::string NameOf(int64_t index, std::string_view field) const = 0;
  // Returns the same for the element with this key, because random draws differ from epoch to
  // epoch.
  virtual std::string NameOfKey(const SampleKey& key, std::string_view field) const {
    return NameOf(key.index, field);
  }
};

// Returns whether the elements of a node keep the keys of its one input.
bool KeepsKeys(const DatasetNode& node);

// Returns the names of the sources of `dataset`, by the keys in `dataset`. Works if all stages in
// between keep keys, combine pipelines and number their keys (KeyOfInput), or draw (balance,
// sample); else null. The result keeps the sources alive.
std::shared_ptr<const SampleNames> FindSampleNames(const Dataset& dataset);

// Returns the sources' name of the element of `dataset` with this key, to begin a message: that of
// the first field with a name, or the first name that `message` already contains. Empty if no field
// has a name. Costs a traversal to the sources.
std::string NameInMessage(const Dataset& dataset, const SampleKey& key, std::string_view message);

}  // namespace stoker
