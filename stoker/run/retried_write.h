// Writing again what a disk refused to take, while it is still in memory.
#pragma once

#include <functional>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// Returns what `write` does, which is called up to three times while what it meets may pass
// (kUnavailable, kResourceExhausted) and the thread is not asked to stop, with a warning and some
// tenths of a second in between. All of it is written again each time: what a disk failed to flush
// once is not flushed by a second call.
//   what  for the warning: "the checkpoint"
Status WriteWithRetries(std::string_view what, const std::function<Status()>& write);

}  // namespace stoker
