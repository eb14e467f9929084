// Loops whose rounds all threads of a ReadAhead share. They make a chunk that is one large element
// of many parts (a batch of pictures, or of files that come slowly) together, instead of one each:
// the first is ready sooner, and the threads hold far less memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/base/profile.h"

namespace stoker {

// The loops that the threads of one ReadAhead have open. Thread-safe.
//
// Rounds of the oldest chunk run first: a thread in a loop of a younger chunk helps there before it
// continues its own. So chunks become ready in order, and a younger one does not request the memory
// of its first round too early.
class SharedLoops {
 public:
  // Both are called with no lock held.
  //   opened  whenever a loop has been opened, by its thread: others may have work
  //   made    whenever a round has ended, by the thread that ran it; may be empty
  explicit SharedLoops(std::function<void()> opened, std::function<void()> made = {})
      : opened_(std::move(opened)), made_(std::move(made)) {}

  // While it lives, the calling thread's loops are shared and belong to chunk number `chunk`; lower
  // numbers are older.
  class Member {
   public:
    Member(SharedLoops& loops, int64_t chunk);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    // Returns the bytes of buffers (Scratch) that other threads have requested in its loops so far.
    int64_t asked_by_others() const { return asked_by_others_; }
    // Returns whether it had any loop that others could help in.
    bool had_loops() const { return opened_ > 0; }

   private:
    friend class SharedLoops;
    friend void ForEachShared(int64_t rounds, StageStats& stats,
                              const std::function<void(int64_t)>& body);
    SharedLoops& loops_;
    const int64_t chunk_;
    int64_t asked_by_others_ = 0;
    int64_t opened_ = 0;  // loops
    Member* const around_;
  };

  // Returns those that a loop of the calling thread would be shared in; null where it would not be.
  static SharedLoops* OfThisThread();
  // Returns how many loops the Member that the calling thread is has opened; 0 if it is none.
  static int64_t OpenedByThisThread();

  // Whether the elements that a stage read one by one the last time came slowly (read_singly.h).
  bool ReadsAreSlow(const StageStats& stage) const;
  void SetReadsAreSlow(const StageStats& stage, bool slow);

  // Returns whether a loop has rounds that no thread has begun.
  bool has_work() const { return unclaimed_ > 0; }
  // Runs such rounds until there are none.
  void Help();

 private:
  struct Loop;
  friend void ForEachShared(int64_t rounds, StageStats& stats,
                            const std::function<void(int64_t)>& body);
  void Run(Member& member, int64_t rounds, StageStats& stats,
           const std::function<void(int64_t)>& body);
  // Runs a round of the oldest loop that has one left; returns false if none has. Releases mutex_
  // meanwhile.
  bool RunOldest(const Loop* own) STOKER_REQUIRES(mutex_);
  void RunRoundOf(Loop& loop, int64_t round, const Loop* own) STOKER_REQUIRES(mutex_);
  void Finish(Loop& loop, int64_t round, std::exception_ptr thrown) STOKER_REQUIRES(mutex_);

  const std::function<void()> opened_, made_;
  std::atomic<int64_t> unclaimed_{0};                              // rounds of all loops
  mutable Mutex mutex_;                                            // guards the loops too
  std::vector<Loop*> open_ STOKER_GUARDED_BY(mutex_);              // oldest first
  std::vector<const StageStats*> slow_ STOKER_GUARDED_BY(mutex_);  // stages
  CondVar all_done_;
};

// Calls body(0), ..., body(rounds - 1), in order, except on a thread of a ReadAhead: there its
// other threads may make any of the calls, in any order, before this returns. The result of the
// body must not depend on that. A loop within a body stays on its thread.
//
// The time of each call, on any thread, is busy time of `stats`; waiting for calls on other threads
// is blocked time. Sharing costs about a microsecond a round, so a round should take at least ten.
// If bodies throw, rounds not yet begun are skipped, and this throws the exception of the lowest
// round.
void ForEachShared(int64_t rounds, StageStats& stats, const std::function<void(int64_t)>& body);

}  // namespace stoker
