#include "stoker/data/sources/snapshot.h"

#include <fstream>

#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/filter.h"
#include "stoker/data/testing/cached.h"
#include "stoker/data/testing/promises.h"

namespace stoker::snapshot_test {

TEST(Snapshot, GivesWhatWasWrittenByPosition) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(25) | Shuffle{} | AddNoise());
  for (const Runtime& runtime : kRuntimes) {
    STOKER_ASSERT_OK(WriteSnapshot(dataset, dir / "s", runtime, {.seed = 4}));
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset snapshot, Source(Snapshot{.path = dir / "s"}));
    EXPECT_EQ(snapshot.spec(), dataset.spec());
    EXPECT_EQ(snapshot.cardinality(), Cardinality::Of(25));
    EXPECT_TRUE(snapshot.node().random_access());
    STOKER_ASSERT_OK_AND_ASSIGN(std::vector<Element> written,
                                ReadAll(dataset, Runtime::Inline(), {.seed = 4}));
    for (size_t i = 0; i < written.size(); ++i) written[i].key = {0, static_cast<int64_t>(i)};
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> read, ReadAll(snapshot, runtime));
    EXPECT_EQ(Fingerprint(read), Fingerprint(written));
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset batched,
                                Result<Dataset>(snapshot) | Shuffle{} | Batch{.size = 4});
    EXPECT_EQ(Fingerprint(*ReadAll(batched, runtime)),
              Fingerprint(*ReadAll(batched, Runtime::Inline())));
  }
}

// tf.data's save and load: what was drawn stays drawn.
TEST(Snapshot, GivesTheDrawsOfTheEpochThatWasWrittenInEveryPass) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, NumberedImages(25) | Shuffle{} | AddNoise());
  STOKER_ASSERT_OK(WriteSnapshot(dataset, dir / "s", Runtime::Threaded(2), {.seed = 4}));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset snapshot, Source(Snapshot{.path = dir / "s"}));
  const auto images = [](const Dataset& from, const PassOptions& pass) {
    std::vector<Element> all = *ReadAll(from, Runtime::Inline(), pass);
    for (size_t i = 0; i < all.size(); ++i) all[i].key = {0, static_cast<int64_t>(i)};
    return Fingerprint(all);
  };
  for (const uint64_t epoch : {0, 1}) {
    EXPECT_EQ(images(snapshot, {.seed = 9 + epoch, .epoch = epoch}), images(dataset, {.seed = 4}));
  }
  EXPECT_NE(images(dataset, {.seed = 9}), images(dataset, {.seed = 4}));
}

TEST(Snapshot, KeepsItsPromisesAlsoBehindAShuffleBuffer) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteSnapshot(NumberedImages(25), dir / "s"));
  const auto odd = [&] {
    return Source(Snapshot{.path = dir / "s"}) | Filter{.field = "label", .except = {4, 6}};
  };
  ExpectKeepsItsPromises(Source(Snapshot{.path = dir / "s"}));
  ExpectKeepsItsPromises(odd() | Shuffle{.buffer = 5});
  EXPECT_TRUE(odd()->node().rereadable());  // so the buffer is saved as keys
}

TEST(Snapshot, RefusesKeysOfElementsThatItDoesNotHave) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteSnapshot(NumberedImages(25), dir / "s"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Snapshot{.path = dir / "s"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, Pass::Create(dataset, Runtime::Inline(), {}));
  const ReadContext context(*pass, /*epoch=*/0, /*vectorized=*/false);
  EXPECT_THAT(dataset.node().ReadKey({.epoch = 0, .index = 24}, context), IsOk());
  for (const int64_t index : {25, -1}) {
    EXPECT_THAT(dataset.node().ReadKey({.epoch = 0, .index = index}, context),
                FailsWith(StatusCode::kOutOfRange, "have the data changed"));
  }
}

TEST(Snapshot, ReadsTheFileOfACacheAndRefusesOthers) {
  const TempDir dir;
  std::atomic<int> calls = 0;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset cached,
                              StreamedImages(9) | Costly(calls) | Cache{.path = dir / "c"});
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> written,
                              ReadAll(cached, Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset snapshot, Source(Snapshot{.path = dir / "c"}));
  EXPECT_EQ(Fingerprint(*ReadAll(snapshot, Runtime::Threaded(2))), Fingerprint(written));
  std::ofstream(dir / "text") << "not elements";
  EXPECT_THAT(Source(Snapshot{.path = dir / "text"}),
              FailsWith(StatusCode::kDataLoss, "this is no element file"));
  EXPECT_THAT(WriteSnapshot(*(NumberedImages(9) | Repeat{}), dir / "s"),
              FailsWith(StatusCode::kInvalidArgument, "has no end"));
}

}  // namespace stoker::snapshot_test
