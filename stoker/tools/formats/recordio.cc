#include "stoker/data/sources/recordio.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/printable.h"
#include "stoker/formats/recordio/record_index.h"
#include "stoker/formats/recordio/record_io.h"
#include "stoker/tools/formats/format_rows.h"
#include "stoker/tools/program/text.h"

namespace stoker {
namespace {

struct Summary {
  int64_t records = 0;
  uint64_t smallest = 0, largest = 0;
  // Figures of the image records.
  int64_t images = 0;
  size_t fewest_labels = 0, most_labels = 0;

  void Add(std::span<const std::byte> data) {
    smallest = records == 0 ? data.size() : std::min<uint64_t>(smallest, data.size());
    largest = std::max<uint64_t>(largest, data.size());
    ++records;
    const Result<ImageRecord> image = ParseImageRecord(data, "");
    if (!image.ok()) return;
    const size_t labels = image->labels.size();
    fewest_labels = images == 0 ? labels : std::min(fewest_labels, labels);
    most_labels = std::max(most_labels, labels);
    ++images;
  }
};

Status Summarize(const File& file, Summary& summary) {
  STOKER_ASSIGN_OR_RETURN(const std::vector<uint64_t> offsets, ScanRecordIo(file));
  std::vector<std::byte> frame, joined;
  const auto memory = [&](size_t bytes) {
    joined.resize(bytes);
    return joined.data();
  };
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    frame.resize(offsets[i + 1] - offsets[i]);
    STOKER_RETURN_IF_ERROR(file.ReadAt(offsets[i], frame));
    const std::string where = fmt::format("{}: record {} (byte {})", file.path(), i, offsets[i]);
    STOKER_ASSIGN_OR_RETURN(const std::span<const std::byte> data,
                            RecordIoData(frame, where, memory));
    summary.Add(data);
  }
  return CheckRecordIoIndexOf(file.path(), offsets);
}

Result<Inspection> InspectRecordIo(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
  Summary summary;
  Inspection out;
  out.damage = Summarize(file, summary);
  out.json = {{"file", path},
              {"format", "recordio"},
              {"count", summary.records},
              {"images", summary.images},
              {"fields",
               {{"record", {{"smallest", summary.smallest}, {"largest", summary.largest}}},
                {"label", {{"fewest", summary.fewest_labels}, {"most", summary.most_labels}}}}}};
  out.text = fmt::format("{}: RecordIO, {} of {}{}\n", Printable(path),
                         CountText(summary.records, "record"),
                         RangeText(static_cast<int64_t>(summary.smallest),
                                   static_cast<int64_t>(summary.largest), "byte"),
                         out.damage.ok() ? "; whole" : " up to an error");
  if (const std::string index = FindRecordIoIndex(path); out.damage.ok() && !index.empty()) {
    out.json["index"] = index;
    out.text += fmt::format("  {} lists each of them once\n", Printable(index));
  }
  if (summary.images > 0) {
    out.text += fmt::format("  {} may be image records, with {}\n",
                            WithThousands(static_cast<double>(summary.images)),
                            RangeText(static_cast<int64_t>(summary.fewest_labels),
                                      static_cast<int64_t>(summary.most_labels), "label"));
  }
  return out;
}

}  // namespace

const FileFormat kRecordioFormat = {
    .name = "recordio",
    .holds = [](const ProbedFile& file) -> Result<bool> {
      return file.stored == FileKind::kRecordIo;
    },
    .checks = "the headers and sizes of its records",
    .inspect = [](const ProbedFile& file) { return InspectRecordIo(file.path); },
    .recipe = [](const ProbedFile& file) { return fmt::format("recordio: {}", file.path); },
    .open =
        [](const std::string& path, const Json&) {
          return Source(Recordio{.files = path, .labels = -1, .index = "memory"});
        },
};

}  // namespace stoker
