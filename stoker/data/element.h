// Element: one sample on its way through a pipeline; Rows: many samples of one shape, column by column.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/random.h"
#include "stoker/data/spec.h"

namespace stoker {

// Which sample it is, independent of where and when it is processed: the key of its random numbers.
struct SampleKey {
  uint64_t epoch = 0;
  int64_t index = 0;  // global: the sample's number in its source; of a batch, the batch's number

  bool operator==(const SampleKey&) const = default;
};

struct Element {
  SampleKey key;
  std::vector<Array> arrays;  // one for each field of the Spec, in its order

  int64_t num_bytes() const;
};

// n samples whose fields have equal shapes: column f has shape [n, ...field f's shape]. This is how tiny records are
// moved: one gather, one kernel call and one queue hop for many of them.
struct Rows {
  std::vector<SampleKey> keys;  // n
  std::vector<Array> columns;

  int64_t size() const { return static_cast<int64_t>(keys.size()); }
  int64_t num_bytes() const;
  // Sample i, sharing the columns' memory.
  Element RowElement(int64_t i) const;
};

class Scratch;

// Copies elements of equal shapes into columns. The error names the field and the two elements that disagree.
Result<Rows> StackElements(const Spec& spec, std::span<const Element> elements, Scratch& scratch);

// One element from rows: the columns become its arrays, as `batch` publishes them.
Element RowsAsElement(Rows rows, SampleKey key);

}  // namespace stoker
