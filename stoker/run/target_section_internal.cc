#include "stoker/run/target_section_internal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "stoker/base/options.h"
#include "stoker/base/problems.h"
#include "stoker/run/loss_section_internal.h"
#include "stoker/run/metrics_section_internal.h"

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

// `who` is "train.target", or of several "train.target.NAME"; likewise below.
Status ParseGiven(const ConfigNode& node, std::string_view who, TargetOptions& target) {
  if (node.kind != ConfigNode::Kind::kMap) {
    return InvalidArgument(
        "{}: {}: normalize is {}; it must be auto without quotes, which learns mean and std from "
        "the training data, or numbers: {{mean: 200, std: 50}}",
        node.location.ToString(), who, node.KindName());
  }
  GivenMoments given;
  STOKER_RETURN_IF_ERROR(
      ParseOptions(OptionsOf<GivenMoments>(), fmt::format("{}.normalize", who), node, &given));
  const size_t means = given.mean.size(), stds = given.std.size();
  if (means == 0 || stds == 0 || (means != stds && means != 1 && stds != 1)) {
    return InvalidArgument(
        "{}: {}: normalize has {} means and {} stds; give one of each for every number of the "
        "target, or one for all",
        node.location.ToString(), who, means, stds);
  }
  const auto fits = [](double number) {
    return std::abs(number) <= std::numeric_limits<float>::max();
  };
  if (!std::ranges::all_of(given.mean, fits) || !std::ranges::all_of(given.std, fits) ||
      std::ranges::any_of(given.std, [](double std) { return static_cast<float>(std) == 0; })) {
    return InvalidArgument(
        "{}: {}: normalize has numbers that float32 cannot hold, in which losses are computed; "
        "give smaller ones, or a std above 1e-45",
        node.location.ToString(), who);
  }
  given.mean.resize(std::max(means, stds), given.mean.front());
  given.std.resize(std::max(means, stds), given.std.front());
  target.mean = std::move(given.mean);
  target.std = std::move(given.std);
  return OkStatus();
}

// The options `normalize` and `log`.
Status ParseTransform(const ConfigNode& node, std::string_view who, TargetOptions& target) {
  Problems problems;
  if (const ConfigNode* const log = node.Find("log")) {
    if (const Status read = ReadOption(*log, target.log); !read.ok()) {
      problems.Add(WithPrefix(fmt::format("{}: {}: log ", log->location.ToString(), who), read));
    }
  }
  const ConfigNode* const normalize = node.Find("normalize");
  if (normalize == nullptr || normalize->kind == ConfigNode::Kind::kNull)
    return problems.ToStatus();
  // In quotes it asks for nothing, as with stages (data/learn/training_requests.h).
  target.learns = normalize->kind == ConfigNode::Kind::kScalar && !normalize->quoted &&
                  normalize->scalar == "auto";
  if (!target.learns) problems.Add(ParseGiven(*normalize, who, target));
  return problems.ToStatus();
}

// What one target has elsewhere.
constexpr std::pair<std::string_view, std::string_view> kOfSeveral[] = {
    {"loss", "set train.loss"},
    {"metrics", "set train.metrics"},
    {"outputs", "all outputs of the model are for it"},
    {"weight", "its loss is weighed against no other"},
    {"classes", "set data.classes"}};

Status ParseOptionsOfTarget(const ConfigNode& node, TargetOptions& target) {
  if (node.kind == ConfigNode::Kind::kNull) return OkStatus();
  if (node.kind != ConfigNode::Kind::kMap) {
    return InvalidArgument(
        "{}: train.target: after the field come options such as {{normalize: auto, log: true}}, "
        "and here is {}",
        node.location.ToString(), node.KindName());
  }
  Problems problems;
  ConfigNode known = node;
  for (const auto& [name, instead] : kOfSeveral) {
    const ConfigNode* const option = node.Find(name);
    if (option == nullptr) continue;
    problems.Add(
        InvalidArgument("{}: train.target: '{}' is an option of several targets; of one, {}",
                        option->location.ToString(), name, instead));
    known.Erase(name);
  }
  problems.Add(CheckKeys(known, "train.target", "option", {"normalize", "log"}));
  problems.Add(ParseTransform(node, "train.target", target));
  return problems.ToStatus();
}

// The options of one of several targets that are read by their types alone.
constexpr double kMostOutputs = 1e8;
struct PlainOptions {
  int64_t outputs = 1;
  double weight = 1;
  std::vector<std::string> classes = {};

  static void Describe(OptionTable<PlainOptions>& table) {
    table
        .Field("outputs", &PlainOptions::outputs, "outputs of the model for it",
               Between(1, kMostOutputs))
        .Field("weight", &PlainOptions::weight, "what its loss is multiplied by",
               Between(1e-30, 1e30))
        .Field("classes", &PlainOptions::classes, "names of its classes or labels, in order");
  }
};

Status ParsePlain(const ConfigNode& node, std::string_view who, TargetRecipe& target) {
  ConfigNode plain = node;
  const std::vector<Option>& known = OptionsOf<PlainOptions>();
  std::erase_if(plain.entries, [&](const ConfigNode::Entry& entry) {
    return std::ranges::find(known, entry.key, &Option::name) == known.end();
  });
  PlainOptions read;
  STOKER_RETURN_IF_ERROR(ParseOptions(known, who, plain, &read));
  target.outputs = read.outputs;
  target.weight = read.weight;
  target.classes = std::move(read.classes);
  // One output of bce tells two classes apart.
  const int64_t names = std::ssize(target.classes);
  if (names == 0 || names == target.outputs || (names == 2 && target.outputs == 1))
    return OkStatus();
  return InvalidArgument("{}: {}: classes has {} names, and outputs is {}; make them agree",
                         node.Find("classes")->location.ToString(), who, target.classes.size(),
                         target.outputs);
}

