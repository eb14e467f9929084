// Groups of tables that were decoded last, so that the rows of one are not each the cost of all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/data/sources/parts_in_use_internal.h"
#include "stoker/formats/arrow/table_file.h"

namespace stoker {

// Thread-safe. What several threads ask for at once is decoded by one of them. Holds at most
// `limit` bytes: groups in use, groups kept, and what decoding one takes meanwhile; a thread whose
// group does not fit beside those that others use waits for these. A thread has at most one Use at
// a time, so none waits for itself.
class TableGroupCache {
 public:
  using Group = std::shared_ptr<const DecodedGroup>;
  // Decodes a group within so many bytes.
  using Decode = std::function<Result<Group>(uint64_t most_bytes)>;
  // Calls SetLimit with more than `limit`, which does not suffice. Errors: kResourceExhausted where
  // there is no more.
  using Raise = std::function<Status(uint64_t limit)>;

  struct Wanted {
    int64_t number;      // of the group, in all files
    std::string name;    // for messages
    uint64_t held;       // what it takes, about
    uint64_t meanwhile;  // what decoding it takes beside that
  };

  // Of groups that nobody uses up to `most_kept` bytes are kept, those used last, and always the
  // one used last.
  explicit TableGroupCache(uint64_t most_kept) : groups_(most_kept) {}

  void SetLimit(uint64_t limit);
  // A group that is damaged is not decoded again for each of its rows, but once after this.
  void ForgetFailures();

  // A group in use: valid until this is destroyed.
  class Use {
   public:
    Use(TableGroupCache& cache, int64_t number, Group group)
        : cache_(&cache), number_(number), group_(std::move(group)) {}
    Use(Use&& other) noexcept
        : cache_(std::exchange(other.cache_, nullptr)),
          number_(other.number_),
          group_(std::move(other.group_)) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (cache_ != nullptr) cache_->End(number_);
    }
    const DecodedGroup& operator*() const { return *group_; }
    const DecodedGroup* operator->() const { return group_.get(); }

   private:
    TableGroupCache* cache_;
    int64_t number_;
    Group group_;
  };

  // Decodes the group where it is not there. Where it turns out to take more than was thought, it
  // is decoded again with the whole limit to itself, then with a limit that `raise` has raised; the
  // groups that follow are given more from the first. Errors: those of `decode` and `raise`;
  // kCancelled where this thread is asked to stop while it waits for others (base/stop_scope.h).
  Result<Use> Get(const Wanted& wanted, const Decode& decode, const Raise& raise);

 private:
  void End(int64_t number);
  // Whether the group is to be decoded by this thread, which then has `bytes`.
  enum class Turn { kWait, kThere, kDecode, kFailed };
  Turn TakeTurn(int64_t number, uint64_t bytes) STOKER_REQUIRES(mutex_);
  Result<Use> DecodeWithin(const Wanted& wanted, uint64_t bytes, const Decode& decode);

  Mutex mutex_;
  CondVar changed_;
  uint64_t limit_ STOKER_GUARDED_BY(mutex_) = 0;
  // A group is first given its estimated size times this, because the estimate is too low for files
  // that compress well.
  uint64_t growth_ STOKER_GUARDED_BY(mutex_) = 1;
  // By number; null while one is decoded, with the bytes that decoding may take.
  PartsInUse<int64_t, Group> groups_ STOKER_GUARDED_BY(mutex_);
  std::map<int64_t, Status> failures_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
