#include "stoker/data/sources/tfrecord.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "stoker/base/ledger.h"
#include "stoker/base/printable.h"
#include "stoker/formats/tfrecord/example.h"
#include "stoker/formats/tfrecord/record_check.h"
#include "stoker/formats/tfrecord/record_reader.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

// What is known of one feature, over all records.
struct FeatureSummary {
  std::map<std::string, int64_t> kinds;  // how many records have it as which type
  int64_t fewest = 0, most = 0;          // values; of byte strings bytes
  int64_t records = 0;

  void Add(std::string_view kind, int64_t values) {
    fewest = records == 0 ? values : std::min(fewest, values);
    most = std::max(most, values);
    ++kinds[std::string(kind)];
    ++records;
  }
};

struct Summary {
  int64_t records = 0, damaged = 0, examples = 0;
  uint64_t bytes = 0, shortest = 0, longest = 0;
  std::map<std::string, FeatureSummary> features, sequences;
};

// Bytes of the first byte string, where it is one; else the number of values.
Result<int64_t> ExtentOf(std::span<const std::byte> record, const FeatureValues& values) {
  STOKER_ASSIGN_OR_RETURN(const int64_t count, CountValues(record, values));
  if (values.kind != FeatureKind::kBytes || count != 1) return count;
  std::span<const std::byte> text;
  STOKER_RETURN_IF_ERROR(FindByteStrings(record, values, {&text, 1}).status());
  return std::ssize(text);
}

// False if the record is no Example: nothing of it is counted then.
bool AddExample(std::span<const std::byte> record, Summary& summary) {
  std::vector<NamedFeature> features;
  std::vector<NamedSteps> sequences;
  if (!ListFeatures(record, features, sequences).ok()) return false;
  std::vector<std::pair<std::string, int64_t>> extents;
  for (const NamedFeature& feature : features) {
    const Result<int64_t> extent = ExtentOf(record, feature.values);
    if (!extent.ok()) return false;
    extents.emplace_back(feature.name, *extent);
  }
  for (size_t i = 0; i < features.size(); ++i) {
    summary.features[extents[i].first].Add(FeatureKindName(features[i].values.kind),
                                           extents[i].second);
  }
  for (const NamedSteps& sequence : sequences) {
    std::vector<FeatureValues> steps;
    if (!SplitSteps(record, sequence.steps, steps).ok()) return false;
    const FeatureKind kind = steps.empty() ? FeatureKind::kMissing : steps.front().kind;
    summary.sequences[std::string(sequence.name)].Add(FeatureKindName(kind), std::ssize(steps));
  }
  return !features.empty() || !sequences.empty();
}

Status Summarize(TfRecordReader& reader, Summary& summary) {
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TfRecord> record, reader.Next());
    if (!record) return OkStatus();
    const uint64_t size = record->data.size();
    summary.shortest = summary.records == 0 ? size : std::min(summary.shortest, size);
    summary.longest = std::max(summary.longest, size);
    summary.bytes += size;
    ++summary.records;
    summary.damaged += record->damaged ? 1 : 0;
    if (!record->damaged && AddExample(record->data, summary)) ++summary.examples;
  }
}

// `key` is what they are called in the JSON, `title` in the text.
void DescribeFeatures(const std::map<std::string, FeatureSummary>& features, const char* key,
                      const char* title, Inspection& out) {
  Json& json = out.json[key] = Json::object();
  if (features.empty()) return;
  std::vector<std::vector<std::string>> rows = {{title, "type", "values", "records"}};
  for (const auto& [name, feature] : features) {
    std::string types;
    for (const auto& [kind, count] : feature.kinds) types += (types.empty() ? "" : ", ") + kind;
    json[name] = {{"type", types},
                  {"fewest", feature.fewest},
                  {"most", feature.most},
                  {"records", feature.records}};
    rows.push_back(
        {name, types,
         RangeText(static_cast<int64_t>(feature.fewest), static_cast<int64_t>(feature.most)),
         WithThousands(static_cast<double>(feature.records))});
  }
  out.text += TableText(rows, 2);
}

