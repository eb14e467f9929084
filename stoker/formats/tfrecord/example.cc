#include "stoker/formats/tfrecord/example.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "stoker/formats/tfrecord/example_fields_internal.h"
#include "stoker/formats/tfrecord/wire_internal.h"

namespace stoker {
namespace {

using internal::WireCursor;
using internal::WireTag;
using internal::WireType;

using Bytes = std::span<const std::byte>;

Status Malformed(Bytes record, const std::byte* at, std::string_view what) {
  return DataLoss("byte {} of the record: {}; it is damaged, or was written as another message",
                  at - record.data(), what);
}

// Calls `take(bytes)` for each value of field `wanted` of `message`, which are all messages or byte
// strings; skips other fields. `take` gives a Status.
template <typename Take>
Status ForEach(Bytes record, Bytes message, uint64_t wanted, const Take& take) {
  WireCursor cursor(message);
  while (!cursor.done()) {
    WireTag tag;
    if (!cursor.ReadTag(tag)) return Malformed(record, cursor.at(), "no field begins here");
    if (tag.field == wanted && tag.type == WireType::kBytes) {
      Bytes bytes;
      if (!cursor.ReadBytes(bytes))
        return Malformed(record, cursor.at(), "a length reaches beyond the message");
      STOKER_RETURN_IF_ERROR(take(bytes));
    } else if (!cursor.Skip(tag.type)) {
      return Malformed(record, cursor.at(), "a field reaches beyond the message, or has no type");
    }
  }
  return OkStatus();
}

Status ReadFeature(Bytes record, Bytes feature, FeatureValues& out) {
  WireCursor cursor(feature);
  while (!cursor.done()) {
    WireTag tag;
    if (!cursor.ReadTag(tag)) return Malformed(record, cursor.at(), "no field begins here");
    const bool list = tag.field >= kBytesList && tag.field <= kInt64List;
    if (!list || tag.type != WireType::kBytes) {
      if (cursor.Skip(tag.type)) continue;
      return Malformed(record, cursor.at(), "a field reaches beyond the message, or has no type");
    }
    if (!cursor.ReadBytes(out.list))
      return Malformed(record, cursor.at(), "a list of values reaches beyond its feature");
    out.kind = tag.field == kBytesList   ? FeatureKind::kBytes
               : tag.field == kFloatList ? FeatureKind::kFloat
                                         : FeatureKind::kInt64;
  }
  return OkStatus();
}

// Takes name and value from a map's entry.
Status SplitEntry(Bytes record, Bytes entry, std::string_view& name, Bytes& value) {
  WireCursor cursor(entry);
  while (!cursor.done()) {
    WireTag tag;
    if (!cursor.ReadTag(tag)) return Malformed(record, cursor.at(), "no field begins here");
    Bytes bytes;
    if (tag.type == WireType::kBytes ? !cursor.ReadBytes(bytes) : !cursor.Skip(tag.type))
      return Malformed(record, cursor.at(), "a name or a feature reaches beyond its entry");
    if (tag.type != WireType::kBytes) continue;
    if (tag.field == kName) name = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    if (tag.field == kValue) value = bytes;
  }
  return OkStatus();
}

// Calls `take(number, value)` for each wanted entry of a map.
template <typename Take>
Status ForEachWanted(Bytes record, Bytes map, const FeatureNames& names, const Take& take) {
  size_t next = 0;
  return ForEach(record, map, kEntry, [&](Bytes entry) -> Status {
    std::string_view name;
    Bytes value = entry.last(0);
    STOKER_RETURN_IF_ERROR(SplitEntry(record, entry, name, value));
    const size_t number = names.Find(name, next);
    return number < names.size() ? take(number, value) : OkStatus();
  });
}

Status FindInFeatures(Bytes record, Bytes features, const FeatureNames& names,
                      std::span<FeatureValues> found) {
  return ForEachWanted(record, features, names, [&](size_t number, Bytes feature) {
    found[number] = {};
    return ReadFeature(record, feature, found[number]);
  });
}

// How many varints end in `bytes`.
int64_t CountVarints(Bytes bytes) {
  return std::ranges::count_if(
      bytes, [](std::byte byte) { return (byte & std::byte{0x80}) == std::byte{0}; });
}

// Goes through the values of a list: `packed(bytes)` for those that are packed, `single(cursor)`
// for one of type `one`; both give a Status.
template <typename Packed, typename Single>
Status ForEachValue(Bytes record, Bytes list, WireType one, const Packed& packed,
                    const Single& single) {
  WireCursor cursor(list);
  while (!cursor.done()) {
    WireTag tag;
    if (!cursor.ReadTag(tag)) return Malformed(record, cursor.at(), "no field begins here");
    if (tag.field == kListValue && tag.type == WireType::kBytes) {
      Bytes bytes;
      if (!cursor.ReadBytes(bytes))
        return Malformed(record, cursor.at(), "values reach beyond their list");
      STOKER_RETURN_IF_ERROR(packed(bytes));
    } else if (tag.field == kListValue && tag.type == one) {
      STOKER_RETURN_IF_ERROR(single(cursor));
    } else if (!cursor.Skip(tag.type)) {
      return Malformed(record, cursor.at(), "a field reaches beyond the message, or has no type");
    }
  }
  return OkStatus();
}

Status CutValue(Bytes record, const std::byte* at) {
  return Malformed(record, at, "a value reaches beyond its list");
}

}  // namespace

std::string_view FeatureKindName(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kMissing: return "no values";
    case FeatureKind::kBytes: return "bytes";
    case FeatureKind::kFloat: return "float";
    case FeatureKind::kInt64: return "int64";
  }
  return "no values";
}

