#include "stoker/io/byte_source.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "stoker/io/gzip.h"

namespace stoker {
namespace {

class FileSource final : public ByteSource {
 public:
  explicit FileSource(File file) : ByteSource(file.path()), file_(std::move(file)) {}
  SizeBound size_bound() const override { return {file_.size(), true}; }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override {
    return file_.ReadUpTo(position(), out);
  }

  const File file_;
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

// The compressions that are recognised, by the bytes that every such file begins with.
struct Decoder {
  std::string_view magic;
  std::unique_ptr<ByteSource> (*make)(std::unique_ptr<ByteSource> compressed,
                                      std::shared_ptr<MemoryAccount> account);
};
constexpr Decoder kDecoders[] = {{"\x1f\x8b", MakeGzipSource}};
constexpr size_t kLongestMagic = 8;

}  // namespace

Result<size_t> ByteSource::Read(std::span<std::byte> out) {
  STOKER_RETURN_IF_ERROR(error_);
  Result<size_t> got = DoRead(out);
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

std::unique_ptr<ByteSource> MakeFileSource(File file) {
  return std::make_unique<FileSource>(std::move(file));
}

std::unique_ptr<ByteSource> MakeMemorySource(std::span<const std::byte> bytes, std::string name) {
  return std::make_unique<MemorySource>(bytes, std::move(name));
}

Result<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path,
                                                   std::shared_ptr<MemoryAccount> account) {
  STOKER_ASSIGN_OR_RETURN(File file, File::Open(path));
  std::array<char, kLongestMagic> prefix{};
  STOKER_ASSIGN_OR_RETURN(const size_t got,
                          file.ReadUpTo(0, std::as_writable_bytes(std::span(prefix))));
  const std::string_view start(prefix.data(), got);
  std::unique_ptr<ByteSource> source = MakeFileSource(std::move(file));
  for (const Decoder& decoder : kDecoders) {
    if (start.starts_with(decoder.magic)) return decoder.make(std::move(source), account);
  }
  return source;
}

}  // namespace stoker
