// Converts the exceptions of libtorch to Status.
#pragma once

#include <exception>
#include <functional>

#include "stoker/base/status.h"

namespace stoker {

// Returns the message of a caught exception, without torch's backtrace: kResourceExhausted if
// memory ran out (on the host or on the device), kInvalidArgument for wrong shapes, types and
// indices, kUnimplemented, else kInternal.
Status StatusOfException(const std::exception& error);

// Runs `body`, which calls torch, and converts its exceptions to a Status. `body` may return void
// or Status.
template <typename Body>
Status CatchTorchErrors(Body&& body) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
      std::invoke(std::forward<Body>(body));
      return OkStatus();
    } else {
      return std::invoke(std::forward<Body>(body));
    }
  } catch (const std::exception& error) {
    return StatusOfException(error);
  }
}

}  // namespace stoker
