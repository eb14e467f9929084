#include "stoker/run/recipe_place.h"

namespace stoker {

ConfigNode PlacesOf(const Recipe& recipe) {
  const ConfigNode &data = recipe.data.filled, &train = recipe.train.written;
  ConfigNode places =
      ConfigNode::Map({{"data", data.location, data}, {"train", train.location, train}});
  places.location.file = data.location.file;
  return places;
}

}  // namespace stoker
