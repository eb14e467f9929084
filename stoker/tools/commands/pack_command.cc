#include "stoker/tools/commands/pack_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <utility>

#include "stoker/base/json_text.h"
#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/base/remote_path.h"
#include "stoker/data/core/files_read.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/pack/pack.h"
#include "stoker/data/pack/pack_pictures.h"
#include "stoker/tools/commands/pack_input.h"
#include "stoker/tools/commands/pack_merge_command.h"
#include "stoker/tools/commands/pack_progress.h"
#include "stoker/tools/live/live_server.h"
#include "stoker/tools/live/work_watch.h"
#include "stoker/tools/program/arguments.h"
#include "stoker/tools/program/command_table.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/output_file.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/terminal.h"
#include "stoker/tools/program/text.h"
#include "stoker/tools/program/trace_options.h"

namespace stoker {
namespace {

constexpr const char* kPackAbout = "Writes data into files that are fast to read.";
constexpr const char* kPackFooter =
    "Example: stoker pack photos photos.stoker --shards 8 --shuffle --verify\n"
    "Exit: 0 packed, 1 failed, 2 wrong usage or recipe, 130 SIGINT, 143 SIGTERM";

// The options that the files depend on, as given: these name the difference to an interrupted
// packing.
std::map<std::string, std::string> GivenOptions(const PackArguments& arguments,
                                                const PackFormat& format) {
  const auto number = [](const std::optional<int64_t>& given) {
    return given ? fmt::format("{}", *given) : std::string("none");
  };
  return {{"SOURCE", WithoutSecrets(arguments.source)},
          {"--format", std::string(format.name)},
          {"--shards", fmt::format("{}", arguments.shards)},
          {"--shuffle", arguments.shuffle ? "yes" : "no"},
          {"--seed", fmt::format("{}", arguments.seed)},
          {"--resize", number(arguments.resize)},
          {"--quality", number(arguments.quality)},
          {"--of", arguments.of},
          {"--stages", number(arguments.stages)},
          {"--set", arguments.set.empty()
                        ? "none"
                        : WithoutSecrets(fmt::format("{}", fmt::join(arguments.set, " ")))}};
}

// The pipeline with the stages that the command line adds to its end.
Result<PackSource> InputOf(const PackArguments& arguments) {
  STOKER_ASSIGN_OR_RETURN(PackSource source,
                          OpenPackSource(arguments.source, {.of = arguments.of,
                                                            .stages = arguments.stages,
                                                            .assignments = arguments.set}));
  STOKER_ASSIGN_OR_RETURN(source, Reencode(std::move(source), {.resize = arguments.resize,
                                                               .quality = arguments.quality}));
  if (arguments.shuffle) {
    STOKER_ASSIGN_OR_RETURN(source.dataset, Result(source.dataset) | Shuffle{});
    source.settings += ", shuffled";
  }
  return source;
}

Json ToJson(const PackReport& report, const PackArguments& arguments, const PackFormat& format,
            const Dataset& dataset, double elements_per_s) {
  Json json = {{"source", arguments.source},        {"format", format.name},
               {"spec", dataset.spec().ToString()}, {"elements", report.elements()},
               {"bytes", report.bytes()},           {"elements_per_s", elements_per_s},
               {"verified", arguments.verify},      {"files", PackedFilesToJson(report)}};
  if (!arguments.part.empty()) json["part"] = arguments.part;
  return json;
}

std::string ToText(const PackReport& report, const PackArguments& arguments, const Dataset& dataset,
                   double elements_per_s) {
  int64_t kept = 0;
  for (const PackReport::File& file : report.files) kept += file.kept ? 1 : 0;
  std::string text = PackedFilesToText(report, dataset.spec(), arguments.verify);
  if (!arguments.part.empty()) {
    text += fmt::format("  part {}; when all are there: stoker pack --merge {}\n", arguments.part,
                        Printable(arguments.destination));
  }
  if (kept == std::ssize(report.files))
    return text +
           "  packed before from the same data with the same options: nothing was left to do\n";
  if (kept > 0)
    text += fmt::format("  {} there from before\n", CountText(kept, "file was", "files were"));
  return text + fmt::format("  {} elements a second\n", WithThousands(elements_per_s));
}

Status Stopped(const PackProgress& progress, const PackArguments& arguments, int64_t files) {
  if (arguments.shards == 1)
    return Cancelled("stopped after {}; nothing is kept of a single file (--shards)",
                     CountText(progress.elements, "element"));
  return Cancelled("stopped with {} of {} files whole; the same command goes on from there",
                   progress.file, files);
}

void AddPictureOptions(CLI::App& app, PackArguments& arguments) {
  app.add_option("--resize", arguments.resize,
                 "pictures: shorter side at most so long; makes JPEGs")
      ->type_name("PIXELS")
      ->check(CLI::Range(1, 65500).description(""));
  app.add_option("--quality", arguments.quality, "pictures: as JPEG of 1..100; 90 with --resize")
      ->type_name("Q")
      ->check(CLI::Range(1, 100).description(""));
}

}  // namespace

void AddPackCommand(Program& program, std::function<Status(const PackArguments&)> run) {
  auto [app, arguments] =
      program.Add<PackArguments>("pack", kPackAbout, kPackFooter, std::move(run));
  app.add_option("SOURCE", arguments.source, "recipe, directory of class folders, or packed files")
      ->type_name("")
      ->required();
  app.add_option("DEST", arguments.destination, "what to make; the extension may be left out")
      ->type_name("");
  std::string formats;
  for (const PackFormat& format : PackFormats())
    formats += (formats.empty() ? "" : ", ") + std::string(format.name);
  app.add_option("--format", arguments.format, formats)->type_name("F")->default_str("by DEST");
  app.add_option("--shards", arguments.shards, "so many files, DEST-00000-of-0000N")
      ->type_name("N")
      ->check(CLI::Range(1, 99999).description(""))
      ->default_str("1");
  app.add_option("--part", arguments.part, "make only part K of N, on any machine")
      ->type_name("K/N");
  CLI::Option* const merge =
      app.add_flag("--merge", arguments.merge, "make the parts of DEST one set");
  app.add_flag("--shuffle", arguments.shuffle, "in a random order");
  app.add_option("--seed", arguments.seed, "of that order, and of random stages")
      ->type_name("S")
      ->check(AtLeastCheck(0))
      ->default_str("0")
      ->group(kSeldomGroup);
  AddPictureOptions(app, arguments);
  app.add_option("--of", arguments.of, "of a recipe: which pipeline")
      ->type_name("train|eval")
      ->check(CLI::IsMember({"train", "eval"}).description(""))
      ->default_str("train")
      ->group(kSeldomGroup);
  app.add_option("--stages", arguments.stages, "of a recipe: its first N stages only")
      ->type_name("N")
      ->check(AtLeastCheck(1))
      ->group(kSeldomGroup);
  AddSetOption(app, arguments.set).description("change a key of the recipe; may be repeated");
  AddAllowCodeOption(app).group(kSeldomGroup);
  app.add_flag("--verify", arguments.verify, "read back and compare what was written");
  app.add_flag("--overwrite", arguments.overwrite, "replace what is there");
  app.add_option("--threads", arguments.threads, "worker threads, 1..1024")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""))
      ->default_str("as many as pay")
      ->group(kSeldomGroup);
  AddMemoryOption(app);
  // What the parts were made with, they say themselves.
  for (const char* name : {"--part", "--shards", "--shuffle", "--seed", "--resize", "--quality",
                           "--of", "--stages", "--set", "--overwrite"}) {
    merge->excludes(app.get_option(name));
  }
  AddServeOptions(app, arguments.serve);
  AddJsonOption(app, arguments.json);
  AddTraceOptions(app, arguments.trace, "the beginning");
}

