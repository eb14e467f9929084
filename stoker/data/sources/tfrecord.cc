#include "stoker/data/sources/tfrecord.h"

#include <cstring>

#include "stoker/data/check_key.h"
#include "stoker/data/failure.h"
#include "stoker/data/iterator.h"
#include "stoker/data/runtime.h"
#include "stoker/data/sample_names.h"
#include "stoker/data/saved_unsigned.h"
#include "stoker/data/sources/indexed_files_internal.h"
#include "stoker/formats/tfrecord/record_reader.h"

namespace stoker {
namespace {

constexpr double kMostBytes = 0x1p40;

Spec SpecOf(const Tfrecord& options) { return {{{options.field, DType::kUInt8, {kUnknownDim}}}}; }

// Plain files, by position.
class IndexedNode final : public DatasetNode, public SampleNames {
 public:
  IndexedNode(const Tfrecord& options, std::vector<std::string> paths, IndexedFiles files)
      : DatasetNode(std::string(Tfrecord::kName), SpecOf(options), Cardinality::Of(files.size()),
                    {}),
        options_(options),
        paths_(std::move(paths)),
        files_(std::move(files)) {}

  std::string Details() const override { return options_.files.ToString(); }
  std::vector<std::string> files() const override { return paths_; }
  std::string NameOf(int64_t index, std::string_view field) const override {
    const bool here = index >= 0 && index < files_.size() && field == options_.field;
    return here ? files_.At(index).ToString() : "";
  }
  std::string_view Disturbs() const override { return ""; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return MultiplySizes(count, files_.MostBytes());
  }
  bool fixed_order() const override { return true; }
  bool random_access() const override { return true; }
  bool rereadable() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("tfrecord: is read by position");
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const IndexedFiles::Place place = files_.At(position);
    if (place.bytes() > static_cast<uint64_t>(options_.max_bytes) + kTfRecordFrameBytes) {
      return DataLoss("{}: it has {} bytes, tfrecord.max_bytes is {}; raise it", place.ToString(),
                      place.bytes() - kTfRecordFrameBytes, options_.max_bytes);
    }
    Scratch scratch = context.scratch(*this);
    STOKER_ASSIGN_OR_RETURN(Buffer frame, files_.Read(place, scratch));
    STOKER_ASSIGN_OR_RETURN(
        const std::span<const std::byte> data,
        CheckTfRecordFrame({frame.data(), static_cast<size_t>(place.bytes())}, place.file->path(),
                           place.begin, place.number, options_.verify));
    Array record(std::move(frame), DType::kUInt8, {std::ssize(data)}, kTfRecordHeaderBytes);
    Element element{.key = {context.epoch(), position}, .arrays = {}};
    element.arrays.push_back(std::move(record));
    return element;
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    STOKER_RETURN_IF_ERROR(CheckKey(*this, key));
    return DoRead(key.index, context.WithEpoch(key.epoch));
  }

 private:
  const Tfrecord options_;
  const std::vector<std::string> paths_;
  const IndexedFiles files_;
};

class StreamNode final : public DatasetNode {
 public:
  StreamNode(const Tfrecord& options, TfRecordCompression compression,
             std::vector<std::string> paths)
      : DatasetNode(std::string(Tfrecord::kName), SpecOf(options), Cardinality::Unknown(), {}),
        options_(options),
        compression_(compression),
        paths_(std::move(paths)) {}

  std::string Details() const override { return options_.files.ToString() + ", in order"; }
  std::vector<std::string> files() const override { return paths_; }
  std::string_view Disturbs() const override { return ""; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return spec().BytesApart(count);
  }
  bool tolerates_errors() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  const Tfrecord& options() const { return options_; }
  const std::vector<std::string>& paths() const { return paths_; }
  TfRecordCompression compression() const { return compression_; }

 private:
  const Tfrecord options_;
  const TfRecordCompression compression_;
  const std::vector<std::string> paths_;
};

class StreamIterator final : public Iterator {
 public:
  StreamIterator(const OpenContext& context, const StreamNode& node)
      : Iterator(context, node),
        node_(node),
        tolerant_(context.tolerant()),
        epoch_(context.epoch()) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    while (file_ < node_.paths().size()) {
      STOKER_RETURN_IF_ERROR(CheckStop());
      if (!reader_) STOKER_RETURN_IF_ERROR(OpenReader());
      STOKER_ASSIGN_OR_RETURN(const std::optional<TfRecord> record, reader_->Next());
      offset_ = reader_->offset();
      number_ = reader_->number();
      if (record) return ElementOf(*record);
      ++file_;
      reader_.reset();
      offset_ = 0;
      number_ = 0;
    }
    return std::nullopt;
  }

