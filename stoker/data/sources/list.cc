#include "stoker/data/sources/list.h"

#include <fmt/format.h>

#include <charconv>

#include "stoker/base/remote_path.h"
#include "stoker/base/short_text.h"
#include "stoker/data/sources/file_samples_internal.h"
#include "stoker/data/sources/text_table_internal.h"
#include "stoker/formats/text/line_reader.h"
#include "stoker/io/byte_source.h"

namespace stoker {
namespace {

constexpr int64_t kMaxLineBytes = 1 << 16;
constexpr std::string_view kBlanks = " \t";

class ListSamples final : public FileSamples {
 public:
  ListSamples(std::string list, std::filesystem::path root, bool pairs)
      : list_(std::move(list)), root_(std::move(root)), pairs_(pairs) {}

  void Add(std::string_view first, std::string_view second) {
    files_.Add(first);
    files_.Add(second);
  }
  void Add(std::string_view file, int64_t label) {
    files_.Add(file);
    labels_.push_back(label);
  }

  int64_t size() const override { return pairs_ ? files_.size() / 2 : files_.size(); }
  std::string PathOf(int64_t sample, size_t file) const override {
    const int64_t number = pairs_ ? 2 * sample + static_cast<int64_t>(file) : sample;
    const std::string_view path = files_[number];
    if (IsRemotePath(path)) return std::string(path);
    return (root_ / path).string();  // of two absolute paths, the second
  }
  int64_t LabelOf(int64_t sample) const override { return labels_[static_cast<size_t>(sample)]; }
  std::string ListedIn() const override { return list_; }

 private:
  const std::string list_;
  const std::filesystem::path root_;
  const bool pairs_;
  TextTable files_;
  std::vector<int64_t> labels_;
};

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

struct Columns {
  std::string_view file;
  std::string_view second;  // empty if the line has one column
};

// Splits at the last tab, or if there is none at the last blank.
Columns Split(std::string_view line) {
  const size_t tab = line.rfind('\t');
  const size_t at = tab != line.npos ? tab : line.rfind(' ');
  if (at == line.npos) return {line, {}};
  return {Trimmed(line.substr(0, at)), Trimmed(line.substr(at + 1))};
}

class ListParser {
 public:
  ListParser(const List& options, ListSamples& samples) : options_(options), samples_(samples) {}

  Status Parse() {
    const std::string path = options_.path.string();
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
    LineReader reader(std::move(source), kMaxLineBytes);
    while (true) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<Line> line, reader.Next());
      if (!line) break;
      if (line->too_long) {
        return Wrong(*line, "has {} bytes, at most {} are taken; is this a list of files?",
                     line->length, kMaxLineBytes);
      }
      const std::string_view text = Trimmed(line->text);
      if (!text.empty()) STOKER_RETURN_IF_ERROR(AddSample(*line, text));
    }
    if (samples_.size() > 0) return OkStatus();
    return DataLoss("{}: lists no files; a line is a path and a label, or two paths with pairs",
                    path);
  }

 private:
  template <typename... Args>
  Status Wrong(const Line& line, fmt::format_string<Args...> what, Args&&... args) const {
    return DataLoss("{}: byte {}: line {} {}", options_.path.string(), line.offset, line.number + 1,
                    fmt::format(what, std::forward<Args>(args)...));
  }

  Status AddSample(const Line& line, std::string_view text) {
    const Columns columns = Split(text);
    if (columns.second.empty()) {
      return Wrong(line, "has one word, '{}'; after the path must come {}", ShortText(text),
                   options_.pairs ? "a second path" : "a label");
    }
    return options_.pairs ? AddPair(line, text, columns) : AddLabelled(line, columns);
  }

  Status AddLabelled(const Line& line, const Columns& columns) {
    int64_t label = 0;
    const char* const end = columns.second.data() + columns.second.size();
    const auto [stop, error] = std::from_chars(columns.second.data(), end, label);
    if (error != std::errc() || stop != end) {
      return Wrong(line,
                   "ends with '{}', which is not a label, a whole number of 64 bits; give numbers, "
                   "or set list.pairs where it is a path",
                   ShortText(columns.second));
    }
    samples_.Add(columns.file, label);
    return OkStatus();
  }

  Status AddPair(const Line& line, std::string_view text, const Columns& columns) {
    const bool by_tab = text.find('\t') != text.npos;
    if (columns.file.find(by_tab ? '\t' : ' ') != columns.file.npos) {
      return Wrong(line, "does not tell where the second path begins: '{}'; put one tab between",
                   ShortText(text));
    }
    samples_.Add(columns.file, columns.second);
    return OkStatus();
  }

  const List& options_;
  ListSamples& samples_;
};

}  // namespace

void List::Describe(OptionTable<List>& table) {
  table.Field("path", &List::path, "the list: lines of a path and a label")
      .Required()
      .Field("root", &List::root, "what paths in it are relative to; empty: the list's own folder")
      .Field("pairs", &List::pairs, "lines have two paths: fields `image` and `mask`")
      .Field("paths", &List::paths, "the paths too, as field `path`; of a pair, the image's");
}

Result<Dataset> List::Build() const {
  const auto samples =
      std::make_shared<ListSamples>(path.string(), root.empty() ? path.parent_path() : root, pairs);
  STOKER_RETURN_IF_ERROR(ListParser(*this, *samples).Parse());
  FileSampleFields fields{.files = {"image"}, .label = "label", .path = paths ? "path" : ""};
  if (pairs) fields.files.emplace_back("mask"), fields.label.clear();
  return FileSamplesDataset(kName, path.string(), fields, samples);
}

}  // namespace stoker
