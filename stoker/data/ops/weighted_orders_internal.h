// Weighted draws without replacement: an order for each epoch.
#pragma once

#include <cstdint>
#include <list>
#include <map>
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
// An order takes O(n log n) and 4 bytes a draw. Those used last are kept, as many as `kept_bytes`
// allow and at least two: a pass that reads ahead reads from two epochs at once, and a shuffle
// behind a repeat from all of its rounds. Where more epochs interleave than that, nearly every read
// makes an order again. Thread-safe.
class WeightedOrders {
 public:
  struct Key {
    uint64_t seed = 0, epoch = 0, stage = 0;
    auto operator<=>(const Key&) const = default;
  };
  using Order = std::vector<uint32_t>;
  static constexpr int64_t kKeptBytes = 64 << 20;

  // Fewer than 2^32 weights, none negative; at least `count` are above 0.
  WeightedOrders(std::vector<double> weights, int64_t count, int64_t kept_bytes = kKeptBytes)
      : weights_(std::move(weights)), count_(count), kept_bytes_(kept_bytes) {}

  // The order of these draws: element number i for each i < count.
  std::shared_ptr<const Order> Get(const Key& key) const;

 private:
  using Kept = std::list<std::pair<Key, std::shared_ptr<const Order>>>;

  Order Make(const Key& key) const;
  size_t MostKept() const;

  const std::vector<double> weights_;
  const int64_t count_;
  const int64_t kept_bytes_;
  mutable std::mutex mutex_;  // guards kept_; held while an order is made, for which all wait
  mutable Kept kept_;         // what was used last comes first
  mutable std::map<Key, Kept::iterator> places_;  // in kept_; guarded by mutex_ too
};

}  // namespace stoker
