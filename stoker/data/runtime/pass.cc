#include <algorithm>

#include "stoker/base/worker_group.h"
#include "stoker/data/runtime.h"
#include "stoker/data/runtime/chunk_source.h"
#include "stoker/data/runtime/indexed_iterator.h"
#include "stoker/data/runtime/read_ahead.h"

namespace stoker {
namespace {

// Idle blocks that all pools together may keep: a quarter of the budget.
constexpr int64_t kIdleShare = 4;

int64_t CountStages(const Dataset& dataset) {
  int64_t stages = 1;
  for (const Dataset& input : dataset.node().inputs()) stages += CountStages(input);
  return stages;
}

// Of the innermost ScopedStageTime on this thread: its stage, and the time of the scopes in it.
thread_local StageStats* current_stage = nullptr;
thread_local int64_t nested_ns = 0;

}  // namespace

StageResources::StageResources(std::shared_ptr<MemoryAccount> stage_account,
                               const std::string& name, int64_t max_idle_bytes)
    : account(std::move(stage_account)), stats(name), pool(account, max_idle_bytes) {}

Result<std::shared_ptr<Pass>> Pass::Create(const Dataset& dataset, const Runtime& runtime,
                                           const PassOptions& options) {
  if (runtime.threads < 0)
    return InvalidArgument("threads is {}; it must be 0 (automatic) or more", runtime.threads);
  if (runtime.memory_budget < 0) {
    return InvalidArgument("memory_budget is {}; it must be 0 (automatic) or more bytes",
                           runtime.memory_budget);
  }
  std::shared_ptr<Pass> pass(new Pass());
  pass->runtime_ = runtime;
  if (runtime.threads == 0) pass->runtime_.threads = AvailableCpus();
  if (runtime.kind == Runtime::Kind::kInline) pass->runtime_.threads = 1;
  pass->seed_ = options.seed;
  pass->ledger_ =
      runtime.memory_budget == 0 ? Ledger::Default() : Ledger::Create(runtime.memory_budget);
  pass->runtime_.memory_budget = pass->ledger_->budget_bytes();
  pass->memory_ = pass->ledger_->OpenAccount("pass");
  pass->dataset_ = dataset;
  pass->AddStages(dataset, pass->runtime_.memory_budget / kIdleShare / CountStages(dataset));
  return pass;
}

void Pass::AddStages(const Dataset& dataset, int64_t max_idle_bytes) {
  for (const Dataset& input : dataset.node().inputs()) AddStages(input, max_idle_bytes);
  const DatasetNode& node = dataset.node();
  auto [entry, is_new] = stages_.try_emplace(&node);
  if (!is_new) return;
  entry->second = std::make_unique<StageResources>(ledger_->OpenAccount(node.name(), memory_),
                                                   node.name(), max_idle_bytes);
  order_.push_back(&node);
}

void Pass::TrimPools() const {
  for (const auto& [node, resources] : stages_) resources->pool.Trim();
}

Profile Pass::GetProfile() const {
  Profile profile;
  profile.wall_s = since_open_.ElapsedSeconds();
  profile.threads = runtime_.threads;
  profile.consumer_waited_s = static_cast<double>(consumer_waited_ns_) * 1e-9;
  profile.peak_memory_bytes = memory_->peak_bytes();
  for (const DatasetNode* node : order_) {
    profile.stages.push_back(StageProfile::Of(stage(*node).stats));
    profile.stages.back().peak_memory_bytes = stage(*node).account->peak_bytes();
  }
  return profile;
}

Result<std::unique_ptr<Iterator>> OpenContext::OpenInput(const Dataset& input) const {
  const DatasetNode& node = input.node();
  if (pass_->runtime().kind == Runtime::Kind::kInline) {
    if (node.random_access()) return std::make_unique<IndexedIterator>(*this, node);
    return node.OpenStream(*this);
  }
  if (node.random_access() || node.element_wise() != nullptr || node.read_ahead() != 0) {
    return OpenReadAhead(node);
  }
  return node.OpenStream(*this);
}

Result<std::unique_ptr<Iterator>> OpenContext::OpenReadAhead(const DatasetNode& node) const {
  const auto inside = std::make_shared<StopFlag>(stop_);
  const OpenContext inner(pass_, epoch_, inside);
  std::unique_ptr<ChunkSource> source;
  int threads = pass_->runtime().threads;
  if (node.random_access()) {
    source = std::make_unique<PositionSource>(inner, node);
  } else {
    STOKER_ASSIGN_OR_RETURN(source, StreamSource::Open(inner, node));
    if (node.element_wise() == nullptr) threads = 1;  // nothing to do but to pull
  }
  return std::make_unique<ReadAhead>(*this, node, std::move(source), inside, threads);
}

ScopedStageTime::ScopedStageTime(StageStats& stats, Kind kind)
    : stats_(stats),
      kind_(kind),
      outer_stage_(std::exchange(current_stage, &stats)),
      outer_nested_ns_(std::exchange(nested_ns, 0)),
      start_ns_(NowNs()) {}

ScopedStageTime::~ScopedStageTime() {
  const int64_t elapsed = NowNs() - start_ns_;
  const int64_t own = std::max<int64_t>(0, elapsed - nested_ns);
  switch (kind_) {
    case Kind::kBusy: stats_.AddBusy(own); break;
    case Kind::kStarved: stats_.AddStarved(own); break;
    case Kind::kBlocked: stats_.AddBlocked(own); break;
  }
  nested_ns = outer_nested_ns_ + elapsed;
  current_stage = outer_stage_;
}

ScopedInputWait::~ScopedInputWait() {
  const int64_t elapsed = NowNs() - start_ns_;
  nested_ns += elapsed;
  if (current_stage != nullptr) {
    current_stage->AddStarved(elapsed);
  } else {
    pass_.AddConsumerWait(elapsed);
  }
}

}  // namespace stoker
