#include "stoker/tools/commands/env_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/json_text.h"
#include "stoker/base/log.h"
#include "stoker/base/stop_scope.h"
#include "stoker/formats/arrow/table_support.h"
#include "stoker/machine/copy_probe.h"
#include "stoker/machine/decode_probe.h"
#include "stoker/machine/file_system.h"
#include "stoker/machine/gpu.h"
#include "stoker/machine/memory_probe.h"
#include "stoker/machine/read_facts.h"
#include "stoker/machine/storage_probe.h"
#include "stoker/tools/commands/env_report.h"
#include "stoker/tools/program/arguments.h"
#include "stoker/tools/program/child_process.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/program/trainer_process.h"

// CMake sets it in a build that can train.
#ifndef STOKER_TORCH_VERSION
#define STOKER_TORCH_VERSION ""
#endif

namespace stoker {
namespace {

constexpr const char* kEnvAbout =
    "Describes the machine, measures it, and warns of traps.\n"
    "Measures the storage of each PATH, memory, decoding of JPEGs, copies to GPUs and how fast two "
    "processes add up tensors, in about 15 seconds. Writes a temporary file of up to 256 MiB and a "
    "thousand small ones into each folder, "
    "and removes them, also after SIGINT; a PATH that is a file is only read.";
constexpr const char* kEnvFooter =
    "Example: stoker env --quick /data\n"
    "Exit: 0 measured, 1 failed, 2 wrong usage, 130 SIGINT, 143 SIGTERM";

constexpr int64_t kMiB = int64_t{1} << 20;

// How long each part may take, and how much it may use.
struct Plan {
  double memory_s, decode_s, copy_s, exchange_s, storage_s;  // the storage of all paths together
  int64_t memory_bytes;
  StorageProbe storage;
};

Plan PlanOf(const EnvArguments& arguments, const MemoryFacts& memory) {
  Plan plan = arguments.quick ? Plan{.memory_s = 0.5,
                                     .decode_s = 0.5,
                                     .copy_s = 0.2,
                                     .exchange_s = 0.2,
                                     .storage_s = 1.5,
                                     .memory_bytes = 96 * kMiB,
                                     .storage = {.file_bytes = 64 * kMiB, .small_files = 250}}
                              : Plan{.memory_s = 2.5,
                                     .decode_s = 2.5,
                                     .copy_s = 1,
                                     .exchange_s = 1,
                                     .storage_s = 8,
                                     .memory_bytes = 512 * kMiB,
                                     .storage = {.file_bytes = 256 * kMiB, .small_files = 1000}};
  plan.storage.seconds =
      plan.storage_s / static_cast<double>(std::max<size_t>(1, arguments.paths.size()));
  // What a control group uses already is not known here, so an eighth of its limit is taken.
  const int64_t room =
      std::min(memory.available_bytes.value_or(plan.memory_bytes),
               memory.limit_bytes.value_or(memory.available_bytes.value_or(plan.memory_bytes)));
  plan.memory_bytes = std::clamp(room / 8, kMiB, plan.memory_bytes);
  return plan;
}

// Before anything is measured: a wrong path is better known at once.
Status CheckPaths(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) return ErrnoStatus(errno, path);
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
      return InvalidArgument("PATH {}: is a device, pipe or socket; name a folder or a file", path);
  }
  return OkStatus();
}

void SayWhatIsWritten(const std::vector<std::string>& paths, const Plan& plan) {
  for (const std::string& path : paths) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    LogInfo("writes up to {} of temporary files into {} and removes them at the end",
            ByteText(static_cast<uint64_t>(BytesToWrite(plan.storage))), path);
  }
}

EnvVersions FindVersions() {
  EnvVersions versions;
  if (HasTrainer()) {
    versions.torch = STOKER_TORCH_VERSION;
  } else {
    versions.no_torch = "this build of stoker cannot train";
  }
  Result<std::string> arrow = ArrowLibrary();
  if (arrow.ok()) {
    versions.arrow = *std::move(arrow);
  } else {
    versions.no_arrow = arrow.status().message();
  }
  return versions;
}

// One thread and all, in half of the time each.
template <typename T>
Status MeasureBoth(int cpus, std::optional<T>& one, std::optional<T>& together,
                   const std::function<Result<T>(int threads)>& measure) {
  STOKER_ASSIGN_OR_RETURN(one, measure(1));
  together = one;
  if (cpus > 1) {
    STOKER_ASSIGN_OR_RETURN(together, measure(cpus));
  }
  return OkStatus();
}

Status MeasureComputing(const Plan& plan, Roofs& roofs) {
  STOKER_RETURN_IF_ERROR(
      MeasureBoth<MemoryRoofs>(roofs.cpus, roofs.memory, roofs.memory_together, [&](int threads) {
        return MeasureMemory(
            {.seconds = plan.memory_s / 2, .threads = threads, .bytes = plan.memory_bytes});
      }));
  return MeasureBoth<DecodeRoofs>(
      roofs.cpus, roofs.decode, roofs.decode_together,
      [&](int threads) { return MeasureDecoding(plan.decode_s / 2, threads); });
}

