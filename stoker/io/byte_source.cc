#include "stoker/io/byte_source.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "stoker/base/remote_path.h"
#include "stoker/base/stop_scope.h"
#include "stoker/io/decompression.h"
#include "stoker/io/remote/caching_source.h"
#include "stoker/io/standard_input.h"

namespace stoker {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(File file, uint64_t offset)
      : ByteSource(file.path(), offset), file_(std::move(file)) {}
  SizeBound size_bound() const override { return {file_.size(), true}; }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override {
    return file_.ReadUpTo(position(), out);
  }

  const File file_;
};

class BorrowedSource final : public ByteSource {
 public:
  explicit BorrowedSource(const File& file) : ByteSource(file.path()), file_(file) {}
  SizeBound size_bound() const override { return {file_.size(), true}; }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override {
    return file_.ReadUpTo(position(), out);
  }

  const File& file_;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::span<const std::byte> bytes, std::string name)
      : ByteSource(std::move(name)), bytes_(bytes) {}
  SizeBound size_bound() const override { return {bytes_.size(), true}; }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override {
    const auto rest = bytes_.subspan(position());
    const size_t count = std::min(rest.size(), out.size());
    if (count > 0) std::memcpy(out.data(), rest.data(), count);
    return count;
  }

  const std::span<const std::byte> bytes_;
};

constexpr size_t kSkipBytes = 64 << 10;

Status BeyondTheEnd(const std::string& name, uint64_t offset, uint64_t end) {
  return OutOfRange(
      "{}: byte {} is to be read from, but the content ends at byte {}; has the file changed?",
      name, offset, end);
}

}  // namespace

Result<size_t> ByteSource::Read(std::span<std::byte> out) {
  STOKER_RETURN_IF_ERROR(error_);
  Result<size_t> got = StopScope::Asked()
                           ? Cancelled("{}: byte {}: the pass was asked to stop", name_, position_)
                           : DoRead(out);
  if (got.ok()) {
    position_ += *got;
  } else {
    error_ = got.status();
  }
  return got;
}

Result<size_t> ByteSource::ReadFully(std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size()) {
    STOKER_ASSIGN_OR_RETURN(const size_t got, Read(out.subspan(done)));
    if (got == 0) break;
    done += got;
  }
  return done;
}

std::unique_ptr<ByteSource> MakeFileSource(File file, uint64_t offset,
                                           std::shared_ptr<MemoryAccount> account) {
  if (file.remote()) return MakeKeptSource(file.remote(), offset, std::move(account));
  return std::make_unique<FileSource>(std::move(file), offset);
}

std::unique_ptr<ByteSource> MakeBorrowedSource(const File& file) {
  return std::make_unique<BorrowedSource>(file);
}

std::unique_ptr<ByteSource> MakeMemorySource(std::span<const std::byte> bytes, std::string name) {
  return std::make_unique<MemorySource>(bytes, std::move(name));
}

Status SkipTo(ByteSource& source, uint64_t offset, const std::shared_ptr<MemoryAccount>& account) {
  const Buffer part = Buffer::Allocate(kSkipBytes, account);
  while (source.position() < offset) {
    const auto bytes = std::min<uint64_t>(offset - source.position(), part.size());
    STOKER_ASSIGN_OR_RETURN(const size_t got,
                            source.Read({part.data(), static_cast<size_t>(bytes)}));
    if (got == 0) return BeyondTheEnd(source.name(), offset, source.position());
  }
  return OkStatus();
}

Result<std::string> ReadStart(const std::string& path, size_t bytes) {
  std::string start(bytes, '\0');
  const std::span<std::byte> out = std::as_writable_bytes(std::span(start));
  size_t got = 0;
  if (IsPipedIn(path)) {
    STOKER_ASSIGN_OR_RETURN(const auto source, OpenStandardInput());
    STOKER_ASSIGN_OR_RETURN(got, source->ReadFully(out));
  } else {
    STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
    STOKER_ASSIGN_OR_RETURN(got, file.ReadUpTo(0, out));
  }
  start.resize(got);
  return start;
}

Result<std::unique_ptr<ByteSource>> OpenStoredBytes(const std::string& path, uint64_t offset,
                                                    std::shared_ptr<MemoryAccount> account) {
  if (IsPipedIn(path)) {
    STOKER_ASSIGN_OR_RETURN(auto source, OpenStandardInput());
    STOKER_RETURN_IF_ERROR(SkipTo(*source, offset, account));
    return source;
  }
  STOKER_ASSIGN_OR_RETURN(File file, File::Open(path));
  if (offset > file.size()) return BeyondTheEnd(file.path(), offset, file.size());
  return MakeFileSource(std::move(file), offset, std::move(account));
}

Result<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path,
                                                   std::shared_ptr<MemoryAccount> account) {
  return OpenByteSourceAt(path, 0, std::move(account));
}

Result<std::unique_ptr<ByteSource>> OpenByteSourceAt(const std::string& path, uint64_t offset,
                                                     std::shared_ptr<MemoryAccount> account) {
  STOKER_ASSIGN_OR_RETURN(const std::string start, ReadStart(path, kCompressionStart));
  const Decompression* const compression = DecompressionOfStart(start);
  // Compressed nothing has some bytes too: without any, the file was cut or never written.
  if (start.empty() && WithoutCompressedEnding(path) != path)
    return DataLoss(
        "{}: the file is empty, which compressed files never are; copy or make it again", path);
  if (const std::string_view unread = UnreadCompression(path, start); !unread.empty()) {
    return Unimplemented("{}: the compression {} is not read; make it gzip, zstd, xz or bzip2",
                         path, unread);
  }
  if (compression == nullptr) return OpenStoredBytes(path, offset, std::move(account));
  STOKER_ASSIGN_OR_RETURN(auto stored, OpenStoredBytes(path, 0, account));
  std::unique_ptr<ByteSource> source = compression->make(std::move(stored), account);
  STOKER_RETURN_IF_ERROR(SkipTo(*source, offset, account));
  return source;
}

}  // namespace stoker
