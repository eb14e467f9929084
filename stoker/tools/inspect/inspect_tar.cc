#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stoker/data/sources/packed_members_internal.h"
#include "stoker/formats/tar/tar_reader.h"
#include "stoker/io/byte_source.h"
#include "stoker/tools/inspect/inspect_schema.h"
#include "stoker/tools/inspect/inspection.h"
#include "stoker/tools/inspect/sample_summary.h"

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

}  // namespace

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

}  // namespace stoker
