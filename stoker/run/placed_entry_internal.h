// How recipe.cc and metrics_section_internal.cc read an entry of a registry.
#pragma once

#include <utility>

#include "stoker/base/config.h"
#include "stoker/base/problems.h"
#include "stoker/base/status.h"

namespace stoker {

// Reads one entry, and adds its place to errors of making it.
template <typename R>
Result<typename R::Configured> ParsePlaced(const R& registry, const ConfigNode& node) {
  STOKER_ASSIGN_OR_RETURN(auto parsed, registry.Parse(node));
  using Made = typename decltype(parsed.build)::result_type;
  parsed.build = [build = std::move(parsed.build),
                  where = node.location.ToString()](const auto&... args) -> Made {
    Made made = build(args...);
    if (made.ok()) return made;
    return WithPrefix(fmt::format("{}: ", where), made.status());
  };
  return parsed;
}

}  // namespace stoker
