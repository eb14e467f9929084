#include "stoker/run/registry.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "stoker/data/core/ragged_fields.h"
#include "stoker/data/core/tokens.h"
#include "stoker/data/transforms/layout.h"

namespace stoker {
namespace {

constexpr std::string_view kTop = "top";  // the metric that topK stands for

}  // namespace

ScheduleRegistry& ScheduleRegistry::ToAddTo() {
  static ScheduleRegistry registry = [] {
    ScheduleRegistry filled;
    RegisterBuiltinSchedules(filled);
    return filled;
  }();
  return registry;
}

std::optional<int64_t> TopOfMetric(std::string_view name) {
  if (!name.starts_with("top")) return std::nullopt;
  int64_t k = 0;
  const auto [end, error] = std::from_chars(name.data() + 3, name.data() + name.size(), k);
  if (error != std::errc() || end != name.data() + name.size() || k < 1) return std::nullopt;
  return k;
}

Result<MetricRegistry::Configured> MetricRegistry::Parse(const ConfigNode& node) const {
  ConfigNode named = node;
  if (const auto k =
          node.kind == ConfigNode::Kind::kScalar ? TopOfMetric(node.scalar) : std::nullopt) {
    ConfigNode top = ConfigNode::Scalar(fmt::format("{}", *k));
    top.location = node.location;
    named = ConfigNode::Map({{std::string(kTop), node.location, std::move(top)}});
    named.location = node.location;
  }
  STOKER_ASSIGN_OR_RETURN(Base::Configured kind, Registry::Parse(named));
  const auto facts = std::ranges::find(facts_, kind.name, &Facts::name);
  return Named(std::move(kind), facts->better, facts->measures);
}

MetricRegistry::Configured MetricRegistry::Named(Base::Configured kind, Better better,
                                                 bool (*measures)(TargetKind)) {
  Configured metric{std::move(kind), better, measures};
  const ConfigNode& options = metric.node.entries.front().value;
  const bool is_top = metric.name == kTop;
  if (is_top) metric.name += options.Find("k")->scalar;
  if (is_top || options.entries.empty()) metric.node = ConfigNode::Scalar(metric.name);
  return metric;
}

std::string MetricRegistry::NamesFor(TargetKind kind) const {
  std::vector<std::string> names;
  for (const Facts& facts : facts_) {
    if (facts.measures(kind))
      names.push_back(facts.name == kTop ? "topK (such as top5)" : facts.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<MeasuredFigure> MetricRegistry::FiguresOf(const std::vector<Configured>& metrics) {
  std::vector<MeasuredFigure> figures;
  for (const Configured& metric : metrics) {
    if (metric.better != Better::kNeither) figures.push_back({metric.name, metric.better});
  }
  return figures;
}

std::string ModelInput::ToString() const {
  if (!parts.empty()) {
    std::vector<std::string> texts;
    for (const ModelInput& part : parts)
      texts.push_back(fmt::format("{}: {}", part.name, part.ToString()));
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  if (tokens) return "tokens";
  if (steps) return fmt::format("{} {} a step", channels, channels == 1 ? "number" : "numbers");
  return fmt::format("{} x {} x {}", channels, height, width);
}

std::optional<int64_t> ModelInput::NumbersAStep() const {
  if (tokens || !parts.empty() || !features.empty() || num_values() < 1) return std::nullopt;
  if (steps) return channels;
  if (height == 1 && width == 1) return 1;
  return channels == 1 ? std::optional(width) : std::nullopt;
}

namespace {

// What a model of one input takes, for messages.
std::string_view TakenBy(ModelTakes takes) {
  if (takes.tokens && takes.steps) return "sequences of tokens or of numbers";
  if (takes.tokens) return "sequences of tokens";
  return takes.steps ? "sequences of numbers" : "numbers";
}

Status CheckTakesSteps(std::string_view model, ModelTakes takes, const ModelInput& input) {
  if (input.NumbersAStep()) return OkStatus();
  return InvalidArgument(
      "{} takes {}, [length, numbers], and the field of train.input holds {} of {}; give them two "
      "dimensions (`reshape`)",
      model, TakenBy(takes),
      input.features.empty() ? "samples" : "rows of features, which have no order,",
      input.ToString());
}

}  // namespace

Status CheckTakes(std::string_view model, ModelTakes takes, const ModelInput& input) {
  if (takes.inputs && input.parts.empty()) {
    return InvalidArgument(
        "{} takes several inputs, each by its name (train.input: {{NAME: FIELD, NAME: FIELD}}), "
        "and here is one without a name, samples of {}",
        model, input.ToString());
  }
  if (takes.inputs) return OkStatus();
  if (input.parts.size() == 1) {
    return InvalidArgument(
        "{} takes one input, which has no name: write the field alone into train.input, or take a "
        "model of several, such as joined",
        model);
  }
  if (!input.parts.empty()) {
    return InvalidArgument(
        "{} takes one input, and train.input names {}, {}; take a model of several, such as "
        "joined, or name one field",
        model, input.parts.size(), input.ToString());
  }
  if (input.features.HasCategories() && !takes.features) {
    return InvalidArgument(
        "{} takes {}, and the field of train.input holds rows of features with numbers of "
        "categories among them; take linear, mlp or wide_and_deep",
        model, TakenBy(takes));
  }
  if (takes.steps && !input.tokens) return CheckTakesSteps(model, takes, input);
  if (input.steps) {
    return InvalidArgument(
        "{} takes {}, and the field of train.input is ragged: sequences of {}; take lstm or gru{}",
        model, takes.tokens ? TakenBy(takes) : "samples of one size", input.ToString(),
        takes.tokens ? ""
                     : ", or give all one length (`truncate`, then `padded_batch` with `shape`)");
  }
  if (takes.tokens == input.tokens) return OkStatus();
  if (input.tokens) {
    return InvalidArgument(
        "{} takes numbers, and the field of train.input holds whole numbers, a sequence of tokens "
        "a sample: put `normalize` or `cast: float32` before `batch` if they are numbers, or take "
        "a model of sequences, such as embedding_bag",
        model);
  }
  return InvalidArgument(
      "{} takes sequences of tokens, whole numbers such as `words` makes of a text, and the field "
      "of train.input holds samples of {}; set train.input to the field of the tokens, or take "
      "lstm or gru for sequences of numbers",
      model, input.ToString());
}

Result<ModelInput> ModelInputOf(const Field& field, bool channels_last) {
  const Shape& shape = field.shape;
  if (IsTokens(field)) return ModelInput{.channels = 0, .tokens = true};
  const bool known = shape.size() >= 2 && IsFullyKnown(std::span(shape).subspan(1));
  if (IsFloating(field.dtype) && shape.size() >= 2 && shape.size() <= 3 &&
      shape[1] == kUnknownDim && IsFullyKnown(std::span(shape).subspan(2))) {
    return InvalidArgument(
        "field {} is no input for a model: its sequences of numbers are filled up to differing "
        "lengths, and no model would know where each ends; take `batch: {{ragged: true}}` in the "
        "place of what fills them up, with lstm or gru",
        field.ToString());
  }
  if (!known || shape.size() > 4) {
    return InvalidArgument(
        "field {} is no input for a model, which takes [samples, features], [samples, height, "
        "width] or [samples, channels, height, width]; make the shape known before `batch`",
        field.ToString());
  }
  if (shape.size() == 2) return ModelInput{.channels = shape[1]};
  if (shape.size() == 3) return ModelInput{.channels = 1, .height = shape[1], .width = shape[2]};
  if (channels_last) return ModelInput{.channels = shape[3], .height = shape[1], .width = shape[2]};
  return ModelInput{.channels = shape[1], .height = shape[2], .width = shape[3]};
}

Result<ModelInput> ModelInputOf(const Dataset& batches, std::string_view field) {
  STOKER_ASSIGN_OR_RETURN(const size_t index, batches.spec().IndexOf("train.input", field));
  const Field& found = batches.spec().fields[index];
  if (FindOffsets(batches, field)) {
    if (IsRaggedTokens(found)) return ModelInput{.tokens = true};
    if (IsRaggedNumbers(found))
      return ModelInput{.channels = found.shape.size() == 2 ? found.shape[1] : 1, .steps = true};
  }
  STOKER_ASSIGN_OR_RETURN(ModelInput input, ModelInputOf(found, HasChannelsLast(batches, field)));
  input.features = FindFeatureLayout(batches, field);
  if (!input.features.empty() && input.features.NumSlots() != input.num_values()) {
    return InvalidArgument(
        "field '{}' has {} values a sample, and `feature_row` made {}; no stage may change the row "
        "of features",
        field, input.num_values(), input.features.NumSlots());
  }
  return input;
}

Result<ModelInput> ModelInputOf(const Dataset& batches, const std::vector<InputField>& inputs) {
  if (inputs.size() == 1 && inputs.front().name.empty())
    return ModelInputOf(batches, inputs.front().field);
  ModelInput all;
  for (const InputField& input : inputs) {
    STOKER_ASSIGN_OR_RETURN(ModelInput part, ModelInputOf(batches, input.field));
    part.name = input.name;
    all.parts.push_back(std::move(part));
  }
  return all;
}

}  // namespace stoker
