#include "stoker/io/gzip.h"

#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "stoker/base/buffer.h"
#include "stoker/io/checksum.h"

namespace stoker {
namespace {

constexpr size_t kInputBytes = 256 << 10;
constexpr size_t kMaxOutputPart = size_t{1} << 30;  // igzip counts in 32 bits
// Deflate's best case: a copy of 258 bytes from 2 bits.
constexpr uint64_t kMaxGzipExpansion = 1032;

// RFC 1952, section 2.3.
constexpr uint8_t kId1 = 0x1f, kId2 = 0x8b, kMethodDeflate = 8;
enum HeaderFlag : uint8_t {
  kHeaderCrc = 2,
  kExtra = 4,
  kName = 8,
  kComment = 16,
  kReserved = 0xe0
};

std::string_view ProblemOf(int inflate_error) {
  switch (inflate_error) {
    case ISAL_INVALID_BLOCK: return "a block begins with an impossible type or code table";
    case ISAL_INVALID_SYMBOL: return "a code stands for nothing";
    case ISAL_INVALID_LOOKBACK: return "a copy reaches back to before the beginning";
    case ISAL_INCORRECT_CHECKSUM:
      return "the decompressed bytes lack the checksum or the length stored after them";
    default: return "the compressed data makes no sense";
  }
}

// What stands around the deflated data.
enum class Wrapper { kGzip, kZlib };

class InflateSource final : public ByteSource {
 public:
  InflateSource(Wrapper wrapper, std::unique_ptr<ByteSource> compressed,
                const std::shared_ptr<MemoryAccount>& account)
      : ByteSource(compressed->name() + " (decompressed)"),
        wrapper_(wrapper),
        compressed_(std::move(compressed)),
        // No more than a small file has: there may be very many of them.
        input_(Buffer::Allocate(
            std::clamp<uint64_t>(compressed_->size_bound().bytes, 1, kInputBytes), account)),
        state_memory_(Buffer::Allocate(sizeof(inflate_state), account)),
        state_(new (state_memory_.data()) inflate_state()) {
    isal_inflate_init(state_);
  }

  SizeBound size_bound() const override {
    const uint64_t in = compressed_->size_bound().bytes;
    constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
    return {in > kMax / kMaxGzipExpansion ? kMax : in * kMaxGzipExpansion, false};
  }

 private:
  enum class Phase { kFirstMember, kInMember, kBetweenMembers, kEnd };

  Result<size_t> DoRead(std::span<std::byte> out) override;
  Status BeginMember();
  Status ReadGzipHeader();
  Status ReadZlibHeader();
  Status ExpectNothingMore();
  Status SkipHeaderText();
  Result<uint8_t> NextHeaderByte();
  Result<std::optional<uint8_t>> NextByte();
  Status SkipPadding();
  Status Refill();
  Result<size_t> Inflate(std::span<std::byte> out);

  // What is left of the input is state_->next_in .. + avail_in, also while headers are read.
  uint64_t CompressedPosition() const { return compressed_->position() - state_->avail_in; }
  Status Damaged(std::string_view problem) const {
    return DataLoss(
        "{}: byte {} (compressed): {}; the {} data is damaged: copy or download the file again",
        compressed_->name(), CompressedPosition(), problem, WrapperName());
  }
  Status CutShort() const {
    return DataLoss(
        "{}: byte {} (compressed): the file ends in the middle of its {} data; it was cut short: "
        "copy or download it again",
        compressed_->name(), CompressedPosition(), WrapperName());
  }
  std::string_view WrapperName() const { return wrapper_ == Wrapper::kGzip ? "gzip" : "zlib"; }

