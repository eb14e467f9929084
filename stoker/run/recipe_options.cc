// The tables of the keys of `train:` and of the sections in it; recipe.cc parses by them.
#include "stoker/data/core/option_object.h"
#include "stoker/run/recipe.h"

namespace stoker {
namespace {

// What is computed with, and what the tuner may choose.
void DescribeComputing(OptionTable<TrainOptions>& table) {
  using O = TrainOptions;
  table.Field("epochs", &O::epochs, "passes over the training data", AtLeast(1))
      .Field("seed", &O::seed,
             "what the first weights, the order and all random draws come from; the same bytes "
             "come out where memory_format, threads and device are the same too",
             AtLeast(0))
      .Field("device", &O::device, "auto (an accelerator where there is one), cpu, cuda or cuda:N")
      .Field("tune", &O::tune,
             "auto times real steps of what other keys leave open before the first one (precision, "
             "memory_format, threads, cudnn_benchmark, graph, feed_threads, device_prefetch), for "
             "at most 3 % of the planned time and 20 s, and keeps what is faster; off: times "
             "nothing",
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
      .Field("denormals", &O::denormals,
             "whether the CPU's threads take floats nearer to zero than 1.2e-38 for zero (flush), "
             "which it computes with up to a hundred times as slowly, as with moments of weights "
             "that get no gradient; auto: flush, except that a run begun with them kept is "
             "resumed with them kept",
             OneOf{{"auto", "flush", "keep"}})
      .Field("lint", &O::lint,
             "whether to look for mistakes in the model before the first step (`stoker lint`)")
      .Field("threads", &O::threads, "threads that compute; auto: tuned, all CPUs at first",
             Between(1, 1024))
      .Field("feed_threads", &O::feed_threads,
             "threads that run the input pipeline; auto: as many as the step needs, up to 64 where "
             "they wait for a disk or a server; of those that compute at most one for each CPU, or "
             "for a quarter of them where these compute the step too (tuned)",
             Between(1, 1024))
      .Field("device_prefetch", &O::device_prefetch,
             "batches that are copied to the device ahead of their step, by a thread and on a "
             "stream of their own; 0: when the step asks; auto: tuned, 2 at first, 0 on the CPU",
             Between(0, 64));
}

// What a step is and how often what follows steps comes.
void DescribeLoop(OptionTable<TrainOptions>& table) {
  using O = TrainOptions;
  table
      .Field("input", &O::input,
             "field of the pipeline that the model sees; of a model of several inputs {NAME: "
             "FIELD, ...}")
      .Field(
          "target", &O::target,
          "field of the pipeline that holds the targets: class numbers, or numbers that losses "
          "such as mse and bce take; with {price: {normalize: auto, log: true}} the loss is that "
          "of the logarithm, less its mean by its deviation on the training side, and "
          "predictions and metrics are in the target's units; either of the two may stand "
          "alone, and numbers for auto: {mean: 200, std: 50}; of several targets {price: {loss: "
          "mse}, cut: {outputs: 5, weight: 0.5, metrics: [f1]}}")
      .Field(
          "sample_weight", &O::sample_weight,
          "field of the pipeline with a number for each sample, at least 0, by which its loss is "
          "multiplied, in data.eval too; none: every sample has the weight 1")
      .Field("weighted_metrics", &O::weighted_metrics,
             "whether accuracy and metrics count each sample by its weight; else they count all "
             "the same")
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
      .Field("hogwild", &O::hogwild,
             "threads that each put a batch of their own through the model and update its weights "
             "without waiting for each other, on the CPU, for large tables of embeddings: faster, "
             "and no two runs are alike",
             Between(1, 256))
      .Field("decay_vectors", &O::decay_vectors,
             "whether weight decay holds for biases and the weights of norms too")
      .Field("layer_rate", &O::layer_rate,
             "learning rate of a layer, by that of the layer above it",
             OptionRange{.low = 0, .high = 1, .low_open = true});
}

// What a step needs of the device's memory and launches.
void DescribeDevice(OptionTable<TrainOptions>& table) {
  using O = TrainOptions;
  table
      .Field(
          "activation_checkpointing", &O::activation_checkpointing,
          "names of blocks of the model (* stands for any letters, so \"*\" for all) that keep "
          "only their input for the backward pass and compute the rest again there: less memory, "
          "more time, the same gradients")
      .Field("graph", &O::graph,
             "whether the forward and backward pass are recorded once and launched as a whole, on "
             "CUDA devices; on: where nothing is in the way, else says what is; auto: tuned, off "
             "where nothing is timed",
             OneOf{{"auto", "on", "off"}})
      .Field("normalize_on", &O::normalize_on,
             "where a normalize at the end of the pipeline is done: host, device (which then gets "
             "bytes), or auto: tuned, at first on an accelerator where the pipeline allows it",
             OneOf{{"auto", "host", "device"}});
}

// What is measured and watched.
void DescribeChecks(OptionTable<TrainOptions>& table) {
  using O = TrainOptions;
  table
      .Field("overfit_batches", &O::overfit_batches,
             "trains on the first so many batches again and again, each time the same: a model "
             "that cannot learn them by heart is broken; auto: on all",
             AtLeast(1))
      .Field("sanity", &O::sanity,
             "whether a small batch goes through the model, forward and back, and one of data.eval "
             "through an evaluation, before the first step")
      .Field(
          "on_nonfinite", &O::on_nonfinite,
          "what to do where a loss, gradient or weight is NaN or infinite: stop, skip the step, "
          "or rollback to the weights of the last checkpoint and go on with the data that follow; "
          "the last two look at all gradients and weights in every step. In fp16 steps that "
          "the scaling of the loss leaves out are none of these, unless no scale helps",
          OneOf{{"stop", "skip", "rollback"}})
      .Field("nonfinite_limit", &O::nonfinite_limit,
             "skipped steps in a row, or rollbacks in all, after which the run stops", AtLeast(1))
      .Field("detect_anomaly", &O::detect_anomaly,
             "follows every operator, so that it can name the layer whose output or gradient first "
             "was NaN or infinite; slow");
}

}  // namespace

void TrainOptions::Describe(OptionTable<TrainOptions>& table) {
  DescribeComputing(table);
  DescribeLoop(table);
  DescribeDevice(table);
  DescribeChecks(table);
}

void ClipOptions::Describe(OptionTable<ClipOptions>& table) {
  table.Field("norm", &ClipOptions::norm, "largest norm of all gradients together", MoreThan(0))
      .Field("value", &ClipOptions::value, "largest magnitude of a gradient's value",
             OptionRange{.low = 0, .high = 1e38, .low_open = true})
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

template <>
const std::vector<Option>& OptionsOf<InitFromOptions>() {
  static const auto options = WithObjectsBehind<InitFromOptions>({ObjectOption(
      "vectors", &InitFromOptions::vectors,
      "for fields of tokens, or features with an embedding, a text file of vectors of their words, "
      "such as {tokens: glove.6B.100d.txt}: words that it has begin with these")});
  return options;
}

void VectorsOptions::Describe(OptionTable<VectorsOptions>& table) {
  table
      .Field(
          "file", &VectorsOptions::file,
          "a line for each word, with the word and its numbers, as GloVe and fastText have them; "
          "relative to the recipe")
      .Required();
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
             "train.metrics, of several targets also price.loss or price.rmse; empty: none")
      .Field("best_mode", &CheckpointOptions::best_mode,
             "which way is better; auto: min for loss, mse and mae, max for all others",
             OneOf{{"auto", "min", "max"}})
      .Field("async", &CheckpointOptions::async,
             "whether training goes on while one is written: it waits for a copy in memory, as "
             "large as the checkpoint, not for the disk")
      .Field("parts", &CheckpointOptions::parts,
             "whether each of several processes writes a part, into a directory that all of them "
             "see, while training waits");
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
             "what must get better: loss, accuracy or a single figure of train.metrics, of several "
             "targets also price.loss or price.rmse")
      .Field("mode", &O::mode,
             "which way is better; auto: min for loss, mse and mae, max for all others",
             OneOf{{"auto", "min", "max"}})
      .Field("patience", &O::patience,
             "evaluations without a better one after which training ends; auto: it never does",
             AtLeast(1))
      .Field("min_delta", &O::min_delta, "better means by more than this", AtLeast(0))
      .Field("goal", &O::goal, "training ends as soon as the metric is as good as this")
      .Field("baseline", &O::baseline,
             "what the first evaluation must be better than; auto: the first is the best so far")
      .Field("after_epochs", &O::after_epochs, "evaluations of so many first epochs do not count",
             Between(0, 1e9));
}

void DistributedOptions::Describe(OptionTable<DistributedOptions>& table) {
  using O = DistributedOptions;
  table
      .Field("backend", &O::backend,
             "what the processes of one run talk through: gloo (over TCP, on CPUs); auto: gloo",
             OneOf{{"auto", "gloo"}})
      .Field("batch", &O::batch,
             "whether the batch of data.train is what all processes read together, or what each of "
             "those that begin the run reads",
             OneOf{{"global", "per_rank"}})
      .Field(
          "timeout", &O::timeout,
          "seconds after which a process that others wait for counts as lost, which ends the run",
          OptionRange{.low = 1, .high = 604800})
      .Field("bucket_mb", &O::bucket_mb,
             "megabytes of gradients that travel together, while the backward pass makes the next; "
             "other sizes round sums differently",
             OptionRange{.low = 0.001, .high = 4096})
      .Field("gradient_type", &O::gradient_type,
             "what gradients travel as; bf16 and fp16 halve what is sent, and round it",
             OneOf{{"float32", "bf16", "fp16"}})
      .Field("sync_batch_norm", &O::sync_batch_norm,
             "whether batch norms take mean and variance of all processes' rows, as one process "
             "does, or each of its own; auto: true, and a model that cannot is warned of",
             OneOf{{"auto", "true", "false"}})
      .Field("shard_optimizer", &O::shard_optimizer,
             "whether each process keeps the optimizer's state of a part of the weights, updates "
             "these and sends them to the others; needs less memory, and gives the same bytes")
      .Field("local_steps", &O::local_steps,
             "steps that each process makes alone, with its own rows, before all take the mean of "
             "their weights; 1: each step is one of all processes",
             OptionRange{.low = 1, .high = 1'000'000});
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

}  // namespace stoker
