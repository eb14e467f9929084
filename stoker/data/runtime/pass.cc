#include <algorithm>

#include "stoker/base/host_name.h"
#include "stoker/base/mutex.h"
#include "stoker/base/random.h"
#include "stoker/base/worker_group.h"
#include "stoker/data/core/drawn_order.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/runtime/chunk_source.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/data/runtime/deal.h"
#include "stoker/data/runtime/hop.h"
#include "stoker/data/runtime/how_it_runs.h"
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

// The same for each pass over such a pipeline with this seed; of another one hardly ever.
std::string NameOfPass(const Dataset& dataset, uint64_t seed) {
  uint64_t name = Mix64(seed);
  for (const char c : dataset.ToString()) name = Mix64(name ^ static_cast<unsigned char>(c));
  return fmt::format("{:016x}", name);
}

// Each seed, stage and number gives another seed, far from those of its neighbours.
uint64_t ChildSeed(uint64_t seed, uint64_t stage, int64_t number) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  const uint64_t mixed = Mix64(Mix64(seed + kGolden) + stage + kGolden);
  return Mix64(mixed + static_cast<uint64_t>(number) + kGolden);
}

// The stages inside come before the stage that opens them.
void AppendProfiles(const StageResources& stage, std::vector<StageProfile>& profiles) {
  for (const std::shared_ptr<StageResources>& inner : stage.inner.All())
    AppendProfiles(*inner, profiles);
  profiles.push_back(StageProfile::Of(stage.stats));
  profiles.back().peak_memory_bytes = stage.account->peak_bytes();
}

void TrimPool(StageResources& stage) {
  for (const std::shared_ptr<StageResources>& inner : stage.inner.All()) TrimPool(*inner);
  stage.pool.Trim();
}

}  // namespace

std::shared_ptr<StageResources> InnerStages::Get(
    uint64_t place, const std::string& name,
    const std::function<std::shared_ptr<StageResources>()>& make) {
  const MutexLock lock(mutex_);
  std::shared_ptr<StageResources>& entry = stages_[{place, name}];
  if (!entry) entry = make();
  return entry;
}

std::vector<std::shared_ptr<StageResources>> InnerStages::All() const {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<StageResources>> all;
  for (const auto& [place, stage] : stages_) all.push_back(stage);
  return all;
}

StageResources::StageResources(uint64_t stage_number, std::shared_ptr<MemoryAccount> stage_account,
                               const std::string& name, int64_t max_idle_bytes, bool counts)
    : number(stage_number),
      account(std::move(stage_account)),
      stats(name, counts),
      pool(account, max_idle_bytes),
      permutations(account) {}

Result<std::shared_ptr<Pass>> Pass::Create(const Dataset& dataset, const Runtime& runtime,
                                           const PassOptions& options) {
  if (runtime.threads < 0)
    return InvalidArgument("threads is {}; it must be 0 (automatic) or more", runtime.threads);
  if (runtime.chunk < 0)
    return InvalidArgument("chunk is {}; it must be 0 (automatic) or more", runtime.chunk);
  if (runtime.memory_budget < 0) {
    return InvalidArgument("memory_budget is {}; it must be 0 (automatic) or more bytes",
                           runtime.memory_budget);
  }
  std::shared_ptr<Pass> pass(new Pass());
  pass->runtime_ = runtime;
  if (runtime.kind == Runtime::Kind::kInline) pass->runtime_.threads = 1;
  pass->told_->most_threads = std::max(1, pass->runtime_.threads);
  pass->seed_ = options.seed;
  pass->rank_ = options.rank;
  pass->ledger_ =
      runtime.memory_budget == 0 ? Ledger::Default() : Ledger::Create(runtime.memory_budget);
  pass->runtime_.memory_budget = pass->ledger_->budget_bytes();
  pass->memory_ = pass->ledger_->OpenAccount("pass");
  pass->loss_logs_ = std::make_shared<LossLogs>(NameOfPass(dataset, options.seed), options.losses);
  pass->dataset_ = dataset;
  pass->draws_order_ = DrawsOrder(dataset);
  const int64_t max_idle = pass->runtime_.memory_budget / kIdleShare / CountStages(dataset);
  pass->AddStages(dataset, [&](uint64_t number, const std::string& name) {
    return pass->NewStage(number, name, max_idle);
  });
  return pass;
}

