#include "stoker/data/fixed_order.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace stoker {
namespace {

// The first ones draw, the last ones may.
constexpr std::array<std::string_view, 7> kDraw = {"shuffle", "sample",     "balance", "mix",
                                                   "choose",  "interleave", "flat_map"};

}  // namespace

bool HasFixedOrder(const Dataset& dataset) {
  if (std::ranges::find(kDraw, dataset.node().name()) != kDraw.end()) return false;
  return std::ranges::all_of(dataset.node().inputs(), HasFixedOrder);
}

}  // namespace stoker
