// Orders that are functions of (seed, epoch, stage), made once and kept while in use.
#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "stoker/base/mutex.h"

namespace stoker {

struct OrderKey {
  uint64_t seed = 0, epoch = 0, stage = 0;
  int64_t size = 0;  // of the ordered range, if that differs within a stage
  auto operator<=>(const OrderKey&) const = default;
};

// A cache of orders that take long to make and are then read at random. Keeps the most recently
// used within `kept_bytes` and at least two, because a pass that reads ahead reads from two epochs
// at once, and a shuffle that follows a repeat from all of its rounds. If more epochs interleave
// than that, nearly every read makes an order again. Thread-safe; one thread makes an order, and
// only threads that need the same one wait for it.
template <typename Order>
class KeptOrders {
 public:
  static constexpr int64_t kKeptBytes = 64 << 20;

  explicit KeptOrders(int64_t kept_bytes = kKeptBytes) : kept_bytes_(kept_bytes) {}

  // Returns the order of `key`, which takes about `order_bytes`; `make` makes it, as a
  // std::shared_ptr<const Order>, if it is not kept.
  template <typename Make>
  std::shared_ptr<const Order> Get(const OrderKey& key, int64_t order_bytes,
                                   const Make& make) const {
    const std::shared_ptr<Kept> kept = Find(key, order_bytes);
    std::call_once(kept->made, [&] { kept->order = make(); });
    return kept->order;
  }

 private:
  static constexpr size_t kLeastKept = 2;
  static constexpr int64_t kBytesAroundAnOrder = 256;  // the entries below, and the allocator's

  struct Kept {
    int64_t bytes = 0;
    std::once_flag made;
    std::shared_ptr<const Order> order;  // null until made
  };
  using List = std::list<std::pair<OrderKey, std::shared_ptr<Kept>>>;

  std::shared_ptr<Kept> Find(const OrderKey& key, int64_t order_bytes) const {
    const MutexLock lock(mutex_);
    if (const auto place = places_.find(key); place != places_.end()) {
      list_.splice(list_.begin(), list_, place->second);
      return list_.front().second;
    }
    list_.emplace_front(key, std::make_shared<Kept>());
    places_.emplace(key, list_.begin());
    const std::shared_ptr<Kept> added = list_.front().second;
    added->bytes = order_bytes + kBytesAroundAnOrder;
    bytes_ += added->bytes;
    while (bytes_ > kept_bytes_ && list_.size() > kLeastKept) {
      bytes_ -= list_.back().second->bytes;
      places_.erase(list_.back().first);
      list_.pop_back();
    }
    return added;
  }

  const int64_t kept_bytes_;
  mutable Mutex mutex_;                          // guards the entries, but not the orders in them
  mutable List list_ STOKER_GUARDED_BY(mutex_);  // most recently used first
  mutable std::map<OrderKey, typename List::iterator> places_
      STOKER_GUARDED_BY(mutex_);                         // in list_
  mutable int64_t bytes_ STOKER_GUARDED_BY(mutex_) = 0;  // of all in list_
};

}  // namespace stoker
