#include "stoker/formats/idx/idx.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "stoker/base/array.h"
#include "stoker/base/printable.h"
#include "stoker/base/statistics.h"
#include "stoker/formats/array_bytes.h"
#include "stoker/formats/idx/idx_admit.h"
#include "stoker/tools/formats/array_rows.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/samples.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// More different labels than this are not listed one by one.
constexpr size_t kMostClasses = 100;

struct ValueSummary {
  RunningStats stats;
  std::map<int64_t, int64_t> counts;  // of each integer, at most kMostClasses + 1 of them
};

template <typename T>
void Summarize(const Array& array, ValueSummary& out) {
  for (const T value : array.values<T>()) {
    out.stats.Add(static_cast<double>(value));
    if constexpr (std::is_integral_v<T>) {
      if (out.counts.size() <= kMostClasses) ++out.counts[static_cast<int64_t>(value)];
    }
  }
}

void SummarizeMore(const Array& array, ValueSummary& summary) {
  switch (array.dtype()) {
    case DType::kUInt8: Summarize<uint8_t>(array, summary); break;
    case DType::kInt8: Summarize<int8_t>(array, summary); break;
    case DType::kInt16: Summarize<int16_t>(array, summary); break;
    case DType::kInt32: Summarize<int32_t>(array, summary); break;
    case DType::kFloat32: Summarize<float>(array, summary); break;
    case DType::kFloat64: Summarize<double>(array, summary); break;
    default: break;  // IDX has no other types
  }
}

// Labels are what classes are counted of: one dimension of integers, few of them different.
bool AreLabels(const IdxHeader& header, const ValueSummary& summary) {
  return header.shape.size() == 1 && !IsFloating(header.dtype) &&
         summary.counts.size() <= kMostClasses;
}

void DescribeValues(const IdxHeader& header, const ValueSummary& summary, Inspection& out) {
  const RunningStats& stats = summary.stats;
  out.json["values"] = {{"min", stats.min()},
                        {"max", stats.max()},
                        {"mean", stats.mean()},
                        {"standard_deviation", stats.standard_deviation()}};
  out.text += fmt::format("  values   {:g} to {:g}, mean {:.4g}, standard deviation {:.4g}\n",
                          stats.min(), stats.max(), stats.mean(), stats.standard_deviation());
  if (header.dtype == DType::kUInt8 && !AreLabels(header, summary)) {
    out.text += fmt::format("  0 to 1   mean {:.4f}, standard deviation {:.4f} (for `normalize`)\n",
                            stats.mean() / 255, stats.standard_deviation() / 255);
  }
}

void DescribeLabels(const ValueSummary& summary, Inspection& out) {
  std::vector<std::vector<std::string>> rows = {{"label", "elements"}};
  Json counts = Json::object();
  for (const auto& [label, count] : summary.counts) {
    counts[std::to_string(label)] = count;
    rows.push_back({std::to_string(label), std::to_string(count)});
  }
  out.json["labels"] = std::move(counts);
  out.text += TableText(rows, 2);
}

Result<Inspection> InspectIdx(const std::string& path) {
  ValueSummary summary;
  STOKER_ASSIGN_OR_RETURN(const IdxHeader header, ForEachPartOfIdx(path, [&](const Array& values) {
                            SummarizeMore(values, summary);
                          }));
  const auto& [dtype, shape] = header;
  Inspection out;
  out.json = {{"file", path},
              {"format", "idx"},
              {"count", RowsOf(shape)},
              {"fields", {{"value", RowJson(dtype, shape)}}},
              {"dtype", DTypeName(dtype)},
              {"shape", shape}};
  out.text = fmt::format("{}: IDX, {}{}, {}; whole\n", Printable(path), DTypeName(dtype),
                         ShapeToString(shape), ByteText(*ArrayBytes(dtype, shape)));
  if (NumValues(shape) == 0) return out;
  DescribeValues(header, summary, out);
  if (AreLabels(header, summary)) DescribeLabels(summary, out);
  return out;
}

}  // namespace

const FileFormat kIdxFormat = {
    .name = "idx",
    .holds = [](const ProbedFile& file) -> Result<bool> { return file.content == FileKind::kIdx; },
    .checks = "its header and its size",
    .inspect = [](const ProbedFile& file) { return InspectIdx(file.path); },
    .recipe =
        [](const ProbedFile& file) {
          return fmt::format("idx: {{images: {}, labels: ...}}", file.path);
        },
    .open = [](const std::string& path,
               const Json&) { return SamplesOf(ReadFirstRowsOfIdx(path, kSampleBudget)); },
};

}  // namespace stoker
