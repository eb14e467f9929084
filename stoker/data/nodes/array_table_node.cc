#include "stoker/data/nodes/array_table_node.h"

#include "stoker/data/core/check_key.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"

namespace stoker {

std::optional<int64_t> ArrayTableNode::MemoryToRead(int64_t count) const {
  return spec().BytesTogether(count);
}

Result<std::unique_ptr<Iterator>> ArrayTableNode::OpenStream(const OpenContext&) const {
  return Internal("{}: is read by position", name());
}

Result<Element> ArrayTableNode::DoRead(int64_t position, const ReadContext& context) const {
  return table().Read(position, context.epoch());
}

Result<Element> ArrayTableNode::DoReadKey(const SampleKey& key, const ReadContext&) const {
  STOKER_RETURN_IF_ERROR(CheckKey(*this, key));
  return table().Read(key.index, key.epoch);
}

Result<Rows> ArrayTableNode::DoReadRows(std::span<const int64_t> positions,
                                        const ReadContext& context) const {
  Scratch scratch = context.scratch(*this);
  return table().ReadRows(positions, context.epoch(), scratch);
}

}  // namespace stoker
