#include "stoker/data/advice/limiting_stage.h"

#include <chrono>
#include <fstream>
#include <thread>

#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/runtime/pipeline_costs.h"
#include "stoker/data/sources/files.h"
#include "stoker/data/testing/picture_pass.h"
#include "stoker/data/testing/testing.h"
#include "stoker/data/transforms/resize.h"

namespace stoker::limiting_stage_test {

using RunBy = LimitingStage::RunBy;
using Work = LimitingStage::Work;

void Sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

// A stage that is far slower than all others.
Map SlowMap(bool random) {
  return {.function =
              [](Element&, Rng&, Scratch&) {
                Sleep();
                return OkStatus();
              },
          .output = {},
          .random = random};
}

// The same elements, each of which takes long to come.
Dataset SlowStream(int64_t n) {
  const Dataset source = NumberedImages(n);
  return FromGenerator(source.spec(), [source](uint64_t) {
    std::shared_ptr<Iterator> elements = *source.Open(Runtime::Inline());
    return [elements] {
      Sleep();
      return elements->Next();
    };
  });
}

LimitingStage LimitOf(const Result<Dataset>& pipeline, bool fixed_threads = false) {
  const auto pass = *pipeline->Open(Runtime::Threaded(2));
  while ((*pass->Next()).has_value()) {
  }
  return LimitFinder(*pipeline, fixed_threads).Find(*pass);
}

TEST(LimitFinder, SaysWhoRunsTheStageAndWhatItDoes) {
  const LimitingStage repeats =
      LimitOf(Result<Dataset>(NumberedImages(40)) | SlowMap(/*random=*/false) | Batch{.size = 4});
  EXPECT_EQ(repeats.name, "map");
  EXPECT_EQ(repeats.run_by, RunBy::kThreads);
  EXPECT_EQ(repeats.work, Work::kRepeats);
  EXPECT_EQ(repeats.first_random, "");
  EXPECT_FALSE(repeats.cached);
  const LimitingStage draws =
      LimitOf(Result<Dataset>(NumberedImages(40)) | SlowMap(/*random=*/true) | Batch{.size = 4});
  EXPECT_EQ(draws.work, Work::kDraws);
}

TEST(LimitFinder, SeesWhetherAStreamIsReadAheadOfTheConsumer) {
  const LimitingStage alone = LimitOf(Result<Dataset>(SlowStream(40)) | Batch{.size = 4});
  EXPECT_EQ(alone.run_by, RunBy::kConsumer);
  EXPECT_EQ(alone.work, Work::kReads);
  const LimitingStage ahead =
      LimitOf(Result<Dataset>(SlowStream(40)) | Batch{.size = 4} | Prefetch{});
  EXPECT_EQ(ahead.run_by, RunBy::kOneThread);
}

TEST(LimitFinder, SeesTheCacheAndTheDrawsOfThePipeline) {
  const Result<Dataset> drawn = Result<Dataset>(NumberedImages(40)) | Shuffle{};
  EXPECT_EQ(LimitOf(drawn | SlowMap(/*random=*/false)).first_random, "shuffle");
  const Result<Dataset> kept =
      Result<Dataset>(NumberedImages(40)) | SlowMap(/*random=*/false) | Cache{} | Batch{.size = 4};
  EXPECT_TRUE(LimitOf(kept).cached);
  const Result<Dataset> kept_before =
      Result<Dataset>(NumberedImages(40)) | Cache{} | SlowMap(/*random=*/false);
  EXPECT_FALSE(LimitOf(kept_before).cached);
}

TEST(LimitFinder, SaysThatWhatFollowsADrawIsDrawnUnlessItCouldStandBefore) {
  const Result<Dataset> source(NumberedImages(40));
  const LimitingStage after_order = LimitOf(source | Shuffle{} | SlowMap(/*random=*/false));
  EXPECT_EQ(after_order.name, "map");
  EXPECT_EQ(after_order.work, Work::kRepeats);  // it may stand before shuffle, and be kept there
  const Map drawn = {.function = [](Element&, Rng&, Scratch&) { return OkStatus(); },
                     .output = {},
                     .random = true};
  const LimitingStage after_draws = LimitOf(source | Shuffle{} | drawn | SlowMap(/*random=*/false));
  EXPECT_EQ(after_draws.first_random, "shuffle");
  EXPECT_EQ(after_draws.work, Work::kDraws);
}

TEST(LimitFinder, CallsAStageIdleWhoseWorkIsFarLessThanTheWait) {
  EXPECT_FALSE(LimitOf(Result<Dataset>(NumberedImages(40)) | SlowMap(/*random=*/false)).idle);
  const auto idle = [](int64_t threads, double busy_share, double waited) {
    GroupCost group;
    group.threads = threads;
    group.stages.push_back({.busy_share = busy_share});
    return PipelineCosts{.groups = {group}, .waited = waited}.idle();
  };
  EXPECT_TRUE(idle(1, 0.01, 0.6));
  EXPECT_TRUE(idle(8, 0.01, 0.9));
  EXPECT_FALSE(idle(16, 0.06, 0.9));  // one of them always works
  EXPECT_FALSE(idle(1, 0.9, 0.9));
  EXPECT_FALSE(idle(1, 0.05, 0.06));
}

TEST(LimitFinder, SeesHowManyFilesASourceHasAndWhereTheyAre) {
  const TempDir dir;
  const auto files = [&](int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) {
      names.push_back((dir.path() / std::to_string(i)).string());
      std::ofstream(names.back()) << i;
    }
    return Source(Files{.path = FilePatterns(names), .read = true});
  };
  const LimitingStage many = LimitOf(files(100), /*fixed_threads=*/true);
  EXPECT_EQ(many.name, "files");
  EXPECT_EQ(many.work, Work::kReads);
  EXPECT_TRUE(many.many_files);
  EXPECT_TRUE(many.fixed_threads);
  EXPECT_FALSE(many.on_servers);
  EXPECT_FALSE(many.may_keep_copies);
  EXPECT_FALSE(LimitOf(files(3)).many_files);
}

TEST(LimitFinder, NamesAStageOfTheRecipeWhereMapsOfPicturesAreDoneInOnePass) {
  const TempDir dir;
  // So large that decoding them takes far longer than all else.
  const std::string picture = EncodeJpeg(MakePicture(900, 900, 3, /*seed=*/1));
  for (int i = 0; i < 8; ++i) WriteBelow(dir, fmt::format("{}/{}.jpg", i % 2, i), picture);
  const auto pictures = Source(Folder{.path = dir.path().string()}) | Decode{};
  const Result<Dataset> pipeline = pictures | Resize{.size = 16} | Batch{.size = 4};
  const LimitingStage limit = LimitOf(pipeline);
  EXPECT_EQ(limit.name, "decode");
  EXPECT_EQ(limit.work, Work::kRepeats);
  EXPECT_EQ(limit.first_random, "");
}

}  // namespace stoker::limiting_stage_test
