#include "stoker/io/zstd.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "stoker/base/buffer.h"

namespace stoker {
namespace {

constexpr size_t kInputBytes = 128 << 10;
constexpr int kMaxWindowLog = 27;  // 128 MiB, as zstd(1) takes without --memory
// A block of 128 KiB from a header of 3 bytes and the byte that it repeats.
constexpr uint64_t kMaxExpansion = (128 << 10) / 4;

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdSource final : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> compressed, std::shared_ptr<MemoryAccount> account)
      : ByteSource(compressed->name() + " (decompressed)"),
        compressed_(std::move(compressed)),
        account_(std::move(account)),
        // No more than a small file has: there may be very many of them.
        input_(Buffer::Allocate(
            std::clamp<uint64_t>(compressed_->size_bound().bytes, 1, kInputBytes), account_)),
        context_(ZSTD_createDCtx()) {
    if (context_) ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }
  ~ZstdSource() override { ChargeContext(0); }

  SizeBound size_bound() const override {
    const uint64_t in = compressed_->size_bound().bytes;
    constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
    return {in > kMax / kMaxExpansion ? kMax : in * kMaxExpansion, false};
  }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override;
  Status Refill();
  Status Problem(size_t code) const;
  // The decoder allocates by itself; what it holds is counted after each step.
  void ChargeContext(size_t bytes);

  uint64_t CompressedPosition() const { return compressed_->position() - (in_.size - in_.pos); }

  const std::unique_ptr<ByteSource> compressed_;
  const std::shared_ptr<MemoryAccount> account_;
  const Buffer input_;
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  size_t charged_ = 0;
  bool input_ended_ = false;
  bool in_frame_ = true;  // an empty file is no zstd
};

void ZstdSource::ChargeContext(size_t bytes) {
  if (!account_ || bytes == charged_) return;
  account_->Charge(static_cast<int64_t>(bytes));
  account_->Release(static_cast<int64_t>(charged_));
  charged_ = bytes;
}

Status ZstdSource::Refill() {
  STOKER_ASSIGN_OR_RETURN(const size_t got, compressed_->Read({input_.data(), input_.size()}));
  input_ended_ = got == 0;
  in_ = {input_.data(), got, 0};
  return OkStatus();
}

Status ZstdSource::Problem(size_t code) const {
  const auto at = [&](std::string_view what) {
    return fmt::format("{}: byte {} (compressed): {}", compressed_->name(), CompressedPosition(),
                       what);
  };
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_frameParameter_windowTooLarge:
      return Unimplemented("{}", at("the data needs a window of more than 128 MiB; compress it "
                                    "again without --long, or with --long=27 at most"));
    case ZSTD_error_dictionary_wrong:
      return Unimplemented("{}", at("the data was compressed with a dictionary; compress it again "
                                    "without one"));
    case ZSTD_error_memory_allocation:
      return ResourceExhausted("{}", at("no memory for the decoder's window; free some"));
    case ZSTD_error_prefix_unknown:
      return DataLoss("{}", at("a zstd frame should begin here, with 28 b5 2f fd, but does not; "
                               "copy or download the file again"));
    default:
      return DataLoss("{}", at(fmt::format("{}; the zstd data is damaged: copy or download the "
                                           "file again",
                                           ZSTD_getErrorName(code))));
  }
}

Result<size_t> ZstdSource::DoRead(std::span<std::byte> out) {
  if (!context_)
    return ResourceExhausted("{}: no memory for a zstd decoder; free some", compressed_->name());
  while (true) {
    if (in_.pos == in_.size && !input_ended_) STOKER_RETURN_IF_ERROR(Refill());
    if (in_.pos == in_.size && input_ended_ && !in_frame_) return size_t{0};
    const size_t input_before = in_.pos;
    ZSTD_outBuffer buffer{out.data(), out.size(), 0};
    const size_t left = ZSTD_decompressStream(context_.get(), &buffer, &in_);
    if (ZSTD_isError(left)) return Problem(left);
    ChargeContext(ZSTD_sizeof_DCtx(context_.get()));
    in_frame_ = left != 0;
    if (buffer.pos > 0) return buffer.pos;
    if (in_frame_ && input_ended_ && in_.pos == input_before) {
      return DataLoss(
          "{}: byte {} (compressed): the file ends in the middle of its zstd data; it was cut "
          "short: copy or download it again",
          compressed_->name(), CompressedPosition());
    }
  }
}

}  // namespace

std::unique_ptr<ByteSource> MakeZstdSource(std::unique_ptr<ByteSource> compressed,
                                           std::shared_ptr<MemoryAccount> account) {
  return std::make_unique<ZstdSource>(std::move(compressed), std::move(account));
}

}  // namespace stoker