// Only where something would be trained there. What stands in the way is a line of the report.
Status AddCopies(const Plan& plan, EnvReport& report) {
  if (!report.versions.no_torch.empty() || !report.facts.gpu.none.empty()) {
    report.no_copies =
        report.versions.no_torch.empty() ? report.facts.gpu.none : report.versions.no_torch;
    return OkStatus();
  }
  Result<std::vector<CopyRoofs>> copies = MeasureCopies(plan.copy_s);
  if (copies.ok()) {
    report.roofs.copies = *std::move(copies);
  } else if (copies.status().code() == StatusCode::kCancelled) {
    return copies.status();
  } else {
    report.no_copies = copies.status().message();
  }
  return OkStatus();
}

// The line of rank 0, behind the prefix of `stoker launch`.
Result<AllReduceRoofs> ParseExchange(std::string_view printed) {
  const size_t begin = std::min(printed.find('{'), printed.size());
  return AllReduceRoofs::FromJson(
      Json::parse(printed.substr(begin), nullptr, /*allow_exceptions=*/false));
}

// Between two processes of this machine. What stands in the way is a line of the report.
Status AddAllReduce(const Plan& plan, EnvReport& report) {
  report.no_all_reduce = report.versions.no_torch;
  if (!report.no_all_reduce.empty()) return OkStatus();
  const Result<std::string> printed = OutputOfThisProgram(
      {"launch", "-n", "2", "--", "env", "--exchange-seconds", fmt::format("{}", plan.exchange_s)},
      Interrupted());
  if (printed.status().code() == StatusCode::kCancelled) return printed.status();
  const Result<AllReduceRoofs> roofs = printed.ok() ? ParseExchange(*printed) : printed.status();
  if (roofs.ok()) {
    report.roofs.all_reduce = *roofs;
  } else {
    report.no_all_reduce = roofs.status().message();
  }
  return OkStatus();
}

Status Measure(const EnvArguments& arguments, EnvReport& report) {
  const Plan plan = PlanOf(arguments, report.facts.memory);
  SayWhatIsWritten(arguments.paths, plan);
  const Stopwatch watch;
  Roofs& roofs = report.roofs;
  roofs.host = report.facts.host;
  roofs.cpus = UsableCpus(report.facts.cpu);
  roofs.measured_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  STOKER_RETURN_IF_ERROR(MeasureComputing(plan, roofs));
  STOKER_RETURN_IF_ERROR(AddCopies(plan, report));
  STOKER_RETURN_IF_ERROR(AddAllReduce(plan, report));
  for (const std::string& path : arguments.paths) {
    STOKER_ASSIGN_OR_RETURN(roofs.storage.emplace_back(), MeasureStorage(path, plan.storage));
  }
  report.seconds = watch.ElapsedSeconds();
  return OkStatus();
}

// Figures that cannot be kept are printed all the same, unless a file was named for them.
Status Keep(const std::string& to, EnvReport& report) {
  const Result<std::string> path = to.empty() ? DefaultRoofsPath() : to;
  const Status saved = path.ok() ? SaveRoofs(report.roofs, *path) : path.status();
  if (saved.ok()) {
    report.roofs_file = *path;
  } else if (to.empty()) {
    report.roofs_problem = saved.message();
  } else {
    return saved;
  }
  return OkStatus();
}

}  // namespace

void AddEnvCommand(Program& program, std::function<Status(const EnvArguments&)> exchange) {
  auto [app, arguments] = program.Add<EnvArguments>(
      "env", kEnvAbout, kEnvFooter, [exchange = std::move(exchange)](const EnvArguments& given) {
        return given.exchange_seconds ? exchange(given) : RunEnv(given);
      });
  app.add_option("PATH", arguments.paths, "folders, or large files, whose storage is measured")
      ->type_name("")
      ->default_str("the working directory");
  app.add_flag("--quick", arguments.quick, "in about 4 seconds, with 64 MiB and 250 small files");
  app.add_option("--to", arguments.to, "keep the figures in this file")
      ->type_name("FILE")
      ->default_str("~/.cache/stoker/machine.json");
  app.add_option("--exchange-seconds", arguments.exchange_seconds)
      ->check(CLI::Range(0.0, 60.0))
      ->group("");
  AddJsonOption(app, arguments.json);
}

Status RunEnv(const EnvArguments& given) {
  EnvArguments arguments = given;
  if (arguments.paths.empty()) arguments.paths = {"."};
  STOKER_RETURN_IF_ERROR(CheckPaths(arguments.paths));
  NoteInterrupt();
  const StopScope scope([] { return Interrupted().load(); });
  EnvReport report;
  report.facts = ReadMachineFacts();
  report.facts.gpu = ReadGpus();
  for (const std::string& path : arguments.paths)
    report.facts.file_systems.push_back(DescribeFileSystem(path));
  report.versions = FindVersions();
  const Status measured = Measure(arguments, report);
  if (measured.code() == StatusCode::kCancelled || Interrupted())
    return Cancelled("stopped; the temporary files are removed, and no figures are kept");
  STOKER_RETURN_IF_ERROR(measured);
  STOKER_RETURN_IF_ERROR(Keep(arguments.to, report));
  return PrintResult(arguments.json ? DumpJson(report.ToJson()) + "\n" : report.ToText());
}

}  // namespace stoker
