#include "stoker/tools/inspect/inspect_samples.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "stoker/base/log.h"
#include "stoker/base/printable.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/from_arrays.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/csv.h"
#include "stoker/data/sources/hdf5.h"
#include "stoker/data/sources/jsonl.h"
#include "stoker/data/sources/libsvm.h"
#include "stoker/data/sources/lines.h"
#include "stoker/data/sources/lmdb.h"
#include "stoker/data/sources/n5.h"
#include "stoker/data/sources/npz.h"
#include "stoker/data/sources/recordio.h"
#include "stoker/data/sources/snapshot.h"
#include "stoker/data/sources/stoker.h"
#include "stoker/data/sources/tfrecord.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/data/sources/zip_archive.h"
#include "stoker/formats/idx/idx_admit.h"
#include "stoker/formats/lmdb/lmdb_file.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/tools/inspect/sample_preview.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// What looking at samples may hold, however many values a file of few bytes has, compressed.
constexpr int64_t kBudget = 64 << 20;

Runtime WithinBudget() {
  Runtime runtime = Runtime::Inline();
  runtime.memory_budget = kBudget;
  return runtime;
}

Result<Dataset> RowsOf(Result<Array> array) {
  if (!array.ok()) return array.status();
  return FromArrays({{"value", *array}});
}

// A dataset may be named by its attributes.json.
std::filesystem::path N5FolderOf(const std::filesystem::path& path) {
  return std::filesystem::is_directory(path) ? path : path.parent_path();
}

// The name of the only database with values, if the main one has none.
std::string OnlyDatabaseIn(const std::string& path) {
  const Result<LmdbFile> main = LmdbFile::Open(path);
  const bool one = main.ok() && main->size() == 0 && main->databases().size() == 1;
  return one ? main->databases().front() : "";
}

// Text formats are read in order: an index would be made beside a file that is only looked at.
struct SampleReader {
  std::string_view format;
  // `inspected`: what is known of the file.
  Result<Dataset> (*open)(const std::string& path, const Json& inspected);
};

constexpr SampleReader kReaders[] = {
    {"csv",
     [](const std::string& path, const Json&) {
       return Source(Csv{.files = path, .na_values = UsualMissingMarks(), .index = "none"});
     }},
    {"elements",
     [](const std::string& path, const Json&) { return Source(Snapshot{.path = path}); }},
    {"hdf5", [](const std::string& path, const Json&) { return Source(Hdf5{.files = path}); }},
    {"idx", [](const std::string& path,
               const Json&) { return RowsOf(ReadFirstRowsOfIdx(path, kBudget)); }},
    {"jsonl", [](const std::string& path,
                 const Json&) { return Source(Jsonl{.files = path, .index = "none"}); }},
    {"libsvm",
     [](const std::string& path, const Json& inspected) {
       const bool one = inspected["fields"]["label"]["shape"].empty();
       return Source(Libsvm{
           .files = path, .first_index = 0, .label = one ? "float32" : "several", .index = "none"});
     }},
    {"lmdb",
     [](const std::string& path, const Json&) {  // what was packed has no keys to show
       const std::string database = OnlyDatabaseIn(path);
       const Result<Dataset> values = Source(Lmdb{.path = path, .database = database, .key = true});
       return values.ok() ? values : Source(Lmdb{.path = path});
     }},
    {"n5",
     [](const std::string& path, const Json&) { return Source(N5{.path = N5FolderOf(path)}); }},
    {"npy", [](const std::string& path, const Json&) { return RowsOf(ReadNpy(path)); }},
    {"npz", [](const std::string& path, const Json&) { return Source(Npz{.path = path}); }},
    {"recordio",
     [](const std::string& path, const Json&) {
       return Source(Recordio{.files = path, .labels = -1, .index = "memory"});
     }},
    {"stoker", [](const std::string& path, const Json&) { return Source(Stoker{.files = path}); }},
    {"tar",
     [](const std::string& path, const Json&) {
       return Source(Webdataset{.files = path, .key = true, .index = "none"});
     }},
    {"text", [](const std::string& path, const Json&) { return Source(Lines{.path = path}); }},
    {"tfrecord", [](const std::string& path,
                    const Json&) { return Source(Tfrecord{.files = path, .index = "none"}); }},
    {"zip", [](const std::string& path,
               const Json&) { return Source(ZipArchive{.files = path, .key = true}); }},
};

// Whoever inspects a file is told what cannot be read of it there, and not by the log of a pass.
class QuietPasses {
 public:
  QuietPasses() { SetLogLevel(LogLevel::kError); }
  ~QuietPasses() { SetLogLevel(LogLevel::kInfo); }
  QuietPasses(const QuietPasses&) = delete;
  QuietPasses& operator=(const QuietPasses&) = delete;
};

// Samples that can be read, whatever those between them are.
Result<std::unique_ptr<Iterator>> OpenReadable(const Dataset& dataset) {
  STOKER_ASSIGN_OR_RETURN(const Dataset readable,
                          Result<Dataset>(dataset) | IgnoreErrors{.share = 1});
  return readable.Open(WithinBudget(), {.losses = LossLogging::kNone});
}

int64_t SkippedBy(const Iterator& pass) {
  int64_t skipped = 0;
  for (const StageProfile& stage : pass.GetProfile().stages) skipped += stage.skipped;
  return skipped;
}

// Why the first sample that cannot be read cannot; ok where none of the first `count` is such.
Status FirstDamage(const Dataset& dataset, int64_t count) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> pass,
                          dataset.Open(WithinBudget(), {.losses = LossLogging::kNone}));
  for (int64_t i = 0; i < count; ++i) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<Element> sample, pass->Next());
    if (!sample) break;
  }
  return OkStatus();
}

Status Add(const Dataset& dataset, int64_t count, Inspection& out) {
  const QuietPasses quiet;
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> pass, OpenReadable(dataset));
  Json samples = Json::array();
  Status ended;
  while (std::ssize(samples) < count) {
    const Result<std::optional<Element>> sample = pass->Next();
    ended = sample.status();
    if (!sample.ok() || !*sample) break;
    out.text += fmt::format("  sample {}: {}\n", std::ssize(samples) + SkippedBy(*pass),
                            Printable(PreviewText(**sample, dataset.spec())));
    samples.push_back(PreviewJson(**sample, dataset.spec()));
  }
  out.json["samples"] = samples;
  const int64_t left_out = SkippedBy(*pass);
  if (left_out == 0) return ended;
  const std::string why = FirstDamage(dataset, std::ssize(samples) + left_out).message();
  out.text +=
      fmt::format("  {} cannot be read and {} left out; the first: {}\n",
                  CountText(left_out, "sample"), left_out == 1 ? "is" : "are", Printable(why));
  out.json["samples_left_out"] = {{"count", left_out}, {"first", why}};
  return ended;
}

}  // namespace

void AddFirstSamples(const std::string& path, std::string_view format, int64_t count,
                     Inspection& out) {
  for (const SampleReader& reader : kReaders) {
    if (reader.format != format) continue;
    const Result<Dataset> dataset = reader.open(path, out.json);
    const Status added = dataset.ok() ? Add(*dataset, count, out) : dataset.status();
    // Of nothing there is no sample to tell the fields by.
    if (added.ok() || out.json.value("count", Json()) == 0) return;
    out.text += fmt::format("  samples cannot be read{}: {}\n", dataset.ok() ? " any further" : "",
                            Printable(added.message()));
    out.json["samples_error"] = added.message();
    return;
  }
}

}  // namespace stoker
