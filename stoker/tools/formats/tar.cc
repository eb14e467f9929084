#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stoker/data/nodes/packed_members.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/formats/tar/tar_reader.h"
#include "stoker/io/byte_source.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/formats/inspect_schema.h"
#include "stoker/tools/formats/sample_summary.h"
#include "stoker/tools/formats/tar_pictures.h"

namespace stoker {
namespace {

// To the end of the data of the last member.
Status Summarize(TarInput& input, SampleSummary& summary) {
  TarReader reader(input);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TarMember> member, reader.Next());
    if (!member) return OkStatus();
    summary.Add(member->name, member->size);
  }
}

Result<Inspection> InspectTar(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  const std::unique_ptr<TarInput> input = MakeTarInput(std::move(source));
  SampleSummary summary;
  Inspection out;
  out.damage = Summarize(*input, summary);
  summary.Describe(path, "tar", out);
  STOKER_ASSIGN_OR_RETURN(const std::optional<RecordSchema> packed, ReadPackedSchema(path));
  if (packed) DescribeOrigin(*packed, out);
  return out;
}

// Blocks of zeros alone are an archive of nothing (`tar -cf x.tar -T /dev/null`), where the name
// does not say that they should be something else.
Result<bool> IsEmptyTar(const ProbedFile& file) {
  const auto is_zero = [](char c) { return c == 0; };
  const std::string extension = file.extension();
  if (file.start.size() < kProbeBytes || !std::ranges::all_of(file.start, is_zero)) return false;
  if (!extension.empty() && extension != ".tar" && extension != ".tgz") return false;
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(file.path));
  std::string chunk(16 << 10, '\0');
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const size_t size,
                            source->ReadFully(std::as_writable_bytes(std::span(chunk))));
    if (!std::ranges::all_of(chunk.substr(0, size), is_zero)) return false;
    if (size < chunk.size()) return source->position() % kProbeBytes == 0;
  }
}

Result<bool> IsTar(const ProbedFile& file) {
  if (file.content == FileKind::kTar) return true;
  return IsEmptyTar(file);
}

}  // namespace

const FileFormat kTarFormat = {
    .name = "tar",
    .holds = IsTar,
    .inspect = [](const ProbedFile& file) { return InspectTar(file.path); },
    .recipe = [](const ProbedFile& file) { return fmt::format("webdataset: {}", file.path); },
    .open =
        [](const std::string& path, const Json&) {
          return Source(Webdataset{.files = path, .key = true, .index = "none"});
        },
    .pack = [](const std::string& files) { return PackSourceOf(Webdataset{.files = files}); },
    .verify = [](const ProbedFile& file, const Inspection& inspected, Verification& out) -> Status {
      STOKER_RETURN_IF_ERROR(inspected.damage);
      return VerifyTarPictures(file.path, out);
    },
};

}  // namespace stoker
