#include "stoker/data/sources/binary.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "stoker/data/core/failure.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/by_position_node.h"
#include "stoker/data/nodes/part_starts.h"
#include "stoker/data/sources/files_in_order_internal.h"
#include "stoker/data/sources/indexed_files_internal.h"
#include "stoker/formats/binary/record_layout.h"
#include "stoker/io/read_window.h"

namespace stoker {
namespace {

constexpr double kMostRecordBytes = 1 << 30;

// Where the values of a new element go.
std::vector<std::byte*> MemoryOf(const std::vector<Array>& arrays) {
  std::vector<std::byte*> memory;
  for (const Array& array : arrays) memory.push_back(array.data());
  return memory;
}

Element NewElement(const Spec& spec, SampleKey key, Scratch& scratch) {
  Element element{.key = key, .arrays = {}};
  for (const Field& field : spec.fields)
    element.arrays.push_back(scratch.NewArray(field.dtype, field.shape));
  return element;
}

// Several files as one row of records.
class RecordFiles {
 public:
  static Result<RecordFiles> Open(const std::vector<std::string>& paths,
                                  const RecordLayout& layout) {
    RecordFiles all;
    for (const std::string& path : paths) {
      STOKER_ASSIGN_OR_RETURN(File file, File::Open(path));
      STOKER_ASSIGN_OR_RETURN(const int64_t records, layout.RecordsIn(file.size(), path));
      all.starts_.Add(records);
      all.files_.push_back(std::move(file));
    }
    return all;
  }

  int64_t size() const { return starts_.size(); }

  Status Read(int64_t position, const RecordLayout& layout, std::span<std::byte> out) const {
    const auto [file, number] = starts_.At(position);
    return files_[file].ReadAt(layout.OffsetOf(number), out);
  }

 private:
  std::vector<File> files_;
  PartStarts starts_;
};

// Plain files, by position.
class BinaryNode final : public ByPositionNode {
 public:
  BinaryNode(const Binary& options, Spec spec, RecordLayout layout, std::vector<std::string> paths,
             RecordFiles records)
      : ByPositionNode(Binary::kName, std::move(spec), Cardinality::Of(records.size())),
        details_(options.files.ToString()),
        layout_(std::move(layout)),
        paths_(std::move(paths)),
        records_(std::move(records)) {}

  std::string Details() const override { return details_; }
  std::vector<std::string> files() const override { return paths_; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    // One record at a time as it stands in the file.
    return AddSizes(count == 1 ? spec().BytesApart(1) : spec().BytesTogether(count),
                    layout_.record_bytes());
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    const Array record = scratch.NewArray(DType::kUInt8, {layout_.record_bytes()});
    STOKER_RETURN_IF_ERROR(records_.Read(position, layout_, record.values<std::byte>()));
    Element element = NewElement(spec(), {context.epoch(), position}, scratch);
    layout_.Unpack(record.values<std::byte>(), MemoryOf(element.arrays));
    return element;
  }

  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    Scratch scratch = context.scratch(*this);
    Rows rows;
    std::vector<size_t> steps;
    for (const Field& field : spec().fields) {
      rows.columns.push_back(scratch.NewRows(std::ssize(positions), field.dtype, field.shape));
      steps.push_back(rows.columns.back().num_bytes() / positions.size());
    }
    std::vector<std::byte*> memory = MemoryOf(rows.columns);
    const Array record = scratch.NewArray(DType::kUInt8, {layout_.record_bytes()});
    for (const int64_t position : positions) {
      if (context.stopped()) return AskedToStop(name());
      STOKER_RETURN_IF_ERROR(records_.Read(position, layout_, record.values<std::byte>()));
      layout_.Unpack(record.values<std::byte>(), memory);
      for (size_t f = 0; f < memory.size(); ++f) memory[f] += steps[f];
      rows.keys.push_back({context.epoch(), position});
    }
    return rows;
  }

 private:
  const std::string details_;
  const RecordLayout layout_;
  const std::vector<std::string> paths_;
  const RecordFiles records_;
};

class BinaryStreamNode final : public FilesInOrderNode {
 public:
  BinaryStreamNode(const Binary& options, Spec spec, RecordLayout layout,
                   std::vector<std::string> paths)
      : FilesInOrderNode(Binary::kName, std::move(spec), options.files.ToString(),
                         std::move(paths)),
        layout_(std::move(layout)) {}

  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  const RecordLayout& layout() const { return layout_; }

 private:
  const RecordLayout layout_;
};

class BinaryIterator final : public FilesInOrderIterator {
 public:
  BinaryIterator(const OpenContext& context, const BinaryStreamNode& node)
      : FilesInOrderIterator(context, node, "records"), node_(node) {}

