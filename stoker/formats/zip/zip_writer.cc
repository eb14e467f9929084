#include "stoker/formats/zip/zip_writer.h"

#include <algorithm>
#include <utility>

#include "stoker/formats/zip/directory_internal.h"
#include "stoker/io/checksum.h"

namespace stoker {
namespace {

using internal::kZipCountIn64;
using internal::kZipIn64;

constexpr uint16_t kVersion = 20;    // 2.0: what stored entries need
constexpr uint16_t kVersion64 = 45;  // 4.5: sizes of 64 bits
constexpr uint16_t kUtf8 = 1 << 11;
constexpr uint16_t kFirstDay = 1 << 5 | 1;  // 1 January 1980, the first that zip can say
// 0 would stand for MS-DOS, in whose code page unzip 6.0 then takes names to be, whatever kUtf8
// says.
constexpr uint16_t kUnix = 3 << 8;
constexpr uint32_t kRegularFile = 0100644;  // its owner may write it, all read it
// "FB", by which PyTorch calls its padding.
constexpr uint16_t kPaddingExtra = 0x4246;
constexpr uint64_t kExtraHead = 4;

void Put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i);
}
uint64_t In32(uint64_t value) { return std::min<uint64_t>(value, kZipIn64); }

// The fields that both headers have, from the version needed on.
void PutCommon(std::string& out, uint32_t crc32, uint64_t bytes, bool in_64, size_t name_bytes) {
  Put(out, in_64 ? kVersion64 : kVersion, 2);
  Put(out, kUtf8, 2);
  Put(out, 0, 2);  // stored
  Put(out, 0, 2);  // midnight
  Put(out, kFirstDay, 2);
  Put(out, crc32, 4);
  Put(out, In32(bytes), 4);
  Put(out, In32(bytes), 4);
  Put(out, name_bytes, 2);
}

}  // namespace

Result<ZipWriter> ZipWriter::Create(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(AtomicFileWriter writer, AtomicFileWriter::Create(path));
  return ZipWriter(std::move(writer));
}

std::string ZipWriter::LocalHeader(const Entry& entry, uint64_t alignment) {
  std::string extra;
  const bool in_64 = entry.bytes >= kZipIn64;
  if (in_64) {
    Put(extra, internal::kZip64Extra, 2);
    Put(extra, 16, 2);
    Put(extra, entry.bytes, 8);
    Put(extra, entry.bytes, 8);
  }
  const uint64_t data =
      entry.offset + internal::kZipLocalHeaderBytes + entry.name.size() + extra.size();
  if (data % alignment != 0) {
    const uint64_t padding = alignment - (data + kExtraHead) % alignment;
    Put(extra, kPaddingExtra, 2);
    Put(extra, padding % alignment, 2);
    extra.append(padding % alignment, 'Z');
  }
  std::string header;
  Put(header, internal::kZipLocalHeader, 4);
  PutCommon(header, entry.crc32, entry.bytes, in_64, entry.name.size());
  Put(header, extra.size(), 2);
  return header + entry.name + extra;
}

std::string ZipWriter::DirectoryEntry(const Entry& entry) {
  std::string extra;
  const bool long_data = entry.bytes >= kZipIn64, far = entry.offset >= kZipIn64;
  if (long_data || far) {
    Put(extra, internal::kZip64Extra, 2);
    Put(extra, (long_data ? 16 : 0) + (far ? 8 : 0), 2);
    if (long_data) Put(extra, entry.bytes, 8);
    if (long_data) Put(extra, entry.bytes, 8);
    if (far) Put(extra, entry.offset, 8);
  }
  std::string text;
  Put(text, internal::kZipDirectoryEntry, 4);
  Put(text, kUnix | (extra.empty() ? kVersion : kVersion64), 2);  // made by
  PutCommon(text, entry.crc32, entry.bytes, !extra.empty(), entry.name.size());
  Put(text, extra.size(), 2);
  Put(text, 0, 2);  // no comment
  Put(text, 0, 2);  // in the first file
  Put(text, 0, 2);  // unknown whether it is text
  Put(text, kRegularFile << 16, 4);
  Put(text, In32(entry.offset), 4);
  return text + entry.name + extra;
}

Status ZipWriter::Add(std::string_view name, std::span<const std::byte> content,
                      uint64_t alignment) {
  if (name.size() > 0xffff) {
    return InvalidArgument("a zip entry's name has {} bytes, at most 65535 are possible",
                           name.size());
  }
  entries_.push_back({.name = std::string(name),
                      .crc32 = Crc32(content),
                      .bytes = content.size(),
                      .offset = writer_.size()});
  STOKER_RETURN_IF_ERROR(writer_.Append(LocalHeader(entries_.back(), alignment)));
  return writer_.Append(content);
}

std::string ZipWriter::End(uint64_t directory) const {
  const uint64_t end = writer_.size(), count = entries_.size();
  std::string text;
  if (directory >= kZipIn64 || end - directory >= kZipIn64 || count >= kZipCountIn64) {
    Put(text, internal::kZip64End, 4);
    Put(text, internal::kZip64EndBytes - 12, 8);  // what follows
    Put(text, kVersion64, 2);
    Put(text, kVersion64, 2);
    Put(text, 0, 8);  // one file
    Put(text, count, 8);
    Put(text, count, 8);
    Put(text, end - directory, 8);
    Put(text, directory, 8);
    Put(text, internal::kZip64Locator, 4);
    Put(text, 0, 4);
    Put(text, end, 8);
    Put(text, 1, 4);
  }
  const uint64_t count16 = std::min<uint64_t>(count, kZipCountIn64);
  Put(text, internal::kZipEnd, 4);
  Put(text, 0, 4);
  Put(text, count16, 2);
  Put(text, count16, 2);
  Put(text, In32(end - directory), 4);
  Put(text, In32(directory), 4);
  Put(text, 0, 2);  // no comment
  return text;
}

Status ZipWriter::Finish() {
  const uint64_t directory = writer_.size();
  for (const Entry& entry : entries_) STOKER_RETURN_IF_ERROR(writer_.Append(DirectoryEntry(entry)));
  STOKER_RETURN_IF_ERROR(writer_.Append(End(directory)));
  return writer_.Commit();
}

}  // namespace stoker