Result<Inspection> InspectTfRecord(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenTfRecordSource(path, "auto"));
  const auto budget = static_cast<uint64_t>(Ledger::Default()->budget_bytes());
  TfRecordReader reader(std::move(source), {.budget_bytes = budget});
  Summary summary;
  Inspection out;
  out.damage = Summarize(reader, summary);
  if (out.damage.ok() && summary.damaged > 0) {
    out.damage = DataLoss("{}: the data of {} of {} records lack their checksum", path,
                          summary.damaged, summary.records);
  }
  out.json = {
      {"file", path},
      {"format", "tfrecord"},
      {"count", summary.records},
      {"damaged", summary.damaged},
      {"examples", summary.examples},
      {"bytes",
       {{"all", summary.bytes}, {"shortest", summary.shortest}, {"longest", summary.longest}}}};
  out.text = fmt::format("{}: TFRecord, {} of {}, {} of them tf.train.Examples{}\n",
                         Printable(path), CountText(summary.records, "record"),
                         RangeText(static_cast<int64_t>(summary.shortest),
                                   static_cast<int64_t>(summary.longest), "byte"),
                         WithThousands(static_cast<double>(summary.examples)),
                         out.damage.ok() ? "; whole" : "");
  DescribeFeatures(summary.features, "fields", "features", out);
  DescribeFeatures(summary.sequences, "sequences", "sequences", out);
  return out;
}

// The first record's length has its checksum, which nothing else has there.
Result<bool> BeginsWithRecord(const std::string& path) {
  Result<std::unique_ptr<ByteSource>> source = OpenTfRecordSource(path, "auto");
  if (!source.ok()) return source.status();
  std::array<std::byte, kTfRecordHeaderBytes> start;
  const Result<size_t> got = (*source)->ReadFully(start);
  return got.ok() && BeginsTfRecord(std::span(start).first(*got));
}

std::string TextOf(TfRecordDamage::Kind kind) {
  switch (kind) {
    case TfRecordDamage::Kind::kData: return "a record whose data lack their checksum";
    case TfRecordDamage::Kind::kFrames: return "no record can be found";
    case TfRecordDamage::Kind::kCut: return "the end of the file is no whole record";
  }
  return {};
}

bool IsCompressed(const std::string& path) {
  const Result<File> file = File::Open(path);
  if (!file.ok()) return true;
  const Result<const Decompression*> compression = DetectTfRecordCompression(*file);
  return !compression.ok() || *compression != nullptr;
}

// Every damaged record of a plain file; of a compressed one the first thing that is wrong.
Status ListDamagedRecords(const ProbedFile& probed, const Inspection& inspected,
                          Verification& out) {
  if (inspected.damage.ok() || IsCompressed(probed.path)) return inspected.damage;
  STOKER_ASSIGN_OR_RETURN(const MappedFile file,
                          MappedFile::Open(probed.path, MapAdvice::kSequential));
  const TfRecordCheck check = CheckTfRecords(file.bytes());
  out.count = check.records;
  for (const TfRecordDamage& damage : check.damages) {
    out.damages.push_back(
        {damage.begin, damage.bytes, TextOf(damage.kind), damage.record,
         damage.kind == TfRecordDamage::Kind::kData ? std::optional<int64_t>(1) : std::nullopt});
  }
  return OkStatus();
}

}  // namespace

const FileFormat kTfrecordFormat = {
    .name = "tfrecord",
    .holds = [](const ProbedFile& file) -> Result<bool> { return BeginsWithRecord(file.path); },
    .inspect = [](const ProbedFile& file) { return InspectTfRecord(file.path); },
    .recipe = [](const ProbedFile& file) { return fmt::format("tfrecord: {}", file.path); },
    .open = [](const std::string& path,
               const Json&) { return Source(Tfrecord{.files = path, .index = "none"}); },
    .pack = [](const std::string& files) { return PackSourceOf(Tfrecord{.files = files}); },
    .verify = ListDamagedRecords,
};

}  // namespace stoker
