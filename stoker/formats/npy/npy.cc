#include "stoker/formats/npy/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/formats/array_bytes.h"
#include "stoker/formats/probe/file_kind.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

static_assert(std::endian::native == std::endian::little, "values are used as they lie");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kVersion = 6, kLength = 8, kAlignment = 64;
constexpr size_t kMostHeader = 1 << 20, kMostDimensions = 64;

struct NpyType {
  std::string_view code;  // after the byte order
  DType dtype;            // that is written so
};
constexpr NpyType kTypes[] = {
    {"b1", DType::kBool},    {"u1", DType::kUInt8},   {"i1", DType::kInt8},
    {"i2", DType::kInt16},   {"i4", DType::kInt32},   {"i8", DType::kInt64},
    {"f2", DType::kFloat16}, {"f4", DType::kFloat32}, {"f8", DType::kFloat64}};

// The type that `code` says, without its byte order; nothing if there is no such.
std::optional<StoredValue> StoredOf(std::string_view code) {
  if (code.size() != 2 || code[1] < '1' || code[1] > '8') return std::nullopt;
  constexpr std::pair<char, StoredKind> kKinds[] = {{'b', StoredKind::kBool},
                                                    {'i', StoredKind::kSigned},
                                                    {'u', StoredKind::kUnsigned},
                                                    {'f', StoredKind::kFloat}};
  const auto* const kind = std::ranges::find(kKinds, code[0], &std::pair<char, StoredKind>::first);
  if (kind == std::end(kKinds)) return std::nullopt;
  const StoredValue stored{.kind = kind->second, .bytes = static_cast<size_t>(code[1] - '0')};
  return stored.ToDType().ok() ? std::optional(stored) : std::nullopt;
}

// Whether the values are used as they lie; NumPy's truth values are 0 and 1.
bool IsAsUsed(const StoredValue& stored) {
  return stored.kind == StoredKind::kBool || stored.IsNative();
}

// Reads the dictionary of a header: keys and values as NumPy writes them, in any order and spacing.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : text_(text) {}

  // Each reads one item after white space; false, or nothing, if it is not there.
  bool Take(std::string_view token) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::optional<std::string_view> TakeString() {
    SkipSpace();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == text_.npos) return std::nullopt;
    const std::string_view string = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return string;
  }
  std::optional<int64_t> TakeExtent() {
    SkipSpace();
    int64_t extent = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
    if (error != std::errc() || extent < 0) return std::nullopt;
    at_ = static_cast<size_t>(end - text_.data());
    Take("L");  // Python 2 wrote it
    return extent;
  }
  bool AtEnd() {
    SkipSpace();
    return at_ == text_.size();
  }
  size_t at() const { return at_; }

 private:
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

struct Dictionary {
  std::optional<std::string_view> descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
};

std::optional<Shape> TakeShape(HeaderText& text) {
  Shape shape;
  if (!text.Take("(")) return std::nullopt;
  while (!text.Take(")")) {
    const std::optional<int64_t> extent = text.TakeExtent();
    if (!extent || shape.size() == kMostDimensions) return std::nullopt;
    shape.push_back(*extent);
    if (!text.Take(",")) return text.Take(")") ? std::optional(shape) : std::nullopt;
  }
  return shape;
}

// Whether all of it was read.
bool TakeDictionary(HeaderText& text, Dictionary& out) {
  if (!text.Take("{")) return false;
  while (!text.Take("}")) {
    const std::optional<std::string_view> key = text.TakeString();
    if (!key || !text.Take(":")) return false;
    if (*key == "descr") {
      out.descr = text.TakeString();
      if (!out.descr) return false;
    } else if (*key == "fortran_order") {
      out.fortran_order = text.Take("True");
      if (!*out.fortran_order && !text.Take("False")) return false;
    } else if (*key == "shape") {
      out.shape = TakeShape(text);
      if (!out.shape) return false;
    } else {
      return false;
    }
    if (!text.Take(",")) return text.Take("}") && text.AtEnd();
  }
  return text.AtEnd();
}

Status NoNpy(std::span<const std::byte> bytes, const std::string& name) {
  return DataLoss("{}: byte 0: this is {}, not a NumPy array; check the path", name,
                  DescribeStart(bytes.first(std::min(bytes.size(), kProbeBytes))));
}

