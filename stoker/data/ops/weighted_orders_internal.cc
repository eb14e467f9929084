#include "stoker/data/ops/weighted_orders_internal.h"

#include <algorithm>

#include "stoker/base/random.h"

namespace stoker {
std::shared_ptr<const WeightedOrders::Order> WeightedOrders::Get(const OrderKey& key) const {
  const int64_t bytes = count_ * static_cast<int64_t>(sizeof(Order::value_type));
  return kept_.Get(key, bytes, [&] { return std::make_shared<const Order>(Make(key)); });
}

WeightedOrders::Order WeightedOrders::Make(const OrderKey& key) const {
  struct Arrival {
    double time;
    uint32_t element;
    auto operator<=>(const Arrival&) const = default;
  };
  std::vector<Arrival> arrivals;
  arrivals.reserve(weights_.size());
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] == 0) continue;
    // Half the squared length of a normal vector in the plane is exponentially distributed; unlike
    // the C library's logarithm, Normal gives the same bits on every CPU.
    Rng rng(key.seed, key.epoch, i, key.stage);
    const double x = rng.Normal(), y = rng.Normal();
    arrivals.push_back({(x * x + y * y) / 2 / weights_[i], static_cast<uint32_t>(i)});
  }
  const auto drawn = arrivals.begin() + count_;
  std::nth_element(arrivals.begin(), drawn, arrivals.end());
  std::sort(arrivals.begin(), drawn);
  Order order;
  order.reserve(static_cast<size_t>(count_));
  for (auto arrival = arrivals.begin(); arrival != drawn; ++arrival)
    order.push_back(arrival->element);
  return order;
}

}  // namespace stoker
