#include "stoker/train/recipe.h"

#include <algorithm>
#include <system_error>

#include "stoker/train/losses/cross_entropy.h"
#include "stoker/train/optimizers/adamw.h"
#include "stoker/train/schedules/one_cycle_schedule.h"

namespace stoker {
namespace {

// The keys of `train:` that hold a section of their own.
constexpr std::string_view kNested[] = {
    "loss",           "optimizer", "schedule",    "warmup",     "lr_scaling",
    "groups",         "clip",      "average",     "checkpoint", "limit_batches",
    "early_stopping", "callbacks", "tensorboard", "init_from"};

bool IsNested(const std::string& key) {
  return std::ranges::find(kNested, key) != std::end(kNested);
}

Status CheckTrainKeys(const ConfigNode& section) {
  std::vector<std::string> names(std::begin(kNested), std::end(kNested));
  for (const Option& option : OptionsOf<TrainOptions>()) names.push_back(option.name);
  return CheckKeys(section, "train", "key", names);
}

// The nested section of T's name, where there is one.
template <typename T>
Status ParsePart(const ConfigNode& section, T& options) {
  const ConfigNode* node = section.Find(T::kName);
  return node == nullptr ? OkStatus() : ParseOptionsOf(*node, options);
}

Status ParseCallbacks(const ConfigNode& section,
                      std::vector<CallbackRegistry::Configured>& callbacks) {
  const ConfigNode* node = section.Find("callbacks");
  if (node == nullptr || node->kind == ConfigNode::Kind::kNull) return OkStatus();
  if (node->kind != ConfigNode::Kind::kList) {
    return InvalidArgument(
        "{}: 'callbacks' is {}; it must be a list, such as callbacks: [{{stop_at: {{step: 100}}}}]",
        node->location.ToString(), node->KindName());
  }
  for (const ConfigNode& item : node->items) {
    STOKER_ASSIGN_OR_RETURN(callbacks.emplace_back(), CallbackRegistry::Builtin().Parse(item));
  }
  return OkStatus();
}

Status ParseGroups(const ConfigNode& section, std::vector<GroupOptions>& groups) {
  const ConfigNode* node = section.Find(GroupOptions::kName);
  if (node == nullptr || node->kind == ConfigNode::Kind::kNull) return OkStatus();
  if (node->kind != ConfigNode::Kind::kList) {
    return InvalidArgument(
        "{}: 'groups' is {}; it must be a list, such as groups: [{{match: \"*.bias\", "
        "weight_decay: 0}}]",
        node->location.ToString(), node->KindName());
  }
  for (const ConfigNode& item : node->items) {
    STOKER_RETURN_IF_ERROR(ParseOptionsOf(item, groups.emplace_back()));
  }
  return OkStatus();
}

}  // namespace

void TrainOptions::Describe(OptionTable<TrainOptions>& table) {
  using O = TrainOptions;
  table.Field("epochs", &O::epochs, "passes over the training data", AtLeast(1))
      .Field("seed", &O::seed,
             "what the first weights, the order and all random draws come from; the same bytes "
             "come out "
             "where memory_format, threads and device are the same too",
             AtLeast(0))
      .Field("device", &O::device, "auto (an accelerator where there is one), cpu, cuda or cuda:N")
      .Field("tune", &O::tune,
             "auto times real steps of what other keys leave open before the first one (precision, "
             "memory_format, threads, cudnn_benchmark, feed_threads, device_prefetch), for at most "
             "3 % of the planned time and 20 s, and keeps what is faster; off: times nothing",
             OneOf{{"auto", "off"}})
      .Field("memory_format", &O::memory_format,
             "layout of images; auto: tuned, channels_last where nothing is timed",
             OneOf{{"auto", "contiguous", "channels_last"}})
      .Field(
          "precision", &O::precision,
          "what convolutions and linear layers compute in: float32, or 16 bits, with weights and "
          "sums in float32; fp16 scales the loss; auto: tuned, float32 where nothing is timed",
          OneOf{{"auto", "float32", "bf16", "fp16"}})
      .Field("tf32", &O::tf32,
             "whether NVIDIA's tensor cores may round float32 to 19 bits when they multiply")
      .Field("cudnn_benchmark", &O::cudnn_benchmark,
             "whether cuDNN times its algorithms for every new shape and takes the fastest: then a "
             "resumed run may give other bits; auto: tuned",
             OneOf{{"off", "on", "auto"}})
      .Field("lint", &O::lint,
             "whether to look for mistakes in the model before the first step (`stoker lint`)")
      .Field("threads", &O::threads, "threads that compute; auto: tuned, all CPUs at first",
             Between(1, 1024))
      .Field("feed_threads", &O::feed_threads,
             "threads that run the input pipeline; auto: tuned, at first as many as CPUs, or a "
             "quarter of that where these compute too",
             Between(1, 1024))
      .Field("device_prefetch", &O::device_prefetch,
             "batches that are copied to the device ahead of their step, by a thread and on a "
             "stream of their own; 0: when the step asks; auto: tuned, 2 at first, 0 on the CPU",
             Between(0, 64))
      .Field("input", &O::input, "field of the pipeline that the model sees")
      .Field("target", &O::target, "field of the pipeline that holds the class numbers")
      .Field("eval_every", &O::eval_every,
             "epochs between evaluations; there is one at the end too", AtLeast(1))
      .Field("eval_every_steps", &O::eval_every_steps,
             "steps between evaluations, in place of eval_every; auto: by the epoch", AtLeast(1))
      .Field("log_every", &O::log_every, "steps between lines of metrics.jsonl", AtLeast(1))
      .Field("max_steps", &O::max_steps,
             "at most so many steps, whatever the epochs; the schedule stretches over these; auto: "
             "no limit",
             AtLeast(1))
      .Field("schedule_every", &O::schedule_every,
             "whether the schedule's values change from step to step, or hold for an epoch",
             OneOf{{"step", "epoch"}})
      .Field("accumulate", &O::accumulate,
             "batches whose gradients make one step; the last step of an epoch has what is left",
             AtLeast(1))
      .Field("decay_vectors", &O::decay_vectors,
             "whether weight decay holds for biases and the weights of norms too")
      .Field("layer_rate", &O::layer_rate,
             "learning rate of a layer, by that of the layer above it",
             OptionRange{.low = 0, .high = 1, .low_open = true})
      .Field(
          "activation_checkpointing", &O::activation_checkpointing,
          "names of blocks of the model (* stands for any letters, so \"*\" for all) that keep "
          "only their input for the backward pass and compute the rest again there: less memory, "
          "more time, the same gradients")
      .Field("graph", &O::graph,
             "whether the forward and backward pass are recorded once and launched as a whole, on "
             "CUDA devices; auto: where nothing is in the way, on: and says what is",
             OneOf{{"off", "auto", "on"}})
      .Field("normalize_on", &O::normalize_on,
             "where a normalize at the end of the pipeline is done: host, device (which then gets "
             "bytes), or auto: on an accelerator where the pipeline allows it",
             OneOf{{"auto", "host", "device"}})
      .Field(
          "metrics", &O::metrics,
          "what evaluations measure beside loss and accuracy: topK (top5), confusion, precision, "
          "recall, f1, auc, mse, mae")
      .Field("overfit_batches", &O::overfit_batches,
             "trains on the first so many batches again and again, each time the same: a model "
             "that cannot learn them by heart is broken; auto: on all",
             AtLeast(1))
      .Field("sanity", &O::sanity,
             "whether a small batch goes through the model, forward and back, and one of data.eval "
             "through an evaluation, before the first step")
      .Field("on_nonfinite", &O::on_nonfinite,
             "what to do where a loss, gradient or weight is NaN or infinite: stop, skip the step, "
             "or rollback to the weights of the last checkpoint and go on with the data behind; "
             "the last two look at all gradients and weights in every step. In fp16 steps that "
             "the scaling of the loss leaves out are none of these, unless no scale helps",
             OneOf{{"stop", "skip", "rollback"}})
      .Field("nonfinite_limit", &O::nonfinite_limit,
             "skipped steps in a row, or rollbacks in all, after which the run stops", AtLeast(1))
      .Field("detect_anomaly", &O::detect_anomaly,
             "follows every operator, so that it can name the layer whose output or gradient first "
             "was NaN or infinite; slow");
}

void ClipOptions::Describe(OptionTable<ClipOptions>& table) {
  table.Field("norm", &ClipOptions::norm, "largest norm of all gradients together", MoreThan(0))
      .Field("value", &ClipOptions::value, "largest magnitude of a gradient's value", MoreThan(0))
      .Field("adaptive", &ClipOptions::adaptive,
             "largest norm of a row's or filter's gradient, by that of its weights; 0.01 is usual",
             MoreThan(0));
}

void AverageOptions::Describe(OptionTable<AverageOptions>& table) {
  using O = AverageOptions;
  table
      .Field("kind", &O::kind, "exponential (ema) or plain (swa) mean of the weights",
             OneOf{{"none", "ema", "swa"}})
      .Field("decay", &O::decay, "of ema: what is left of the mean at an update, at most",
             Between(0, 1))
      .Field("gamma", &O::gamma, "of ema: updates after which it slows down", MoreThan(0))
      .Field("power", &O::power, "of ema: how fast it slows down", MoreThan(0))
      .Field("start", &O::start, "share of all steps before it begins; auto: 0, of swa 0.75",
             Between(0, 1))
      .Field("every", &O::every, "steps between updates; auto: 1, of swa an epoch's", AtLeast(1));
}

void InitFromOptions::Describe(OptionTable<InitFromOptions>& table) {
  using O = InitFromOptions;
  table
      .Field("weights", &O::weights,
             "a .pt, .pth or .safetensors file, or a run's directory; relative to the recipe; "
             "nothing: the model's own first values")
      .Field("partial", &O::partial,
             "whether to take what fits, and leave what is missing, unexpected or of another shape")
      .Field("prefix", &O::prefix,
             "what is taken off the file's names, such as \"state_dict.\"; names without it are "
             "left out")
      .Field("rename", &O::rename,
             "rules OLD=NEW, by which the beginnings of the file's names are replaced then")
      .Field("skip", &O::skip,
             "the model's tensors that keep their own first values, such as \"fc.*\"; * stands for "
             "any letters, ? for one");
}

void GroupOptions::Describe(OptionTable<GroupOptions>& table) {
  table
      .Field("match", &GroupOptions::match,
             "names of parameters; * stands for any letters, ? for one")
      .Required()
      .Field("lr", &GroupOptions::lr, "times the learning rate; 0 freezes them", AtLeast(0))
      .Field("weight_decay", &GroupOptions::weight_decay, "times the optimizer's weight decay",
             AtLeast(0));
}

void WarmupOptions::Describe(OptionTable<WarmupOptions>& table) {
  table
      .Field("epochs", &WarmupOptions::epochs,
             "the learning rate rises to the schedule's for so long; may be a fraction", AtLeast(0))
      .Field("from", &WarmupOptions::from,
             "share of the schedule's rate at the first step; auto: what it was before lr_scaling, "
             "or 0",
             Between(0, 1))
      .Field("shape", &WarmupOptions::shape, "how it rises", OneOf{{"linear", "cosine"}});
}

void LrScalingOptions::Describe(OptionTable<LrScalingOptions>& table) {
  table
      .Field("rule", &LrScalingOptions::rule,
             "how the learning rate grows with the samples of a step, by batch / base_batch",
             OneOf{{"none", "linear", "sqrt"}})
      .Field("base_batch", &LrScalingOptions::base_batch,
             "samples of a step for which the schedule's rate was found", AtLeast(1));
}

void CheckpointOptions::Describe(OptionTable<CheckpointOptions>& table) {
  table
      .Field("every_steps", &CheckpointOptions::every_steps,
             "steps between checkpoints, beside the one after each epoch; auto: only those",
             AtLeast(1))
      .Field("keep", &CheckpointOptions::keep, "how many of the newest stay", AtLeast(1))
      .Field("every_minutes", &CheckpointOptions::every_minutes,
             "minutes after which there is one at the next step, beside the others; auto: none",
             MoreThan(0))
      .Field("best", &CheckpointOptions::best,
             "the one that evaluates best by this stays too: loss, accuracy or a single figure of "
             "train.metrics; empty: none")
      .Field("best_mode", &CheckpointOptions::best_mode,
             "which way is better; auto: min for loss, mse and mae, max for all others",
             OneOf{{"auto", "min", "max"}})
      .Field("async", &CheckpointOptions::async,
             "whether training goes on while one is written: it waits for a copy in memory, as "
             "large as the checkpoint, not for the disk");
}

void LimitBatchesOptions::Describe(OptionTable<LimitBatchesOptions>& table) {
  using O = LimitBatchesOptions;
  table.Field("train", &O::train, "an epoch has at most so many batches; auto: all", AtLeast(1))
      .Field("eval", &O::eval, "an evaluation has at most so many batches; auto: all", AtLeast(1));
}

void EarlyStoppingOptions::Describe(OptionTable<EarlyStoppingOptions>& table) {
  using O = EarlyStoppingOptions;
  table
      .Field("metric", &O::metric,
             "what must get better: loss, accuracy or a single figure of train.metrics")
      .Field("mode", &O::mode,
             "which way is better; auto: min for loss, mse and mae, max for all others",
             OneOf{{"auto", "min", "max"}})
      .Field("patience", &O::patience,
             "evaluations without a better one after which training ends; auto: it never does",
             AtLeast(1))
      .Field("min_delta", &O::min_delta, "better means by more than this", AtLeast(0));
}

void TensorboardOptions::Describe(OptionTable<TensorboardOptions>& table) {
  using O = TensorboardOptions;
  table
      .Field("enabled", &O::enabled,
             "whether the run directory gets event files for TensorBoard, beside metrics.jsonl")
      .Field("histograms", &O::histograms,
             "steps between histograms of all weights and gradients; auto: none", AtLeast(1))
      .Field("pictures", &O::pictures,
             "whether they show the first batch, and the confusion matrix of each evaluation where "
             "train.metrics has it");
}

LossRegistry::Configured DefaultLoss() { return Configure(CrossEntropy{}); }
OptimizerRegistry::Configured DefaultOptimizer() { return Configure(Adamw{}); }
ScheduleRegistry::Configured DefaultSchedule() { return Configure(OneCycleSchedule{}); }

ConfigNode TrainRecipe::Filled() const {
  ConfigNode filled = FormatOptions(OptionsOf<TrainOptions>(), &options);
  filled.entries.push_back({"loss", {}, loss.node});
  filled.entries.push_back({"optimizer", {}, optimizer.node});
  filled.entries.push_back({"schedule", {}, schedule.node});
  filled.entries.push_back({"warmup", {}, FormatOptions(OptionsOf<WarmupOptions>(), &warmup)});
  filled.entries.push_back(
      {"lr_scaling", {}, FormatOptions(OptionsOf<LrScalingOptions>(), &lr_scaling)});
  std::vector<ConfigNode> listed;
  for (const GroupOptions& group : groups) {
    listed.push_back(FormatOptions(OptionsOf<GroupOptions>(), &group));
  }
  filled.entries.push_back({"groups", {}, ConfigNode::List(std::move(listed))});
  filled.entries.push_back({"clip", {}, FormatOptions(OptionsOf<ClipOptions>(), &clip)});
  filled.entries.push_back({"average", {}, FormatOptions(OptionsOf<AverageOptions>(), &average)});
  filled.entries.push_back(
      {"init_from", {}, FormatOptions(OptionsOf<InitFromOptions>(), &init_from)});
  filled.entries.push_back(
      {"checkpoint", {}, FormatOptions(OptionsOf<CheckpointOptions>(), &checkpoint)});
  filled.entries.push_back(
      {"tensorboard", {}, FormatOptions(OptionsOf<TensorboardOptions>(), &tensorboard)});
  filled.entries.push_back(
      {"limit_batches", {}, FormatOptions(OptionsOf<LimitBatchesOptions>(), &limit_batches)});
  filled.entries.push_back(
      {"early_stopping", {}, FormatOptions(OptionsOf<EarlyStoppingOptions>(), &early_stopping)});
  std::vector<ConfigNode> called;
  for (const CallbackRegistry::Configured& callback : callbacks) called.push_back(callback.node);
  filled.entries.push_back({"callbacks", {}, ConfigNode::List(std::move(called))});
  return filled;
}

ConfigNode Recipe::Filled() const {
  return ConfigNode::Map(
      {{"data", {}, data.filled}, {"model", {}, model.node}, {"train", {}, train.Filled()}});
}

Result<ModelRegistry::Configured> ParseModelSection(const ConfigNode& recipe) {
  const ConfigNode* section = recipe.Find("model");
  if (section == nullptr) {
    return InvalidArgument(
        "{}: the section 'model' is missing; it names one, such as model: {{convnet: {{classes: "
        "10}}}}",
        recipe.location.ToString());
  }
  return ModelRegistry::Builtin().Parse(*section);
}

Result<TrainRecipe> ParseTrainSection(const ConfigNode& recipe) {
  TrainRecipe train;
  const ConfigNode* section = recipe.Find("train");
  if (section == nullptr || section->kind == ConfigNode::Kind::kNull) return train;
  if (section->kind != ConfigNode::Kind::kMap) {
    return InvalidArgument("{}: 'train' is {}; it must be a map, such as train: {{epochs: 3}}",
                           section->location.ToString(), section->KindName());
  }
  STOKER_RETURN_IF_ERROR(CheckTrainKeys(*section));
  if (const ConfigNode* node = section->Find("loss")) {
    STOKER_ASSIGN_OR_RETURN(train.loss, LossRegistry::Builtin().Parse(*node));
  }
  if (const ConfigNode* node = section->Find("optimizer")) {
    STOKER_ASSIGN_OR_RETURN(train.optimizer, OptimizerRegistry::Builtin().Parse(*node));
  }
  if (const ConfigNode* node = section->Find("schedule")) {
    STOKER_ASSIGN_OR_RETURN(train.schedule, ScheduleRegistry::Builtin().Parse(*node));
  }
  STOKER_RETURN_IF_ERROR(ParsePart(*section, train.warmup));
  STOKER_RETURN_IF_ERROR(ParsePart(*section, train.lr_scaling));
  STOKER_RETURN_IF_ERROR(ParsePart(*section, train.clip));
  STOKER_RETURN_IF_ERROR(ParsePart(*section, train.average));
  STOKER_RETURN_IF_ERROR(ParsePart(*section, train.init_from));
  STOKER_RETURN_IF_ERROR(ParsePart(*section, train.checkpoint));
  STOKER_RETURN_IF_ERROR(ParsePart(*section, train.tensorboard));
  STOKER_RETURN_IF_ERROR(ParsePart(*section, train.limit_batches));
  STOKER_RETURN_IF_ERROR(ParsePart(*section, train.early_stopping));
  STOKER_RETURN_IF_ERROR(ParseCallbacks(*section, train.callbacks));
  STOKER_RETURN_IF_ERROR(ParseGroups(*section, train.groups));
  ConfigNode plain = *section;
  std::erase_if(plain.entries, [](const ConfigNode::Entry& entry) { return IsNested(entry.key); });
  STOKER_RETURN_IF_ERROR(ParseOptionsOf(plain, train.options));
  return train;
}

namespace {

// A path that stands in the recipe is relative to the recipe, one given on the command line to the
// working directory.
Status ResolveWeights(const ConfigNode& root, const std::filesystem::path& folder,
                      std::string& weights) {
  if (weights.empty()) return OkStatus();
  const ConfigNode& section = *root.Find("train")->Find("init_from");
  const ConfigNode* const path = section.Find("weights");
  const bool from_command_line = (path ? *path : section).location.line == 0;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(
      from_command_line ? std::filesystem::path(weights) : folder / weights, error);
  if (error) return FailedPrecondition("{}: {}; name it in full", weights, error.message());
  weights = absolute.lexically_normal().string();
  return OkStatus();
}

// A name that no class of the model bears is a mistake in one or the other. The names stand in the
// recipe or come from the data, such as from folders.
Status CheckClassNames(const ConfigNode& root, const DataRecipe& data,
                       const ModelRegistry::Configured& model) {
  const ConfigNode* classes = model.node.entries.front().value.Find("classes");
  if (data.classes.empty() || classes == nullptr) return OkStatus();
  int64_t wanted = 0;
  STOKER_RETURN_IF_ERROR(ReadOption(*classes, wanted));
  if (std::ssize(data.classes) <= wanted) return OkStatus();
  const ConfigNode* const names = root.Find("data")->Find("classes");
  if (names == nullptr) {
    return InvalidArgument(
        "{}: data.train has {} classes ('{}', ...), but the model {} tells {} apart; set its "
        "classes "
        "to {}",
        root.Find("model")->location.ToString(), data.classes.size(), data.classes.front(),
        model.name, wanted, data.classes.size());
  }
  return InvalidArgument(
      "{}: data.classes has {} names, but the model {} tells {} classes apart; make them agree",
      names->location.ToString(), data.classes.size(), model.name, wanted);
}

}  // namespace

Result<Recipe> ParseRecipe(const ConfigNode& root, const std::filesystem::path& folder) {
  STOKER_RETURN_IF_ERROR(CheckSections(root));
  // The sections that need no files come first: their errors are found without any.
  STOKER_ASSIGN_OR_RETURN(ModelRegistry::Configured model, ParseModelSection(root));
  STOKER_ASSIGN_OR_RETURN(TrainRecipe train, ParseTrainSection(root));
  STOKER_RETURN_IF_ERROR(ResolveWeights(root, folder, train.init_from.weights));
  STOKER_ASSIGN_OR_RETURN(DataRecipe data, ParseDataSection(root, folder));
  STOKER_RETURN_IF_ERROR(CheckClassNames(root, data, model));
  return Recipe{.data = std::move(data), .model = std::move(model), .train = std::move(train)};
}

Result<Recipe> LoadRecipe(const std::filesystem::path& file,
                          const std::vector<std::string>& assignments) {
  STOKER_ASSIGN_OR_RETURN(const ConfigNode root, ReadRecipe(file, assignments));
  return ParseRecipe(root, file.parent_path());
}

}  // namespace stoker
