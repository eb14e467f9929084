#include "stoker/train/predict/predictor.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <set>

#include "stoker/data/advice/no_batch.h"
#include "stoker/data/core/ragged_fields.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/recipe/learned_section.h"
#include "stoker/data/recipe/numbered_pipeline.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/data/recipe/recipe_place.h"
#include "stoker/data/runtime/cpu_limit.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/device_prefetcher.h"
#include "stoker/device/torch_denormals.h"
#include "stoker/device/torch_threads.h"
#include "stoker/io/file.h"
#include "stoker/run/learned_train.h"
#include "stoker/run/run_directory.h"
#include "stoker/run/run_stage_files.h"
#include "stoker/run/weights_file.h"
#include "stoker/run/weights_source.h"
#include "stoker/train/core/objective.h"
#include "stoker/train/core/precision.h"
#include "stoker/train/core/token_check.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/plan/model_trial.h"
#include "stoker/train/predict/batch_predictions_internal.h"
#include "stoker/train/step/learner.h"

namespace stoker {
namespace {

// Where the run has computed on this device, it computes here as it did there: as fast, and with
// the same bits.
Result<Choices> UseChoices(const std::filesystem::path& run, const OpenedDevice& device) {
  STOKER_ASSIGN_OR_RETURN(const std::optional<Choices> choices, ReadRunChoices(run));
  if (!choices || choices->device != device.device.str()) return Choices{};
  STOKER_RETURN_IF_ERROR(SetTorchThreads(choices->threads));
  return *choices;
}

// While it lives, this thread computes as chosen.
class ComputeScope {
 public:
  ComputeScope(const Choices& choices, c10::DeviceType device)
      : precision_(choices.precision, device) {
    FlushTorchDenormals(choices.flush_denormals);
  }

