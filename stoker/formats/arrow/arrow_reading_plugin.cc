#include "stoker/formats/arrow/arrow_reading_plugin.h"

#include <arrow/buffer.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>

namespace stoker {
namespace {

// Bytes of the input, which it keeps alive.
class PresentBytes final : public arrow::Buffer {
 public:
  PresentBytes(std::shared_ptr<const TableInput> input, int64_t position, int64_t bytes)
      : arrow::Buffer(reinterpret_cast<const uint8_t*>(input->present()) + position, bytes),
        input_(std::move(input)) {}

 private:
  const std::shared_ptr<const TableInput> input_;
};

// Large blocks are mapped, so that their memory is the system's again once they are freed: malloc
// keeps what was freed of them for each thread apart, up to tens of megabytes that nobody counts.
constexpr int64_t kMappedBytes = 1 << 20;

bool IsMapped(int64_t size) { return size >= kMappedBytes; }

arrow::Status Mapped(void* block, int64_t size, uint8_t** out) {
  if (block == MAP_FAILED)
    return arrow::Status::OutOfMemory("mapping ", size, " bytes: ", std::strerror(errno));
  *out = static_cast<uint8_t*>(block);
  return arrow::Status::OK();
}

// A mapping begins at a page, which is more than Arrow's alignments ask for.
arrow::Status AllocateFrom(arrow::MemoryPool& system, int64_t size, int64_t alignment,
                           uint8_t** out) {
  if (!IsMapped(size)) return system.Allocate(size, alignment, out);
  return Mapped(::mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                size, out);
}

void FreeTo(arrow::MemoryPool& system, uint8_t* block, int64_t size, int64_t alignment) {
  if (!IsMapped(size)) return system.Free(block, size, alignment);
  ::munmap(block, static_cast<size_t>(size));
}

arrow::Status ReallocateFrom(arrow::MemoryPool& system, int64_t old_size, int64_t new_size,
                             int64_t alignment, uint8_t** block) {
  if (!IsMapped(old_size) && !IsMapped(new_size))
    return system.Reallocate(old_size, new_size, alignment, block);
  if (IsMapped(old_size) && IsMapped(new_size)) {
    return Mapped(::mremap(*block, static_cast<size_t>(old_size), static_cast<size_t>(new_size),
                           MREMAP_MAYMOVE),
                  new_size, block);
  }
  uint8_t* moved = nullptr;
  ARROW_RETURN_NOT_OK(AllocateFrom(system, new_size, alignment, &moved));
  std::memcpy(moved, *block, static_cast<size_t>(std::min(old_size, new_size)));
  FreeTo(system, *block, old_size, alignment);
  *block = moved;
  return arrow::Status::OK();
}

}  // namespace

arrow::Status InputFile::Close() {
  closed_ = true;
  return arrow::Status::OK();
}

arrow::Status InputFile::Seek(int64_t position) {
  if (position < 0) return arrow::Status::Invalid("a place before the start of the file");
  position_ = position;
  return arrow::Status::OK();
}

arrow::Result<int64_t> InputFile::WithinFile(int64_t position, int64_t bytes) const {
  if (position < 0 || bytes < 0)
    return arrow::Status::Invalid("bytes before the start of the file are announced");
  const auto size = static_cast<int64_t>(input_->size());
  return std::min(bytes, std::max<int64_t>(0, size - position));
}

arrow::Result<int64_t> InputFile::ReadAt(int64_t position, int64_t bytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t within, WithinFile(position, bytes));
  const Status read = input_->ReadAt(static_cast<uint64_t>(position),
                                     {static_cast<std::byte*>(out), static_cast<size_t>(within)});
  if (read.ok()) return within;
  const MutexLock lock(mutex_);
  if (failure_.ok()) failure_ = read;
  return ToArrow(read);
}

arrow::Result<std::shared_ptr<arrow::Buffer>> InputFile::ReadAt(int64_t position, int64_t bytes) {
  ARROW_ASSIGN_OR_RAISE(const int64_t within, WithinFile(position, bytes));
  if (input_->present() != nullptr) return std::make_shared<PresentBytes>(input_, position, within);
  // No more than the file has is ever asked for, whatever it announces.
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::ResizableBuffer> buffer,
                        arrow::AllocateResizableBuffer(within, pool_));
  ARROW_RETURN_NOT_OK(ReadAt(position, within, buffer->mutable_data()));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Result<int64_t> InputFile::Read(int64_t bytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position_, bytes, out));
  position_ += read;
  return read;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> InputFile::Read(int64_t bytes) {
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, ReadAt(position_, bytes));
  position_ += buffer->size();
  return buffer;
}

Status InputFile::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

LimitedPool::LimitedPool(const TableReadOptions& options)
    : options_(options), system_(arrow::system_memory_pool()) {}

arrow::Status LimitedPool::Take(int64_t size) {
  if (stopped()) return arrow::Status::Cancelled("asked to stop");
  const int64_t used = used_ += size;
  if (size <= 0 || static_cast<uint64_t>(used) <= options_.most_bytes) return arrow::Status::OK();
  used_ -= size;
  exhausted_ = true;
  return arrow::Status::OutOfMemory("more memory than may be used");
}

arrow::Status LimitedPool::Allocate(int64_t size, int64_t alignment, uint8_t** out) {
  ARROW_RETURN_NOT_OK(Take(size));
  const arrow::Status status = AllocateFrom(*system_, size, alignment, out);
  if (!status.ok()) used_ -= size;
  return status;
}

arrow::Status LimitedPool::Reallocate(int64_t old_size, int64_t new_size, int64_t alignment,
                                      uint8_t** ptr) {
  ARROW_RETURN_NOT_OK(Take(new_size - old_size));
  const arrow::Status status = ReallocateFrom(*system_, old_size, new_size, alignment, ptr);
  if (!status.ok()) used_ -= new_size - old_size;
  return status;
}

void LimitedPool::Free(uint8_t* buffer, int64_t size, int64_t alignment) {
  FreeTo(*system_, buffer, size, alignment);
  used_ -= size;
}

Status Guarded(const std::string& where, const InputFile& file, const LimitedPool& pool,
               const std::function<arrow::Status()>& work) {
  std::string message;
  bool no_memory = false, not_implemented = false;
  try {
    const arrow::Status status = work();
    if (status.ok()) return OkStatus();
    no_memory = status.IsOutOfMemory();
    not_implemented = status.IsNotImplemented();
    message = status.message();
  } catch (const std::bad_alloc&) {
    no_memory = true;
  } catch (const std::exception& error) {
    message = error.what();
  }
  if (Status failure = file.failure(); !failure.ok()) return failure;
  if (pool.stopped()) return Cancelled("{}: asked to stop while it was decoded", where);
  if (pool.exhausted()) {
    return ResourceExhausted(
        "{}: decoding it takes more than the {:.1f} MB that are set aside for it; raise the memory "
        "budget, or write the file with fewer rows in each group",
        where, static_cast<double>(pool.options().most_bytes) * 1e-6);
  }
  if (no_memory) return ResourceExhausted("{}: there is no memory to decode it", where);
  if (not_implemented || message.starts_with("Not yet implemented")) {
    return Unimplemented(
        "{}: {}; Apache Arrow cannot read it; write the column in another encoding", where,
        message);
  }
  return DataLoss("{}: {}; the file is damaged, fetch or write it again", where, message);
}

arrow::Status ToArrow(const Status& status) {
  switch (status.code()) {
    case StatusCode::kCancelled: return arrow::Status::Cancelled(status.message());
    default: return arrow::Status::IOError(status.message());
  }
}

}  // namespace stoker
