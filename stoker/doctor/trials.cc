// Which trials are worth their time.
#include <algorithm>

#include "stoker/doctor/diagnose.h"
#include "stoker/doctor/finding_internal.h"

namespace stoker {
namespace {

// A batch of more samples is not called small, and none is made larger than the last.
constexpr int64_t kBatchWorthRaising = 8, kUsualBatch = 64;

bool InputMatters(const RunProfile& profile) {
  if (!profile.training) return !profile.facts.has_model;
  const PlannedTimes times = PlannedTimesOf(*profile.training);
  return times.wait >= kLeastLoss / 2 * times.total();
}

bool CacheFits(const RunProfile& profile) {
  const int64_t budget = profile.machine.memory_budget;
  return profile.facts.cache_after && (budget <= 0 || profile.facts.cache_bytes <= budget / 2);
}

void AddOfInput(const RunProfile& profile, std::vector<TrialPlan>& plans) {
  const RecipeFacts& facts = profile.facts;
  const auto add = [&](RecipeChange change) {
    plans.push_back({.change = std::move(change), .part = TrialPart::kInput});
  };
  if (facts.feed_threads) add(RecipeChange::Set("train.feed_threads", "auto"));
  if (facts.memory_set) add(RecipeChange::Set("train.memory", "auto"));
  const int last = static_cast<int>(facts.stages.size()) - 1;
  if (!facts.stages.empty() && !facts.ends_with_prefetch)
    add(RecipeChange::Insert("data.train", last, "prefetch"));
  // Without a model nothing says how often the data will be read.
  if (facts.has_model && CacheFits(profile))
    add(RecipeChange::Insert("data.train", static_cast<int>(*facts.cache_after), "cache",
                             static_cast<int>(facts.cache_move)));
}

void AddOfStep(const RunProfile& profile, std::vector<TrialPlan>& plans) {
  const RecipeFacts& facts = profile.facts;
  const auto add = [&](RecipeChange change) {
    plans.push_back({.change = std::move(change), .part = TrialPart::kStep});
  };
  if (!profile.machine.accelerator && facts.threads && *facts.threads != profile.machine.cpus)
    add(RecipeChange::Set("train.threads", "auto"));
  if (facts.detect_anomaly) add(RecipeChange::Set("train.detect_anomaly", "false"));
  if (facts.batch > 0 && facts.batch <= kBatchWorthRaising && !facts.batch_key.empty())
    add(RecipeChange::Set(facts.batch_key, std::to_string(std::min(kUsualBatch, 8 * facts.batch))));
}

}  // namespace

std::vector<TrialPlan> TrialsFor(const RunProfile& profile) {
  std::vector<TrialPlan> plans;
  if (profile.input && InputMatters(profile)) AddOfInput(profile, plans);
  if (profile.step && profile.training) AddOfStep(profile, plans);
  return plans;
}

}  // namespace stoker