 private:
  const PrecisionScope precision_;
  const TorchFloatModes modes_;
};

// What comes beside the model's input: the fields that were asked for, then the numbers.
std::vector<std::string> FieldsAlong(const NumberedPipeline& pipeline,
                                     const PredictOptions& options) {
  std::vector<std::string> along = options.fields;
  if (!pipeline.number.empty()) along.push_back(pipeline.number);
  return along;
}

// Checks the fields as the recipe's author knows them, so without the numbers.
Status CheckFields(const NumberedPipeline& pipeline, const FeederOptions& feed,
                   const std::vector<std::string>& wanted) {
  Spec spec = pipeline.batches.spec();
  std::erase_if(spec.fields, [&](const Field& field) { return field.name == pipeline.number; });
  const std::set<std::string> without_rows = FieldsWithoutRows(pipeline.batches);
  for (const std::string& name : wanted) {
    STOKER_ASSIGN_OR_RETURN(const size_t index, spec.IndexOf("predicting", name));
    if (without_rows.contains(name)) {
      return InvalidArgument(
          "predicting: field {} is of a ragged batch, which has no row of it for each sample; "
          "padded_batch makes one",
          spec.fields[index].ToString());
    }
    if (!spec.fields[index].shape.empty()) continue;
    return InvalidArgument("predicting: field {} has no row for each sample of a batch",
                           spec.fields[index].ToString());
  }
  FeederOptions as_known = feed;
  as_known.along.clear();
  return FindFeederFields(spec, as_known).status();
}

// The first `count` samples of a batch, with what came along with it.
//   input  the model's, whose files are meant
Result<PredictedBatch> PredictedBatchOf(const NumberedPipeline& pipeline, std::string_view input,
                                        const TensorBatch& batch,
                                        std::vector<Prediction> predictions, int64_t count) {
  PredictedBatch out;
  out.predictions = std::move(predictions);
  out.predictions.resize(static_cast<size_t>(count));
  for (const Array& array : batch.along) {
    if (array.shape().front() < count) {
      return DataLoss("a field has {} rows in a batch of {} samples: {}", array.shape().front(),
                      count, array.ToString());
    }
    out.fields.push_back(array.Rows(0, count));
  }
  if (pipeline.number.empty()) return out;
  const Array last = std::move(out.fields.back());
  out.fields.pop_back();
  const std::span<int64_t> numbers = last.values<int64_t>();
  for (const int64_t number : numbers) {
    const SampleKey key = KeyOfNumber(number);
    if (pipeline.numbers_source) out.numbers.push_back(key.index);
    if (pipeline.names) out.files.push_back(pipeline.names->NameOfKey(key, input));
  }
  return out;
}

// The stages that make such samples of pictures; empty if a sample is no picture.
std::string PictureStages(const std::optional<ModelInput>& sample) {
  if (!sample || sample->height < 2 || sample->width < 2) return {};
  if (sample->channels != 1 && sample->channels != 3) return {};
  return fmt::format(
      ", where they are pictures by these stages of data.eval before `normalize`: `decode: "
      "{{channels: {}}}` and `resize: {{height: {}, width: {}}}`",
      sample->channels == 1 ? "grey" : "rgb", sample->height, sample->width);
}

// What was learned goes with the weights: with the numbers of another run they predict nonsense.
Status CheckLearned(const std::filesystem::path& run, const LoadedWeights& loaded) {
  if (loaded.learned.empty()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<const Learned> learned, ReadRunLearned(run));
  if (learned && learned->ChecksumOfValues() == loaded.learned) return OkStatus();
  return DataLoss("{}: {} what the weights were trained with ({}); put the right file back",
                  RunPaths{run}.learned(), learned ? "is not" : "is missing, which is",
                  loaded.source);
}

// "price (1 output), taste (3 outputs)"; empty of one target.
std::string DealtOutputs(const TrainRecipe& train) {
  std::string dealt;
  for (const TargetRecipe& target : train.targets) {
    dealt += fmt::format("{}{} ({} output{})", dealt.empty() ? "" : ", ", target.field,
                         target.outputs, target.outputs == 1 ? "" : "s");
  }
  return dealt;
}

std::vector<PredictedTarget> TargetsOf(const TrainRecipe& train) {
  std::vector<PredictedTarget> targets;
  for (const TargetRecipe& target : train.targets)
    targets.push_back({target.field, target.classes});
  return targets;
}

// Which outputs of the model are which target's was settled when it was trained.
//   stored  the recipe of the run, before changes; its plug-ins are loaded
Status CheckOutputsStay(const ConfigNode& stored, const TrainRecipe& now) {
  const Result<TrainRecipe> trained = ParseTrainSection(stored);
  if (!trained.ok() || DealtOutputs(*trained) == DealtOutputs(now)) return OkStatus();
  const auto named = [](const std::string& dealt) {
    return dealt.empty() ? std::string("one target") : dealt;
  };
  return FailedPrecondition(
      "train.target was changed from {} to {}, and the model's outputs stay those that it was "
      "trained with; leave names and outputs as they are",
      named(DealtOutputs(*trained)), named(DealtOutputs(now)));
}

}  // namespace

std::vector<std::string> ClassNamesIn(const ConfigNode& recipe) {
  const ConfigNode* const data = recipe.Find("data");
  const ConfigNode* const list = data == nullptr ? nullptr : data->Find("classes");
  std::vector<std::string> classes;
  if (list == nullptr) return classes;
  for (const ConfigNode& name : list->items) classes.push_back(name.scalar);
  return classes;
}

std::vector<PredictedTarget> TargetsIn(const ConfigNode& recipe) {
  const Result<TrainRecipe> train = ParseTrainSection(recipe);
  return train.ok() ? TargetsOf(*train) : std::vector<PredictedTarget>();
}

struct Predictor::Parts {
  std::filesystem::path run;
  ConfigNode recipe;
  ModelRegistry::Configured model_recipe;
  TrainOptions options;
  Objective objective;
  std::vector<std::string> classes;
  std::vector<PredictedTarget> targets;
  OpenedDevice device;
  Choices choices;
  LoadedWeights loaded;
  std::shared_ptr<Model> model = nullptr;  // made once the shape of a sample is known
  ModelInput sample = {};                  // that shape

  // It computes as the run did.
  ComputeScope Scope() const { return ComputeScope(choices, device.device.type()); }

  // The CPUs for what Feed opens, as long as it is read.
  int Cpus() const { return FeedCpus(options, device.device, choices.feed_threads); }

  // For predictions: the target is never read.
  FeederOptions WithoutTarget(const Dataset& dataset) const {
    FeederOptions feed = FeedOptions(options, dataset, device.device, choices.memory_format);
    feed.targets.clear();
    return feed;
  }

