#include "stoker/train/plan/model_trial.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stoker/base/problems.h"
#include "stoker/data/core/tokens.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/core/layers.h"
#include "stoker/train/core/objective.h"
#include "stoker/train/core/sample_of_zeros.h"
#include "stoker/train/core/token_check.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/step/finiteness.h"
#include "stoker/train/step/layer_trace.h"
#include "stoker/train/step/learner.h"

namespace stoker {
namespace {

constexpr int64_t kSamples = 2;  // batch norm needs more than one
constexpr int64_t kTokens = 4;   // of a sequence, which may have any length

// Samples of zeros in such a field, added to `inputs`.
void AddZeros(const Field& field, const FeederInput& input, Inputs& inputs) {
  if (input.offsets) {
    std::vector<int64_t> shape(field.shape.begin(), field.shape.end());
    shape[0] = kSamples * kTokens;
    inputs.Add(at::zeros(shape, IsRaggedTokens(field) ? at::kLong : at::kFloat),
               at::arange(0, kSamples * kTokens + 1, kTokens, at::kLong));
    return;
  }
  if (IsTokens(field)) return inputs.Add(at::zeros({kSamples, kTokens}, at::kLong));
  std::vector<int64_t> shape(field.shape.begin(), field.shape.end());
  shape[0] = kSamples;
  if (input.channels_last && shape.size() == 4) shape = {shape[0], shape[3], shape[1], shape[2]};
  inputs.Add(at::zeros(shape, at::kFloat));
}

// "the model convnet (recipe.yaml:12:8)"; a default has no place.
template <typename Configured>
std::string NameOf(std::string_view noun, const Configured& configured) {
  if (configured.location.file == nullptr) return fmt::format("the {} {}", noun, configured.name);
  return fmt::format("the {} {} ({})", noun, configured.name, configured.location.ToString());
}

// What is tried, for messages.
struct Tried {
  std::string samples;
  std::vector<Field> targets;
  RowNames names;
};

// "the loss mse (recipe.yaml:14:9)", "the losses of train.target (recipe.yaml:13:3)"
std::string LossesOf(const Recipe& recipe) {
  if (recipe.train.targets.empty()) return NameOf("loss", recipe.train.loss);
  return fmt::format("the losses of {}", recipe.train.NameOf("target"));
}

// Forward, the loss, and back. Returns the number of the model's outputs.
Result<int64_t> TryBatch(const Recipe& recipe, Model& model, const TensorBatch& batch,
                         const Tried& tried) {
  if (batch.input.any_ragged() && !model.TakesRagged()) {
    return InvalidArgument(
        "{} takes no ragged inputs, and here are {}; take padded_batch in the place of `batch`",
        NameOf("model", recipe.model), tried.samples);
  }
  at::Tensor scores;
  Status status = CatchTorchErrors([&] { scores = model.ForwardAllToTrain(batch.input).scores; });
  if (!status.ok()) {
    return ExplainForward(status, model, batch.input)
        .While(fmt::format("trying {} on {}", NameOf("model", recipe.model), tried.samples));
  }
  if (scores.dim() != 2 || scores.size(0) != batch.size()) {
    return InvalidArgument(
        "{} gives scores of [{}] for {} samples; it must give one row of scores a sample, "
        "[samples, classes]",
        NameOf("model", recipe.model), fmt::join(scores.sizes(), ", "), batch.size());
  }
  STOKER_RETURN_IF_ERROR(
      KindsOfTargets(recipe, tried.targets, "data.train", scores.size(1)).status());
  STOKER_ASSIGN_OR_RETURN(const Objective objective, BuildObjective(recipe.train));
  status = CatchTorchErrors([&] {
    const at::Tensor mean = objective.Mean(scores, batch.target);
    if (mean.requires_grad()) mean.backward();
    model.zero_grad();
  });
  if (tried.names) {
    const Status targets = CheckTargets(objective, batch, scores.size(1), tried.names);
    if (!targets.ok()) status = targets;
  }
  STOKER_RETURN_IF_ERROR(
      status.While(fmt::format("trying {} on scores of [{}] of {}", LossesOf(recipe),
                               fmt::join(scores.sizes(), ", "), NameOf("model", recipe.model))));
  return scores.size(1);
}

at::Tensor ZerosLike(const Field& target) {
  if (IsOneInteger(target)) return at::zeros({kSamples}, at::kLong);
  std::vector<int64_t> shape(target.shape.begin(), target.shape.end());
  shape[0] = kSamples;
  return at::zeros(shape, at::kFloat);
}

}  // namespace

Result<std::vector<Field>> TargetFields(const Recipe& recipe, const Dataset& batches) {
  std::vector<Field> fields;
  for (const std::string& target : recipe.train.options.AllTargets()) {
    STOKER_ASSIGN_OR_RETURN(const size_t place, batches.spec().IndexOf("train.target", target));
    fields.push_back(batches.spec().fields[place]);
  }
  return fields;
}

Result<std::vector<TargetKind>> KindsOfTargets(const Recipe& recipe,
                                               const std::vector<Field>& targets,
                                               std::string_view dataset, int64_t outputs) {
  STOKER_ASSIGN_OR_RETURN(const Objective objective, BuildObjective(recipe.train));
  Result<std::vector<TargetKind>> kinds = objective.KindsOf(targets, outputs);
  if (kinds.ok()) return kinds;
  std::vector<std::string> fields;
  for (const Field& target : targets) fields.push_back(target.ToString());
  return Status(kinds.status().code(),
                fmt::format("{} cannot be computed for the targets of {}, {}, beside the {} "
                            "output{} of {}: {}",
                            LossesOf(recipe), dataset, fmt::join(fields, " and "), outputs,
                            outputs == 1 ? "" : "s", NameOf("model", recipe.model),
                            kinds.status().message()));
}

Result<int64_t> TryModel(const Recipe& recipe, Model& model, const Dataset& batches) {
  const FeederOptions feed =
      FeedOptions(recipe.train.options, batches, c10::kCPU, MemoryFormat::kContiguous);
  STOKER_ASSIGN_OR_RETURN(const FeederFields places, FindFeederFields(batches.spec(), feed));
  const std::vector<Field>& fields = batches.spec().fields;
  STOKER_ASSIGN_OR_RETURN(std::vector<Field> targets, TargetFields(recipe, batches));
  TensorBatch zeros;
  std::vector<std::string> samples;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    for (size_t i = 0; i < places.inputs.size(); ++i) {
      const Field& input = fields[places.inputs[i]];
      AddZeros(input, feed.inputs[i], zeros.input);
      samples.push_back(input.ToString());
    }
    std::vector<at::Tensor> targets_of_zeros;
    for (const Field& target : targets) targets_of_zeros.push_back(ZerosLike(target));
    if (places.sample_weight) targets_of_zeros.push_back(at::ones({kSamples}));
    zeros.target = Targets(std::move(targets_of_zeros));
  }));
  // Zeros need be no targets that there can be.
  return TryBatch(recipe, model, zeros,
                  {.samples = fmt::format("samples of {}", fmt::join(samples, " and ")),
                   .targets = std::move(targets),
                   .names = nullptr});
}

