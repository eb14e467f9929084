#include "stoker/data/text/sentencepiece_model.h"

#include <cstring>
#include <utility>

namespace stoker {
namespace {

// The fields of a message one after the other. Every length is checked.
class Fields {
 public:
  // `begin`: the message's offset in the file.
  explicit Fields(std::string_view bytes, size_t begin = 0)
      : end_(begin + bytes.size()), rest_(bytes) {}

  // The next field; false at the end, and if the bytes are no field, which status() reports.
  bool Next() {
    uint64_t tag = 0;
    if (rest_.empty() || !ReadVarint(tag)) return false;
    number_ = tag >> 3;
    switch (const uint64_t wire_type = tag & 7) {
      case 0: return ReadVarint(integer_);
      case 1: return Take(8);
      case 2: return ReadVarint(integer_) && Take(integer_);
      case 5: return Take(4);
      default: return Fail("a field has wire type {}, models have 0, 1, 2 and 5", wire_type);
    }
  }
  const Status& status() const { return status_; }

  uint64_t number() const { return number_; }
  uint64_t integer() const { return integer_; }
  std::string_view bytes() const { return bytes_; }
  // The message that the field holds.
  Fields within() const { return Fields(bytes_, bytes_begin_); }
  float real() const {
    float value = 0;
    if (bytes_.size() == sizeof(value)) std::memcpy(&value, bytes_.data(), sizeof(value));
    return value;
  }

 private:
  size_t position() const { return end_ - rest_.size(); }

  template <typename... Args>
  bool Fail(fmt::format_string<Args...> format, Args&&... args) {
    status_ = DataLoss("byte {}: {}", position(), fmt::format(format, std::forward<Args>(args)...));
    return false;
  }

  bool ReadVarint(uint64_t& value) {
    value = 0;
    std::string_view rest = rest_;
    int shift = 0;
    for (; shift < 64 && !rest.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest.front());
      rest.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      rest_ = rest;
      return true;
    }
    return shift < 64 ? Fail("a number is cut short") : Fail("a number has more than 64 bits");
  }
  bool Take(uint64_t size) {
    if (size > rest_.size())
      return Fail("{} bytes are wanted for field {}, {} are there", size, number_, rest_.size());
    bytes_ = rest_.substr(0, size);
    bytes_begin_ = position();
    rest_.remove_prefix(size);
    return true;
  }

  const size_t end_;  // of the message in the file
  std::string_view rest_, bytes_;
  size_t bytes_begin_ = 0;
  uint64_t number_ = 0, integer_ = 0;
  Status status_;
};

Status ParsePiece(Fields fields, SentencePieceModel::Piece& piece) {
  while (fields.Next()) {
    if (fields.number() == 1) piece.text = fields.bytes();
    if (fields.number() == 2) piece.score = fields.real();
    if (fields.number() == 3) piece.type = static_cast<SentencePieceType>(fields.integer());
  }
  return fields.status();
}

Status ParseTrainerSpec(Fields fields, SentencePieceModel& model) {
  while (fields.Next()) {
    if (fields.number() == 3) {
      model.algorithm = static_cast<SentencePieceAlgorithm>(fields.integer());
    }
    if (fields.number() == 24) model.space_as_suffix = fields.integer() != 0;
    if (fields.number() == 35) model.byte_fallback = fields.integer() != 0;
  }
  return fields.status();
}

Status ParseNormalizerSpec(Fields fields, SentencePieceModel& model) {
  while (fields.Next()) {
    if (fields.number() == 2) model.character_map = fields.bytes();
    if (fields.number() == 3) model.add_dummy_prefix = fields.integer() != 0;
    if (fields.number() == 4) model.remove_extra_spaces = fields.integer() != 0;
    if (fields.number() == 5) model.escape_spaces = fields.integer() != 0;
  }
  return fields.status();
}

}  // namespace

Result<SentencePieceModel> ParseSentencePieceModel(std::string_view bytes) {
  SentencePieceModel model;
  Fields fields(bytes);
  while (fields.Next()) {
    Status part;
    if (fields.number() == 1) part = ParsePiece(fields.within(), model.pieces.emplace_back());
    if (fields.number() == 2) part = ParseTrainerSpec(fields.within(), model);
    if (fields.number() == 3) part = ParseNormalizerSpec(fields.within(), model);
    STOKER_RETURN_IF_ERROR(part);
  }
  STOKER_RETURN_IF_ERROR(fields.status());
  return model;
}

}  // namespace stoker
