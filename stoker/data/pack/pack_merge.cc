#include "stoker/data/pack/pack_merge.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "stoker/base/json_file.h"
#include "stoker/base/stop_scope.h"
#include "stoker/data/core/class_names.h"
#include "stoker/data/pack/pack_checksum_internal.h"
#include "stoker/data/pack/pack_manifest.h"
#include "stoker/data/pack/pack_record_internal.h"
#include "stoker/formats/record_fields.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/shards.h"

namespace stoker {
namespace {

// The record of a part, which ParsePackRecord and IsPartRecord have checked.
struct Part {
  internal::PartRecord record;
  Json json;
};

// The members that only parts have (pack_manifest.h), for a part of this number.
bool IsPartRecord(const Json& json, const PackPart& part) {
  const Json stored = json.value("part", Json());
  return stored.is_object() && stored.value("number", Json()) == Json(part.number) &&
         stored.value("of", Json()) == Json(part.of) &&
         stored.value("set", Json()).is_number_integer() &&
         stored.value("schema", Json()).is_string() && json.contains("options");
}

// "2, 5 and 7", the first ones of many.
std::string ListOf(const std::vector<int64_t>& numbers) {
  constexpr size_t kMostNamed = 12;
  const size_t named = std::min(numbers.size(), kMostNamed);
  std::string text;
  for (size_t i = 0; i < named; ++i) {
    const bool last = i + 1 == numbers.size() && i > 0;
    text += fmt::format("{}{}", i == 0 ? "" : last ? " and " : ", ", numbers[i]);
  }
  return named == numbers.size() ? text
                                 : fmt::format("{} and {} more", text, numbers.size() - named);
}

Status Missing(const std::string& destination, int64_t of, const std::vector<int64_t>& missing) {
  return FailedPrecondition(
      "{}: of its {} parts {} not there: {}; make {} (stoker pack SOURCE {} --part {}/{}), then "
      "merge again",
      destination, of, missing.size() == 1 ? "one is" : fmt::format("{} are", missing.size()),
      ListOf(missing), missing.size() == 1 ? "it" : "them", destination, missing.front(), of);
}

Result<Part> ReadPart(const internal::PartRecord& record) {
  STOKER_ASSIGN_OR_RETURN(std::optional<Json> json, internal::ReadPackRecord(record.path));
  if (!json || !IsPartRecord(*json, record.part)) {
    return FailedPrecondition(
        "{}: this tells of part {}, but is damaged, or of another version of Stoker; give that "
        "part's command again with --overwrite",
        record.path, record.part.ToString());
  }
  if (!internal::IsFinished(*json)) {
    return FailedPrecondition(
        "{}: part {} is not finished: {} of its {} files are whole; wait until it is, or give its "
        "command again, which goes on from there",
        record.path, record.part.ToString(), (*json)["done"].size(), (*json)["files"].size());
  }
  return Part{record, *std::move(json)};
}

// All parts of the set, by number, each finished.
Result<std::vector<Part>> ReadParts(const std::string& destination,
                                    const std::vector<internal::PartRecord>& records) {
  const int64_t of = records.front().part.of;
  std::set<int64_t> missing;
  for (int64_t number = 1; number <= of; ++number) missing.insert(number);
  for (const internal::PartRecord& record : records) {
    if (record.part.of != of) {
      return FailedPrecondition(
          "{} and {}: parts of {} and of {} are no one set; remove the records and the files of "
          "those that are not wanted",
          records.front().path, record.path, of, record.part.of);
    }
    missing.erase(record.part.number);
  }
  if (!missing.empty()) return Missing(destination, of, {missing.begin(), missing.end()});
  std::vector<Part> parts;
  for (const internal::PartRecord& record : records) {
    STOKER_ASSIGN_OR_RETURN(parts.emplace_back(), ReadPart(record));
  }
  return parts;
}

// Whether both are of one packing, and this one has the files of its number among `names`.
Status CheckBelongs(const Part& part, const Part& first, const std::vector<std::string>& names) {
  const auto same = [&](const char* key) { return part.json[key] == first.json[key]; };
  const auto same_of = [&](const char* key) {
    return part.json["part"][key] == first.json["part"][key];
  };
  if (!same("origin") || !same_of("set") || !same_of("schema")) {
    return FailedPrecondition(
        "{}: part {} is of other data or has other options than part {} ({}); make it again as "
        "the others, with --overwrite",
        part.record.path, part.record.part.ToString(), first.record.part.ToString(),
        internal::PackDifference(part.json, part.json["options"], first.json, "there"));
  }
  const PackRange own = FilesOfPart(part.record.part, std::ssize(names));
  const Json& files = part.json["files"];
  const bool right = std::ssize(files) == own.size() &&
                     std::ssize(part.json["done"]) == own.size() &&
                     std::ranges::equal(files, std::span(names).subspan(own.first, own.size()),
                                        [](const Json& stored, const std::string& name) {
                                          return stored == AsStoredJson(internal::NameOf(name));
                                        });
  if (right) return OkStatus();
  return FailedPrecondition(
      "{}: part {} of {} files is to have other ones than this says; it is damaged: make the part "
      "again with --overwrite",
      part.record.path, part.record.part.ToString(), names.size());
}

Spec SpecOf(const RecordSchema& schema) {
  Spec spec;
  for (const ElementField& field : schema.fields)
    spec.fields.push_back({.name = field.name, .dtype = field.dtype, .shape = field.shape});
  return spec;
}

// A pattern would read these too.
Status CheckNoOtherShards(const std::string& destination, const std::vector<std::string>& names) {
  const std::string directory = internal::DirectoryOf(destination);
  const std::string name = internal::NameOf(destination);
  std::set<std::string> own;
  for (const std::string& each : names) own.insert(internal::NameOf(each));
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    const std::string found = it->path().filename().string();
    if (found == name || WithoutShardNumber(found) != name || own.contains(found)) continue;
    return FailedPrecondition(
        "{}: is a shard of another set, and a pattern would read both sets; remove that set, and "
        "merge again",
        it->path().string());
  }
  if (error) return ErrnoStatus(error.value(), directory + ": cannot be listed");
  return OkStatus();
}

class Merger {
 public:
  Merger(std::string destination, const MergeOptions& options)
      : destination_(std::move(destination)), options_(options) {}