Status TryOneSample(Model& model, const ModelInput& input) {
  const at::NoGradGuard no_gradients;
  const Status status =
      CatchTorchErrors([&] { model.ForwardAllToTrain(SampleOfZeros(input).Rows(0, 1)); });
  return MeetsOneValueOfAChannel(status) ? status : OkStatus();
}

std::optional<int64_t> OutputsToCheck(std::optional<int64_t> known, Model& model,
                                      const ModelInput& input, c10::Device device) {
  if (known || device.is_cpu()) return known;
  const bool training = model.is_training();
  model.eval();
  std::optional<int64_t> outputs;
  const Status status = CatchTorchErrors([&] {
    const c10::InferenceMode no_gradients;
    outputs = model.ForwardAll(SampleOfZeros(input).To(device)).size(1);
  });
  model.train(training);
  return status.ok() ? outputs : std::nullopt;
}

namespace {

// The first step would end the run.
Status CheckInputIsFinite(const TrainOptions& options, const TensorBatch& batch,
                          const RowNames& names) {
  if (options.on_nonfinite != "stop") return OkStatus();
  const std::vector<InputField> fields = options.AllInputs();
  for (size_t i = 0; i < fields.size(); ++i) {
    STOKER_RETURN_IF_ERROR(WithPrefix("data.train: the first batch: ", CatchTorchErrors([&] {
                                        return CheckFinite(batch.input.One(i), fields[i].field,
                                                           batch.key, names);
                                      })));
  }
  return OkStatus();
}

}  // namespace

Result<FirstBatch> TryFirstSamples(const Recipe& recipe) {
  STOKER_ASSIGN_OR_RETURN(FirstBatch first, ReadFirstBatch(recipe, c10::kCPU));
  STOKER_ASSIGN_OR_RETURN(const auto model, BuildModel(recipe.model, first.input, /*seed=*/0, {}));
  const int64_t samples = std::min(kSamples, first.batch.size());
  const TensorBatch tried{.input = first.batch.input.Rows(0, samples),
                          .target = first.batch.target.Rows(0, samples),
                          .key = first.batch.key};
  const TrainOptions& options = recipe.train.options;
  const RowNames names = NamesInSource(recipe.data.train, static_cast<uint64_t>(options.seed),
                                       options.input, "data.train");
  STOKER_RETURN_IF_ERROR(CheckInputIsFinite(options, first.batch, names));
  const std::vector<InputCheck> tokens =
      TokenChecksOf(model->TokensOfAll(), options.AllInputs(), names);
  for (size_t i = 0; i < std::min(tokens.size(), first.batch.input.all().size()); ++i) {
    if (!tokens[i]) continue;
    STOKER_RETURN_IF_ERROR(tokens[i](first.batch.input.One(i), first.batch.key)
                               .While("trying the first batch of data.train"));
  }
  STOKER_ASSIGN_OR_RETURN(std::vector<Field> targets, TargetFields(recipe, recipe.data.train));
  STOKER_RETURN_IF_ERROR(
      TryBatch(recipe, *model, tried,
               {.samples = fmt::format("the first {} samples of data.train", samples),
                .targets = std::move(targets),
                .names = names})
          .status());
  return first;
}

}  // namespace stoker
