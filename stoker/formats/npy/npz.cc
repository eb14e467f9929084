#include "stoker/formats/npy/npz.h"

#include <string_view>

#include "stoker/formats/npy/npy.h"
#include "stoker/formats/zip/zip_reader.h"
#include "stoker/formats/zip/zip_writer.h"

namespace stoker {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr uint64_t kAlignment = 64;  // of the values, since headers are a multiple of it

Result<Array> ReadEntry(const ZipFile& file, const ZipEntry& entry) {
  STOKER_ASSIGN_OR_RETURN(const ZipContent content, file.Read(entry));
  return ParseNpy(content.owner, {content.data, static_cast<size_t>(content.bytes)},
                  fmt::format("{}: {}", file.name(), entry.name));
}

}  // namespace

Result<NamedArrays> ReadNpz(const std::string& path, const std::vector<std::string>& names) {
  STOKER_ASSIGN_OR_RETURN(const ZipFile file, ZipFile::Open(path));
  NamedArrays arrays;
  for (const std::string& name : names) {
    const ZipEntry* const entry = file.Find(name + std::string(kSuffix));
    if (entry == nullptr) {
      std::vector<std::string> there;
      for (const ZipEntry& one : file.entries()) {
        if (one.name.ends_with(kSuffix))
          there.push_back(one.name.substr(0, one.name.size() - kSuffix.size()));
      }
      return NotFound("{}: there is no array '{}' among: {}", path, name, fmt::join(there, ", "));
    }
    STOKER_ASSIGN_OR_RETURN(Array array, ReadEntry(file, *entry));
    arrays.emplace_back(name, std::move(array));
  }
  if (!names.empty()) return arrays;
  for (const ZipEntry& entry : file.entries()) {
    if (!entry.name.ends_with(kSuffix)) continue;
    STOKER_ASSIGN_OR_RETURN(Array array, ReadEntry(file, entry));
    arrays.emplace_back(entry.name.substr(0, entry.name.size() - kSuffix.size()), std::move(array));
  }
  return arrays;
}

Status WriteNpz(const std::string& path, const NamedArrays& arrays) {
  STOKER_ASSIGN_OR_RETURN(ZipWriter writer, ZipWriter::Create(path));
  for (const auto& [name, array] : arrays) {
    STOKER_ASSIGN_OR_RETURN(std::string content,
                            NpyHeaderOf(array.dtype(), array.shape(), path + ": " + name));
    content.append(reinterpret_cast<const char*>(array.data()), array.num_bytes());
    STOKER_RETURN_IF_ERROR(
        writer.Add(name + std::string(kSuffix), std::as_bytes(std::span(content)), kAlignment));
  }
  return writer.Finish();
}

}  // namespace stoker
