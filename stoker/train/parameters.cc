#include "stoker/train/parameters.h"

#include <algorithm>
#include <cmath>

#include "stoker/train/model.h"
#include "stoker/train/named_tensor.h"

namespace stoker {
namespace {

// The module that owns a parameter: its name without the last part.
std::string_view OwnerOf(std::string_view parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : parameter.substr(0, dot);
}

// The number of each parameter's layer, from 0.
std::vector<int64_t> LayersOf(const NamedTensors& parameters) {
  std::vector<std::string_view> owners;
  std::vector<int64_t> layers;
  for (const NamedTensor& parameter : parameters) {
    const std::string_view owner = OwnerOf(parameter.name);
    const auto found = std::ranges::find(owners, owner);
    layers.push_back(found - owners.begin());
    if (found == owners.end()) owners.push_back(owner);
  }
  return layers;
}

Status NothingMatches(const TrainRecipe& recipe, const GroupOptions& group,
                      const NamedTensors& parameters) {
  std::string names;
  for (size_t i = 0; i < parameters.size() && i < 5; ++i) {
    names += (i == 0 ? "" : ", ") + parameters[i].name;
  }
  return InvalidArgument(
      "{}: '{}' matches none of the model's {} parameters, the first of which are {}; "
      "mend the pattern or take the group out",
      recipe.NameOf(GroupOptions::kName), group.match, parameters.size(), names);
}

}  // namespace

bool MatchesPattern(std::string_view name, std::string_view pattern) {
  // Where the last star stood, and how much of the name it has taken so far.
  size_t star = std::string_view::npos, taken = 0;
  size_t n = 0, p = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

Result<TrainedParameters> ParametersToTrain(const Model& model, const TrainRecipe& recipe) {
  const NamedTensors parameters = ParametersOf(model);
  const std::vector<int64_t> layers = LayersOf(parameters);
  const int64_t top = layers.empty() ? 0 : std::ranges::max(layers);
  std::vector<bool> used(recipe.groups.size(), false);
  TrainedParameters trained;
  for (size_t i = 0; i < parameters.size(); ++i) {
    TrainedParameter parameter{.name = parameters[i].name, .tensor = parameters[i].tensor};
    parameter.lr_scale = std::pow(recipe.options.layer_rate, static_cast<double>(top - layers[i]));
    if (!recipe.options.decay_vectors && parameter.tensor.dim() <= 1) parameter.decay_scale = 0;
    for (size_t g = 0; g < recipe.groups.size(); ++g) {
      if (!MatchesPattern(parameter.name, recipe.groups[g].match)) continue;
      used[g] = true;
      parameter.lr_scale *= recipe.groups[g].lr;
      parameter.decay_scale *= recipe.groups[g].weight_decay;
      break;
    }
    trained.push_back(std::move(parameter));
  }
  for (size_t g = 0; g < used.size(); ++g) {
    if (!used[g]) return NothingMatches(recipe, recipe.groups[g], parameters);
  }
  return trained;
}

}  // namespace stoker
