// The kinds as a plug-in: `plugins: [own_kinds.so]` in a recipe, and `stoker train RECIPE
// --allow-code`.
#include "stoker/run/plugin.h"

#include "kinds.h"

STOKER_PLUGIN(kinds) { own::AddOwnKinds(kinds); }