  const Wrapper wrapper_;
  const std::unique_ptr<ByteSource> compressed_;
  const Buffer input_;
  const Buffer state_memory_;
  inflate_state* const state_;  // in state_memory_; a C struct, so nothing destroys it
  Phase phase_ = Phase::kFirstMember;
  bool input_ended_ = false;
  uint32_t header_crc_ = 0;
};

Result<size_t> InflateSource::DoRead(std::span<std::byte> out) {
  while (phase_ != Phase::kEnd) {
    if (phase_ != Phase::kInMember) STOKER_RETURN_IF_ERROR(BeginMember());
    if (phase_ == Phase::kEnd) break;
    STOKER_ASSIGN_OR_RETURN(const size_t got, Inflate(out));
    if (got > 0) return got;
  }
  return size_t{0};
}

Status InflateSource::Refill() {
  if (input_ended_) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const size_t got, compressed_->Read({input_.data(), input_.size()}));
  input_ended_ = got == 0;
  state_->next_in = reinterpret_cast<uint8_t*>(input_.data());
  state_->avail_in = static_cast<uint32_t>(got);
  return OkStatus();
}

Result<std::optional<uint8_t>> InflateSource::NextByte() {
  if (state_->avail_in == 0) STOKER_RETURN_IF_ERROR(Refill());
  if (state_->avail_in == 0) return std::optional<uint8_t>();
  --state_->avail_in;
  return std::optional<uint8_t>(*state_->next_in++);
}

Result<uint8_t> InflateSource::NextHeaderByte() {
  STOKER_ASSIGN_OR_RETURN(const std::optional<uint8_t> byte, NextByte());
  if (!byte) return CutShort();
  header_crc_ = Crc32(std::as_bytes(std::span(&*byte, 1)), header_crc_);
  return *byte;
}

// Positions the input after the next member's header, or finds that there is none.
Status InflateSource::BeginMember() {
  if (phase_ == Phase::kBetweenMembers) {
    if (wrapper_ == Wrapper::kZlib) return ExpectNothingMore();
    if (state_->avail_in == 0) STOKER_RETURN_IF_ERROR(Refill());
    if (state_->avail_in == 0 || *state_->next_in == 0) {
      phase_ = Phase::kEnd;
      return SkipPadding();
    }
  }
  const bool gzip = wrapper_ == Wrapper::kGzip;
  STOKER_RETURN_IF_ERROR(gzip ? ReadGzipHeader() : ReadZlibHeader());
  isal_inflate_reset(state_);
  // igzip checks a member's CRC-32 and length, or a stream's Adler-32, itself.
  state_->crc_flag = gzip ? ISAL_GZIP_NO_HDR_VER : ISAL_ZLIB_NO_HDR_VER;
  phase_ = Phase::kInMember;
  return OkStatus();
}

Status InflateSource::ExpectNothingMore() {
  // igzip reads 8 bytes at a time, twice as many as the checksum has.
  constexpr int kBitsInAByte = 8;
  if (state_->read_in_length >= kBitsInAByte)
    return Damaged("something follows the end of the stream");
  STOKER_ASSIGN_OR_RETURN(const std::optional<uint8_t> byte, NextByte());
  if (byte) return Damaged("something follows the end of the stream");
  phase_ = Phase::kEnd;
  return OkStatus();
}

// RFC 1950, section 2.2.
Status InflateSource::ReadZlibHeader() {
  constexpr uint8_t kMethodMask = 0x0f, kPresetDictionary = 0x20;
  STOKER_ASSIGN_OR_RETURN(const uint8_t method, NextHeaderByte());
  STOKER_ASSIGN_OR_RETURN(const uint8_t flags, NextHeaderByte());
  if ((method << 8 | flags) % 31 != 0 || (method & kMethodMask) != kMethodDeflate)
    return Damaged("this is not zlib, which begins with a method and a check of it");
  if (flags & kPresetDictionary) {
    return Unimplemented("{}: the zlib data needs a preset dictionary; write it without one",
                         compressed_->name());
  }
  return OkStatus();
}

Status InflateSource::SkipPadding() {
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<uint8_t> byte, NextByte());
    if (!byte) return OkStatus();
    if (*byte != 0) return Damaged("something follows the zero bytes after the last gzip member");
  }
}

