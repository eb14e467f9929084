// SharedTrials: elements that threads read at the same time, with the errors of reading them in
// order.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "stoker/data/core/dataset.h"
#include "stoker/data/core/runtime.h"

namespace stoker {

// Reads element i, and puts it where the caller wants it.
using SingleRead = std::function<Status(int64_t i, const ReadContext& context)>;

// First Try is called for all elements, as the rounds of a loop that threads share
// (shared_loops.h). Unless trouble() then ends the read, Settle is called for each, in order and on
// the thread that opened the loop: it reads again what failed, so that errors are counted, and
// failed elements are replaced, as where one thread reads them one after the other.
class SharedTrials {
 public:
  // `context` is borrowed.
  SharedTrials(int64_t count, const ReadContext& context)
      : context_(context), tried_(static_cast<size_t>(count)) {}

  // Reads element i with a trial of the context. Does nothing once an element has failed for a
  // reason that is not the element's own, or has thrown: a server that is away is not asked for
  // each of them.
  void Try(int64_t i, const SingleRead& read);

  // Returns the error of the first element that failed for such a reason; of a context that is a
  // trial itself, of the first that failed at all.
  Status trouble() const;

  // Returns the error of element i, or OK if it has been read.
  Status Settle(int64_t i, const SingleRead& read);

 private:
  bool EndsTheRead(const Status& error) const;

  const ReadContext& context_;
  std::vector<std::optional<Status>> tried_;  // none: was left out, or has thrown
  std::atomic<bool> given_up_ = false;
};

}  // namespace stoker
