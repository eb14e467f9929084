#include "stoker/tools/inspect/verify_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "stoker/base/printable.h"
#include "stoker/io/file.h"
#include "stoker/tools/formats/file_format.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/n5.h"
#include "stoker/tools/inspect/verify_run.h"

namespace stoker {
namespace {

// One whose first record is damaged is not known by its content.
bool IsNamedAsTfRecord(const ProbedFile& file) {
  return file.compression.empty() &&
         (file.path.ends_with(".tfrecord") || file.path.ends_with(".tfrecords"));
}

Status Verify(const std::string& path, Verification& out) {
  if (std::optional<VerifiedRunFile> verified = VerifyRunFile(path)) {
    out.format = verified->kind;
    return std::move(verified->status);
  }
  STOKER_ASSIGN_OR_RETURN(const ProbedFile file, ProbePath(path));
  STOKER_ASSIGN_OR_RETURN(const FileFormat* format, FormatOf(file));
  if (IsNamedAsTfRecord(file) && !format->known_by_content) format = &kTfrecordFormat;
  if (file.compression.empty()) out.checks = format->checks;  // compressions have checksums
  STOKER_ASSIGN_OR_RETURN(const Inspection inspected, format->inspect(file));
  out.format = inspected.json.value("format", "");
  if (const Json count = inspected.json.value("count", Json()); count.is_number_integer())
    out.count = count.get<int64_t>();
  return format->verify != nullptr ? format->verify(file, inspected, out) : inspected.damage;
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

}  // namespace stoker
