#include "stoker/data/sources/lines.h"

#include <cstring>

#include "stoker/data/core/failure.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/sample_names.h"
#include "stoker/data/core/saved_unsigned.h"
#include "stoker/formats/text/line_reader.h"
#include "stoker/io/byte_source.h"

namespace stoker {
namespace {

constexpr double kMaxLine = 1 << 30;

class LinesNode final : public DatasetNode, public SampleNames {
 public:
  LinesNode(const Lines& lines, bool plain)
      : DatasetNode(std::string(Lines::kName), {{{lines.field, DType::kUInt8, {kUnknownDim}}}},
                    Cardinality::Unknown(), {}),
        lines_(lines),
        plain_(plain) {}

  std::string Details() const override {
    return fmt::format("{}{}{}", lines_.path.string(),
                       lines_.skip > 0 ? fmt::format(", skip {}", lines_.skip) : "",
                       lines_.skip_blank ? ", skip_blank" : "");
  }
  std::vector<std::string> files() const override { return {lines_.path.string()}; }
  std::string NameOf(int64_t index, std::string_view /*field*/) const override {
    return fmt::format("{}: byte {}", lines_.path.string(), index);
  }
  std::string_view Disturbs() const override {
    return lines_.skip > 0 || lines_.skip_blank ? "leaves lines out" : "";
  }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return spec().BytesApart(count);
  }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;
  // A plain file's lines can be read again from where they begin.
  bool rereadable() const override { return plain_; }
  bool tolerates_errors() const override { return true; }
  const Lines& lines() const { return lines_; }

  Element ElementOf(const Line& line, uint64_t epoch, Scratch scratch) const {
    Array text = scratch.NewArray(DType::kUInt8, {std::ssize(line.text)});
    if (!line.text.empty()) std::memcpy(text.data(), line.text.data(), line.text.size());
    return {.key = {epoch, static_cast<int64_t>(line.offset)}, .arrays = {std::move(text)}};
  }

 protected:
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    constexpr size_t kWindowBytes = 4 << 10;
    const std::string path = lines_.path.string();
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source,
                            OpenByteSourceAt(path, static_cast<uint64_t>(key.index), nullptr));
    LineReader reader(std::move(source), lines_.max_bytes, 0, nullptr, kWindowBytes);
    STOKER_ASSIGN_OR_RETURN(const std::optional<Line> line, reader.Next());
    if (!line || line->too_long) {
      return DataLoss(
          "{}: byte {}: a line of at most {} bytes was here, but is no more; has the "
          "file changed?",
          path, key.index, lines_.max_bytes);
    }
    return ElementOf(*line, key.epoch, context.scratch(*this));
  }

 private:
  const Lines lines_;
  const bool plain_;
};

class LinesIterator final : public Iterator {
 public:
  LinesIterator(const OpenContext& context, const LinesNode& node)
      : Iterator(context, node),
        node_(node),
        tolerant_(context.tolerant()),
        epoch_(context.epoch()) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    if (!reader_) STOKER_RETURN_IF_ERROR(OpenReader());
    while (true) {
      STOKER_RETURN_IF_ERROR(CheckStop());
      STOKER_ASSIGN_OR_RETURN(const std::optional<Line> line, reader_->Next());
      offset_ = reader_->offset();
      number_ = reader_->number();
      if (!line) return std::nullopt;
      if (line->number < node_.lines().skip) continue;
      if (line->too_long) return TooLong(*line);
      if (node_.lines().skip_blank && line->text.find_first_not_of(" \t\r") == line->text.npos)
        continue;
      return node_.ElementOf(*line, epoch_, Scratch(pass().stage(node_).pool));
    }
  }

  Status OpenReader() {
    const std::string path = node_.lines().path.string();
    const std::shared_ptr<MemoryAccount>& account = pass().stage(node_).account;
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source,
                            OpenByteSourceAt(path, offset_, account));
    reader_.emplace(std::move(source), node_.lines().max_bytes, number_, account);
    return OkStatus();
  }

  // The line has been passed over, so that a tolerant pass goes on after it.
  Result<std::optional<Element>> TooLong(const Line& line) const {
    const Status error = DataLoss(
        "{}: byte {}: line {} has {} bytes, max_bytes is {}; raise it, or check whether this is "
        "text with line ends",
        node_.lines().path.string(), line.offset, line.number + 1, line.length,
        node_.lines().max_bytes);
    if (!tolerant_) return error;
    return FailedElement(error, {node_.name(), {epoch_, static_cast<int64_t>(line.offset)}});
  }

  Result<Json> DoSave() const override {
    return Json{{"epoch", epoch_}, {"byte", offset_}, {"line", number_}};
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    STOKER_ASSIGN_OR_RETURN(const int64_t offset, SavedInteger(state, "byte"));
    STOKER_ASSIGN_OR_RETURN(number_, SavedInteger(state, "line"));
    offset_ = static_cast<uint64_t>(offset);
    return OkStatus();
  }

  const LinesNode& node_;
  const bool tolerant_;
  uint64_t epoch_;
  // Where the next line begins, and its number.
  uint64_t offset_ = 0;
  int64_t number_ = 0;
  std::optional<LineReader> reader_;  // from the first Next on
};

Result<std::unique_ptr<Iterator>> LinesNode::OpenStream(const OpenContext& context) const {
  return std::make_unique<LinesIterator>(context, *this);
}

}  // namespace

void Lines::Describe(OptionTable<Lines>& table) {
  table.Field("path", &Lines::path, "the file")
      .Required()
      .Field("skip", &Lines::skip, "lines to leave out at the start, such as a header", AtLeast(0))
      .Field("skip_blank", &Lines::skip_blank, "leave out lines of nothing but spaces and tabs")
      .Field("max_bytes", &Lines::max_bytes, "the longest line that is taken", Between(1, kMaxLine))
      .Field("field", &Lines::field, "what the field is called");
}

Result<Dataset> Lines::Build() const {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path.string()));
  const bool plain = source->size_bound().exact;  // a decoder does not know it
  if (field.empty()) return InvalidArgument("lines: the field's name is empty; give it one");
  return Dataset(std::make_shared<LinesNode>(*this, plain));
}

}  // namespace stoker
