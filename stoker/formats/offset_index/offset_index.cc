#include "stoker/formats/offset_index/offset_index.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "stoker/io/atomic_file.h"
#include "stoker/io/checksum.h"
#include "stoker/io/file_bytes.h"
#include "stoker/io/local_retry.h"
#include "stoker/io/side_files.h"

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little, "offsets are used as they lie");

constexpr char kMagic[8] = {'S', 'T', 'K', 'I', 'N', 'D', 'E', 'X'};
constexpr uint32_t kVersion = 1;
constexpr int64_t kNsInSecond = 1'000'000'000;

// As in README.md; without padding.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t checksum;
  char format[8];
  uint64_t file_size;
  int64_t modified_ns;
  uint64_t settings;
  uint64_t count;
  uint64_t longest;
};
static_assert(sizeof(Header) == 64);
constexpr size_t kUnchecked = 16;  // bytes before those that the checksum covers

Header HeaderOf(const IndexedContent& content, uint64_t count, uint64_t longest) {
  Header header{.version = kVersion,
                .file_size = content.stamp.size,
                .modified_ns = content.stamp.modified_ns,
                .settings = content.settings,
                .count = count,
                .longest = longest};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  std::memcpy(header.format, content.format.data(),
              std::min(content.format.size(), sizeof(header.format)));
  return header;
}

uint32_t ChecksumOf(const Header& header, std::span<const std::byte> offsets) {
  return Crc32c(offsets, Crc32c(std::as_bytes(std::span(&header, 1)).subspan(kUnchecked)));
}

// The checksum says that we wrote it, not that what we read lies in the file.
bool Plausible(std::span<const uint64_t> offsets, const Header& header) {
  uint64_t longest = 0;
  for (size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) return false;
    longest = std::max(longest, offsets[i] - offsets[i - 1]);
  }
  return offsets.back() <= header.file_size && longest == header.longest;
}

}  // namespace

Result<FileStamp> StampOf(const std::string& path) {
  struct stat found {};
  if (RetryPassingTrouble(path, [&] { return ::stat(path.c_str(), &found); }) != 0) {
    const int error = errno;
    // File::Open knows how to say it.
    STOKER_RETURN_IF_ERROR(File::Open(path).status());
    if (error == ENOENT || error == ENOTDIR)
      return NotFound("{}: the file has just gone; has another program removed it?", path);
    return ErrnoStatus(error, fmt::format("{}: cannot look at the file", path));
  }
  return FileStamp{static_cast<uint64_t>(found.st_size),
                   int64_t{found.st_mtim.tv_sec} * kNsInSecond + found.st_mtim.tv_nsec};
}

OffsetIndex OffsetIndex::Of(const std::vector<uint64_t>& offsets) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(offsets));
  Buffer memory = Buffer::Allocate(bytes.size());
  std::memcpy(memory.data(), bytes.data(), bytes.size());
  uint64_t longest = 0;
  for (size_t i = 1; i < offsets.size(); ++i)
    longest = std::max(longest, offsets[i] - offsets[i - 1]);
  const auto* const begin = reinterpret_cast<const uint64_t*>(memory.data());
  return OffsetIndex(std::move(memory), {begin, offsets.size()}, longest);
}

std::optional<OffsetIndex> OffsetIndex::Load(const std::string& path,
                                             const IndexedContent& content) {
  const Result<FileBytes> file = FileBytes::Open(path, MapAdvice::kSequential);
  if (!file.ok() || file->size() < sizeof(Header) || !file->LoadAll().ok()) return std::nullopt;
  const std::span<const std::byte> bytes = file->bytes();
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  Header expected = HeaderOf(content, header.count, header.longest);
  expected.checksum = header.checksum;
  if (std::memcmp(&header, &expected, sizeof(header)) != 0) return std::nullopt;
  const std::span<const std::byte> rest = bytes.subspan(sizeof(header));
  if (rest.size() % sizeof(uint64_t) != 0 || rest.size() / sizeof(uint64_t) == 0 ||
      rest.size() / sizeof(uint64_t) - 1 != header.count)
    return std::nullopt;
  if (ChecksumOf(header, rest) != header.checksum) return std::nullopt;
  const std::span<const uint64_t> offsets(reinterpret_cast<const uint64_t*>(rest.data()),
                                          rest.size() / sizeof(uint64_t));
  if (!Plausible(offsets, header)) return std::nullopt;
  return OffsetIndex(file->buffer(), offsets, header.longest);
}

Status OffsetIndex::Store(const std::string& path, const IndexedContent& content) const {
  Header header = HeaderOf(content, static_cast<uint64_t>(size()), longest_);
  const std::span<const std::byte> offsets = std::as_bytes(offsets_);
  header.checksum = ChecksumOf(header, offsets);
  STOKER_ASSIGN_OR_RETURN(AtomicFileWriter file, AtomicFileWriter::Create(path));
  STOKER_RETURN_IF_ERROR(file.Append(std::as_bytes(std::span(&header, 1))));
  STOKER_RETURN_IF_ERROR(file.Append(offsets));
  return file.Commit();
}

std::string IndexPathOf(const std::string& path) {
  const std::filesystem::path file(path);
  return (file.parent_path() / fmt::format(".{}.stoker-index", file.filename().string())).string();
}

Result<OffsetIndex> IndexFile(const std::string& path, std::string_view format, uint64_t settings,
                              IndexUse use,
                              const std::function<Result<std::vector<uint64_t>>()>& scan) {
  STOKER_ASSIGN_OR_RETURN(const FileStamp stamp, StampOf(path));
  const IndexedContent content{format, stamp, settings};
  const std::string index_path = IndexPathOf(path);
  if (use == IndexUse::kStored) {
    if (std::optional<OffsetIndex> index = OffsetIndex::Load(index_path, content))
      return *std::move(index);
  }
  STOKER_ASSIGN_OR_RETURN(const std::vector<uint64_t> offsets, scan());
  STOKER_ASSIGN_OR_RETURN(const FileStamp after, StampOf(path));
  if (after != stamp) {
    return FailedPrecondition(
        "{}: the file changed while its records were counted; wait until it is written, and run "
        "again",
        path);
  }
  OffsetIndex index = OffsetIndex::Of(offsets);
  // Only for speed: where it cannot be kept, the next run scans again.
  if (use == IndexUse::kStored && WritesSideFiles()) (void)index.Store(index_path, content);
  return index;
}

}  // namespace stoker
