#include "stoker/data/learn/learn.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/log.h"
#include "stoker/base/per_process.h"
#include "stoker/base/remote_path.h"
#include "stoker/data/core/file_stamps.h"
#include "stoker/data/core/recent_results.h"
#include "stoker/data/learn/learn_groups.h"
#include "stoker/data/learn/learning_pass.h"
#include "stoker/data/learn/requests.h"

namespace stoker {
namespace {

constexpr size_t kRemembered = 8;

using RememberedPasses = RecentResults<PassResult, kRemembered>;

RememberedPasses& Remembered() {
  static PerProcess<RememberedPasses> remembered;
  return remembered.Get();
}

std::string DescriptionOf(const ConfigNode& list, const LearnGroup& group,
                          const std::filesystem::path& root, const Dataset& samples) {
  std::string text = root.string() + "\n";
  for (size_t i = 0; i < list.items.size() && i <= std::max(group.end, group.requests.back().place);
       ++i)
    text += ToYamlLine(list.items[i]) + "\n";
  return text + samples.ToString() + FileStamps(samples);
}

std::string NamesOf(const std::vector<LearnedValue>& values) {
  constexpr size_t kNamed = 4;
  std::vector<std::string> names;
  for (const LearnedValue& value : values) names.push_back(value.Name());
  if (names.size() > kNamed) {
    const size_t more = names.size() - kNamed;
    names.resize(kNamed);
    names.push_back(fmt::format("{} more", more));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<std::shared_ptr<const PassResult>> LearnGroupOf(const ConfigNode& list,
                                                       const LearnGroup& group,
                                                       const std::filesystem::path& root) {
  STOKER_ASSIGN_OR_RETURN(const Dataset samples, SamplesFor(list, group, root));
  const std::string description = DescriptionOf(list, group, root, samples);
  if (auto known = Remembered().Find(description); known != nullptr) return known;
  const Stopwatch watch;
  STOKER_ASSIGN_OR_RETURN(PassResult result, RunLearningPass(samples, list, group));
  LogInfo("learned {} from {} samples in {:.1f} s", NamesOf(result.values), result.samples,
          watch.ElapsedSeconds());
  auto kept = std::make_shared<const PassResult>(std::move(result));
  Remembered().Add(description, kept);
  return kept;
}

}  // namespace

Result<std::shared_ptr<const Learned>> LearnFrom(const ConfigNode& train,
                                                 const std::filesystem::path& root) {
  std::vector<LearnRequest> left = FindLearnRequests(train);
  if (left.empty()) return std::shared_ptr<const Learned>();
  Json stages = Json::array();
  for (size_t i = 0; i <= left.back().place; ++i)
    stages.push_back(WithoutSecrets(ToYamlLine(train.items[i])));
  Learned learned;
  ConfigNode list = train;
  while (!left.empty()) {
    STOKER_ASSIGN_OR_RETURN(const LearnGroup group, NextGroup(list, left, root));
    STOKER_ASSIGN_OR_RETURN(const auto result, LearnGroupOf(list, group, root));
    for (size_t i = 0; i < group.requests.size(); ++i) {
      const LearnRequest& request = group.requests[i];
      list.items[request.place] =
          FilledStage(list.items[request.place], request, result->values[i]);
      learned.values.push_back(result->values[i]);
    }
    learned.from["samples"] = result->samples;
    left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(group.requests.size()));
  }
  learned.from["stages"] = std::move(stages);
  return std::make_shared<const Learned>(std::move(learned));
}

}  // namespace stoker
