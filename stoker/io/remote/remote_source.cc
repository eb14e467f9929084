#include "stoker/io/remote/remote_source.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/io/remote/request_pool.h"

namespace stoker {
namespace {

constexpr size_t kFirstPart = 256 << 10, kLargestPart = 4 << 20;
constexpr int64_t kPartsAhead = 8;
constexpr std::chrono::milliseconds kAskStopEvery{100};

// A part of the file: asked for by a thread of the pool, read by the source's.
class Part {
 public:
  Part(uint64_t offset, size_t size, Buffer buffer)
      : offset_(offset), size_(size), buffer_(std::move(buffer)) {}

  uint64_t end() const { return offset_ + size_; }

  // On a thread of the pool.
  void Fetch(const RemoteFile& file) {
    {
      const std::lock_guard lock(mutex_);
      if (cancel_.cancelled()) return;
      running_ = true;
    }
    const Result<size_t> got =
        file.ReadUpTo(offset_, {buffer_.data(), size_}, &cancel_, [this](size_t there) {
          const std::lock_guard lock(mutex_);
          there_ = there;
          changed_.notify_all();
        });
    const std::lock_guard lock(mutex_);
    if (!got.ok()) error_ = got.status();
    running_ = false;
    changed_.notify_all();
  }

  // Fills `out` from byte `at` of the file on, once something is there.
  Result<size_t> Read(uint64_t at, std::span<std::byte> out, const std::function<bool()>& stop,
                      const std::string& name) {
    const auto begin = static_cast<size_t>(at - offset_);
    std::unique_lock lock(mutex_);
    while (there_ <= begin && error_.ok()) {
      changed_.wait_for(lock, kAskStopEvery);
      if (there_ > begin || !stop) continue;
      lock.unlock();
      const bool stopped = stop();
      lock.lock();
      if (stopped) return Cancelled("{}: byte {}: the pass was asked to stop", name, at);
    }
    if (there_ <= begin) return error_;
    const size_t count = std::min(there_ - begin, out.size());
    lock.unlock();
    std::memcpy(out.data(), buffer_.data() + begin, count);
    return count;
  }

  // Nobody writes into the buffer afterwards.
  void End() {
    cancel_.Cancel();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !running_; });
  }
  Buffer TakeBuffer() { return std::move(buffer_); }

 private:
  const uint64_t offset_;
  const size_t size_;
  Buffer buffer_;
  Cancellation cancel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t there_ = 0;  // of the first bytes
  bool running_ = false;
  Status error_;
};

class RemoteSource final : public ByteSource {
 public:
  RemoteSource(std::shared_ptr<const RemoteFile> file, uint64_t offset,
               std::shared_ptr<MemoryAccount> account, std::function<bool()> stop)
      : ByteSource(file->name(), offset),
        file_(std::move(file)),
        account_(std::move(account)),
        stop_(std::move(stop)),
        largest_part_(static_cast<size_t>(std::clamp<int64_t>(
            file_->options().read_ahead / kPartsAhead, 64 << 10, kLargestPart))),
        most_ahead_(std::max<int64_t>(
            2, file_->options().read_ahead / static_cast<int64_t>(largest_part_))),
        next_(offset) {}

  ~RemoteSource() override {
    for (const auto& part : ahead_) {
      part->End();
      part->TakeBuffer();  // one that still waits for a thread lives until it gets there
    }
  }
  SizeBound size_bound() const override { return {file_->size(), true}; }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override {
    if (position() >= file_->size()) return 0;
    if (const auto here = file_->head(); position() < here.size()) {
      AskAhead(here.size());
      const size_t count = std::min<size_t>(here.size() - position(), out.size());
      std::memcpy(out.data(), here.data() + position(), count);
      return count;
    }
    AskAhead(position());
    STOKER_ASSIGN_OR_RETURN(const size_t got, ahead_.front()->Read(position(), out, stop_, name()));
    if (position() + got == ahead_.front()->end()) {
      ahead_.front()->End();
      spare_ = ahead_.front()->TakeBuffer();
      ahead_.pop_front();
      // Who reads on behind the first parts reads to the end: each step of a slower growth would
      // cost the way there and back once more.
      allowed_ = most_ahead_;
      part_bytes_ = largest_part_;
      AskAhead(position() + got);
    }
    return got;
  }

  // Asks for parts behind those that are under way, the first of which is to hold byte `from`.
  void AskAhead(uint64_t from) {
    if (ahead_.empty()) next_ = std::max(next_, from);
    while (std::ssize(ahead_) < allowed_ && next_ < file_->size()) {
      const auto size = static_cast<size_t>(std::min<uint64_t>(part_bytes_, file_->size() - next_));
      Buffer buffer = spare_.size() == size ? std::move(spare_) : Buffer::Allocate(size, account_);
      spare_ = Buffer();
      auto part = std::make_shared<Part>(next_, size, std::move(buffer));
      RequestPool::Shared().Run([part, file = file_] { part->Fetch(*file); },
                                file_->options().connections);
      ahead_.push_back(std::move(part));
      next_ += size;
      part_bytes_ = std::min(2 * part_bytes_, largest_part_);
    }
  }

  const std::shared_ptr<const RemoteFile> file_;
  const std::shared_ptr<MemoryAccount> account_;
  const std::function<bool()> stop_;
  const size_t largest_part_;
  const int64_t most_ahead_;
  std::deque<std::shared_ptr<Part>> ahead_;                  // from the one that is read on
  uint64_t next_;                                            // where the part behind them begins
  size_t part_bytes_ = std::min(kFirstPart, largest_part_);  // of the next part
  int64_t allowed_ = 2;  // parts at a time, until the first has been read
  Buffer spare_;         // of the part that was read last
};

}  // namespace

std::unique_ptr<ByteSource> MakeRemoteSource(std::shared_ptr<const RemoteFile> file,
                                             uint64_t offset,
                                             std::shared_ptr<MemoryAccount> account,
                                             std::function<bool()> stop) {
  return std::make_unique<RemoteSource>(std::move(file), offset, std::move(account),
                                        std::move(stop));
}

}  // namespace stoker
