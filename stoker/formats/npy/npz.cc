#include "stoker/formats/npy/npz.h"

#include <span>
#include <string_view>

#include "stoker/formats/npy/npy.h"
#include "stoker/formats/zip/zip_reader.h"
#include "stoker/formats/zip/zip_writer.h"

namespace stoker {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr uint64_t kMemberAlignment = 64;  // of the values, since headers are a multiple of it

// Enough for most headers; and the longest that is read at all if this is too little.
constexpr size_t kUsualStart = 4 << 10, kLongestStart = (1 << 20) + 64;
// A deflated array of more bytes is not inflated only to learn why its header cannot be read.
constexpr uint64_t kMostInflated = 16 << 20;

// The checksum distinguishes damage from a header of another kind.
Status HeaderError(const ZipFile& file, const ZipEntry& entry, const Status& error) {
  if (entry.deflated && entry.bytes > kMostInflated) return error;
  STOKER_RETURN_IF_ERROR(file.Read(entry).status());
  return error;
}

Result<NpyHeader> ReadHeader(const ZipFile& file, const ZipEntry& entry, const std::string& where) {
  for (const size_t most : {kUsualStart, kLongestStart}) {
    STOKER_ASSIGN_OR_RETURN(const std::string start, file.ReadStart(entry, most));
    Result<NpyHeader> header = ParseNpyHeader(std::as_bytes(std::span(start)), where);
    if (header.ok()) return header;
    if (start.size() < most || most == kLongestStart)
      return HeaderError(file, entry, header.status());
  }
  return Internal("{}: its header was not read", where);
}

Result<NpzEntry> Describe(const ZipFile& file, const ZipEntry& entry) {
  NpzEntry out{.name = entry.name.substr(0, entry.name.size() - kSuffix.size()),
               .where = fmt::format("{}: {}", file.name(), entry.name),
               .header = {},
               .entry = &entry};
  STOKER_ASSIGN_OR_RETURN(out.header, ReadHeader(file, entry, out.where));
  STOKER_RETURN_IF_ERROR(CheckNpySize(out.header, entry.bytes, out.where));
  out.in_file =
      !entry.deflated && LiesAsUsed(out.header, file.file().bytes().data() + out.offset());
  return out;
}

Result<std::vector<const ZipEntry*>> Wanted(const ZipFile& file,
                                            const std::vector<std::string>& names) {
  std::vector<const ZipEntry*> wanted;
  std::vector<std::string> there;
  for (const ZipEntry& entry : file.entries()) {
    if (!entry.name.ends_with(kSuffix)) continue;
    there.push_back(entry.name.substr(0, entry.name.size() - kSuffix.size()));
    if (names.empty()) wanted.push_back(&entry);
  }
  for (const std::string& name : names) {
    wanted.push_back(file.Find(name + std::string(kSuffix)));
    if (wanted.back() != nullptr) continue;
    return NotFound("{}: there is no array '{}' among: {}", file.name(), name,
                    fmt::join(there, ", "));
  }
  return wanted;
}

}  // namespace

int64_t NpzEntry::bytes() const {
  return in_file ? 0 : NumValues(header.shape) * static_cast<int64_t>(DTypeSize(header.dtype));
}

int64_t NpzEntry::bytes_while_reading() const {
  if (in_file || !entry->deflated) return 0;
  // Inflated content begins where any block does, with the values after the header. Values that are
  // converted are copied, so all of it is in addition; of others the header alone.
  const bool converted = !LiesAsUsed(header, reinterpret_cast<const std::byte*>(header.data));
  return static_cast<int64_t>(converted ? entry->bytes : header.data);
}

Result<NpzFile> NpzFile::Open(const std::string& path, const std::vector<std::string>& names) {
  STOKER_ASSIGN_OR_RETURN(ZipFile zip, ZipFile::Open(path));
  NpzFile file;
  file.zip_ = std::make_shared<const ZipFile>(std::move(zip));
  STOKER_ASSIGN_OR_RETURN(const std::vector<const ZipEntry*> wanted, Wanted(*file.zip_, names));
  std::vector<NpzEntry> entries;
  for (const ZipEntry* const entry : wanted) {
    STOKER_ASSIGN_OR_RETURN(NpzEntry described, Describe(*file.zip_, *entry));
    entries.push_back(std::move(described));
  }
  file.entries_ = std::make_shared<const std::vector<NpzEntry>>(std::move(entries));
  return file;
}

Result<Array> NpzFile::Read(const NpzEntry& entry,
                            const std::shared_ptr<MemoryAccount>& account) const {
  STOKER_ASSIGN_OR_RETURN(const ZipContent content,
                          zip_->Read(*entry.entry, /*strict=*/false, account));
  return ParseNpy(content.owner, {content.data, static_cast<size_t>(content.bytes)}, entry.where,
                  account);
}

Result<NamedArrays> ReadNpz(const std::string& path, const std::vector<std::string>& names) {
  STOKER_ASSIGN_OR_RETURN(const NpzFile file, NpzFile::Open(path, names));
  NamedArrays arrays;
  for (const NpzEntry& entry : file.entries()) {
    STOKER_ASSIGN_OR_RETURN(Array array, file.Read(entry));
    arrays.emplace_back(entry.name, std::move(array));
  }
  return arrays;
}

Status WriteNpz(const std::string& path, const NamedArrays& arrays) {
  STOKER_ASSIGN_OR_RETURN(ZipWriter writer, ZipWriter::Create(path));
  for (const auto& [name, array] : arrays) {
    STOKER_ASSIGN_OR_RETURN(std::string content,
                            NpyHeaderOf(array.dtype(), array.shape(), path + ": " + name));
    content.append(reinterpret_cast<const char*>(array.data()), array.num_bytes());
    STOKER_RETURN_IF_ERROR(writer.Add(name + std::string(kSuffix),
                                      std::as_bytes(std::span(content)), kMemberAlignment));
  }
  return writer.Finish();
}

}  // namespace stoker
