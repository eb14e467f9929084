#include "stoker/formats/zip/directory_internal.h"

#include <algorithm>
#include <optional>

#include "stoker/io/byte_reader.h"

namespace stoker::internal {
namespace {

constexpr size_t kLongestComment = 0xffff;
constexpr uint16_t kEncrypted = 1;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;

uint64_t LittleEndian(std::span<const std::byte> bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i-- > 0;) value = value << 8 | std::to_integer<uint64_t>(bytes[at + i]);
  return value;
}

// Where the directory lies and how many entries it has.
struct Directory {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
};

class DirectoryReader {
 public:
  explicit DirectoryReader(const FileBytes& file)
      : content_(file), file_(file.bytes()), name_(file.name()) {}

  Result<std::vector<ZipEntry>> Read() {
    STOKER_ASSIGN_OR_RETURN(const Directory directory, Find());
    // Each entry takes some bytes, so a count that lies cannot make the list long.
    if (directory.entries > directory.bytes / kZipDirectoryEntryBytes) {
      return Damaged(directory.offset, fmt::format("a directory of {} bytes cannot have {} entries",
                                                   directory.bytes, directory.entries));
    }
    STOKER_RETURN_IF_ERROR(content_.Load(directory.offset, directory.bytes));
    std::vector<ZipEntry> entries;
    entries.reserve(directory.entries);
    uint64_t at = directory.offset;
    for (uint64_t i = 0; i < directory.entries; ++i) {
      STOKER_ASSIGN_OR_RETURN(ZipEntry entry, ReadEntry(at, directory.offset + directory.bytes));
      entries.push_back(std::move(entry));
    }
    if (at != directory.offset + directory.bytes) {
      return Damaged(at, "the directory holds more than its entries");
    }
    STOKER_RETURN_IF_ERROR(CheckApart(entries, directory.offset));
    return entries;
  }

 private:
  Status Damaged(uint64_t at, std::string_view problem) const {
    return DataLoss("{}: byte {}: {}; the zip archive is damaged: copy or download it again", name_,
                    at, problem);
  }
  uint64_t U16(uint64_t at) const { return LittleEndian(file_, at, 2); }
  uint64_t U32(uint64_t at) const { return LittleEndian(file_, at, 4); }
  uint64_t U64(uint64_t at) const { return LittleEndian(file_, at, 8); }
  bool Fits(uint64_t at, uint64_t bytes) const {
    return at <= file_.size() && bytes <= file_.size() - at;
  }

  // The last end record whose comment reaches exactly to the end of the file.
  std::optional<uint64_t> FindEnd() const {
    if (file_.size() < kZipEndBytes) return std::nullopt;
    const uint64_t last = file_.size() - kZipEndBytes;
    const uint64_t first = last > kLongestComment ? last - kLongestComment : 0;
    for (uint64_t at = last + 1; at-- > first;) {
      if (U32(at) == kZipEnd && U16(at + 20) == last - at) return at;
    }
    return std::nullopt;
  }

  Result<Directory> Find() const {
    const uint64_t tail = std::min<uint64_t>(
        file_.size(), kZipEndBytes + kLongestComment + kZip64LocatorBytes + kZip64EndBytes);
    STOKER_RETURN_IF_ERROR(content_.Load(file_.size() - tail, tail));
    const std::optional<uint64_t> end = FindEnd();
    if (!end) {
      return DataLoss(
          "{}: byte {}: a zip archive ends with its directory, and this file does not; it is no "
          "zip archive or was cut short: copy or download it again",
          name_, file_.size());
    }
    Directory directory{
        .offset = U32(*end + 16), .bytes = U32(*end + 12), .entries = U16(*end + 10)};
    uint64_t behind = *end;
    const bool in_64 = directory.offset == kZipIn64 || directory.bytes == kZipIn64 ||
                       directory.entries == kZipCountIn64;
    if (in_64) {
      STOKER_ASSIGN_OR_RETURN(behind, FindEnd64(*end, directory));
    } else if (U16(*end + 4) != 0 || U16(*end + 6) != 0 || U16(*end + 8) != directory.entries) {
      return InSeveralFiles();
    }
    if (directory.offset > behind || directory.bytes > behind - directory.offset) {
      return Damaged(*end, fmt::format("a directory of {} bytes at {} would lie after its end",
                                       directory.bytes, directory.offset));
    }
    return directory;
  }

  // Finds the 64-bit end record, which precedes the other one; returns where it begins.
  Result<uint64_t> FindEnd64(uint64_t end, Directory& directory) const {
    if (end < kZip64LocatorBytes || U32(end - kZip64LocatorBytes) != kZip64Locator) {
      return Damaged(end, "the place of a directory of 64 bits is missing");
    }
    const uint64_t locator = end - kZip64LocatorBytes;
    const uint64_t at = U64(locator + 8);
    if (U32(locator + 16) > 1) return InSeveralFiles();
    const bool fits = at <= locator && locator - at >= kZip64EndBytes;
    if (fits) STOKER_RETURN_IF_ERROR(content_.Load(at, kZip64EndBytes));
    if (!fits || U32(at) != kZip64End) {
      return Damaged(locator, fmt::format("no end of a directory of 64 bits lies at {}", at));
    }
    if (U32(at + 16) != 0 || U32(at + 20) != 0 || U64(at + 24) != U64(at + 32)) {
      return InSeveralFiles();
    }
    directory = {.offset = U64(at + 48), .bytes = U64(at + 40), .entries = U64(at + 32)};
    return at;
  }

  Status InSeveralFiles() const {
    return Unimplemented("{}: the zip archive is in several files; join them first", name_);
  }

