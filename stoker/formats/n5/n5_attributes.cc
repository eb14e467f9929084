#include "stoker/formats/n5/n5_attributes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "stoker/base/json.h"
#include "stoker/formats/jsonl/json_cursor.h"

namespace stoker {
namespace {

constexpr size_t kMostDimensions = 32;
constexpr size_t kShown = 40;  // of a value in messages

// The tree of a description, and its text, to find a value's place in it.
class Description {
 public:
  static Result<Description> Parse(std::string_view text, const std::string& name) {
    Description description(text, name);
    description.tree_ = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!description.tree_.is_object()) return description.NoObject();
    return description;
  }

  // Null if there is none.
  const Json* Find(const char* key) const {
    const auto found = tree_.find(key);
    return found == tree_.end() ? nullptr : &*found;
  }

  Status Wrong(std::string_view key, std::string_view wanted) const {
    const std::optional<Value> value = ValueOf(key);
    if (!value) {
      return DataLoss(
          "{}: there is no '{}': {} is wanted; the description is damaged, or of "
          "another format",
          name_, key, wanted);
    }
    return DataLoss(
        "{}: byte {}: '{}': {} is wanted, found {}; the description is damaged, or of another "
        "format",
        name_, value->at, key, wanted, value->text.substr(0, kShown));
  }

  Status Unknown(std::string_view key, std::string_view what) const {
    const std::optional<Value> value = ValueOf(key);
    return Unimplemented("{}: byte {}: '{}': {}", name_, value ? value->at : 0, key, what);
  }

 private:
  struct Value {
    size_t at;
    std::string_view text;
  };

  Description(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  // The value of a member of the object; of a name that comes twice the last, as in the tree.
  std::optional<Value> ValueOf(std::string_view key) const {
    std::optional<Value> found;
    JsonCursor cursor(text_);
    if (!cursor.Take('{')) return found;
    std::string scratch;
    do {
      const Result<std::string_view> member = cursor.TakeText(scratch);
      if (!member.ok() || !cursor.Take(':')) break;
      const bool wanted = *member == key;
      cursor.Peek();  // passes over white space
      const size_t at = cursor.position();
      const Result<std::string_view> value = cursor.TakeValue();
      if (!value.ok()) break;
      if (wanted) found = Value{at, *value};
    } while (cursor.Take(','));
    return found;
  }

  Status NoObject() const {
    JsonCursor cursor(text_);
    Status fault =
        cursor.Peek() == '{' ? cursor.TakeValue().status() : cursor.Unexpected("'{' is wanted");
    if (fault.ok()) fault = cursor.ExpectEnd();
    // Texts that are no UTF-8, which the cursor does not look at.
    if (fault.ok()) fault = DataLoss("byte 0: its texts are no UTF-8");
    return DataLoss("{}: {}; this is no JSON object: the file is damaged, or of another format",
                    name_, fault.message());
  }

  std::string_view text_;
  std::string name_;
  Json tree_;
};

Result<Shape> ExtentsOf(const Description& description, const char* key, int64_t least) {
  const auto wrong = [&] {
    return description.Wrong(
        key, fmt::format("a list of 1 to {} whole numbers from {} on", kMostDimensions, least));
  };
  const Json* const found = description.Find(key);
  if (found == nullptr || !found->is_array() || found->empty() || found->size() > kMostDimensions)
    return wrong();
  Shape extents;
  for (const Json& extent : *found) {
    if (!extent.is_number_integer() ||
        (extent.is_number_unsigned() &&
         extent.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())))
      return wrong();
    extents.push_back(extent.get<int64_t>());
    if (extents.back() < least) return wrong();
  }
  std::ranges::reverse(extents);  // the file lists the fastest first
  return extents;
}

Result<StoredValue> ValueOf(const Description& description) {
  static const std::map<std::string, StoredValue> known = {
      {"uint8", {StoredKind::kUnsigned, 1, true}},  {"uint16", {StoredKind::kUnsigned, 2, true}},
      {"uint32", {StoredKind::kUnsigned, 4, true}}, {"uint64", {StoredKind::kUnsigned, 8, true}},
      {"int8", {StoredKind::kSigned, 1, true}},     {"int16", {StoredKind::kSigned, 2, true}},
      {"int32", {StoredKind::kSigned, 4, true}},    {"int64", {StoredKind::kSigned, 8, true}},
      {"float32", {StoredKind::kFloat, 4, true}},   {"float64", {StoredKind::kFloat, 8, true}}};
  const Json* const type = description.Find("dataType");
  if (type == nullptr || !type->is_string())
    return description.Wrong("dataType", "the name of a type");
  const auto found = known.find(type->get<std::string>());
  if (found != known.end()) return found->second;
  return description.Unknown(
      "dataType", fmt::format("values of type '{}', known are (u)int8 to (u)int64, float32 and "
                              "float64",
                              type->get<std::string>()));
}

Result<N5Compression> CompressionOf(const Description& description) {
  // Before version 2 it was a name alone, under another key.
  const Json* const now = description.Find("compression");
  const char* const key = now != nullptr ? "compression" : "compressionType";
  const Json* type = now != nullptr ? now : description.Find(key);
  if (now != nullptr && now->is_object() && now->contains("type")) type = &(*now)["type"];
  if (type == nullptr) return description.Wrong("compression", "{\"type\": NAME}");
  if (!type->is_string()) return description.Wrong(key, "{\"type\": NAME}");
  const std::string kind = type->get<std::string>();
  if (kind == "raw") return N5Compression::kRaw;
  if (kind == "zstd" || kind == "zstandard") return N5Compression::kZstd;
  if (kind != "gzip") {
    return description.Unknown(
        key, fmt::format("blocks are compressed by '{}', known are raw, gzip and zstd", kind));
  }
  const bool zlib = now != nullptr && now->is_object() && now->contains("useZlib") &&
                    (*now)["useZlib"] == Json(true);
  return zlib ? N5Compression::kZlib : N5Compression::kGzip;
}

}  // namespace

Result<N5Attributes> ParseN5Attributes(std::string_view json, const std::string& name) {
  STOKER_ASSIGN_OR_RETURN(const Description description, Description::Parse(json, name));
  N5Attributes attributes;
  STOKER_ASSIGN_OR_RETURN(attributes.shape, ExtentsOf(description, "dimensions", 0));
  STOKER_ASSIGN_OR_RETURN(attributes.block_shape, ExtentsOf(description, "blockSize", 1));
  if (attributes.shape.size() != attributes.block_shape.size()) {
    return description.Wrong(
        "blockSize", fmt::format("a number for each of {} dimensions", attributes.shape.size()));
  }
  STOKER_ASSIGN_OR_RETURN(attributes.value, ValueOf(description));
  STOKER_ASSIGN_OR_RETURN(attributes.compression, CompressionOf(description));
  return attributes;
}

Result<bool> DescribesN5Dataset(std::string_view json, const std::string& name) {
  STOKER_ASSIGN_OR_RETURN(const Description description, Description::Parse(json, name));
  return description.Find("dimensions") != nullptr || description.Find("blockSize") != nullptr;
}

}  // namespace stoker
