#include "stoker/formats/zip/zip_reader.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
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

Result<Buffer> Inflate(const std::string& file, const ZipEntry& entry, const std::byte* data) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  if (entry.bytes > kMost || entry.compressed_bytes > kMost) {
    return Unimplemented("{}: '{}' is compressed and has more than 4 GiB; pack it stored", file,
                         entry.name);
  }
  if (entry.bytes / kMaxExpansion > entry.compressed_bytes) {
    return Damaged(file, entry,
                   fmt::format("announces {} bytes made of {}, which cannot be", entry.bytes,
                               entry.compressed_bytes));
  }
  Buffer out = Buffer::Allocate(entry.bytes);
  const auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_DEFLATE;
  // isa-l takes a pointer to what it does not change.
  state->next_in = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(data));
  state->avail_in = static_cast<uint32_t>(entry.compressed_bytes);
  state->next_out = reinterpret_cast<uint8_t*>(out.data());
  state->avail_out = static_cast<uint32_t>(entry.bytes);
  const int error = isal_inflate(state.get());
  if (error != ISAL_DECOMP_OK || state->block_state != ISAL_BLOCK_FINISH || state->avail_out != 0) {
    return Damaged(file, entry, "does not inflate to the size announced");
  }
  return out;
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

Result<ZipContent> ZipFile::Read(const ZipEntry& entry, bool strict) const {
  ZipContent content{.owner = bytes_, .data = bytes_.data() + entry.offset, .bytes = entry.bytes};
  if (entry.deflated) {
    STOKER_ASSIGN_OR_RETURN(content.owner, Inflate(name_, entry, content.data));
    content.data = content.owner.data();
  }
  const bool given = strict || entry.crc32 != 0;
  if (given && Crc32(std::span(content.data, content.bytes)) != entry.crc32) {
    return Damaged(name_, entry, "differs from its checksum");
  }
  return content;
}

}  // namespace stoker