  Result<std::optional<Element>> ElementOf(const TfRecord& record) {
    const SampleKey key{epoch_, records_++};
    if (record.damaged) {
      const Status error = TfRecordDamaged(reader_->name(), record.offset, record.number);
      if (!tolerant_) return error;
      return FailedElement(error, {node_.name(), key});
    }
    Scratch scratch(pass().stage(node_).pool);
    Array array = scratch.NewArray(DType::kUInt8, {std::ssize(record.data)});
    if (!record.data.empty()) std::memcpy(array.data(), record.data.data(), record.data.size());
    return Element{.key = key, .arrays = {std::move(array)}};
  }

  Status OpenReader() {
    const std::shared_ptr<MemoryAccount>& account = pass().stage(node_).account;
    const auto stop = [this] { return !CheckStop().ok(); };
    STOKER_ASSIGN_OR_RETURN(
        std::unique_ptr<ByteSource> source,
        OpenTfRecordSource(node_.paths()[file_], node_.compression(), offset_, account, stop));
    const TfRecordReaderOptions options{
        .verify = node_.options().verify,
        .max_bytes = static_cast<uint64_t>(node_.options().max_bytes)};
    reader_.emplace(std::move(source), options, number_, account);
    return OkStatus();
  }

  Result<Json> DoSave() const override {
    return Json{{"epoch", epoch_},
                {"file", file_},
                {"byte", offset_},
                {"record", number_},
                {"records", records_}};
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    STOKER_ASSIGN_OR_RETURN(const int64_t file, SavedInteger(state, "file"));
    STOKER_ASSIGN_OR_RETURN(const int64_t offset, SavedInteger(state, "byte"));
    STOKER_ASSIGN_OR_RETURN(number_, SavedInteger(state, "record"));
    STOKER_ASSIGN_OR_RETURN(records_, SavedInteger(state, "records"));
    file_ = static_cast<size_t>(file);
    offset_ = static_cast<uint64_t>(offset);
    return OkStatus();
  }

  const StreamNode& node_;
  const bool tolerant_;
  uint64_t epoch_;
  size_t file_ = 0;
  // Of the next record of that file: where it begins, and its number.
  uint64_t offset_ = 0;
  int64_t number_ = 0;
  int64_t records_ = 0;  // of all files, handed out or failed
  std::optional<TfRecordReader> reader_;
};

Result<std::unique_ptr<Iterator>> StreamNode::OpenStream(const OpenContext& context) const {
  return std::make_unique<StreamIterator>(context, *this);
}

TfRecordCompression CompressionOf(const std::string& name) {
  if (name == "none") return TfRecordCompression::kNone;
  if (name == "gzip") return TfRecordCompression::kGzip;
  if (name == "zlib") return TfRecordCompression::kZlib;
  return name == "zstd" ? TfRecordCompression::kZstd : TfRecordCompression::kAuto;
}

Result<bool> AllArePlainRecords(const std::vector<std::string>& paths,
                                TfRecordCompression compression) {
  if (compression != TfRecordCompression::kAuto) return compression == TfRecordCompression::kNone;
  for (const std::string& path : paths) {
    STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
    STOKER_ASSIGN_OR_RETURN(const TfRecordCompression found, DetectTfRecordCompression(file));
    if (found != TfRecordCompression::kNone) return false;
  }
  return true;
}

}  // namespace

void Tfrecord::Describe(OptionTable<Tfrecord>& table) {
  table
      .Field("compression", &Tfrecord::compression, "of whole files; auto: by their content",
             OneOf{{"auto", "none", "gzip", "zlib", "zstd"}})
      .Field("verify", &Tfrecord::verify,
             "check the checksums of the data; those of lengths always are")
      .Field("index", &Tfrecord::index,
             "where plain files' records are: stored beside each file, found anew in memory at "
             "each start, or none: read in order",
             OneOf{{"stored", "memory", "none"}})
      .Field("max_bytes", &Tfrecord::max_bytes, "the longest record that is taken",
             Between(1, kMostBytes))
      .Field("field", &Tfrecord::field, "what the field is called");
}

template <>
const std::vector<Option>& OptionsOf<Tfrecord>() {
  static const auto options = WithObjects<Tfrecord>({ObjectOption(
      "files", &Tfrecord::files, "which: a path, 'train-*.tfrecord', shards 'train@128', or a list",
      /*required=*/true)});
  return options;
}

Result<Dataset> Tfrecord::Build() const {
  if (field.empty()) return InvalidArgument("tfrecord: the field's name is empty; give it one");
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> paths, files.Expand(kName, /*sorted=*/false));
  const TfRecordCompression packed = CompressionOf(compression);
  STOKER_ASSIGN_OR_RETURN(const bool plain, AllArePlainRecords(paths, packed));
  if (!plain || index == "none")
    return Dataset(std::make_shared<StreamNode>(*this, packed, std::move(paths)));
  STOKER_ASSIGN_OR_RETURN(
      IndexedFiles indexed,
      IndexedFiles::Open(paths, kName, /*settings=*/0,
                         index == "stored" ? IndexUse::kStored : IndexUse::kMemory, ScanTfRecords));
  return Dataset(std::make_shared<IndexedNode>(*this, std::move(paths), std::move(indexed)));
}

}  // namespace stoker
