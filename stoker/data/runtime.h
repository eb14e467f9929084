// Runtime: how a pass is executed. It never changes which bytes come out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/clock.h"
#include "stoker/base/ledger.h"
#include "stoker/base/profile.h"
#include "stoker/data/dataset.h"
#include "stoker/data/iterator.h"
#include "stoker/data/transform.h"

namespace stoker {

struct Runtime {
  // kInline: the calling thread does everything, one element at a time, without cleverness: the
  // oracle that the other is tested against. kThreaded: worker threads read ahead, many small
  // elements at a time.
  enum class Kind { kInline, kThreaded };

  Kind kind = Kind::kThreaded;
  int threads = 0;            // workers; 0: as many as CPUs
  int64_t memory_budget = 0;  // bytes that may be in flight; 0: DefaultMemoryBudget()

  static Runtime Inline() { return {.kind = Kind::kInline}; }
  static Runtime Threaded(int threads = 0) { return {.kind = Kind::kThreaded, .threads = threads}; }
};

// What one stage of a pass uses and counts.
struct StageResources {
  StageResources(const std::shared_ptr<Ledger>& ledger, const std::string& name,
                 int64_t max_idle_bytes);
  StageStats stats;
  BufferPool pool;
};

// What the iterators of one opened pipeline share: the settings, the ledger, and every stage's
// resources. Thread-safe.
class Pass {
 public:
  static Result<std::shared_ptr<Pass>> Create(const Dataset& dataset, const Runtime& runtime,
                                              const PassOptions& options);

  const Runtime& runtime() const { return runtime_; }  // with its zeros filled in
  uint64_t seed() const { return seed_; }
  Ledger& ledger() const { return *ledger_; }
  StageResources& stage(const DatasetNode& node) const { return *stages_.at(&node); }

  // Frees the idle memory of all stages.
  void TrimPools() const;

  Profile GetProfile() const;

 private:
  Pass() = default;
  void AddStages(const Dataset& dataset, int64_t max_idle_bytes);

  Runtime runtime_;
  uint64_t seed_ = 0;
  std::shared_ptr<Ledger> ledger_;
  std::unordered_map<const DatasetNode*, std::unique_ptr<StageResources>> stages_;
  std::vector<const DatasetNode*> order_;  // source first
  std::optional<Dataset> dataset_;         // keeps the nodes alive
  Stopwatch since_open_;
};

// What a node needs to open its stream side.
class OpenContext {
 public:
  OpenContext(std::shared_ptr<Pass> pass, uint64_t epoch) : pass_(std::move(pass)), epoch_(epoch) {}

  const std::shared_ptr<Pass>& pass() const { return pass_; }
  uint64_t epoch() const { return epoch_; }
  OpenContext WithEpoch(uint64_t epoch) const { return {pass_, epoch}; }

  // Opens an input the way the runtime sees fit: by position, in order, on threads of its own.
  Result<std::unique_ptr<Iterator>> OpenInput(const Dataset& input) const;

 private:
  std::shared_ptr<Pass> pass_;
  uint64_t epoch_;
};

// What a node needs to read by position. A small value, copied freely.
class ReadContext {
 public:
  // `vectorized`: many samples at a time (ReadRows) instead of one by one; the bytes are the same.
  ReadContext(const Pass& pass, uint64_t epoch, bool vectorized)
      : pass_(&pass), epoch_(epoch), vectorized_(vectorized) {}

  uint64_t seed() const { return pass_->seed(); }
  uint64_t epoch() const { return epoch_; }
  bool vectorized() const { return vectorized_; }
  ReadContext WithEpoch(uint64_t epoch) const { return {*pass_, epoch, vectorized_}; }

  StageStats& stats(const DatasetNode& node) const { return pass_->stage(node).stats; }
  Scratch scratch(const DatasetNode& node) const { return Scratch(pass_->stage(node).pool); }
  RngFactory rngs(const DatasetNode& node) const { return {seed(), node.stage()}; }

 private:
  const Pass* pass_;
  uint64_t epoch_;
  bool vectorized_;
};

// Charges the time of its scope to a stage, less the time of the scopes nested in it on the same
// thread.
class ScopedStageTime {
 public:
  enum class Kind { kBusy, kStarved, kBlocked };
  explicit ScopedStageTime(StageStats& stats, Kind kind = Kind::kBusy);
  ~ScopedStageTime();
  ScopedStageTime(const ScopedStageTime&) = delete;
  ScopedStageTime& operator=(const ScopedStageTime&) = delete;

 private:
  StageStats& stats_;
  const Kind kind_;
  const int64_t outer_nested_ns_;
  const int64_t start_ns_;
};

}  // namespace stoker
