#include "stoker/tools/help_commands.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/train/recipe.h"

namespace stoker {

Status PrintAllKeys() {
  std::vector<std::string> keys = DataKeys();
  keys.emplace_back("model");
  const ConfigNode train = ConfigNode::Map({{"train", {}, TrainRecipe().Filled()}});
  for (std::string& key : SettableKeys(train)) keys.push_back(std::move(key));
  return PrintKeys(keys);
}

}  // namespace stoker
