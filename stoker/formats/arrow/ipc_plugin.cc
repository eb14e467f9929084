// Arrow IPC: files, which Feather's second version is too, and streams.
//
// Both are a schema, dictionaries and record batches, one message after the other; a file has a
// footer that says where they lie. A batch is read by its place: the messages before it that it
// needs and itself are read as a stream of their own.
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/message.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/formats/arrow/table_plugin.h"

namespace stoker {
namespace {

constexpr std::string_view kMagic = "ARROW1";
constexpr std::string_view kOldFeather = "FEA1";
constexpr int64_t kFileStart = 8;      // the magic, filled up
constexpr int32_t kContinuation = -1;  // precedes the length of a message's description
constexpr int64_t kPrefixBytes = 8;    // both
constexpr int64_t kMostDescription = 256 << 20;
constexpr uint64_t kBytesOfDescriptions = 64 << 10;  // of messages, and what Arrow makes of them
constexpr double kMostGrowth = 4;                    // of texts that are compressed, about

struct Message {
  int64_t begin = 0, body = 0, end = 0;  // bytes of the file
  arrow::ipc::MessageType type = arrow::ipc::MessageType::NONE;
  // Of a record batch.
  int64_t rows = 0;
  bool compressed = false;
};

// Where a member of the flatbuffer table RecordBatch stands; null where it is left out. Where the
// table begins stands how far before it the places of its members stand. Message::Open has verified
// all of it, but not that the message has such a table.
const std::byte* MemberOf(const arrow::ipc::Message& message, size_t member) {
  constexpr size_t kFirstMember = 4;
  const auto* const table = static_cast<const std::byte*>(message.header());
  if (table == nullptr) return nullptr;
  int32_t back = 0;
  uint16_t size = 0, at = 0;
  std::memcpy(&back, table, sizeof(back));
  std::memcpy(&size, table - back, sizeof(size));
  const size_t place = kFirstMember + member * sizeof(at);
  if (size < place + sizeof(at)) return nullptr;
  std::memcpy(&at, table - back + place, sizeof(at));
  return at == 0 ? nullptr : table + at;
}

// Its members are length, nodes, buffers, compression and more.
void ReadBatchMembers(const arrow::ipc::Message& message, Message& out) {
  constexpr size_t kLength = 0, kCompression = 3;
  if (const std::byte* const length = MemberOf(message, kLength))
    std::memcpy(&out.rows, length, sizeof(out.rows));
  out.compressed = MemberOf(message, kCompression) != nullptr;
}

// Reads pieces of a file, one after the other.
class PiecesStream final : public arrow::io::InputStream {
 public:
  PiecesStream(std::shared_ptr<InputFile> file, std::vector<Message> pieces)
      : file_(std::move(file)), pieces_(std::move(pieces)) {}

  arrow::Status Close() override { return arrow::Status::OK(); }
  bool closed() const override { return false; }
  arrow::Result<int64_t> Tell() const override { return told_; }
  bool supports_zero_copy() const override { return file_->supports_zero_copy(); }

  arrow::Result<int64_t> Read(int64_t bytes, void* out) override {
    const auto [at, count] = Take(bytes);
    return count == 0 ? 0 : file_->ReadAt(at, count, out);
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t bytes) override {
    const auto [at, count] = Take(bytes);
    return file_->ReadAt(at, count);
  }

 private:
  // What is read next, within one piece: messages are asked for in parts of one.
  std::pair<int64_t, int64_t> Take(int64_t bytes) {
    while (piece_ < pieces_.size() && at_ == pieces_[piece_].end - pieces_[piece_].begin) {
      ++piece_;
      at_ = 0;
    }
    if (piece_ == pieces_.size()) return {0, 0};
    const Message& piece = pieces_[piece_];
    const int64_t begin = piece.begin + at_;
    const int64_t count = std::min(bytes, piece.end - begin);
    at_ += count;
    told_ += count;
    return {begin, count};
  }

  const std::shared_ptr<InputFile> file_;
  const std::vector<Message> pieces_;
  size_t piece_ = 0;
  int64_t at_ = 0, told_ = 0;
};

// Views are checked one by one by those who make them; the cheap checks do not look at them.
bool HasViews(const arrow::DataType& type) {
  if (type.id() == arrow::Type::STRING_VIEW || type.id() == arrow::Type::BINARY_VIEW) return true;
  if (type.id() == arrow::Type::DICTIONARY)
    return HasViews(*static_cast<const arrow::DictionaryType&>(type).value_type());
  return std::ranges::any_of(type.fields(),
                             [](const auto& field) { return HasViews(*field->type()); });
}

class IpcTable final : public PlannedTable {
 public:
  explicit IpcTable(std::shared_ptr<const TableInput> input) : PlannedTable(std::move(input)) {}