namespace {

void ShowPacking(const PackProgress& now, LiveFacts& facts) {
  facts.phase = now.verifying ? "verifying" : "packing";
  facts.work = WorkFacts{.samples = now.elements, .files = now.file, .planned = now.total};
}

// The first stage whose draws the files would hold for good; null if there is none. The order of
// a shuffle is drawn anew where the files are read, and ignore_errors draws only for what fails.
const DatasetNode* FindDrawn(const Dataset& dataset) {
  for (const Dataset& input : dataset.node().inputs()) {
    if (const DatasetNode* drawn = FindDrawn(input)) return drawn;
  }
  const DatasetNode& node = dataset.node();
  const bool counts = node.name() != Shuffle::kName && node.name() != IgnoreErrors::kName;
  return node.random() && counts ? &node : nullptr;
}

void WarnOfDraws(const PackArguments& arguments, const Dataset& dataset) {
  const DatasetNode* const drawn = FindDrawn(dataset);
  if (drawn == nullptr) return;
  LogWarning(
      "{}: `{}` draws at random, and the files hold one draw of it (--seed {}), which every epoch "
      "that reads them gets again; give --stages N to pack only the stages before it, and keep it "
      "in the recipe that reads the files",
      arguments.source, drawn->name(), arguments.seed);
}

// kInvalidArgument if a trace would take the place of what the packing reads or writes.
Status CheckTraceIsApart(const PackArguments& arguments, const PackFormat& format,
                         const PackSource& input) {
  std::vector<std::string> written = PackedNames(arguments.destination, format, arguments.shards);
  if (const std::string classes = PackedClassNames(arguments.destination, format); !classes.empty())
    written.push_back(classes);
  for (const auto& [option, path] : GivenTraceFiles(arguments.trace)) {
    STOKER_RETURN_IF_ERROR(CheckNotRead(input.dataset, path, option));
    const auto is_it = [&path = path](const std::string& file) {
      return AreOneFile(path, file) || IsInside(path, file);
    };
    if (std::ranges::any_of(written, is_it) || std::ranges::any_of(input.files, is_it)) {
      return InvalidArgument("{} {}: the packing reads or writes this file; give another name",
                             option, path);
    }
  }
  return OkStatus();
}

// A stream has no place to begin at but its own.
void WarnOfStream(const PackArguments& arguments, const std::optional<PackPart>& part,
                  const Dataset& dataset) {
  if (!part || part->number == 1 || dataset.node().random_access()) return;
  LogWarning(
      "{}: is not read by position, so part {} reads what comes before its own elements too, and "
      "drops it; parts share only the writing",
      arguments.source, part->ToString());
}

Status PackInput(const PackArguments& arguments, const PackFormat* format,
                 const PackSource& input) {
  std::optional<PackPart> part;
  if (!arguments.part.empty()) {
    STOKER_ASSIGN_OR_RETURN(part, ParsePackPart(arguments.part));
  }
  const int64_t files = part ? FilesOfPart(*part, arguments.shards).size() : arguments.shards;
  WarnOfDraws(arguments, input.dataset);
  WarnOfStream(arguments, part, input.dataset);
  ::signal(SIGPIPE, SIG_IGN);  // PrintResult notices that a reader has left
  NoteInterrupt();
  STOKER_ASSIGN_OR_RETURN(
      const std::unique_ptr<LiveServer> live,
      LiveServer::Start(
          arguments.serve,
          {.command = "pack", .recipe = arguments.source, .noun = "element", .phase = "packing"}));
  WorkWatch watch(live ? &live->board() : nullptr);
  PackProgressLine progress(files, IsTerminal(STDERR_FILENO));
  const Runtime runtime{.threads = arguments.threads, .stop = &Interrupted()};
  const Result<PackReport> report =
      Pack(input.dataset, arguments.destination,
           {.format = format,
            .files = arguments.shards,
            .part = part,
            .verify = arguments.verify,
            .overwrite = arguments.overwrite,
            .classes = input.classes,
            .settings = input.settings,
            .given = GivenOptions(arguments, *format),
            .inputs = input.files,
            .pass = {.seed = arguments.seed},
            .observer =
                [&](const PackProgress& now) {
                  progress.On(now);
                  watch.Note([&](LiveFacts& facts) { ShowPacking(now, facts); });
                }},
           runtime);
  progress.Finish();
  if (!report.ok() && report.status().code() == StatusCode::kCancelled)
    return Stopped(progress.last(), arguments, files);
  if (!report.ok()) return report.status();
  if (report->elements() == 0) {
    LogWarning(
        "{}: the pipeline gives no element, so there is none in what was packed; check what {} "
        "reads",
        report->files.front().path, arguments.source);
  }
  const double rate = progress.elements_per_s();
  return PrintResult(arguments.json
                         ? DumpJson(ToJson(*report, arguments, *format, input.dataset, rate)) + "\n"
                         : ToText(*report, arguments, input.dataset, rate));
}

}  // namespace

