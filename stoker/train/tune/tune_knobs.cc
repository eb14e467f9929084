#include "stoker/train/tune/tune_knobs.h"

#include <ATen/Context.h>
#include <c10/core/Device.h>

#include <algorithm>

#include "stoker/base/worker_group.h"
#include "stoker/device/torch_denormals.h"
#include "stoker/device/torch_threads.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/step/graphed_pass.h"
#include "stoker/train/step/learner.h"

namespace stoker {
namespace {

bool HasFilters(const Recipe& recipe, const ModelInput& input) {
  const auto model = BuildModel(recipe.model, input, /*seed=*/0, {});
  return model.ok() && std::ranges::any_of((*model)->parameters(),
                                           [](const at::Tensor& p) { return p.dim() == 4; });
}

// CPUs that are fast in 16 bits are so in bfloat16; scaling the loss is for accelerators.
Knob PrecisionKnob(bool on_cpu) {
  return {.alternatives = [on_cpu](const Choices& best) {
    std::vector<Alternative> all;
    for (const Precision precision : {Precision::kBFloat16, Precision::kFloat16}) {
      if (on_cpu && precision == Precision::kFloat16) continue;
      Choices choices = best;
      choices.precision = precision;
      all.push_back({fmt::format("precision: {}", PrecisionName(precision)), choices});
    }
    return all;
  }};
}

Knob LayoutKnob() {
  return {.alternatives = [](const Choices& best) {
    Choices choices = best;
    choices.memory_format = best.memory_format == MemoryFormat::kContiguous
                                ? MemoryFormat::kChannelsLast
                                : MemoryFormat::kContiguous;
    return std::vector<Alternative>{
        {fmt::format("memory_format: {}", MemoryFormatName(choices.memory_format)), choices}};
  }};
}

// Two threads of one core often compute no faster than one.
Knob ThreadsKnob() {
  return {.alternatives = [](const Choices& best) {
    Choices choices = best;
    choices.threads = best.threads / 2;
    return std::vector<Alternative>{{fmt::format("threads: {}", choices.threads), choices}};
  }};
}

Knob BenchmarkKnob() {
  return {.alternatives = [](const Choices& best) {
    Choices choices = best;
    choices.cudnn_benchmark = true;
    return std::vector<Alternative>{{"cudnn_benchmark: on", choices}};
  }};
}

std::string WhyNoGraph(const TrainOptions& options, const c10::Device& device,
                       const DeviceGraphMaker& new_graph) {
  const std::string obstacle = GraphObstacle(options);
  return obstacle.empty() ? new_graph(device).status().message() : obstacle;
}

Knob GraphKnob(const std::string& obstacle) {
  return {.alternatives = [obstacle](const Choices& best) {
    Choices choices = best;
    choices.graph = true;
    return std::vector<Alternative>{{"graph: on", choices, obstacle}};
  }};
}

// How the CPUs are divided between making batches and computing. On an accelerator, where all may
// make batches, half of them leaves the other threads of each core alone.
Knob FeedKnob(bool on_cpu, bool threads_open, int usual) {
  const int cpus = AvailableCpus();
  return {.kind = StepKind::kWithData, .alternatives = [=](const Choices& best) {
            std::vector<Alternative> all;
            const int other = on_cpu ? std::min(cpus, 2 * usual) : std::max(1, cpus / 2);
            if (other != usual) {
              Choices choices = best;
              choices.feed_threads = other;
              all.push_back({fmt::format("feed_threads: {}", other), choices});
            }
            const int rest = cpus - usual;
            if (on_cpu && threads_open && rest >= 1 && rest < best.threads) {
              Choices choices = best;
              choices.threads = rest;
              choices.feed_threads = usual;
              all.push_back({fmt::format("threads: {}, feed_threads: {}", rest, usual), choices});
            }
            return all;
          }};
}

Knob PrefetchKnob() {
  return {.kind = StepKind::kWithData, .alternatives = [](const Choices& best) {
            Choices choices = best;
            choices.device_prefetch = 2 * kUsualBatchesAhead;
            return std::vector<Alternative>{
                {fmt::format("device_prefetch: {}", choices.device_prefetch), choices}};
          }};
}

Knob NormalizeKnob() {
  return {.kind = StepKind::kWithData, .alternatives = [](const Choices& best) {
            Choices choices = best;
            choices.normalize_on_host = true;
            return std::vector<Alternative>{{"normalize_on: host", choices}};
          }};
}

}  // namespace

Choices FirstChoices(const Recipe& recipe, const TrainingPlan& plan, const c10::Device& device) {
  const TrainOptions& options = recipe.train.options;
  Choices first{.threads = static_cast<int>(options.threads.value_or(AvailableCpus())),
                .device = device.str(),
                .cudnn_benchmark = options.cudnn_benchmark == "on",
                .flush_denormals = options.denormals != "keep",
                .device_prefetch = static_cast<int>(
                    options.device_prefetch.value_or(device.is_cpu() ? 0 : kUsualBatchesAhead))};
  const Result<Precision> precision = ParsePrecision(options.precision);
  if (precision.ok()) first.precision = *precision;
  const Result<MemoryFormat> format = ParseMemoryFormat(options.memory_format);
  if (format.ok()) {
    first.memory_format = *format;
  } else if (HasFilters(recipe, plan.input)) {
    first.memory_format = MemoryFormat::kChannelsLast;
  }
  return first;
}

std::vector<Knob> OpenKnobs(const Recipe& recipe, const TrainingPlan& plan,
                            const c10::Device& device, const Choices& first,
                            const DeviceGraphMaker& new_graph) {
  const TrainOptions& options = recipe.train.options;
  const bool on_cpu = device.is_cpu(), threads_open = !options.threads;
  std::vector<Knob> knobs;
  // First, since it gains the most where steps are short, and takes the least time to try.
  if (options.graph == "auto" && (!on_cpu || new_graph(device).ok())) {
    knobs.push_back(GraphKnob(WhyNoGraph(options, device, new_graph)));
  }
  if (!ParsePrecision(options.precision).ok()) knobs.push_back(PrecisionKnob(on_cpu));
  if (!ParseMemoryFormat(options.memory_format).ok() &&
      first.memory_format == MemoryFormat::kChannelsLast) {
    knobs.push_back(LayoutKnob());
  }
  if (threads_open && on_cpu && first.threads > 1) knobs.push_back(ThreadsKnob());
  if (options.cudnn_benchmark == "auto" && device.is_cuda()) knobs.push_back(BenchmarkKnob());
  if (plan.again) return knobs;  // a few batches that stay: nothing feeds
  if (plan.host_batches) knobs.push_back(NormalizeKnob());
  if (!options.feed_threads) {
    knobs.push_back(FeedKnob(on_cpu, threads_open, UsualFeedCpus(device)));
  }
  if (!options.device_prefetch && !on_cpu) knobs.push_back(PrefetchKnob());
  return knobs;
}

Status ApplyChoices(const Choices& choices) {
  STOKER_RETURN_IF_ERROR(SetTorchThreads(choices.threads));
  FlushTorchDenormals(choices.flush_denormals);
  at::globalContext().setBenchmarkCuDNN(choices.cudnn_benchmark);
  // Without it cuDNN adds gradients of weights up in the order in which blocks of threads finish:
  // two runs with one seed end with other bits. ResNets train as fast with it, in float32 and
  // bfloat16.
  at::globalContext().setDeterministicCuDNN(true);
  return OkStatus();
}

}  // namespace stoker
