#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stoker/base/options.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Goes on where elements of its input cannot be made, up to a limit. In a recipe it is mostly
// written as a key beside a stage, which puts it right behind that stage:
//
//   - images: {folder: train}
//     on_error: {policy: skip, limit: 100, log: bad.jsonl}
//
// An element fails where a stage gives an error for it or throws: sources and stages that are read
// by position, maps, generators and batch. It covers those of them that stand before it up to the
// next stage of another kind; an error in the order itself (a compressed stream that is damaged in
// its middle) ends the pass as without it. So does trouble that says nothing about the element
// (IsAboutOneElement, failure.h): a server that stays away, no memory, too many open files, a disk
// that cannot be read, access that is refused, files that change while they are read, being asked
// to stop. What may pass is waited for before. A file that is missing is the fault of its sample.
//
//   skip     The element is left out, and what stands behind fills up from what follows: batches
//            stay full. How many are left is not known beforehand, so what follows is read in
//            order.
//   replace  Another element of the same epoch stands in its place, with its own key; which one is
//            drawn from (seed, epoch, position, stage). The input must be readable by position and
//            have an end, and what follows still is. Zeros are not offered: they would be trained
//            on.
//   fail     As without it.
//
// Both limits count within an epoch and end the pass with an error that gives the figures. Without
// either, 0.01 of the elements may fail; where `limit` is given, it alone counts unless `share` is
// given too. The share is of the elements seen where it skips, of all elements of the epoch where
// it replaces; rounded up, and before 1,000 (or an epoch, if it has fewer) have been seen, of as
// many. The counts are part of the saved position: they hold across a resume, at under 500 bytes.
// Ranks that read by position count what fails in their own part, each against the whole limit, and
// what one of them has saved counts for all that continue; in order, each counts all that fails.
//
// Within the pipeline of interleave's files, each file is an epoch of its own: limits count within
// it.
//
// The log gets a line of JSON for each (failure_policy.h), written when the pass hands out what
// comes after it, so it is a function of what was handed out (loss_log.h). A pass that is restored
// cuts the log back to where its position was saved; of ranks, each goes on writing. Passes that
// are made again and again over the same elements, such as evaluations, log each of them once in
// all, and trials, such as those before a training, none (PassOptions::losses). What an epoch has
// cost is said once on standard error at its end, and is in the Profile.
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
