#include "stoker/io/remote/remote_source.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/base/buffer.h"
#include "stoker/base/mutex.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/thrown_error.h"
#include "stoker/io/remote/request_pool.h"

namespace stoker {
namespace {

constexpr size_t kFirstPart = 256 << 10, kLargestPart = 4 << 20;
constexpr int64_t kPartsAhead = 8;
// For a file whose server does not mark its versions: bytes that two consecutive parts have in
// common, so that a file which has changed between them is likely to be seen.
constexpr size_t kMostRepeated = 256;

// A part of the file: asked for by a thread of the pool, read by the source's.
class Part {
 public:
  // `repeated`: how many bytes of it, its first ones, the part before it has too.
  Part(uint64_t offset, size_t size, Buffer buffer, size_t repeated)
      : offset_(offset), size_(size), buffer_(std::move(buffer)), repeated_(repeated) {}

  uint64_t begin() const { return offset_ + repeated_; }  // of what it alone has
  uint64_t end() const { return offset_ + size_; }

  // On a thread of the pool.
  void Fetch(const RemoteFile& file) {
    {
      const MutexLock lock(mutex_);
      if (cancel_.cancelled()) return;
      running_ = true;
    }
    const auto note = [this](size_t there) {
      const MutexLock lock(mutex_);
      there_ = there;
      changed_.NotifyAll();
    };
    const Result<size_t> got = CatchExceptions(
        [&] {
          return file.ReadUpTo(offset_, {buffer_.data(), size_}, &cancel_, note);
        },
        "{}: byte {}", file.name(), offset_);
    const MutexLock lock(mutex_);
    if (!got.ok()) error_ = got.status();
    running_ = false;
    changed_.NotifyAll();
  }

  // Fills `out` from byte `at` of the file on, once something is there.
  Result<size_t> Read(uint64_t at, std::span<std::byte> out, const std::string& name) {
    const auto begin = static_cast<size_t>(at - offset_);
    size_t count = 0;
    {
      const MutexLock lock(mutex_);
      const auto comes = [&]() STOKER_REQUIRES(mutex_) { return there_ > begin || !error_.ok(); };
      if (!WaitUnlessStopped(changed_, mutex_, comes))
        return Cancelled("{}: byte {}: the pass was asked to stop", name, at);
      if (there_ <= begin) return error_;
      count = std::min(there_ - begin, out.size());
    }
    std::memcpy(out.data(), buffer_.data() + begin, count);
    return count;
  }

  // Whether those that it repeats are the last of `before`; waits for them. True if it does not
  // repeat so many.
  Result<bool> Repeats(std::span<const std::byte> before, const std::string& name) {
    std::array<std::byte, kMostRepeated> again;
    const size_t count = std::min(before.size(), repeated_);
    for (size_t done = 0; done < count;) {
      STOKER_ASSIGN_OR_RETURN(
          const size_t got,
          Read(begin() - count + done, std::span(again).subspan(done, count - done), name));
      done += got;
    }
    return std::ranges::equal(before.last(count), std::span(again).first(count));
  }

  // The buffer is not written to afterwards.
  void End() {
    cancel_.Cancel();
    const MutexLock lock(mutex_);
    while (running_) changed_.Wait(mutex_);
  }
  Buffer TakeBuffer() { return std::move(buffer_); }

 private:
  const uint64_t offset_;
  const size_t size_;
  Buffer buffer_;
  const size_t repeated_;
  Cancellation cancel_;
  Mutex mutex_;
  CondVar changed_;
  size_t there_ STOKER_GUARDED_BY(mutex_) = 0;  // of the first bytes
  bool running_ STOKER_GUARDED_BY(mutex_) = false;
  Status error_ STOKER_GUARDED_BY(mutex_);
};

class RemoteSource final : public ByteSource {
 public:
  RemoteSource(std::shared_ptr<const RemoteFile> file, uint64_t offset,
               std::shared_ptr<MemoryAccount> account)
      : ByteSource(file->name(), offset),
        file_(std::move(file)),
        account_(std::move(account)),
        repeated_(file_->version().has_mark() ? 0 : kMostRepeated),
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
      STOKER_RETURN_IF_ERROR(AskAhead(here.size()));
      const size_t count = std::min<size_t>(here.size() - position(), out.size());
      std::memcpy(out.data(), here.data() + position(), count);
      NoteLast(out.first(count));
      return count;
    }
    // The first bytes of the file may have come while parts of them were under way.
    while (!ahead_.empty() && ahead_.front()->end() <= position()) DropFirstPart();
    STOKER_RETURN_IF_ERROR(AskAhead(position()));
    if (position() == ahead_.front()->begin()) STOKER_RETURN_IF_ERROR(CheckThatItFits());
    STOKER_ASSIGN_OR_RETURN(const size_t got, ahead_.front()->Read(position(), out, name()));
    NoteLast(out.first(got));
    if (position() + got == ahead_.front()->end()) {
      DropFirstPart();
      // A reader that goes on after the first parts reads to the end: each step of a slower growth
      // would cost another round trip.
      allowed_ = most_ahead_;
      part_bytes_ = largest_part_;
      STOKER_RETURN_IF_ERROR(AskAhead(position() + got));
    }
    return got;
  }

