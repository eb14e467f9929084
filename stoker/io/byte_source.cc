#include "stoker/io/byte_source.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "stoker/base/remote_path.h"
#include "stoker/base/stop_scope.h"
#include "stoker/io/bzip2.h"
#include "stoker/io/gzip.h"
#include "stoker/io/remote/caching_source.h"
#include "stoker/io/standard_input.h"
#include "stoker/io/xz.h"
#include "stoker/io/zstd.h"

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

// The compressions that are recognised, by what every such file begins with.
struct Decoder {
  bool (*begins)(std::string_view start);
  std::unique_ptr<ByteSource> (*make)(std::unique_ptr<ByteSource> compressed,
                                      std::shared_ptr<MemoryAccount> account);
};

template <char... kMagic>
bool BeginsWith(std::string_view start) {
  constexpr char kBytes[] = {kMagic...};
  return start.starts_with(std::string_view(kBytes, sizeof(kBytes)));
}

constexpr Decoder kDecoders[] = {
    {BeginsWith<'\x1f', '\x8b'>, MakeGzipSource},
    {BeginsWith<'\x28', '\xb5', '\x2f', '\xfd'>, MakeZstdSource},
    {BeginsWith<'\xfd', '7', 'z', 'X', 'Z', '\0'>, MakeXzSource},
    {BeginsBzip2, MakeBzip2Source},
};
constexpr std::string_view kCompressedEndings[] = {".gz", ".zst", ".xz", ".bz2"};
constexpr size_t kLongestMagic = 8;
constexpr size_t kSkipBytes = 64 << 10;

// Null if the file is plain.
const Decoder* DecoderOf(std::string_view start) {
  for (const Decoder& decoder : kDecoders) {
    if (decoder.begins(start)) return &decoder;
  }
  return nullptr;
}

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

std::string_view WithoutCompressedEnding(std::string_view path) {
  for (const std::string_view ending : kCompressedEndings) {
    if (path.ends_with(ending)) return path.substr(0, path.size() - ending.size());
  }
  return path;
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
  STOKER_ASSIGN_OR_RETURN(const std::string start, ReadStart(path, kLongestMagic));
  const Decoder* const decoder = DecoderOf(start);
  // Compressed nothing has some bytes too: without any, the file was cut or never written.
  if (start.empty() && WithoutCompressedEnding(path) != path)
    return DataLoss(
        "{}: the file is empty, which compressed files never are; copy or make it again", path);
  if (decoder == nullptr) return OpenStoredBytes(path, offset, std::move(account));
  STOKER_ASSIGN_OR_RETURN(auto stored, OpenStoredBytes(path, 0, account));
  std::unique_ptr<ByteSource> source = decoder->make(std::move(stored), account);
  STOKER_RETURN_IF_ERROR(SkipTo(*source, offset, account));
  return source;
}

}  // namespace stoker
