#include "stoker/io/remote/caching_source.h"

#include <utility>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/stop_scope.h"
#include "stoker/io/remote/remote_source.h"
#include "stoker/io/remote/shard_cache.h"

namespace stoker {
namespace {

// Formats whose end is marked in them, such as tar, may leave what fills the last block unread.
constexpr uint64_t kMostLeft = 64 << 10;
constexpr double kLongestFinish = 0.2;  // seconds

class KeptSource final : public ByteSource {
 public:
  KeptSource(std::unique_ptr<ByteSource> inner, std::unique_ptr<ShardCache::Writer> writer)
      : ByteSource(inner->name()), inner_(std::move(inner)), writer_(std::move(writer)) {}
  ~KeptSource() override {
    if (!writer_ || position() == 0 || size_bound().bytes - position() > kMostLeft) return;
    // A copy is worth a moment, and no wait for a server that has stopped answering.
    const StopScope scope(
        [watch = Stopwatch()] { return watch.ElapsedSeconds() > kLongestFinish; });
    std::vector<std::byte> rest(kMostLeft);
    while (writer_) {
      const Result<size_t> got = Read(rest);
      if (!got.ok() || *got == 0) return;
    }
  }
  SizeBound size_bound() const override { return inner_->size_bound(); }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override {
    STOKER_ASSIGN_OR_RETURN(const size_t got, inner_->Read(out));
    if (writer_ && !writer_->Append(out.first(got)).ok()) writer_.reset();
    if (writer_ && position() + got == inner_->size_bound().bytes) {
      (void)writer_->Commit();  // only for speed: without a copy the next pass fetches it again
      writer_.reset();
    }
    return got;
  }

  const std::unique_ptr<ByteSource> inner_;
  std::unique_ptr<ShardCache::Writer> writer_;  // null: nothing is kept, or all is
};

}  // namespace

std::unique_ptr<ByteSource> MakeKeptSource(std::shared_ptr<const RemoteFile> file, uint64_t offset,
                                           std::shared_ptr<MemoryAccount> account) {
  std::unique_ptr<ShardCache::Writer> writer;
  if (offset == 0 && ShardCache::KeepsEverything(file->options())) {
    const Result<std::shared_ptr<ShardCache>> cache = ShardCache::Of(file->options());
    if (cache.ok()) writer = (*cache)->TryWrite(*file);
  }
  auto source = MakeRemoteSource(std::move(file), offset, std::move(account));
  if (!writer) return source;
  return std::make_unique<KeptSource>(std::move(source), std::move(writer));
}

}  // namespace stoker
