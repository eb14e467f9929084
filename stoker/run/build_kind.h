// Calls the Build of a kind that a recipe names, which may be code of a user.
#pragma once

#include <utility>

#include "stoker/data/core/failure.h"

namespace stoker {

// Returns what kind.build(args...) returns. What it throws, whatever that is, becomes an error, and
// so does a null pointer, because nobody who wants an object expects one; both name the kind.
//   kind  Configured of a registry (run/registry.h)
template <typename Configured, typename... Args>
auto BuildKind(const Configured& kind, Args&&... args)
    -> decltype(kind.build(std::forward<Args>(args)...)) {
  auto made = CatchExceptions([&] { return kind.build(std::forward<Args>(args)...); },
                              "{}: its Build", kind.name);
  if (made.ok() && *made == nullptr) {
    return Internal("{}: its Build returned a null pointer; it must return an object or an error",
                    kind.name);
  }
  return made;
}

}  // namespace stoker
