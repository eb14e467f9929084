#include "stoker/data/sources/webdataset.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "stoker/data/core/class_names.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/nodes/webdataset_samples.h"
#include "stoker/data/sources/files_in_order_internal.h"
#include "stoker/data/sources/indexed_files_internal.h"
#include "stoker/formats/tar/tar_reader.h"

namespace stoker {
namespace {

struct Layout {
  SampleShape shape;
  std::vector<std::string> classes;  // what labels stand for; may be empty
};

// The schema of packed archives; nothing if the first was not packed. They must agree in the names
// of classes, and where `in_fields` in their fields.
Result<std::optional<RecordSchema>> PackedSchemaOf(const std::vector<std::string>& paths,
                                                   bool in_fields) {
  STOKER_ASSIGN_OR_RETURN(std::optional<RecordSchema> all, ReadPackedSchema(paths.front()));
  if (!all) return std::nullopt;
  AgreedClassNames classes;
  STOKER_RETURN_IF_ERROR(classes.Add(paths.front(), all->classes));
  for (const std::string& path : std::span(paths).subspan(1)) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<RecordSchema> schema, ReadPackedSchema(path));
    if (in_fields && (!schema || schema->fields != all->fields)) {
      return InvalidArgument(
          "{}: it was not packed with the fields that {} has; name those that both have (fields: "
          "[...])",
          path, paths.front());
    }
    if (schema) STOKER_RETURN_IF_ERROR(classes.Add(path, schema->classes));
  }
  all->classes = classes.names();
  return all;
}

Result<Layout> LayoutOf(const Webdataset& options, const std::vector<std::string>& paths) {
  STOKER_ASSIGN_OR_RETURN(std::optional<RecordSchema> packed,
                          PackedSchemaOf(paths, /*in_fields=*/options.fields.empty()));
  std::vector<std::string> classes;
  if (packed) classes = std::move(packed->classes);
  if (packed && options.fields.empty()) {
    STOKER_ASSIGN_OR_RETURN(SampleShape shape, SampleShape::OfPacked(packed->fields, options.key));
    return Layout{std::move(shape), std::move(classes)};
  }
  std::vector<std::string> texts = options.fields;
  if (texts.empty()) {
    STOKER_ASSIGN_OR_RETURN(texts, FirstSampleExtensions(paths.front()));
  }
  STOKER_ASSIGN_OR_RETURN(
      SampleShape shape, SampleShape::Make(Webdataset::kName, texts, options.numbers, options.key));
  return Layout{std::move(shape), std::move(classes)};
}

// Plain archives, by position.
class WebdatasetNode final : public IndexedFilesNode, public SampleNames, public LabelNames {
 public:
  WebdatasetNode(Layout layout, std::string details, std::vector<std::string> paths,
                 IndexedFiles records)
      : IndexedFilesNode(Webdataset::kName, layout.shape.spec(), std::move(details),
                         std::move(paths), std::move(records)),
        layout_(std::move(layout)) {}

  std::string NameOf(int64_t index, std::string_view field) const override {
    const std::string record = NameOfRecord(index);
    return record.empty() ? "" : fmt::format("{}: .{}", record, field);
  }
  std::vector<std::string> ClassNames() const override { return layout_.classes; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    // The sample, and small arrays of numbers and names.
    constexpr int64_t kSmall = 4 << 10;
    return MultiplySizes(count, records().MostBytes() + kSmall);
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const IndexedFiles::Place place = records().At(position);
    Scratch scratch = context.scratch(*this);
    STOKER_ASSIGN_OR_RETURN(const Buffer bytes, records().Read(place, scratch));
    const std::unique_ptr<TarInput> input = MakeTarInput(
        {bytes.data(), static_cast<size_t>(place.bytes())}, place.begin, place.file->path());
    TarReader reader(*input, place.begin);
    FoundMembers found = layout_.shape.NoneFound();
    std::string name;
    while (true) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<TarMember> member, reader.Next());
      if (!member) break;
      const std::optional<SampleName> split = SplitSampleName(member->name);
      if (!split) continue;
      name = split->key;
      if (const std::optional<size_t> field = layout_.shape.FieldNumber(split->extension)) {
        AddFound(found[*field], member->name,
                 Array(bytes, DType::kUInt8, {static_cast<int64_t>(member->size)},
                       static_cast<size_t>(member->data - place.begin)));
      }
    }
    return layout_.shape.Finish(std::move(found), name, {context.epoch(), position},
                                place.ToString(), scratch);
  }

 private:
  const Layout layout_;
};

class WebdatasetStreamNode final : public FilesInOrderNode, public LabelNames {
 public:
  WebdatasetStreamNode(Layout layout, std::string details, std::vector<std::string> paths)
      : FilesInOrderNode(Webdataset::kName, layout.shape.spec(), std::move(details),
                         std::move(paths)),
        layout_(std::move(layout)) {}

  std::vector<std::string> ClassNames() const override { return layout_.classes; }

  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  const SampleShape& shape() const { return layout_.shape; }

 private:
  const Layout layout_;
};

