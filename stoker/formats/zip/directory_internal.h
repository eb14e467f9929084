// The central directory of a zip archive.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/formats/zip/zip_reader.h"

namespace stoker::internal {

inline constexpr uint32_t kZipLocalHeader = 0x04034b50;
inline constexpr uint32_t kZipDirectoryEntry = 0x02014b50;
inline constexpr uint32_t kZipEnd = 0x06054b50;
inline constexpr uint32_t kZip64End = 0x06064b50;
inline constexpr uint32_t kZip64Locator = 0x07064b50;

inline constexpr size_t kZipLocalHeaderBytes = 30;
inline constexpr size_t kZipDirectoryEntryBytes = 46;
inline constexpr size_t kZipEndBytes = 22;
inline constexpr size_t kZip64EndBytes = 56;
inline constexpr size_t kZip64LocatorBytes = 20;

// The extra field with sizes and offsets of 64 bits, and the marks that refer to it.
inline constexpr uint16_t kZip64Extra = 1;
inline constexpr uint32_t kZipIn64 = 0xffffffff;
inline constexpr uint16_t kZipCountIn64 = 0xffff;

// Reads all entries that the directory lists. Errors: those of ZipFile.
Result<std::vector<ZipEntry>> ReadZipDirectory(const FileBytes& file);

}  // namespace stoker::internal
