#include "stoker/data/sources/table_group_cache_internal.h"

#include <algorithm>

#include "stoker/base/stop_scope.h"
#include "stoker/data/core/failure.h"

namespace stoker {
namespace {

constexpr uint64_t kMostGroupGrowth = 1 << 16;

// What a group is given at first: `growth` times what is thought, within the limit. What is thought
// to take more than the limit is given that.
uint64_t Grown(uint64_t thought, uint64_t growth, uint64_t limit) {
  return thought >= limit / growth ? std::max(thought, limit) : thought * growth;
}

}  // namespace

void TableGroupCache::SetLimit(uint64_t limit) {
  const MutexLock lock(mutex_);
  limit_ = limit;
  changed_.NotifyAll();
}

void TableGroupCache::ForgetFailures() {
  const MutexLock lock(mutex_);
  failures_.clear();
}

Result<TableGroupCache::Use> TableGroupCache::Get(const Wanted& wanted, const Decode& decode,
                                                  const Raise& raise) {
  bool whole = false;  // it is given the whole limit
  while (true) {
    uint64_t bytes = 0, limit = 0, growth = 1;
    {
      const MutexLock lock(mutex_);
      Turn turn = Turn::kWait;
      const auto mine = [&]() STOKER_REQUIRES(mutex_) {
        limit = limit_;
        growth = growth_;
        bytes = whole ? limit : Grown(wanted.held + wanted.meanwhile, growth, limit);
        turn = TakeTurn(wanted.number, bytes);
        return turn != Turn::kWait;
      };
      if (!WaitUnlessStopped(changed_, mutex_, mine))
        return Cancelled("{}: asked to stop while other threads used as many groups as fit",
                         wanted.name);
      if (turn == Turn::kFailed) return failures_.at(wanted.number);
      if (turn == Turn::kThere)
        return Use(*this, wanted.number, groups_.Find(wanted.number)->value);
    }
    Result<Use> use = DecodeWithin(wanted, bytes, decode);
    if (use.ok() || use.status().code() != StatusCode::kResourceExhausted) return use;
    if (bytes >= limit) STOKER_RETURN_IF_ERROR(raise(limit));
    whole = true;
    const MutexLock lock(mutex_);
    if (growth_ == growth && growth < kMostGroupGrowth) growth_ = 2 * growth;
  }
}

TableGroupCache::Turn TableGroupCache::TakeTurn(int64_t number, uint64_t bytes) {
  if (failures_.contains(number)) return Turn::kFailed;
  if (const auto* const known = groups_.Find(number)) {
    if (known->value == nullptr) return Turn::kWait;
    groups_.Use(number, bytes);
    return Turn::kThere;
  }
  // What is idle makes room.
  const uint64_t used = groups_.bytes_in_use();
  if (used > 0 && used + bytes > limit_) return Turn::kWait;
  groups_.Use(number, bytes);
  groups_.DropIdle(limit_, 0);
  return Turn::kDecode;
}

Result<TableGroupCache::Use> TableGroupCache::DecodeWithin(const Wanted& wanted, uint64_t bytes,
                                                           const Decode& decode) {
  const Result<Group> group = [&]() -> Result<Group> {
    try {
      return decode(bytes);
    } catch (...) {  // or the threads that wait for this group would wait for ever
      return ThrownError(wanted.name);
    }
  }();
  const MutexLock lock(mutex_);
  changed_.NotifyAll();
  if (!group.ok()) {
    groups_.Remove(wanted.number);
    if (IsAboutOneElement(group.status())) failures_.emplace(wanted.number, group.status());
    return group.status();
  }
  auto& known = *groups_.Find(wanted.number);
  groups_.SetBytes(known, (*group)->bytes);
  known.value = *group;
  return Use(*this, wanted.number, *group);
}

void TableGroupCache::End(int64_t number) {
  const MutexLock lock(mutex_);
  groups_.Leave(number, [](const Group&) { return true; });
  groups_.DropIdle(limit_, 1);
  changed_.NotifyAll();
}

}  // namespace stoker
