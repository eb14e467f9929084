#include "stoker/data/runtime/failure_tally.h"

#include <algorithm>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/saved_unsigned.h"

namespace stoker {
namespace {

// The epochs that one pass may be in at the same time, where rounds of a `repeat` are shuffled
// together; more make the saved state large.
constexpr int64_t kEpochs = 16;

constexpr const char* kKey = "failed";

}  // namespace

FailureTally::~FailureTally() {
  if (exceeded_) return;
  for (const auto& [key, entry] : counts_) {
    if (entry.policy != nullptr) entry.policy->Summarize(entry.count, key.second, logged_);
  }
}

Status FailureTally::Add(std::span<const LostElement> lost) {
  std::map<Key, Entry> counts = counts_;
  for (const LostElement& element : lost) {
    Entry& entry = counts[{pass_.stage(*element.stage).number, element.epoch}];
    entry.policy = element.policy;
    const Status recorded =
        element.policy->Record(element.failed, pass_, pass_.stage(*element.stage), entry.count);
    exceeded_ = !recorded.ok();
    STOKER_RETURN_IF_ERROR(recorded);
  }
  counts_ = std::move(counts);
  for (const LostElement& element : lost) {
    StageResources& stage = pass_.stage(*element.stage);
    stage.stats.AddReplaced(1);
    DropOldEpochs(stage.number);
  }
  return OkStatus();
}

void FailureTally::DropOldEpochs(uint64_t stage) {
  const auto begin = counts_.lower_bound({stage, 0});
  const auto end = counts_.lower_bound({stage + 1, 0});
  if (std::distance(begin, end) <= kEpochs) return;
  if (begin->second.policy != nullptr)
    begin->second.policy->Summarize(begin->second.count, begin->first.second, logged_);
  counts_.erase(begin);
}

void FailureTally::SaveTo(Json& state) const {
  for (const auto& [key, entry] : counts_) {
    Json saved = entry.count.ToJson();
    saved["stage"] = key.first;
    saved["epoch"] = key.second;
    state[kKey].push_back(std::move(saved));
  }
}

Status FailureTally::RestoreFrom(const Json& state) {
  counts_.clear();
  const auto saved = state.find(kKey);
  if (saved == state.end()) return OkStatus();
  if (!saved->is_array()) {
    return DataLoss("the saved pipeline position has a '{}' that is no list; it is damaged", kKey);
  }
  for (const Json& entry : *saved) {
    STOKER_ASSIGN_OR_RETURN(const int64_t stage, SavedInteger(entry, "stage"));
    STOKER_ASSIGN_OR_RETURN(const uint64_t epoch, SavedUnsigned(entry, "epoch"));
    STOKER_ASSIGN_OR_RETURN(FailureCount count, FailureCount::FromJson(entry));
    counts_[{static_cast<uint64_t>(stage), epoch}].count = std::move(count);
  }
  return OkStatus();
}

}  // namespace stoker
