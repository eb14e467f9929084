#include "stoker/formats/idx/idx.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/formats/array_bytes.h"
#include "stoker/formats/idx/idx_admit.h"
#include "stoker/formats/probe/file_kind.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/byte_reader.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/gzip.h"

namespace stoker {
namespace {

constexpr size_t kMaxDimensions = 255;

struct IdxType {
  uint8_t code;
  DType dtype;
};
constexpr IdxType kTypes[] = {
    {0x08, DType::kUInt8}, {0x09, DType::kInt8},    {0x0b, DType::kInt16},
    {0x0c, DType::kInt32}, {0x0d, DType::kFloat32}, {0x0e, DType::kFloat64},
};

// The first four bytes are none of an IDX file: say what they are instead, where that can be told.
Status WrongMagic(ByteReader& in) {
  STOKER_ASSIGN_OR_RETURN(const std::span<const std::byte> start, in.Peek(kProbeBytes));
  const FileKind kind = ProbeFile(start);
  if (kind == FileKind::kEmpty)
    return DataLoss("{}: the file is empty; copy or download it again", in.name());
  if (kind == FileKind::kCompressed) {
    // Files were decompressed once on the way here, and their name says so.
    return DataLoss("{}: byte 0: this is {}, not IDX; decompress it first", in.name(),
                    DescribeStart(start));
  }
  if (kind != FileKind::kUnknown) {
    return DataLoss("{}: byte 0: this is {}, not IDX; check the path", in.name(),
                    FileKindName(kind));
  }
  if (start.size() < 4)
    return DataLoss(
        "{}: byte 0: 4 bytes of magic number wanted, {} there; the file was cut short: copy or "
        "download it again",
        in.name(), start.size());
  const auto byte = [&](size_t i) { return std::to_integer<int>(start[i]); };
  return DataLoss(
      "{}: byte 0: magic number {:02x} {:02x} {:02x} {:02x}, IDX begins with 00 00, a type (08, "
      "09, 0b..0e) and the number of dimensions; check the path",
      in.name(), byte(0), byte(1), byte(2), byte(3));
}

Result<IdxHeader> ParseHeader(ByteReader& in) {
  STOKER_ASSIGN_OR_RETURN(const std::span<const std::byte> start, in.Peek(kProbeBytes));
  if (ProbeFile(start) != FileKind::kIdx) return WrongMagic(in);
  STOKER_ASSIGN_OR_RETURN(const uint32_t magic, in.ReadU32Be("magic number"));
  const auto* const type =
      std::ranges::find(kTypes, static_cast<uint8_t>(magic >> 8), &IdxType::code);
  IdxHeader header{type->dtype, {}};
  for (uint32_t left = magic & 0xff; left > 0; --left) {
    STOKER_ASSIGN_OR_RETURN(const uint32_t extent, in.ReadU32Be("extents"));
    header.shape.push_back(extent);
  }
  return header;
}

template <typename T>
void SwapEach(std::byte* bytes, size_t size) {
  for (size_t i = 0; i + sizeof(T) <= size; i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes + i, sizeof(T));
    if constexpr (sizeof(T) == 2) value = __builtin_bswap16(value);
    if constexpr (sizeof(T) == 4) value = __builtin_bswap32(value);
    if constexpr (sizeof(T) == 8) value = __builtin_bswap64(value);
    std::memcpy(bytes + i, &value, sizeof(T));
  }
}

// Between IDX's big-endian order and this machine's, in place.
void ConvertByteOrder(std::byte* bytes, size_t size, size_t value_size) {
  if constexpr (std::endian::native == std::endian::little) {
    if (value_size == 2) SwapEach<uint16_t>(bytes, size);
    if (value_size == 4) SwapEach<uint32_t>(bytes, size);
    if (value_size == 8) SwapEach<uint64_t>(bytes, size);
  }
}

// What a header announces: values of so many bytes, all of which may be there.
struct Announced {
  IdxHeader header;
  uint64_t bytes = 0;
  std::string text;  // for messages

