#include "stoker/data/recipe/normalize_apart.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "stoker/base/named_kind.h"
#include "stoker/base/options.h"
#include "stoker/data/core/ragged_fields.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/options/whole_pipeline.h"
#include "stoker/data/transforms/layout.h"
#include "stoker/data/transforms/normalize.h"

namespace stoker {
namespace {

// Stages that move whole values about, whatever they are.
constexpr std::string_view kIndifferent[] = {Batch::kName, Prefetch::kName, Layout::kName};

// The items of a pipeline, with the place of the normalisation among them.
struct Found {
  std::vector<ConfigNode> items;
  size_t place = 0;
  Normalize options;
};

Result<Found> FindLast(const ConfigNode& stages, std::string_view field) {
  Found found{.items = stages.items};
  for (size_t i = found.items.size(); i-- > 0;) {
    const ConfigNode& item = found.items[i];
    if (NamedKind(item) == Normalize::kName) {
      Normalize options;
      STOKER_RETURN_IF_ERROR(ParseOptionsOf(item.entries.front().value, options));
      if (options.field == field) {
        found.place = i;
        found.options = std::move(options);
        return found;
      }
    }
    if (std::ranges::find(kIndifferent, NamedKind(item)) == std::end(kIndifferent)) {
      return FailedPrecondition("'{}' stands after any normalize of '{}'", NamedKind(item), field);
    }
  }
  return FailedPrecondition("there is no normalize of '{}'", field);
}

Status CheckMayMove(const Found& found) {
  if (found.items[found.place].entries.size() > 1) {
    return FailedPrecondition("normalize has a policy for errors of its own");
  }
  if (found.options.per_sample) {
    return FailedPrecondition("normalize takes mean and std from each sample");
  }
  const bool several = found.options.mean.size() > 1 || found.options.std.size() > 1;
  if (several && found.options.by_last_dimension())
    return FailedPrecondition("normalize has a mean for each extent of the last dimension");
  const auto begin = found.items.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(found.place);
  if (several && std::any_of(begin, end, [](const ConfigNode& item) {
        return NamedKind(item) == Layout::kName || NamedKind(item) == Batch::kName;
      })) {
    return FailedPrecondition("normalize has a mean for each channel after layout or batch");
  }
  return OkStatus();
}

// Whether the pipeline is the one the recipe's text describes; false if the program has replaced
// it.
bool IsAsWritten(const DataRecipe& recipe, std::string_view pipeline) {
  if (pipeline == "train") return recipe.train.shared_node() == recipe.parsed_train;
  return recipe.eval && recipe.eval->shared_node() == recipe.parsed_eval;
}

}  // namespace

Result<NormalizeApart> TakeNormalizeOut(const DataRecipe& recipe, std::string_view pipeline,
                                        std::string_view field) {
  const std::optional<ConfigNode> stages = WholePipeline(recipe.filled, pipeline);
  if (!stages || stages->kind != ConfigNode::Kind::kList || !IsAsWritten(recipe, pipeline)) {
    return FailedPrecondition("data.{} was not made from a recipe", pipeline);
  }
  STOKER_ASSIGN_OR_RETURN(Found found, FindLast(*stages, field));
  STOKER_RETURN_IF_ERROR(CheckMayMove(found));
  found.items.erase(found.items.begin() + static_cast<std::ptrdiff_t>(found.place));
  const ConfigNode data = ConfigNode::Map(
      {{"root", {}, WriteOption(recipe.root)}, {"train", {}, ConfigNode::List(found.items)}});
  STOKER_ASSIGN_OR_RETURN(const DataRecipe without,
                          ParseDataSection(ConfigNode::Map({{"data", {}, data}}), recipe.root));
  if (FindOffsets(without.train, field))
    return FailedPrecondition("'{}' is ragged, and bytes of differing numbers are no input", field);
  STOKER_ASSIGN_OR_RETURN(const size_t index, without.train.spec().IndexOf("normalize", field));
  if (without.train.spec().fields[index].dtype != DType::kUInt8) {
    return FailedPrecondition("normalize gets {} there, no bytes",
                              without.train.spec().fields[index].ToString());
  }
  STOKER_ASSIGN_OR_RETURN(std::vector<ShiftScale> channels,
                          NormalizeConstants(found.options, DType::kUInt8));
  return NormalizeApart{.pixels = without.train, .channels = std::move(channels)};
}

}  // namespace stoker
