#include "stoker/formats/safetensors/safetensors.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "stoker/base/config.h"
#include "stoker/formats/safetensors/header_internal.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/byte_reader.h"
#include "stoker/io/file_bytes.h"

namespace stoker {
namespace {

constexpr size_t kLengthBytes = 8;
constexpr size_t kHeaderAlignment = 8;

// The arrays in the order in which their data is stored.
std::vector<const NamedArray*> StorageOrder(std::span<const NamedArray> arrays) {
  std::vector<const NamedArray*> order;
  order.reserve(arrays.size());
  for (const NamedArray& array : arrays) order.push_back(&array);
  std::ranges::sort(order, {}, [](const NamedArray* array) {
    return std::tuple<int, std::string_view>(-internal::SafetensorsRank(array->array.dtype()),
                                             array->name);
  });
  return order;
}

Status CheckNames(const std::string& path, std::span<const NamedArray> arrays) {
  std::vector<std::string_view> names;
  names.reserve(arrays.size());
  for (const NamedArray& array : arrays) names.push_back(array.name);
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end()) {
    return InvalidArgument("{}: two arrays are called '{}'; names must differ", path, *twice);
  }
  if (std::ranges::binary_search(names, std::string_view("__metadata__"))) {
    return InvalidArgument(
        "{}: an array is called '__metadata__', which the format reserves; rename it", path);
  }
  return OkStatus();
}

// The length and the padded text.
Result<std::string> HeaderBytes(const std::string& path, std::span<const NamedArray* const> order,
                                const SafetensorsMetadata& metadata) {
  internal::SafetensorsHeader header{{}, metadata};
  uint64_t offset = 0;
  for (const NamedArray* named : order) {
    const Array& array = named->array;
    header.entries.push_back(
        {named->name, array.dtype(), array.shape(), offset, array.num_bytes()});
    offset += array.num_bytes();
  }
  Result<std::string> text = internal::SafetensorsHeaderText(header);
  if (!text.ok()) return text.status().While("writing " + path);
  text->resize((text->size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');
  if (text->size() > internal::kMaxSafetensorsHeader) {
    return InvalidArgument(
        "{}: the header takes {} bytes, at most {} are allowed; shorten names or metadata", path,
        text->size(), internal::kMaxSafetensorsHeader);
  }
  std::string bytes(kLengthBytes, '\0');
  for (size_t i = 0; i < kLengthBytes; ++i) bytes[i] = static_cast<char>(text->size() >> 8 * i);
  return bytes + *text;
}

Status CheckBooleans(const std::string& file, const SafetensorsEntry& entry,
                     std::span<const std::byte> data) {
  const auto bad = std::ranges::find_if(data, [](std::byte value) { return value > std::byte{1}; });
  if (bad == data.end()) return OkStatus();
  return DataLoss(
      "{}: entry '{}': value {} is {:#04x}, a BOOL is 0 or 1; the file is damaged: copy or "
      "download it again",
      file, entry.name, bad - data.begin(), std::to_integer<int>(*bad));
}

}  // namespace

Status WriteSafetensors(const std::string& path, std::span<const NamedArray> arrays,
                        const SafetensorsMetadata& metadata) {
  STOKER_RETURN_IF_ERROR(CheckNames(path, arrays));
  const std::vector<const NamedArray*> order = StorageOrder(arrays);
  STOKER_ASSIGN_OR_RETURN(const std::string header, HeaderBytes(path, order, metadata));
  STOKER_ASSIGN_OR_RETURN(AtomicFileWriter writer, AtomicFileWriter::Create(path));
  STOKER_RETURN_IF_ERROR(writer.Append(header));
  for (const NamedArray* named : order) {
    STOKER_RETURN_IF_ERROR(writer.Append({named->array.data(), named->array.num_bytes()}));
  }
  return writer.Commit();
}

Result<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const FileBytes file, FileBytes::Open(path));
  STOKER_RETURN_IF_ERROR(file.LoadAll());
  return Parse(file.buffer(), path);
}

Result<SafetensorsFile> SafetensorsFile::Parse(Buffer bytes, std::string name) {
  ByteReader in({bytes.data(), bytes.size()}, name);
  STOKER_ASSIGN_OR_RETURN(const uint64_t header_bytes, in.ReadU64Le("header length"));
  if (header_bytes > internal::kMaxSafetensorsHeader) {
    return DataLoss(
        "{}: byte 0: a header of {} bytes is announced, at most {} are allowed; is this a "
        "safetensors file?",
        name, header_bytes, internal::kMaxSafetensorsHeader);
  }
  STOKER_RETURN_IF_ERROR(in.CheckAvailable(header_bytes, "header"));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes,
                              header_bytes);
  if (!text.starts_with('{')) {
    return DataLoss(
        "{}: byte {}: the header must begin with an opening brace; is this a safetensors file?",
        name, kLengthBytes);
  }
  SafetensorsFile file;
  file.data_start_ = kLengthBytes + header_bytes;
  STOKER_ASSIGN_OR_RETURN(
      internal::SafetensorsHeader header,
      internal::ParseSafetensorsHeader(text, bytes.size() - file.data_start_, name));
  file.name_ = std::move(name);
  file.bytes_ = std::move(bytes);
  file.entries_ = std::move(header.entries);
  file.metadata_ = std::move(header.metadata);
  for (size_t i = 0; i < file.entries_.size(); ++i) file.index_[file.entries_[i].name] = i;
  return file;
}

const SafetensorsEntry* SafetensorsFile::Find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

Result<Array> SafetensorsFile::Read(std::string_view name) const {
  const SafetensorsEntry* const entry = Find(name);
  if (entry == nullptr) {
    std::vector<std::string> names;
    for (const SafetensorsEntry& known : entries_) names.push_back(known.name);
    const std::string nearest = NearestName(name, names);
    return NotFound("{}: there is no array '{}' among the {}; {}", name_, name, names.size(),
                    nearest.empty() ? "`stoker inspect` lists them"
                                    : fmt::format("did you mean '{}'?", nearest));
  }
  if (!entry->dtype) {
    return Unimplemented(
        "{}: array '{}' is of type {}, which Stoker does not have; convert it to one of BOOL, U8, "
        "I8, I16, I32, I64, F16, BF16, F32 and F64",
        name_, name, entry->type);
  }
  const DType dtype = *entry->dtype;
  const size_t start = data_start_ + entry->offset;
  const std::byte* const data = bytes_.data() + start;
  if (dtype == DType::kBool)
    STOKER_RETURN_IF_ERROR(CheckBooleans(name_, *entry, {data, entry->bytes}));
  if (reinterpret_cast<uintptr_t>(data) % DTypeSize(dtype) == 0) {
    return Array(bytes_, dtype, entry->shape, start);
  }
  Array copy = Array::Allocate(dtype, entry->shape);
  if (entry->bytes > 0) std::memcpy(copy.data(), data, entry->bytes);
  return copy;
}

Result<std::vector<NamedArray>> SafetensorsFile::ReadAll() const {
  std::vector<NamedArray> arrays;
  arrays.reserve(entries_.size());
  for (const SafetensorsEntry& entry : entries_) {
    STOKER_ASSIGN_OR_RETURN(Array array, Read(entry.name));
    arrays.push_back({entry.name, std::move(array)});
  }
  return arrays;
}

}  // namespace stoker
