#include "stoker/run/batch_per_rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/options.h"

namespace stoker {
namespace {

constexpr std::string_view kBatches[] = {"batch", "padded_batch"};

// The sizes of the stages that make batches: `batch: 64` and `batch: {size: 64}`.
std::vector<ConfigNode*> SizesOf(ConfigNode& stages) {
  std::vector<ConfigNode*> sizes;
  for (ConfigNode& stage : stages.items) {
    for (const std::string_view name : kBatches) {
      ConfigNode* const options = stage.Find(name);
      if (options == nullptr) continue;
      sizes.push_back(options->kind == ConfigNode::Kind::kMap ? options->Find("size") : options);
    }
  }
  return sizes;
}

}  // namespace

std::string BatchSizeKey(const ConfigNode& recipe) {
  const ConfigNode* const data = recipe.Find("data");
  const ConfigNode* const stages = data == nullptr ? nullptr : data->Find("train");
  const auto made_by = [&](std::string_view name) {
    return stages != nullptr && std::ranges::any_of(stages->items, [&](const ConfigNode& stage) {
             return stage.scalar == name || stage.Find(name) != nullptr;
           });
  };
  const auto* const name = std::ranges::find_if(kBatches, made_by);
  return fmt::format("data.train.{}.size", name == std::end(kBatches) ? kBatches[0] : *name);
}

Status TakeBatchPerRank(ConfigNode& recipe, int64_t ranks) {
  ConfigNode* const train = recipe.Find("train");
  ConfigNode* const distributed = train == nullptr ? nullptr : train->Find("distributed");
  ConfigNode* const key = distributed == nullptr ? nullptr : distributed->Find("batch");
  if (key == nullptr || key->kind != ConfigNode::Kind::kScalar || key->scalar != "per_rank")
    return OkStatus();
  ConfigNode* const data = recipe.Find("data");
  ConfigNode* const stages = data == nullptr ? nullptr : data->Find("train");
  if (stages == nullptr) return OkStatus();
  const std::vector<ConfigNode*> sizes = SizesOf(*stages);
  if (sizes.size() != 1) {
    return InvalidArgument(
        "{}: per_rank multiplies the size of the one stage `batch` or `padded_batch` of "
        "data.train, which has {} of them; write the batch of all processes there, and global here",
        key->location.ToString(), sizes.size());
  }
  int64_t size = 0, product = 0;
  if (sizes.front() == nullptr || !ReadOption(*sizes.front(), size).ok()) return OkStatus();
  if (__builtin_mul_overflow(size, ranks, &product)) {
    return InvalidArgument("{}: {} rows for each of {} processes are too many",
                           sizes.front()->location.ToString(), size, ranks);
  }
  sizes.front()->scalar = std::to_string(product);
  key->scalar = "global";
  return OkStatus();
}

}  // namespace stoker
