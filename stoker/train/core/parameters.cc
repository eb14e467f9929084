#include "stoker/train/core/parameters.h"

#include <algorithm>
#include <cmath>

#include "stoker/train/core/model.h"
#include "stoker/train/core/named_tensor.h"

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

// "train.groups (recipe.yaml:9:7)" with the place of the group, where that was written.
std::string NameOfGroup(const TrainRecipe& recipe, size_t group) {
  const ConfigNode* const list = recipe.written.Find(GroupOptions::kName);
  if (list == nullptr || list->items.size() != recipe.groups.size())
    return recipe.NameOf(GroupOptions::kName);
  return fmt::format("train.{} ({})", GroupOptions::kName, list->items[group].location.ToString());
}

// The group of this number has no parameter: none is called so, or groups before it took them all.
Status GroupIsEmpty(const TrainRecipe& recipe, size_t group, const NamedTensors& parameters) {
  const std::string& pattern = recipe.groups[group].match;
  for (const NamedTensor& parameter : parameters) {
    if (!MatchesPattern(parameter.name, pattern)) continue;
    const auto taker = std::ranges::find_if(recipe.groups, [&](const GroupOptions& before) {
      return MatchesPattern(parameter.name, before.match);
    });
    return InvalidArgument(
        "{}: all parameters that '{}' matches belong to groups before it, {} to '{}', and the "
        "first group that matches counts; put it before that one or take it out",
        NameOfGroup(recipe, group), pattern, parameter.name, taker->match);
  }
  std::string names;
  for (size_t i = 0; i < parameters.size() && i < 5; ++i) {
    names += (i == 0 ? "" : ", ") + parameters[i].name;
  }
  return InvalidArgument(
      "{}: '{}' matches none of the model's {} parameters, the first of which are {}; "
      "correct the pattern or take the group out",
      NameOfGroup(recipe, group), pattern, parameters.size(), names);
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
    if (!used[g]) return GroupIsEmpty(recipe, g, parameters);
  }
  return trained;
}

}  // namespace stoker
