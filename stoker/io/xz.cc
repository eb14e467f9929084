#include "stoker/io/xz.h"

#include <lzma.h>

#include <string_view>
#include <utility>

#include "stoker/io/compressed_input_internal.h"

namespace stoker {
namespace {

// A dictionary of 128 MiB, and the decoder's other memory.
constexpr uint64_t kMostMemory = (128 << 20) + (2 << 20);
// A chunk of LZMA2 gives 2 MiB at most from its header of 6 bytes and the 5 that the range decoder
// begins with.
constexpr uint64_t kMaxXzExpansion = (2 << 20) / 11;

class XzSource final : public ByteSource {
 public:
  XzSource(std::unique_ptr<ByteSource> compressed, std::shared_ptr<MemoryAccount> account)
      : ByteSource(compressed->name() + " (decompressed)"),
        input_(std::move(compressed), account),
        memory_(std::move(account)),
        begun_(lzma_stream_decoder(&stream_, kMostMemory,
                                   LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK)) {}
  ~XzSource() override { lzma_end(&stream_); }

  SizeBound size_bound() const override { return input_.BoundOfContent(kMaxXzExpansion); }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override;
  Status Problem(lzma_ret code) const;

  internal::CompressedInput input_;
  internal::LibraryMemory memory_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  const lzma_ret begun_;
};

Status XzSource::Problem(lzma_ret code) const {
  switch (code) {
    case LZMA_MEM_ERROR:
      return ResourceExhausted("{}",
                               input_.AtByte("no memory for the decoder's dictionary; free some"));
    case LZMA_MEMLIMIT_ERROR:
      return Unimplemented(
          "{}", input_.AtByte("the data needs a dictionary of more than 128 MiB; compress it "
                              "again with xz -9 at most"));
    case LZMA_OPTIONS_ERROR:
      return Unimplemented(
          "{}", input_.AtByte("the data was compressed with a filter that liblzma does not "
                              "know; compress it again without one"));
    case LZMA_UNSUPPORTED_CHECK:
      return Unimplemented(
          "{}", input_.AtByte("the data has a check that liblzma does not know; compress it "
                              "again with --check=crc64"));
    case LZMA_FORMAT_ERROR:
      return DataLoss(
          "{}", input_.AtByte("an xz stream should begin here, with fd 37 7a 58 5a 00, but does "
                              "not; copy or download the file again"));
    case LZMA_BUF_ERROR:
      return DataLoss(
          "{}", input_.AtByte("the file ends in the middle of its xz data; it was cut short: copy "
                              "or download it again"));
    default:
      return DataLoss("{}",
                      input_.AtByte("the xz data is damaged: copy or download the file again"));
  }
}

Result<size_t> XzSource::DoRead(std::span<std::byte> out) {
  if (begun_ != LZMA_OK) return Problem(begun_);
  stream_.next_out = reinterpret_cast<uint8_t*>(out.data());
  stream_.avail_out = out.size();
  while (true) {
    STOKER_RETURN_IF_ERROR(input_.Refill());
    const std::span<const std::byte> in = input_.left();
    stream_.next_in = reinterpret_cast<const uint8_t*>(in.data());
    stream_.avail_in = in.size();
    // Whether a stream ends here is known only once there is no more that could be another one.
    const lzma_ret code = lzma_code(&stream_, input_.ended() ? LZMA_FINISH : LZMA_RUN);
    input_.Use(in.size() - stream_.avail_in);
    memory_.Set(lzma_memusage(&stream_));
    if (code != LZMA_OK && code != LZMA_STREAM_END) return Problem(code);
    const size_t got = out.size() - stream_.avail_out;
    if (got > 0 || code == LZMA_STREAM_END) return got;
  }
}

}  // namespace

std::unique_ptr<ByteSource> MakeXzSource(std::unique_ptr<ByteSource> compressed,
                                         std::shared_ptr<MemoryAccount> account) {
  return std::make_unique<XzSource>(std::move(compressed), std::move(account));
}

}  // namespace stoker
