#include "stoker/io/bzip2.h"

#include <bzlib.h>

#include <algorithm>
#include <utility>

#include "stoker/io/compressed_input_internal.h"

namespace stoker {
namespace {

// For blocks of 900 KB, the largest, by bzip2's manual: 100 KB and four bytes for each of a block.
constexpr uint64_t kDecoderBytes = 100'000 + 4 * 900'000;
// A block of 900 KB is 45,900,000 bytes at most of what its first step packs (255 equal bytes into
// 5), and has more than 32 bytes.
constexpr uint64_t kMaxBzip2Expansion = 900'000 / 5 * 255 / 32;

class Bzip2Source final : public ByteSource {
 public:
  Bzip2Source(std::unique_ptr<ByteSource> compressed, std::shared_ptr<MemoryAccount> account)
      : ByteSource(compressed->name() + " (decompressed)"),
        input_(std::move(compressed), account),
        memory_(std::move(account)) {}
  ~Bzip2Source() override { End(); }

  SizeBound size_bound() const override { return input_.BoundOfContent(kMaxBzip2Expansion); }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override;
  Status Begin();
  void End();
  Result<bool> FindStream();
  Status Problem(int code) const;
  Status At(std::string_view what) const {
    return DataLoss("{}: byte {} (compressed): {}", input_.name(), input_.position(), what);
  }

  internal::CompressedInput input_;
  internal::LibraryMemory memory_;
  bz_stream stream_{};
  bool in_stream_ = false;  // and stream_ is initialised
  bool any_ = false;        // stream has ended
};

Status Bzip2Source::Begin() {
  memory_.Set(kDecoderBytes);
  stream_ = {};
  if (BZ2_bzDecompressInit(&stream_, /*verbosity=*/0, /*small=*/0) != BZ_OK)
    return ResourceExhausted("{}: no memory for a bzip2 decoder; free some", input_.name());
  in_stream_ = true;
  return OkStatus();
}

void Bzip2Source::End() {
  if (in_stream_) BZ2_bzDecompressEnd(&stream_);
  in_stream_ = false;
}

Status Bzip2Source::Problem(int code) const {
  switch (code) {
    case BZ_MEM_ERROR:
      return ResourceExhausted("{}: byte {} (compressed): no memory for the decoder; free some",
                               input_.name(), input_.position());
    case BZ_DATA_ERROR_MAGIC:
      return At(
          "a bzip2 stream should begin here, with 42 5a 68, but does not; copy or download the "
          "file again");
    default: return At("the bzip2 data is damaged: copy or download the file again");
  }
}

// Whether there is another one, past the padding of the one before.
Result<bool> Bzip2Source::FindStream() {
  while (true) {
    STOKER_RETURN_IF_ERROR(input_.Refill());
    if (!any_) return true;  // an empty file is no bzip2
    if (input_.ended()) return false;
    const auto in = input_.left();
    const auto padding =
        std::ranges::find_if(in, [](std::byte byte) { return byte != std::byte{0}; }) - in.begin();
    input_.Use(static_cast<size_t>(padding));
    if (!input_.left().empty()) return true;
  }
}

Result<size_t> Bzip2Source::DoRead(std::span<std::byte> out) {
  while (true) {
    if (!in_stream_) {
      STOKER_ASSIGN_OR_RETURN(const bool more, FindStream());
      if (!more) return size_t{0};
      STOKER_RETURN_IF_ERROR(Begin());
    }
    STOKER_RETURN_IF_ERROR(input_.Refill());
    const std::span<const std::byte> in = input_.left();
    const size_t most = std::min<size_t>(out.size(), 1 << 30);  // libbz2 counts in 32 bits
    stream_.next_in = reinterpret_cast<char*>(const_cast<std::byte*>(in.data()));
    stream_.avail_in = static_cast<unsigned>(in.size());
    stream_.next_out = reinterpret_cast<char*>(out.data());
    stream_.avail_out = static_cast<unsigned>(most);
    const int code = BZ2_bzDecompress(&stream_);
    input_.Use(in.size() - stream_.avail_in);
    const size_t got = most - stream_.avail_out;
    if (code != BZ_OK && code != BZ_STREAM_END) return Problem(code);
    if (code == BZ_STREAM_END) {
      any_ = true;
      End();
    }
    if (got > 0) return got;
    if (code == BZ_OK && input_.ended()) {
      return At(
          "the file ends in the middle of its bzip2 data; it was cut short: copy or download it "
          "again");
    }
  }
}

}  // namespace

std::unique_ptr<ByteSource> MakeBzip2Source(std::unique_ptr<ByteSource> compressed,
                                            std::shared_ptr<MemoryAccount> account) {
  return std::make_unique<Bzip2Source>(std::move(compressed), std::move(account));
}

bool BeginsBzip2(std::string_view start) {
  constexpr size_t kHeader = 4;
  // A block begins with the digits of pi, the end of a stream with those of its square root.
  constexpr std::string_view kBlock = "\x31\x41\x59\x26", kEnd = "\x17\x72\x45\x38";
  if (!start.starts_with("BZh") || start.size() < 2 * kHeader) return false;
  if (start[3] < '1' || start[3] > '9') return false;
  start.remove_prefix(kHeader);
  return start.starts_with(kBlock) || start.starts_with(kEnd);
}

}  // namespace stoker
