#include <optional>
#include <utility>
#include <vector>

#include "stoker/data/pack/example_codec.h"
#include "stoker/data/pack/pack_sinks_internal.h"
#include "stoker/formats/tfrecord/record_reader.h"
#include "stoker/formats/tfrecord/record_writer.h"

namespace stoker::internal {
namespace {

// What `tfrecord` gives: records that are copied as they are.
bool IsRecord(const Spec& spec) {
  return spec.fields.size() == 1 && spec.fields[0].name == "record" &&
         spec.fields[0].dtype == DType::kUInt8 && spec.fields[0].shape == Shape{kUnknownDim};
}

class RecordSink final : public PackSink {
 public:
  explicit RecordSink(TfRecordWriter writer) : writer_(std::move(writer)) {}
  Status Append(std::span<const Array> arrays) override {
    return writer_.Append(std::span<const std::byte>(arrays[0].data(), arrays[0].num_bytes()));
  }
  Status Commit() override { return writer_.Commit(); }

 private:
  TfRecordWriter writer_;
};

class ExampleSink final : public PackSink {
 public:
  ExampleSink(TfRecordWriter writer, ExampleCodec codec)
      : writer_(std::move(writer)), codec_(std::move(codec)) {}
  Status Append(std::span<const Array> arrays) override {
    return writer_.Append(codec_.Encode(arrays));
  }
  Status Commit() override { return writer_.Commit(); }

 private:
  TfRecordWriter writer_;
  const ExampleCodec codec_;
};

Status CheckTfRecord(const Spec& spec) {
  return IsRecord(spec) ? OkStatus() : ExampleCodec::For(spec).status();
}

Result<std::unique_ptr<PackSink>> CreateTfRecord(const PackedFile& file) {
  STOKER_ASSIGN_OR_RETURN(TfRecordWriter writer, TfRecordWriter::Create(file.path));
  if (IsRecord(file.spec)) return std::make_unique<RecordSink>(std::move(writer));
  STOKER_ASSIGN_OR_RETURN(ExampleCodec codec, ExampleCodec::For(file.spec));
  return std::make_unique<ExampleSink>(std::move(writer), std::move(codec));
}

Result<std::vector<Array>> ArraysOf(std::span<const std::byte> record,
                                    const std::optional<ExampleCodec>& codec) {
  if (codec) return codec->Decode(record);
  return std::vector<Array>{
      Array::Of(std::span(reinterpret_cast<const uint8_t*>(record.data()), record.size()),
                {std::ssize(record)})};
}

Status ReadTfRecord(const std::string& path, const Spec& spec, const PackedElement& each) {
  std::optional<ExampleCodec> codec;
  if (!IsRecord(spec)) {
    STOKER_ASSIGN_OR_RETURN(codec, ExampleCodec::For(spec));
  }
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenTfRecordSource(path, "none"));
  TfRecordReader reader(std::move(source), {});
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TfRecord> record, reader.Next());
    if (!record) return OkStatus();
    if (record->damaged) return TfRecordDamaged(path, record->offset, record->number);
    const Result<std::vector<Array>> arrays = ArraysOf(record->data, codec);
    if (!arrays.ok()) {
      return DataLoss("{}: record {} (byte {}): {}", path, record->number, record->offset,
                      arrays.status().message());
    }
    STOKER_RETURN_IF_ERROR(each(*arrays));
  }
}

}  // namespace

const PackFormat kTfRecordPackFormat = {.name = "tfrecord",
                                        .extension = ".tfrecord",
                                        .check = CheckTfRecord,
                                        .create = CreateTfRecord,
                                        .read = ReadTfRecord};

}  // namespace stoker::internal
