#include "stoker/tools/live/metrics_page.h"

#include <unistd.h>

#include <optional>
#include <vector>

#include "stoker/base/remote_path.h"
#include "stoker/tools/live/prometheus_text.h"

namespace stoker {
namespace {

constexpr MetricType kCounter = MetricType::kCounter, kGauge = MetricType::kGauge;

double Number(int64_t value) { return static_cast<double>(value); }

void AddAbout(const LiveFacts& facts, PrometheusText& text) {
  text.Family("stoker_build_info", kGauge, "The version of Stoker; the value is 1.");
  text.Sample(1, {{"version", STOKER_VERSION}});
  text.Family("stoker_run_info", kGauge, "What runs, and on what; the value is 1.");
  text.Sample(1, {{"command", facts.command},
                  {"recipe", WithoutSecrets(facts.recipe)},
                  {"run", facts.run},
                  {"model", facts.model},
                  {"device", facts.device}});
  text.Family("stoker_phase_info", kGauge, "What the command does now; the value is 1.");
  text.Sample(1, {{"phase", facts.phase}});
}

void AddProgress(const TrainFacts& train, PrometheusText& text) {
  text.One("stoker_train_steps_total", kCounter,
           "Optimizer steps done, those before a resume included.", Number(train.step));
  text.One("stoker_train_planned_steps", kGauge, "Optimizer steps of the whole run.",
           Number(train.total_steps));
  text.One("stoker_train_epochs_total", kCounter, "Epochs that this process has finished.",
           Number(train.epochs));
  text.One("stoker_train_samples_total", kCounter, "Samples in the steps of this process.",
           Number(train.samples));
  text.One("stoker_train_parameters", kGauge, "Parameters of the model.", Number(train.parameters));
  if (train.step == train.first_step) return;
  text.One("stoker_train_loss", kGauge, "The newest known loss of a step.", train.loss);
  text.One("stoker_train_learning_rate", kGauge, "The learning rate of the last step.", train.lr);
}

void AddTimes(const TrainFacts& train, PrometheusText& text) {
  text.One("stoker_train_step_seconds_total", kCounter,
           "Time in steps of this process, waits for data included.", train.step_seconds);
  text.One("stoker_train_data_wait_seconds_total", kCounter,
           "The part of the time in steps that went into waiting for data.", train.waited_seconds);
  text.One("stoker_train_data_wait_ratio", kGauge,
           "Share of the last 10 to 20 seconds that went into waiting for data; 0 below 0.05.",
           train.waited_lately);
  text.One("stoker_train_evaluation_seconds_total", kCounter, "Time in evaluations.",
           train.evaluation_seconds);
  text.One("stoker_train_evaluations_total", kCounter, "Evaluations of this process.",
           Number(train.evaluations));
  text.One("stoker_train_checkpoint_seconds_total", kCounter,
           "Time in which training waited for checkpoints.", train.checkpoint_seconds);
  text.One("stoker_train_checkpoints_total", kCounter, "Checkpoints that this process has stored.",
           Number(train.checkpoints));
  text.One("stoker_train_logging_seconds_total", kCounter,
           "Time for lines of metrics and TensorBoard.", train.beside.logging_seconds);
  text.One("stoker_train_callback_seconds_total", kCounter, "Time in callbacks.",
           train.beside.callback_seconds);
  if (train.evaluation_loss) {
    text.One("stoker_train_evaluation_loss", kGauge, "The loss of the last evaluation.",
             *train.evaluation_loss);
  }
  if (train.accuracy) {
    text.One("stoker_train_evaluation_accuracy_ratio", kGauge,
             "Share of samples that the last evaluation found right.", *train.accuracy);
  }
  if (!train.metrics.is_object()) return;
  text.Family("stoker_train_evaluation_metric", kGauge,
              "The figures of train.metrics in the last evaluation, by name.");
  for (const auto& [name, value] : train.metrics.items()) {
    if (value.is_number()) text.Sample(value.get<double>(), {{"metric", name}});
  }
}

void AddWork(const LiveFacts& facts, PrometheusText& text) {
  const WorkFacts& work = *facts.work;
  if (facts.command == "pack") {
    text.One("stoker_pack_elements_total", kCounter,
             "Elements written, those of an earlier, interrupted packing included.",
             Number(work.samples));
    text.One("stoker_pack_files_total", kCounter, "Files that are whole.", Number(work.files));
    if (work.planned >= 0) {
      text.One("stoker_pack_planned_elements", kGauge, "Elements that there will be.",
               Number(work.planned));
    }
    return;
  }
  text.One("stoker_input_samples_total", kCounter,
           "Samples that the input alone has given while it is measured.", Number(work.samples));
  text.One("stoker_input_batches_total", kCounter, "Batches of these samples.",
           Number(work.batches));
}

// A column of the table of stages.
struct StageMetric {
  std::string_view name;
  MetricType type;
  std::string_view help;
  double (*value)(const StageProfile&);
};

constexpr StageMetric kStageMetrics[] = {
    {"stoker_stage_elements_total", kCounter, "Elements that a stage of the input has made.",
     [](const StageProfile& stage) { return Number(stage.elements); }},
    {"stoker_stage_output_bytes_total", kCounter, "Bytes of these elements.",
     [](const StageProfile& stage) { return Number(stage.bytes); }},
    {"stoker_stage_busy_seconds_total", kCounter,
     "Time that threads spent on a stage's own work, over all threads.",
     [](const StageProfile& stage) { return stage.busy_s; }},
    {"stoker_stage_starved_seconds_total", kCounter,
     "Time that threads waited for a stage's input, over all threads.",
     [](const StageProfile& stage) { return stage.starved_s; }},
    {"stoker_stage_blocked_seconds_total", kCounter,
     "Time that threads waited for a stage's consumer or for memory, over all threads.",
     [](const StageProfile& stage) { return stage.blocked_s; }},
    {"stoker_stage_errors_total", kCounter, "Elements that failed in a stage.",
     [](const StageProfile& stage) { return Number(stage.errors); }},
    {"stoker_stage_skipped_elements_total", kCounter, "Failed elements that a stage left out.",
     [](const StageProfile& stage) { return Number(stage.skipped); }},
    {"stoker_stage_replaced_elements_total", kCounter, "Failed elements that a stage replaced.",
     [](const StageProfile& stage) { return Number(stage.replaced); }},
    {"stoker_stage_queue_chunks", kGauge, "Mean length of a stage's queue; 0 without one.",
     [](const StageProfile& stage) { return stage.mean_queue_depth; }},
    {"stoker_stage_queue_capacity_chunks", kGauge, "Length that a stage's queue may have.",
     [](const StageProfile& stage) { return Number(stage.queue_capacity); }},
    {"stoker_stage_peak_memory_bytes", kGauge, "The most that was charged to a stage.",
     [](const StageProfile& stage) { return Number(stage.peak_memory_bytes); }},
};

void AddPipeline(const Profile& pipeline, PrometheusText& text) {
  if (pipeline.stages.empty()) return;
  text.One("stoker_pipeline_threads", kGauge, "Threads that run the input pipeline.",
           pipeline.threads);
  text.One("stoker_pipeline_peak_memory_bytes", kGauge,
           "The most that was charged to all stages together.", Number(pipeline.peak_memory_bytes));
  for (const StageMetric& metric : kStageMetrics) {
    text.Family(metric.name, metric.type, metric.help);
    for (size_t i = 0; i < pipeline.stages.size(); ++i) {
      // Two stages may have one name; the position tells them apart.
      text.Sample(metric.value(pipeline.stages[i]),
                  {{"stage", pipeline.stages[i].name}, {"position", std::to_string(i)}});
    }
  }
}

void AddCpus(const std::vector<CpuCounters>& cpus, PrometheusText& text) {
  const double tick = 1.0 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  text.Family("stoker_host_cpu_seconds_total", kCounter, "Time of each CPU of the machine.");
  for (const CpuCounters& cpu : cpus) {
    const std::string id = std::to_string(cpu.id);
    text.Sample(Number(cpu.busy) * tick, {{"cpu", id}, {"mode", "busy"}});
    text.Sample(Number(cpu.idle) * tick, {{"cpu", id}, {"mode", "idle"}});
    text.Sample(Number(cpu.stolen) * tick, {{"cpu", id}, {"mode", "stolen"}});
  }
}

// One family for each counter of devices of a kind.
template <typename Device>
struct DeviceMetric {
  std::string_view name, help;
  double (*value)(const Device&);
};

constexpr DeviceMetric<DiskCounters> kDiskMetrics[] = {
    {"stoker_host_disk_read_bytes_total", "Bytes read from a disk.",
     [](const DiskCounters& disk) { return Number(disk.read_bytes); }},
    {"stoker_host_disk_written_bytes_total", "Bytes written to a disk.",
     [](const DiskCounters& disk) { return Number(disk.written_bytes); }},
    {"stoker_host_disk_busy_seconds_total", "Time in which a disk had something to do.",
     [](const DiskCounters& disk) { return Number(disk.busy_ms) * 1e-3; }}};

constexpr DeviceMetric<NetworkCounters> kNetworkMetrics[] = {
    {"stoker_host_network_received_bytes_total", "Bytes that came through a network.",
     [](const NetworkCounters& network) { return Number(network.received_bytes); }},
    {"stoker_host_network_sent_bytes_total", "Bytes that were sent through a network.",
     [](const NetworkCounters& network) { return Number(network.sent_bytes); }}};

template <typename Device, size_t count>
void AddDevices(const DeviceMetric<Device> (&metrics)[count], const std::vector<Device>& devices,
                PrometheusText& text) {
  for (const DeviceMetric<Device>& metric : metrics) {
    text.Family(metric.name, kCounter, metric.help);
    for (const Device& device : devices)
      text.Sample(metric.value(device), {{"device", device.name}});
  }
}

void AddHost(const MachineCounters& machine, PrometheusText& text) {
  AddCpus(machine.cpus, text);
  const auto bytes = [&](std::string_view name, std::string_view help,
                         const std::optional<int64_t>& value) {
    if (value) text.One(name, kGauge, help, Number(*value));
  };
  bytes("stoker_host_memory_bytes", "Memory of the machine.", machine.memory.total_bytes);
  bytes("stoker_host_memory_available_bytes", "Memory that programs can still get.",
        machine.memory.available_bytes);
  bytes("stoker_host_swap_bytes", "Swap space of the machine.", machine.memory.swap_total_bytes);
  bytes("stoker_host_swap_free_bytes", "Swap space that is free.", machine.memory.swap_free_bytes);
  AddDevices(kDiskMetrics, machine.disks, text);
  AddDevices(kNetworkMetrics, machine.networks, text);
}

struct GpuMetric {
  std::string_view name, help;
  std::optional<double> (*value)(const GpuSample&);
};

std::optional<double> AsNumber(const std::optional<int64_t>& value, double unit = 1) {
  if (!value) return std::nullopt;
  return Number(*value) * unit;
}

constexpr GpuMetric kGpuMetrics[] = {
    {"stoker_gpu_used_ratio", "Share of the last moments in which a GPU ran a kernel.",
     [](const GpuSample& gpu) { return gpu.used; }},
    {"stoker_gpu_memory_bytes", "Memory of a GPU.",
     [](const GpuSample& gpu) { return AsNumber(gpu.memory_bytes); }},
    {"stoker_gpu_memory_used_bytes", "Memory of a GPU that is taken.",
     [](const GpuSample& gpu) { return AsNumber(gpu.memory_used_bytes); }},
    {"stoker_gpu_power_watts", "Power that a GPU draws.",
     [](const GpuSample& gpu) { return gpu.power_w; }},
    {"stoker_gpu_power_limit_watts", "Power that a GPU may draw.",
     [](const GpuSample& gpu) { return gpu.power_limit_w; }},
    {"stoker_gpu_temperature_celsius", "Temperature of a GPU.",
     [](const GpuSample& gpu) { return AsNumber(gpu.temperature_c); }},
    {"stoker_gpu_clock_hertz", "Clock of a GPU's multiprocessors.",
     [](const GpuSample& gpu) { return AsNumber(gpu.clock_mhz, 1e6); }}};

void AddGpus(const std::vector<GpuSample>& gpus, PrometheusText& text) {
  for (const GpuMetric& metric : kGpuMetrics) {
    text.Family(metric.name, kGauge, metric.help);
    for (size_t i = 0; i < gpus.size(); ++i) {
      if (const auto value = metric.value(gpus[i]))
        text.Sample(*value, {{"gpu", std::to_string(i)}, {"name", gpus[i].name}});
    }
  }
}

// The first names are those that every client library of Prometheus uses.
void AddProcess(const ProcessUsage& process, PrometheusText& text) {
  const auto add = [&](std::string_view name, MetricType type, std::string_view help,
                       const auto& value) {
    if (value) text.One(name, type, help, static_cast<double>(*value));
  };
  add("process_cpu_seconds_total", kCounter, "CPU time of this process.", process.cpu_seconds);
  add("process_resident_memory_bytes", kGauge, "Memory of this process that is in RAM.",
      process.resident_bytes);
  add("process_virtual_memory_bytes", kGauge, "Address space of this process.",
      process.virtual_bytes);
  add("process_start_time_seconds", kGauge, "When this process began, since 1970.",
      process.start_seconds);
  add("process_open_fds", kGauge, "Files that this process has open.", process.open_files);
  add("process_max_fds", kGauge, "Files that this process may have open.", process.most_files);
  add("stoker_process_threads", kGauge, "Threads of this process.", process.threads);
  add("stoker_process_disk_read_bytes_total", kCounter, "Bytes that this process read from disks.",
      process.read_bytes);
  add("stoker_process_disk_written_bytes_total", kCounter,
      "Bytes that this process wrote to disks.", process.written_bytes);
}

}  // namespace

std::string MetricsPage(const LiveFacts& facts, const MachineUsage& machine) {
  PrometheusText text;
  AddAbout(facts, text);
  if (facts.train) {
    AddProgress(*facts.train, text);
    AddTimes(*facts.train, text);
  }
  if (facts.work) AddWork(facts, text);
  AddPipeline(facts.pipeline, text);
  AddHost(machine.counters, text);
  AddGpus(machine.gpus, text);
  AddProcess(machine.process, text);
  return text.text();
}

}  // namespace stoker
