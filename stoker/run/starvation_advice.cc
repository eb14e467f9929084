#include "stoker/run/starvation_advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "stoker/data/runtime/pipeline_costs.h"

namespace stoker {
namespace {

using RunBy = LimitingStage::RunBy;
using Work = LimitingStage::Work;

void AddForSource(const LimitingStage& stage, std::vector<std::string>& advice) {
  if (stage.run_by == RunBy::kOneThread)
    advice.push_back("read several files at the same time with `interleave`");
  if (stage.many_files)
    advice.push_back("put the samples into few large files (`stoker pack`) on a disk that is near");
  if (stage.may_keep_copies)
    advice.push_back("keep copies of the servers' files here (`data.remote.cache`)");
  if (!stage.cached) advice.push_back(fmt::format("put `cache` right after `{}`", stage.name));
  if (!advice.empty()) return;
  advice.push_back(stage.on_servers ? "copy the files to a disk that is near"
                                    : "put the files on a faster disk, or keep the cache for later "
                                      "runs (`cache: {path: FILE}`)");
}

// More threads help what computes only while there are CPUs for them.
void AddForDraws(const LimitingStage& stage, std::vector<std::string>& advice) {
  if (stage.run_by == RunBy::kThreads && !stage.fixed_threads && !stage.all_cpus) {
    advice.push_back(
        "give it more of the CPUs (`train.feed_threads`, and fewer `train.threads` where the CPU "
        "computes the steps)");
  }
  advice.push_back(
      fmt::format("do less in `{}`, or before it what need not be drawn anew "
                  "(`stoker pack`)",
                  stage.name));
}

void AddForRepeats(const LimitingStage& stage, std::vector<std::string>& advice) {
  if (stage.name == "cache") {
    advice.push_back("do once beforehand what precedes `cache` (`stoker pack`)");
    return;
  }
  if (!stage.cached && stage.first_random.empty()) {
    advice.push_back(fmt::format("put `cache` after `{}`, so that it works once", stage.name));
  } else if (!stage.cached) {
    advice.push_back(fmt::format("put `{}` before `{}`, and `cache` between them", stage.name,
                                 stage.first_random));
  }
  advice.push_back(fmt::format("do once beforehand what `{}` does (`stoker pack`)", stage.name));
}

std::string AdviceFor(const LimitingStage& stage) {
  if (stage.run_by == RunBy::kConsumer)
    return "end the pipeline with `prefetch`, so that it works while the model computes";
  std::vector<std::string> advice;
  switch (stage.work) {
    case Work::kReads: AddForSource(stage, advice); break;
    case Work::kDraws: AddForDraws(stage, advice); break;
    case Work::kRepeats: AddForRepeats(stage, advice); break;
  }
  const std::string threads =
      stage.fixed_threads && stage.run_by == RunBy::kThreads
          ? "leave train.feed_threads out, so that threads are added while that helps; "
          : "";
  return fmt::format("{}{}", threads, fmt::join(advice, ", or "));
}

}  // namespace

Starvation StarvationBy(const LimitingStage& stage, double waited) {
  // The pipeline sees its own waits only, and not what opening it took.
  if (stage.idle || !PipelineCosts::Explains(stage.busy_threads, waited)) {
    return {.waited = waited,
            .stage = "",
            .why = fmt::format("the busiest is `{}`: {}", stage.name, stage.why),
            .advice =
                "look at what the stages wait for with `stoker bench RECIPE --explain`, or give "
                "the pipeline more memory (`train.memory`), so that it reads further ahead"};
  }
  return {.waited = waited, .stage = stage.name, .why = stage.why, .advice = AdviceFor(stage)};
}

}  // namespace stoker