// By hand: igzip forgets the header's flags where its input ends inside the header.
Status InflateSource::ReadGzipHeader() {
  header_crc_ = 0;
  uint8_t fixed[10];
  for (uint8_t& byte : fixed) {
    STOKER_ASSIGN_OR_RETURN(byte, NextHeaderByte());
    if (&byte == &fixed[1] && (fixed[0] != kId1 || fixed[1] != kId2)) {
      return Damaged(phase_ == Phase::kFirstMember ? "this is not gzip, which begins with 1f 8b"
                                                   : "what follows the last gzip member is none");
    }
  }
  if (fixed[2] != kMethodDeflate) return Damaged("the compression method is not deflate");
  const uint8_t flags = fixed[3];
  if (flags & kReserved) return Damaged("the header has flags that gzip does not know");
  if (flags & kExtra) {
    STOKER_ASSIGN_OR_RETURN(const uint8_t low, NextHeaderByte());
    STOKER_ASSIGN_OR_RETURN(const uint8_t high, NextHeaderByte());
    for (int left = low | high << 8; left > 0; --left)
      STOKER_RETURN_IF_ERROR(NextHeaderByte().status());
  }
  if (flags & kName) STOKER_RETURN_IF_ERROR(SkipHeaderText());
  if (flags & kComment) STOKER_RETURN_IF_ERROR(SkipHeaderText());
  if (flags & kHeaderCrc) {
    const uint32_t expected = header_crc_ & 0xffff;
    STOKER_ASSIGN_OR_RETURN(const uint8_t low, NextHeaderByte());
    STOKER_ASSIGN_OR_RETURN(const uint8_t high, NextHeaderByte());
    if (expected != static_cast<uint32_t>(low | high << 8))
      return Damaged("the header's checksum is wrong");
  }
  return OkStatus();
}

Status InflateSource::SkipHeaderText() {
  uint8_t byte = 0;
  do {
    STOKER_ASSIGN_OR_RETURN(byte, NextHeaderByte());
  } while (byte != 0);
  return OkStatus();
}

// Some of the member's bytes; 0 at its end.
Result<size_t> InflateSource::Inflate(std::span<std::byte> out) {
  const auto part = static_cast<uint32_t>(std::min(out.size(), kMaxOutputPart));
  while (true) {
    if (state_->avail_in == 0) STOKER_RETURN_IF_ERROR(Refill());
    const uint32_t input_before = state_->avail_in;
    state_->next_out = reinterpret_cast<uint8_t*>(out.data());
    state_->avail_out = part;
    if (const int error = isal_inflate(state_); error != ISAL_DECOMP_OK)
      return Damaged(ProblemOf(error));
    if (state_->block_state == ISAL_BLOCK_FINISH) phase_ = Phase::kBetweenMembers;
    const size_t got = part - state_->avail_out;
    if (got > 0 || phase_ == Phase::kBetweenMembers) return got;
    if (input_ended_) return CutShort();
    if (input_before > 0 && state_->avail_in == input_before)
      return Damaged("no progress can be made");
  }
}

}  // namespace

std::unique_ptr<ByteSource> MakeGzipSource(std::unique_ptr<ByteSource> compressed,
                                           std::shared_ptr<MemoryAccount> account) {
  return std::make_unique<InflateSource>(Wrapper::kGzip, std::move(compressed), account);
}

std::unique_ptr<ByteSource> MakeZlibSource(std::unique_ptr<ByteSource> compressed,
                                           std::shared_ptr<MemoryAccount> account) {
  return std::make_unique<InflateSource>(Wrapper::kZlib, std::move(compressed), account);
}

Result<std::vector<std::byte>> GzipCompress(std::span<const std::byte> bytes, int level) {
  constexpr int kGzipWindow = 15 + 16;  // 32 KiB, with gzip's header
  z_stream stream{};
  if (level < 1 || level > 9) return InvalidArgument("gzip level {}: it must lie in 1..9", level);
  if (deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return ResourceExhausted("gzip: no memory for the compressor's state; free some");
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, deflateEnd);
  std::vector<std::byte> out(deflateBound(&stream, bytes.size()));
  const auto* next_in = reinterpret_cast<const Bytef*>(bytes.data());
  auto* next_out = reinterpret_cast<Bytef*>(out.data());
  size_t left_in = bytes.size(), left_out = out.size();
  int state = Z_OK;
  while (state == Z_OK) {  // zlib counts in 32 bits: part by part
    stream.next_in = const_cast<Bytef*>(next_in);
    stream.next_out = next_out;
    const size_t part_in = std::min(left_in, kMaxOutputPart),
                 part_out = std::min(left_out, kMaxOutputPart);
    stream.avail_in = static_cast<uInt>(part_in);
    stream.avail_out = static_cast<uInt>(part_out);
    state = deflate(&stream, part_in == left_in ? Z_FINISH : Z_NO_FLUSH);
    next_in = stream.next_in;
    next_out = stream.next_out;
    left_in -= part_in - stream.avail_in;
    left_out -= part_out - stream.avail_out;
  }
  if (state != Z_STREAM_END) return Internal("gzip: zlib's deflate stopped with {}", state);
  out.resize(out.size() - left_out);
  return out;
}

}  // namespace stoker
