#include "stoker/formats/hdf5/filters_internal.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/formats/chunked/inflate_block.h"

namespace stoker::internal {
namespace {

constexpr uint64_t kFletcherBytes = 4;
constexpr uint64_t kLzfMostGrowth = 90;  // 264 bytes from 3

bool Compresses(Hdf5FilterKind kind) {
  return kind == Hdf5FilterKind::kDeflate || kind == Hdf5FilterKind::kLzf ||
         kind == Hdf5FilterKind::kZstd;
}

uint64_t MostGrowth(Hdf5FilterKind kind) {
  switch (kind) {
    case Hdf5FilterKind::kDeflate: return kDeflateMostGrowth;
    case Hdf5FilterKind::kLzf: return kLzfMostGrowth;
    default: return kZstdMostGrowth;
  }
}

const char* KnownName(uint16_t id) {
  switch (id) {
    case 4: return " (szip)";
    case 5: return " (nbit)";
    case 6: return " (scaleoffset)";
    case 307: return " (bzip2)";
    case 32001: return " (blosc)";
    case 32004: return " (lz4)";
    case 32008: return " (bitshuffle)";
    case 32026: return " (blosc2)";
    default: return "";
  }
}

// The first bytes of all values lie together, then the second, and so on.
template <size_t kBytes>
void UnshuffleOf(const std::byte* in, size_t values, std::byte* out) {
  for (size_t i = 0; i < values; ++i) {
    for (size_t b = 0; b < kBytes; ++b) out[i * kBytes + b] = in[b * values + i];
  }
}

void Unshuffle(std::span<const std::byte> in, size_t value_bytes, std::byte* out) {
  const size_t values = in.size() / value_bytes;
  switch (value_bytes) {
    case 2: UnshuffleOf<2>(in.data(), values, out); break;
    case 4: UnshuffleOf<4>(in.data(), values, out); break;
    case 8: UnshuffleOf<8>(in.data(), values, out); break;
    default:
      for (size_t b = 0; values > 0 && b < value_bytes; ++b) {
        for (size_t i = 0; i < values; ++i) out[i * value_bytes + b] = in[b * values + i];
      }
  }
  const size_t done = values * value_bytes;  // what is no whole value stays where it is
  if (done < in.size()) std::memcpy(out + done, in.data() + done, in.size() - done);
}

// LZF: runs of bytes as they are, and copies of what came up to 8 KiB before.
bool DecompressLzf(std::span<const std::byte> in, std::span<std::byte> out) {
  size_t from = 0, to = 0;
  const auto next = [&] { return std::to_integer<size_t>(in[from++]); };
  while (from < in.size()) {
    const size_t control = next();
    if (control < 32) {
      const size_t run = control + 1;
      if (run > in.size() - from || run > out.size() - to) return false;
      std::memcpy(out.data() + to, in.data() + from, run);
      from += run, to += run;
      continue;
    }
    size_t length = control >> 5;
    if (length == 7) {
      if (from == in.size()) return false;
      length += next();
    }
    if (from == in.size()) return false;
    const size_t back = ((control & 31) << 8 | next()) + 1;
    length += 2;
    if (back > to || length > out.size() - to) return false;
    for (size_t i = 0; i < length; ++i, ++to) out[to] = out[to - back];  // may overlap
  }
  return to == out.size();
}

Status Decompress(Hdf5FilterKind kind, std::span<const std::byte> in, std::span<std::byte> out) {
  if (kind == Hdf5FilterKind::kDeflate) return InflateBlock(BlockForm::kZlib, in, out);
  if (kind == Hdf5FilterKind::kZstd) return InflateBlock(BlockForm::kZstd, in, out);
  return DecompressLzf(in, out) ? OkStatus()
                                : DataLoss("it does not decompress to {} bytes of LZF", out.size());
}

}  // namespace

Result<std::vector<Hdf5Filter>> ParseHdf5Filters(const Hdf5Content& file,
                                                 const Hdf5Message& message,
                                                 const std::string& where) {
  Hdf5Cursor in(file, message.at, message.bytes);
  const uint8_t version = in.U8(), count = in.U8();
  if (version == 1) in.Skip(6);
  if (version < 1 || version > 2 || count > 32) in.Fail();
  std::vector<Hdf5Filter> filters;
  for (uint8_t i = 0; i < count && !in.failed(); ++i) {
    const uint16_t id = in.U16();
    const uint16_t name_bytes = version == 1 || id >= 256 ? in.U16() : 0;
    in.Skip(2);  // flags
    const uint16_t values = in.U16();
    in.Skip(version == 1 ? (uint64_t{name_bytes} + 7) / 8 * 8 : name_bytes);
    Hdf5Filter filter{static_cast<Hdf5FilterKind>(id)};
    if (values > 0) filter.value_bytes = in.U32();
    in.Skip(4 * uint64_t{std::max<uint16_t>(values, 1)} - 4);
    if (version == 1 && values % 2 == 1) in.Skip(4);
    if (in.failed()) break;
    const bool known = filter.kind == Hdf5FilterKind::kShuffle ||
                       filter.kind == Hdf5FilterKind::kFletcher32 || Compresses(filter.kind);
    if (!known) {
      return Unimplemented(
          "{}: its chunks went through filter {}{}, known are gzip, lzf, zstd, "
          "shuffle and fletcher32; h5repack writes it with another",
          where, id, KnownName(id));
    }
    if (filter.kind == Hdf5FilterKind::kShuffle && filter.value_bytes == 0) in.Fail();
    filters.push_back(filter);
  }
  STOKER_RETURN_IF_ERROR(in.Check(message.at, "a list of filters"));
  if (std::ranges::count_if(filters, [](const Hdf5Filter& f) { return Compresses(f.kind); }) > 1)
    return Unimplemented("{}: its chunks are compressed twice; h5repack writes it otherwise",
                         where);
  return filters;
}

Result<Buffer> UndoHdf5Filters(const std::vector<Hdf5Filter>& filters, uint32_t left_out,
                               std::span<const std::byte> stored, uint64_t bytes,
                               const std::shared_ptr<MemoryAccount>& account) {
  const auto applied = [&](size_t i) { return (left_out >> i & 1) == 0; };
  // The input size of each filter before a compression is known: the chunk and the checksums added
  // before it.
  std::vector<uint64_t> handed;
  for (size_t i = 0, size = bytes; i < filters.size(); ++i) {
    handed.push_back(size);
    if (applied(i) && filters[i].kind == Hdf5FilterKind::kFletcher32) size += kFletcherBytes;
  }
  Buffer owner;
  std::span<const std::byte> data = stored;
  for (size_t i = filters.size(); i-- > 0;) {
    const auto [kind, value_bytes] = filters[i];
    if (!applied(i)) continue;
    if (kind == Hdf5FilterKind::kFletcher32) {
      if (data.size() < kFletcherBytes) return DataLoss("it has no room for its checksum");
      uint32_t checksum;
      std::memcpy(&checksum, data.data() + data.size() - kFletcherBytes, kFletcherBytes);
      data = data.first(data.size() - kFletcherBytes);
      if (Fletcher32(data) != checksum) return DataLoss("it lacks its checksum");
      continue;
    }
    const uint64_t size = Compresses(kind) ? handed[i] : data.size();
    if (Compresses(kind) && size / MostGrowth(kind) > data.size())
      return DataLoss("{} bytes cannot be made of {}", size, data.size());
    Buffer next = Buffer::Allocate(size, account);
    if (Compresses(kind)) {
      STOKER_RETURN_IF_ERROR(Decompress(kind, data, {next.data(), size}));
    } else {
      Unshuffle(data, value_bytes, next.data());
    }
    owner = std::move(next);
    data = {owner.data(), size};
  }
  if (data.size() != bytes) return DataLoss("it has {} bytes, {} are wanted", data.size(), bytes);
  if (owner && data.data() == owner.data()) return owner;
  Buffer copy = Buffer::Allocate(bytes, account);
  std::memcpy(copy.data(), data.data(), bytes);
  return copy;
}

}  // namespace stoker::internal
