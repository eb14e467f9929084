#include "stoker/run/recipe.h"
#include "stoker/run/registry.h"
#include "stoker/tools/commands/help_commands.h"
#include "stoker/tools/trainer/commands.h"

namespace stoker {

Status PrintCompletionWords(const std::string& what) {
  if (what == "models") return PrintWords(ModelRegistry::Known().Names());
  if (what == "kinds") return PrintWords(NamesOfKinds());
  std::vector<std::string> keys = DataKeys();
  keys.emplace_back("model");
  const ConfigNode train = ConfigNode::Map({{"train", {}, TrainRecipe().Filled()}});
  for (std::string& key : SettableKeys(train)) keys.push_back(std::move(key));
  return PrintWords(keys);
}

}  // namespace stoker
