#include "stoker/image/resample_weights_internal.h"

#include <algorithm>

#include "stoker/base/testing.h"

namespace stoker::resample_weights_internal_test {

TEST(AxisWeights, TakeNoMoreMemoryThanTheySayWhateverTheFilterAndTheSides) {
  constexpr ResampleFilter kFilters[] = {ResampleFilter::kNearest, ResampleFilter::kBox,
                                         ResampleFilter::kArea,    ResampleFilter::kBilinear,
                                         ResampleFilter::kBicubic, ResampleFilter::kLanczos3};
  constexpr int64_t kSides[] = {16, 17, 224, 1000, 4001, 65'536};
  for (const ResampleFilter filter : kFilters) {
    for (const int64_t in : kSides) {
      for (const int64_t out : kSides) {
        for (const bool in_pairs : {false, true}) {
          AxisWeights weights;  // its tables are kept, so each is measured alone
          const AxisKey key{.filter = filter,
                            .in = in,
                            .out = out,
                            .begin = 0,
                            .extent = static_cast<double>(in),
                            .in_pairs = in_pairs};
          weights.Prepare(key);
          EXPECT_LE(weights.bytes(), AxisWeights::MostBytesFor(key))
              << "filter " << static_cast<int>(filter) << ", " << in << " to " << out;
          EXPECT_GE(4 * weights.bytes() + 4096, AxisWeights::MostBytesFor(key))
              << "filter " << static_cast<int>(filter) << ", " << in << " to " << out;
          EXPECT_LE(weights.bytes(), AxisWeights::kMostBytesOfAPixel * std::max(in, out))
              << "filter " << static_cast<int>(filter) << ", " << in << " to " << out;
          EXPECT_GE(weights.bytes(), 2 * out);
        }
      }
    }
  }
}

}  // namespace stoker::resample_weights_internal_test
