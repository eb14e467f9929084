#include "stoker/data/sources/recordio.h"

#include <cmath>
#include <optional>
#include <utility>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/sources/indexed_files_internal.h"
#include "stoker/formats/recordio/record_index.h"
#include "stoker/formats/recordio/record_io.h"

namespace stoker {
namespace {

constexpr double kMostLabels = 1 << 20;

Spec SpecOf(const Recordio& options) {
  if (options.raw) return {{{"record", DType::kUInt8, {kUnknownDim}}}};
  return {{{"image", DType::kUInt8, {kUnknownDim}},
           {"label", options.whole ? DType::kInt64 : DType::kFloat32,
            options.labels == 1 ? Shape{} : Shape{options.labels}}}};
}

// Where the records are, which an .idx file beside them must not contradict.
Result<std::vector<uint64_t>> ScanAndCompare(const File& file) {
  STOKER_ASSIGN_OR_RETURN(std::vector<uint64_t> offsets, ScanRecordIo(file));
  STOKER_RETURN_IF_ERROR(CheckRecordIoIndexOf(file.path(), offsets));
  return offsets;
}

class RecordioNode final : public IndexedFilesNode, public SampleNames {
 public:
  RecordioNode(const Recordio& options, std::vector<std::string> paths, IndexedFiles records)
      : IndexedFilesNode(Recordio::kName, SpecOf(options), options.files.ToString(),
                         std::move(paths), std::move(records)),
        options_(options) {}

  std::string NameOf(int64_t index, std::string_view) const override { return NameOfRecord(index); }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    // The record as it stands in the file, put together where it is in parts, and its labels.
    return MultiplySizes(count, 3 * records().MostBytes());
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const IndexedFiles::Place place = records().At(position);
    const std::string where = place.ToString();
    Scratch scratch = context.scratch(*this);
    STOKER_ASSIGN_OR_RETURN(Buffer frame, records().Read(place, scratch));
    std::optional<Array> joined;
    STOKER_ASSIGN_OR_RETURN(
        const std::span<const std::byte> data,
        RecordIoData({frame.data(), static_cast<size_t>(place.bytes())}, where, [&](size_t bytes) {
          joined = scratch.NewArray(DType::kUInt8, {static_cast<int64_t>(bytes)});
          return joined->data();
        }));
    if (joined) frame = joined->buffer();
    const auto part = [&](std::span<const std::byte> bytes) {
      return Array(frame, DType::kUInt8, {std::ssize(bytes)},
                   static_cast<size_t>(bytes.data() - frame.data()));
    };
    Element element{.key = {context.epoch(), position}, .arrays = {}};
    if (options_.raw) {
      element.arrays.push_back(part(data));
      return element;
    }
    STOKER_ASSIGN_OR_RETURN(const ImageRecord record, ParseImageRecord(data, where));
    element.arrays.push_back(part(record.image));
    STOKER_ASSIGN_OR_RETURN(Array label, LabelOf(record.labels, where, scratch));
    element.arrays.push_back(std::move(label));
    return element;
  }

 private:
  Result<Array> LabelOf(const std::vector<float>& labels, const std::string& where,
                        Scratch& scratch) const {
    const int64_t count = std::ssize(labels);
    if (options_.labels >= 0 && count != options_.labels) {
      return DataLoss("{}: it has {} labels, recordio.labels is {}; set it, or -1 for any number",
                      where, count, options_.labels);
    }
    const Field& field = spec().fields.back();
    Array out = scratch.NewArray(field.dtype, options_.labels == 1 ? Shape{} : Shape{count});
    for (size_t i = 0; i < labels.size(); ++i) {
      if (!options_.whole) {
        out.values<float>()[i] = labels[i];
        continue;
      }
      constexpr float kLargest = 0x1p62f;
      if (!(std::abs(labels[i]) <= kLargest) || labels[i] != std::floor(labels[i]))
        return DataLoss("{}: label {} is no whole number; leave out whole", where, labels[i]);
      out.values<int64_t>()[i] = static_cast<int64_t>(labels[i]);
    }
    return out;
  }

  const Recordio options_;
};

}  // namespace

void Recordio::Describe(OptionTable<Recordio>& table) {
  table
      .Field("labels", &Recordio::labels, "how many a record has; -1: any number of them",
             Between(-1, kMostLabels))
      .Field("whole", &Recordio::whole, "labels are whole numbers, int64")
      .Field("raw", &Recordio::raw, "records as they are, without a look at labels and image")
      .Field(
          "index", &Recordio::index,
          "where the records are: stored beside each file, or found anew in memory at each start",
          OneOf{{"stored", "memory"}});
}

template <>
const std::vector<Option>& OptionsOf<Recordio>() {
  static const auto options = WithObjects<Recordio>({ObjectOption(
      "files", &Recordio::files, "which: 'train-*.rec', or a list", /*required=*/true)});
  return options;
}

Result<Dataset> Recordio::Build() const {
  if (labels == 0) return InvalidArgument("recordio: labels is 0; set raw: true, or -1 for any");
  STOKER_ASSIGN_OR_RETURN(std::vector<std::string> paths, files.Expand(kName, /*sorted=*/false));
  STOKER_ASSIGN_OR_RETURN(
      IndexedFiles indexed,
      IndexedFiles::Open(paths, kName, /*settings=*/0,
                         index == "stored" ? IndexUse::kStored : IndexUse::kMemory,
                         ScanAndCompare));
  return Dataset(std::make_shared<RecordioNode>(*this, std::move(paths), std::move(indexed)));
}

}  // namespace stoker
