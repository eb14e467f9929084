#include "stoker/data/recipe/memory_options.h"

#include "stoker/base/byte_size.h"
#include "stoker/base/default_budget.h"
#include "stoker/base/ledger.h"
#include "stoker/base/log.h"
#include "stoker/base/problems.h"
#include "stoker/base/short_text.h"

namespace stoker {

void MemoryOptions::Describe(OptionTable<MemoryOptions>& table) {
  table.Field("limit", &MemoryOptions::limit,
              "for all buffers of the input pipelines together, what they keep from epoch to epoch "
              "included, such as 2GiB; auto: a quarter of the container's memory");
}

Result<int64_t> MemoryOptions::Bytes() const {
  if (limit == "auto") return 0;
  const Result<int64_t> bytes = ParseByteSize(limit);
  if (bytes.ok() && *bytes > 0) return *bytes;
  return InvalidArgument("train.memory: '{}' is no size, such as 2GiB or 500MB, nor auto",
                         ShortText(limit));
}

Result<MemoryOptions> MemoryOf(const ConfigNode& train) {
  MemoryOptions memory;
  const ConfigNode* const node = train.Find(MemoryOptions::kName);
  if (node == nullptr) return memory;
  STOKER_RETURN_IF_ERROR(ParseOptionsOf(*node, memory));
  const Status size = memory.Bytes().status();
  if (size.ok()) return memory;
  return WithPrefix(node->location.ToString() + ": ", size);
}

Status WishFor(const MemoryOptions& memory) {
  AddWayToRaiseTheBudget("train.memory in the recipe");
  STOKER_ASSIGN_OR_RETURN(const int64_t bytes, memory.Bytes());
  if (bytes > 0 && !WishForDefaultBudget(bytes)) {
    LogWarning("train.memory is {}, but the process keeps a budget of {} bytes already", bytes,
               Ledger::Default()->budget_bytes());
  }
  return OkStatus();
}

Status WishForMemoryOf(const ConfigNode& recipe) {
  const ConfigNode* const train = recipe.Find("train");
  if (train == nullptr) return WishFor({});
  STOKER_ASSIGN_OR_RETURN(const MemoryOptions memory, MemoryOf(*train));
  return WishFor(memory);
}

}  // namespace stoker