 private:
  Status OpenFile() override {
    constexpr size_t kWindowBytes = 256 << 10;
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenSource());
    window_.emplace(std::move(source), kWindowBytes, account());
    if (offset() > 0) return OkStatus();
    const auto header = static_cast<uint64_t>(node_.layout().header_bytes());
    STOKER_ASSIGN_OR_RETURN(const bool there, window_->Hold(header));
    if (!there) return node_.layout().RecordsIn(window_->text().size(), path()).status();
    window_->PassOver(static_cast<size_t>(header));
    set_offset(window_->offset());
    return OkStatus();
  }

  Result<std::optional<Element>> NextInFile() override {
    const RecordLayout& layout = node_.layout();
    const auto bytes = static_cast<size_t>(layout.record_bytes());
    const auto footer = static_cast<size_t>(layout.footer_bytes());
    STOKER_ASSIGN_OR_RETURN(const bool there, window_->Hold(bytes + footer));
    if (!there) {
      // The end: the footer, and nothing else, or an error that says what is there.
      const size_t held = window_->text().size();
      STOKER_RETURN_IF_ERROR(layout.RecordsIn(window_->offset() + held, path()).status());
      return std::nullopt;
    }
    const SampleKey key = NextKey();
    Scratch scratch = NewScratch();
    Element element = NewElement(node_.spec(), key, scratch);
    layout.Unpack(window_->held().first(bytes), MemoryOf(element.arrays));
    window_->PassOver(bytes);
    set_offset(window_->offset());
    return element;
  }

  void CloseFile() override { window_.reset(); }

  const BinaryStreamNode& node_;
  std::optional<ReadWindow> window_;
};

Result<std::unique_ptr<Iterator>> BinaryStreamNode::OpenStream(const OpenContext& context) const {
  return std::make_unique<BinaryIterator>(context, *this);
}

}  // namespace

void BinaryField::Describe(OptionTable<BinaryField>& table) {
  table
      .Field("type", &BinaryField::type, "of its values",
             OneOf{{"uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
                    "float64", "bool"}})
      .Field("shape", &BinaryField::shape, "of its values; empty: one",
             Between(1, kMostRecordBytes))
      .Field("offset", &BinaryField::offset, "of its first byte; -1: after the field before",
             Between(-1, kMostRecordBytes));
}

void Binary::Describe(OptionTable<Binary>& table) {
  table
      .Field("record_bytes", &Binary::record_bytes,
             "length of a record; 0: to the end of its last field", Between(0, kMostRecordBytes))
      .Field("header_bytes", &Binary::header_bytes, "to pass over at the start of each file",
             Between(0, kMostRecordBytes))
      .Field("footer_bytes", &Binary::footer_bytes, "to pass over at the end of each file",
             Between(0, kMostRecordBytes))
      .Field("big_endian", &Binary::big_endian, "most significant byte first");
}

template <>
const std::vector<Option>& OptionsOf<Binary>() {
  static const auto options = WithObjects<Binary>(
      {ObjectOption("files", &Binary::files, "which: 'data_batch_*.bin', or a list",
                    /*required=*/true),
       ObjectOption("fields", &Binary::fields,
                    "of a record, in their order: {label: uint8, image: {shape: [3, 32, 32]}}",
                    /*required=*/true)});
  return options;
}

Result<Dataset> Binary::Build() const {
  Spec spec;
  std::vector<RecordField> layout_fields;
  std::set<std::string_view> used;
  for (const BinaryField& field : fields.fields()) {
    STOKER_RETURN_IF_ERROR(CheckOptionsOf(field));
    if (field.name.empty() || !used.insert(field.name).second)
      return InvalidArgument("binary: two fields are called '{}', or one has no name", field.name);
    STOKER_ASSIGN_OR_RETURN(const DType dtype, ParseDType(field.type));
    spec.fields.push_back({field.name, dtype, field.shape});
    layout_fields.push_back({field.name, dtype, field.shape, field.offset});
  }
  Result<RecordLayout> layout =
      RecordLayout::Make(std::move(layout_fields), {.record_bytes = record_bytes,
                                                    .header_bytes = header_bytes,
                                                    .footer_bytes = footer_bytes,
                                                    .big_endian = big_endian});
  if (!layout.ok())
    return Status(layout.status().code(), fmt::format("binary: {}", layout.status().message()));
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> paths, files.Expand(kName, /*sorted=*/false));
  STOKER_ASSIGN_OR_RETURN(const bool plain, AllArePlain(paths));
  if (!plain) {
    return Dataset(std::make_shared<BinaryStreamNode>(*this, std::move(spec), *std::move(layout),
                                                      std::move(paths)));
  }
  STOKER_ASSIGN_OR_RETURN(RecordFiles records, RecordFiles::Open(paths, *layout));
  return Dataset(std::make_shared<BinaryNode>(*this, std::move(spec), *std::move(layout),
                                              std::move(paths), std::move(records)));
}

}  // namespace stoker
