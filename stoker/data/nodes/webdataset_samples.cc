#include "stoker/data/nodes/webdataset_samples.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "stoker/formats/npy/npy.h"
#include "stoker/formats/tar/tar_reader.h"
#include "stoker/io/byte_source.h"

namespace stoker {
namespace {

constexpr std::string_view kKeyField = "key";

SampleField FieldOf(const std::string& text, const std::vector<std::string>& numbers) {
  SampleField field;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('|', begin), text.size());
    field.extensions.push_back(LowerCaseExtension(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  const std::string& first = field.extensions.front();
  const bool number = std::ranges::count(numbers, first) > 0;
  const std::string name = text.substr(0, text.find('|'));
  field.content = number ? MemberContent::kNumber : MemberContent::kBytes;
  field.field = {name, number ? DType::kInt64 : DType::kUInt8,
                 number ? Shape{} : Shape{kUnknownDim}};
  return field;
}

Result<int64_t> NumberOf(const Array& array, const std::string& field, const std::string& name,
                         std::string_view where) {
  std::string_view text(reinterpret_cast<const char*>(array.data()), array.num_bytes());
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return number;
  return DataLoss(
      "{}: sample '{}': .{} is no whole number: '{}'; where it is a word, leave {} out of "
      "`numbers` ([]) and put `lookup` after it",
      where, name, field, text.substr(0, 40), field);
}

template <typename T>
bool Store(int64_t number, const Array& out) {
  out.values<T>()[0] = static_cast<T>(number);
  return static_cast<int64_t>(static_cast<T>(number)) == number;
}

// False if the number is beyond the type.
bool StoreNumber(int64_t number, const Array& out) {
  switch (out.dtype()) {
    case DType::kUInt8: return Store<uint8_t>(number, out);
    case DType::kInt8: return Store<int8_t>(number, out);
    case DType::kInt16: return Store<int16_t>(number, out);
    case DType::kInt32: return Store<int32_t>(number, out);
    default: return Store<int64_t>(number, out);
  }
}

// The member's bytes as a value of the field; `where` and the sample's `name` begin messages.
Result<Array> ValueOf(const SampleField& field, Array member, const std::string& name,
                      std::string_view where, Scratch& scratch) {
  if (field.content == MemberContent::kBytes) return member;
  const std::string& extension = field.extensions.front();
  if (field.content == MemberContent::kNumber) {
    Array number = scratch.NewArray(field.field.dtype, {});
    STOKER_ASSIGN_OR_RETURN(const int64_t found, NumberOf(member, extension, name, where));
    if (StoreNumber(found, number)) return number;
    return DataLoss("{}: sample '{}': .{} is {}, which is beyond {}", where, name, extension, found,
                    DTypeName(field.field.dtype));
  }
  STOKER_ASSIGN_OR_RETURN(Array array,
                          ParseNpy(member.buffer(), {member.data(), member.num_bytes()},
                                   fmt::format("{}: sample '{}': .{}", where, name, extension)));
  const bool fits =
      array.dtype() == field.field.dtype && array.shape().size() == field.field.shape.size() &&
      std::ranges::equal(array.shape(), field.field.shape, [](int64_t extent, int64_t wanted) {
        return wanted == kUnknownDim || extent == wanted;
      });
  if (fits) return array;
  return DataLoss("{}: sample '{}': .{} is {}{}, packed were {}{}", where, name, extension,
                  DTypeName(array.dtype()), ShapeToString(array.shape()),
                  DTypeName(field.field.dtype), ShapeToString(field.field.shape));
}

}  // namespace

SampleShape::SampleShape(std::vector<SampleField> fields, bool key)
    : fields_(std::move(fields)), key_(key) {
  for (const auto& [field, extensions, content] : fields_)
    spec_.fields.push_back({field.name, field.dtype, field.shape});
  if (key_) spec_.fields.push_back({std::string(kKeyField), DType::kUInt8, {kUnknownDim}});
}

Result<SampleShape> SampleShape::Make(std::string_view op, const std::vector<std::string>& texts,
                                      const std::vector<std::string>& numbers, bool key) {
  std::vector<SampleField> fields;
  for (const std::string& text : texts) fields.push_back(FieldOf(text, numbers));
  for (const std::string& number : numbers) {
    const bool is_field = std::ranges::any_of(
        fields, [&](const SampleField& field) { return field.extensions.front() == number; });
    if (is_field || std::ranges::count(kSampleNumbers, number) > 0) continue;
    return InvalidArgument("{}: `numbers` has '{}', which is no field; the fields are {}", op,
                           number, fmt::join(texts, ", "));
  }
  return Checked(op, std::move(fields), key);
}

Result<SampleShape> SampleShape::OfPacked(std::span<const ElementField> elements, bool key) {
  std::vector<SampleField> fields;
  for (const ElementField& field : elements) fields.push_back(PackedField(field));
  return Checked("webdataset", std::move(fields), key);
}

Result<SampleShape> SampleShape::Checked(std::string_view op, std::vector<SampleField> fields,
                                         bool key) {
  std::set<std::string> extensions;
  for (const SampleField& field : fields) {
    for (const std::string& extension : field.extensions) {
      if (extension.empty() || !extensions.insert(extension).second)
        return InvalidArgument("{}: extension '{}' is named twice, or empty", op, extension);
    }
    if (key && field.field.name == kKeyField)
      return InvalidArgument("{}: a field is called 'key' already; leave out key", op);
  }
  return SampleShape(std::move(fields), key);
}

std::optional<size_t> SampleShape::FieldNumber(std::string_view extension) const {
  for (size_t f = 0; f < fields_.size(); ++f) {
    if (std::ranges::count(fields_[f].extensions, extension) > 0) return f;
  }
  const std::string lower = LowerCaseExtension(extension);
  return lower == extension ? std::nullopt : FieldNumber(lower);
}

void AddFound(std::optional<FoundMember>& place, std::string_view name, Array bytes) {
  if (place) {
    place->another = name;
  } else {
    place = FoundMember{.name = std::string(name), .bytes = std::move(bytes), .another = {}};
  }
}

Result<Element> SampleShape::Finish(FoundMembers found, const std::string& name, SampleKey key,
                                    std::string_view where, Scratch& scratch) const {
  Element element{.key = key, .arrays = {}};
  for (size_t f = 0; f < fields_.size(); ++f) {
    if (!found[f]) {
      return DataLoss(
          "{}: sample '{}' has no member .{}; leave such out with `on_error: skip` (a training "
          "then needs train.max_steps), or name other fields",
          where, name, fmt::join(fields_[f].extensions, " or ."));
    }
    if (!found[f]->another.empty()) {
      return DataLoss(
          "{}: sample '{}' has two members for field '{}': '{}' and '{}'; leave such out with "
          "`on_error: skip` (a training then needs train.max_steps), or name the one extension "
          "that is meant",
          where, name, fields_[f].field.name, found[f]->name, found[f]->another);
    }
    STOKER_ASSIGN_OR_RETURN(Array value,
                            ValueOf(fields_[f], std::move(found[f]->bytes), name, where, scratch));
    element.arrays.push_back(std::move(value));
  }
  if (key_) {
    Array text = scratch.NewArray(DType::kUInt8, {std::ssize(name)});
    if (!name.empty()) std::memcpy(text.data(), name.data(), name.size());
    element.arrays.push_back(std::move(text));
  }
  return element;
}

Status NoSampleToTellFields(const std::string& path) {
  return DataLoss("{}: the archive has no sample, so its fields are not known; name them", path);
}

Result<std::vector<std::string>> FirstSampleExtensions(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  const std::unique_ptr<TarInput> input = MakeTarInput(std::move(source));
  TarReader reader(*input);
  std::vector<std::string> extensions;
  std::string key;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TarMember> member, reader.Next());
    const std::optional<SampleName> name =
        member ? SplitSampleName(member->name) : std::optional<SampleName>();
    if (!member || (name && !extensions.empty() && name->key != key)) break;
    if (!name) continue;
    key = name->key;
    extensions.push_back(LowerCaseExtension(name->extension));
  }
  if (!extensions.empty()) return extensions;
  return NoSampleToTellFields(path);
}

}  // namespace stoker
