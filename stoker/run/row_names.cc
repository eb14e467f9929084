#include "stoker/run/row_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/data/core/batch_samples.h"

namespace stoker {
namespace {

std::string_view Samples(size_t count) { return count == 1 ? "sample" : "samples"; }

// If there are more rows, the first are named and the others counted: "samples 0, 1, ..., 7 and 24
// more".
constexpr size_t kMostNamed = 8;

std::span<const int64_t> Named(std::span<const int64_t> rows) {
  return rows.first(std::min(rows.size(), kMostNamed));
}

// How many are not named, of `all`: " and 3 more"; empty if there are none.
std::string More(size_t all) {
  return all <= kMostNamed ? "" : fmt::format(" and {} more", all - kMostNamed);
}

//   all  how many there are; `samples` are those that are named
std::string TextOf(const std::vector<BatchSample>& samples, size_t all, std::string_view dataset) {
  std::vector<std::string> each;
  for (const auto& [index, file] : samples) {
    each.push_back(file.empty() ? fmt::format("{}", index) : fmt::format("{} ({})", index, file));
  }
  return fmt::format("{} {}{} of {} (numbered from 0)", Samples(all), fmt::join(each, ", "),
                     More(all), dataset);
}

}  // namespace

std::string PlacesInBatch(const SampleKey& batch, std::span<const int64_t> rows) {
  return fmt::format("{} {}{} of batch {} of epoch {} (batches and samples are numbered from 0)",
                     Samples(rows.size()), fmt::join(Named(rows), ", "), More(rows.size()),
                     batch.index, batch.epoch + 1);
}

RowNames NamesInSource(Dataset batches, uint64_t seed, std::string field, std::string name) {
  return [batches = std::move(batches), seed, field = std::move(field), name = std::move(name)](
             const SampleKey& batch, std::span<const int64_t> rows) {
    const auto samples = SamplesInBatch(batches, seed, batch, Named(rows), field);
    return samples.ok() ? TextOf(*samples, rows.size(), name) : PlacesInBatch(batch, rows);
  };
}

}  // namespace stoker
