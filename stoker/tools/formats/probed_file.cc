#include "stoker/tools/formats/probed_file.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "stoker/base/remote_path.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/decompression.h"
#include "stoker/io/file.h"
#include "stoker/tools/formats/n5.h"

namespace stoker {

std::string ProbedFile::stored_name() const {
  return compression.empty() ? std::string(FileKindName(stored))
                             : fmt::format("{} data", compression);
}

std::string ProbedFile::extension() const {
  std::string_view name = path;
  if (RemoteSchemeOf(name).starts_with("http"))
    name = name.substr(0, name.find('?'));  // a signature may follow
  return std::filesystem::path(WithoutCompressedEnding(name)).extension().string();
}

Result<ProbedFile> ProbePath(const std::string& path) {
  ProbedFile probed{.path = path, .n5 = IsN5(path)};
  if (probed.n5) return probed;
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
  std::array<std::byte, kProbeBytes> prefix;
  STOKER_ASSIGN_OR_RETURN(const size_t size, file.ReadUpTo(0, prefix));
  probed.stored = ProbeFile(std::span(prefix).first(size));
  const std::string_view stored(reinterpret_cast<const char*>(prefix.data()), size);
  if (const Decompression* const found = DecompressionOfStart(stored)) {
    probed.compression = found->name;
  }
  probed.bytes = file.size();
  STOKER_ASSIGN_OR_RETURN(probed.start, ReadContentPrefix(path));
  probed.content = ProbeFile(std::as_bytes(std::span(probed.start)));
  return probed;
}

Result<std::string> ReadContentPrefix(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  std::string prefix(kProbeBytes, '\0');
  STOKER_ASSIGN_OR_RETURN(const size_t size,
                          source->ReadFully(std::as_writable_bytes(std::span(prefix))));
  prefix.resize(size);
  return prefix;
}

}  // namespace stoker
