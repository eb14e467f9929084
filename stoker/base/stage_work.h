// The kind of work that a stage of a pipeline does, which advice about the stage depends on.
#pragma once

#include <optional>
#include <string_view>

namespace stoker {

enum class StageWork {
  kReads,     // it is a source
  kDecodes,   // it decodes or parses
  kChanges,   // it changes elements
  kArranges,  // it orders, groups or combines them
};

// Returns the name in JSON: "reads".
constexpr std::string_view NameOf(StageWork work) {
  switch (work) {
    case StageWork::kReads: return "reads";
    case StageWork::kDecodes: return "decodes";
    case StageWork::kChanges: return "changes";
    case StageWork::kArranges: break;
  }
  return "arranges";
}

// Returns the kind of that name; nothing if there is none.
constexpr std::optional<StageWork> ParseStageWork(std::string_view name) {
  for (const StageWork work :
       {StageWork::kReads, StageWork::kDecodes, StageWork::kChanges, StageWork::kArranges}) {
    if (NameOf(work) == name) return work;
  }
  return std::nullopt;
}

}  // namespace stoker
