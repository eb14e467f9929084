// The inline counterpart of a ReadAhead over a stream: hands on the input's elements, and reads and writes the same
// saved state, so that a pass saved under one runtime continues under the other.
#pragma once

#include "stoker/data/runtime.h"

namespace stoker {

class PassThroughIterator : public Iterator {
 public:
  // The elements of `input`, each changed by Change, which by default does nothing.
  PassThroughIterator(const OpenContext& context, const DatasetNode& node, std::unique_ptr<Iterator> input,
                      Counting counting = Counting::kHere);

 private:
  virtual Status Change(Element&) const { return OkStatus(); }

  Result<std::optional<Element>> DoNext() final;
  Result<Json> DoSave() const final;
  Status DoRestore(const Json& state) final;

  const std::unique_ptr<Iterator> input_;
  int64_t read_again_ = 0;  // after a restore: elements of the input that had been handed out already
};

}  // namespace stoker
