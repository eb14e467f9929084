#include "stoker/formats/safetensors/header_internal.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "stoker/base/json.h"
#include "stoker/formats/array_bytes.h"

namespace stoker::internal {
namespace {

constexpr std::string_view kMetadataKey = "__metadata__";

// In the order of the enumeration Dtype of the format's own library (safetensors 0.8, tensor.rs).
struct SafetensorsType {
  std::string_view name;
  uint64_t bits;
  std::optional<DType> dtype = std::nullopt;
};
constexpr SafetensorsType kTypes[] = {
    {"BOOL", 8, DType::kBool},
    {"F4", 4},
    {"F6_E2M3", 6},
    {"F6_E3M2", 6},
    {"U8", 8, DType::kUInt8},
    {"I8", 8, DType::kInt8},
    {"F8_E5M2", 8},
    {"F8_E4M3", 8},
    {"F8_E8M0", 8},
    {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8},
    {"I16", 16, DType::kInt16},
    {"U16", 16},
    {"F16", 16, DType::kFloat16},
    {"BF16", 16, DType::kBFloat16},
    {"I32", 32, DType::kInt32},
    {"U32", 32},
    {"F32", 32, DType::kFloat32},
    {"C64", 64},
    {"F64", 64, DType::kFloat64},
    {"I64", 64, DType::kInt64},
    {"U64", 64},
};

// Bytes of an array of this type; nothing if there are more than can be, or no whole number.
std::optional<uint64_t> BytesOf(const SafetensorsType& type, const Shape& shape) {
  if (type.dtype) return ArrayBytes(*type.dtype, shape);
  const std::optional<uint64_t> values = ArrayBytes(DType::kUInt8, shape);
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (!values || *values > kMost / type.bits || *values * type.bits % 8 != 0) return std::nullopt;
  return *values * type.bits / 8;
}

// An entry as written in the header, before its values are checked.
struct RawEntry {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<uint64_t>> shape;
  std::optional<std::vector<uint64_t>> offsets;
};

// Takes the header's events one by one, so that duplicate keys and wrong types are seen and hostile
// nesting builds nothing. Every handler returns false to stop, with the reason in error().
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  std::vector<RawEntry>& entries() { return entries_; }
  SafetensorsMetadata& metadata() { return metadata_; }
  const Status& error() const { return error_; }

  bool key(string_t& key) override {
    key_ = key;
    if (depth_ == 1) {
      if (!names_.insert(key).second) return Fail("the name '{}' occurs twice", key);
      in_metadata_ = key == kMetadataKey;
      if (!in_metadata_) entries_.push_back({key, {}, {}, {}});
      return true;
    }
    return in_metadata_ ? MetadataKey() : EntryKey();
  }

  bool start_object(std::size_t) override {
    if (depth_ >= 2) return WrongType("an object");
    ++depth_;
    return true;
  }

  bool end_object() override {
    --depth_;
    if (depth_ != 1 || in_metadata_) return true;
    const RawEntry& entry = entries_.back();
    if (entry.dtype && entry.shape && entry.offsets) return true;
    return Fail("entry '{}' lacks one of dtype, shape and data_offsets", entry.name);
  }

  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || list_ == nullptr) return WrongType("a list");
    if (in_list_) return WrongType("a list in a list");
    in_list_ = true;
    return true;
  }

  bool end_array() override {
    in_list_ = false;
    return true;
  }

  bool string(string_t& value) override {
    if (depth_ == 2 && in_metadata_) {
      metadata_[key_] = value;
      return true;
    }
    if (depth_ != 2 || list_ != nullptr) return WrongType("text");
    entries_.back().dtype = value;
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (!in_list_) return WrongType("a number");
    list_->push_back(value);
    return true;
  }

  bool null() override { return WrongType("null"); }
  bool boolean(bool) override { return WrongType("true or false"); }
  bool number_integer(number_integer_t) override { return WrongType("a negative number"); }
  bool number_float(number_float_t, const string_t&) override {
    return WrongType("a number that is no integer");
  }
  bool binary(binary_t&) override { return WrongType("binary data"); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // The position counts the characters read, from 1; the header begins at byte 8.
    error_ = DataLoss(
        "{}: byte {}: the header is not valid JSON ({}); the file is damaged: copy or download it "
        "again",
        file_, position + (position > 0 ? 7 : 8), error.what());
    return false;
  }

 private:
  template <typename... Args>
  bool Fail(fmt::format_string<Args...> format, Args&&... args) {
    error_ = DataLoss(
        "{}: header: {}; the file is damaged or was written wrongly: copy or make it again", file_,
        fmt::format(format, std::forward<Args>(args)...));
    return false;
  }

  bool WrongType(std::string_view found) {
    if (depth_ == 0) return Fail("an object of entries was expected, not {}", found);
    if (depth_ == 1) return Fail("entry '{}' is {}, not an object", key_, found);
    if (in_metadata_) return Fail("the metadata '{}' is {}; only text is allowed", key_, found);
    return Fail("entry '{}': '{}' is or holds {}", entries_.back().name, key_, found);
  }

  bool MetadataKey() {
    if (metadata_.contains(key_)) return Fail("the metadata '{}' occurs twice", key_);
    metadata_[key_];
    return true;
  }

  bool EntryKey() {
    RawEntry& entry = entries_.back();
    list_ = nullptr;
    if (key_ == "dtype") return entry.dtype ? Twice() : true;
    if (key_ != "shape" && key_ != "data_offsets") {
      return Fail("entry '{}' has an unknown key '{}'", entry.name, key_);
    }
    auto& list = key_ == "shape" ? entry.shape : entry.offsets;
    if (list) return Twice();
    list_ = &list.emplace();
    return true;
  }

  bool Twice() { return Fail("entry '{}': '{}' occurs twice", entries_.back().name, key_); }

  const std::string& file_;
  std::vector<RawEntry> entries_;
  std::set<std::string> names_;
  SafetensorsMetadata metadata_;
  Status error_;
  int depth_ = 0;
  bool in_metadata_ = false;
  bool in_list_ = false;
  std::string key_;
  // What the current key's numbers go to; null if it takes text.
  std::vector<uint64_t>* list_ = nullptr;
};

