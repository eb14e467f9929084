#pragma once

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Splits each element along its first dimension: fields of shape [n, ...] become [...]. All fields
// of an element must have that dimension with the same extent. The inverse of `batch`, for use
// after stages that work on batches only (a vectorised function, mixup).
//
// If the Spec has the size of every batch (`batch` with drop_remainder, or a size that divides the
// number of samples), sample i is part i % n of batch i / n, its key counts samples, and the number
// of samples is known. Batches of at most 64 KiB are then read by position if the input is; reading
// single samples at random makes the whole batch for each, so put `shuffle` before unbatch, not
// after it. Larger batches, and those of unknown size, are read in order, each made once. Samples
// of batches of unknown size are numbered in order. Restoring a saved position makes at most one
// batch again.
struct Unbatch {
  static constexpr std::string_view kName = "unbatch";
  static constexpr std::string_view kHelp =
      "Splits each element along its first dimension into its parts.";
  static constexpr bool kArranges = false;

  static void Describe(OptionTable<Unbatch>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
