#include "stoker/train/check/input_lint.h"

#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/data/transforms/lookup.h"
#include "stoker/data/transforms/normalize.h"

namespace stoker {
namespace {

// Inputs are normalised where their mean is less than this many deviations away from 0 (less than
// half where none is below 0), and their deviation lies between these. A normalised batch of few
// pictures may be all dark or all bright.
constexpr double kFarthestMean = 1.5, kFarthestMeanOfPositives = 0.5;
constexpr double kSmallestDeviation = 0.2, kLargestDeviation = 5;
// More would be no proposal that is read and copied.
constexpr int64_t kMostColumns = 32;

// The figures of each column or channel, the first dimension of a sample, as a list; one figure
// where there is but one, or too many.
std::string FigureOf(const at::Tensor& of_columns, double of_all) {
  if (of_columns.numel() < 2 || of_columns.numel() > kMostColumns) {
    return fmt::format("{:.3g}", of_all);
  }
  const double* const first = of_columns.const_data_ptr<double>();
  const std::vector<double> all(first, first + of_columns.numel());
  return fmt::format("[{:.3g}]", fmt::join(all, ", "));
}

// The entry of a recipe that brings such values to about 0 and 1. [n, height, width] are pictures
// of one channel, whose rows are no columns.
std::string NormalizeEntry(const at::Tensor& values, double mean, double deviation,
                           std::string_view field) {
  if (values.dim() == 3)
    return fmt::format("normalize: {{mean: {:.3g}, std: {:.3g}, field: {}}}", mean, deviation,
                       field);
  std::vector<int64_t> others = {0};
  for (int64_t d = 2; d < values.dim(); ++d) others.push_back(d);
  const at::Tensor means = values.mean(at::IntArrayRef(others)).cpu().contiguous();
  at::Tensor deviations =
      values.std(at::IntArrayRef(others), /*unbiased=*/false).cpu().contiguous();
  // A column that is always the same has none to divide by.
  deviations = at::where(deviations > 0, deviations, at::ones_like(deviations));
  return fmt::format("normalize: {{mean: {}, std: {}, field: {}}}", FigureOf(means, mean),
                     FigureOf(deviations, deviation), field);
}

// A stage of the pipeline that works on the field.
struct FieldStage {
  std::string name;
  const ConfigNode* options;  // null if none are written
};

// `key` of the stage's options; empty if it is not written.
std::string OptionText(const ConfigNode& options, std::string_view key) {
  const ConfigNode* const value = options.Find(key);
  return value == nullptr ? std::string() : value->scalar;
}

std::vector<FieldStage> StagesOn(std::string_view field, const ConfigNode* pipeline) {
  std::vector<FieldStage> stages;
  if (pipeline == nullptr) return stages;
  for (const ConfigNode& entry : pipeline->items) {
    if (entry.entries.empty()) continue;
    const ConfigNode& options = entry.entries.front().value;
    if (OptionText(options, "field") == field || OptionText(options, "output") == field) {
      stages.push_back({entry.entries.front().key, &options});
    }
  }
  return stages;
}

// Every row along the last dimension is 0 but for a single 1.
bool IsOneHot(const at::Tensor& values) {
  if (values.dim() < 2 || values.size(-1) < 2 || values.numel() == 0) return false;
  const bool bits = ((values == 0) | (values == 1)).all().item<bool>();
  const std::vector<int64_t> last = {-1};
  return bits && (values.sum(at::IntArrayRef(last)) == 1).all().item<bool>();
}

bool AreWhole(const at::Tensor& values) {
  return values.numel() > 0 && (values == values.round()).all().item<bool>();
}

// The stage that made numbers of words; null if none did.
const FieldStage* NumberedBy(const std::vector<FieldStage>& stages) {
  constexpr std::array<std::string_view, 4> kNumber = {"words", Lookup::kName, "wordpiece",
                                                       "sentencepiece"};
  const auto found = std::ranges::find_if(stages, [&](const FieldStage& stage) {
    return std::ranges::find(kNumber, stage.name) != kNumber.end();
  });
  return found == stages.end() ? nullptr : &*found;
}

// One figure for each extent of the dimension `axis` of the values, or one for all.
at::Tensor PerChannel(const std::vector<double>& figures, const at::Tensor& values, int64_t axis) {
  at::Tensor all = at::tensor(figures, values.options());
  if (figures.size() == 1) return all;
  std::vector<int64_t> shape(static_cast<size_t>(values.dim()), 1);
  shape[static_cast<size_t>(axis)] = static_cast<int64_t>(figures.size());
  return all.reshape(shape);
}

// The only `normalize`, where its figures are of 0..255 and the values that it got of 0..1.
std::optional<Normalize> InUnitsOf255(const std::vector<FieldStage>& stages,
                                      const at::Tensor& values) {
  if (std::ranges::count(stages, Normalize::kName, &FieldStage::name) != 1) return std::nullopt;
  const auto stage = std::ranges::find(stages, Normalize::kName, &FieldStage::name);
  Normalize options;
  if (!ParseOptionsOf(*stage->options, options).ok() || options.per_sample) return std::nullopt;
  if (std::ranges::max(options.mean) <= 1 || std::ranges::max(options.std) <= 1)
    return std::nullopt;
  const int64_t axis = options.by_last_dimension() ? values.dim() - 1 : 1;
  for (const size_t figures : {options.mean.size(), options.std.size()}) {
    if (figures > 1 && (values.dim() < 2 || values.size(axis) != static_cast<int64_t>(figures)))
      return std::nullopt;
  }
  const at::Tensor before =
      values * PerChannel(options.std, values, axis) + PerChannel(options.mean, values, axis);
  constexpr double kRounding = 1e-3;
  const bool unit =
      before.min().item<double>() >= -kRounding && before.max().item<double>() <= 1 + kRounding;
  return unit ? std::optional(std::move(options)) : std::nullopt;
}

std::string Divided(std::vector<double> figures) {
  for (double& figure : figures) figure /= 255;
  return figures.size() == 1 ? fmt::format("{:.3g}", figures.front())
                             : fmt::format("[{:.3g}]", fmt::join(figures, ", "));
}

LintFinding Finding(std::string problem, std::string advice) {
  return {.rule = "inputs",
          .where = "inputs",
          .problem = std::move(problem),
          .advice = std::move(advice)};
}

}  // namespace

std::optional<LintFinding> LintInputs(const at::Tensor& values, std::string_view field,
                                      const ConfigNode* pipeline) {
  const auto mean = values.mean().item<double>();
  const auto deviation = values.numel() > 1 ? values.std(/*unbiased=*/true).item<double>() : 0;
  const double farthest =
      values.min().item<double>() >= 0 ? kFarthestMeanOfPositives : kFarthestMean;
  if (deviation >= kSmallestDeviation && deviation <= kLargestDeviation &&
      std::abs(mean) <= farthest * deviation) {
    return std::nullopt;
  }
  if (IsOneHot(values)) return std::nullopt;
  const std::vector<FieldStage> stages = StagesOn(field, pipeline);
  if (const FieldStage* const by = NumberedBy(stages); by != nullptr && AreWhole(values)) {
    return Finding(
        fmt::format("'{}' holds numbers of words (of `{}`), and how large such a number "
                    "is means nothing",
                    field, by->name),
        fmt::format("give each word a column, by `one_hot: {{classes: N, field: {}}}`, or "
                    "make it a category of data.features",
                    field));
  }
  if (const auto normalize = InUnitsOf255(stages, values)) {
    return Finding("the mean and std of `normalize` are of 0..255, and it gets values of 0..1",
                   fmt::format("divide both by 255: normalize: {{mean: {}, std: {}, field: {}}}",
                               Divided(normalize->mean), Divided(normalize->std), field));
  }
  std::string problem =
      fmt::format("their mean is {:.3g} and their deviation {:.3g}, over a batch", mean, deviation);
  if (!std::isfinite(deviation)) {
    return Finding(std::move(problem),
                   "correct the samples that are not finite, or leave them out");
  }
  if (deviation <= 0) {
    return Finding(std::move(problem),
                   "all values are equal: look at the pipeline (`stoker inspect --grid`)");
  }
  const bool normalized = std::ranges::count(stages, Normalize::kName, &FieldStage::name) > 0;
  return Finding(std::move(problem),
                 fmt::format("bring them to about 0 and 1 before `batch`: {}{}",
                             NormalizeEntry(values, mean, deviation, field),
                             normalized ? ", times what an earlier one has done" : ""));
}

}  // namespace stoker