  Status Open() {
    STOKER_RETURN_IF_ERROR(CheckStart());
    const auto file = std::make_shared<InputFile>(input(), arrow::system_memory_pool());
    const LimitedPool unused({.most_bytes = 0, .stopped = {}});
    STOKER_RETURN_IF_ERROR(Guarded(name(), *file, unused, [&] {
      if (is_file_) ARROW_RETURN_NOT_OK(ReadFooter(file));
      return ReadMessages(*file);
    }));
    std::vector<int64_t> rows;
    for (const Message& batch : batches_) rows.push_back(batch.rows);
    return SetGroupRows(std::move(rows));
  }

  uint64_t DescriptionBytes() const override {
    return (batches_.size() + dictionaries_.size()) * sizeof(Message);
  }
  uint64_t DecodedBytes(int64_t group, std::span<const TableWish> wishes) const override {
    const Message& batch = batches_.at(static_cast<size_t>(group));
    double bytes = 0, ragged = 0;
    for (const TableWish& wish : wishes) {
      const ColumnPlan& plan = *FindPlan(plans(), wish.path);
      const double of_row = plan.ragged ? 8 : static_cast<double>(plan.item_bytes());
      bytes += static_cast<double>(batch.rows) * of_row;
      if (plan.ragged) ragged = static_cast<double>(batch.end - batch.body) * kMostGrowth;
    }
    return static_cast<uint64_t>(std::min(bytes + ragged, 0x1p62));
  }
  // Where the file is not mapped all columns of a batch are read; some are decompressed.
  uint64_t BytesToDecode(int64_t group, std::span<const TableWish>) const override {
    const Message& batch = batches_.at(static_cast<size_t>(group));
    const double times =
        (input()->present() == nullptr ? 1 : 0) + (batch.compressed ? kMostGrowth : 0);
    double bytes = static_cast<double>(batch.end - batch.begin) * times;
    for (const Message& dictionary : dictionaries_)
      bytes += static_cast<double>(dictionary.end - dictionary.begin) * kMostGrowth;
    return static_cast<uint64_t>(std::min(bytes, 0x1p60)) + kBytesOfDescriptions;
  }

 protected:
  TableFormat format() const override { return TableFormat::kArrow; }

  arrow::Status BeginGroup(Reading& reading,
                           const std::vector<const ColumnPlan*>& wanted) const override {
    const Message& batch = batches_[static_cast<size_t>(reading.group)];
    std::vector<Message> pieces = {schema_message_};
    for (const Message& dictionary : dictionaries_) {
      // In a stream a dictionary may be replaced by a later one.
      if (is_file_ || dictionary.begin < batch.begin) pieces.push_back(dictionary);
    }
    pieces.push_back(batch);
    arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = reading.pool.get();
    options.use_threads = false;
    for (const ColumnPlan* plan : wanted)
      options.included_fields.push_back(schema_->GetFieldIndex(plan->steps.front()));
    std::vector<int>& fields = options.included_fields;
    std::ranges::sort(fields);
    fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
    const auto stream = std::make_shared<PiecesStream>(reading.file, std::move(pieces));
    ARROW_ASSIGN_OR_RAISE(const auto reader,
                          arrow::ipc::RecordBatchStreamReader::Open(stream, options));
    ARROW_RETURN_NOT_OK(reader->ReadNext(&reading.batch));
    if (reading.batch == nullptr) return arrow::Status::Invalid("there is no record batch");
    return views_ ? reading.batch->ValidateFull() : reading.batch->Validate();
  }

  arrow::Status ReadColumn(Reading& reading, const ColumnPlan& plan,
                           ColumnDecoder& decoder) const override {
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Array> array,
                          FindColumn(*reading.batch, plan, reading.pool.get()));
    return decoder.AppendOrShare(array);
  }
  arrow::Status CheckColumn(Reading&, const ColumnPlan&) const override {
    return arrow::Status::OK();  // BeginGroup has read the column, and validated it
  }

 private:
  Status CheckStart() {
    STOKER_ASSIGN_OR_RETURN(const std::string start, ReadStart(*input(), kFileStart));
    is_file_ = start.starts_with(kMagic);
    if (start.starts_with(kOldFeather))
      return Unimplemented("{}: this is the first version of Feather; write it as the second",
                           name());
    int32_t word = 0;
    if (start.size() >= sizeof(word)) std::memcpy(&word, start.data(), sizeof(word));
    if (is_file_ || word == kContinuation) return OkStatus();
    return DataLoss(
        "{}: byte 0: this is no Arrow file, which begins with ARROW1, or as a stream with ff ff ff "
        "ff; check the path",
        name());
  }

