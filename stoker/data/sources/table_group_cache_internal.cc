#include "stoker/data/sources/table_group_cache_internal.h"

#include <algorithm>

#include "stoker/base/stop_scope.h"

namespace stoker {

void TableGroupCache::SetLimit(uint64_t limit) {
  const MutexLock lock(mutex_);
  limit_ = limit;
  changed_.NotifyAll();
}

void TableGroupCache::ForgetFailures() {
  const MutexLock lock(mutex_);
  failures_.clear();
}

Result<TableGroupCache::Use> TableGroupCache::Get(const Wanted& wanted, const Decode& decode) {
  uint64_t bytes = wanted.held + wanted.meanwhile;
  while (true) {
    uint64_t limit = 0;
    {
      const MutexLock lock(mutex_);
      Turn turn = Turn::kWait;
      const auto mine = [&]() STOKER_REQUIRES(mutex_) {
        turn = TakeTurn(wanted.number, bytes);
        return turn != Turn::kWait;
      };
      if (!WaitUnlessStopped(changed_, mutex_, mine))
        return Cancelled("{}: asked to stop while other threads used as many groups as fit",
                         wanted.name);
      if (turn == Turn::kFailed) return failures_.at(wanted.number);
      if (turn == Turn::kThere) return Use(*this, wanted.number, known_.at(wanted.number).group);
      limit = limit_;
    }
    Result<Use> use = DecodeWithin(wanted, bytes, decode);
    const bool more_helps =
        bytes < limit && !use.ok() && use.status().code() == StatusCode::kResourceExhausted;
    if (!more_helps) return use;
    bytes = limit;
  }
}

TableGroupCache::Turn TableGroupCache::TakeTurn(int64_t number, uint64_t bytes) {
  if (failures_.contains(number)) return Turn::kFailed;
  if (const auto known = known_.find(number); known != known_.end()) {
    if (known->second.group == nullptr) return Turn::kWait;
    if (known->second.users++ == 0) {
      idle_.erase(known->second.idle);
      idle_bytes_ -= known->second.bytes;
    }
    return Turn::kThere;
  }
  // What is idle makes room.
  const uint64_t used = held_bytes_ - idle_bytes_;
  if (used > 0 && used + bytes > limit_) return Turn::kWait;
  known_[number].bytes = bytes;
  known_[number].users = 1;
  held_bytes_ += bytes;
  DropIdle(most_kept_, limit_, 0);
  return Turn::kDecode;
}

Result<TableGroupCache::Use> TableGroupCache::DecodeWithin(const Wanted& wanted, uint64_t bytes,
                                                           const Decode& decode) {
  Result<Group> group = decode(bytes);
  const MutexLock lock(mutex_);
  Known& known = known_.at(wanted.number);
  held_bytes_ -= known.bytes;
  changed_.NotifyAll();
  if (!group.ok()) {
    known_.erase(wanted.number);
    if (group.status().code() == StatusCode::kDataLoss)
      failures_.emplace(wanted.number, group.status());
    return group.status();
  }
  known.bytes = (*group)->bytes;
  held_bytes_ += known.bytes;
  known.group = *group;
  return Use(*this, wanted.number, *std::move(group));
}

void TableGroupCache::End(int64_t number) {
  const MutexLock lock(mutex_);
  const auto known = known_.find(number);
  if (--known->second.users > 0) return;
  idle_.push_front(number);
  known->second.idle = idle_.begin();
  idle_bytes_ += known->second.bytes;
  DropIdle(most_kept_, limit_, 1);
  changed_.NotifyAll();
}

void TableGroupCache::DropIdle(uint64_t most_kept, uint64_t most_held, size_t fewest) {
  while (idle_.size() > fewest && (idle_bytes_ > most_kept || held_bytes_ > most_held)) {
    const auto oldest = known_.find(idle_.back());
    idle_bytes_ -= oldest->second.bytes;
    held_bytes_ -= oldest->second.bytes;
    known_.erase(oldest);
    idle_.pop_back();
  }
}

}  // namespace stoker
