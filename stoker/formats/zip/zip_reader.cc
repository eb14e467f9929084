#include "stoker/formats/zip/zip_reader.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "stoker/formats/zip/directory_internal.h"
#include "stoker/io/checksum.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

// The most that deflate makes of a byte (258 bytes from 2 bits), with room for short inputs.
constexpr uint64_t kMaxExpansion = 1032;

Status Damaged(const std::string& file, const ZipEntry& entry, std::string_view problem) {
  return DataLoss("{}: byte {}: '{}' {}; the zip archive is damaged: copy or download it again",
                  file, entry.offset, entry.name, problem);
}

std::unique_ptr<inflate_state> InflateOf(const ZipEntry& entry, const std::byte* data,
                                         std::span<std::byte> out) {
  auto state = std::make_unique_for_overwrite<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_DEFLATE;
  // isa-l takes a pointer to what it does not change.
  state->next_in = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(data));
  state->avail_in = static_cast<uint32_t>(entry.compressed_bytes);
  state->next_out = reinterpret_cast<uint8_t*>(out.data());
  state->avail_out = static_cast<uint32_t>(out.size());
  return state;
}

// `out` has the size announced: no more than that is ever written.
Status Inflate(const std::string& file, const ZipEntry& entry, const std::byte* data,
               std::span<std::byte> out) {
  const auto state = InflateOf(entry, data, out);
  const int error = isal_inflate(state.get());
  if (error != ISAL_DECOMP_OK || state->block_state != ISAL_BLOCK_FINISH || state->avail_out != 0)
    return Damaged(file, entry, "does not inflate to the size announced");
  return OkStatus();
}

}  // namespace

Result<ZipFile> ZipFile::Open(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  return Parse(file.buffer(), path);
}

Result<ZipFile> ZipFile::Parse(Buffer bytes, std::string name) {
  ZipFile zip;
  STOKER_ASSIGN_OR_RETURN(zip.entries_,
                          internal::ReadZipDirectory({bytes.data(), bytes.size()}, name));
  zip.name_ = std::move(name);
  zip.bytes_ = std::move(bytes);
  zip.by_name_.resize(zip.entries_.size());
  std::iota(zip.by_name_.begin(), zip.by_name_.end(), 0u);
  const auto name_of = [&](uint32_t i) -> const std::string& { return zip.entries_[i].name; };
  std::ranges::sort(zip.by_name_, {}, name_of);
  const auto twice = std::ranges::adjacent_find(zip.by_name_, {}, name_of);
  if (twice != zip.by_name_.end()) {
    return DataLoss("{}: the entry '{}' is there twice; pack the archive again", zip.name_,
                    name_of(*twice));
  }
  return zip;
}

const ZipEntry* ZipFile::Find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      by_name_, name, {}, [&](uint32_t i) -> std::string_view { return entries_[i].name; });
  if (found == by_name_.end() || entries_[*found].name != name) return nullptr;
  return &entries_[*found];
}

Status ZipFile::CheckSize(const ZipEntry& entry) const {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  if (!entry.deflated) return OkStatus();  // as many bytes as are in the file
  if (entry.bytes > kMost || entry.compressed_bytes > kMost) {
    return Unimplemented("{}: '{}' is compressed and has more than 4 GiB; pack it stored", name_,
                         entry.name);
  }
  if (entry.bytes / kMaxExpansion <= entry.compressed_bytes) return OkStatus();
  return Damaged(name_, entry,
                 fmt::format("announces {} bytes made of {}, which cannot be", entry.bytes,
                             entry.compressed_bytes));
}

Status ZipFile::CheckContent(const ZipEntry& entry, std::span<const std::byte> content,
                             bool strict) const {
  const bool given = strict || entry.crc32 != 0;
  if (given && Crc32(content) != entry.crc32)
    return Damaged(name_, entry, "differs from its checksum");
  return OkStatus();
}

Status ZipFile::ReadInto(const ZipEntry& entry, std::span<std::byte> out, bool strict) const {
  STOKER_RETURN_IF_ERROR(CheckSize(entry));
  const std::byte* const data = bytes_.data() + entry.offset;
  if (entry.deflated) {
    STOKER_RETURN_IF_ERROR(Inflate(name_, entry, data, out));
  } else if (!out.empty()) {
    std::memcpy(out.data(), data, out.size());
  }
  return CheckContent(entry, out, strict);
}

Result<std::string> ZipFile::ReadStart(const ZipEntry& entry, size_t most) const {
  STOKER_RETURN_IF_ERROR(CheckSize(entry));
  std::string start(std::min<uint64_t>(most, entry.bytes), '\0');
  const std::span<std::byte> out = std::as_writable_bytes(std::span(start));
  const std::byte* const data = bytes_.data() + entry.offset;
  if (!entry.deflated) {
    if (!start.empty()) std::memcpy(start.data(), data, start.size());
    return start;
  }
  const auto state = InflateOf(entry, data, out);
  if (isal_inflate(state.get()) < ISAL_DECOMP_OK)
    return Damaged(name_, entry, "does not inflate to the size announced");
  return start.substr(0, out.size() - state->avail_out);
}

Result<ZipContent> ZipFile::Read(const ZipEntry& entry, bool strict,
                                 const std::shared_ptr<MemoryAccount>& account) const {
  ZipContent content{.owner = bytes_, .data = bytes_.data() + entry.offset, .bytes = entry.bytes};
  if (!entry.deflated) {
    STOKER_RETURN_IF_ERROR(CheckContent(entry, {content.data, content.bytes}, strict));
    return content;
  }
  STOKER_RETURN_IF_ERROR(CheckSize(entry));
  content.owner = Buffer::Allocate(entry.bytes, account);
  content.data = content.owner.data();
  STOKER_RETURN_IF_ERROR(ReadInto(entry, {content.owner.data(), content.bytes}, strict));
  return content;
}

}  // namespace stoker
