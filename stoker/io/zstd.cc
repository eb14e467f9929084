#include "stoker/io/zstd.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <string_view>
#include <utility>

#include "stoker/io/compressed_input_internal.h"

namespace stoker {
namespace {

constexpr int kMaxWindowLog = 27;  // 128 MiB, as zstd(1) takes without --memory
// A block of 128 KiB from a header of 3 bytes and the byte that it repeats.
constexpr uint64_t kMaxZstdExpansion = (128 << 10) / 4;

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdSource final : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> compressed, std::shared_ptr<MemoryAccount> account)
      : ByteSource(compressed->name() + " (decompressed)"),
        input_(std::move(compressed), account),
        memory_(std::move(account)),
        context_(ZSTD_createDCtx()) {
    if (context_) ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }

  SizeBound size_bound() const override { return input_.BoundOfContent(kMaxZstdExpansion); }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override;
  Status Problem(size_t code) const;

  internal::CompressedInput input_;
  internal::LibraryMemory memory_;  // of the decoder, counted after each step
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  bool in_frame_ = true;  // an empty file is no zstd
};

Status ZstdSource::Problem(size_t code) const {
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_frameParameter_windowTooLarge:
      return Unimplemented(
          "{}", input_.AtByte("the data needs a window of more than 128 MiB; compress it "
                              "again without --long, or with --long=27 at most"));
    case ZSTD_error_dictionary_wrong:
      return Unimplemented(
          "{}", input_.AtByte("the data was compressed with a dictionary; compress it again "
                              "without one"));
    case ZSTD_error_memory_allocation:
      return ResourceExhausted("{}",
                               input_.AtByte("no memory for the decoder's window; free some"));
    case ZSTD_error_prefix_unknown:
      return DataLoss(
          "{}", input_.AtByte("a zstd frame should begin here, with 28 b5 2f fd, but does not; "
                              "copy or download the file again"));
    default:
      return DataLoss(
          "{}", input_.AtByte(fmt::format("{}; the zstd data is damaged: copy or download the "
                                          "file again",
                                          ZSTD_getErrorName(code))));
  }
}

Result<size_t> ZstdSource::DoRead(std::span<std::byte> out) {
  if (!context_)
    return ResourceExhausted("{}: no memory for a zstd decoder; free some", input_.name());
  while (true) {
    STOKER_RETURN_IF_ERROR(input_.Refill());
    if (input_.ended() && input_.left().empty() && !in_frame_) return size_t{0};
    ZSTD_inBuffer in{input_.left().data(), input_.left().size(), 0};
    ZSTD_outBuffer buffer{out.data(), out.size(), 0};
    const size_t left = ZSTD_decompressStream(context_.get(), &buffer, &in);
    input_.Use(in.pos);
    if (ZSTD_isError(left)) return Problem(left);
    memory_.Set(ZSTD_sizeof_DCtx(context_.get()));
    in_frame_ = left != 0;
    if (buffer.pos > 0) return buffer.pos;
    if (in_frame_ && input_.ended() && in.pos == 0) {
      return DataLoss(
          "{}: byte {} (compressed): the file ends in the middle of its zstd data; it was cut "
          "short: copy or download it again",
          input_.name(), input_.position());
    }
  }
}

}  // namespace

std::unique_ptr<ByteSource> MakeZstdSource(std::unique_ptr<ByteSource> compressed,
                                           std::shared_ptr<MemoryAccount> account) {
  return std::make_unique<ZstdSource>(std::move(compressed), std::move(account));
}

}  // namespace stoker
