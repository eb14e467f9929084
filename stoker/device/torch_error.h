// libtorch reports errors by throwing. Here they become values.
#pragma once

#include <exception>
#include <functional>

#include "stoker/base/status.h"

namespace stoker {

// What a caught exception says, without torch's backtrace: kResourceExhausted where memory ran out
// (on the host or on the device), kInvalidArgument for wrong shapes, types and indices,
// kUnimplemented, else kInternal.
Status StatusOfException(const std::exception& error);

// Runs `body`, which calls torch, and turns what it throws into a Status. `body` may return void or
// Status.
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
