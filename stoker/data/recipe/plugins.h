// The section `plugins` of a recipe: libraries with kinds of one's own (run/plugin.h), whose code
// runs in this process.
//
//   plugins: [build/own_kinds.so]    # relative to the recipe; in --set to the working directory
//   plugins:
//     - {file: own_kinds.so, sha256: 9f86d081...}    # 64 digits: this file and no other
//
// A process loads none unless it was allowed to (--allow-code), because a recipe may come from
// elsewhere, and a library can do whatever its user can.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"

namespace stoker {

// What this process does about plug-ins that a recipe names.
enum class PluginPolicy {
  kRefuse,   // at first: such a recipe is an error, which says how to allow it
  kLoad,     // --allow-code
  kLeaveOut  // unknown names are not judged (base/unloaded_kinds.h)
};
void SetPluginPolicy(PluginPolicy policy);  // for the whole process
PluginPolicy GetPluginPolicy();

// Does what the policy says with the section `plugins` of `recipe`, where there is one, and fills
// it in: each entry becomes {file: absolute path, sha256: ...}. To be called before the other
// sections are read. What was loaded stays loaded; the same file is loaded once. Cost: each file is
// read whole once, for its hash. One thread at a time.
//   folder  that of the recipe
// Errors, with the place in the recipe: kInvalidArgument where plug-ins are refused, where the
// section is no list of files, where a file is another than `sha256` says, was compiled with
// another Stoker, compiler or torch, or adds a name that exists; kNotFound where a file does not
// exist; else those of Plugin::Load.
Status LoadPlugins(ConfigNode& recipe, const std::filesystem::path& folder);

// Applies `assignments` to the stored recipe of a run, then LoadPlugins. The hashes that are stored
// say which files the run was trained with, so another file is an error before any of its code
// runs, unless an assignment names the plug-ins anew. Returns what is other than in the run then:
// "plugins.0.sha256: A -> B".
Result<std::vector<std::string>> LoadPluginsOfRun(ConfigNode& recipe,
                                                  const std::vector<std::string>& assignments,
                                                  const std::filesystem::path& run);

// To be called before LoadPlugins, where a run is resumed with `recipe`: compares the files that it
// names with the hashes in the stored recipe of the run, without running any of their code, and
// fills the section in, so that LoadPlugins loads these files and no others. Returns what is other
// than in the run: "plugins.0.sha256: A -> B". Returns nothing, and does nothing, where LoadPlugins
// will refuse the section.
//   folder  that of `recipe`
// Errors: those of LoadPlugins about the section and its files.
Result<std::vector<std::string>> PinPluginsOfRun(const ConfigNode& run_recipe, ConfigNode& recipe,
                                                 const std::filesystem::path& folder);

// The section that names all plug-ins which this process has loaded, filled in; an empty list where
// there are none. What is made here may depend on each of them.
ConfigNode LoadedPlugins();

// ReadRecipe (recipe.h), then LoadPlugins.
Result<ConfigNode> ReadRecipeAndPlugins(const std::filesystem::path& file,
                                        const std::vector<std::string>& assignments);

}  // namespace stoker
