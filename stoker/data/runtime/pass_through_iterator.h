// The inline counterpart of a ReadAhead over a stream: applies the hop's stages to the input's
// elements, and reads and writes the same saved state, so that a pass saved with one runtime
// continues with the other. Its position stays after the last returned element, even after an
// error.
#pragma once

#include <vector>

#include "stoker/data/core/runtime.h"
#include "stoker/data/runtime/delivered.h"
#include "stoker/data/runtime/snapshot_pace.h"

namespace stoker {

class PassThroughIterator final : public Iterator {
 public:
  // Opens the iterator of `node`, which passes its input on unchanged or maps elements one by one,
  // together with the directly preceding stages of that kind.
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
  Delivered done_;       // the elements since saved_input_ that were returned, here or earlier
  bool failed_ = false;  // the last call returned an error
};

}  // namespace stoker
