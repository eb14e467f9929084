// Orders that follow from (seed, epoch, stage), made once and kept while they are in use.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace stoker {

struct OrderKey {
  uint64_t seed = 0, epoch = 0, stage = 0;
  auto operator<=>(const OrderKey&) const = default;
};

// For orders that take long to make and are then read at any place. Those used last are kept, as
// many as `kept_bytes` allow and at least two: a pass that reads ahead reads from two epochs at
// once, and a shuffle behind a repeat from all of its rounds. Where more epochs interleave than
// that, nearly every read makes an order again. Thread-safe; an order is made by one thread, for
// which only those wait that want the same one.
template <typename Order>
class KeptOrders {
 public:
  static constexpr int64_t kKeptBytes = 64 << 20;

  // `order_bytes`: of one order, about.
  explicit KeptOrders(int64_t order_bytes, int64_t kept_bytes = kKeptBytes)
      : most_(static_cast<size_t>(
            std::max(kLeastKept, kept_bytes / (order_bytes + kBytesAroundAnOrder)))) {}

  // The order of `key`; `make` makes it, as a std::shared_ptr<const Order>, where it is not there.
  template <typename Make>
  std::shared_ptr<const Order> Get(const OrderKey& key, const Make& make) const {
    const std::shared_ptr<Kept> kept = Find(key);
    std::call_once(kept->made, [&] { kept->order = make(); });
    return kept->order;
  }

 private:
  static constexpr int64_t kLeastKept = 2;
  static constexpr int64_t kBytesAroundAnOrder = 256;  // the entries below, and the allocator's

  struct Kept {
    std::once_flag made;
    std::shared_ptr<const Order> order;  // once it is made
  };
  using List = std::list<std::pair<OrderKey, std::shared_ptr<Kept>>>;

  std::shared_ptr<Kept> Find(const OrderKey& key) const {
    std::lock_guard lock(mutex_);
    if (const auto place = places_.find(key); place != places_.end()) {
      list_.splice(list_.begin(), list_, place->second);
      return list_.front().second;
    }
    if (list_.size() >= most_) {
      places_.erase(list_.back().first);
      list_.pop_back();
    }
    list_.emplace_front(key, std::make_shared<Kept>());
    places_.emplace(key, list_.begin());
    return list_.front().second;
  }

  const size_t most_;
  mutable std::mutex mutex_;  // guards what follows, but not the orders in it
  mutable List list_;         // what was used last comes first
  mutable std::map<OrderKey, typename List::iterator> places_;  // in list_
};

}  // namespace stoker
