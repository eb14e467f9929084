#include "stoker/data/sources/idx.h"

#include "stoker/base/ledger.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/transforms/normalize.h"
#include "stoker/formats/idx/idx.h"

namespace stoker::idx_test {

constexpr int64_t kImages = 64;

// 64 images of 28x28 and their labels, compressed.
Idx WriteFiles(const TempDir& dir) {
  Array images = Array::Allocate(DType::kUInt8, {kImages, 28, 28});
  Array labels = Array::Allocate(DType::kUInt8, {kImages});
  for (size_t i = 0; i < images.num_bytes(); ++i) images.values<uint8_t>()[i] = i % 251;
  for (size_t i = 0; i < labels.num_bytes(); ++i) labels.values<uint8_t>()[i] = i % 10;
  const Idx files{.images = dir / "images.gz", .labels = dir / "labels.gz"};
  EXPECT_THAT(WriteIdx(files.images, images, IdxCompression::kGzip), IsOk());
  EXPECT_THAT(WriteIdx(files.labels, labels, IdxCompression::kGzip), IsOk());
  return files;
}

TEST(Idx, ChargesEachStageWithWhatItMakesUntilTheLastElementIsGone) {
  const TempDir dir;
  const int64_t before = Ledger::Default()->bytes();
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(WriteFiles(dir)) | Shuffle{} |
                                                           Normalize{.mean = {0.5}} |
                                                           Batch{.size = 16});
    Runtime runtime = Runtime::Threaded(2);
    runtime.chunk = 1;  // the batches of a larger chunk are copied into memory of `batch`
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
    // What is loaded counts for as long as the dataset lives.
    constexpr int64_t kLoaded = kImages * (28 * 28 + 1);
    EXPECT_EQ(Ledger::Default()->bytes(), before + kLoaded);
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> batches, ReadAll(*iterator));
    EXPECT_EQ(batches.size(), 4u);
    const Profile profile = iterator->GetProfile();
    constexpr int64_t kRows = 16 * 28 * 28;
    EXPECT_GE(profile.stages[0].peak_memory_bytes, kLoaded + kRows + 64);  // rows as bytes
    EXPECT_EQ(profile.stages[1].peak_memory_bytes, 0);                     // shuffle
    EXPECT_GE(profile.stages[2].peak_memory_bytes, 4 * kRows * 4);         // rows as floats
    EXPECT_GE(profile.peak_memory_bytes, profile.stages[2].peak_memory_bytes);
    EXPECT_GE(Ledger::Default()->bytes(), before + kLoaded + 4 * kRows * 4);
  }
  EXPECT_EQ(Ledger::Default()->bytes(), before);
}

TEST(Idx, LoadsWithinTheBudgetOfThePassOrRefusesBeforeItDoes) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(WriteFiles(dir)));
  Runtime runtime = Runtime::Inline();
  runtime.memory_budget = 50'200;  // enough for the images, not for the labels beside them
  EXPECT_THAT(
      dataset.Open(runtime),
      FailsWith(StatusCode::kResourceExhausted,
                "labels.gz: its values take 64 bytes of memory, but the budget is 50200 "
                "bytes, of which 50176 bytes are used; pack it into .npy or .stoker files"));
  runtime.memory_budget = 100'000;
  for (int pass = 0; pass < 2; ++pass) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
    EXPECT_EQ(iterator->GetProfile().peak_memory_bytes, kImages * (28 * 28 + 1)) << pass;
  }
  runtime.memory_budget = 50'200;  // of a later pass, which is to bear what is loaded
  EXPECT_THAT(dataset.Open(runtime),
              FailsWith(StatusCode::kResourceExhausted,
                        "its values take 50240 bytes of memory, but the "
                        "budget is 50200 bytes; pack it into .npy or .stoker files"));
}

TEST(Idx, RefusesKeysOfImagesThatItDoesNotHave) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(WriteFiles(dir)));
  STOKER_ASSERT_OK(dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, Pass::Create(dataset, Runtime::Inline(), {}));
  const ReadContext context(*pass, /*epoch=*/0, /*vectorized=*/false);
  EXPECT_THAT(dataset.node().ReadKey({.epoch = 0, .index = kImages - 1}, context), IsOk());
  EXPECT_THAT(dataset.node().ReadKey({.epoch = 0, .index = kImages}, context),
              FailsWith(StatusCode::kOutOfRange, "have the data changed?"));
}

TEST(Idx, RefusesFilesThatDoNotBelongTogether) {
  const TempDir dir;
  const Idx files = WriteFiles(dir);
  EXPECT_THAT(Source(Idx{.images = files.labels}),
              FailsWith(StatusCode::kDataLoss, "is this the label file?"));
  EXPECT_THAT(Source(Idx{.images = files.images, .labels = files.images}),
              FailsWith(StatusCode::kDataLoss, "is this the image file?"));
  const std::string few = dir / "few";
  STOKER_ASSERT_OK(WriteIdx(few, Array::Of(std::vector<uint8_t>{1, 2})));
  EXPECT_THAT(Source(Idx{.images = files.images, .labels = few}),
              FailsWith(StatusCode::kDataLoss,
                        fmt::format("few: byte 4: 2 labels announced, but {} (byte 4) announces {} "
                                    "images; the two files do not belong together",
                                    files.images.string(), kImages)));
}

}  // namespace stoker::idx_test
