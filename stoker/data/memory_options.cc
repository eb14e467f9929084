#include "stoker/data/memory_options.h"

#include "stoker/base/byte_size.h"
#include "stoker/base/default_budget.h"
#include "stoker/base/ledger.h"
#include "stoker/base/log.h"
#include "stoker/base/short_text.h"

namespace stoker {

void MemoryOptions::Describe(OptionTable<MemoryOptions>& table) {
  table.Field("limit", &MemoryOptions::limit,
              "for all buffers of the input pipelines together, what they keep from epoch to epoch "
              "included, such as 2GiB; auto: a quarter of the container's memory");
}

Result<int64_t> MemoryOf(const ConfigNode& train) {
  MemoryOptions options;
  const ConfigNode* const node = train.Find(MemoryOptions::kName);
  if (node == nullptr) return 0;
  STOKER_RETURN_IF_ERROR(ParseOptionsOf(*node, options));
  if (options.limit == "auto") return 0;
  const Result<int64_t> bytes = ParseByteSize(options.limit);
  if (bytes.ok() && *bytes > 0) return *bytes;
  return InvalidArgument("{}: train.memory: '{}' is no size, such as 2GiB or 500MB, nor auto",
                         node->location.ToString(), ShortText(options.limit));
}

Result<int64_t> TrainMemoryOf(const ConfigNode& recipe) {
  const ConfigNode* const train = recipe.Find("train");
  return train == nullptr ? 0 : MemoryOf(*train);
}

Status WishForMemoryOf(const ConfigNode& recipe) {
  AddWayToRaiseTheBudget("train.memory in the recipe");
  STOKER_ASSIGN_OR_RETURN(const int64_t bytes, TrainMemoryOf(recipe));
  if (bytes > 0 && !WishForDefaultBudget(bytes)) {
    LogWarning("train.memory is {}, but the process keeps a budget of {} bytes already", bytes,
               Ledger::Default()->budget_bytes());
  }
  return OkStatus();
}

}  // namespace stoker
