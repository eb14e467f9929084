// The inline counterpart of a ReadAhead over a stream: hands on the input's elements, put through
// the maps that stand behind it, and reads and writes the same saved state, so that a pass saved
// under one runtime continues under the other. After an error too it stands behind the last element
// that it handed out.
#pragma once

#include <vector>

#include "stoker/data/runtime.h"

namespace stoker {

// The state of a stream may be large, so it is kept for going back to once in so many elements.
inline constexpr int64_t kSnapshotInterval = 64;

class PassThroughIterator final : public Iterator {
 public:
  // For `node`, which passes its input on unchanged, or maps elements one by one (with the maps
  // straight below it).
  static Result<std::unique_ptr<Iterator>> Open(const OpenContext& context,
                                                const DatasetNode& node);

 private:
  PassThroughIterator(const OpenContext& context, const DatasetNode& node)
      : Iterator(context, node, Counting::kElsewhere), node_(node), tolerant_(context.tolerant()) {}

  Result<std::optional<Element>> DoNext() override;
  Result<Json> DoSave() const override;
  Status DoRestore(const Json& state) override;

  Result<std::optional<Element>> NextMapped();
  Status SaveInputIfDue();

  const DatasetNode& node_;
  const bool tolerant_;
  std::vector<const DatasetNode*> maps_;  // first applied first
  std::unique_ptr<Iterator> input_;
  Json saved_input_;     // null: nothing has been read or restored yet
  int64_t taken_ = 0;    // elements pulled since saved_input_
  int64_t done_ = 0;     // elements since saved_input_ that have been handed out, here or before
  bool failed_ = false;  // the last call gave an error
};

// `node` and the nodes straight below it that map elements one by one of a stream, first applied
// first; empty where `node` is none. They are run as one stage: an element goes through all of them
// on one thread.
std::vector<const DatasetNode*> ConsecutiveMaps(const DatasetNode& node);

// Puts an element through the maps. Where one fails, or throws, and `tolerant` is set, the element
// becomes the one that stands for it; one that had failed before stays as it is.
Status ApplyMaps(const std::vector<const DatasetNode*>& maps, const ReadContext& context,
                 bool tolerant, Element& element);

}  // namespace stoker
