// Errors for exceptions: what code of users, libraries or exhausted memory throws becomes a Status.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "stoker/base/status.h"

namespace stoker {

// Returns the error for the exception being handled; call it in a catch block. `where` says what
// threw ("map: element 7: the function"). Exhausted memory and errors of the operating system keep
// their codes (kResourceExhausted, those of ErrnoStatus); anything else is kInternal.
Status ThrownError(std::string_view where);

// Returns what `make` returns, a Status or a Result. What `make` throws becomes an error
// (ThrownError), whose text says what was being done: `where`, formatted with `args` as fmt does.
template <typename Make, typename... Args>
auto CatchExceptions(Make&& make, fmt::format_string<Args...> where, Args&&... args)
    -> decltype(make()) {
  try {
    return make();
  } catch (...) {
    return ThrownError(fmt::format(where, std::forward<Args>(args)...));
  }
}

}  // namespace stoker
