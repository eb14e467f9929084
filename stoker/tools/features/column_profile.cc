#include "stoker/tools/features/column_profile.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "stoker/base/short_text.h"
#include "stoker/base/utf8.h"
#include "stoker/formats/csv/row_parser.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr size_t kCountedBytes = size_t{1} << 18;  // of the values that are counted
constexpr size_t kHistogramParts = 20;

// The counts of equal parts of the range, of all values while the sketch holds them, else of as
// many quantiles.
std::vector<int64_t> HistogramOf(const QuantileSketch& sketch, size_t exact, double least,
                                 double greatest) {
  std::vector<double> values =
      sketch.Dividers(std::min(sketch.count(), static_cast<int64_t>(exact)));
  values.push_back(least);
  std::vector<double> counts(kHistogramParts);
  const double each = static_cast<double>(sketch.count()) / static_cast<double>(values.size());
  for (const double value : values) {
    // Of halves: the whole range may be more than a double holds.
    const double share =
        greatest > least ? (value / 2 - least / 2) / (greatest / 2 - least / 2) : 0;
    counts[static_cast<size_t>(std::min(share * kHistogramParts, kHistogramParts - 1.0))] += each;
  }
  std::vector<int64_t> parts(kHistogramParts);
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

bool ColumnProfile::IsConstant() const {
  return kind == ColumnKind::kNumbers ? least == greatest : !more && different == 1;
}

bool ColumnProfile::AllDiffer() const { return rows - missing >= kFewRows && !more && !repeats; }

bool ColumnProfile::FitsFloat32() const {
  const double largest = std::max(std::abs(least), std::abs(greatest));
  return largest <= std::numeric_limits<float>::max() && (largest == 0 || largest >= 1e-30);
}

std::string ColumnProfile::DifferentText() const {
  return (more ? "over " : "") + WithThousands(static_cast<double>(different));
}

std::optional<double> NumberInCell(std::string_view cell) {
  const std::optional<double> number = NumberInCsvCell(cell);
  return number && std::isfinite(*number) ? number : std::nullopt;
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
    has_line_ends_ = has_line_ends_ || trimmed.find_first_of("\n\r") != trimmed.npos;
    is_utf8_ = is_utf8_ && IsUtf8(trimmed);
    if (!first_text_) first_text_ = {ShortText(trimmed, 40), rows_};
  }
}

void ColumnProfiler::AddNumber(double number, std::string_view cell) {
  all_whole_ = all_whole_ && number == std::floor(number) && std::abs(number) < 1e15;
  written_whole_ = written_whole_ && cell.find_first_of(".eE") == std::string_view::npos;
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
  if (++counts_[std::string(cell)] == 1) counted_bytes_ += cell.size();
  if (counts_.size() > limits_.counted || counted_bytes_ > kCountedBytes) {
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
  int64_t marked = 0;
  for (const auto& [mark, count] : marks_) {
    marked += count;
    made.marks.push_back(mark);
    if (made.kind == ColumnKind::kTexts) {
      // There NA is a word as others are.
      if (!many_) counts[mark] = count;
      ++made.different;
      made.repeats = made.repeats || count > 1;
    } else {
      made.missing += count;
    }
  }
  made.counts_up = made.kind == ColumnKind::kNumbers && all_whole_ && counts_up_ && numbers_ > 1;
  for (const auto& [value, count] : counts) made.common.push_back({value, count});
  std::ranges::sort(made.common, [](const ValueCount& a, const ValueCount& b) {
    return a.count != b.count ? a.count > b.count : a.value < b.value;
  });
  if (made.kind == ColumnKind::kNumbers) {
    made.whole = all_whole_;
    made.written_whole = all_whole_ && written_whole_;
    made.least = stats_.min();
    made.greatest = stats_.max();
    made.mean = stats_.mean();
    made.deviation = stats_.standard_deviation();
    made.median = sketch_.Dividers(2).front();
    made.histogram = HistogramOf(sketch_, limits_.exact, made.least, made.greatest);
  } else if (made.kind == ColumnKind::kTexts) {
    const int64_t there = rows_ - missing_ - marked;
    made.has_line_ends = has_line_ends_;
    made.is_utf8 = is_utf8_;
    made.mean_length = length_ / static_cast<double>(there);
    if (numbers_ * 20 >= there * 19) made.odd = first_text_;
  }
  return made;
}

}  // namespace stoker
