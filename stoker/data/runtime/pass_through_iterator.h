// The inline counterpart of a ReadAhead over a stream: hands on the input's elements, put through
// the hop's stages, and reads and writes the same saved state, so that a pass saved under one
// runtime continues under the other. After an error too it stands behind the last element that it
// handed out.
#pragma once

#include <vector>

#include "stoker/data/core/runtime.h"
#include "stoker/data/runtime/delivered.h"
#include "stoker/data/runtime/snapshot_pace.h"

namespace stoker {

class PassThroughIterator final : public Iterator {
 public:
  // For `node`, which passes its input on unchanged, or maps elements one by one (with the stages
  // of that kind straight below it).
  static Result<std::unique_ptr<Iterator>> Open(const OpenContext& context,
                                                const DatasetNode& node);

 private:
  PassThroughIterator(const OpenContext& context, const DatasetNode& node)
      : Iterator(context, node, Counting::kElsewhere), tolerant_(context.tolerant()) {}

  Result<std::optional<Element>> DoNext() override;
  Result<Json> DoSave() const override;
  Status DoRestore(const Json& state) override;

  Result<std::optional<Element>> NextMapped();
  Status SaveInputIfDue();

  const bool tolerant_;
  std::vector<const DatasetNode*> stages_;  // first applied first
  std::unique_ptr<Iterator> input_;
  SnapshotPace pace_ = SnapshotPace::BeforeEach();
  Json saved_input_;     // null: nothing has been read or restored yet
  int64_t taken_ = 0;    // elements pulled since saved_input_
  Delivered done_;       // of those since saved_input_, which have been handed out, here or before
  bool failed_ = false;  // the last call gave an error
};

}  // namespace stoker
