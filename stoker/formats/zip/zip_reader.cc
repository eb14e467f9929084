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

// What is held at a time of content that is not in memory.
constexpr uint64_t kPieceBytes = 256 << 10;

constexpr std::string_view kWrongSize = "does not inflate to the size announced";
constexpr std::string_view kWrongChecksum = "differs from its checksum";

Status Damaged(const std::string& file, const ZipEntry& entry, std::string_view problem) {
  return DataLoss("{}: byte {}: '{}' {}; the zip archive is damaged: copy or download it again",
                  file, entry.offset, entry.name, problem);
}

// Makes the content of a deflated entry, part by part.
class Inflater {
 public:
  // Both are borrowed.
  Inflater(const FileBytes& file, const ZipEntry& entry)
      : file_(file),
        entry_(entry),
        most_(file.present() ? entry.compressed_bytes : kPieceBytes),
        state_(std::make_unique_for_overwrite<inflate_state>()) {
    isal_inflate_init(state_.get());
    state_->crc_flag = ISAL_DEFLATE;
  }

  // The next bytes, as many as `out` has room for, less at the end. No more is ever written. The
  // sizes of entries are below 4 GiB (ZipFile::CheckSize).
  Result<size_t> Fill(std::span<std::byte> out) {
    state_->next_out = reinterpret_cast<uint8_t*>(out.data());
    state_->avail_out = static_cast<uint32_t>(out.size());
    for (bool moved = true; moved && !finished();) {
      if (state_->avail_in == 0) STOKER_RETURN_IF_ERROR(Refill());
      const auto before = std::pair(state_->avail_in, state_->avail_out);
      if (isal_inflate(state_.get()) < ISAL_DECOMP_OK)
        return Damaged(file_.name(), entry_, kWrongSize);
      moved = std::pair(state_->avail_in, state_->avail_out) != before;
    }
    return out.size() - state_->avail_out;
  }

  // The content has ended there.
  bool finished() const { return state_->block_state == ISAL_BLOCK_FINISH; }

 private:
  Status Refill() {
    const uint64_t bytes = std::min(most_, entry_.compressed_bytes - read_);
    STOKER_ASSIGN_OR_RETURN(const std::span<const std::byte> piece,
                            file_.View(entry_.offset + read_, bytes, room_));
    read_ += bytes;
    // isa-l takes a pointer to what it does not change.
    state_->next_in = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(piece.data()));
    state_->avail_in = static_cast<uint32_t>(bytes);
    return OkStatus();
  }

  const FileBytes& file_;
  const ZipEntry& entry_;
  const uint64_t most_;  // of what is read at a time
  const std::unique_ptr<inflate_state> state_;
  Buffer room_;
  uint64_t read_ = 0;
};

}  // namespace

Result<ZipFile> ZipFile::Open(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(FileBytes file, FileBytes::Open(path));
  return Parse(std::move(file));
}

Result<ZipFile> ZipFile::Parse(Buffer bytes, std::string name) {
  return Parse(FileBytes::Of(std::move(bytes), std::move(name)));
}

