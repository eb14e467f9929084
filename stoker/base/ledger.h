// The memory ledger: a hard budget for the buffers of input pipelines, accounted stage by stage.
//
// Two calls keep the budget:
//   * a stage charges every buffer that it makes to its account while the buffer lives, the time it
//     waits in a pool included;
//   * before a stage starts on an element ahead of demand it asks for admission (Admit) of all
//     buffers that the element will need, intermediate results included. Admission is refused if
//     that does not fit, except to the element that the consumer waits for: it always passes, so
//     nothing deadlocks and an element larger than the whole budget still passes.
// So at any moment: charged bytes <= budget + one element for each stage + what the consumer keeps.
//
// Not counted: what user code allocates by itself (new, std::vector) and frees before it returns;
// structures beside the values (shapes, queues). Arrays that user code allocates by itself and
// returns are counted while they wait in a queue. What a dataset keeps from pass to pass, such as
// the values of a loaded file, is charged too (data/core/kept_memory.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/base/status.h"

namespace stoker {

class Ledger;

// The memory of one stage. Thread-safe. Made by Ledger::OpenAccount; keeps its ledger alive.
class MemoryAccount {
 public:
  MemoryAccount(std::shared_ptr<Ledger> ledger, std::string stage,
                std::shared_ptr<MemoryAccount> whole);
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  const std::string& stage() const { return stage_; }

  // Add and return bytes; never wait and never fail.
  void Charge(int64_t bytes);
  void Release(int64_t bytes);

  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  int64_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }

  // Returns whether `bytes` more would be within the ledger's budget now: for what makes a stage
  // faster and can be left out.
  bool HasRoomFor(int64_t bytes) const;

 private:
  void Count(int64_t bytes);

  const std::shared_ptr<Ledger> ledger_;
  const std::string stage_;
  const std::shared_ptr<MemoryAccount> whole_;
  std::atomic<int64_t> bytes_{0};
  std::atomic<int64_t> peak_bytes_{0};
};

class Ledger : public std::enable_shared_from_this<Ledger> {
 public:
  // budget_bytes > 0.
  static std::shared_ptr<Ledger> Create(int64_t budget_bytes);
  // Returns the ledger of the process, with a budget of DefaultMemoryBudget(). All passes that set
  // no budget of their own share it. A child of fork() has one of its own, with nothing charged.
  static const std::shared_ptr<Ledger>& Default();

  // Opens an account. If `whole` is given, its figures include those of the new account.
  std::shared_ptr<MemoryAccount> OpenAccount(std::string stage,
                                             std::shared_ptr<MemoryAccount> whole = nullptr);

  // A reservation of memory for one element that is about to be made; the destructor returns it.
  // Destroy it once the element's buffers exist: until then both the reservation and the buffers
  // count.
  class Admission {
   public:
    Admission() = default;  // not granted
    Admission(Admission&& other) noexcept
        : ledger_(std::move(other.ledger_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Admission& operator=(Admission&& other) noexcept;
    ~Admission() { Return(); }
    bool granted() const { return ledger_ != nullptr; }
    // Returns what exceeds `bytes`.
    void ShrinkTo(int64_t bytes);

   private:
    friend class Ledger;
    Admission(std::shared_ptr<Ledger> ledger, int64_t bytes)
        : ledger_(std::move(ledger)), bytes_(bytes) {}
    void Return();
    std::shared_ptr<Ledger> ledger_;
    int64_t bytes_ = 0;
  };

  // Waits until `bytes` more fit under the budget. Returns at once if they do (without a lock), or
  // if `exempt()` is true (the element that the consumer waits for). Returns an Admission that is
  // not granted if they do not fit and `stop()` is true. Both predicates are called with the
  // ledger's lock held: they must be quick and must not call the ledger. Call Recheck() after
  // anything they depend on has changed.
  Admission Admit(int64_t bytes, const std::function<bool()>& exempt,
                  const std::function<bool()>& stop);
  void Recheck();

  int64_t budget_bytes() const { return budget_bytes_; }
  // Returns the bytes charged plus the bytes reserved by admissions.
  int64_t bytes() const {
    return charged_.load(std::memory_order_relaxed) + reserved_.load(std::memory_order_relaxed);
  }
  // Returns the largest number of bytes ever charged, without reservations.
  int64_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }

 private:
  friend class MemoryAccount;
  explicit Ledger(int64_t budget_bytes) : budget_bytes_(budget_bytes) {}
  void Charge(int64_t bytes);
  void Release(int64_t bytes);
  bool TryReserve(int64_t bytes);
  void WakeWaiters();

  const int64_t budget_bytes_;
  std::atomic<int64_t> charged_{0};
  std::atomic<int64_t> reserved_{0};
  std::atomic<int64_t> peak_bytes_{0};
  std::atomic<int> waiting_{0};
  Mutex mutex_;  // guards nothing by itself: see Release
  CondVar changed_;
};

// Returns the bytes of memory that this process may use: the smallest limit of its control groups,
// else the machine's memory. Reads them once; a later change has no effect.
int64_t MemoryLimitBytes();

// Returns a quarter of MemoryLimitBytes().
int64_t DefaultMemoryBudget();

}  // namespace stoker
