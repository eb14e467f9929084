// Runtime: how a pass is executed. It never changes which bytes come out.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/clock.h"
#include "stoker/base/ledger.h"
#include "stoker/base/mutex.h"
#include "stoker/base/profile.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/explanation.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/loss_log.h"
#include "stoker/data/core/shared_permutations.h"
#include "stoker/data/core/transform.h"

namespace stoker {

class Deal;
struct LostElement;

struct Runtime {
  // kInline: the calling thread does everything, one element at a time; the reference in tests of
  // the other. kThreaded: worker threads read ahead, many small elements at a time.
  enum class Kind { kInline, kThreaded };

  Kind kind = Kind::kThreaded;
  // Workers of each stage that has some (of the whole pipeline if it is read by position); the
  // inputs of zip, mix and choose, which work at the same time, divide them. 0: as many as are
  // useful, at first as many as CPUs: runtime/tuner.h.
  int threads = 0;
  // Elements that are passed between threads at once, if memory allows. 0: as many as are useful.
  int64_t chunk = 0;
  // The memory budget of this pass in bytes (base/ledger.h says what is counted). 0:
  // DefaultMemoryBudget(), shared by all passes of the process with 0.
  int64_t memory_budget = 0;
  // Once it is true, the pass ends with kCancelled, at the latest after the current element, also
  // while it skips or re-reads elements. May be null; must outlive the pass.
  const std::atomic<bool>* stop = nullptr;
  // False: elements and times of stages stay 0, which is for measuring what counting costs.
  bool count_stages = true;

  static Runtime Inline() { return {.kind = Kind::kInline}; }
  static Runtime Threaded(int threads = 0) { return {.kind = Kind::kThreaded, .threads = threads}; }
};

// Tells a part of a pass to end early: its iterator, or an enclosing one, is being destroyed, or
// Runtime::stop is true. Thread-safe.
class StopFlag {
 public:
  explicit StopFlag(const std::atomic<bool>* outside) : outside_(outside) {}
  explicit StopFlag(std::shared_ptr<const StopFlag> around) : around_(std::move(around)) {}

  void Raise() { raised_ = true; }
  bool raised() const {
    return raised_ || (outside_ != nullptr && *outside_) || (around_ && around_->raised());
  }

 private:
  std::atomic<bool> raised_{false};
  const std::atomic<bool>* const outside_ = nullptr;
  const std::shared_ptr<const StopFlag> around_;
};

struct StageResources;

// The stages of the pipelines that one stage opens while the pass runs (interleave's files). There
// may be thousands, so those of the same place and name share one entry, with common counters and
// recycled buffers. Thread-safe.
class InnerStages {
 public:
  // Returns the entry of stage number `place` of such a pipeline; `make` makes it if there is none
  // yet.
  std::shared_ptr<StageResources> Get(uint64_t place, const std::string& name,
                                      const std::function<std::shared_ptr<StageResources>()>& make);
  // Source first.
  std::vector<std::shared_ptr<StageResources>> All() const;

 private:
  mutable Mutex mutex_;
  std::map<std::pair<uint64_t, std::string>, std::shared_ptr<StageResources>> stages_
      STOKER_GUARDED_BY(mutex_);
};

// The resources and counters of one stage of a pass.
struct StageResources {
  StageResources(uint64_t stage_number, std::shared_ptr<MemoryAccount> stage_account,
                 const std::string& name, int64_t max_idle_bytes, bool counts);
  const uint64_t
      number;  // in its pass, source first from 0; part of the key of the stage's random draws
  const std::shared_ptr<MemoryAccount> account;
  StageStats stats;
  BufferPool pool;
  InnerStages inner;
  const SharedPermutations permutations;
};

// Shared by the iterators of one opened pipeline: the settings, the ledger, and every stage's
// resources. Thread-safe.
class Pass {
 public:
  static Result<std::shared_ptr<Pass>> Create(const Dataset& dataset, const Runtime& runtime,
                                              const PassOptions& options);

  // Returns the pass over `dataset`, which `owner`, a stage of this pass, opens as its input number
  // `number`. It has this pass's ledger and settings, but `threads` threads (0: automatic), a seed
  // made from (seed, owner, number), and its stages in the owner's InnerStages.
  std::shared_ptr<Pass> OpenChild(const DatasetNode& owner, const Dataset& dataset, int64_t number,
                                  int threads) const;