Result<SafetensorsEntry> Checked(const RawEntry& raw, const std::string& file) {
  const auto fail = [&](const std::string& what) {
    return DataLoss(
        "{}: header: entry '{}': {}; the file is damaged or was written wrongly: copy or make it "
        "again",
        file, raw.name, what);
  };
  const auto* const type = std::ranges::find(kTypes, *raw.dtype, &SafetensorsType::name);
  if (type == std::end(kTypes)) {
    return Unimplemented(
        "{}: entry '{}' has the dtype '{}', which safetensors 0.8 does not have; the file is "
        "damaged, or newer",
        file, raw.name, *raw.dtype);
  }
  SafetensorsEntry entry{.name = raw.name, .dtype = type->dtype, .type = *raw.dtype};
  for (const uint64_t extent : *raw.shape) {
    if (extent > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return fail(fmt::format("the extent {} is too large", extent));
    entry.shape.push_back(static_cast<int64_t>(extent));
  }
  const std::optional<uint64_t> bytes = BytesOf(*type, entry.shape);
  if (!bytes)
    return fail(fmt::format("the shape {} announces more values than can exist, or no whole bytes",
                            ShapeToString(entry.shape)));
  if (raw.offsets->size() != 2)
    return fail(fmt::format("data_offsets holds {} numbers, not 2", raw.offsets->size()));
  const uint64_t begin = (*raw.offsets)[0], end = (*raw.offsets)[1];
  if (begin > end || end - begin != *bytes) {
    return fail(fmt::format("its data lies at {}..{}, but {}{} takes {} bytes", begin, end,
                            type->name, ShapeToString(entry.shape), *bytes));
  }
  entry.offset = begin;
  entry.bytes = *bytes;
  return entry;
}

// The entries, sorted by their data, must follow each other without hole or overlap and end where
// the file ends.
Status CheckLayout(const std::vector<SafetensorsEntry>& entries, uint64_t data_bytes,
                   const std::string& file) {
  uint64_t expected = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.offset != expected) {
      return DataLoss(
          "{}: header: the data of entry '{}' begins at {}, that before it ends at {}; there may "
          "be no {}",
          file, entry.name, entry.offset, expected, entry.offset > expected ? "hole" : "overlap");
    }
    expected += entry.bytes;
  }
  if (expected == data_bytes) return OkStatus();
  return DataLoss(
      "{}: the header announces {} bytes of data, the file has {}; it is cut short or damaged: "
      "copy or download it again",
      file, expected, data_bytes);
}

}  // namespace

Result<SafetensorsHeader> ParseSafetensorsHeader(std::string_view text, uint64_t data_bytes,
                                                 const std::string& name) {
  HeaderReader reader(name);
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) return reader.error();
  SafetensorsHeader header{{}, std::move(reader.metadata())};
  header.entries.reserve(reader.entries().size());
  for (const RawEntry& raw : reader.entries()) {
    STOKER_ASSIGN_OR_RETURN(SafetensorsEntry entry, Checked(raw, name));
    header.entries.push_back(std::move(entry));
  }
  std::ranges::stable_sort(header.entries, {}, [](const SafetensorsEntry& entry) {
    return std::pair(entry.offset, entry.bytes);
  });
  STOKER_RETURN_IF_ERROR(CheckLayout(header.entries, data_bytes, name));
  return header;
}

Result<std::string> SafetensorsHeaderText(const SafetensorsHeader& header) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) json[std::string(kMetadataKey)] = header.metadata;
  for (const SafetensorsEntry& entry : header.entries) {
    const std::string_view dtype =
        std::ranges::find(kTypes, entry.dtype, &SafetensorsType::dtype)->name;
    json[entry.name] = {{"dtype", dtype},
                        {"shape", entry.shape},
                        {"data_offsets", {entry.offset, entry.offset + entry.bytes}}};
  }
  try {
    return json.dump();
  } catch (const nlohmann::json::exception& error) {
    return InvalidArgument("names and metadata must be UTF-8: {}", error.what());
  }
}

int SafetensorsRank(DType dtype) {
  return static_cast<int>(std::ranges::find(kTypes, std::optional(dtype), &SafetensorsType::dtype) -
                          std::begin(kTypes));
}

}  // namespace stoker::internal