Result<ZipFile> ZipFile::Parse(FileBytes file) {
  ZipFile zip(std::move(file));
  STOKER_ASSIGN_OR_RETURN(zip.entries_, internal::ReadZipDirectory(zip.file_));
  zip.by_name_.resize(zip.entries_.size());
  std::iota(zip.by_name_.begin(), zip.by_name_.end(), 0u);
  const auto name_of = [&](uint32_t i) -> const std::string& { return zip.entries_[i].name; };
  std::ranges::sort(zip.by_name_, {}, name_of);
  const auto twice = std::ranges::adjacent_find(zip.by_name_, {}, name_of);
  if (twice != zip.by_name_.end()) {
    return DataLoss("{}: the entry '{}' is there twice; pack the archive again", zip.name(),
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
    return Unimplemented("{}: '{}' is compressed and has more than 4 GiB; pack it stored", name(),
                         entry.name);
  }
  if (entry.bytes / kMaxExpansion <= entry.compressed_bytes) return OkStatus();
  return Damaged(name(), entry,
                 fmt::format("announces {} bytes made of {}, which cannot be", entry.bytes,
                             entry.compressed_bytes));
}

Status ZipFile::CheckContent(const ZipEntry& entry, std::span<const std::byte> content,
                             bool strict) const {
  const bool given = strict || entry.crc32 != 0;
  if (given && Crc32(content) != entry.crc32) return Damaged(name(), entry, kWrongChecksum);
  return OkStatus();
}

Status ZipFile::ReadInto(const ZipEntry& entry, std::span<std::byte> out, bool strict) const {
  STOKER_RETURN_IF_ERROR(CheckSize(entry));
  if (entry.deflated) {
    Inflater inflater(file_, entry);
    STOKER_ASSIGN_OR_RETURN(const size_t made, inflater.Fill(out));
    if (!inflater.finished() || made != out.size()) return Damaged(name(), entry, kWrongSize);
  } else {
    STOKER_RETURN_IF_ERROR(file_.ReadAt(entry.offset, out));
  }
  return CheckContent(entry, out, strict);
}

Result<std::string> ZipFile::ReadStart(const ZipEntry& entry, size_t most) const {
  STOKER_RETURN_IF_ERROR(CheckSize(entry));
  std::string start(std::min<uint64_t>(most, entry.bytes), '\0');
  const std::span<std::byte> out = std::as_writable_bytes(std::span(start));
  if (!entry.deflated) {
    STOKER_RETURN_IF_ERROR(file_.ReadAt(entry.offset, out));
    return start;
  }
  STOKER_ASSIGN_OR_RETURN(const size_t made, Inflater(file_, entry).Fill(out));
  return start.substr(0, made);
}

Result<ZipContent> ZipFile::Read(const ZipEntry& entry, bool strict,
                                 const std::shared_ptr<MemoryAccount>& account) const {
  ZipContent content{
      .owner = file_.buffer(), .data = file_.bytes().data() + entry.offset, .bytes = entry.bytes};
  if (!entry.deflated && file_.present()) {
    STOKER_RETURN_IF_ERROR(CheckContent(entry, {content.data, content.bytes}, strict));
    return content;
  }
  STOKER_RETURN_IF_ERROR(CheckSize(entry));
  content.owner = Buffer::Allocate(entry.bytes, account);
  content.data = content.owner.data();
  STOKER_RETURN_IF_ERROR(ReadInto(entry, {content.owner.data(), content.bytes}, strict));
  return content;
}

Status ZipFile::Verify(const ZipEntry& entry) const {
  STOKER_RETURN_IF_ERROR(CheckSize(entry));
  Inflater inflater(file_, entry);
  std::vector<std::byte> inflated(entry.deflated ? kPieceBytes : 0);
  Buffer room;
  uint32_t crc = 0;
  for (uint64_t at = 0; at < entry.bytes;) {
    std::span<const std::byte> piece;
    if (entry.deflated) {
      STOKER_ASSIGN_OR_RETURN(const size_t made, inflater.Fill(inflated));
      piece = std::span(inflated).first(made);
    } else {
      STOKER_ASSIGN_OR_RETURN(
          piece, file_.View(entry.offset + at, std::min(kPieceBytes, entry.bytes - at), room));
    }
    at += piece.size();
    if (piece.empty() || at > entry.bytes) return Damaged(name(), entry, kWrongSize);
    crc = Crc32(piece, crc);
  }
  if (entry.deflated) {
    STOKER_ASSIGN_OR_RETURN(const size_t more, inflater.Fill(inflated));
    if (more > 0 || !inflater.finished()) return Damaged(name(), entry, kWrongSize);
  }
  if (entry.crc32 == 0 || crc == entry.crc32) return OkStatus();
  return Damaged(name(), entry, kWrongChecksum);
}

}  // namespace stoker
