#include <utility>
#include <vector>

#include "stoker/data/pack/pack_sinks_internal.h"
#include "stoker/formats/shard/shard_file.h"
#include "stoker/formats/shard/shard_writer.h"

namespace stoker::internal {
namespace {

class StokerSink final : public PackSink {
 public:
  explicit StokerSink(ShardWriter writer) : writer_(std::move(writer)) {}
  Status Append(std::span<const Array> arrays) override { return writer_.Append(arrays); }
  Status Commit() override { return writer_.Commit(); }

 private:
  ShardWriter writer_;
};

Status CheckStoker(const Spec& spec) {
  if (!spec.fields.empty()) return OkStatus();
  return InvalidArgument("elements without a field cannot be packed");
}

Result<std::unique_ptr<PackSink>> CreateStoker(const PackedFile& file) {
  STOKER_ASSIGN_OR_RETURN(ShardWriter writer, ShardWriter::Create(file.path, file.schema()));
  return std::make_unique<StokerSink>(std::move(writer));
}

Status ReadStoker(const std::string& path, const Spec& /*spec*/, const PackedElement& each) {
  STOKER_ASSIGN_OR_RETURN(const ShardFile file, ShardFile::Open(path));
  for (int64_t record = 0; record < file.size(); ++record) {
    STOKER_ASSIGN_OR_RETURN(const std::vector<Array> arrays, file.Read(record));
    STOKER_RETURN_IF_ERROR(each(arrays));
  }
  return OkStatus();
}

}  // namespace

const PackFormat kStokerPackFormat = {.name = "stoker",
                                      .extension = ".stoker",
                                      .holds_classes = true,
                                      .check = CheckStoker,
                                      .create = CreateStoker,
                                      .read = ReadStoker};

}  // namespace stoker::internal