FeatureNames::FeatureNames(std::vector<std::string> names) : names_(std::move(names)) {
  for (size_t i = 0; i < names_.size(); ++i) by_name_.emplace(names_[i], i);
}

size_t FeatureNames::Find(std::string_view name, size_t& next) const {
  if (next < names_.size() && names_[next] == name) return next++;
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return names_.size();
  next = found->second + 1;
  return found->second;
}

Status FindFeatures(Bytes example, const FeatureNames& names, std::span<FeatureValues> found) {
  std::ranges::fill(found, FeatureValues{});
  return ForEach(example, example, kFeatures,
                 [&](Bytes features) { return FindInFeatures(example, features, names, found); });
}

Status FindSequenceFeatures(Bytes example, const FeatureNames& context_names,
                            std::span<FeatureValues> context, const FeatureNames& list_names,
                            std::span<FeatureSteps> lists) {
  STOKER_RETURN_IF_ERROR(FindFeatures(example, context_names, context));
  std::ranges::fill(lists, FeatureSteps{});
  return ForEach(example, example, kFeatureLists, [&](Bytes map) {
    return ForEachWanted(example, map, list_names, [&](size_t number, Bytes list) {
      lists[number] = {.missing = false, .list = list};
      return OkStatus();
    });
  });
}

Status ListFeatures(Bytes example, std::vector<NamedFeature>& features,
                    std::vector<NamedSteps>& sequences) {
  const auto each_entry = [&](Bytes map, const auto& take) {
    return ForEach(example, map, kEntry, [&](Bytes entry) -> Status {
      std::string_view name;
      Bytes value = entry.last(0);
      STOKER_RETURN_IF_ERROR(SplitEntry(example, entry, name, value));
      return take(name, value);
    });
  };
  const auto add_feature = [&](std::string_view name, Bytes feature) {
    features.push_back({name, {}});
    return ReadFeature(example, feature, features.back().values);
  };
  const auto add_steps = [&](std::string_view name, Bytes list) {
    sequences.push_back({name, {.missing = false, .list = list}});
    return OkStatus();
  };
  STOKER_RETURN_IF_ERROR(ForEach(example, example, kFeatures,
                                 [&](Bytes map) { return each_entry(map, add_feature); }));
  return ForEach(example, example, kFeatureLists,
                 [&](Bytes map) { return each_entry(map, add_steps); });
}

