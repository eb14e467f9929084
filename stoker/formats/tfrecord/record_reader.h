// TFRecord files: records from a stream, one by one, and where they lie in a plain file. README.md
// has the layout.
//
// Errors: kDataLoss with file and byte for what is no whole record ("a.tfrecord: byte 812: ..."),
// and a hint where it is recognisably something else; those of io/file.h and of the decompressors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/ledger.h"
#include "stoker/base/status.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/file.h"
#include "stoker/io/read_window.h"

namespace stoker {

// Around the data of a record: its length and the length's checksum, and its own checksum.
inline constexpr size_t kTfRecordHeaderBytes = 12;
inline constexpr size_t kTfRecordFooterBytes = 4;
inline constexpr size_t kTfRecordFrameBytes = kTfRecordHeaderBytes + kTfRecordFooterBytes;

// kAuto tells by the content; see README.md.
enum class TfRecordCompression { kAuto, kNone, kGzip, kZlib, kZstd, kXz, kBzip2 };

// What kAuto finds in a file. An empty file is a plain one of no records.
Result<TfRecordCompression> DetectTfRecordCompression(const File& file);

// Whether a length with its checksum stands here, the first 12 bytes of a record.
bool BeginsTfRecord(std::span<const std::byte> bytes);

// The file's records as they are framed, decompressed, from byte `offset` of the content on: as
// OpenByteSourceAt, but for how the compression is told.
Result<std::unique_ptr<ByteSource>> OpenTfRecordSource(
    const std::string& path, TfRecordCompression compression, uint64_t offset = 0,
    std::shared_ptr<MemoryAccount> account = nullptr);

struct TfRecord {
  std::span<const std::byte> data;  // valid until the next call
  uint64_t offset = 0;              // of its frame in the (decompressed) content
  int64_t number = 0;               // from 0
  bool damaged = false;             // the data lack their checksum; what follows can be read
};

struct TfRecordReaderOptions {
  // Whether the data's checksums are verified. The lengths' always are: memory follows from them.
  bool verify = true;
  // Longer records are errors.
  uint64_t max_bytes = uint64_t{1} << 30;
  // The memory budget: longer records are errors where the source is compressed, since a few bytes
  // may hold very many then.
  uint64_t budget_bytes = std::numeric_limits<uint64_t>::max();
};

// Records in order. Memory: a window of 256 KiB, and up to twice the longest record; a length that
// lies never makes it larger than twice what is there. One thread at a time.
class TfRecordReader {
 public:
  // `source` stands at the begin of record `number`.
  TfRecordReader(std::unique_ptr<ByteSource> source, const TfRecordReaderOptions& options,
                 int64_t number = 0, std::shared_ptr<MemoryAccount> account = nullptr);

  // The next record; nothing at the end. An error is final, unless `damaged` says it in its place.
  Result<std::optional<TfRecord>> Next();

  const std::string& name() const { return window_.source().name(); }
  // What the next record will have: a new reader begun with these goes on from there.
  uint64_t offset() const { return window_.offset(); }
  int64_t number() const { return number_; }

 private:
  Result<uint64_t> ReadLength();

  const TfRecordReaderOptions options_;
  ReadWindow window_;
  int64_t number_;
  Status error_;
};

// The error of a record whose data lack their checksum.
Status TfRecordDamaged(const std::string& name, uint64_t offset, int64_t number);

// Checks the frame of a record that was read by position: `frame` is all of it, from the length to
// the last checksum. Gives the data.
//   name, offset, number  for errors
Result<std::span<const std::byte>> CheckTfRecordFrame(std::span<const std::byte> frame,
                                                      const std::string& name, uint64_t offset,
                                                      int64_t number, bool verify);

// Where the records of a plain file begin and the last one ends (OffsetIndex::Of takes them).
// Reads the lengths and verifies their checksums, in windows or from one to the next where records
// are long; the data are not looked at.
Result<std::vector<uint64_t>> ScanTfRecords(const File& file);

}  // namespace stoker