  Result<MergeReport> Run() {
    STOKER_RETURN_IF_ERROR(internal::CheckDirectory(internal::DirectoryOf(destination_)));
    STOKER_ASSIGN_OR_RETURN(records_, internal::PartRecordsOf(destination_));
    STOKER_ASSIGN_OR_RETURN(const bool done, FinishEarlier());
    if (done) return std::move(report_);
    if (records_.empty()) {
      return NotFound(
          "{}: no part of it is there; make the parts first (stoker pack SOURCE {} --shards N "
          "--part K/M), and give --merge the same name",
          destination_, destination_);
    }
    STOKER_ASSIGN_OR_RETURN(const std::vector<Part> parts, ReadParts(destination_, records_));
    STOKER_RETURN_IF_ERROR(Gather(parts));
    STOKER_RETURN_IF_ERROR(CheckFiles());
    STOKER_RETURN_IF_ERROR(WriteClasses());
    STOKER_RETURN_IF_ERROR(WriteRecord(parts.front()));
    report_.parts = std::ssize(parts);
    STOKER_RETURN_IF_ERROR(RemovePartRecords());
    return std::move(report_);
  }

 private:
  // The set's own record is there: of an earlier merge, perhaps killed before it had removed the
  // parts' records.
  Result<bool> FinishEarlier() {
    const std::string path = internal::RecordPathOf(destination_);
    if (!internal::Exists(path)) return false;
    STOKER_ASSIGN_OR_RETURN(const std::optional<Json> stored, internal::ReadPackRecord(path));
    const bool finished = stored && internal::IsFinished(*stored);
    if (!finished) {
      return FailedPrecondition(
          "{}: a packing in one process was begun here, and is not finished; finish it, or remove "
          "its files, this one too",
          path);
    }
    for (const internal::PartRecord& record : records_) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<Json> part,
                              internal::ReadPackRecord(record.path));
      if (part && (*part)["origin"] == (*stored)["origin"]) continue;
      return FailedPrecondition(
          "{}: part {} is of other data than the set that is there already ({}); remove that set, "
          "or this part",
          record.path, record.part.ToString(),
          part ? internal::PackDifference(*part, part->value("options", Json()), *stored, "there")
               : "its record is damaged");
    }
    report_.was_done = true;
    const std::string directory = internal::DirectoryOf(path);
    for (size_t i = 0; i < (*stored)["done"].size(); ++i) {
      Add((std::filesystem::path(directory) / (*stored)["files"][i].get<std::string>()).string(),
          (*stored)["done"][i]);
    }
    STOKER_RETURN_IF_ERROR(CheckSizes());
    STOKER_RETURN_IF_ERROR(RemovePartRecords());
    return true;
  }

  void Add(std::string path, const Json& done) {
    report_.packed.files.push_back({.path = std::move(path),
                                    .elements = done["elements"].get<int64_t>(),
                                    .bytes = done["bytes"].get<uint64_t>(),
                                    .kept = true});
    checksums_.push_back(done["checksum"].get<uint32_t>());
    done_.push_back(done);
    progress_.total = report_.packed.elements();
  }

  // Fills the report with all files, which the parts must say alike.
  Status Gather(const std::vector<Part>& parts) {
    const Part& first = parts.front();
    const auto files = first.json["part"]["set"].get<int64_t>();
    constexpr int64_t kMostFiles = 99'999;
    if (files < std::ssize(parts) || files > kMostFiles) {
      return FailedPrecondition(
          "{}: tells of {} files; it is damaged: make part {} again with "
          "--overwrite",
          first.record.path, files, first.record.part.ToString());
    }
    const std::string class_file = PackedClassNames(destination_, *options_.format);
    names_ = PackedNames(destination_, *options_.format, files);
    for (const Part& part : parts) STOKER_RETURN_IF_ERROR(CheckBelongs(part, first, names_));
    for (const Part& part : parts) {
      for (const Json& done : part.json["done"]) Add(names_[done_.size()], done);
    }
    STOKER_ASSIGN_OR_RETURN(schema_,
                            ParseRecordSchema(first.json["part"]["schema"].get<std::string>()));
    report_.spec = SpecOf(schema_);
    return CheckNoOtherShards(destination_, names_);
  }

  Status CheckSizes() const {
    for (const PackReport::File& file : report_.packed.files) {
      STOKER_ASSIGN_OR_RETURN(const uint64_t bytes, BytesOnDisk(file.path));
      if (internal::Exists(file.path) && bytes == file.bytes) continue;
      return FailedPrecondition(
          "{}: {}; put it back, or make its part again with --overwrite", file.path,
          internal::Exists(file.path)
              ? fmt::format("has {} bytes, its part wrote {}", bytes, file.bytes)
              : "is not there, though its part is finished");
    }
    return OkStatus();
  }

  Status CheckFiles() {
    STOKER_RETURN_IF_ERROR(CheckSizes());
    if (!options_.verify) return OkStatus();
    progress_.verifying = true;
    for (size_t i = 0; i < report_.packed.files.size(); ++i) {
      const PackReport::File& file = report_.packed.files[i];
      const Status status =
          internal::CheckPackedFile(*options_.format, file.path, report_.spec, file.elements,
                                    checksums_[i], [&] { return CountElement(file.path); });
      if (status.code() == StatusCode::kDataLoss) {
        return DataLoss(
            "{}; check the disk and the memory of the machine that made it, and make its part "
            "again with --overwrite",
            status.message());
      }
      STOKER_RETURN_IF_ERROR(status);
      ++progress_.file;
      Observe();
    }
    return OkStatus();
  }

  Status CountElement(const std::string& path) {
    if (options_.stop != nullptr && *options_.stop)
      return Cancelled("{}: verifying was stopped", path);
    ++progress_.elements;
    Observe();
    return OkStatus();
  }
  void Observe() const {
    if (options_.observer) options_.observer(progress_);
  }

  // As Pack does at its end.
  Status WriteClasses() const {
    const std::string file = PackedClassNames(destination_, *options_.format);
    if (file.empty()) return OkStatus();
    if (!internal::Exists(file))
      return schema_.classes.empty() ? OkStatus() : WriteClassNames(file, schema_.classes);
    STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> there,
                            ReadClassNamesBeside({names_.front()}));
    if (there == schema_.classes) return OkStatus();
    return FailedPrecondition(
        "{}: is there already with other names than the parts were packed with; remove it, and "
        "merge again",
        file);
  }

  // The record that one process would have left: then its command finds that nothing is to be done.
  Status WriteRecord(const Part& first) const {
    std::vector<std::string> files = names_;
    if (const std::string classes = PackedClassNames(destination_, *options_.format);
        !classes.empty()) {
      files.push_back(classes);
    }
    Json record = internal::PackIdentityOf(first.json["origin"].get<std::string>(), files, nullptr);
    record["options"] = first.json["options"];
    record["replaces"] = Json::array();
    record["before"] = Json(std::vector<Json>(files.size(), nullptr));
    record["done"] = done_;
    record["state"] = nullptr;
    record["finished"] = true;
    return WriteFileAtomically(internal::RecordPathOf(destination_), DumpJson(record) + "\n");
  }

  Status RemovePartRecords() const {
    for (const internal::PartRecord& record : records_) {
      // Another merge may have been faster.
      const Status status = RemoveAtomically(record.path);
      if (!status.ok() && status.code() != StatusCode::kNotFound) return status;
    }
    std::vector<std::string> files;
    for (const PackReport::File& file : report_.packed.files) files.push_back(file.path);
    for (const internal::PartRecord& record : records_) files.push_back(record.path);
    return internal::RemoveStaleOf(internal::DirectoryOf(destination_), files);
  }

  const std::string destination_;  // with its extension
  const MergeOptions& options_;
  std::vector<internal::PartRecord> records_;
  std::vector<std::string> names_;
  std::vector<uint32_t> checksums_;  // of the files
  Json done_ = Json::array();
  RecordSchema schema_;
  PackProgress progress_;
  MergeReport report_;
};

}  // namespace

Result<MergeReport> MergeParts(const std::string& destination, const MergeOptions& options) {
  const StopScope stopped([stop = options.stop] { return stop != nullptr && *stop; });
  return Merger(PackedNames(destination, *options.format, 1).front(), options).Run();
}

}  // namespace stoker