Status SplitSteps(Bytes record, const FeatureSteps& steps, std::vector<FeatureValues>& out) {
  return ForEach(record, steps.list, kStep, [&](Bytes feature) {
    out.emplace_back();
    return ReadFeature(record, feature, out.back());
  });
}

Result<int64_t> CountValues(Bytes record, const FeatureValues& values) {
  int64_t count = 0;
  const auto one_more = [&count](WireCursor&) { return ++count, OkStatus(); };
  switch (values.kind) {
    case FeatureKind::kMissing: return 0;
    case FeatureKind::kBytes: return FindByteStrings(record, values, {});
    case FeatureKind::kFloat:
      STOKER_RETURN_IF_ERROR(ForEachValue(
          record, values.list, WireType::kFixed32,
          [&](Bytes packed) {
            count += std::ssize(packed) / 4;
            return packed.size() % 4 == 0 ? OkStatus() : CutValue(record, packed.data());
          },
          [&](WireCursor& cursor) {
            return cursor.Skip(WireType::kFixed32) ? one_more(cursor)
                                                   : CutValue(record, cursor.at());
          }));
      return count;
    case FeatureKind::kInt64:
      STOKER_RETURN_IF_ERROR(ForEachValue(
          record, values.list, WireType::kVarint,
          [&](Bytes packed) {
            count += CountVarints(packed);
            return OkStatus();
          },
          [&](WireCursor& cursor) {
            return cursor.Skip(WireType::kVarint) ? one_more(cursor)
                                                  : CutValue(record, cursor.at());
          }));
      return count;
  }
  return count;
}

Result<int64_t> CopyInt64s(Bytes record, const FeatureValues& values, std::span<int64_t> out) {
  size_t count = 0;
  const auto one = [&](WireCursor& cursor) {
    uint64_t value = 0;
    if (!cursor.ReadVarint(value)) return CutValue(record, cursor.at());
    if (count < out.size()) out[count] = static_cast<int64_t>(value);
    ++count;
    return OkStatus();
  };
  const auto all = [&](Bytes packed) {
    for (WireCursor cursor(packed); !cursor.done();) STOKER_RETURN_IF_ERROR(one(cursor));
    return OkStatus();
  };
  STOKER_RETURN_IF_ERROR(ForEachValue(record, values.list, WireType::kVarint, all, one));
  return static_cast<int64_t>(count);
}

Result<int64_t> CopyFloats(Bytes record, const FeatureValues& values, std::span<float> out) {
  size_t count = 0;
  const auto copy = [&](Bytes packed) {
    if (packed.size() % sizeof(float) != 0) return CutValue(record, packed.data());
    const size_t begin = std::min(count, out.size());
    const size_t bytes = std::min(packed.size(), (out.size() - begin) * sizeof(float));
    if (bytes > 0) std::memcpy(out.data() + begin, packed.data(), bytes);
    count += packed.size() / sizeof(float);
    return OkStatus();
  };
  STOKER_RETURN_IF_ERROR(ForEachValue(record, values.list, WireType::kFixed32, copy,
                                      [&](WireCursor& cursor) -> Status {
                                        const std::byte* const begin = cursor.at();
                                        if (!cursor.Skip(WireType::kFixed32))
                                          return CutValue(record, cursor.at());
                                        return copy({begin, sizeof(float)});
                                      }));
  return static_cast<int64_t>(count);
}

Result<int64_t> FindByteStrings(Bytes record, const FeatureValues& values, std::span<Bytes> out) {
  size_t count = 0;
  STOKER_RETURN_IF_ERROR(ForEach(record, values.list, kListValue, [&](Bytes bytes) {
    if (count < out.size()) out[count] = bytes;
    ++count;
    return OkStatus();
  }));
  return static_cast<int64_t>(count);
}

}  // namespace stoker
