// Weighted draws without replacement: an order for each epoch.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "stoker/data/core/kept_orders.h"

namespace stoker {

// The first `count` of n elements drawn one after the other without replacement, each with
// probability by weight among those left. Each element gets a time, exponentially distributed with
// its weight as the rate; in the order of their times they come as if so drawn (Efraimidis and
// Spirakis, "Weighted random sampling with a reservoir", 2006).
//
// An order takes O(n log n) and 4 bytes a draw; KeptOrders says how many are kept. Thread-safe.
class WeightedOrders {
 public:
  using Order = std::vector<uint32_t>;

  // Fewer than 2^32 weights, none negative; at least `count` are above 0.
  WeightedOrders(std::vector<double> weights, int64_t count,
                 int64_t kept_bytes = KeptOrders<Order>::kKeptBytes)
      : weights_(std::move(weights)), count_(count), kept_(kept_bytes) {}

  // The order of these draws: element number i for each i < count.
  std::shared_ptr<const Order> Get(const OrderKey& key) const;

 private:
  Order Make(const OrderKey& key) const;

  const std::vector<double> weights_;
  const int64_t count_;
  const KeptOrders<Order> kept_;
};

}  // namespace stoker
