#include "stoker/tools/commands/pipeline_explanation.h"

#include <thread>

#include "stoker/base/testing.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/nodes/from_generator.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/options/registry.h"
#include "stoker/tools/commands/pipeline_bench.h"

namespace stoker::pipeline_explanation_test {

using testing::HasSubstr;

Map Takes(int milliseconds) {
  return {.function = [=](Element&, Rng&, Scratch&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return OkStatus();
  }};
}

Result<Dataset> Numbers() { return FromArrays({{"x", Array::Of(std::vector<int64_t>(50))}}); }

Dataset Generated() {
  return FromGenerator({{{"x", DType::kInt64, {}}}}, [](uint64_t) {
    return [left = 50]() mutable -> Result<std::optional<Element>> {
      if (left-- == 0) return std::nullopt;
      return Element{.arrays = {Array::Allocate(DType::kInt64, {})}};
    };
  });
}

TEST(ExplainPipeline, NamesTheStageThatTakesTheTimeAndMarksWhatBenchAdded) {
  for (const Dataset& source : {*Numbers(), Generated()}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset,
                                Result<Dataset>(source) | Takes(3) | Batch{.size = 2} | Prefetch{});
    STOKER_ASSERT_OK_AND_ASSIGN(const PipelineMeasurement measured,
                                MeasurePipeline(dataset, Runtime::Threaded(2), {.seconds = 0.3}));
    const PipelineExplanation& explained = measured.explanation;
    EXPECT_EQ(explained.limit, "map");
    EXPECT_EQ(explained.written, dataset.ToString());
    std::vector<std::string> names;
    for (const ExplainedGroup& group : explained.groups) {
      for (const ExplainedStage& stage : group.stages) {
        names.push_back(stage.name);
        EXPECT_GT(stage.elements, 0) << stage.name;
        if (stage.name != "map") continue;
        EXPECT_GE(stage.us_per_element, 3000);
        EXPECT_EQ(group.threads, 2);
        EXPECT_EQ(group.chunk, 1);
      }
    }
    EXPECT_THAT(names, testing::ElementsAre(source.node().name(), "map", "batch", "prefetch",
                                            "repeat (added by bench)"));
    EXPECT_EQ(measured.profile.stages.back().name, "repeat (added by bench)");
    EXPECT_THAT(explained.ToText(), HasSubstr("limit: map; 2 threads spent"));
    EXPECT_THAT(explained.ToText(), HasSubstr("threads 2: as asked for"));
    EXPECT_EQ(explained.ToJson()["limit"], "map");
  }
}

TEST(ExplainPipeline, NamesTheConsumerWhereItIsSlower) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Numbers() | Repeat{} | Prefetch{});
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Threaded(1)));
  std::string limit;
  // On a busy machine, it waits long for the first elements.
  for (int i = 0; i < 5000 && limit != "consumer"; ++i) {
    STOKER_ASSERT_OK(iterator->Next());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    limit = ExplainPipeline(dataset, dataset, true, *iterator).limit;
  }
  EXPECT_EQ(limit, "consumer");
}

TEST(ExplainPipeline, SaysOfAnInlinePassThatNothingWasChosen) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Numbers() | Batch{.size = 2});
  STOKER_ASSERT_OK_AND_ASSIGN(const PipelineMeasurement measured,
                              MeasurePipeline(dataset, Runtime::Inline(), {.seconds = 0.05}));
  EXPECT_THAT(measured.explanation.ToText(), HasSubstr("inline, one element after the other"));
  EXPECT_THAT(measured.explanation.ToText(), HasSubstr("none: nothing runs on threads"));
}

}  // namespace stoker::pipeline_explanation_test