  RowNames Names(const Dataset& dataset) const {
    return NamesInSource(dataset, /*seed=*/0, options.input, "data.eval");
  }

  Result<std::unique_ptr<DevicePrefetcher>> Feed(const Dataset& dataset, FeederOptions feed,
                                                 const std::atomic<bool>* stop = nullptr) const {
    const TokensByInput known = model->TokensOfAll();
    STOKER_RETURN_IF_ERROR(CheckPaddings(known, dataset, options.AllInputs(), "data.eval"));
    feed.check.inputs = TokenChecksOf(known, options.AllInputs(), Names(dataset));
    Runtime runtime = FeedRuntime(options);
    runtime.stop = stop;
    const int64_t ahead = options.device_prefetch.value_or(choices.device_prefetch);
    return DevicePrefetcher::Open(dataset, runtime, {.losses = LossLogging::kOnce}, std::move(feed),
                                  static_cast<int>(ahead));
  }

  // What the model was trained on, or has been given before; empty if that is not known.
  std::string SampleTrainedOn() const { return model ? sample.ToString() : loaded.sample; }

  // Whether both are sequences with as many numbers a step.
  bool OnlyLengthDiffers(const ModelInput& shape) const {
    const std::optional<ModelInput> trained_on = SampleShapeIn(SampleTrainedOn());
    const std::optional<int64_t> numbers = shape.NumbersAStep();
    return numbers && trained_on && trained_on->NumbersAStep() == numbers;
  }

  Status CheckSample(const ModelInput& shape) const {
    const std::string trained = SampleTrainedOn();
    if (trained.empty() || shape.ToString() == trained) return OkStatus();
    const std::optional<ModelInput> trained_on = SampleShapeIn(trained);
    const auto is_plane = [](const ModelInput& input) {
      return !input.tokens && !input.steps && input.parts.empty();
    };
    if (!is_plane(shape) || (trained_on && !is_plane(*trained_on))) {
      return FailedPrecondition(
          "samples of {} are not what the model was trained on, {}; prepare them as data.eval does",
          shape.ToString(), trained);
    }
    return FailedPrecondition(
        "samples of {} (channels x height x width) are not what the model was trained on, {}; "
        "bring them to its channels and size{}",
        shape.ToString(), trained, PictureStages(trained_on));
  }

  Status MakeModel(const Dataset& batches) {
    STOKER_RETURN_IF_ERROR(CheckStageFiles(run, recipe, batches));
    STOKER_ASSIGN_OR_RETURN(const ModelInput shape, ModelInputOf(batches, options.AllInputs()));
    const Status differs = CheckSample(shape);
    if (!differs.ok() && !OnlyLengthDiffers(shape)) return differs;
    std::shared_ptr<Model> made = model;
    if (!made) {
      STOKER_ASSIGN_OR_RETURN(
          made, BuildModel(model_recipe, shape, /*seed=*/0,
                           {.device = device.device, .memory_format = choices.memory_format}));
    }
    // One that goes from step to step takes sequences of any length.
    if (!differs.ok() && !made->ReadsSequences()) return differs;
    if (model) return OkStatus();
    const Status fits = CopyArraysInto(StateOf(*made), loaded.arrays, /*prefix=*/"", loaded.source);
    if (!fits.ok() && loaded.sample.empty()) {
      return fits.While(fmt::format("making the model for samples of {}", shape.ToString()));
    }
    STOKER_RETURN_IF_ERROR(fits);
    model = std::move(made);
    sample = shape;
    return OkStatus();
  }

