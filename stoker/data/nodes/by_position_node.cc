#include "stoker/data/nodes/by_position_node.h"

#include <utility>

#include "stoker/data/core/check_key.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"

namespace stoker {

ByPositionNode::ByPositionNode(std::string_view name, Spec spec, Cardinality cardinality)
    : DatasetNode(std::string(name), std::move(spec), cardinality, {}) {}

Result<std::unique_ptr<Iterator>> ByPositionNode::OpenStream(const OpenContext&) const {
  return Internal("{}: is read by position", name());
}

Result<Element> ByPositionNode::DoReadKey(const SampleKey& key, const ReadContext& context) const {
  STOKER_RETURN_IF_ERROR(CheckKey(*this, key));
  return DoRead(key.index, context.WithEpoch(key.epoch));
}

}  // namespace stoker
