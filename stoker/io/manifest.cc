#include "stoker/io/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include "stoker/io/atomic_file.h"
#include "stoker/io/checksum.h"
#include "stoker/io/file.h"
#include "stoker/io/kept_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;

std::string TextOf(uint32_t crc) { return fmt::format("{:08x}", crc); }

std::string ManifestText(const Json& files) {
  const Json manifest = {
      {"format", kFormat}, {"files", files}, {"crc32c", TextOf(Crc32c(files.dump()))}};
  return manifest.dump(2) + "\n";
}

// `error` of opening or reading `path`, which says itself whether it is damage (kDataLoss: a file
// system that finds its checksum wrong, a file that is cut while it is read) or trouble.
Status DamageOrTrouble(const Status& error, const std::string& path) {
  if (error.code() == StatusCode::kNotFound) return DataLoss("{}: is missing", path);
  std::error_code unknown;
  const fs::file_status there = fs::status(path, unknown);
  if (fs::status_known(there) && fs::exists(there) && !fs::is_regular_file(there)) {
    return DataLoss("{}: is no regular file", path);
  }
  return error;
}

// A file that is listed, open, of the size that it must have.
struct ListedFile {
  File file;
  std::string crc;

  Status Compare(uint32_t found) const {
    if (TextOf(found) == crc) return OkStatus();
    return DataLoss("{}: is damaged: its CRC-32C is {}, the manifest says {}", file.path(),
                    TextOf(found), crc);
  }
};

Result<ListedFile> OpenListed(const std::string& path, const Json& entry) {
  if (!entry.is_object() || !entry.value("bytes", Json()).is_number_unsigned() ||
      !entry.value("crc32c", Json()).is_string()) {
    return DataLoss("{}: the manifest beside it does not give its size and CRC-32C", path);
  }
  Result<File> file = File::Open(path);
  if (!file.ok()) return DamageOrTrouble(file.status(), path);
  if (const auto size = entry["bytes"].get<uint64_t>(); file->size() != size) {
    return DataLoss("{}: is damaged: it has {} bytes, the manifest says {}", path, file->size(),
                    size);
  }
  return ListedFile{*std::move(file), entry["crc32c"].get<std::string>()};
}

// The CRC-32C of a whole file, read piece by piece.
Result<uint32_t> ChecksumOf(const File& file) {
  std::vector<std::byte> piece(std::min<uint64_t>(file.size(), uint64_t{1} << 20));
  uint32_t crc = 0;
  for (uint64_t at = 0; at < file.size();) {
    const std::span<std::byte> bytes =
        std::span(piece).first(std::min<uint64_t>(piece.size(), file.size() - at));
    STOKER_RETURN_IF_ERROR(file.ReadAt(at, bytes));
    crc = Crc32c(bytes, crc);
    at += bytes.size();
  }
  return crc;
}

}  // namespace

Result<Json> Manifest::EntryOf(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
  STOKER_ASSIGN_OR_RETURN(const uint32_t crc, ChecksumOf(file));
  return Json{{"bytes", file.size()}, {"crc32c", TextOf(crc)}};
}

Status Manifest::Write(const std::string& directory, std::span<const std::string_view> names) {
  Json files;
  for (const std::string_view name : names) {
    STOKER_ASSIGN_OR_RETURN(files[std::string(name)],
                            EntryOf(fmt::format("{}/{}", directory, name)));
  }
  return WriteFileAtomically(fmt::format("{}/{}", directory, kManifestName), ManifestText(files));
}

Status Manifest::WriteEntries(const std::string& directory, const Json& files) {
  for (const auto& [name, entry] : files.items()) {
    const std::string path = fmt::format("{}/{}", directory, name);
    std::error_code unseen;
    const uintmax_t bytes = fs::file_size(path, unseen);
    if (!unseen && bytes == entry.value("bytes", uint64_t{0})) continue;
    return FailedPrecondition(
        "{}: {} here, and {} bytes were written: do all processes see the same directory?", path,
        unseen ? std::string("is not") : fmt::format("has {} bytes", bytes),
        entry.value("bytes", uint64_t{0}));
  }
  return WriteFileAtomically(fmt::format("{}/{}", directory, kManifestName), ManifestText(files));
}

Result<Manifest> Manifest::Read(const std::string& directory) {
  const std::string path = fmt::format("{}/{}", directory, kManifestName);
  const Result<std::string> text = ReadKeptTextFile(path);
  if (!text.ok()) return DamageOrTrouble(text.status(), path);
  Json manifest = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object() || !manifest.value("files", Json()).is_object() ||
      ManifestText(manifest["files"]) != *text) {
    return DataLoss("{}: is damaged: it does not match its own checksum", path);
  }
  return Manifest(directory, std::move(manifest["files"]));
}

std::vector<std::string> Manifest::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : files_.items()) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

Status Manifest::Check(const std::string& name) const {
  const std::string path = fmt::format("{}/{}", directory_, name);
  STOKER_ASSIGN_OR_RETURN(const ListedFile listed, OpenListed(path, files_.value(name, Json())));
  const Result<uint32_t> crc = ChecksumOf(listed.file);
  return crc.ok() ? listed.Compare(*crc) : DamageOrTrouble(crc.status(), path);
}

Status Manifest::CheckAll() const {
  for (const std::string& name : names()) STOKER_RETURN_IF_ERROR(Check(name));
  return OkStatus();
}

Result<Buffer> Manifest::ReadFile(const std::string& name) const {
  const std::string path = fmt::format("{}/{}", directory_, name);
  STOKER_ASSIGN_OR_RETURN(const ListedFile listed, OpenListed(path, files_.value(name, Json())));
  Buffer bytes;
  try {
    bytes = Buffer::Allocate(listed.file.size());
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("{}: there is no memory for its {} bytes; free some and try again",
                             path, listed.file.size());
  }
  const std::span<std::byte> all(bytes.data(), bytes.size());
  if (const Status read = listed.file.ReadAt(0, all); !read.ok()) {
    return DamageOrTrouble(read, path);
  }
  STOKER_RETURN_IF_ERROR(listed.Compare(Crc32c(all)));
  return bytes;
}

}  // namespace stoker