  // Puts batches through the model until there is none left or `use` says false.
  Status PredictEach(
      DevicePrefetcher& batches,
      const std::function<Result<bool>(const TensorBatch&, std::vector<Prediction>)>& use) const {
    const c10::InferenceMode no_gradients;
    const ComputeScope scope = Scope();
    model->eval();
    while (true) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<TensorBatch> batch, batches.Next());
      if (!batch) return OkStatus();
      STOKER_ASSIGN_OR_RETURN(std::vector<Prediction> predictions,
                              PredictBatch(*model, objective, loaded.target, batch->input));
      STOKER_ASSIGN_OR_RETURN(const bool more, use(*batch, std::move(predictions)));
      if (!more) return OkStatus();
    }
  }

  // The samples after the transforms of the eval pipeline, with class numbers and weights that are
  // never read.
  Result<Dataset> Prepare(const Array& samples) const {
    std::vector<std::pair<std::string, Array>> fields = {{options.input, samples}};
    std::vector<std::string> unread = options.AllTargets();
    if (const std::string weight = options.WeightField(); !weight.empty()) unread.push_back(weight);
    for (const std::string& field : unread) {
      if (EvalPipelineMakes(recipe, field)) continue;
      Array zeros = Array::Allocate(DType::kUInt8, {samples.shape().front()});
      std::memset(zeros.data(), 0, zeros.num_bytes());
      fields.push_back({field, std::move(zeros)});
    }
    STOKER_ASSIGN_OR_RETURN(Dataset source, FromArrays(std::move(fields), "samples"));
    return BuildEvalPipelineOn(recipe, std::move(source));
  }
};

Predictor::Predictor(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Predictor::~Predictor() = default;

const std::string& Predictor::weights() const { return parts_->loaded.source; }
const std::vector<std::string>& Predictor::warnings() const { return parts_->loaded.warnings; }
const std::vector<std::string>& Predictor::classes() const { return parts_->classes; }
const std::vector<PredictedTarget>& Predictor::targets() const { return parts_->targets; }

Result<std::unique_ptr<Predictor>> Predictor::Open(const std::filesystem::path& run,
                                                   const std::vector<std::string>& assignments) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode stored, ReadRunRecipe(run));
  ConfigNode recipe = stored;
  STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> other_plugins,
                          LoadPluginsOfRun(recipe, assignments, run));
  UseLearnedOf(run, recipe);
  STOKER_ASSIGN_OR_RETURN(ModelRegistry::Configured model, ParseModelSection(recipe));
  STOKER_ASSIGN_OR_RETURN(TrainRecipe train, ParseTrainSection(recipe));
  if (Learns(train)) {
    STOKER_ASSIGN_OR_RETURN(const auto learned, LearnedNamedIn(recipe, run));
    STOKER_RETURN_IF_ERROR(FillInLearned(learned.get(), train));
  }
  STOKER_ASSIGN_OR_RETURN(Objective objective, BuildObjective(train));
  if (!assignments.empty()) STOKER_RETURN_IF_ERROR(CheckOutputsStay(stored, train));
  std::vector<PredictedTarget> targets = TargetsOf(train);
  STOKER_RETURN_IF_ERROR(WishFor(train.memory));
  STOKER_ASSIGN_OR_RETURN(LoadedWeights loaded, LoadRunWeights(RunPaths{run}));
  STOKER_RETURN_IF_ERROR(CheckLearned(run, loaded));
  for (const std::string& change : other_plugins) {
    loaded.warnings.push_back(fmt::format(
        "the run was trained with another plug-in, which may compute otherwise: {}", change));
  }
  STOKER_ASSIGN_OR_RETURN(OpenedDevice device, OpenDeviceFor(train.options));
  STOKER_ASSIGN_OR_RETURN(const Choices choices, UseChoices(run, device));
  std::vector<std::string> classes = ClassNamesIn(recipe);
  return std::unique_ptr<Predictor>(
      new Predictor(std::make_unique<Parts>(Parts{.run = run,
                                                  .recipe = std::move(recipe),
                                                  .model_recipe = std::move(model),
                                                  .options = std::move(train.options),
                                                  .objective = std::move(objective),
                                                  .classes = std::move(classes),
                                                  .targets = std::move(targets),
                                                  .device = std::move(device),
                                                  .choices = choices,
                                                  .loaded = std::move(loaded)})));
}

bool Predictor::decodes() const {
  return EvalPipelineDecodes(parts_->recipe, parts_->options.input);
}