// Weights of classes that the recipe gives are as many as the target has outputs.
Status CheckWeights(const TargetRecipe& target) {
  const ConfigNode* const weights = WeightsOf(target.loss);
  if (weights == nullptr || weights->items.empty() || std::ssize(weights->items) == target.outputs)
    return OkStatus();
  return InvalidArgument(
      "{}: train.target.{}: its loss has {} weights of classes, and outputs is {}; give one for "
      "each",
      target.loss.location.ToString(), target.field, weights->items.size(), target.outputs);
}

Status ParseOneOfSeveral(const ConfigNode::Entry& entry, TargetRecipe& target) {
  target.field = entry.key;
  // Figures of a target are NAME.figure.
  if (entry.key.empty() || entry.key.find('.') != std::string::npos) {
    return InvalidArgument(
        "{}: train.target: '{}' is no name for one of several targets, which has letters and no "
        "dot; let the source call the field otherwise",
        entry.key_location.ToString(), entry.key);
  }
  const ConfigNode& node = entry.value;
  if (node.kind == ConfigNode::Kind::kNull) return OkStatus();
  if (node.kind != ConfigNode::Kind::kMap) {
    return InvalidArgument(
        "{}: train.target.{}: each of several targets has options, such as {{outputs: 3, loss: "
        "cross_entropy}}, and here is {}",
        node.location.ToString(), entry.key, node.KindName());
  }
  const std::string who = fmt::format("train.target.{}", entry.key);
  Problems problems;
  problems.Add(CheckKeys(node, who, "option",
                         {"outputs", "weight", "classes", "loss", "metrics", "normalize", "log"}));
  problems.Add(ParsePlain(node, who, target));
  problems.Add(ParseTransform(node, who, target.transform));
  if (const ConfigNode* const loss = node.Find("loss"))
    problems.Take(ParseLoss(*loss, target.balanced), target.loss);
  problems.Add(CheckWeights(target));
  ReadMetrics read;
  problems.Add(ParseMetrics(node, target.metrics, read, fmt::format("{}.metrics", who)));
  return problems.ToStatus();
}

// The keys that each target has for itself.
Status CheckNoneForAll(const ConfigNode& section) {
  Problems problems;
  for (const char* const key : {"loss", "metrics"}) {
    const ConfigNode* const node = section.Find(key);
    if (node == nullptr || node->kind == ConfigNode::Kind::kNull) continue;
    problems.Add(InvalidArgument(
        "{0}: train.{1} is that of one target, and each of several has its own: target: {{NAME: "
        "{{{1}: ...}}}}",
        node->location.ToString(), key));
  }
  return problems.ToStatus();
}

ConfigNode TransformOf(const TargetOptions& target) {
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
  return options;
}

}  // namespace

Status TakeTarget(ConfigNode& section, TargetOptions& target) {
  ConfigNode* const node = section.Find("target");
  if (node == nullptr || node->kind != ConfigNode::Kind::kMap) return OkStatus();
  if (node->entries.empty()) {
    const Status wrong = InvalidArgument(
        "{}: train.target is an empty map; name a field, such as `price` or {{price: {{normalize: "
        "auto}}}}",
        node->location.ToString());
    section.Erase("target");
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

bool NamesSeveralTargets(const ConfigNode& section) {
  const ConfigNode* const node = section.Find("target");
  return node != nullptr && node->kind == ConfigNode::Kind::kMap && node->entries.size() > 1;
}

Status TakeTargets(ConfigNode& section, std::vector<TargetRecipe>& targets) {
  if (!NamesSeveralTargets(section)) return OkStatus();
  ConfigNode* const node = section.Find("target");
  Problems problems;
  std::vector<TargetRecipe> read;
  for (const ConfigNode::Entry& entry : node->entries)
    problems.Add(ParseOneOfSeveral(entry, read.emplace_back()));
  problems.Add(CheckNoneForAll(section));
  if (!problems.empty()) {
    section.Erase("target");
    return problems.ToStatus();
  }
  std::ranges::sort(read, {}, &TargetRecipe::field);
  ConfigNode first = ConfigNode::Scalar(read.front().field, /*quoted=*/true);
  first.location = node->location;
  *node = std::move(first);
  targets = std::move(read);
  return OkStatus();
}

ConfigNode FilledTarget(const std::string& name, const TargetOptions& target) {
  if (!target.transforms()) return WriteOption(name);
  return ConfigNode::Map({{name, {}, TransformOf(target)}});
}

ConfigNode FilledTargets(const std::vector<TargetRecipe>& targets) {
  ConfigNode filled = ConfigNode::Map({});
  for (const TargetRecipe& target : targets) {
    const PlainOptions plain{
        .outputs = target.outputs, .weight = target.weight, .classes = target.classes};
    ConfigNode options = FormatOptions(OptionsOf<PlainOptions>(), &plain);
    options.entries.push_back({"loss", {}, FilledLoss(target.loss, target.balanced)});
    options.entries.push_back({"metrics", {}, FilledMetrics(target.metrics)});
    ConfigNode transform = TransformOf(target.transform);
    std::ranges::move(transform.entries, std::back_inserter(options.entries));
    filled.entries.push_back({target.field, {}, std::move(options)});
  }
  return filled;
}

}  // namespace stoker
