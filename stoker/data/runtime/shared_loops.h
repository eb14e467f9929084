// Loops whose rounds are shared out to all threads of a ReadAhead. A chunk that is one large thing
// made of many (a batch of pictures) is then made by all threads at once, instead of one by each:
// the first is there sooner, and as many threads hold far less memory.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "stoker/base/profile.h"

namespace stoker {

// The loops that the threads of one ReadAhead have open. Thread-safe.
//
// Rounds of the oldest chunk are run first, whichever thread made the chunk its own: whoever is in
// a loop of a younger one helps there before it goes on. So chunks become ready in their order, and
// memory that a younger one asks for in its first round is not asked for before it is needed.
class SharedLoops {
 public:
  // Both are called with no lock held.
  //   opened  whenever a loop has been opened, by its thread: others may have something to do
  //   made    whenever a round has ended, by the thread that ran it; may be empty
  explicit SharedLoops(std::function<void()> opened, std::function<void()> made = {})
      : opened_(std::move(opened)), made_(std::move(made)) {}

  // Makes the calling thread one whose loops are shared, for as long as this lives: they belong to
  // chunk number `chunk`, and lower numbers are older.
  class Member {
   public:
    Member(SharedLoops& loops, int64_t chunk);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

    // Bytes that other threads have asked buffers for (Scratch) in its loops so far.
    int64_t asked_by_others() const { return asked_by_others_; }

   private:
    friend class SharedLoops;
    friend void ForEachShared(int64_t rounds, StageStats& stats,
                              const std::function<void(int64_t)>& body);
    SharedLoops& loops_;
    const int64_t chunk_;
    int64_t asked_by_others_ = 0;
    Member* const around_;
  };

  // Whether a loop has rounds that nobody has begun.
  bool has_work() const { return unclaimed_ > 0; }
  // Runs such rounds until there are none.
  void Help();

 private:
  struct Loop;
  friend void ForEachShared(int64_t rounds, StageStats& stats,
                            const std::function<void(int64_t)>& body);
  void Run(Member& member, int64_t rounds, StageStats& stats,
           const std::function<void(int64_t)>& body);
  // Runs a round of the oldest loop that has one left; false if none has. With mutex_ held by
  // `lock`, which is released meanwhile.
  bool RunOldest(std::unique_lock<std::mutex>& lock, const Loop* own);
  void Finish(Loop& loop, int64_t round, std::exception_ptr thrown);

  const std::function<void()> opened_, made_;
  std::atomic<int64_t> unclaimed_{0};  // rounds of all loops
  std::mutex mutex_;                   // guards what follows, and the loops themselves
  std::vector<Loop*> open_;            // oldest first
  std::condition_variable all_done_;
};

// Calls body(0), ..., body(rounds - 1), in this order and one after the other, except on a thread
// of a ReadAhead: there each call may be made by another of its threads, at any time before this
// returns. What the body does must not depend on that. A loop within a body stays on its thread.
//
// The time of each call, whoever makes it, is busy time of `stats`, and that of waiting for calls
// that others make is blocked time. Sharing costs about a microsecond a round, so a round is worth
// at least ten. Where bodies throw, those not begun yet are left out, and what the lowest round
// among the others has thrown is thrown here.
void ForEachShared(int64_t rounds, StageStats& stats, const std::function<void(int64_t)>& body);

}  // namespace stoker