std::shared_ptr<Pass> Pass::OpenChild(const DatasetNode& owner, const Dataset& dataset,
                                      int64_t number, int threads) const {
  std::shared_ptr<Pass> child(new Pass());
  StageResources& owning = stage(owner);
  child->runtime_ = runtime_;
  child->runtime_.threads = threads;
  child->rank_ = rank_;
  child->seed_ = ChildSeed(seed_, owning.number, number);
  child->ledger_ = ledger_;
  child->memory_ = memory_;
  child->told_ = told_;
  child->loss_logs_ = loss_logs_;
  child->dataset_ = dataset;
  const int64_t max_idle = runtime_.memory_budget / kIdleShare / CountStages(dataset);
  child->AddStages(dataset, [&](uint64_t place, const std::string& name) {
    return owning.inner.Get(place, name, [&] { return NewStage(place, name, max_idle); });
  });
  return child;
}

void Pass::AddStages(const Dataset& dataset, const MakeStage& make) {
  for (const Dataset& input : dataset.node().inputs()) AddStages(input, make);
  const DatasetNode& node = dataset.node();
  auto [entry, is_new] = stages_.try_emplace(&node);
  if (!is_new) return;
  entry->second = make(order_.size(), node.name());
  order_.push_back(&node);
}

std::shared_ptr<StageResources> Pass::NewStage(uint64_t number, const std::string& name,
                                               int64_t max_idle_bytes) const {
  return std::make_shared<StageResources>(number, ledger_->OpenAccount(name, memory_), name,
                                          max_idle_bytes, runtime_.count_stages);
}

void Pass::CountThreads(int threads) const {
  std::atomic<int>& most_threads = told_->most_threads;
  int most = most_threads;
  while (threads > most && !most_threads.compare_exchange_weak(most, threads)) {
  }
}

void Pass::TrimPools() const {
  for (const auto& [node, resources] : stages_) TrimPool(*resources);
}

Profile Pass::GetProfile() const {
  Profile profile;
  profile.host = HostName();
  profile.rank = rank_;
  profile.wall_s = since_open_.ElapsedSeconds();
  profile.threads = told_->most_threads;
  profile.consumer_waited_s = static_cast<double>(consumer_waited_ns_) * 1e-9;
  profile.peak_memory_bytes = memory_->peak_bytes();
  for (const DatasetNode* node : order_) AppendProfiles(stage(*node), profile.stages);
  return profile;
}

Result<std::unique_ptr<Iterator>> OpenContext::OpenChild(const DatasetNode& owner,
                                                         const Dataset& dataset, int64_t number,
                                                         int threads) const {
  const OpenContext inside(pass_->OpenChild(owner, dataset, number, threads), epoch_, stop_);
  STOKER_RETURN_IF_ERROR(dataset.Prepare(inside));
  return inside.OpenInput(dataset);
}

int64_t OpenContext::NumberInPass(const DatasetNode& node, int64_t local) const {
  return deal_ ? deal_->NumberInPass(node, local) : local;
}

Result<std::unique_ptr<Iterator>> OpenContext::Open(const Dataset& input, bool tolerant,
                                                    bool any_order) const {
  const DatasetNode& node = input.node();
  OpenContext context = *this;
  context.tolerant_ = tolerant;
  context.any_order_ = any_order;
  if (deal_ && &deal_->dealt() == &node) return OpenDealt(context.WithDeal(nullptr), deal_, input);
  if (pass_->runtime().kind == Runtime::Kind::kInline) {
    if (node.random_access()) return std::make_unique<IndexedIterator>(context, node);
    return node.OpenStream(context);
  }
  return WayOf(node) == Way::kInOrder ? node.OpenStream(context) : context.OpenReadAhead(node);
}

Result<std::unique_ptr<Iterator>> OpenContext::OpenReadAhead(const DatasetNode& node) const {
  const auto inside = std::make_shared<StopFlag>(stop_);
  OpenContext inner = *this;
  inner.stop_ = inside;
  TunerLimits limits = LimitsFor(pass_->runtime(), node);
  if (limits.threads > 0) limits.threads = std::max(1, limits.threads / sharing_);
  // CPUs of the whole machine are not divided: an input that is slower than those beside it may
  // need more of them than its part, and the others give threads back. A limit is kept by all
  // together.
  if (PipelineCpuLimit() > 0) limits.cpus = std::max(1, limits.cpus / sharing_);
  if (node.random_access()) {
    return std::make_unique<ReadAhead>(*this, node, std::make_unique<PositionSource>(inner, node),
                                       inside, limits, any_order_ && node.any_order());
  }
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<StreamSource> source, StreamSource::Open(inner, node));
  if (!source->maps()) {
    limits.threads = 1;
    limits.why_threads = "there is nothing to do but to pull";
  }
  const bool any_order = source->any_order();
  return std::make_unique<ReadAhead>(*this, node, std::move(source), inside, limits, any_order);
}

}  // namespace stoker