  // Where a part begins: that it is of the same version as what precedes it.
  Status CheckThatItFits() {
    if (repeated_ == 0) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(const bool fits, ahead_.front()->Repeats(last_, name()));
    if (fits) return OkStatus();
    return FailedPrecondition(
        "{}: byte {}: the file changed while it was read: the bytes before this one are others "
        "than they were; run again, and read files that stay as they are",
        name(), position());
  }
  void NoteLast(std::span<const std::byte> bytes) {
    if (repeated_ == 0) return;
    bytes = bytes.last(std::min(bytes.size(), repeated_));
    last_.insert(last_.end(), bytes.begin(), bytes.end());
    if (last_.size() > repeated_)
      last_.erase(last_.begin(), last_.end() - static_cast<std::ptrdiff_t>(repeated_));
  }

  void DropFirstPart() {
    ahead_.front()->End();
    spare_ = ahead_.front()->TakeBuffer();
    ahead_.pop_front();
  }

  // Asks for parts after those that are under way, the first of which is to hold byte `from`.
  Status AskAhead(uint64_t from) {
    if (ahead_.empty()) next_ = std::max(next_, from);
    while (std::ssize(ahead_) < allowed_ && next_ < file_->size()) {
      const auto repeated = static_cast<size_t>(std::min<uint64_t>(repeated_, next_));
      const uint64_t begin = next_ - repeated;
      const auto size = static_cast<size_t>(std::min<uint64_t>(part_bytes_, file_->size() - begin));
      // The part that is read next has to come; those after it only where there is room for them.
      const bool has_spare = spare_.size() == size;
      const bool fits =
          has_spare || account_ == nullptr || account_->HasRoomFor(static_cast<int64_t>(size));
      if (!ahead_.empty() && !fits) break;
      Buffer buffer = has_spare ? std::move(spare_) : Buffer::Allocate(size, account_);
      spare_ = Buffer();
      auto part = std::make_shared<Part>(begin, size, std::move(buffer), repeated);
      const Status asked = RequestPool::Shared().Run([part, file = file_] { part->Fetch(*file); },
                                                     file_->options().connections);
      if (!asked.ok()) {
        return Status(asked.code(), fmt::format("{}: byte {}: {}", name(), begin, asked.message()));
      }
      ahead_.push_back(std::move(part));
      next_ = begin + size;
      part_bytes_ = std::min(2 * part_bytes_, largest_part_);
    }
    return OkStatus();
  }

  const std::shared_ptr<const RemoteFile> file_;
  const std::shared_ptr<MemoryAccount> account_;
  const size_t repeated_;        // bytes, see kMostRepeated
  std::vector<std::byte> last_;  // of those handed out, at most as many
  const size_t largest_part_;
  const int64_t most_ahead_;
  std::deque<std::shared_ptr<Part>> ahead_;                  // from the one that is read on
  uint64_t next_;                                            // where the part after them begins
  size_t part_bytes_ = std::min(kFirstPart, largest_part_);  // of the next part
  int64_t allowed_ = 2;  // parts at a time, until the first has been read
  Buffer spare_;         // of the part that was read last
};

}  // namespace

std::unique_ptr<ByteSource> MakeRemoteSource(std::shared_ptr<const RemoteFile> file,
                                             uint64_t offset,
                                             std::shared_ptr<MemoryAccount> account) {
  return std::make_unique<RemoteSource>(std::move(file), offset, std::move(account));
}

}  // namespace stoker
