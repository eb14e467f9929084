#include "stoker/train/predictor.h"

#include <ATen/Parallel.h>
#include <ATen/ops/softmax.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstring>

#include "stoker/data/from_arrays.h"
#include "stoker/data/runtime.h"
#include "stoker/data/transforms/layout.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/device_prefetcher.h"
#include "stoker/device/tensor.h"
#include "stoker/device/torch_error.h"
#include "stoker/io/file.h"
#include "stoker/train/feed.h"
#include "stoker/train/learner.h"
#include "stoker/train/loss.h"
#include "stoker/train/metrics.h"
#include "stoker/train/precision.h"
#include "stoker/train/run_directory.h"
#include "stoker/train/weights_source.h"

namespace stoker {
namespace {

// The names of the classes are plain text in the recipe: no data is needed to read them.
std::vector<std::string> ClassesOf(const ConfigNode& recipe) {
  std::vector<std::string> classes;
  const ConfigNode* data = recipe.Find("data");
  const ConfigNode* list = data == nullptr ? nullptr : data->Find("classes");
  if (list == nullptr) return classes;
  for (const ConfigNode& name : list->items) classes.push_back(name.scalar);
  return classes;
}

// Where the run has computed on this device, it computes here as it did there: as fast, and with
// the same bits.
Result<Choices> UseChoices(const std::filesystem::path& run, const OpenedDevice& device) {
  STOKER_ASSIGN_OR_RETURN(const std::optional<Choices> choices, ReadRunChoices(run));
  if (!choices || choices->device != device.device.str()) return Choices{};
  at::set_num_threads(choices->threads);
  return *choices;
}

void AppendPredictions(const Array& probabilities, std::vector<Prediction>& out) {
  const int64_t samples = probabilities.shape()[0];
  for (int64_t i = 0; i < samples; ++i) {
    const Array row = probabilities.Row(i);
    const std::span<float> values = row.values<float>();
    out.push_back({.probabilities = {values.begin(), values.end()},
                   .best = std::ranges::max_element(values) - values.begin()});
  }
}

Status PredictBatch(Model& model, const TensorBatch& batch, std::vector<Prediction>& out) {
  at::Tensor probabilities;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors(
      [&] { probabilities = at::softmax(model.Forward(batch.input).to(at::kFloat), 1); }));
  STOKER_ASSIGN_OR_RETURN(const Array rows, ToArray(probabilities));
  AppendPredictions(rows, out);
  return OkStatus();
}

}  // namespace

struct Predictor::Parts {
  std::filesystem::path run;
  ConfigNode recipe;
  ModelRegistry::Configured model_recipe;
  TrainOptions options;
  LossRegistry::Configured loss;
  std::vector<std::string> classes;
  OpenedDevice device;
  Choices choices;
  LoadedWeights loaded;
  std::shared_ptr<Model> model = nullptr;  // made once the shape of a sample is known
  ModelInput sample = {};                  // that shape

  // It computes as the run did.
  PrecisionScope Scope() const { return {choices.precision, device.device.type()}; }

  Result<std::unique_ptr<DevicePrefetcher>> Feed(const Dataset& dataset) const {
    const int64_t ahead = options.device_prefetch.value_or(choices.device_prefetch);
    return DevicePrefetcher::Open(
        dataset, Runtime::Threaded(1), {},
        FeedOptions(options, dataset, device.device, choices.memory_format),
        static_cast<int>(ahead));
  }

  // What the model was trained on, where that is known, or has been given before.
  Status CheckSample(const ModelInput& shape) const {
    const std::string trained = model ? sample.ToString() : loaded.sample;
    if (trained.empty() || shape.ToString() == trained) return OkStatus();
    return FailedPrecondition(
        "samples of {} (channels x height x width) are not what the model was trained on, {}; "
        "bring them to its channels and size",
        shape.ToString(), trained);
  }

  Status MakeModel(const Dataset& batches) {
    const Spec& spec = batches.spec();
    STOKER_ASSIGN_OR_RETURN(const size_t input, spec.IndexOf("train.input", options.input));
    STOKER_ASSIGN_OR_RETURN(
        const ModelInput shape,
        ModelInputOf(spec.fields[input], HasChannelsLast(batches, options.input)));
    STOKER_RETURN_IF_ERROR(CheckSample(shape));
    if (model) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(
        std::shared_ptr<Model> made,
        BuildModel(model_recipe, shape, /*seed=*/0,
                   {.device = device.device, .memory_format = choices.memory_format}));
    const Status fits = CopyArraysInto(StateOf(*made), loaded.arrays, /*prefix=*/"", loaded.source);
    if (!fits.ok() && loaded.sample.empty()) {
      return fits.While(fmt::format("making the model for samples of {}", shape.ToString()));
    }
    STOKER_RETURN_IF_ERROR(fits);
    model = std::move(made);
    sample = shape;
    return OkStatus();
  }