class WebdatasetIterator final : public FilesInOrderIterator {
 public:
  WebdatasetIterator(const OpenContext& context, const WebdatasetStreamNode& node)
      : FilesInOrderIterator(context, node, "samples"), node_(node) {}

 private:
  Status OpenFile() override {
    if (offset() == kAtEnd) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenSource());
    input_ = MakeTarInput(std::move(source));
    reader_.emplace(*input_, offset());
    return Advance();
  }

  // The next member that is part of a sample; nothing at the archive's end.
  Status Advance() {
    do {
      STOKER_ASSIGN_OR_RETURN(member_, reader_->Next());
    } while (member_ && !SplitSampleName(member_->name));
    return OkStatus();
  }

  // The sample that begins with member_; afterwards that is the next one's.
  Result<std::optional<Element>> NextInFile() override {
    if (!member_) return std::nullopt;
    Scratch scratch = NewScratch();
    const std::string name(SplitSampleName(member_->name)->key);
    const std::string where = fmt::format("{}: sample at byte {}", path(), member_->begin);
    FoundMembers found = node_.shape().NoneFound();
    while (member_) {
      const SampleName split = *SplitSampleName(member_->name);
      if (split.key != name) break;
      if (const std::optional<size_t> field = node_.shape().FieldNumber(split.extension)) {
        STOKER_ASSIGN_OR_RETURN(Array bytes, ReadMember(scratch));
        AddFound(found[*field], member_->name, std::move(bytes));
      }
      STOKER_RETURN_IF_ERROR(Advance());
    }
    set_offset(member_ ? member_->begin : kAtEnd);
    const SampleKey key = NextKey();
    return HandOut(node_.shape().Finish(std::move(found), name, key, where, scratch), key);
  }

  // The size in a compressed archive cannot be checked beforehand: memory grows with what has been
  // read.
  Result<Array> ReadMember(Scratch& scratch) {
    constexpr uint64_t kStep = 16 << 20;
    Array bytes = scratch.NewArray(DType::kUInt8, {0});
    for (uint64_t have = 0; have < member_->size;) {
      const uint64_t wanted = std::min(member_->size, std::max(2 * have, kStep));
      Array larger = scratch.NewArray(DType::kUInt8, {static_cast<int64_t>(wanted)});
      if (have > 0) std::memcpy(larger.data(), bytes.data(), static_cast<size_t>(have));
      STOKER_ASSIGN_OR_RETURN(
          const size_t got,
          input_->ReadAt(member_->data + have,
                         {larger.data() + have, static_cast<size_t>(wanted - have)}));
      if (got < wanted - have) {
        return DataLoss(
            "{}: byte {}: the archive ends in the middle of '{}'; it was cut short: copy "
            "or download it again",
            input_->name(), member_->begin, member_->name);
      }
      have = wanted;
      bytes = std::move(larger);
    }
    return bytes;
  }

  void CloseFile() override {
    reader_.reset();
    input_.reset();
  }

  // The offset in an archive all of whose samples have been handed out.
  static constexpr uint64_t kAtEnd = uint64_t{1} << 62;

  const WebdatasetStreamNode& node_;
  std::unique_ptr<TarInput> input_;
  std::optional<TarReader> reader_;  // of input_
  std::optional<TarMember> member_;  // the first of the next sample
};

Result<std::unique_ptr<Iterator>> WebdatasetStreamNode::OpenStream(
    const OpenContext& context) const {
  return std::make_unique<WebdatasetIterator>(context, *this);
}

}  // namespace

void Webdataset::Describe(OptionTable<Webdataset>& table) {
  table.Field("fields", &Webdataset::fields, kSampleFieldsHelp)
      .Field("numbers", &Webdataset::numbers, kSampleNumbersHelp)
      .Field("key", &Webdataset::key, kSampleKeyHelp)
      .Field("index", &Webdataset::index,
             "where plain archives' samples are: stored beside each file, found anew in memory at "
             "each start, or none: read in order",
             OneOf{{"stored", "memory", "none"}});
}

template <>
const std::vector<Option>& OptionsOf<Webdataset>() {
  static const auto options = WithObjects<Webdataset>(
      {ObjectOption("files", &Webdataset::files, "which: 'train-{000..146}.tar', or a list",
                    /*required=*/true)});
  return options;
}

Result<Dataset> Webdataset::Build() const {
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> paths, files.Expand(kName, /*sorted=*/false));
  STOKER_ASSIGN_OR_RETURN(Layout layout, LayoutOf(*this, paths));
  STOKER_ASSIGN_OR_RETURN(const bool plain, AllArePlain(paths, index == "memory"));
  if (!plain || index == "none")
    return Dataset(std::make_shared<WebdatasetStreamNode>(std::move(layout), files.ToString(),
                                                          std::move(paths)));
  STOKER_ASSIGN_OR_RETURN(
      IndexedFiles indexed,
      IndexedFiles::Open(paths, "tar", /*settings=*/0,
                         index == "stored" ? IndexUse::kStored : IndexUse::kMemory,
                         ScanTarSamples));
  return Dataset(std::make_shared<WebdatasetNode>(std::move(layout), files.ToString(),
                                                  std::move(paths), std::move(indexed)));
}

}  // namespace stoker
