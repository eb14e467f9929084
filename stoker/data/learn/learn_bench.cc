// What it costs to learn the moments of 785 columns of a CSV file, beside reading it once.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/random.h"
#include "stoker/base/statistics.h"
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

// Whether all rows were read.
bool Read(const Prepared& prepared) {
  const auto rows = prepared.samples.Open(Runtime::Threaded());
  int64_t read = 0;
  while (true) {
    const auto some = (*rows)->NextRows(1024);
    if (!some.ok() || !*some) return some.ok() && read == kRows;
    read += (*some)->size();
  }
}

bool Learn(const Prepared& prepared) {
  const Result<PassResult> result =
      RunLearningPass(prepared.samples, prepared.list, prepared.group);
  return result.ok() && result->samples == kRows;
}

// An iteration reads and learns in turn; `of_reading` is the median of learning by that of reading.
void BM_LearnBesideReading(benchmark::State& state) {
  const Result<Prepared> prepared = Prepare();
  if (!prepared.ok()) return state.SkipWithError(prepared.status().message().c_str());
  std::vector<double> reading, learning;
  for (auto _ : state) {
    const Stopwatch of_reading;
    const bool read = Read(*prepared);
    reading.push_back(of_reading.ElapsedSeconds());
    const Stopwatch of_learning;
    const bool learned = Learn(*prepared);
    learning.push_back(of_learning.ElapsedSeconds());
    if (!read || !learned) return state.SkipWithError("not all rows were read");
  }
  state.counters["rows_per_s"] = kRows / Median(learning);
  state.counters["of_reading"] = Median(learning) / Median(reading);
}
BENCHMARK(BM_LearnBesideReading)->UseRealTime()->Unit(benchmark::kMillisecond)->MinTime(2);

}  // namespace
}  // namespace stoker