  // The samples behind the transforms of the eval pipeline, with class numbers that nobody reads.
  Result<Dataset> Prepare(const Array& samples) const {
    Array labels = Array::Allocate(DType::kUInt8, {samples.shape().front()});
    std::memset(labels.data(), 0, labels.num_bytes());
    STOKER_ASSIGN_OR_RETURN(
        Dataset source,
        FromArrays({{options.input, samples}, {options.target, std::move(labels)}}, "samples"));
    return BuildEvalPipelineOn(recipe, std::move(source));
  }
};

Predictor::Predictor(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Predictor::~Predictor() = default;

const std::string& Predictor::weights() const { return parts_->loaded.source; }
const std::vector<std::string>& Predictor::warnings() const { return parts_->loaded.warnings; }
const std::vector<std::string>& Predictor::classes() const { return parts_->classes; }

Result<std::unique_ptr<Predictor>> Predictor::Open(const std::filesystem::path& run,
                                                   const std::vector<std::string>& assignments) {
  STOKER_ASSIGN_OR_RETURN(ConfigNode recipe, ReadRunRecipe(run));
  STOKER_RETURN_IF_ERROR(ApplyAssignments(recipe, assignments));
  STOKER_ASSIGN_OR_RETURN(ModelRegistry::Configured model, ParseModelSection(recipe));
  STOKER_ASSIGN_OR_RETURN(TrainRecipe train, ParseTrainSection(recipe));
  STOKER_ASSIGN_OR_RETURN(LoadedWeights loaded, LoadRunWeights(RunPaths{run}));
  STOKER_ASSIGN_OR_RETURN(OpenedDevice device, OpenDeviceFor(train.options));
  STOKER_ASSIGN_OR_RETURN(const Choices choices, UseChoices(run, device));
  std::vector<std::string> classes = ClassesOf(recipe);
  return std::unique_ptr<Predictor>(
      new Predictor(std::make_unique<Parts>(Parts{.run = run,
                                                  .recipe = std::move(recipe),
                                                  .model_recipe = std::move(model),
                                                  .options = std::move(train.options),
                                                  .loss = std::move(train.loss),
                                                  .classes = std::move(classes),
                                                  .device = std::move(device),
                                                  .choices = choices,
                                                  .loaded = std::move(loaded)})));
}

bool Predictor::decodes() const {
  return EvalPipelineDecodes(parts_->recipe, parts_->options.input);
}

Result<Evaluation> Predictor::EvaluateRun() {
  STOKER_ASSIGN_OR_RETURN(const Dataset eval, ParseEvalPipeline(parts_->recipe, parts_->run));
  STOKER_RETURN_IF_ERROR(CheckEvaluable(eval));
  STOKER_RETURN_IF_ERROR(parts_->MakeModel(eval));
  STOKER_ASSIGN_OR_RETURN(const auto batches, parts_->Feed(eval));
  STOKER_RETURN_IF_ERROR(MetricSet::Check(parts_->options.metrics));
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<const Loss> loss, parts_->loss.build());
  const PrecisionScope scope = parts_->Scope();
  return Evaluate(*parts_->model, {*loss, parts_->options.metrics}, *batches);
}

Result<std::vector<Prediction>> Predictor::Predict(const Array& samples) {
  if (samples.shape().empty()) {
    return InvalidArgument("samples are {}; the first dimension must count them",
                           samples.ToString());
  }
  STOKER_ASSIGN_OR_RETURN(const Dataset prepared, parts_->Prepare(samples));
  STOKER_RETURN_IF_ERROR(parts_->MakeModel(prepared));
  STOKER_ASSIGN_OR_RETURN(const auto batches, parts_->Feed(prepared));
  const c10::InferenceMode no_gradients;
  const PrecisionScope scope = parts_->Scope();
  parts_->model->eval();
  std::vector<Prediction> predictions;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TensorBatch> batch, batches->Next());
    if (!batch) break;
    STOKER_RETURN_IF_ERROR(PredictBatch(*parts_->model, *batch, predictions));
  }
  if (std::ssize(predictions) != samples.shape().front()) {
    return FailedPrecondition(
        "data.eval gives {} of {} samples; predictions need a pipeline that leaves out none",
        predictions.size(), samples.shape().front());
  }
  return predictions;
}

}  // namespace stoker