Result<Evaluation> Predictor::EvaluateRun() {
  STOKER_ASSIGN_OR_RETURN(const Dataset eval, ParseEvalPipeline(parts_->recipe, parts_->run));
  STOKER_RETURN_IF_ERROR(WithPlace(parts_->recipe, CheckEvaluable(eval)));
  STOKER_RETURN_IF_ERROR(parts_->MakeModel(eval));
  FeederOptions feed =
      FeedOptions(parts_->options, eval, parts_->device.device, parts_->choices.memory_format);
  feed.check.targets =
      TargetChecksOf(parts_->objective, parts_->Names(eval),
                     OutputsToCheck(std::nullopt, *parts_->model, parts_->sample, feed.device));
  const PipelineCpuScope cpus(parts_->Cpus());
  STOKER_ASSIGN_OR_RETURN(const auto batches, parts_->Feed(eval, feed));
  const ComputeScope scope = parts_->Scope();
  return Evaluate(*parts_->model, {parts_->objective, parts_->Names(eval)}, *batches);
}

Result<PredictSummary> Predictor::PredictRun(
    const PredictOptions& options, const std::function<Status(const PredictedBatch&)>& take) {
  STOKER_ASSIGN_OR_RETURN(const NumberedPipeline pipeline,
                          ParseNumberedEvalPipeline(parts_->recipe, parts_->run));
  const Dataset& batches = pipeline.batches;
  STOKER_RETURN_IF_ERROR(WithPlace(parts_->recipe, CheckEvaluable(batches)));
  FeederOptions feed = parts_->WithoutTarget(batches);
  STOKER_RETURN_IF_ERROR(CheckFields(pipeline, feed, options.fields));
  STOKER_RETURN_IF_ERROR(parts_->MakeModel(batches));
  feed.along = FieldsAlong(pipeline, options);
  const PipelineCpuScope cpus(parts_->Cpus());
  STOKER_ASSIGN_OR_RETURN(const auto source, parts_->Feed(batches, feed, options.stop));
  const int64_t limit = options.limit.value_or(std::numeric_limits<int64_t>::max());
  PredictSummary summary{
      .samples = 0, .disturbances = pipeline.disturbances, .numbered = pipeline.numbers_source};
  const auto use = [&](const TensorBatch& batch,
                       std::vector<Prediction> predictions) -> Result<bool> {
    const int64_t count = std::min(std::ssize(predictions), limit - summary.samples);
    STOKER_ASSIGN_OR_RETURN(
        PredictedBatch out,
        PredictedBatchOf(pipeline, parts_->options.input, batch, std::move(predictions), count));
    out.first = summary.samples;
    STOKER_RETURN_IF_ERROR(take(out));
    summary.samples += count;
    return summary.samples < limit && !(options.stop != nullptr && *options.stop);
  };
  const Status status = parts_->PredictEach(*source, use);
  if (options.stop != nullptr && *options.stop &&
      (status.ok() || status.code() == StatusCode::kCancelled))
    return Cancelled("stopped after {} samples", summary.samples);
  STOKER_RETURN_IF_ERROR(status);
  if (summary.samples == 0) return WithPlace(parts_->recipe, NoBatch(batches, "data.eval"));
  return summary;
}

Result<std::vector<Prediction>> Predictor::Predict(const Array& samples) {
  if (samples.shape().empty()) {
    return InvalidArgument("samples are {}; the first dimension must count them",
                           samples.ToString());
  }
  if (parts_->options.AllInputs().size() > 1) {
    return FailedPrecondition(
        "the model takes {} inputs (train.input), and files are samples of one; predictions of "
        "data.eval have them all: leave out the files, and set data.eval to the samples",
        parts_->options.AllInputs().size());
  }
  STOKER_ASSIGN_OR_RETURN(const Dataset prepared, parts_->Prepare(samples));
  STOKER_RETURN_IF_ERROR(parts_->MakeModel(prepared));
  const PipelineCpuScope cpus(parts_->Cpus());
  STOKER_ASSIGN_OR_RETURN(const auto batches,
                          parts_->Feed(prepared, parts_->WithoutTarget(prepared)));
  std::vector<Prediction> predictions;
  STOKER_RETURN_IF_ERROR(parts_->PredictEach(
      *batches, [&](const TensorBatch&, std::vector<Prediction> of_batch) -> Result<bool> {
        std::ranges::move(of_batch, std::back_inserter(predictions));
        return true;
      }));
  if (std::ssize(predictions) != samples.shape().front()) {
    return FailedPrecondition(
        "data.eval gives {} of {} samples; predictions need a pipeline that leaves out none",
        predictions.size(), samples.shape().front());
  }
  return predictions;
}

}  // namespace stoker
