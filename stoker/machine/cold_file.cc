#include "stoker/machine/cold_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace stoker {

void AlignedBlock::Free::operator()(std::byte* block) const { std::free(block); }

Result<AlignedBlock> AlignedBlock::Allocate(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  void* const block = std::aligned_alloc(kDirectAlignment, size);
  if (block == nullptr) return ResourceExhausted("memory: {} bytes cannot be allocated", bytes);
  return AlignedBlock(static_cast<std::byte*>(block), size);
}

bool HasDirectReads(const std::string& path) {
  const Result<AlignedBlock> block = AlignedBlock::Allocate(kDirectAlignment);
  const Descriptor file = OpenUninterrupted(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  return block.ok() && file.valid() &&
         ::pread(file.get(), block->bytes().data(), block->bytes().size(), 0) >= 0;
}

Result<ColdFile> ColdFile::Open(const std::string& path, bool direct, bool in_sequence) {
  Descriptor descriptor =
      OpenUninterrupted(path.c_str(), O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
  struct stat status = {};
  if (!descriptor.valid() || ::fstat(descriptor.get(), &status) != 0)
    return ErrnoStatus(errno, path);
  ColdFile file(path, std::move(descriptor), status.st_size, direct);
  if (!direct && !in_sequence) ::posix_fadvise(file.descriptor_.get(), 0, 0, POSIX_FADV_RANDOM);
  file.Forget();
  return file;
}

Result<int64_t> ColdFile::Read(int64_t offset, const AlignedBlock& block) const {
  ssize_t got = 0;
  do {
    got = ::pread(descriptor_.get(), block.bytes().data(), block.bytes().size(), offset);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return ErrnoStatus(errno, fmt::format("{}: byte {}", path_, offset));
  return static_cast<int64_t>(got);
}

void ColdFile::Forget() const {
  if (!direct_) ::posix_fadvise(descriptor_.get(), 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace stoker
