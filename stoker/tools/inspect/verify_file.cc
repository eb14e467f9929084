#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "stoker/base/printable.h"
#include "stoker/formats/probe/file_kind.h"
#include "stoker/formats/shard/shard_file.h"
#include "stoker/formats/tfrecord/record_check.h"
#include "stoker/formats/tfrecord/record_reader.h"
#include "stoker/image/decode.h"
#include "stoker/io/file.h"
#include "stoker/io/manifest.h"
#include "stoker/tools/inspect/inspection.h"
#include "stoker/tools/inspect/verification.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLines = 20;  // of damages, for people

Status ListBlocks(const std::string& path, Verification& out) {
  STOKER_ASSIGN_OR_RETURN(const ShardFile file, ShardFile::Open(path));
  for (int64_t block = 0; block < file.blocks(); ++block) {
    if (file.CheckBlock(block)) continue;
    const ShardFile::Damage damage = file.DamageOf(block);
    out.damages.push_back(
        {damage.begin, damage.bytes, "a block without its checksum", damage.first, damage.records});
  }
  return OkStatus();
}

std::string TextOf(TfRecordDamage::Kind kind) {
  switch (kind) {
    case TfRecordDamage::Kind::kData: return "a record whose data lack their checksum";
    case TfRecordDamage::Kind::kFrames: return "no record can be found";
    case TfRecordDamage::Kind::kCut: return "the end of the file is no whole record";
  }
  return {};
}

Status ListRecords(const std::string& path, Verification& out) {
  STOKER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path, MapAdvice::kSequential));
  const TfRecordCheck check = CheckTfRecords(file.bytes());
  out.count = check.records;
  for (const TfRecordDamage& damage : check.damages) {
    out.damages.push_back(
        {damage.begin, damage.bytes, TextOf(damage.kind), damage.record,
         damage.kind == TfRecordDamage::Kind::kData ? std::optional<int64_t>(1) : std::nullopt});
  }
  return OkStatus();
}

// Whether a directory has the name and a file of a checkpoint of a training (run/checkpoint.h).
bool IsCheckpoint(const fs::path& directory) {
  constexpr std::string_view kPrefix = "step-";
  const std::string name = directory.filename().string();
  const bool named = name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
                     name.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
  std::error_code ignored;
  return named && (fs::exists(directory / kManifestName, ignored) ||
                   fs::exists(directory / "tensors.safetensors", ignored));
}

// A file of a checkpoint, by the manifest beside it; the manifest itself by its own checksum, and
// by what it lists being there.
Status VerifyByManifest(const fs::path& path) {
  STOKER_ASSIGN_OR_RETURN(const Manifest manifest, Manifest::Read(path.parent_path().string()));
  if (path.filename() != kManifestName) return manifest.Check(path.filename().string());
  for (const std::string& name : manifest.names()) {
    const fs::path listed = path.parent_path() / name;
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(listed, ignored))) {
      return DataLoss("{}: lists {}, which is missing", path.string(), name);
    }
  }
  return OkStatus();
}

// A file of TFRecord's name whose first record is damaged is not known by its content.
bool IsPlainTfRecord(const std::string& path, const Result<Inspection>& inspection) {
  const bool known = inspection.ok() && inspection->json.value("format", "") == "tfrecord";
  if (!known && !path.ends_with(".tfrecord") && !path.ends_with(".tfrecords")) return false;
  const Result<File> file = File::Open(path);
  if (!file.ok()) return false;
  const Result<TfRecordCompression> compression = DetectTfRecordCompression(*file);
  return compression.ok() && *compression == TfRecordCompression::kNone;
}

Status VerifyPicture(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const Buffer bytes, ReadWholeFile(path));
  return DecodeImage({bytes.data(), bytes.size()}, path).status();
}

// What inspect can only name by its first bytes, or count the lines of. What is compressed was read
// to the end of that.
bool CannotBeChecked(const std::string& path, const Json& json) {
  const Result<File> file = File::Open(path);
  if (!file.ok() || json.contains("compressed")) return false;
  if (json.value("format", "") == "text") return true;
  std::array<std::byte, kProbeBytes> prefix;
  const Result<size_t> size = file->ReadUpTo(0, prefix);
  return size.ok() &&
         json.value("format", "") == FileKindName(ProbeFile(std::span(prefix).first(*size)));
}

