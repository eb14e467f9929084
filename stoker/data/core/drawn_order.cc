#include "stoker/data/core/drawn_order.h"

#include <algorithm>

#include "stoker/base/permutation.h"

namespace stoker {
namespace {

constexpr char kOrders[] = "orders";

}  // namespace

bool DrawsOrder(const Dataset& dataset) {
  const auto* const drawn = dynamic_cast<const DrawnOrder*>(&dataset.node());
  return (drawn != nullptr && drawn->draws_order()) ||
         std::ranges::any_of(dataset.node().inputs(), DrawsOrder);
}

bool HasTheseOrders(const Json& state) {
  const auto orders = state.find(kOrders);
  return orders != state.end() && *orders == IndexPermutation::kVersion;
}

void TakeForTheseOrders(Json& state) { state[kOrders] = IndexPermutation::kVersion; }

}  // namespace stoker
