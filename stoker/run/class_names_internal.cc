#include "stoker/run/class_names_internal.h"

#include <string>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/core/class_names.h"

namespace stoker {
namespace {

// A name that no class of the model bears is a mistake in one or the other. The names stand in the
// recipe or come from the data, such as from folders.
Status CheckNamesOfOneTarget(const ConfigNode& root, const DataRecipe& data,
                             const ModelRegistry::Configured& model) {
  const ConfigNode* classes = model.node.entries.front().value.Find("classes");
  if (data.classes.empty() || classes == nullptr) return OkStatus();
  int64_t wanted = 0;
  STOKER_RETURN_IF_ERROR(ReadOption(*classes, wanted));
  if (std::ssize(data.classes) <= wanted) return OkStatus();
  const ConfigNode* const names = root.Find("data")->Find("classes");
  if (names == nullptr) {
    return InvalidArgument(
        "{}: data.train has {} classes ('{}', ...), but the model {} tells {} apart; set its "
        "classes to {}",
        root.Find("model")->location.ToString(), data.classes.size(), data.classes.front(),
        model.name, wanted, data.classes.size());
  }
  return InvalidArgument(
      "{}: data.classes has {} names, but the model {} tells {} classes apart; make them agree",
      names->location.ToString(), data.classes.size(), model.name, wanted);
}

// The names that the data have for the numbers of this field. Those of a source, such as of its
// folders, are of the field that sources call so.
std::vector<std::string> NamesIn(const Dataset& data, const std::string& field) {
  const bool known = field == "label" || FindWordNumbers(data, field) != nullptr;
  return known ? FindClassNames(data, field) : std::vector<std::string>();
}

Status CheckNoneForAll(const ConfigNode& root) {
  const ConfigNode* const names = root.Find("data")->Find("classes");
  if (names == nullptr || names->items.empty()) return OkStatus();
  return InvalidArgument(
      "{}: data.classes are those of one target, and each of several has its own: train.target: "
      "{{NAME: {{classes: [...]}}}}",
      names->location.ToString());
}

}  // namespace

Status NameClasses(const ConfigNode& root, const DataRecipe& data,
                   const ModelRegistry::Configured& model, TrainRecipe& train) {
  if (train.targets.empty()) return CheckNamesOfOneTarget(root, data, model);
  STOKER_RETURN_IF_ERROR(CheckNoneForAll(root));
  for (TargetRecipe& target : train.targets) {
    if (!target.classes.empty()) continue;
    std::vector<std::string> names = NamesIn(data.train, target.field);
    if (std::ssize(names) == target.outputs) target.classes = std::move(names);
  }
  return OkStatus();
}

}  // namespace stoker
