#pragma once

#include <functional>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Batches elements of similar length, which keeps padding small: an element goes into the bucket of
// its length, and a full bucket is output as one padded batch (padded_batch.h). At the end of an
// epoch the batches that are not full follow, shortest first, unless drop_remainder.
//
// The length is the extent of `field`'s first dimension that differs between elements (its first
// dimension if none does), or its value if it is an integer scalar; in C++ any function of the
// element. Bucket i has the lengths above boundaries[i - 1], up to and including boundaries[i]; a
// last bucket has all longer ones.
//
//   sizes   elements in a batch: one for all buckets, or one for each
//   tokens  the most values of a batch after padding: a bucket is output before an element that
//           would exceed it. A single longer element makes a batch alone. sizes, if given, limit
//           too.
//   pad_to_boundary  pads to the bucket's boundary instead of the longest, so that shapes repeat
//
// The options for padding, lengths and mask are those of padded_batch.
//
// Reads in order. Holds up to the sum of the buckets' sizes; the elements count against the memory
// budget, and if those of all buckets but one exceed it the pass ends (ResourceExhausted). A saved
// position has their keys, about 2 to 8 bytes each, and restoring makes them again; if the input
// cannot make elements from keys, it has a state of the input from before the oldest one held, and
// restoring reads from there.
struct BucketByLength {
  static constexpr std::string_view kName = "bucket_by_length";
  static constexpr std::string_view kHelp =
      "Makes padded batches of elements of similar length, by number or by tokens.";
  static constexpr bool kArranges = false;
  std::string field;
  std::vector<int64_t> boundaries;
  std::vector<int64_t> sizes;
  int64_t tokens = 0;
  bool drop_remainder = false;
  bool pad_to_boundary = false;
  std::vector<std::string> fields;
  std::vector<double> padding = {0};
  bool lengths = false;
  bool mask = false;

  // Only in C++: the length of an element, instead of `field`'s. Pure; called by one thread at a
  // time.
  std::function<int64_t(const Element& element)> length;

  static void Describe(OptionTable<BucketByLength>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
