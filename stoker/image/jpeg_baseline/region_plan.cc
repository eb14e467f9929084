#include "stoker/image/jpeg_baseline/region_plan.h"

#include <algorithm>

namespace stoker::jpeg_baseline {
namespace {

// The samples that pixels [begin, end) are made of.
Range SamplesOf(Range pixels, int expansion, bool fancy, int num_samples) {
  if (!fancy) return {pixels.begin / expansion, (pixels.end - 1) / expansion + 1};
  // The left (upper) pixel of a sample takes from the one before, the right one from the one after.
  return {std::max(0, (pixels.begin - 1) / 2), std::min(num_samples, pixels.end / 2 + 1)};
}

Range McusOf(Range samples, int samples_per_mcu) {
  return {samples.begin / samples_per_mcu, (samples.end - 1) / samples_per_mcu + 1};
}

Range Union(Range a, Range b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }

}  // namespace

std::array<bool, kMaxComponents> RegionPlan::OnlyDc() const {
  std::array<bool, kMaxComponents> only_dc;
  for (int i = 0; i < kMaxComponents; ++i) {
    only_dc[i] = i >= num_components || geometry.planes[i].block_size == 1;
  }
  return only_dc;
}

RegionPlan PlanRegion(const Frame& frame, const ImageRegion& region, int channels) {
  const Range rows{static_cast<int>(region.y), static_cast<int>(region.y + region.height)};
  const Range columns{static_cast<int>(region.x), static_cast<int>(region.x + region.width)};
  RegionPlan plan{.geometry = GeometryOf(frame, region.fast_scale)};
  plan.num_components = channels == 1 ? 1 : frame.num_components;
  plan.mcu_rows = McusOf(rows, plan.geometry.mcu_height);
  plan.mcu_columns = McusOf(columns, plan.geometry.mcu_width);
  if (plan.num_components == 1) return plan;
  const PlaneGeometry& cb = plan.geometry.planes[1];
  const Expansion& e = plan.chroma = ExpansionOf(plan.geometry, 1);
  const Range chroma_rows = SamplesOf(rows, e.down, e.fancy_down, cb.height);
  const Range chroma_columns = SamplesOf(columns, e.across, e.fancy_across, cb.width);
  plan.mcu_rows = Union(plan.mcu_rows, McusOf(chroma_rows, cb.mcu_height));
  plan.mcu_columns = Union(plan.mcu_columns, McusOf(chroma_columns, cb.mcu_width));
  return plan;
}

}  // namespace stoker::jpeg_baseline
