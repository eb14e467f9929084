#include "stoker/data/transforms/mixup.h"

#include <cmath>
#include <set>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/promises.h"
#include "stoker/data/testing/transforms.h"
#include "stoker/data/transforms/beta_internal.h"
#include "stoker/data/transforms/cast.h"
#include "stoker/data/transforms/one_hot.h"

namespace stoker::mixup_test {

// Sample i is {image: float32[4], all i; label: class i of 8}: what comes out shows what was mixed.
Dataset Numbered(DType dtype) {
  Array images = Array::Allocate(DType::kFloat32, {8, 4});
  Array labels = Array::Allocate(DType::kInt64, {8});
  for (size_t i = 0; i < 8; ++i) {
    for (size_t v = 0; v < 4; ++v) images.values<float>()[i * 4 + v] = static_cast<float>(i);
    labels.values<int64_t>()[i] = static_cast<int64_t>(i);
  }
  return *(*FromArrays({{"image", images}, {"label", labels}}) |
           Cast{.dtype = std::string(DTypeName(dtype))} | OneHot{.classes = 8});
}

// Each sample's lambda and partner, read off its label; checked against its image.
struct Mixed {
  float lambda;
  size_t partner;
};
std::vector<Mixed> ReadOff(const Element& batch) {
  std::vector<Mixed> mixed;
  for (int64_t i = 0; i < 8; ++i) {
    const Array label = batch.arrays[1].Row(i), image = batch.arrays[0].Row(i);
    Mixed one{label.values<float>()[static_cast<size_t>(i)], static_cast<size_t>(i)};
    float sum = 0, mean = 0;
    for (size_t c = 0; c < 8; ++c) {
      const float share = label.values<float>()[c];
      sum += share;
      mean += share * static_cast<float>(c);
      if (share > 0 && c != static_cast<size_t>(i)) one.partner = c;
    }
    EXPECT_FLOAT_EQ(sum, 1);
    for (const float value : image.values<float>()) EXPECT_NEAR(value, mean, 1e-5);
    mixed.push_back(one);
  }
  return mixed;
}

std::vector<Element> Batches(const Mixup& mixup, int64_t count = 1) {
  return *ReadAll(*(Numbered(DType::kFloat32) | Batch{.size = 8} | Repeat{.count = count} | mixup),
                  Runtime::Threaded(2), {.seed = 4});
}

TEST(Mixup, MixesEverySampleAndItsLabelAlikeWithAPartnerOfItsOwn) {
  for (const Element& batch : Batches({.alpha = 1}, 20)) {
    const std::vector<Mixed> mixed = ReadOff(batch);
    std::vector<bool> used(8);
    for (const Mixed& one : mixed) {
      EXPECT_FALSE(used[one.partner]) << "two samples have one partner";
      used[one.partner] = true;
    }
  }
}

TEST(Mixup, DrawsOneLambdaForABatchOrOneForEachSample) {
  const auto lambdas = [](const Mixup& mixup) {
    std::set<float> values;
    for (const Element& batch : Batches(mixup, 5)) {
      for (size_t i = 0; const Mixed& one : ReadOff(batch)) {
        if (one.partner != i++) values.insert(one.lambda);
      }
    }
    return values.size();
  };
  EXPECT_EQ(lambdas({.alpha = 1}), 5u);
  EXPECT_GT(lambdas({.alpha = 1, .per_sample = true}), 25u);
}

TEST(Mixup, LambdasHaveTheVarianceOfTheBetaDistribution) {
  double squares = 0;
  int samples = 0;
  for (const Element& batch : Batches({.alpha = 0.5, .per_sample = true}, 300)) {
    for (size_t i = 0; const Mixed& one : ReadOff(batch)) {
      if (one.partner == i++) continue;
      squares += (one.lambda - 0.5) * (one.lambda - 0.5);
      ++samples;
    }
  }
  EXPECT_NEAR(squares / samples, 1 / (8 * 0.5 + 4), 0.01);
}

TEST(Mixup, LeavesBatchesAloneThatAreNotToBeMixed) {
  const std::vector<Element> plain =
      *ReadAll(*(Numbered(DType::kFloat32) | Batch{.size = 8}), Runtime::Inline());
  EXPECT_EQ(Fingerprint(Batches({.probability = 0})), Fingerprint(plain));
  int mixed = 0;
  for (const Element& batch : Batches({.alpha = 1, .probability = 0.25}, 200))
    mixed += SameBytes(batch.arrays[0], plain[0].arrays[0]) ? 0 : 1;
  EXPECT_NEAR(mixed, 50, 25);
}

TEST(Mixup, RoundsBytesToTheNearest) {
  STOKER_ASSERT_OK_AND_ASSIGN(const auto batches,
                              ReadAll(*(Numbered(DType::kUInt8) | Batch{.size = 8} |
                                        Repeat{.count = 9} | Mixup{.alpha = 1, .per_sample = true}),
                                      Runtime::Inline()));
  for (const Element& batch : batches) {
    for (int64_t i = 0; i < 8; ++i) {
      double mean = 0;
      for (size_t c = 0; c < 8; ++c)
        mean += static_cast<double>(c) * batch.arrays[1].Row(i).values<float>()[c];
      EXPECT_THAT(batch.arrays[0].Row(i).values<uint8_t>(),
                  testing::Each(static_cast<uint8_t>(std::floor(mean + 0.5))));
    }
  }
}

TEST(Mixup, KeepsThePromisesOfAPipeline) {
  const Dataset images = *(NumberedImages(22) | OneHot{.classes = 22});
  const Dataset stream = *(StreamedImages(22) | OneHot{.classes = 22});
  ExpectKeepsItsPromises(*(images | Shuffle{} | Batch{.size = 5} | Mixup{} | Prefetch{}));
  ExpectKeepsItsPromises(
      *(stream | Batch{.size = 5} | Mixup{.alpha = 1, .per_sample = true, .probability = 0.5}));
}

// Batches of batches, whose rows are batches.
TEST(Mixup, RowsGiveTheBytesOfElements) {
  for (const Mixup& mixup : {Mixup{.alpha = 1, .probability = 0.5}, Mixup{.per_sample = true}}) {
    ExpectKeepsItsPromises(*(NumberedImages(48) | OneHot{.classes = 48} |
                             Batch{.size = 4, .drop_remainder = true} | mixup | Batch{.size = 3}));
  }
}

TEST(Mixup, AsksForOneHotAndBatchWhereTheyAreMissing) {
  EXPECT_THAT(NumberedImages(8) | Batch{.size = 4} | Mixup{},
              FailsWith(StatusCode::kInvalidArgument,
                        "mixup: field 'label' is int64, but mixed samples have mixed labels"));
  EXPECT_THAT(NumberedImages(8) | OneHot{.classes = 8} | Mixup{},
              FailsWith(StatusCode::kInvalidArgument, "put it after `batch`"));
  const Result<Dataset> good = NumberedImages(8) | OneHot{.classes = 8} | Batch{.size = 4};
  EXPECT_THAT(good | Cast{.dtype = "int32"} | Mixup{},
              FailsWith(StatusCode::kInvalidArgument, "field 'image' is int32"));
  EXPECT_THAT(good | Mixup{.alpha = 0}, FailsWith(StatusCode::kInvalidArgument, "alpha is 0"));
  EXPECT_THAT(good | Mixup{.alpha = 1e-300},
              FailsWith(StatusCode::kInvalidArgument, "alpha is 1e-300"));
  EXPECT_THAT(good | Mixup{.alpha = kLeastAlpha}, IsOk());
  EXPECT_THAT(good | Mixup{.label = "target"},
              FailsWith(StatusCode::kInvalidArgument, "there is no field 'target'"));
  EXPECT_EQ((good | Mixup{})->node().Disturbs(), "alters elements at random");
}

}  // namespace stoker::mixup_test
