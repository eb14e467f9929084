#include "stoker/image/jpeg_baseline/frame.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace stoker::jpeg_baseline {
namespace {

// Markers: T.81, table B.1.
constexpr uint8_t kSof0 = 0xc0;  // baseline
constexpr uint8_t kSof1 = 0xc1;  // extended sequential, Huffman
constexpr uint8_t kDht = 0xc4;
constexpr uint8_t kRst0 = 0xd0;
constexpr uint8_t kSoi = 0xd8;
constexpr uint8_t kEoi = 0xd9;
constexpr uint8_t kSos = 0xda;
constexpr uint8_t kDqt = 0xdb;
constexpr uint8_t kDri = 0xdd;
constexpr uint8_t kApp0 = 0xe0;
constexpr uint8_t kApp14 = 0xee;
constexpr uint8_t kApp15 = 0xef;
constexpr uint8_t kCom = 0xfe;
constexpr uint8_t kTem = 0x01;

class Parser {
 public:
  Parser(std::span<const std::byte> jpeg, std::string_view name, Frame& frame)
      : jpeg_(jpeg), name_(name), frame_(frame) {}

  Result<bool> Parse();

 private:
  // The rest of a segment: every read checks its length first.
  class Segment {
   public:
    Segment(std::span<const std::byte> bytes, size_t at) : bytes_(bytes), at_(at) {}
    size_t at() const { return at_; }  // byte of the file
    size_t left() const { return bytes_.size(); }
    uint8_t U8() {
      const auto value = std::to_integer<uint8_t>(bytes_.front());
      bytes_ = bytes_.subspan(1);
      ++at_;
      return value;
    }
    int U16() {
      const int high = U8();
      return high << 8 | U8();
    }
    std::span<const std::byte> bytes() const { return bytes_; }

   private:
    std::span<const std::byte> bytes_;
    size_t at_;
  };

  // Each of these returns whether the picture may still be ours.
  Result<bool> ReadSegment(uint8_t marker, Segment segment);
  Result<bool> ReadFrame(Segment segment);
  Result<bool> ReadQuants(Segment segment);
  Result<bool> ReadCodes(Segment segment);
  Result<bool> ReadScan(Segment segment);
  Result<bool> ReadRestartInterval(Segment segment);
  void ReadJfif(Segment segment);
  void ReadAdobe(Segment segment);

  Result<uint8_t> NextMarker();
  Result<Segment> NextSegment();
  bool IsYCbCr() const;
  bool HasTakenSampling() const;
  bool HasAllTables() const;
  Status TooShort(const char* segment, size_t at) const {
    return DataLoss("{}: byte {}: the {} segment ends too early; the JPEG is damaged", name_, at,
                    segment);
  }

