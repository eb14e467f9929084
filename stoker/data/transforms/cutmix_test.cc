#include "stoker/data/transforms/cutmix.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/one_hot.h"

namespace stoker::cutmix_test {

constexpr int64_t kSamples = 6, kChannels = 2, kHeight = 9, kWidth = 12;

// Sample i is {image: uint8[2, 9, 12], all i; label: class i of 6}.
Dataset Numbered() {
  Array images = Array::Allocate(DType::kUInt8, {kSamples, kChannels, kHeight, kWidth});
  Array labels = Array::Allocate(DType::kInt64, {kSamples});
  for (int64_t i = 0; i < kSamples; ++i) {
    for (uint8_t& value : images.Row(i).values<uint8_t>()) value = static_cast<uint8_t>(i);
    labels.values<int64_t>()[static_cast<size_t>(i)] = i;
  }
  return *(*FromArrays({{"image", images}, {"label", labels}}) | OneHot{.classes = kSamples});
}

std::vector<Element> Batches(const Cutmix& cutmix, int64_t count) {
  return *ReadAll(*(Numbered() | Batch{.size = kSamples} | Repeat{.count = count} | cutmix),
                  Runtime::Threaded(2), {.seed = 9});
}

struct Pasted {
  int64_t partner = 0;  // the sample itself where nothing was pasted
  int64_t top = kHeight, bottom = 0, left = kWidth, right = 0;
  bool operator<(const Pasted& other) const {
    return std::tie(top, bottom, left, right) <
           std::tie(other.top, other.bottom, other.left, other.right);
  }
  int64_t area() const { return bottom > top ? (bottom - top) * (right - left) : 0; }
};

// What was pasted into sample i, which must be one box, the same in all channels.
Pasted ReadOff(const Element& batch, int64_t i) {
  Pasted found{.partner = i};
  const Array image = batch.arrays[0].Row(i);
  const auto at = [&](int64_t c, int64_t y, int64_t x) -> int64_t {
    return image.values<uint8_t>()[static_cast<size_t>((c * kHeight + y) * kWidth + x)];
  };
  for (int64_t y = 0; y < kHeight; ++y) {
    for (int64_t x = 0; x < kWidth; ++x) {
      if (at(0, y, x) == i) continue;
      found.partner = at(0, y, x);
      found.top = std::min(found.top, y);
      found.bottom = std::max(found.bottom, y + 1);
      found.left = std::min(found.left, x);
      found.right = std::max(found.right, x + 1);
    }
  }
  for (int64_t c = 0; c < kChannels; ++c) {
    for (int64_t y = 0; y < kHeight; ++y) {
      for (int64_t x = 0; x < kWidth; ++x) {
        const bool inside =
            y >= found.top && y < found.bottom && x >= found.left && x < found.right;
        EXPECT_EQ(at(c, y, x), inside ? found.partner : i);
      }
    }
  }
  return found;
}

TEST(Cutmix, PastesOneBoxOfAPartnerAndMixesLabelsByItsRealArea) {
  std::set<Pasted> boxes;
  for (const Element& batch : Batches({}, 60)) {
    std::set<Pasted> of_batch;
    for (int64_t i = 0; i < kSamples; ++i) {
      const Pasted pasted = ReadOff(batch, i);
      if (pasted.partner == i) continue;
      of_batch.insert(pasted);
      const float share = 1 - static_cast<float>(pasted.area()) / (kHeight * kWidth);
      const Array label = batch.arrays[1].Row(i);
      EXPECT_FLOAT_EQ(label.values<float>()[static_cast<size_t>(i)], share);
      EXPECT_NEAR(label.values<float>()[static_cast<size_t>(pasted.partner)], 1 - share, 1e-6);
    }
    EXPECT_LE(of_batch.size(), 1u) << "one box for the whole batch";
    boxes.insert(of_batch.begin(), of_batch.end());
  }
  EXPECT_GT(boxes.size(), 30u);
  EXPECT_TRUE(std::ranges::any_of(boxes, [](const Pasted& box) { return box.top == 0; }));
  EXPECT_TRUE(std::ranges::any_of(boxes, [](const Pasted& box) { return box.right == kWidth; }));
}

TEST(Cutmix, PerSampleGivesEachABoxOfItsOwn) {
  std::set<Pasted> boxes;
  for (const Element& batch : Batches({.per_sample = true}, 10)) {
    for (int64_t i = 0; i < kSamples; ++i) {
      const Pasted pasted = ReadOff(batch, i);
      if (pasted.partner != i) boxes.insert(pasted);
    }
  }
  EXPECT_GT(boxes.size(), 20u);
}

// Of a box with sides sqrt(1 - lambda), lambda uniform, around a uniform centre: without cutting
// off the mean area is 1/2; cut off, the integral of (r - r^2/4)^2 with r = sqrt(u) over u: 1/2 -
// 1/5 + 1/48 = 0.3208. Whole pixels make it a little smaller.
TEST(Cutmix, BoxesHaveTheAreaOfTheFormula) {
  double area = 0;
  int64_t samples = 0;
  for (const Element& batch : Batches({.per_sample = true}, 400)) {
    for (int64_t i = 0; i < kSamples; ++i) {
      const Pasted pasted = ReadOff(batch, i);
      if (pasted.partner == i) continue;
      area += static_cast<double>(pasted.area()) / (kHeight * kWidth);
      ++samples;
    }
  }
  // Samples whose box was empty are not among them: about one in thirty.
  EXPECT_NEAR(area / static_cast<double>(samples), 0.31, 0.03);
}

TEST(Cutmix, KeepsThePromisesOfAPipeline) {
  ExpectKeepsItsPromises(*(NumberedImages(22) | OneHot{.classes = 22} | Shuffle{} |
                           Batch{.size = 5} | Cutmix{} | Prefetch{}));
  ExpectKeepsItsPromises(*(StreamedImages(22) | OneHot{.classes = 22} | Batch{.size = 5} |
                           Cutmix{.per_sample = true, .probability = 0.5}));
  ExpectKeepsItsPromises(*(NumberedImages(48) | Cast{.dtype = "float32"} | OneHot{.classes = 48} |
                           Batch{.size = 4, .drop_remainder = true} | Cutmix{.probability = 0.5} |
                           Batch{.size = 3}));
}

TEST(Cutmix, AsksForWhatIsMissing) {
  EXPECT_THAT(NumberedImages(8) | Batch{.size = 4} | Cutmix{},
              FailsWith(StatusCode::kInvalidArgument, "cutmix: field 'label' is int64"));
  EXPECT_THAT(NumberedImages(8) | OneHot{.classes = 8} | Cutmix{},
              FailsWith(StatusCode::kInvalidArgument, "put it after `batch`"));
  const Dataset flat = *FromArrays({{"image", Array::Allocate(DType::kUInt8, {4, 3})},
                                    {"label", Array::Of<int64_t>({0, 1, 2, 3})}});
  EXPECT_THAT(flat | OneHot{.classes = 4} | Batch{.size = 2} | Cutmix{},
              FailsWith(StatusCode::kInvalidArgument, "field 'image' has shape [2, 3]"));
  EXPECT_THAT(
      (NumberedImages(8) | OneHot{.classes = 8} | Batch{.size = 4} | Cutmix{.probability = 2}),
      FailsWith(StatusCode::kInvalidArgument, "probability is 2"));
  EXPECT_THAT(
      (NumberedImages(8) | OneHot{.classes = 8} | Batch{.size = 4} | Cutmix{.alpha = 1e-300}),
      FailsWith(StatusCode::kInvalidArgument, "alpha is 1e-300"));
}

}  // namespace stoker::cutmix_test
