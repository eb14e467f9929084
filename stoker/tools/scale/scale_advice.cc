#include "stoker/tools/scale/scale_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "stoker/base/options.h"
#include "stoker/run/recipe.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

constexpr int64_t kTimes = 4;       // larger batch, or parts of a step
constexpr int64_t kLocalSteps = 8;  // steps between two averages
// Fewer bytes travel in the time that a message takes in any case.
constexpr uint64_t kManyBytes = 4'000'000;
constexpr double kLeastGain = 1.05;

template <typename Options>
bool HasOption(std::string_view name) {
  return std::ranges::any_of(OptionsOf<Options>(),
                             [&](const Option& option) { return option.name == name; });
}

// How much faster steps become of which only `share` is left of the wait, with `times` the rows.
double GainOf(double wait, double times, double share) {
  const double own = 1 - wait;
  return times / (own * times + wait * share);
}

// The same step to more ranks with a larger batch, if that was measured and gains.
std::optional<ScaleCure> MeasuredBatch(const std::map<int64_t, std::vector<ScaleFigure>>& by_batch,
                                       const ScaleFinding& finding, std::string_view batch_key) {
  for (auto it = by_batch.upper_bound(finding.batch); it != by_batch.end(); ++it) {
    const auto rate = [&](int64_t ranks) {
      const auto found = std::ranges::find(it->second, ranks, &ScaleFigure::ranks);
      return found == it->second.end() ? 0.0 : found->samples_per_s;
    };
    const double fewer = rate(finding.fewer), more = rate(finding.more);
    if (!(fewer > 0) || more < kLeastGain * fewer) continue;
    return ScaleCure{.change = fmt::format("{}={}", batch_key, it->first),
                     .gain = more / finding.rate_more,
                     .measured = true,
                     .note = fmt::format("{} ranks then make {:.2f} times the rate of {}; fit the "
                                         "learning rate to it (train.lr_scaling)",
                                         finding.more, more / fewer, finding.fewer)};
  }
  return std::nullopt;
}

void AddCures(const std::map<int64_t, std::vector<ScaleFigure>>& by_batch, const ScaleFigure& at,
              std::string_view batch_key, ScaleFinding& finding) {
  const double wait = at.wait_for_ranks;
  std::vector<ScaleCure>& cures = finding.cures;
  if (std::optional<ScaleCure> measured = MeasuredBatch(by_batch, finding, batch_key)) {
    cures.push_back(*std::move(measured));
  } else {
    cures.push_back({.change = fmt::format("{}={}", batch_key, kTimes * at.batch),
                     .gain = GainOf(wait, kTimes, 1),
                     .note = "fit the learning rate to it (train.lr_scaling)"});
  }
  cures.push_back({.change = fmt::format("train.accumulate={}", kTimes),
                   .gain = GainOf(wait, kTimes, 1),
                   .note = fmt::format("a step then has {} batches, without more memory", kTimes)});
  if (HasOption<DistributedOptions>("local_steps")) {
    cures.push_back({.change = fmt::format("train.distributed.local_steps={}", kLocalSteps),
                     .gain = GainOf(wait, 1, 1.0 / static_cast<double>(kLocalSteps)),
                     .note = "ranks then learn apart between two averages of their weights"});
  }
  if (HasOption<DistributedOptions>("gradient_type") && at.gradient_bytes >= kManyBytes) {
    cures.push_back({.change = "train.distributed.gradient_type=bf16",
                     .gain = GainOf(wait, 1, 0.5),
                     .note = "half the bytes travel, rounded"});
  }
  std::erase_if(cures, [](const ScaleCure& cure) { return cure.gain < kLeastGain; });
  std::ranges::stable_sort(cures, [](const ScaleCure& a, const ScaleCure& b) {
    return a.measured != b.measured ? a.measured : a.gain > b.gain;
  });
}

}  // namespace

std::vector<ScaleFinding> FindLosses(std::vector<ScaleFigure> figures, int64_t cpus,
                                     std::string_view batch_key) {
  std::map<int64_t, std::vector<ScaleFigure>> by_batch;
  for (ScaleFigure& figure : figures) by_batch[figure.batch].push_back(figure);
  for (auto& [batch, group] : by_batch) std::ranges::sort(group, {}, &ScaleFigure::ranks);
  std::vector<ScaleFinding> findings;
  for (const auto& [batch, group] : by_batch) {
    for (size_t i = 1; i < group.size(); ++i) {
      const ScaleFigure &fewer = group[i - 1], &more = group[i];
      const bool noise = !more.differs && i == 1;
      if (more.samples_per_s >= fewer.samples_per_s || noise) continue;
      ScaleFinding finding{.batch = batch,
                           .fewer = fewer.ranks,
                           .more = more.ranks,
                           .rate_fewer = fewer.samples_per_s,
                           .rate_more = more.samples_per_s,
                           .wait_for_ranks = more.wait_for_ranks,
                           .lacks_cpus = cpus > 0 && more.ranks > cpus};
      AddCures(by_batch, more, batch_key, finding);
      findings.push_back(std::move(finding));
      break;
    }
  }
  return findings;
}

std::string ScaleFinding::ToText(std::string_view noun) const {
  std::string text = fmt::format(
      "At a batch of {}, {} ranks are slower than {} ({} and {} {}s a second): each has {} rows of "
      "a step, and waits {:.0f} % of it for the others.",
      batch, more, fewer, WithThousands(rate_more), WithThousands(rate_fewer), noun, batch / more,
      100 * wait_for_ranks);
  if (lacks_cpus) {
    text += fmt::format(
        " The {} ranks share fewer CPUs here, which no key cures: measure them on more machines.",
        more);
  }
  for (size_t i = 0; i < cures.size(); ++i) {
    const ScaleCure& cure = cures[i];
    text += fmt::format("{} {} ({} {:.1f} times as fast{}{})",
                        i == 0 ? (lacks_cpus ? " Against the wait helps" : " What helps:")
                        : i + 1 == cures.size() ? " or"
                                                : ",",
                        cure.change, cure.measured ? "measured" : "about", cure.gain,
                        cure.note.empty() ? "" : "; ", cure.note);
  }
  if (!cures.empty()) text += ".";
  if (cures.empty() && !lacks_cpus) text += " Fewer ranks are the better choice.";
  return text;
}

Json ScaleFinding::ToJson() const {
  Json json = {{"batch", batch},
               {"fewer", fewer},
               {"more", more},
               {"wait_for_ranks", wait_for_ranks},
               {"lacks_cpus", lacks_cpus},
               {"cures", Json::array()}};
  for (const ScaleCure& cure : cures) {
    json["cures"].push_back({{"change", cure.change},
                             {"gain", cure.gain},
                             {"measured", cure.measured},
                             {"note", cure.note}});
  }
  return json;
}

}  // namespace stoker
