// Members of tar archives. README.md has the layout.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/formats/sample_name.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/file.h"

namespace stoker {

// The source of an archive's bytes. One thread at a time.
class TarInput {
 public:
  virtual ~TarInput() = default;
  // Fills `out` with the bytes from `offset` on; returns how many, fewer at the end.
  virtual Result<size_t> ReadAt(uint64_t offset, std::span<std::byte> out) = 0;
  // Returns whether it is a part of an archive, without an end-of-archive mark.
  virtual bool is_part() const { return false; }
  // Returns an upper bound of the archive's size.
  virtual uint64_t bound() const = 0;
  // For errors.
  virtual const std::string& name() const = 0;
};

// The first overload reads a file, the second bytes of whole members that begin at `offset` of an
// archive; both are borrowed.
std::unique_ptr<TarInput> MakeTarInput(const File& file);
std::unique_ptr<TarInput> MakeTarInput(std::span<const std::byte> bytes, uint64_t offset,
                                       const std::string& name);
// Reads a stream: offsets must not decrease.
std::unique_ptr<TarInput> MakeTarInput(std::unique_ptr<ByteSource> source);

struct TarMember {
  std::string name;
  uint64_t begin = 0;  // of its headers
  uint64_t data = 0;   // where its data begin
  uint64_t size = 0;   // of its data, all of which lies within the input's bound
  uint64_t end() const { return data + (size + 511) / 512 * 512; }
};

// The regular files of an archive, in order; skips directories, links and devices; continues with
// an archive that is appended to it. Reads only headers, and the bytes after the last member up to
// the end of the input, where a compressed one has its checksum. Errors, which are final:
// kDataLoss, with the byte, for a malformed header, a truncated member, and an end without a block
// of zeros; kUnimplemented for a sparse file.
class TarReader {
 public:
  // `input`, borrowed, has a header at `offset`.
  explicit TarReader(TarInput& input, uint64_t offset = 0) : input_(input), next_(offset) {}

  Result<std::optional<TarMember>> Next();

 private:
  using Block = std::array<std::byte, 512>;
  Result<bool> ReadBlock(Block& block);
  Status CheckHeader(const Block& block, size_t got) const;
  Status CheckEnd() const;
  Result<std::string> ReadText(const TarMember& of);
  Status ReadPax(const TarMember& of, std::optional<std::string>& name,
                 std::optional<uint64_t>& size) const;
  Status CheckSize(const TarMember& member) const;

  TarInput& input_;
  uint64_t next_;
  bool ended_ = false;  // the last block was all zeros
};

// Returns where the samples of an archive begin and the last one ends, as OffsetIndex::Of takes
// them. Reads the headers and skips the data.
Result<std::vector<uint64_t>> ScanTarSamples(const File& file);

}  // namespace stoker
