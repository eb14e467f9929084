// Names that a recipe uses and this process does not know because it does not load the recipe's
// plug-ins: `check`, `inspect` and `lint` never do. Of such a name they say that they cannot judge
// it, where other commands say that it is wrong.
#pragma once

#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// Says that a recipe names plug-ins which are not loaded, for the life of the process. Threads:
// any.
void NotePluginsAreNotLoaded();

// What messages of unknown kinds end with from then on; empty before.
std::string_view AdviceOfUnloadedPlugins();

// Whether the message is about a kind that a plug-in may bring which is not loaded.
bool IsAboutUnloadedKind(std::string_view message);

// Whether all messages of the error are (base/problems.h).
bool IsAboutUnloadedKinds(const Status& status);

}  // namespace stoker