  const Runtime& runtime() const { return runtime_; }  // with the memory budget filled in
  uint64_t seed() const { return seed_; }
  Ledger& ledger() const { return *ledger_; }
  void AddConsumerWait(int64_t ns) { consumer_waited_ns_ += ns; }
  StageResources& stage(const DatasetNode& node) const { return *stages_.at(&node); }

  // ReadAhead reports here: its number of worker threads, and each choice made for it with its
  // reason.
  void CountThreads(int threads) const;
  DecisionLog& decisions() const { return told_->decisions; }
  LossLogs& loss_logs() const { return *loss_logs_; }
  // DrawsOrder of the dataset; not set for a child.
  bool draws_order() const { return draws_order_; }

  // Frees the idle memory of all stages and of those inside them.
  void TrimPools() const;

  Profile GetProfile() const;

 private:
  Pass() = default;
  // Makes the resources of every node, inputs first; a node that is an input twice gets them once.
  using MakeStage =
      std::function<std::shared_ptr<StageResources>(uint64_t number, const std::string& name)>;
  void AddStages(const Dataset& dataset, const MakeStage& make);
  std::shared_ptr<StageResources> NewStage(uint64_t number, const std::string& name,
                                           int64_t max_idle_bytes) const;

  Runtime runtime_;
  uint64_t seed_ = 0;
  int64_t rank_ = 0;
  std::shared_ptr<Ledger> ledger_;
  std::shared_ptr<MemoryAccount> memory_;  // of all stages
  std::atomic<int64_t> consumer_waited_ns_{0};
  struct Told {
    std::atomic<int> most_threads{0};
    DecisionLog decisions;
  };
  std::shared_ptr<Told> told_ = std::make_shared<Told>();  // shared with inner passes
  std::shared_ptr<LossLogs> loss_logs_;                    // likewise
  std::unordered_map<const DatasetNode*, std::shared_ptr<StageResources>> stages_;
  std::vector<const DatasetNode*> order_;  // source first
  std::optional<Dataset> dataset_;         // keeps the nodes alive
  Stopwatch since_open_;
  bool draws_order_ = false;
};

// What a node needs to open an iterator in order.
class OpenContext {
 public:
  // `any_order`: the caller accepts the elements in any order (if a stage allows it:
  // DatasetNode::any_order), and never reads some again.
  OpenContext(std::shared_ptr<Pass> pass, uint64_t epoch, std::shared_ptr<const StopFlag> stop,
              bool any_order = false)
      : pass_(std::move(pass)), epoch_(epoch), stop_(std::move(stop)), any_order_(any_order) {}

  const std::shared_ptr<Pass>& pass() const { return pass_; }
  uint64_t epoch() const { return epoch_; }
  const std::shared_ptr<const StopFlag>& stop() const { return stop_; }
  bool any_order() const { return any_order_; }
  OpenContext WithEpoch(uint64_t epoch) const {
    OpenContext other = *this;
    other.epoch_ = epoch;
    return other;
  }

  // For a stage with several inputs, whose iterator raises `stop` before it destroys them, so that
  // all end at once.
  OpenContext WithStop(std::shared_ptr<const StopFlag> stop) const {
    OpenContext other = *this;
    other.stop_ = std::move(stop);
    return other;
  }

  // For one of several ranks: deals out its share at the stage of `deal`.
  OpenContext WithDeal(std::shared_ptr<Deal> deal) const {
    OpenContext other = *this;
    other.deal_ = std::move(deal);
    return other;
  }
  // For one of `inputs` pipelines that work at the same time: each has its part of the threads that
  // the user has set, at least one. Automatic numbers do not need it.
  OpenContext ForOneOf(size_t inputs) const {
    OpenContext other = *this;
    other.sharing_ = sharing_ * std::max(1, static_cast<int>(inputs));
    return other;
  }

  // For one of several ranks that read by position, so none reads every element.
  OpenContext ForAShare() const {
    OpenContext other = *this;
    other.share_ = true;
    return other;
  }
  bool reads_a_share() const { return share_; }

  // Returns the number in the whole pass of the element that `node` makes as its number `local`;
  // these differ if only a rank's share is made (DatasetNode::grouping).
  int64_t NumberInPass(const DatasetNode& node, int64_t local) const;

