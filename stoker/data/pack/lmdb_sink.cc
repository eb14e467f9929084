#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "stoker/data/nodes/packed_values.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/pack/pack_sinks_internal.h"
#include "stoker/data/sources/lmdb.h"
#include "stoker/formats/lmdb/lmdb_writer.h"
#include "stoker/io/atomic_file.h"

namespace stoker::internal {
namespace {

// The longest name of a field whose keys LMDB takes.
const size_t kMostNameBytes = LmdbWriter::kMostKeyBytes - PackedKey(0, "").size();

class LmdbSink final : public PackSink {
 public:
  LmdbSink(AtomicDirectory directory, LmdbWriter writer, RecordSchema schema, int64_t first)
      : directory_(std::move(directory)),
        writer_(std::move(writer)),
        schema_(std::move(schema)),
        by_name_(schema_.fields.size()),
        next_(first) {
    std::iota(by_name_.begin(), by_name_.end(), size_t{0});
    std::ranges::sort(by_name_, {}, [&](size_t f) { return schema_.fields[f].name; });
  }

  Status Append(std::span<const Array> arrays) override {
    for (const size_t f : by_name_) {
      value_.clear();
      STOKER_RETURN_IF_ERROR(AppendPackedValue(schema_.fields[f], arrays[f], value_));
      STOKER_RETURN_IF_ERROR(directory_.WithFinalName(
          writer_.Append(PackedKey(next_, schema_.fields[f].name), value_)));
    }
    ++next_;
    return OkStatus();
  }
  Status Commit() override {
    Status status = writer_.Append(kPackedSchemaKey, RecordSchemaToText(schema_));
    if (status.ok()) status = writer_.Finish();
    STOKER_RETURN_IF_ERROR(directory_.WithFinalName(status));
    return directory_.Commit();
  }

 private:
  AtomicDirectory directory_;
  LmdbWriter writer_;
  const RecordSchema schema_;
  std::vector<size_t> by_name_;  // the fields in the order of their keys
  int64_t next_;
  std::string value_;
};

Status CheckLmdb(const Spec& spec) {
  if (spec.fields.empty()) return InvalidArgument("elements without a field cannot be packed");
  for (const Field& field : spec.fields) {
    if (field.name.size() > kMostNameBytes) {
      return InvalidArgument("lmdb: a field's name has {} bytes, a key has room for {}; rename it",
                             field.name.size(), kMostNameBytes);
    }
    const bool npy = IsPackedAsNpy({field.name, field.dtype, field.shape});
    if (npy && field.dtype == DType::kBFloat16) return NoNumPyType("lmdb", field);
  }
  return OkStatus();
}

Result<std::unique_ptr<PackSink>> CreateLmdb(const PackedFile& file) {
  STOKER_ASSIGN_OR_RETURN(AtomicDirectory directory, AtomicDirectory::Create(file.path));
  Result<LmdbWriter> writer = LmdbWriter::Create(directory.path());
  if (!writer.ok()) return directory.WithFinalName(writer.status());
  return std::make_unique<LmdbSink>(std::move(directory), *std::move(writer), file.schema(),
                                    file.first);
}

Status ReadLmdb(const std::string& path, const Spec& /*spec*/, const PackedElement& each) {
  return ReadEach(Source(Lmdb{.path = path}), each);
}

}  // namespace

const PackFormat kLmdbPackFormat = {
    .name = "lmdb",
    .extension = ".lmdb",
    .directory = true,
    .writes = [](std::string_view name) { return name == "data.mdb" || name == "lock.mdb"; },
    .holds_classes = true,
    .check = CheckLmdb,
    .create = CreateLmdb,
    .read = ReadLmdb};

}  // namespace stoker::internal
