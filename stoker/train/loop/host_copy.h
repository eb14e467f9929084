// HostCopy: what tensors hold at one moment, in host memory of its own, so that they may change
// while it is written to disk.
#pragma once

#include <c10/core/Event.h>

#include <optional>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/train/core/named_tensor.h"

namespace stoker {

// Keeps its memory, as many bytes as the tensors have, from one Take to the next: fresh pages would
// cost more than the copy itself. Take and Arrays not at the same time.
class HostCopy {
 public:
  // Copies the values, in C order. From a device without waiting for it, into pinned memory, behind
  // what the current stream has to do: what is launched there afterwards may change the tensors.
  // Those of all calls together should be the same ones; others cost new memory. Errors:
  // kResourceExhausted where there is none.
  Status Take(const NamedTensors& tensors);

  // The values of the last Take; waits for a device. They share the copy's memory, so they hold
  // until the next one. Any thread.
  Result<std::vector<NamedArray>> Arrays() const;

 private:
  NamedTensors copies_;
  std::optional<c10::Event> done_;  // of the copies from a device
};

}  // namespace stoker
