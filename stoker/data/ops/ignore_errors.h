#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Continues when elements of its input cannot be made, up to a limit. A recipe usually writes it as
// a key beside a stage, which inserts it directly after that stage:
//
//   - images: {folder: train}
//     on_error: {policy: skip, limit: 100, log: bad.jsonl}
//
// An element fails if a stage returns an error for it or throws. This covers the preceding sources
// and stages that are read by position, maps, generators and batch, back to the nearest stage of
// another kind; an error in the order itself (a compressed stream that is damaged in its middle)
// ends the pass as without it. So does trouble that says nothing about the element
// (IsAboutOneElement, failure.h): a server that does not answer, no memory, too many open files, a
// disk that cannot be read, refused access, files that change while they are read, a request to
// stop. Transient trouble is retried first. A missing file is an error of its sample.
//
//   skip     Drops the element; batches stay full. The number of elements left is not known
//            beforehand, so later stages are read in order.
//   replace  Substitutes another element of the same epoch, with its own key, drawn by (seed,
//            epoch, position, stage). The input must be readable by position and finite, and the
//            output is too. Zeros are not offered, because the model would train on them.
//   fail     Behaves as without it.
//
// Both limits apply to an epoch and end the pass with an error that gives the numbers. Without
// either, a share of 0.01 of the elements may fail; a `limit` alone replaces that share. The share
// is of the elements seen for skip, of all elements of the epoch for replace; it is rounded up, and
// computed from at least 1,000 elements (or an epoch, if it has fewer). The counts are part of the
// saved position (under 500 bytes), so they hold across a resume. Ranks that read by position count
// failures in their own part, each against the whole limit, and the counts that one of them saved
// apply to all that continue; in order, each counts all failures.
//
// Within the pipeline of interleave's files, each file is an epoch: limits apply to each file.
//
// The log gets a line of JSON for each failure (failure_policy.h), written when the pass returns
// the next element, so it depends only on the elements returned (loss_log.h). A restored pass
// truncates the log to the saved position; ranks append. Repeated passes over the same elements,
// such as evaluations, log each failure once in all; trial passes, such as those before a training,
// log none (PassOptions::losses). The losses of an epoch are reported once on standard error at its
// end, and are in the Profile.
struct IgnoreErrors {
  static constexpr std::string_view kName = "ignore_errors";
  static constexpr std::string_view kHelp =
      "Goes on where elements cannot be made, up to a limit, and logs them. Mostly written as "
      "`on_error:` beside a stage.";
  static constexpr bool kArranges = true;
  std::string policy = "skip";
  std::optional<int64_t> limit;
  std::optional<double> share;
  std::filesystem::path log;

  static void Describe(OptionTable<IgnoreErrors>& table);
  Result<Dataset> Build(Dataset input) const;
};

}  // namespace stoker
