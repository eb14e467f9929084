// HostCopy: a snapshot of tensors in host memory, so that they may change while it is written to
// disk.
#pragma once

#include <c10/core/Event.h>

#include <optional>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/train/core/named_tensor.h"

namespace stoker {

// Keeps its memory, as large as the tensors, from one Take to the next, because fresh pages would
// cost more than the copy itself. Do not call Take and Arrays concurrently.
class HostCopy {
 public:
  // Copies the values, in C order. From a device it copies asynchronously into pinned memory on the
  // current stream: work launched there afterwards may change the tensors. All calls should have
  // the same tensors; others cost new memory. Errors: kResourceExhausted if there is none.
  Status Take(const NamedTensors& tensors);

  // Returns the values of the last Take; waits for a device. They share the copy's memory, so they
  // are valid until the next one. Callable from any thread.
  Result<std::vector<NamedArray>> Arrays() const;

 private:
  NamedTensors copies_;
  std::optional<c10::Event> done_;  // of the copies from a device
};

}  // namespace stoker
