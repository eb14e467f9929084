#include "stoker/io/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/base/path_check.h"
#include "stoker/base/remote_path.h"
#include "stoker/base/stop_scope.h"
#include "stoker/io/descriptor.h"

namespace stoker {
namespace {

constexpr uint64_t kPieceBytes = 16 << 10;

std::atomic<FileAccess> access_of_all = FileAccess::kByPosition;

// Memory that takes room only where it is written to.
Result<Buffer> Reserve(const std::string& path, uint64_t size) {
  if (size == 0) return Buffer();
  void* const start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) {
    return ResourceExhausted(
        "{}: there are no {} bytes of addresses for it: raise `ulimit -v`, or, where "
        "vm.overcommit_memory is 2, vm.overcommit_ratio",
        path, size);
  }
  return Buffer::Wrap(static_cast<std::byte*>(start), size,
                      [start, size] { ::munmap(start, size); });
}

// Opens what this path names if it can never be truncated any more: a file in memory whose size is
// sealed (memfd_create(2), F_SEAL_SHRINK). Null for every other file.
Descriptor OpenSealed(const std::string& path) {
  const bool here = !IsRemotePath(path) && path != "-" && CheckNoZeroByte(path).ok();
  Descriptor file(!here ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return file;
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 ? std::move(file) : Descriptor();
}

}  // namespace

void SetFileAccess(FileAccess access) { access_of_all = access; }

struct FileBytes::State {
  std::string name;
  Buffer buffer;
  std::optional<File> file = std::nullopt;  // where bytes are loaded from; nothing: all are present

  mutable Mutex loading = {};  // held by the thread that loads pieces
  // One for each piece; once true they do not change.
  std::unique_ptr<std::atomic<bool>[]> loaded = nullptr;
};

Result<FileBytes> FileBytes::Open(const std::string& path, MapAdvice advice) {
  if (access_of_all == FileAccess::kMapped) {
    STOKER_ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Open(path, advice));
    return Of(mapped.buffer(), path);
  }
  if (const Descriptor sealed = OpenSealed(path); sealed.valid()) {
    // By its descriptor, so that it is this file whatever the path names by now.
    STOKER_ASSIGN_OR_RETURN(
        const MappedFile mapped,
        MappedFile::Open(fmt::format("/proc/self/fd/{}", sealed.get()), advice));
    return Of(mapped.buffer(), path);
  }
  STOKER_ASSIGN_OR_RETURN(File file, File::OpenLocally(path));
  const uint64_t size = file.size();
  auto state = std::make_shared<State>();
  state->name = path;
  STOKER_ASSIGN_OR_RETURN(state->buffer, Reserve(path, size));
  state->loaded = std::make_unique<std::atomic<bool>[]>(size / kPieceBytes + 1);
  state->file = std::move(file);
  return FileBytes(std::move(state));
}

FileBytes FileBytes::Of(Buffer bytes, std::string name) {
  auto state = std::make_shared<State>();
  state->name = std::move(name);
  state->buffer = std::move(bytes);
  return FileBytes(std::move(state));
}

const std::string& FileBytes::name() const { return state_->name; }
const Buffer& FileBytes::buffer() const { return state_->buffer; }
bool FileBytes::present() const { return !state_->file.has_value(); }

std::span<const std::byte> FileBytes::bytes() const {
  return {state_->buffer.data(), state_->buffer.size()};
}

Status FileBytes::Load(uint64_t offset, uint64_t bytes) const {
  if (present() || bytes == 0) return OkStatus();
  const uint64_t last = (offset + bytes - 1) / kPieceBytes;
  const auto is_there = [&](uint64_t piece) {
    return state_->loaded[piece].load(std::memory_order_acquire);
  };
  for (uint64_t piece = offset / kPieceBytes; piece <= last;) {
    if (is_there(piece)) {
      ++piece;
      continue;
    }
    if (!LockUnlessStopped(state_->loading))
      return Cancelled("{}: asked to stop while another thread read it", name());
    const MutexLock lock(state_->loading, std::adopt_lock);
    uint64_t end = piece;  // of the pieces that are missing from here on
    while (end <= last && !is_there(end)) ++end;
    const uint64_t from = piece * kPieceBytes, to = std::min(end * kPieceBytes, size());
    // Pieces that another thread has loaded meanwhile end where they began.
    if (from < to && end > piece) {
      STOKER_RETURN_IF_ERROR(state_->file->ReadAt(from, {state_->buffer.data() + from, to - from}));
    }
    for (; piece < end; ++piece) state_->loaded[piece].store(true, std::memory_order_release);
  }
  return OkStatus();
}

Status FileBytes::ReadAt(uint64_t offset, std::span<std::byte> out) const {
  if (out.empty()) return OkStatus();
  if (!present()) return state_->file->ReadAt(offset, out);
  std::memcpy(out.data(), state_->buffer.data() + offset, out.size());
  return OkStatus();
}

Result<std::span<const std::byte>> FileBytes::View(
    uint64_t offset, uint64_t bytes, Buffer& room,
    const std::shared_ptr<MemoryAccount>& account) const {
  if (present() || bytes == 0) return this->bytes().subspan(offset, bytes);
  if (room.size() < bytes) room = Buffer::Allocate(bytes, account);
  const std::span<std::byte> copy(room.data(), bytes);
  STOKER_RETURN_IF_ERROR(ReadAt(offset, copy));
  return copy;
}

}  // namespace stoker
