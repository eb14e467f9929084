#include "stoker/data/sources/tfrecord.h"

#include <algorithm>
#include <cstring>

#include "stoker/base/remote_path.h"
#include "stoker/data/core/class_names.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/sources/files_in_order_internal.h"
#include "stoker/data/sources/indexed_files_internal.h"
#include "stoker/formats/tfrecord/record_reader.h"
#include "stoker/io/standard_input.h"

namespace stoker {
namespace {

constexpr double kMostBytes = 0x1p40;

Spec SpecOf(const Tfrecord& options) { return {{{options.field, DType::kUInt8, {kUnknownDim}}}}; }

// Plain files, by position.
class TfrecordNode final : public IndexedFilesNode, public SampleNames, public LabelNames {
 public:
  TfrecordNode(const Tfrecord& options, std::vector<std::string> paths,
               std::vector<std::string> classes, IndexedFiles records)
      : IndexedFilesNode(Tfrecord::kName, SpecOf(options), options.files.ToString(),
                         std::move(paths), std::move(records)),
        options_(options),
        classes_(std::move(classes)) {}

  // Whatever its field is by then (parse_example).
  std::string NameOf(int64_t index, std::string_view /*field*/) const override {
    return NameOfRecord(index);
  }
  std::vector<std::string> ClassNames() const override { return classes_; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return MultiplySizes(count, records().MostBytes());
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const IndexedFiles::Place place = records().At(position);
    if (place.bytes() > static_cast<uint64_t>(options_.max_bytes) + kTfRecordFrameBytes) {
      return DataLoss("{}: it has {} bytes, tfrecord.max_bytes is {}; raise it", place.ToString(),
                      place.bytes() - kTfRecordFrameBytes, options_.max_bytes);
    }
    Scratch scratch = context.scratch(*this);
    STOKER_ASSIGN_OR_RETURN(Buffer frame, records().Read(place, scratch));
    STOKER_ASSIGN_OR_RETURN(
        const std::span<const std::byte> data,
        CheckTfRecordFrame({frame.data(), static_cast<size_t>(place.bytes())}, place.file->path(),
                           place.begin, place.number, options_.verify));
    Array record(std::move(frame), DType::kUInt8, {std::ssize(data)}, kTfRecordHeaderBytes);
    Element element{.key = {context.epoch(), position}, .arrays = {}};
    element.arrays.push_back(std::move(record));
    return element;
  }

 private:
  const Tfrecord options_;
  const std::vector<std::string> classes_;
};

class TfrecordStreamNode final : public FilesInOrderNode, public LabelNames {
 public:
  TfrecordStreamNode(const Tfrecord& options, std::vector<std::string> paths,
                     std::vector<std::string> classes)
      : FilesInOrderNode(Tfrecord::kName, SpecOf(options), options.files.ToString(),
                         std::move(paths)),
        options_(options),
        classes_(std::move(classes)) {}

  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return spec().BytesApart(count);
  }
  std::vector<std::string> ClassNames() const override { return classes_; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  const Tfrecord& options() const { return options_; }

 private:
  const Tfrecord options_;
  const std::vector<std::string> classes_;
};

class TfrecordIterator final : public FilesInOrderIterator {
 public:
  TfrecordIterator(const OpenContext& context, const TfrecordStreamNode& node)
      : FilesInOrderIterator(context, node, "records"), node_(node) {}

 private:
  Status OpenFile() override {
    STOKER_ASSIGN_OR_RETURN(
        std::unique_ptr<ByteSource> source,
        OpenTfRecordSource(path(), node_.options().compression, offset(), account()));
    const TfRecordReaderOptions options{
        .verify = node_.options().verify,
        .max_bytes = static_cast<uint64_t>(node_.options().max_bytes),
        .budget_bytes = static_cast<uint64_t>(pass().ledger().budget_bytes())};
    reader_.emplace(std::move(source), options, number_, account());
    return OkStatus();
  }

  Result<std::optional<Element>> NextInFile() override {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TfRecord> record, reader_->Next());
    set_offset(reader_->offset());
    number_ = reader_->number();
    if (!record) return std::nullopt;
    const SampleKey key = NextKey();
    return HandOut(ElementOf(*record, key), key);
  }

  Result<Element> ElementOf(const TfRecord& record, SampleKey key) const {
    if (record.damaged) return TfRecordDamaged(reader_->name(), record.offset, record.number);
    Array array = NewScratch().NewArray(DType::kUInt8, {std::ssize(record.data)});
    if (!record.data.empty()) std::memcpy(array.data(), record.data.data(), record.data.size());
    return Element{.key = key, .arrays = {std::move(array)}};
  }

  void CloseFile() override {
    reader_.reset();
    number_ = 0;
  }

  void SaveMore(Json& state) const override { state["record"] = number_; }
  Status RestoreMore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(number_, SavedInteger(state, "record"));
    return OkStatus();
  }

  const TfrecordStreamNode& node_;
  int64_t number_ = 0;  // of the next record of the file
  std::optional<TfRecordReader> reader_;
};

Result<std::unique_ptr<Iterator>> TfrecordStreamNode::OpenStream(const OpenContext& context) const {
  return std::make_unique<TfrecordIterator>(context, *this);
}

std::vector<std::string> NamesOfCompressions() {
  std::vector<std::string> names = {"auto", "none"};
  for (const Decompression& one : Decompressions()) names.emplace_back(one.name);
  return names;
}

Result<bool> AllArePlainRecords(const std::vector<std::string>& paths,
                                const std::string& compression, bool fetch) {
  const auto in_order = [&](const std::string& path) {
    return IsPipedIn(path) || (IsRemotePath(path) && !fetch);
  };
  if (std::ranges::any_of(paths, in_order)) return false;
  if (compression != "auto") return compression == "none";
  for (const std::string& path : paths) {
    STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
    STOKER_ASSIGN_OR_RETURN(const Decompression* const found, DetectTfRecordCompression(file));
    if (found != nullptr) return false;
  }
  return true;
}

}  // namespace

void Tfrecord::Describe(OptionTable<Tfrecord>& table) {
  table
      .Field("compression", &Tfrecord::compression, "of whole files; auto: by their content",
             OneOf{NamesOfCompressions()})
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
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> classes, ReadClassNamesBeside(paths));
  STOKER_ASSIGN_OR_RETURN(const bool plain,
                          AllArePlainRecords(paths, compression, index == "memory"));
  if (!plain || index == "none")
    return Dataset(
        std::make_shared<TfrecordStreamNode>(*this, std::move(paths), std::move(classes)));
  STOKER_ASSIGN_OR_RETURN(
      IndexedFiles indexed,
      IndexedFiles::Open(paths, kName, /*settings=*/0,
                         index == "stored" ? IndexUse::kStored : IndexUse::kMemory, ScanTfRecords));
  return Dataset(std::make_shared<TfrecordNode>(*this, std::move(paths), std::move(classes),
                                                std::move(indexed)));
}

}  // namespace stoker
