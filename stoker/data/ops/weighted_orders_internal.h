// Orders of weighted draws without replacement, one for each epoch.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "stoker/data/core/kept_orders.h"

namespace stoker {

// The first `count` of n elements drawn one after the other without replacement, each with
// probability proportional to weight among the rest. Each element gets an exponentially distributed
// time with its weight as the rate; the order of the times has the same distribution as such draws
// (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006).
//
// An order takes O(n log n) and 4 bytes a draw; KeptOrders says how many are kept. Thread-safe.
class WeightedOrders {
 public:
  using Order = std::vector<uint32_t>;

  // Fewer than 2^32 weights, none negative; at least `count` are above 0.
  WeightedOrders(std::vector<double> weights, int64_t count,
                 int64_t kept_bytes = KeptOrders<Order>::kKeptBytes)
      : weights_(std::move(weights)), count_(count), kept_(kept_bytes) {}

  // Returns the order of these draws: the element of each draw i < count.
  std::shared_ptr<const Order> Get(const OrderKey& key) const;

 private:
  Order Make(const OrderKey& key) const;

  const std::vector<double> weights_;
  const int64_t count_;
  const KeptOrders<Order> kept_;
};

}  // namespace stoker