namespace {

// SOURCE and DEST, of which a merge has only one, the first word.
Result<PackArguments> PlacesOf(PackArguments arguments) {
  if (!arguments.merge) {
    if (arguments.destination.empty())
      return InvalidArgument("DEST is required; `stoker pack --help` explains");
    return arguments;
  }
  if (!arguments.destination.empty()) {
    return InvalidArgument(
        "--merge takes DEST alone, since the parts say what they were made from; leave {} out",
        Printable(arguments.source));
  }
  arguments.destination = std::exchange(arguments.source, std::string());
  return arguments;
}

}  // namespace

Status RunPack(const PackArguments& given) {
  STOKER_ASSIGN_OR_RETURN(const PackArguments arguments, PlacesOf(given));
  STOKER_RETURN_IF_ERROR(CheckIsOfNoRun("DEST", arguments.destination));
  STOKER_ASSIGN_OR_RETURN(const PackFormat* format,
                          PackFormatFor(arguments.destination, arguments.format));
  if (arguments.merge) return RunMerge(arguments, *format);
  STOKER_ASSIGN_OR_RETURN(const PackSource input, InputOf(arguments));
  STOKER_RETURN_IF_ERROR(CheckTraceIsApart(arguments, *format, input));
  return RunTracedFromNow(arguments.trace, "stoker pack",
                          [&] { return PackInput(arguments, format, input); });
}

}  // namespace stoker
