#include "stoker/tools/features/column_profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "stoker/base/short_text.h"
#include "stoker/formats/csv/row_parser.h"

namespace stoker {
namespace {

constexpr size_t kCountedValues = 1000;  // as texts with their counts
constexpr size_t kCommonValues = 10;
constexpr int64_t kHistogramParts = 20;

// The counts of equal parts of the range, from quantiles: a part has as many values as there are
// places of the sorted values in it.
std::vector<int64_t> HistogramOf(const QuantileSketch& sketch, double least, double greatest) {
  std::vector<int64_t> parts(kHistogramParts);
  if (!(greatest > least)) {
    parts.front() = sketch.count();
    return parts;
  }
  constexpr int64_t kPlaces = 2000;
  std::vector<double> values = sketch.Dividers(kPlaces);
  values.insert(values.begin(), least);
  const double each = static_cast<double>(sketch.count()) / static_cast<double>(values.size());
  std::vector<double> counts(kHistogramParts);
  for (const double value : values) {
    const double place = (value - least) / (greatest - least) * kHistogramParts;
    counts[std::min<size_t>(static_cast<size_t>(place), kHistogramParts - 1)] += each;
  }
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = std::llround(counts[i]);
  return parts;
}

}  // namespace

std::string_view NameOf(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::kEmpty: return "empty";
    case ColumnKind::kNumbers: return "numbers";
    case ColumnKind::kTexts: return "texts";
  }
  return "";
}

bool ColumnProfile::AllDiffer() const { return rows - missing >= kFewRows && !repeats; }

std::optional<double> NumberInCell(std::string_view cell) {
  cell = TrimmedCsvCell(cell);
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

ColumnProfiler::ColumnProfiler(std::string name, const Limits& limits)
    : name_(std::move(name)), limits_(limits), sketch_(limits.exact) {}

void ColumnProfiler::Add(std::string_view cell) {
  ++rows_;
  const std::string_view trimmed = TrimmedCsvCell(cell);
  if (trimmed.empty()) {
    ++missing_;
    return;
  }
  const std::optional<double> number = NumberInCell(trimmed);
  // A mark such as NA means a missing value in a column of numbers, and may be a word in another.
  if (!number && IsMissingCsvCell(trimmed, UsualMissingMarks())) {
    ++marks_.try_emplace(std::string(trimmed)).first->second;
    return;
  }
  CountValue(trimmed);
  if (number) {
    AddNumber(*number, trimmed);
  } else {
    length_ += static_cast<double>(trimmed.size());
    if (!first_text_) first_text_ = {ShortText(trimmed, 40), rows_};
  }
}

void ColumnProfiler::AddNumber(double number, std::string_view cell) {
  all_whole_ = all_whole_ && number == std::floor(number) && std::abs(number) < 1e15 &&
               cell.find_first_of(".eE") == std::string_view::npos;
  counts_up_ = counts_up_ && (numbers_ == 0 || number == last_ + 1);
  last_ = number;
  ++numbers_;
  length_ += static_cast<double>(cell.size());
  stats_.Add(number);
  sketch_.Add(number);
}

void ColumnProfiler::CountValue(std::string_view cell) {
  if (!more_) {
    const bool is_new = hashes_.insert(std::hash<std::string_view>()(cell)).second;
    repeats_ = repeats_ || !is_new;
    more_ = hashes_.size() > limits_.different;
  }
  if (many_) return;
  ++counts_[std::string(cell)];
  if (counts_.size() > kCountedValues) {
    many_ = true;
    counts_.clear();
  }
}

ColumnProfile ColumnProfiler::Finish() const {
  ColumnProfile made{.name = name_, .rows = rows_, .missing = missing_};
  if (first_text_) {
    made.kind = ColumnKind::kTexts;
  } else if (numbers_ > 0) {
    made.kind = ColumnKind::kNumbers;
  }
  std::unordered_map<std::string, int64_t> counts = counts_;
  made.different = static_cast<int64_t>(hashes_.size());
  made.more = more_;
  made.repeats = repeats_;
  for (const auto& [mark, count] : marks_) {
    if (made.kind == ColumnKind::kTexts) {
      // There NA is a word as others are.
      if (!many_) counts[mark] = count;
      ++made.different;
      made.repeats = made.repeats || count > 1;
    } else {
      made.missing += count;
      made.marks.push_back(mark);
    }
  }
  made.counts_up = made.kind == ColumnKind::kNumbers && all_whole_ && counts_up_ && numbers_ > 1;
  for (const auto& [value, count] : counts) made.common.push_back({value, count});
  std::ranges::sort(made.common, [](const ValueCount& a, const ValueCount& b) {
    return a.count != b.count ? a.count > b.count : a.value < b.value;
  });
  if (made.common.size() > kCommonValues) made.common.resize(kCommonValues);
  if (made.kind == ColumnKind::kNumbers) {
    made.whole = all_whole_;
    made.least = stats_.min();
    made.greatest = stats_.max();
    made.mean = stats_.mean();
    made.deviation = stats_.standard_deviation();
    made.median = sketch_.Dividers(2).front();
    made.histogram = HistogramOf(sketch_, made.least, made.greatest);
  } else if (made.kind == ColumnKind::kTexts) {
    const int64_t there = rows_ - missing_;
    made.mean_length = length_ / static_cast<double>(there);
    if (numbers_ * 20 >= there * 19) made.odd = first_text_;
  }
  return made;
}

}  // namespace stoker
