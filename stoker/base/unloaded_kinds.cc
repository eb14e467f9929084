#include "stoker/base/unloaded_kinds.h"

#include <atomic>

#include "stoker/base/problems.h"

namespace stoker {
namespace {

constexpr std::string_view kAdvice =
    "a plug-in of the recipe may bring it, and none is loaded here";

std::atomic<bool> noted = false;

}  // namespace

void NotePluginsAreNotLoaded() { noted = true; }

std::string_view AdviceOfUnloadedPlugins() { return noted ? kAdvice : std::string_view(); }

bool IsAboutUnloadedKind(std::string_view message) { return message.ends_with(kAdvice); }

Status AboutKnownKinds(const Status& status) {
  Problems known;
  for (const std::string& message : ProblemsIn(status)) {
    if (!IsAboutUnloadedKind(message)) known.Add(Status(status.code(), message));
  }
  return known.ToStatus();
}

}  // namespace stoker
