// What messages call the samples of a source.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Implemented by the nodes of sources that know which file, or which record of one, an element is
// made of. Thread-safe.
class SampleNames {
 public:
  virtual ~SampleNames() = default;

  // What the field `field` of the element whose key has this index was read from: "a/1.jpg",
  // "a.tfrecord: record 12 (byte 812)". Empty where there is no such element or field, or it is not
  // known.
  virtual std::string NameOf(int64_t index, std::string_view field) const = 0;
  // The same of the element with this key: what is drawn at random differs from epoch to epoch.
  virtual std::string NameOfKey(const SampleKey& key, std::string_view field) const {
    return NameOf(key.index, field);
  }
};

// Whether the elements of a node have the keys that they have in its one input.
bool KeepsKeys(const DatasetNode& node);

// Those of the sources that the elements of `dataset` come from, by the keys that they have there:
// nothing but stages that keep keys lies in between, that combine pipelines and number their keys
// (KeyOfInput), or that draw (balance, sample). Null where there are none. They keep the sources
// alive.
std::shared_ptr<const SampleNames> FindSampleNames(const Dataset& dataset);

// What the sources of `dataset` call its element with this key, for the front of a message about
// it: by the first of its fields that has a name. Of names that `message` has already, the first
// one. Empty where no field has a name. Costs a walk to the sources.
std::string NameInMessage(const Dataset& dataset, const SampleKey& key, std::string_view message);

}  // namespace stoker
