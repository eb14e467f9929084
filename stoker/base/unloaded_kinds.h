// Names in a recipe that this process does not know because it does not load the recipe's plug-ins:
// `check`, `inspect` and `lint` never do. They report that they cannot judge such a name; for other
// commands it is a mistake.
#pragma once

#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// To be called when a recipe names plug-ins that are not loaded; holds for the life of the process.
// Threads: any.
void NotePluginsAreNotLoaded();

// What messages of unknown kinds end with from then on; empty before.
std::string_view AdviceOfUnloadedPlugins();

// Whether the message is about a kind that a plug-in may bring which is not loaded.
bool IsAboutUnloadedKind(std::string_view message);

// Returns the error without such messages (base/problems.h); success where there are no others.
Status AboutKnownKinds(const Status& status);

}  // namespace stoker
