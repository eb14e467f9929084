#include "stoker/train/row_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "stoker/data/batch_samples.h"

namespace stoker {
namespace {

std::string_view Samples(size_t count) { return count == 1 ? "sample" : "samples"; }

std::string TextOf(const std::vector<BatchSample>& samples, std::string_view dataset) {
  std::vector<std::string> each;
  for (const auto& [index, file] : samples) {
    each.push_back(file.empty() ? fmt::format("{}", index) : fmt::format("{} ({})", index, file));
  }
  return fmt::format("{} {} of {} (numbered from 0)", Samples(each.size()), fmt::join(each, ", "),
                     dataset);
}

}  // namespace

std::string PlacesInBatch(const SampleKey& batch, std::span<const int64_t> rows) {
  return fmt::format("{} {} of batch {} of epoch {} (batches and samples are numbered from 0)",
                     Samples(rows.size()), fmt::join(rows, ", "), batch.index, batch.epoch + 1);
}

RowNames NamesInSource(Dataset batches, uint64_t seed, std::string field, std::string name) {
  return [batches = std::move(batches), seed, field = std::move(field), name = std::move(name)](
             const SampleKey& batch, std::span<const int64_t> rows) {
    const auto samples = SamplesInBatch(batches, seed, batch, rows, field);
    return samples.ok() ? TextOf(*samples, name) : PlacesInBatch(batch, rows);
  };
}

}  // namespace stoker
