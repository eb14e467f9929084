#include "stoker/data/sources/zip_archive.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/nodes/by_position_node.h"
#include "stoker/data/nodes/part_starts.h"
#include "stoker/data/nodes/webdataset_samples.h"
#include "stoker/formats/sample_name.h"
#include "stoker/formats/zip/zip_samples.h"

namespace stoker {
namespace {

std::string_view ExtensionOf(const ZipEntry& entry) {
  return SplitSampleName(entry.name)->extension;
}

// Several archives as one row of samples. Immutable and thread-safe.
class Archives {
 public:
  static Result<Archives> Open(const std::vector<std::string>& paths) {
    Archives all;
    for (const std::string& path : paths) {
      STOKER_ASSIGN_OR_RETURN(ZipFile zip, ZipFile::Open(path));
      ZipSamples samples = ZipSamples::Of(zip);
      all.starts_.Add(samples.size());
      all.archives_.push_back({std::move(zip), std::move(samples)});
    }
    return all;
  }

  int64_t size() const { return starts_.size(); }

  struct Sample {
    const ZipFile& zip;
    int64_t number;  // in the archive
    std::span<const uint32_t> entries;

    const ZipEntry& entry(uint32_t entry_number) const { return zip.entries()[entry_number]; }
    // "a.zip: record 12 (byte 812)"
    std::string ToString() const {
      return fmt::format("{}: record {} (byte {})", zip.name(), number,
                         entry(entries.front()).header);
    }
  };
  Sample At(int64_t position) const {
    const auto [archive, number] = starts_.At(position);
    const auto& [zip, samples] = archives_[archive];
    return {zip, number, samples.entries(number)};
  }

  // The extensions of the first sample of all, in their order; nothing if there is none.
  std::vector<std::string> FirstExtensions() const {
    std::vector<std::string> extensions;
    if (size() == 0) return extensions;
    const Sample sample = At(0);
    for (const uint32_t entry : sample.entries)
      extensions.push_back(LowerCaseExtension(ExtensionOf(sample.entry(entry))));
    return extensions;
  }

 private:
  struct Archive {
    ZipFile zip;
    ZipSamples samples;
  };
  std::vector<Archive> archives_;
  PartStarts starts_;
};

class ZipArchiveNode final : public ByPositionNode, public SampleNames {
 public:
  ZipArchiveNode(SampleShape shape, std::string details, std::vector<std::string> paths,
                 Archives archives)
      : ByPositionNode(ZipArchive::kName, shape.spec(), Cardinality::Of(archives.size())),
        details_(std::move(details)),
        paths_(std::move(paths)),
        archives_(std::move(archives)),
        shape_(std::move(shape)),
        most_bytes_(MostBytes()) {}

  std::string Details() const override { return details_; }
  std::vector<std::string> files() const override { return paths_; }
  std::string NameOf(int64_t index, std::string_view field) const override {
    if (index < 0 || index >= archives_.size()) return "";
    const Archives::Sample sample = archives_.At(index);
    for (const uint32_t number : sample.entries) {
      const std::string& name = sample.entry(number).name;
      const std::optional<size_t> at = shape_.FieldNumber(ExtensionOf(sample.entry(number)));
      if (at && shape_.fields()[*at].field.name == field)
        return fmt::format("{}: {}", sample.ToString(), name);
    }
    return fmt::format("{}: .{}", sample.ToString(), field);
  }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return MultiplySizes(count, most_bytes_);
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const Archives::Sample sample = archives_.At(position);
    Scratch scratch = context.scratch(*this);
    FoundMembers found = shape_.NoneFound();
    for (const uint32_t number : sample.entries) {
      const ZipEntry& entry = sample.entry(number);
      if (const std::optional<size_t> field = shape_.FieldNumber(ExtensionOf(entry))) {
        STOKER_ASSIGN_OR_RETURN(Array bytes, ReadEntry(sample.zip, entry, scratch));
        AddFound(found[*field], entry.name, std::move(bytes));
      }
    }
    const std::string name(SplitSampleName(sample.entry(sample.entries.front()).name)->key);
    return shape_.Finish(std::move(found), name, {context.epoch(), position}, sample.ToString(),
                         scratch);
  }

 private:
  static Result<Array> ReadEntry(const ZipFile& zip, const ZipEntry& entry, Scratch& scratch) {
    const Shape shape = {static_cast<int64_t>(entry.bytes)};
    if (!entry.deflated) {
      STOKER_ASSIGN_OR_RETURN(const ZipContent content, zip.Read(entry));
      return Array(content.owner, DType::kUInt8, shape,
                   static_cast<size_t>(content.data - content.owner.data()));
    }
    STOKER_RETURN_IF_ERROR(zip.CheckSize(entry));
    Array bytes = scratch.NewArray(DType::kUInt8, shape);
    STOKER_RETURN_IF_ERROR(zip.ReadInto(entry, {bytes.data(), bytes.num_bytes()}));
    return bytes;
  }

  // The most memory that reading any one sample takes.
  int64_t MostBytes() const {
    // Numbers and names, and what blocks are larger than what is in them.
    constexpr uint64_t kSmall = 4 << 10;
    uint64_t most = 0;
    for (int64_t position = 0; position < archives_.size(); ++position) {
      const Archives::Sample sample = archives_.At(position);
      uint64_t bytes = 0;
      for (const uint32_t number : sample.entries) {
        const ZipEntry& entry = sample.entry(number);
        // One whose size cannot be is refused before it takes any.
        if (entry.deflated && sample.zip.CheckSize(entry).ok()) bytes += entry.bytes;
      }
      most = std::max(most, bytes);
    }
    return static_cast<int64_t>(most + kSmall);
  }

  const std::string details_;
  const std::vector<std::string> paths_;
  const Archives archives_;
  const SampleShape shape_;
  const int64_t most_bytes_;
};

}  // namespace

void ZipArchive::Describe(OptionTable<ZipArchive>& table) {
  table.Field("fields", &ZipArchive::fields, kSampleFieldsHelp)
      .Field("numbers", &ZipArchive::numbers, kSampleNumbersHelp)
      .Field("key", &ZipArchive::key, kSampleKeyHelp);
}

template <>
const std::vector<Option>& OptionsOf<ZipArchive>() {
  static const auto options = WithObjects<ZipArchive>(
      {ObjectOption("files", &ZipArchive::files, "which: 'train-{000..146}.zip', or a list",
                    /*required=*/true)});
  return options;
}

Result<Dataset> ZipArchive::Build() const {
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> paths, files.Expand(kName, /*sorted=*/false));
  STOKER_ASSIGN_OR_RETURN(Archives archives, Archives::Open(paths));
  std::vector<std::string> texts = fields.empty() ? archives.FirstExtensions() : fields;
  if (texts.empty()) return NoSampleToTellFields(paths.front());
  STOKER_ASSIGN_OR_RETURN(SampleShape shape, SampleShape::Make(kName, texts, numbers, key));
  return Dataset(std::make_shared<ZipArchiveNode>(std::move(shape), files.ToString(),
                                                  std::move(paths), std::move(archives)));
}

}  // namespace stoker