  // Opens an input by position, in order or with its own threads, as the runtime chooses. Its
  // elements come in order.
  Result<std::unique_ptr<Iterator>> OpenInput(const Dataset& input) const {
    return Open(input, /*tolerant=*/false, /*any_order=*/false);
  }
  // The same for a node whose elements may come in any order if its input's do. All of them must
  // reach its output, and its state must be the input's own: nothing is read again.
  Result<std::unique_ptr<Iterator>> OpenInputInAnyOrder(const Dataset& input) const {
    return Open(input, /*tolerant=*/false, any_order_);
  }
  // The same for a pipeline that is read in its own pass inside this one: `owner` makes it while
  // the pass runs, or learns from it beforehand (Pass::OpenChild).
  Result<std::unique_ptr<Iterator>> OpenChild(const DatasetNode& owner, const Dataset& dataset,
                                              int64_t number, int threads) const;

  // Returns whether the iterator being opened returns failed elements (Element::failure) in place
  // of those that cannot be made, and continues. Otherwise it ends with the error; Iterator::Next
  // ends one that continues anyway.
  bool tolerant() const { return tolerant_; }
  // For a stage that handles failed elements.
  Result<std::unique_ptr<Iterator>> OpenInputTolerantly(const Dataset& input) const {
    return Open(input, /*tolerant=*/true, /*any_order=*/false);
  }
  // For a stage that passes failed elements on: tolerant if the stage itself is.
  Result<std::unique_ptr<Iterator>> OpenInputAlike(const Dataset& input,
                                                   bool any_order = false) const {
    return Open(input, tolerant_, any_order);
  }

 private:
  Result<std::unique_ptr<Iterator>> Open(const Dataset& input, bool tolerant, bool any_order) const;
  Result<std::unique_ptr<Iterator>> OpenReadAhead(const DatasetNode& node) const;

  std::shared_ptr<Pass> pass_;
  uint64_t epoch_;
  std::shared_ptr<const StopFlag> stop_;
  bool tolerant_ = false;
  bool any_order_;
  bool share_ = false;
  int sharing_ = 1;             // the number of pipelines that divide the threads
  std::shared_ptr<Deal> deal_;  // null if all elements are dealt to this pass
};

// What a node needs to read by position. A small value, copied freely.
class ReadContext {
 public:
  // vectorized  read many samples at a time (ReadRows) instead of one by one; the bytes are the
  //             same
  // stop        reading ends with kCancelled once it is raised; may be null, must outlive the read
  ReadContext(const Pass& pass, uint64_t epoch, bool vectorized, const StopFlag* stop = nullptr)
      : pass_(&pass), epoch_(epoch), vectorized_(vectorized), stop_(stop) {}

  const Pass& pass() const { return *pass_; }
  uint64_t seed() const { return pass_->seed(); }
  uint64_t epoch() const { return epoch_; }
  bool vectorized() const { return vectorized_; }
  bool stopped() const { return stop_ != nullptr && stop_->raised(); }
  ReadContext WithEpoch(uint64_t epoch) const {
    ReadContext other = *this;
    other.epoch_ = epoch;
    return other;
  }

  // Returns true for a read of many elements that is repeated one by one after a failure: its
  // errors are not counted, and failed elements are not replaced.
  bool trial() const { return trial_; }
  ReadContext AsTrial() const {
    ReadContext other = *this;
    other.trial_ = true;
    return other;
  }

  // Returns the list to which a stage adds the failed elements that it replaces; null if they are
  // not counted. Owned by the reader.
  std::vector<LostElement>* lost() const { return lost_; }
  ReadContext WithLost(std::vector<LostElement>* lost) const {
    ReadContext other = *this;
    other.lost_ = lost;
    return other;
  }

  StageStats& stats(const DatasetNode& node) const { return pass_->stage(node).stats; }
  Scratch scratch(const DatasetNode& node) const { return Scratch(pass_->stage(node).pool, stop_); }
  uint64_t stage_number(const DatasetNode& node) const { return pass_->stage(node).number; }
  const SharedPermutations& permutations(const DatasetNode& node) const {
    return pass_->stage(node).permutations;
  }
  RngFactory rngs(const DatasetNode& node) const { return {seed(), stage_number(node)}; }

 private:
  const Pass* pass_;
  uint64_t epoch_;
  bool vectorized_;
  const StopFlag* stop_;
  bool trial_ = false;
  std::vector<LostElement>* lost_ = nullptr;
};

}  // namespace stoker
