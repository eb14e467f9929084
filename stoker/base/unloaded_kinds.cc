#include "stoker/base/unloaded_kinds.h"

#include <algorithm>
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

bool IsAboutUnloadedKinds(const Status& status) {
  return !status.ok() && std::ranges::all_of(ProblemsIn(status), IsAboutUnloadedKind);
}

}  // namespace stoker
