// Base of sources whose elements are read by position, with the position as key.
#pragma once

#include <memory>
#include <string_view>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Sub-classes implement reading (DoRead, MemoryToRead) and describe their input (Details, files).
class ByPositionNode : public DatasetNode {
 public:
  std::string_view Disturbs() const final { return ""; }
  bool fixed_order() const final { return true; }
  bool random_access() const final { return true; }
  bool rereadable() const final { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const final;

 protected:
  ByPositionNode(std::string_view name, Spec spec, Cardinality cardinality);

  // Calls DoRead with the key's position and epoch.
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const final;
};

}  // namespace stoker
