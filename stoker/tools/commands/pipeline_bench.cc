#include "stoker/tools/commands/pipeline_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/statistics.h"
#include "stoker/data/advice/no_batch.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/ragged_fields.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/bucket_by_length.h"
#include "stoker/data/ops/padded_batch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/unbatch.h"
#include "stoker/data/options/registry.h"

namespace stoker {
namespace {

constexpr double kSliceSeconds = 0.5;

// Loading is done once for each dataset, so what is opened afterwards finds the files in memory.
Result<double> LoadMilliseconds(const Dataset& dataset) {
  const Stopwatch watch;
  STOKER_ASSIGN_OR_RETURN(const auto unused,
                          dataset.Open(Runtime::Inline(), {.losses = LossLogging::kNone}));
  return watch.ElapsedSeconds() * 1e3;
}

size_t BatchDepth(const Dataset& dataset) {
  const DatasetNode& node = dataset.node();
  const size_t before = node.inputs().empty() ? 0 : BatchDepth(node.input());
  for (const std::string_view batch : {Batch::kName, PaddedBatch::kName, BucketByLength::kName}) {
    if (node.name() == batch) return before + 1;
  }
  return node.name() == Unbatch::kName && before > 0 ? before - 1 : before;
}

// Counts samples as they come and closes a slice with the first batch that comes half a second or
// more after the slice began: none is shorter, so none has a rate that nothing could keep up. All
// that is counted is in a slice, so the rate over all lies between the least and the most.
class RateMeter {
 public:
  void Add(int64_t samples) {
    samples_ += samples;
    ++batches_;
    const double now = seconds();
    const double began = ends_.empty() ? 0 : ends_.back().seconds;
    if (now - began >= kSliceSeconds) ends_.push_back({now, samples_});
  }
  int64_t samples() const { return samples_; }
  int64_t batches() const { return batches_; }
  double seconds() const { return whole_.ElapsedSeconds(); }

  void Write(PipelineMeasurement& out) const {
    out.seconds = seconds();
    out.samples = samples_;
    out.batches = batches_;
    out.samples_per_s = static_cast<double>(samples_) / out.seconds;
    const std::vector<double> rates = Rates(out.seconds);
    out.slice_min = std::ranges::min(rates);
    out.slice_median = Median(rates);
    out.slice_max = std::ranges::max(rates);
  }

 private:
  struct End {
    double seconds = 0;
    int64_t samples = 0;  // until then
  };

  // Samples per second of each slice. What is left at the end is part of the last.
  std::vector<double> Rates(double end) const {
    std::vector<End> ends = ends_;
    if (!ends.empty()) ends.pop_back();
    ends.push_back({end, samples_});
    std::vector<double> rates;
    End begin;
    for (const End& slice : ends) {
      rates.push_back(static_cast<double>(slice.samples - begin.samples) /
                      (slice.seconds - begin.seconds));
      begin = slice;
    }
    return rates;
  }

  Stopwatch whole_;
  int64_t samples_ = 0, batches_ = 0;
  std::vector<End> ends_;  // of whole slices
};

Status EmptyPipeline() {
  return {StatusCode::kFailedPrecondition, NoBatch("the pipeline").message()};
}

Status OneBatch() {
  return FailedPrecondition(
      "the pipeline gives one batch in all, and what is measured begins after the first; measure "
      "more epochs (--epochs), or for a time (--seconds)");
}

Result<Dataset> Repeated(const Dataset& dataset, const std::optional<int64_t>& epochs) {
  if (!epochs) return Result<Dataset>(dataset) | Repeat{};
  if (dataset.cardinality().infinite()) {
    return InvalidArgument(
        "the pipeline repeats its data for ever, so its epochs do not end; measure for a time "
        "(--seconds)");
  }
  return Result<Dataset>(dataset) | Repeat{.count = *epochs};
}

}  // namespace

BenchObserver ShowPasses(WorkWatch& watch) {
  return [&watch](int64_t samples, int64_t batches, const Iterator& iterator) {
    watch.Note([&](LiveFacts& facts) {
      facts.work = WorkFacts{.samples = samples, .batches = batches};
      facts.pipeline = iterator.GetProfile();
    });
  };
}

int64_t SamplesIn(const Dataset& dataset, const Element& element) {
  const Spec& spec = dataset.spec();
  if (const auto offsets = FindOffsets(dataset, spec.fields.front().name)) {
    const Result<size_t> place = spec.IndexOf("bench", *offsets);
    if (place.ok()) return element.arrays[*place].shape().front() - 1;
  }
  const Shape& shape = element.arrays.front().shape();
  int64_t samples = 1;
  for (size_t i = 0; i < BatchDepth(dataset) && i < shape.size(); ++i) samples *= shape[i];
  return samples;
}

double PeakResidentMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024 * 1e-6;  // given in KiB
  }
  return 0;
}

Result<PipelineMeasurement> MeasurePipeline(const Dataset& dataset, const Runtime& runtime,
                                            const BenchLength& length) {
  PipelineMeasurement measured;
  STOKER_ASSIGN_OR_RETURN(const Dataset repeated, Repeated(dataset, length.epochs));
  STOKER_ASSIGN_OR_RETURN(measured.load_ms, LoadMilliseconds(repeated));
  const Stopwatch until_first;
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator,
                          repeated.Open(runtime, {.losses = LossLogging::kNone}));
  STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, iterator->Next());
  measured.first_batch_ms = until_first.ElapsedSeconds() * 1e3;
  if (!element) return EmptyPipeline();

  RateMeter meter;
  do {
    element.reset();  // used up, so its memory is free for another
    STOKER_ASSIGN_OR_RETURN(element, iterator->Next());
    if (!element) break;
    meter.Add(SamplesIn(repeated, *element));
    if (length.observer) length.observer(meter.samples(), meter.batches(), *iterator);
  } while (length.epochs || meter.seconds() < length.seconds);
  if (meter.batches() == 0) return length.epochs ? OneBatch() : EmptyPipeline();
  meter.Write(measured);
  measured.peak_rss_mb = PeakResidentMegabytes();
  measured.profile = iterator->GetProfile();
  MarkAddedStages(dataset, repeated, measured.profile);
  measured.explanation =
      ExplainPipeline(dataset, repeated, runtime.kind == Runtime::Kind::kThreaded, *iterator);
  return measured;
}

}  // namespace stoker