  // Entries that share bytes would let a small archive announce any amount of content.
  Status CheckApart(const std::vector<ZipEntry>& entries, uint64_t directory) const {
    std::vector<const ZipEntry*> in_file;
    in_file.reserve(entries.size());
    for (const ZipEntry& entry : entries) in_file.push_back(&entry);
    std::ranges::sort(in_file, {}, &ZipEntry::header);
    for (size_t i = 0; i < in_file.size(); ++i) {
      const ZipEntry& entry = *in_file[i];
      const bool last = i + 1 == in_file.size();
      if (entry.offset + entry.compressed_bytes <= (last ? directory : in_file[i + 1]->header))
        continue;
      return Damaged(entry.header,
                     fmt::format("'{}' and {} share bytes", entry.name,
                                 last ? "the directory" : "'" + in_file[i + 1]->name + "'"));
    }
    return OkStatus();
  }

  // Moves `at` past the entry.
  Result<ZipEntry> ReadEntry(uint64_t& at, uint64_t end) const {
    if (end - at < kZipDirectoryEntryBytes || U32(at) != kZipDirectoryEntry) {
      return Damaged(at, "an entry of the directory is wanted here");
    }
    const uint64_t name_bytes = U16(at + 28), extra_bytes = U16(at + 30);
    const uint64_t whole = kZipDirectoryEntryBytes + name_bytes + extra_bytes + U16(at + 32);
    if (whole > end - at) return Damaged(at, "an entry is longer than the directory");
    const auto* text = reinterpret_cast<const char*>(file_.data()) + at + kZipDirectoryEntryBytes;
    ZipEntry entry{.name = std::string(text, name_bytes),
                   .crc32 = static_cast<uint32_t>(U32(at + 16)),
                   .compressed_bytes = U32(at + 20),
                   .bytes = U32(at + 24),
                   .header = U32(at + 42)};
    STOKER_RETURN_IF_ERROR(ReadMethod(at, entry));
    STOKER_RETURN_IF_ERROR(
        ReadExtra(at + kZipDirectoryEntryBytes + name_bytes, extra_bytes, entry));
    STOKER_RETURN_IF_ERROR(FindData(at, entry));
    at += whole;
    return entry;
  }

  Status ReadMethod(uint64_t at, ZipEntry& entry) const {
    if ((U16(at + 8) & kEncrypted) != 0) {
      return Unimplemented("{}: '{}' is encrypted; unpack the archive with its password", name_,
                           entry.name);
    }
    const uint64_t method = U16(at + 10);
    if (method != kStored && method != kDeflated) {
      return Unimplemented(
          "{}: '{}' is compressed by method {}, only stored (0) and deflated (8) are known; pack "
          "the archive again",
          name_, entry.name, method);
    }
    entry.deflated = method == kDeflated;
    return OkStatus();
  }

  // What does not fit into 32 bits is in an extra field, in this order.
  Status ReadExtra(uint64_t at, uint64_t bytes, ZipEntry& entry) const {
    const uint64_t end = at + bytes;
    while (end - at >= 4) {
      const uint64_t kind = U16(at), size = U16(at + 2);
      if (size > end - at - 4) return Damaged(at, "an extra field is longer than its entry allows");
      if (kind == kZip64Extra) {
        uint64_t next = at + 4, left = size;
        for (uint64_t* value : {&entry.bytes, &entry.compressed_bytes, &entry.header}) {
          if (*value != kZipIn64) continue;
          if (left < 8) return Damaged(at, "a number of 64 bits is missing");
          *value = U64(next);
          next += 8;
          left -= 8;
        }
        return OkStatus();
      }
      at += 4 + size;
    }
    return OkStatus();
  }

  // Finds the data after the local header. The sizes there may be missing if the writer did not
  // know them; the name is there.
  Status FindData(uint64_t at, ZipEntry& entry) const {
    const uint64_t local = entry.header;
    if (Fits(local, kZipLocalHeaderBytes))
      STOKER_RETURN_IF_ERROR(content_.Load(local, kZipLocalHeaderBytes));
    if (!Fits(local, kZipLocalHeaderBytes) || U32(local) != kZipLocalHeader) {
      return Damaged(
          at, fmt::format("'{}' should begin at {}, where no entry begins", entry.name, local));
    }
    const uint64_t name_bytes = U16(local + 26);
    entry.offset = local + kZipLocalHeaderBytes + name_bytes + U16(local + 28);
    if (!Fits(entry.offset, entry.compressed_bytes)) {
      return Damaged(local, fmt::format("'{}' announces {} bytes, the file ends before them",
                                        entry.name, entry.compressed_bytes));
    }
    STOKER_RETURN_IF_ERROR(content_.Load(local + kZipLocalHeaderBytes, name_bytes));
    const std::string_view name(
        reinterpret_cast<const char*>(file_.data()) + local + kZipLocalHeaderBytes, name_bytes);
    if (name != entry.name) {
      return Damaged(local, fmt::format("the directory says '{}'", entry.name));
    }
    if (!entry.deflated && entry.bytes != entry.compressed_bytes) {
      return Damaged(at, fmt::format("'{}' is stored as it is, with sizes of {} and {} bytes",
                                     entry.name, entry.bytes, entry.compressed_bytes));
    }
    return OkStatus();
  }

  const FileBytes& content_;
  const std::span<const std::byte> file_;
  const std::string& name_;
};

}  // namespace

Result<std::vector<ZipEntry>> ReadZipDirectory(const FileBytes& file) {
  return DirectoryReader(file).Read();
}

}  // namespace stoker::internal
