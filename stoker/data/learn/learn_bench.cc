// What it costs to learn the moments of 785 columns of a CSV file, beside reading it once.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/learn/learning_pass.h"
#include "stoker/io/atomic_file.h"

namespace stoker {
namespace {

constexpr int64_t kRows = 10'000, kColumns = 785;

// Small whole numbers, whose cells are quick to parse.
const std::filesystem::path& Folder() {
  static const TempDir folder;
  static const bool written = [] {
    Rng rng(1, 2, 3, 4);
    std::string text;
    for (int64_t i = 0; i < kRows * kColumns; ++i) {
      text += std::to_string(rng.Below(256));
      text += (i + 1) % kColumns == 0 ? '\n' : ',';
    }
    return WriteFileAtomically((folder.path() / "rows.csv").string(), text).ok();
  }();
  static const std::filesystem::path path = written ? folder.path() : "";
  return path;
}

struct Prepared {
  ConfigNode list;
  LearnGroup group;
  Dataset samples;
};

Result<Prepared> Prepare() {
  STOKER_ASSIGN_OR_RETURN(
      ConfigNode list,
      ParseYaml("[{csv: {files: rows.csv, header: no, index: memory, fields: {x: {columns: "
                "0-784, type: float32}}}}, {normalize: {mean: auto, field: x}}]",
                "bench"));
  STOKER_ASSIGN_OR_RETURN(LearnGroup group, NextGroup(list, FindLearnRequests(list), Folder()));
  STOKER_ASSIGN_OR_RETURN(Dataset samples, SamplesFor(list, group, Folder()));
  return Prepared{std::move(list), std::move(group), std::move(samples)};
}

void BM_Read(benchmark::State& state) {
  const Result<Prepared> prepared = Prepare();
  if (!prepared.ok()) return state.SkipWithError(prepared.status().message().c_str());
  for (auto _ : state) {
    const auto rows = prepared->samples.Open(Runtime::Threaded());
    int64_t read = 0;
    while (true) {
      const auto some = (*rows)->NextRows(1024);
      if (!some.ok() || !*some) break;
      read += (*some)->size();
    }
    if (read != kRows) state.SkipWithError("wrong number of rows");
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_Read)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_Learn(benchmark::State& state) {
  const Result<Prepared> prepared = Prepare();
  if (!prepared.ok()) return state.SkipWithError(prepared.status().message().c_str());
  for (auto _ : state) {
    const Result<PassResult> result =
        RunLearningPass(prepared->samples, prepared->list, prepared->group);
    if (!result.ok() || result->samples != kRows) state.SkipWithError("nothing learned");
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(BM_Learn)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stoker
