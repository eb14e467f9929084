#include "stoker/io/read_window.h"

#include <cstring>
#include <utility>

namespace stoker {

ReadWindow::ReadWindow(std::unique_ptr<ByteSource> source, size_t bytes,
                       std::shared_ptr<MemoryAccount> account)
    : source_(std::move(source)),
      account_(std::move(account)),
      first_bytes_(bytes),
      window_(Buffer::Allocate(bytes, account_)),
      offset_(source_->position()) {}

Result<bool> ReadWindow::Refill(size_t most) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == window_.size()) MakeRoom(most);
  STOKER_ASSIGN_OR_RETURN(const size_t got,
                          source_->Read({window_.data() + end_, window_.size() - end_}));
  end_ += got;
  return got > 0;
}

Result<bool> ReadWindow::Hold(uint64_t bytes) {
  while (end_ - begin_ < bytes) {
    STOKER_ASSIGN_OR_RETURN(const bool more, Refill(static_cast<size_t>(bytes) + first_bytes_));
    if (!more) return false;
  }
  return true;
}

// What is held moves to the front; only a window that is full of it grows.
void ReadWindow::MakeRoom(size_t most) {
  const size_t held = end_ - begin_;
  if (begin_ > 0) {
    std::memmove(window_.data(), window_.data() + begin_, held);
  } else {
    Buffer larger =
        Buffer::Allocate(std::max(held + 1, std::min(2 * window_.size(), most)), account_);
    std::memcpy(larger.data(), window_.data(), held);
    window_ = std::move(larger);
  }
  begin_ = 0;
  end_ = held;
}

}  // namespace stoker
