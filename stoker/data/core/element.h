// Element: one sample in a pipeline; Rows: many samples of one shape, column by column.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/array.h"
#include "stoker/base/status.h"
#include "stoker/data/core/spec.h"

namespace stoker {

class Scratch;

// Identifies a sample independently of where and when it is processed; the key of its random
// numbers.
struct SampleKey {
  uint64_t epoch = 0;
  int64_t index = 0;  // global: the sample's number in its source; of a batch, the batch's number

  bool operator==(const SampleKey&) const = default;
};

// Why an element could not be made.
struct Failure {
  Status reason;
  std::string stage;  // the stage whose work failed
};

struct Element {
  SampleKey key;
  std::vector<Array> arrays;  // one for each field of the Spec, in its order
  // Null except for failed elements, which have no arrays. Only an iterator that was opened
  // tolerantly (OpenContext) returns failed elements.
  std::shared_ptr<const Failure> failure;

  int64_t num_bytes() const;
};

// Returns the bytes of the arrays that are charged to no account (MemoryAccount): memory of user
// code.
int64_t UnchargedBytes(std::span<const Array> arrays);

// n samples whose fields have equal shapes: column f has shape [n, ...field f's shape]. Many tiny
// records move as one: one gather, one kernel call and one queue operation.
struct Rows {
  std::vector<SampleKey> keys;  // n
  std::vector<Array> columns;

  int64_t size() const { return static_cast<int64_t>(keys.size()); }
  int64_t num_bytes() const;
  // Returns sample i, sharing the columns' memory.
  Element RowElement(int64_t i) const;
  // Returns samples begin..end-1, sharing the columns' memory.
  Rows Slice(int64_t begin, int64_t end) const;
};

// Copies elements (at least one) of equal shapes into columns. If shapes differ the error names the
// field (by `spec`, or by number if it has too few) and the two elements that disagree.
Result<Rows> StackElements(const Spec& spec, std::span<const Element> elements, Scratch& scratch);

// Returns one sample as rows of one, sharing its memory.
Rows ElementAsRows(Element element);

// Copies several Rows with equal columns into one, in order.
Rows ConcatenateRows(std::span<const Rows> parts, Scratch& scratch);

// Returns one element whose arrays are the columns, as `batch` outputs it.
Element RowsAsElement(Rows rows, SampleKey key);

}  // namespace stoker
