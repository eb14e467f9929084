// The bytes of an HDF5 file, and numbers in them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/base/buffer.h"
#include "stoker/base/status.h"
#include "stoker/io/file_bytes.h"

namespace stoker::internal {

inline constexpr uint64_t kNoAddress = std::numeric_limits<uint64_t>::max();

struct Hdf5Content {
  explicit Hdf5Content(FileBytes of)
      : file(std::move(of)), bytes(file.bytes()), name(file.name()) {}

  FileBytes file;
  // All of the file. Read only bytes that Load was called for, as the cursor does.
  std::span<const std::byte> bytes;
  std::string name;
  uint64_t base = 0;      // base address: the end of a user block
  int address_bytes = 8;  // of an address, and of a length, in the file
  int length_bytes = 8;

  Status Damaged(uint64_t at, std::string_view problem) const;
  // Returns whether bytes at..at+size-1 are all there.
  bool Holds(uint64_t at, uint64_t size) const {
    return at <= bytes.size() && size <= bytes.size() - at;
  }
};

// Reads the little-endian numbers of one structure. After a number that lies outside or cannot be
// read, the cursor has failed and returns zeros; the caller checks once after several reads.
class Hdf5Cursor {
 public:
  // From byte `at` of the file on, up to its end or for `size` bytes; `file` is borrowed.
  Hdf5Cursor(const Hdf5Content& file, uint64_t at);
  Hdf5Cursor(const Hdf5Content& file, uint64_t at, uint64_t size);
  // For reads with every element: keeps none of the bytes in memory after the cursor is destroyed.
  Hdf5Cursor& KeepingNothing();

  uint64_t Number(int size);  // 0 to 8 bytes
  uint8_t U8() { return static_cast<uint8_t>(Number(1)); }
  uint16_t U16() { return static_cast<uint16_t>(Number(2)); }
  uint32_t U32() { return static_cast<uint32_t>(Number(4)); }
  uint64_t Length() { return Number(file_->length_bytes); }
  // Reads an address in the file; kNoAddress if undefined. One outside the file is a failure.
  uint64_t Address();
  std::string_view Text(uint64_t size);
  void Skip(uint64_t size);
  // Reads as many bytes and returns whether they are these.
  bool Take(std::string_view signature) { return Text(signature.size()) == signature; }

  uint64_t at() const { return at_; }
  uint64_t left() const { return end_ - at_; }
  bool failed() const { return failed_; }
  void Fail() { failed_ = true; }
  // Returns kDataLoss if the cursor has failed: `what`, which begins at `begin`, is damaged.
  Status Check(uint64_t begin, std::string_view what) const;

 private:
  // Returns the next bytes without consuming them; null, and the cursor has failed, if they are not
  // there.
  const std::byte* Next(uint64_t bytes);

  const Hdf5Content* file_;
  uint64_t at_, end_;
  bool failed_ = false;
  bool keeps_ = true;
  Buffer window_;  // of the file from byte window_at_ on, if it keeps nothing
  uint64_t window_at_ = 0, window_bytes_ = 0;
};

// Compares the checksum of metadata (Jenkins' lookup3) over bytes begin..end-1, which must be in
// the file, with the 4 bytes that follow. Errors: kDataLoss.
Status CheckMetadata(const Hdf5Content& file, uint64_t begin, uint64_t end, std::string_view what);
uint32_t Lookup3(std::span<const std::byte> bytes);

// Returns the checksum that the Fletcher32 filter appends to a chunk.
uint32_t Fletcher32(std::span<const std::byte> bytes);

}  // namespace stoker::internal
