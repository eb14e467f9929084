#include "stoker/data/sources/snapshot.h"

#include <fstream>

#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/cache_testing_internal.h"

namespace stoker {
namespace {

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

}  // namespace
}  // namespace stoker