  // Checks that the footer is there, and counts what it lists.
  arrow::Status ReadFooter(const std::shared_ptr<InputFile>& file) {
    const auto size = static_cast<int64_t>(input()->size());
    std::string end(kMagic.size(), '\0');
    const auto magic = static_cast<int64_t>(kMagic.size());
    if (size > 2 * magic) ARROW_RETURN_NOT_OK(file->ReadAt(size - magic, magic, end.data()));
    if (end != kMagic)
      return arrow::Status::Invalid("byte ", size,
                                    ": the file is cut short: it does not end with ARROW1");
    ARROW_ASSIGN_OR_RAISE(const auto reader, arrow::ipc::RecordBatchFileReader::Open(file));
    listed_ = reader->num_record_batches();
    return arrow::Status::OK();
  }

  arrow::Status ReadMessages(InputFile& file) {
    int64_t at = is_file_ ? kFileStart : 0;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const std::optional<Message> message, ReadMessage(file, at));
      if (!message) break;
      at = message->end;
      switch (message->type) {
        case arrow::ipc::MessageType::SCHEMA: ARROW_RETURN_NOT_OK(SetSchema(file, *message)); break;
        case arrow::ipc::MessageType::DICTIONARY_BATCH: dictionaries_.push_back(*message); break;
        case arrow::ipc::MessageType::RECORD_BATCH: batches_.push_back(*message); break;
        default: return arrow::Status::Invalid("byte ", message->begin, ": a message of tensors");
      }
      if (is_file_ && std::ssize(batches_) == listed_ && schema_ != nullptr && listed_ > 0 &&
          dictionaries_.empty())
        break;
    }
    if (schema_ == nullptr) return arrow::Status::Invalid("there is no schema");
    if (is_file_ && std::ssize(batches_) != listed_)
      return arrow::Status::Invalid("the footer lists ", listed_, " record batches, and there are ",
                                    batches_.size());
    return arrow::Status::OK();
  }

  // The message at this byte; nothing where they end.
  arrow::Result<std::optional<Message>> ReadMessage(InputFile& file, int64_t at) const {
    const auto size = static_cast<int64_t>(input()->size());
    int32_t prefix[2] = {kContinuation, 0};
    // A stream may end without a mark.
    if (at == size && !is_file_) return std::nullopt;
    if (size - at < kPrefixBytes) return arrow::Status::Invalid("byte ", at, ": it is cut short");
    ARROW_RETURN_NOT_OK(file.ReadAt(at, kPrefixBytes, prefix));
    if (prefix[0] == kContinuation && prefix[1] == 0) return std::nullopt;
    const int64_t length = prefix[1], end = at + kPrefixBytes + length;
    if (prefix[0] != kContinuation || length < 0 || length > kMostDescription)
      return arrow::Status::Invalid("byte ", at, ": no message begins here");
    if (end > size) return arrow::Status::Invalid("byte ", at, ": the message is cut short");
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> description,
                          file.ReadAt(at + kPrefixBytes, length));
    ARROW_ASSIGN_OR_RAISE(const std::unique_ptr<arrow::ipc::Message> read,
                          arrow::ipc::Message::Open(description, nullptr));
    Message message{at, end, end, read->type()};
    const int64_t body = read->body_length();
    if (body < 0 || body > size - end)
      return arrow::Status::Invalid("byte ", at, ": a message of ", body,
                                    " bytes is announced, and the file ends before");
    message.end += body;
    if (message.type == arrow::ipc::MessageType::RECORD_BATCH) ReadBatchMembers(*read, message);
    return message;
  }

  arrow::Status SetSchema(InputFile& file, const Message& message) {
    if (schema_ != nullptr)
      return arrow::Status::Invalid("byte ", message.begin, ": a second schema");
    schema_message_ = message;
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> bytes,
                          file.ReadAt(message.begin, message.end - message.begin));
    arrow::io::BufferReader stream(bytes);
    arrow::ipc::DictionaryMemo memo;
    ARROW_ASSIGN_OR_RAISE(schema_, arrow::ipc::ReadSchema(&stream, &memo));
    views_ = std::ranges::any_of(schema_->fields(),
                                 [](const auto& field) { return HasViews(*field->type()); });
    SetColumns(PlanColumns(*schema_));
    return arrow::Status::OK();
  }

  bool is_file_ = false;  // not a stream
  bool views_ = false;
  int64_t listed_ = 0;  // record batches, in the footer
  std::shared_ptr<arrow::Schema> schema_;
  Message schema_message_;
  std::vector<Message> dictionaries_, batches_;
};

}  // namespace

Result<std::shared_ptr<const TableFile>> OpenArrow(std::shared_ptr<const TableInput> input) {
  auto table = std::make_shared<IpcTable>(std::move(input));
  STOKER_RETURN_IF_ERROR(table->Open());
  return std::shared_ptr<const TableFile>(std::move(table));
}

}  // namespace stoker