  std::span<const std::byte> jpeg_;
  std::string_view name_;
  Frame& frame_;
  size_t at_ = 0;
  bool has_frame_ = false;
  bool has_jfif_ = false;
  std::optional<uint8_t> adobe_transform_;
};

Result<uint8_t> Parser::NextMarker() {
  if (at_ + 2 > jpeg_.size()) {
    return DataLoss("{}: byte {}: the JPEG ends in its header; it was cut short", name_, at_);
  }
  if (jpeg_[at_] != std::byte{0xff}) {
    return DataLoss("{}: byte {}: {:#04x} where a marker (0xff) must stand; the JPEG is damaged",
                    name_, at_, std::to_integer<int>(jpeg_[at_]));
  }
  while (at_ < jpeg_.size() && jpeg_[at_] == std::byte{0xff}) ++at_;  // B.1.1.2: any fill bytes
  if (at_ == jpeg_.size()) {
    return DataLoss("{}: byte {}: the JPEG ends in its header; it was cut short", name_, at_);
  }
  return std::to_integer<uint8_t>(jpeg_[at_++]);
}

Result<Parser::Segment> Parser::NextSegment() {
  if (at_ + 2 > jpeg_.size()) {
    return DataLoss("{}: byte {}: the JPEG ends in its header; it was cut short", name_, at_);
  }
  const size_t length = static_cast<size_t>(Segment(jpeg_.subspan(at_), at_).U16());
  if (length < 2 || length > jpeg_.size() - at_) {
    return DataLoss("{}: byte {}: a segment of {} bytes, the file has {} left; it was cut short",
                    name_, at_, length, jpeg_.size() - at_);
  }
  const Segment segment(jpeg_.subspan(at_ + 2, length - 2), at_ + 2);
  at_ += length;
  return segment;
}

Result<bool> Parser::Parse() {
  if (jpeg_.size() < 2 || jpeg_[0] != std::byte{0xff} || jpeg_[1] != std::byte{kSoi}) {
    return DataLoss("{}: byte 0: not a JPEG, which begins with ff d8; check the path", name_);
  }
  at_ = 2;
  for (;;) {
    STOKER_ASSIGN_OR_RETURN(const uint8_t marker, NextMarker());
    const bool stands_alone = marker == kTem || (marker >= kRst0 && marker <= kEoi) || marker == 0;
    if (stands_alone) return false;
    STOKER_ASSIGN_OR_RETURN(const Segment segment, NextSegment());
    STOKER_ASSIGN_OR_RETURN(const bool ours, ReadSegment(marker, segment));
    if (!ours || marker == kSos) return ours;
  }
}

Result<bool> Parser::ReadSegment(uint8_t marker, Segment segment) {
  switch (marker) {
    case kSof0:
    case kSof1: return ReadFrame(segment);
    case kDqt: return ReadQuants(segment);
    case kDht: return ReadCodes(segment);
    case kDri: return ReadRestartInterval(segment);
    case kSos: return ReadScan(segment);
    case kApp0: ReadJfif(segment); return true;
    case kApp14: ReadAdobe(segment); return true;
    default: return (marker > kApp0 && marker <= kApp15) || marker == kCom;
  }
}

Result<bool> Parser::ReadFrame(Segment segment) {
  if (segment.left() < 6) return TooShort("SOF", segment.at());
  if (has_frame_ || segment.U8() != 8) return false;
  has_frame_ = true;
  frame_.height = segment.U16();
  frame_.width = segment.U16();
  frame_.num_components = segment.U8();
  if (frame_.height == 0) return false;  // given by a DNL marker after the pixels
  if (frame_.width == 0) {
    return DataLoss("{}: byte {}: a picture 0 pixels wide; the JPEG is damaged", name_,
                    segment.at() - 3);
  }
  if (frame_.num_components != 1 && frame_.num_components != 3) return false;
  if (segment.left() != size_t{3} * static_cast<size_t>(frame_.num_components)) {
    return TooShort("SOF", segment.at());
  }
  for (Component& c : std::span(frame_.components).first(frame_.num_components)) {
    c.id = segment.U8();
    const int factors = segment.U8();
    c.across = factors >> 4;
    c.down = factors & 15;
    c.quant = segment.U8();
    if (c.quant > 3) return false;
  }
  if (frame_.num_components == 1) {  // A.2.2: the MCU of a lone component is one block
    frame_.components[0].across = frame_.components[0].down = 1;
  }
  return HasTakenSampling();
}

bool Parser::HasTakenSampling() const {
  const auto& [y, cb, cr] = frame_.components;
  if (frame_.num_components == 1) return true;
  const auto allowed = [](int factor) { return factor == 1 || factor == 2 || factor == 4; };
  if (!allowed(y.across) || !allowed(y.down) || !allowed(cb.across) || !allowed(cb.down)) {
    return false;
  }
  const int down = y.down / cb.down;
  return cb.across == cr.across && cb.down == cr.down && y.across >= cb.across &&
         (down == 1 || down == 2) &&
         y.across * y.down + 2 * cb.across * cb.down <= kMaxBlocksPerMcu;
}

Result<bool> Parser::ReadQuants(Segment segment) {
  while (segment.left() > 0) {
    const int which = segment.U8();
    if (which > 3) return false;  // of 16 bits, or a number that there is not
    if (segment.left() < kBlockValues) return TooShort("DQT", segment.at());
    QuantTable& table = frame_.quants[which];
    for (const uint8_t place : kZigzagToNatural) table.divisors[place] = segment.U8();
    table.defined = true;
  }
  return true;
}

Result<bool> Parser::ReadCodes(Segment segment) {
  while (segment.left() > 0) {
    if (segment.left() < 17) return TooShort("DHT", segment.at());
    const int which = segment.U8();
    if ((which & 0xef) > 3) return false;
    HuffmanCode code;
    for (uint8_t& count : code.counts) {
      count = segment.U8();
      code.num_values += count;
    }
    if (code.num_values > 256 || static_cast<size_t>(code.num_values) > segment.left()) {
      return DataLoss("{}: byte {}: {} Huffman codes announced, {} bytes left for them", name_,
                      segment.at(), code.num_values, segment.left());
    }
    for (uint8_t& value : std::span(code.values).first(code.num_values)) value = segment.U8();
    (which >= 0x10 ? frame_.ac_codes : frame_.dc_codes)[which & 3] = code;
  }
  return true;
}

Result<bool> Parser::ReadRestartInterval(Segment segment) {
  if (segment.left() != 2) return TooShort("DRI", segment.at());
  frame_.restart_interval = segment.U16();
  return true;
}

// As libjpeg: the first bytes of the segment, and the last such segment counts.
void Parser::ReadJfif(Segment segment) {
  if (segment.left() >= 14 && std::memcmp(segment.bytes().data(), "JFIF", 5) == 0) has_jfif_ = true;
}

void Parser::ReadAdobe(Segment segment) {
  if (segment.left() >= 12 && std::memcmp(segment.bytes().data(), "Adobe", 5) == 0) {
    adobe_transform_ = std::to_integer<uint8_t>(segment.bytes()[11]);
  }
}

Result<bool> Parser::ReadScan(Segment segment) {
  if (!has_frame_) {
    return DataLoss("{}: byte {}: SOS before SOF; the JPEG is damaged", name_, segment.at());
  }
  if (segment.left() < 1) return TooShort("SOS", segment.at());
  const int num_components = segment.U8();
  if (num_components != frame_.num_components) return false;  // several scans
  if (segment.left() != static_cast<size_t>(2 * num_components + 3)) {
    return TooShort("SOS", segment.at());
  }
  for (Component& c : std::span(frame_.components).first(num_components)) {
    if (segment.U8() != c.id) return false;
    const int codes = segment.U8();
    c.dc_code = codes >> 4;
    c.ac_code = codes & 15;
    if (c.dc_code > 3 || c.ac_code > 3) return false;
  }
  const int first = segment.U8(), last = segment.U8(), approximation = segment.U8();
  if (first != 0 || last != kBlockValues - 1 || approximation != 0) return false;
  frame_.scan_at = at_;
  return HasAllTables() && (num_components == 1 || IsYCbCr());
}

bool Parser::HasAllTables() const {
  return std::ranges::all_of(
      std::span(frame_.components).first(frame_.num_components), [this](const Component& c) {
        return frame_.quants[c.quant].defined && frame_.dc_codes[c.dc_code].num_values > 0 &&
               frame_.ac_codes[c.ac_code].num_values > 0;
      });
}

// What libjpeg takes three components for: JFIF says YCbCr, Adobe says which, else their ids do.
bool Parser::IsYCbCr() const {
  if (has_jfif_) return true;
  if (adobe_transform_) return *adobe_transform_ == 1;
  const auto& [y, cb, cr] = frame_.components;
  return !(y.id == 'R' && cb.id == 'G' && cr.id == 'B');
}

}  // namespace

int Frame::max_across() const { return components[0].across; }
int Frame::max_down() const { return components[0].down; }

Result<bool> ParseFrame(std::span<const std::byte> jpeg, std::string_view name, Frame& frame) {
  frame = Frame();
  return Parser(jpeg, name, frame).Parse();
}

}  // namespace stoker::jpeg_baseline