// Puts the values of an array in Fortran order into C order.
void FromFortranOrder(const Shape& shape, size_t value_size, const std::byte* in, std::byte* out) {
  const auto values = static_cast<size_t>(NumValues(shape));
  std::vector<size_t> steps(shape.size());  // in `in`, of one further along each dimension
  size_t step = value_size;
  for (size_t d = 0; d < shape.size(); ++d) {
    steps[d] = step;
    step *= static_cast<size_t>(shape[d]);
  }
  std::vector<int64_t> index(shape.size());
  size_t from = 0;
  for (size_t i = 0; i < values; ++i) {
    std::memcpy(out + i * value_size, in + from, value_size);
    for (size_t d = shape.size(); d-- > 0;) {
      from += steps[d];
      if (++index[d] < shape[d]) break;
      from -= steps[d] * static_cast<size_t>(shape[d]);
      index[d] = 0;
    }
  }
}

bool IsInFortranOrder(const NpyHeader& header) {
  return header.fortran_order && header.shape.size() > 1;
}

Result<Array> Converted(const NpyHeader& header, const std::byte* values, const std::string& name,
                        const std::shared_ptr<MemoryAccount>& account) {
  Array array = Array::Allocate(header.dtype, header.shape, account);
  const auto count = static_cast<size_t>(NumValues(header.shape));
  const size_t bytes = count * header.stored.bytes;
  std::byte* const end = array.data() + (array.num_bytes() - bytes);  // that ConvertStored takes
  if (IsInFortranOrder(header)) {
    FromFortranOrder(header.shape, header.stored.bytes, values, end);
  } else if (bytes > 0) {
    std::memcpy(end, values, bytes);
  }
  if (IsAsUsed(header.stored)) return array;
  const Status status = ConvertStored(header.stored, array.data(), count);
  if (!status.ok()) return Status(status.code(), fmt::format("{}: {}", name, status.message()));
  return array;
}

}  // namespace

Result<NpyHeader> ParseNpyHeader(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic)) return NoNpy(bytes, name);
  const auto byte = [&](size_t i) {
    return i < text.size() ? size_t{static_cast<uint8_t>(text[i])} : size_t{0};
  };
  const size_t version = byte(kVersion);
  if (text.size() > kLength && (version < 1 || version > 3)) {
    return Unimplemented("{}: byte 6: version {} of the format; 1 to 3 are read", name, version);
  }
  const size_t begin = kLength + (version == 1 ? 2 : 4);
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (text.size() < begin || length > kMostHeader || length > text.size() - begin) {
    return DataLoss(
        "{}: byte {}: a header of {} bytes is announced, {} are there; the file was cut short: "
        "copy it again",
        name, kLength, length, text.size() - std::min(begin, text.size()));
  }
  HeaderText header_text(text.substr(begin, length));
  Dictionary dictionary;
  if (!TakeDictionary(header_text, dictionary) || !dictionary.descr || !dictionary.shape ||
      !dictionary.fortran_order) {
    return Unimplemented(
        "{}: byte {}: the header is none of a plain array: {}; save one array of numbers", name,
        begin + header_text.at(), text.substr(begin, std::min<size_t>(length, 100)));
  }
  const std::string_view code = dictionary.descr->substr(dictionary.descr->empty() ? 0 : 1);
  std::optional<StoredValue> stored = StoredOf(code);
  const char order = dictionary.descr->empty() ? '?' : dictionary.descr->front();
  if (!stored || (order != '<' && order != '>' && order != '|' && order != '=')) {
    return Unimplemented(
        "{}: values of type '{}'; read are b1, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4 and f8: "
        "convert with astype before saving",
        name, *dictionary.descr);
  }
  stored->big_endian = order == '>';
  STOKER_ASSIGN_OR_RETURN(const DType dtype, stored->ToDType());
  return NpyHeader{.dtype = dtype,
                   .shape = *std::move(dictionary.shape),
                   .stored = *stored,
                   .fortran_order = *dictionary.fortran_order,
                   .data = begin + length};
}

bool LiesAsUsed(const NpyHeader& header, const std::byte* values) {
  const bool aligned = reinterpret_cast<uintptr_t>(values) % DTypeSize(header.dtype) == 0;
  return IsAsUsed(header.stored) && !IsInFortranOrder(header) && aligned;
}