  std::string what() const { return fmt::format("values, {} by the header,", text); }
};

Result<Announced> ParseAnnounced(ByteReader& in) {
  STOKER_ASSIGN_OR_RETURN(IdxHeader header, ParseHeader(in));
  const std::optional<uint64_t> bytes = ArrayBytes(header.dtype, header.shape);
  if (!bytes) {
    return DataLoss(
        "{}: byte 4: the extents {} announce more values than can exist; the header is damaged: "
        "copy or download the file again",
        in.name(), ShapeToString(header.shape));
  }
  std::string text = fmt::format("{}{}", DTypeName(header.dtype), ShapeToString(header.shape));
  Announced out{.header = std::move(header), .bytes = *bytes, .text = std::move(text)};
  STOKER_RETURN_IF_ERROR(in.CheckAvailable(*bytes, out.what()));
  return out;
}

// Once the values have been read.
Status ExpectEnd(ByteReader& in, const Announced& announced) {
  STOKER_ASSIGN_OR_RETURN(const std::span<const std::byte> behind, in.Peek(1));
  if (!behind.empty()) {
    return DataLoss(
        "{}: byte {}: the header announces {}, {} bytes, which end here, but more follows; the "
        "header is wrong, or this is no IDX file",
        in.name(), in.position(), announced.text, announced.bytes);
  }
  return in.ExpectEnd();
}

Result<Array> Parse(ByteReader& in, std::shared_ptr<MemoryAccount> account,
                    const std::function<Status(int64_t bytes)>& admit) {
  STOKER_ASSIGN_OR_RETURN(const Announced announced, ParseAnnounced(in));
  const auto& [header, bytes, text] = announced;
  if (admit) STOKER_RETURN_IF_ERROR(admit(static_cast<int64_t>(bytes)));
  Array array = Array::Allocate(header.dtype, header.shape, account);
  STOKER_RETURN_IF_ERROR(in.ReadBytes({array.data(), bytes}, announced.what()));
  STOKER_RETURN_IF_ERROR(ExpectEnd(in, announced));
  ConvertByteOrder(array.data(), bytes, DTypeSize(header.dtype));
  return array;
}

Result<std::vector<std::byte>> HeaderBytes(const Array& array, const std::string& path) {
  const auto* const type = std::ranges::find(kTypes, array.dtype(), &IdxType::dtype);
  if (type == std::end(kTypes)) {
    return InvalidArgument(
        "{}: IDX has no type for {}; cast to uint8, int8, int16, int32, float32 or float64", path,
        DTypeName(array.dtype()));
  }
  const Shape& shape = array.shape();
  if (shape.empty() || shape.size() > kMaxDimensions) {
    return InvalidArgument("{}: IDX holds 1 to {} dimensions, not {}; reshape", path,
                           kMaxDimensions, shape.size());
  }
  std::vector<std::byte> header = {std::byte{0}, std::byte{0}, std::byte{type->code},
                                   static_cast<std::byte>(shape.size())};
  for (const int64_t extent : shape) {
    if (extent > std::numeric_limits<uint32_t>::max()) {
      return InvalidArgument(
          "{}: an extent of {} is too large: IDX holds extents below 2^32; write several files",
          path, extent);
    }
    for (const int shift : {24, 16, 8, 0})
      header.push_back(static_cast<std::byte>(extent >> shift));
  }
  return header;
}

}  // namespace

Result<IdxHeader> ReadIdxHeader(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ByteReader in(*source);
  return ParseHeader(in);
}

Result<Array> ReadIdx(const std::string& path, std::shared_ptr<MemoryAccount> account) {
  return ReadIdxIfAdmitted(path, std::move(account), {});
}

Result<Array> ReadIdxIfAdmitted(const std::string& path, std::shared_ptr<MemoryAccount> account,
                                const std::function<Status(int64_t bytes)>& admit) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path, account));
  ByteReader in(*source);
  return Parse(in, std::move(account), admit);
}

Result<IdxHeader> ForEachPartOfIdx(const std::string& path,
                                   const std::function<void(const Array& values)>& take) {
  constexpr uint64_t kPartBytes = 1 << 20;
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ByteReader in(*source);
  STOKER_ASSIGN_OR_RETURN(Announced announced, ParseAnnounced(in));
  const size_t value_bytes = DTypeSize(announced.header.dtype);
  for (uint64_t left = announced.bytes; left > 0;) {
    const uint64_t bytes = std::min(left, kPartBytes);
    Array part =
        Array::Allocate(announced.header.dtype, {static_cast<int64_t>(bytes / value_bytes)});
    STOKER_RETURN_IF_ERROR(in.ReadBytes({part.data(), bytes}, announced.what()));
    ConvertByteOrder(part.data(), bytes, value_bytes);
    take(part);
    left -= bytes;
  }
  STOKER_RETURN_IF_ERROR(ExpectEnd(in, announced));
  return std::move(announced.header);
}

Result<Array> ReadFirstRowsOfIdx(const std::string& path, int64_t most_bytes) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ByteReader in(*source);
  STOKER_ASSIGN_OR_RETURN(Announced announced, ParseAnnounced(in));
  auto& [header, bytes, text] = announced;
  const int64_t rows = header.shape.empty() ? 0 : header.shape.front();
  const int64_t row_bytes = rows > 0 ? static_cast<int64_t>(bytes) / rows : 0;
  if (row_bytes > 0)
    header.shape.front() = std::min(rows, std::max<int64_t>(most_bytes / row_bytes, 1));
  Array array = Array::Allocate(header.dtype, header.shape);
  STOKER_RETURN_IF_ERROR(in.ReadBytes({array.data(), array.num_bytes()}, announced.what()));
  ConvertByteOrder(array.data(), array.num_bytes(), DTypeSize(header.dtype));
  return array;
}

Result<Array> ParseIdx(std::span<const std::byte> bytes, const std::string& name) {
  ByteReader in(bytes, name);
  return Parse(in, nullptr, {});
}

Status WriteIdx(const std::string& path, const Array& array, IdxCompression compression) {
  STOKER_ASSIGN_OR_RETURN(std::vector<std::byte> content, HeaderBytes(array, path));
  const size_t header_bytes = content.size();
  content.resize(header_bytes + array.num_bytes());
  if (array.num_bytes() > 0)
    std::memcpy(content.data() + header_bytes, array.data(), array.num_bytes());
  ConvertByteOrder(content.data() + header_bytes, array.num_bytes(), DTypeSize(array.dtype()));
  if (compression == IdxCompression::kGzip) {
    STOKER_ASSIGN_OR_RETURN(content, GzipCompress(content));
  }
  return WriteFileAtomically(path, content);
}

}  // namespace stoker
