// What a plug-in library with kinds of one's own includes. It is one source file or more, compiled
// as a shared library with CMake's target stoker::plugin (docs/plugins.md):
//
//   #include "stoker/run/plugin.h"
//
//   STOKER_PLUGIN(kinds) {
//     kinds.Add<SmallNet>();
//     kinds.Add<Hinge>();
//   }
//
// A recipe names the library under `plugins:`, and the commands that run its code want
// --allow-code.
#pragma once

#include "stoker/base/plugin_tag.h"
#include "stoker/run/kinds.h"

#if __has_include(<torch/torch.h>) && !defined(STOKER_PLUGIN_TORCH)
#error "link CMake's target stoker::plugin, which says of which version torch is"
#endif

// Once in a library. The tag says what the library was compiled with; it is compared before
// anything of the library runs (data/recipe/plugins.h).
#define STOKER_PLUGIN(kinds)                                                             \
  static void StokerPluginAdds(::stoker::Kinds& kinds);                                  \
  extern "C" __attribute__((visibility("default"))) const char* stoker_plugin_v1_tag() { \
    return STOKER_TAG_OF_PLUGIN;                                                         \
  }                                                                                      \
  extern "C" __attribute__((visibility("default"))) void stoker_plugin_v1(               \
      ::stoker::Problems* problems) {                                                    \
    ::stoker::Kinds added;                                                               \
    StokerPluginAdds(added);                                                             \
    problems->Add(added.status());                                                       \
  }                                                                                      \
  static void StokerPluginAdds(::stoker::Kinds& kinds)
