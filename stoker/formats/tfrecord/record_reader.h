// Reads TFRecord files: records from a stream, and their offsets in a plain file. README.md has the
// layout.
//
// Errors: kDataLoss with file and byte for anything but a whole record ("a.tfrecord: byte 812:
// ..."), and a hint if it is recognisably another format; those of io/file.h and of the
// decompressors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/ledger.h"
#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/decompression.h"
#include "stoker/io/file.h"
#include "stoker/io/read_window.h"

namespace stoker {

// The frame around the data of a record: length and the length's checksum before, the data's
// checksum after.
inline constexpr size_t kTfRecordHeaderBytes = 12;
inline constexpr size_t kTfRecordFooterBytes = 4;
inline constexpr size_t kTfRecordFrameBytes = kTfRecordHeaderBytes + kTfRecordFooterBytes;

// Returns the compression of a file of records; null if it is plain. An empty file is a plain one
// of no records. See README.md.
Result<const Decompression*> DetectTfRecordCompression(const File& file);

// Returns whether these bytes begin with a length and its checksum, the first 12 bytes of a record.
bool BeginsTfRecord(std::span<const std::byte> bytes);

// Returns the file's framed records, decompressed, from byte `offset` of the content on: as
// OpenByteSourceAt, except that it detects the compression differently.
//   compression  "auto": what DetectTfRecordCompression finds; "none"; or a name of
//                io/decompression.h
Result<std::unique_ptr<ByteSource>> OpenTfRecordSource(
    const std::string& path, std::string_view compression = "auto", uint64_t offset = 0,
    std::shared_ptr<MemoryAccount> account = nullptr);

struct TfRecord {
  std::span<const std::byte> data;  // valid until the next call
  uint64_t offset = 0;              // of its frame in the (decompressed) content
  int64_t number = 0;               // from 0
  bool damaged = false;  // the data do not match their checksum; the next records can be read
};

struct TfRecordReaderOptions {
  // Whether to verify the data's checksums. The lengths' always are, because they determine memory.
  bool verify = true;
  // Longer records are errors.
  uint64_t max_bytes = uint64_t{1} << 30;
  // The memory budget: longer records are errors if the source is compressed, because a few bytes
  // may expand to very many.
  uint64_t budget_bytes = std::numeric_limits<uint64_t>::max();
};

// Records in order. Memory: a window of 256 KiB, and up to twice the longest record; a wrong length
// never makes it larger than twice the bytes that are there. One thread at a time.
class TfRecordReader {
 public:
  // `source` is at the beginning of record `number`.
  TfRecordReader(std::unique_ptr<ByteSource> source, const TfRecordReaderOptions& options,
                 int64_t number = 0, std::shared_ptr<MemoryAccount> account = nullptr);

  // Returns the next record; nothing at the end. An error is final; damage that is not final is
  // reported by `damaged` instead.
  Result<std::optional<TfRecord>> Next();

  const std::string& name() const { return window_.source().name(); }
  // Return the offset and number of the next record. A new reader with these values continues
  // there.
  uint64_t offset() const { return window_.offset(); }
  int64_t number() const { return number_; }

 private:
  Result<uint64_t> ReadLength();

  const TfRecordReaderOptions options_;
  ReadWindow window_;
  int64_t number_;
  Status error_;
};

// Returns the error for a record whose data do not match their checksum.
Status TfRecordDamaged(const std::string& name, uint64_t offset, int64_t number);

// Checks the frame of a record that was read by position: `frame` is all of it, from the length to
// the last checksum. Returns the data.
//   name, offset, number  for errors
Result<std::span<const std::byte>> CheckTfRecordFrame(std::span<const std::byte> frame,
                                                      const std::string& name, uint64_t offset,
                                                      int64_t number, bool verify);

// Returns where the records of a plain file begin and the last one ends (OffsetIndex::Of takes
// them). Reads only the lengths and verifies their checksums, in windows, or one by one if records
// are long.
Result<std::vector<uint64_t>> ScanTfRecords(const File& file);

}  // namespace stoker