Status CheckNpySize(const NpyHeader& header, uint64_t bytes, const std::string& name) {
  std::optional<uint64_t> wanted = ArrayBytes(header.dtype, header.shape);
  if (wanted) *wanted = *wanted / DTypeSize(header.dtype) * header.stored.bytes;
  const uint64_t there = bytes - std::min(bytes, header.data);
  if (wanted && *wanted == there) return OkStatus();
  return DataLoss(
      "{}: byte {}: {}{} takes {} bytes, {} are there; the file is cut short or damaged: copy it "
      "again",
      name, header.data, DTypeName(header.dtype), ShapeToString(header.shape),
      wanted ? std::to_string(*wanted) : "more than can be addressed", there);
}

Result<Array> ReadNpy(const std::string& path, const std::shared_ptr<MemoryAccount>& account) {
  STOKER_ASSIGN_OR_RETURN(const FileBytes file, FileBytes::Open(path));
  if (file.present()) return ParseNpy(file.buffer(), file.bytes(), path, account);
  const Buffer copy = Buffer::Allocate(file.size(), account);
  STOKER_RETURN_IF_ERROR(file.ReadAt(0, {copy.data(), copy.size()}));
  return ParseNpy(copy, {copy.data(), copy.size()}, path, account);
}

Result<NpyHeader> ReadNpyHeader(const FileBytes& file) {
  constexpr uint64_t kUsual = 4 << 10, kLongest = kMostHeader + kAlignment;
  for (const uint64_t most : {kUsual, kLongest}) {
    const uint64_t bytes = std::min(file.size(), most);
    STOKER_RETURN_IF_ERROR(file.Load(0, bytes));
    Result<NpyHeader> header = ParseNpyHeader(file.bytes().first(bytes), file.name());
    if (header.ok() || bytes < most || most == kLongest) return header;
  }
  return Internal("{}: its header was not read", file.name());
}

Result<Array> ParseNpy(const Buffer& owner, std::span<const std::byte> bytes,
                       const std::string& name, const std::shared_ptr<MemoryAccount>& account) {
  STOKER_ASSIGN_OR_RETURN(NpyHeader header, ParseNpyHeader(bytes, name));
  STOKER_RETURN_IF_ERROR(CheckNpySize(header, bytes.size(), name));
  const std::byte* const values = bytes.data() + header.data;
  if (!LiesAsUsed(header, values) || NumValues(header.shape) == 0)
    return Converted(header, values, name, account);
  return Array(owner, header.dtype, std::move(header.shape),
               static_cast<size_t>(values - owner.data()));
}

Result<std::string> NpyHeaderOf(DType dtype, const Shape& shape, const std::string& name) {
  const auto* const type = std::ranges::find(kTypes, dtype, &NpyType::dtype);
  if (type == std::end(kTypes)) {
    return InvalidArgument("{}: NumPy has no {}; cast to another type first", name,
                           DTypeName(dtype));
  }
  std::string extents;
  for (const int64_t extent : shape) extents += fmt::format("{}, ", extent);
  // As Python writes tuples: (), (3,), (3, 4).
  if (shape.size() == 1) extents.pop_back();
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   DTypeSize(dtype) == 1 ? '|' : '<', type->code, extents);
  // Room in which the first extent can grow.
  constexpr size_t kMostDigits = 21;
  if (!shape.empty()) header.append(kMostDigits - std::to_string(shape[0]).size(), ' ');
  const size_t begin = kLength + 2;
  header.append(kAlignment - (begin + header.size() + 1) % kAlignment, ' ');
  header += '\n';
  if (header.size() > 0xffff)
    return InvalidArgument("{}: an array of {} dimensions is not written", name, shape.size());
  std::string start(kMagic);
  start += '\1';
  start += '\0';
  start += static_cast<char>(header.size() & 0xff);
  start += static_cast<char>(header.size() >> 8);
  return start + header;
}

Status WriteNpy(const std::string& path, const Array& array) {
  STOKER_ASSIGN_OR_RETURN(const std::string header,
                          NpyHeaderOf(array.dtype(), array.shape(), path));
  STOKER_ASSIGN_OR_RETURN(AtomicFileWriter file, AtomicFileWriter::Create(path));
  STOKER_RETURN_IF_ERROR(file.Append(header));
  STOKER_RETURN_IF_ERROR(file.Append(std::span<const std::byte>(array.data(), array.num_bytes())));
  return file.Commit();
}

}  // namespace stoker
