// Weighted draws without replacement: an order for each epoch.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace stoker {

// The first `count` of n elements drawn one after the other without replacement, each with
// probability by weight among those left. Each element gets a time, exponentially distributed with
// its weight as the rate; in the order of their times they come as if so drawn (Efraimidis and
// Spirakis, "Weighted random sampling with a reservoir", 2006).
//
// An order takes O(n log n) and 4 bytes a draw. The last two are kept, since a pass that reads
// ahead reads from two epochs at once. Thread-safe.
class WeightedOrders {
 public:
  struct Key {
    uint64_t seed = 0, epoch = 0, stage = 0;
    bool operator==(const Key&) const = default;
  };
  using Order = std::vector<uint32_t>;

  // Fewer than 2^32 weights, none negative; at least `count` are above 0.
  WeightedOrders(std::vector<double> weights, int64_t count)
      : weights_(std::move(weights)), count_(count) {}

  // Element number i of the order, i < count.
  std::shared_ptr<const Order> Get(const Key& key) const;

 private:
  Order Make(const Key& key) const;

  const std::vector<double> weights_;
  const int64_t count_;
  mutable std::mutex mutex_;  // guards kept_; held while an order is made, for which all wait
  mutable std::vector<std::pair<Key, std::shared_ptr<const Order>>> kept_;  // oldest first
};

}  // namespace stoker
