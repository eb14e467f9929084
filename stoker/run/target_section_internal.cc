#include "stoker/run/target_section_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/base/problems.h"

namespace stoker {
namespace {

// The numbers that a recipe gives.
struct GivenMoments {
  static constexpr std::string_view kName = "normalize";
  std::vector<double> mean = {0};
  std::vector<double> std = {1};

  static void Describe(OptionTable<GivenMoments>& table) {
    table.Field("mean", &GivenMoments::mean, "what is subtracted, one or one for each number")
        .Field("std", &GivenMoments::std, "what is divided by, likewise", MoreThan(0));
  }
};

Status ParseGiven(const ConfigNode& node, TargetOptions& target) {
  if (node.kind != ConfigNode::Kind::kMap) {
    return InvalidArgument(
        "{}: train.target: normalize is {}; it must be auto without quotes, which learns mean and "
        "std from the training data, or numbers: {{mean: 200, std: 50}}",
        node.location.ToString(), node.KindName());
  }
  GivenMoments given;
  STOKER_RETURN_IF_ERROR(ParseOptionsOf(node, given));
  const size_t means = given.mean.size(), stds = given.std.size();
  if (means == 0 || stds == 0 || (means != stds && means != 1 && stds != 1)) {
    return InvalidArgument(
        "{}: train.target: normalize has {} means and {} stds; give one of each for every number "
        "of the target, or one for all",
        node.location.ToString(), means, stds);
  }
  const auto fits = [](double number) {
    return std::abs(number) <= std::numeric_limits<float>::max();
  };
  if (!std::ranges::all_of(given.mean, fits) || !std::ranges::all_of(given.std, fits) ||
      std::ranges::any_of(given.std, [](double std) { return static_cast<float>(std) == 0; })) {
    return InvalidArgument(
        "{}: train.target: normalize has numbers that float32 cannot hold, in which losses are "
        "computed; give smaller ones, or a std above 1e-45",
        node.location.ToString());
  }
  given.mean.resize(std::max(means, stds), given.mean.front());
  given.std.resize(std::max(means, stds), given.std.front());
  target.mean = std::move(given.mean);
  target.std = std::move(given.std);
  return OkStatus();
}

Status ParseOptionsOfTarget(const ConfigNode& node, TargetOptions& target) {
  if (node.kind == ConfigNode::Kind::kNull) return OkStatus();
  if (node.kind != ConfigNode::Kind::kMap) {
    return InvalidArgument(
        "{}: train.target: after the field come options such as {{normalize: auto, log: true}}, "
        "and here is {}",
        node.location.ToString(), node.KindName());
  }
  Problems problems;
  problems.Add(CheckKeys(node, "train.target", "option", {"normalize", "log"}));
  if (const ConfigNode* const log = node.Find("log")) {
    if (const Status read = ReadOption(*log, target.log); !read.ok()) {
      problems.Add(
          WithPrefix(fmt::format("{}: train.target: log ", log->location.ToString()), read));
    }
  }
  const ConfigNode* const normalize = node.Find("normalize");
  if (normalize == nullptr || normalize->kind == ConfigNode::Kind::kNull)
    return problems.ToStatus();
  // In quotes it asks for nothing, as with stages (data/learn/training_requests.h).
  target.learns = normalize->kind == ConfigNode::Kind::kScalar && !normalize->quoted &&
                  normalize->scalar == "auto";
  if (!target.learns) problems.Add(ParseGiven(*normalize, target));
  return problems.ToStatus();
}

}  // namespace

Status TakeTarget(ConfigNode& section, TargetOptions& target) {
  ConfigNode* const node = section.Find("target");
  if (node == nullptr || node->kind != ConfigNode::Kind::kMap) return OkStatus();
  if (node->entries.size() != 1) {
    const Status wrong = InvalidArgument(
        "{}: train.target names one field, such as `price` or {{price: {{normalize: auto}}}}, and "
        "here are {} keys",
        node->location.ToString(), node->entries.size());
    std::erase_if(section.entries,
                  [](const ConfigNode::Entry& entry) { return entry.key == "target"; });
    return wrong;
  }
  ConfigNode::Entry named = std::move(node->entries.front());
  ConfigNode name = ConfigNode::Scalar(named.key, /*quoted=*/true);
  name.location = named.key_location;
  *node = std::move(name);
  TargetOptions read;
  STOKER_RETURN_IF_ERROR(ParseOptionsOfTarget(named.value, read));
  target = std::move(read);
  return OkStatus();
}

ConfigNode FilledTarget(const std::string& name, const TargetOptions& target) {
  if (!target.transforms()) return WriteOption(name);
  ConfigNode options = ConfigNode::Map({});
  if (target.learns) {
    options.entries.push_back({"normalize", {}, ConfigNode::Scalar("auto")});
  } else if (!target.mean.empty()) {
    options.entries.push_back({"normalize",
                               {},
                               ConfigNode::Map({{"mean", {}, WriteOption(target.mean)},
                                                {"std", {}, WriteOption(target.std)}})});
  }
  options.entries.push_back({"log", {}, WriteOption(target.log)});
  return ConfigNode::Map({{name, {}, std::move(options)}});
}

}  // namespace stoker