Status Verify(const std::string& path, Verification& out) {
  std::error_code ignored;
  if (const fs::path absolute = fs::absolute(path, ignored); IsCheckpoint(absolute.parent_path())) {
    out.format = "checkpoint";
    return VerifyByManifest(absolute);
  }
  const Result<Inspection> inspection = InspectFile(path);
  if (IsPlainTfRecord(path, inspection) && (!inspection.ok() || !inspection->damage.ok() ||
                                            inspection->json.value("format", "") != "tfrecord")) {
    out.format = "tfrecord";
    return ListRecords(path, out);
  }
  if (!inspection.ok()) return inspection.status();
  const Json& json = inspection->json;
  out.format = json.value("format", "");
  if (json.contains("count") && json["count"].is_number_integer())
    out.count = json["count"].get<int64_t>();
  if (out.format == "stoker") return ListBlocks(path, out);
  if (IsPicture(path)) return VerifyPicture(path);
  if (CannotBeChecked(path, json)) {
    if (IsNamedAsPicture(path)) return VerifyPicture(path);
    out.unchecked = fmt::format("it is {}, which has nothing to check it by", out.format);
    return OkStatus();
  }
  STOKER_RETURN_IF_ERROR(inspection->damage);
  return out.format == "tar" ? VerifyTarPictures(path, out) : OkStatus();
}

// "the file", where it is the only one, or "3 of 11 files".
std::string PartOf(int64_t part, int64_t files) {
  return files == 1 ? "the file" : fmt::format("{} of {} files", part, files);
}

// A message without the path that it begins with, for what has named it already.
std::string WithoutName(const Status& status, const std::string& path) {
  const std::string prefix = path + ": ";
  const std::string& message = status.message();
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

}  // namespace

Verification VerifyFile(const std::string& path) {
  Verification out{.file = path};
  const Status there = IsN5(path) ? OkStatus() : File::Open(path).status();
  if (!there.ok()) {
    out.failure = there.message();
    return out;
  }
  const Status status = Verify(path, out);
  switch (status.code()) {
    case StatusCode::kOk: break;
    case StatusCode::kDataLoss: out.error = status.message(); break;
    case StatusCode::kUnimplemented:
    case StatusCode::kInvalidArgument:
    case StatusCode::kOutOfRange:
    case StatusCode::kFailedPrecondition: out.unchecked = WithoutName(status, path); break;
    default: out.failure = status.message();
  }
  return out;
}

Status FilesNotWhole(int64_t damaged, int64_t files) {
  return DataLoss("{} {} not whole; make or copy {} again", PartOf(damaged, files),
                  damaged == 1 ? "is" : "are", damaged == 1 ? "it" : "them");
}

Status FilesNotRead(int64_t unread, int64_t files) {
  return FailedPrecondition("{} could not be read", PartOf(unread, files));
}

std::string Verification::ToText() const {
  if (!failure.empty())
    return fmt::format("{}: not read\n  {}\n", Printable(file), Printable(failure));
  if (!unchecked.empty())
    return fmt::format("{}: not checked: {}\n", Printable(file), Printable(unchecked));
  std::string text = fmt::format("{}: {}", Printable(file), whole() ? "whole" : "damaged");
  if (!format.empty()) text += ", " + format;
  if (count) text += ", " + CountText(*count, "record");
  if (pictures) text += fmt::format("; {} decoded", CountText(*pictures, "picture"));
  if (pictures_too_large > 0)
    text += fmt::format(", {} too large to be decoded", pictures_too_large);
  text += '\n';
  if (!error.empty()) text += fmt::format("  {}\n", Printable(error));
  for (size_t i = 0; i < std::min(damages.size(), kMostLines); ++i) {
    const Damage& damage = damages[i];
    text += damage.bytes == 1
                ? fmt::format("  byte {}", damage.begin)
                : fmt::format("  bytes {} to {}", damage.begin, damage.begin + damage.bytes - 1);
    text += ": " + damage.what;
    if (!damage.records) {
      text += fmt::format("; {} before\n", CountText(damage.first, "record"));
    } else if (*damage.records == 1) {
      text += fmt::format("; record {}\n", damage.first);
    } else if (*damage.records > 1) {
      text += fmt::format("; part of records {} to {}\n", damage.first,
                          damage.first + *damage.records - 1);
    } else {
      text += "; in the header\n";
    }
  }
  if (damages.size() > kMostLines)
    text += fmt::format("  and {} more; --json lists all\n", damages.size() - kMostLines);
  return text;
}

Json Verification::ToJson() const {
  Json list = Json::array();
  for (const Damage& damage : damages) {
    Json entry{{"begin", damage.begin}, {"bytes", damage.bytes}, {"what", damage.what}};
    entry[damage.records ? "first_record" : "records_before"] = damage.first;
    if (damage.records) entry["records"] = *damage.records;
    list.push_back(std::move(entry));
  }
  Json json{{"file", file}, {"format", format}, {"whole", whole()}, {"damages", std::move(list)}};
  if (count) json["count"] = *count;
  if (pictures) json["pictures"] = *pictures;
  if (pictures_too_large > 0) json["pictures_too_large"] = pictures_too_large;
  if (!error.empty()) json["error"] = error;
  if (!unchecked.empty()) json["not_checked"] = unchecked;
  if (!failure.empty()) json["not_read"] = failure;
  return json;
}

}  // namespace stoker
