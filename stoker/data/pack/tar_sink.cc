#include <utility>
#include <vector>

#include "stoker/data/nodes/packed_members.h"
#include "stoker/data/nodes/webdataset_samples.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/pack/pack_sinks_internal.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/formats/tar/tar_writer.h"

namespace stoker::internal {
namespace {

class TarSink final : public PackSink {
 public:
  TarSink(TarWriter writer, const RecordSchema& schema, int64_t first)
      : writer_(std::move(writer)), next_(first) {
    for (const ElementField& field : schema.fields) fields_.push_back(PackedField(field));
  }

  Status Append(std::span<const Array> arrays) override {
    for (size_t f = 0; f < arrays.size(); ++f) {
      const std::span<const std::byte> bytes(arrays[f].data(), arrays[f].num_bytes());
      const std::string name = fmt::format("{:012}.{}", next_, ExtensionFor(fields_[f], bytes));
      STOKER_ASSIGN_OR_RETURN(const std::string content, MemberOf(fields_[f], arrays[f]));
      STOKER_RETURN_IF_ERROR(writer_.Append(name, content));
    }
    ++next_;
    return OkStatus();
  }
  Status Commit() override { return writer_.Commit(); }

 private:
  TarWriter writer_;
  std::vector<SampleField> fields_;
  int64_t next_;
};

Status CheckTar(const Spec& spec) {
  if (spec.fields.empty()) return InvalidArgument("elements without a field cannot be packed");
  for (const Field& field : spec.fields) {
    if (field.dtype == DType::kBFloat16) return NoNumPyType("tar", field);
    if (field.name.empty() || field.name.find('/') != std::string::npos)
      return InvalidArgument("tar: field '{}' cannot name a member; rename it", field.name);
  }
  const Status members =
      SampleShape::OfPacked(PackedFile{.spec = spec}.schema().fields, /*key=*/false).status();
  if (members.ok()) return members;
  return InvalidArgument("tar: two fields would be one member ({}); rename one", members.message());
}

Result<std::unique_ptr<PackSink>> CreateTar(const PackedFile& file) {
  STOKER_ASSIGN_OR_RETURN(TarWriter writer, TarWriter::Create(file.path));
  const RecordSchema schema = file.schema();
  STOKER_RETURN_IF_ERROR(writer.Append(kPackedSchemaMember, RecordSchemaToText(schema)));
  return std::make_unique<TarSink>(std::move(writer), schema, file.first);
}

Status ReadTar(const std::string& path, const Spec& /*spec*/, const PackedElement& each) {
  return ReadEach(Source(Webdataset{.files = path, .index = "memory"}), each);
}

}  // namespace

const PackFormat kTarPackFormat = {.name = "tar",
                                   .extension = ".tar",
                                   .holds_classes = true,
                                   .check = CheckTar,
                                   .create = CreateTar,
                                   .read = ReadTar};

}  // namespace stoker::internal
