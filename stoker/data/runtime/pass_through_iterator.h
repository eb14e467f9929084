// The inline counterpart of a ReadAhead over a stream: hands on the input's elements, put through
// the maps that stand behind it, and reads and writes the same saved state, so that a pass saved
// under one runtime continues under the other.
#pragma once

#include <vector>

#include "stoker/data/runtime.h"

namespace stoker {

class PassThroughIterator final : public Iterator {
 public:
  // For `node`, which passes its input on unchanged, or maps elements one by one (with the maps
  // straight below it).
  static Result<std::unique_ptr<Iterator>> Open(const OpenContext& context,
                                                const DatasetNode& node);

 private:
  PassThroughIterator(const OpenContext& context, const DatasetNode& node)
      : Iterator(context, node, Counting::kElsewhere), node_(node) {}

  Result<std::optional<Element>> DoNext() override;
  Result<Json> DoSave() const override;
  Status DoRestore(const Json& state) override;

  const DatasetNode& node_;
  std::vector<const DatasetNode*> maps_;  // first applied first
  std::unique_ptr<Iterator> input_;
  // After a restore: elements of the input that had been handed out already.
  int64_t read_again_ = 0;
};

// `node` and the nodes straight below it that map elements one by one of a stream, first applied
// first; empty where `node` is none. They are run as one stage: an element goes through all of them
// on one thread.
std::vector<const DatasetNode*> ConsecutiveMaps(const DatasetNode& node);

}  // namespace stoker
