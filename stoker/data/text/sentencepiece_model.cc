#include "stoker/data/text/sentencepiece_model.h"

#include <cstring>

namespace stoker {
namespace {

// The fields of a message one after the other. Every length is checked.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  // The next field; false at the end, and where the bytes are none.
  bool Next() {
    uint64_t tag = 0;
    if (rest_.empty() || !ReadVarint(tag)) return false;
    number_ = tag >> 3;
    switch (tag & 7) {
      case 0: ok_ = ReadVarint(integer_); break;
      case 1: ok_ = Take(8); break;
      case 2: ok_ = ReadVarint(integer_) && Take(integer_); break;
      case 5: ok_ = Take(4); break;
      default: ok_ = false;
    }
    return ok_;
  }
  bool ok() const { return ok_; }

  uint64_t number() const { return number_; }
  uint64_t integer() const { return integer_; }
  std::string_view bytes() const { return bytes_; }
  float real() const {
    float value = 0;
    if (bytes_.size() == sizeof(value)) std::memcpy(&value, bytes_.data(), sizeof(value));
    return value;
  }

 private:
  bool ReadVarint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return ok_ = false;
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return ok_ = false;
  }
  bool Take(uint64_t size) {
    if (size > rest_.size()) return false;
    bytes_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_, bytes_;
  uint64_t number_ = 0, integer_ = 0;
  bool ok_ = true;
};

bool ParsePiece(std::string_view bytes, SentencePieceModel::Piece& piece) {
  Fields fields(bytes);
  while (fields.Next()) {
    if (fields.number() == 1) piece.text = fields.bytes();
    if (fields.number() == 2) piece.score = fields.real();
    if (fields.number() == 3) piece.type = static_cast<SentencePieceType>(fields.integer());
  }
  return fields.ok();
}

bool ParseTrainerSpec(std::string_view bytes, SentencePieceModel& model) {
  Fields fields(bytes);
  while (fields.Next()) {
    if (fields.number() == 3) {
      model.algorithm = static_cast<SentencePieceAlgorithm>(fields.integer());
    }
    if (fields.number() == 24) model.space_as_suffix = fields.integer() != 0;
    if (fields.number() == 35) model.byte_fallback = fields.integer() != 0;
  }
  return fields.ok();
}

bool ParseNormalizerSpec(std::string_view bytes, SentencePieceModel& model) {
  Fields fields(bytes);
  while (fields.Next()) {
    if (fields.number() == 2) model.character_map = fields.bytes();
    if (fields.number() == 3) model.add_dummy_prefix = fields.integer() != 0;
    if (fields.number() == 4) model.remove_extra_spaces = fields.integer() != 0;
    if (fields.number() == 5) model.escape_spaces = fields.integer() != 0;
  }
  return fields.ok();
}

}  // namespace

std::optional<SentencePieceModel> ParseSentencePieceModel(std::string_view bytes) {
  SentencePieceModel model;
  Fields fields(bytes);
  bool ok = true;
  while (ok && fields.Next()) {
    if (fields.number() == 1) ok = ParsePiece(fields.bytes(), model.pieces.emplace_back());
    if (fields.number() == 2) ok = ParseTrainerSpec(fields.bytes(), model);
    if (fields.number() == 3) ok = ParseNormalizerSpec(fields.bytes(), model);
  }
  if (!ok || !fields.ok()) return std::nullopt;
  return model;
}

}  // namespace stoker
