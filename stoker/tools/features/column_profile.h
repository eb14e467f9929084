// What the cells of one column of a table are: numbers or texts, which, and how many of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "stoker/base/quantile_sketch.h"
#include "stoker/base/statistics.h"

namespace stoker {

// What fewer rows have in common may be chance.
inline constexpr int64_t kFewRows = 20;

enum class ColumnKind {
  kEmpty,    // every cell is missing
  kNumbers,  // every cell that is not missing is a number
  kTexts,
};

// "empty", "numbers", "texts"
std::string_view NameOf(ColumnKind kind);

struct ValueCount {
  std::string value;
  int64_t count = 0;
};

struct ColumnProfile {
  std::string name;
  ColumnKind kind = ColumnKind::kEmpty;
  int64_t rows = 0;
  int64_t missing = 0;
  // Usual marks of missing values that are in cells: missing among numbers, words among texts.
  std::vector<std::string> marks;

  int64_t different = 0;   // values
  bool more = false;       // there are more than `different`, which were not counted
  bool repeats = false;    // one of the counted ones is there twice
  bool counts_up = false;  // whole numbers, each greater by one than that of the row before
  // All values, the most frequent first and equally frequent ones in their order. None where too
  // many are different.
  std::vector<ValueCount> common;

  // Of numbers:
  bool whole = false;          // such as 2 or 2.0
  bool written_whole = false;  // such as 2
  double least = 0, greatest = 0, mean = 0, deviation = 0;
  double median = 0;
  // Counts of equal parts of the range from least to greatest; estimated from quantiles where there
  // are more numbers than their exact limit.
  std::vector<int64_t> histogram;

  // Of texts:
  double mean_length = 0;      // in bytes
  bool has_line_ends = false;  // in one of them
  bool is_utf8 = true;
  // The first cell that is no number, where 19 of 20 are: most likely it is a fault of the table.
  struct Oddity {
    std::string cell;
    int64_t row = 0;  // from 1, without the header
  };
  std::optional<Oddity> odd;

  bool IsConstant() const;
  // Whether no value repeats, as in a column of names or numbers of the rows; false of a few rows,
  // where that may be chance.
  bool AllDiffer() const;
  // Whether its numbers are neither too large for float32 nor so small that it loses their digits.
  bool FitsFloat32() const;
  // "12", "over 1,000,000"
  std::string DifferentText() const;
};

// The finite number that a cell holds, as the source csv reads it; nothing for any other text.
std::optional<double> NumberInCell(std::string_view cell);

// Takes the cells of a column, one row after the other. One thread at a time.
class ColumnProfiler {
 public:
  // What a profiler keeps, by which its memory is bounded: about 40 bytes each of values that are
  // told apart, and 8 of numbers whose quantiles are exact (an even number).
  struct Limits {
    size_t different = size_t{1} << 20;
    size_t exact = QuantileSketch::kExact;
    size_t counted = 1000;  // values that are kept with their counts
  };

  ColumnProfiler(std::string name, const Limits& limits);

  void Add(std::string_view cell);

  ColumnProfile Finish() const;

 private:
  void CountValue(std::string_view cell);
  void AddNumber(double number, std::string_view cell);

  const std::string name_;
  const Limits limits_;
  int64_t rows_ = 0, missing_ = 0, numbers_ = 0;
  std::map<std::string, int64_t, std::less<>> marks_;  // with their counts
  bool all_whole_ = true, written_whole_ = true, counts_up_ = true;
  bool has_line_ends_ = false, is_utf8_ = true;
  double last_ = 0;
  RunningStats stats_;
  QuantileSketch sketch_;
  double length_ = 0;  // of texts, in all
  std::optional<ColumnProfile::Oddity> first_text_;
  // Hashes of the values, and the values themselves as long as there are few.
  std::unordered_set<uint64_t> hashes_;
  bool more_ = false, repeats_ = false;
  std::unordered_map<std::string, int64_t> counts_;
  bool many_ = false;
  size_t counted_bytes_ = 0;
};

}  // namespace stoker
