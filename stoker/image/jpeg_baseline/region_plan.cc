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

Expansion ExpansionOf(const Frame& frame, const Component& c) {
  Expansion e{frame.max_across() / c.across, frame.max_down() / c.down};
  // jdsample.c of libjpeg-turbo 2.1: h2v1 and h2v2 from three samples on, h1v2 always.
  const bool wide = frame.samples_across(c) > 2;
  e.fancy_across = e.across == 2 && wide;
  e.fancy_down = e.down == 2 && (e.across == 1 || e.fancy_across);
  return e;
}

RegionPlan PlanRegion(const Frame& frame, const ImageRegion& region, int channels) {
  const Range rows{static_cast<int>(region.y), static_cast<int>(region.y + region.height)};
  const Range columns{static_cast<int>(region.x), static_cast<int>(region.x + region.width)};
  RegionPlan plan;
  plan.num_components = channels == 1 ? 1 : frame.num_components;
  plan.mcu_rows = McusOf(rows, frame.mcu_height());
  plan.mcu_columns = McusOf(columns, frame.mcu_width());
  if (plan.num_components == 1) return plan;
  const Component& c = frame.components[1];
  const Expansion& e = plan.chroma = ExpansionOf(frame, c);
  const Range chroma_rows = SamplesOf(rows, e.down, e.fancy_down, frame.samples_down(c));
  const Range chroma_columns =
      SamplesOf(columns, e.across, e.fancy_across, frame.samples_across(c));
  plan.mcu_rows = Union(plan.mcu_rows, McusOf(chroma_rows, c.down * kBlockSize));
  plan.mcu_columns = Union(plan.mcu_columns, McusOf(chroma_columns, c.across * kBlockSize));
  return plan;
}

}  // namespace stoker::jpeg_baseline
