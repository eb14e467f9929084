#include "stoker/formats/pt/contents_internal.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "stoker/formats/array_bytes.h"

namespace stoker::internal {
namespace {

using Kind = PickleValue::Kind;

// Dicts in dicts; a list that holds itself ends here.
constexpr int kDeepest = 64;
// Values may be shared, so that few bytes can say very many.
constexpr size_t kMostSteps = 10'000'000;
// What a file that is one tensor and no dict is called.
constexpr std::string_view kLoneName = "tensor";
constexpr size_t kMostDimensions = 64;
// For the joined keys; a key may be as long as the file, and be part of the names of very many
// values.
constexpr size_t kLongestName = 4096;
constexpr size_t kShown = 40;  // of a longer one in messages
// What the contents may take in memory: this much more than in proportion to the pickle, since
// names repeat the keys that several values share. A value or tensor takes about this much in
// addition to its texts and numbers; what is not shared has more than that of the pickle's own
// values.
constexpr uint64_t kMostShared = 64 << 20;
constexpr uint64_t kBytesPerPickleValue = 256;
constexpr uint64_t kBytesPerValue = 128;
constexpr uint64_t kBytesPerTensor = 512;

constexpr std::pair<std::string_view, DType> kStorageTypes[] = {
    {"torch DoubleStorage", DType::kFloat64}, {"torch FloatStorage", DType::kFloat32},
    {"torch HalfStorage", DType::kFloat16},   {"torch BFloat16Storage", DType::kBFloat16},
    {"torch LongStorage", DType::kInt64},     {"torch IntStorage", DType::kInt32},
    {"torch ShortStorage", DType::kInt16},    {"torch CharStorage", DType::kInt8},
    {"torch ByteStorage", DType::kUInt8},     {"torch BoolStorage", DType::kBool}};

class ContentsReader {
 public:
  ContentsReader(const PickleTree& tree, const std::string& file) : tree_(tree), file_(file) {
    for (const PickleValue& value : tree.values)
      bytes_left_ += kBytesPerPickleValue + value.text.size();
  }

  Result<PtContents> Read() {
    STOKER_RETURN_IF_ERROR(Walk(tree_.root, "", 0));
    return std::move(contents_);
  }

 private:
  Status Damaged(std::string_view name, std::string_view problem) const {
    return DataLoss("{}: '{}' {}; the file is damaged: copy or download it again", file_, name,
                    problem);
  }

  Result<std::string> Join(const std::string& name, std::string_view key) const {
    if ((name.empty() ? 0 : name.size() + 1) + key.size() > kLongestName) {
      return Unimplemented(
          "{}: a name that begins with '{}' has more than {} bytes once the keys are joined; save "
          "it under shorter keys",
          file_, (name.empty() ? key : std::string_view(name)).substr(0, kShown), kLongestName);
    }
    return name.empty() ? std::string(key) : fmt::format("{}.{}", name, key);
  }

  // Counts memory that the contents are about to take.
  Status Charge(const std::string& name, uint64_t bytes) {
    if (bytes <= bytes_left_) {
      bytes_left_ -= bytes;
      return OkStatus();
    }
    return Unimplemented(
        "{}: '{}': names and values up to here take over {} MiB more than the file's own, since "
        "many places share them; save fewer, or under shorter keys",
        file_, name.substr(0, kShown), kMostShared >> 20);
  }

  Status Walk(PickleId id, const std::string& name, int depth) {
    if (++walked_ > kMostSteps || depth > kDeepest) {
      return Unimplemented(
          "{}: '{}' lies in more than {} dicts and lists, or there are more than {} values: lists "
          "that hold themselves are not read",
          file_, name, kDeepest, kMostSteps);
    }
    const PickleValue& value = tree_[id];
    switch (value.kind) {
      case Kind::kDict: return WalkDict(value, name, depth);
      case Kind::kList:
      case Kind::kTuple: return WalkList(value, name, depth);
      case Kind::kCall: return AddTensor(value, Lone(name));
      case Kind::kPersistent: {
        return Unimplemented("{}: '{}' is a bare storage; save tensors instead", file_, Lone(name));
      }
      default: return AddValue(value, Lone(name));
    }
  }
  static std::string Lone(const std::string& name) {
    return name.empty() ? std::string(kLoneName) : name;
  }

  Status WalkDict(const PickleValue& dict, const std::string& name, int depth) {
    for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      const PickleValue& key = tree_[dict.items[i]];
      if (key.kind != Kind::kText && key.kind != Kind::kInt) {
        return Unimplemented("{}: a key of '{}' is {}; only text and integers are read", file_,
                             name, PickleKindName(key.kind));
      }
      STOKER_ASSIGN_OR_RETURN(
          const std::string below,
          key.kind == Kind::kText ? Join(name, key.text) : Join(name, std::to_string(key.integer)));
      STOKER_RETURN_IF_ERROR(Walk(dict.items[i + 1], below, depth + 1));
    }
    return OkStatus();
  }
  Status WalkList(const PickleValue& list, const std::string& name, int depth) {
    for (size_t i = 0; i < list.items.size(); ++i) {
      STOKER_ASSIGN_OR_RETURN(const std::string below, Join(name, std::to_string(i)));
      STOKER_RETURN_IF_ERROR(Walk(list.items[i], below, depth + 1));
    }
    return OkStatus();
  }

  Status AddValue(const PickleValue& value, const std::string& name) {
    STOKER_RETURN_IF_ERROR(Charge(name, kBytesPerValue + name.size() + value.text.size()));
    std::string text;
    switch (value.kind) {
      case Kind::kBool: text = value.integer != 0 ? "True" : "False"; break;
      case Kind::kInt: text = fmt::format("{}", value.integer); break;
      case Kind::kFloat: text = fmt::format("{}", value.real); break;
      case Kind::kText: text = value.text; break;
      default: text = PickleKindName(value.kind); break;
    }
    contents_.values[name] = std::move(text);
    return OkStatus();
  }

  // ---- tensors

  // _rebuild_tensor(storage, offset, sizes, strides), _rebuild_tensor_v2(the same, requires_grad,
  // hooks), _rebuild_parameter(tensor, requires_grad, hooks).
  Status AddTensor(const PickleValue& call, const std::string& name) {
    if (call.text.ends_with("_rebuild_parameter")) {
      if (call.items.empty() || tree_[call.items[0]].kind != Kind::kCall ||
          tree_[call.items[0]].text.ends_with("_rebuild_parameter")) {
        return Damaged(name, "is a parameter without a tensor");
      }
      return AddTensor(tree_[call.items[0]], name);
    }
    if (call.items.size() < 4 || tree_[call.items[0]].kind != Kind::kPersistent ||
        tree_[call.items[1]].kind != Kind::kInt) {
      return Damaged(name, "is a tensor without a storage, an offset, sizes and strides");
    }
    PtTensor tensor{.name = name};
    STOKER_ASSIGN_OR_RETURN(tensor.storage, FindStorage(tree_[call.items[0]], name));
    STOKER_ASSIGN_OR_RETURN(tensor.shape, Numbers(call.items[2], name));
    STOKER_ASSIGN_OR_RETURN(tensor.strides, Numbers(call.items[3], name));
    // Its name is also that of an entry, and kept to find equal ones; so are its sizes.
    const size_t numbers = 2 * tensor.shape.size() + tensor.strides.size();
    STOKER_RETURN_IF_ERROR(
        Charge(name, kBytesPerTensor + 3 * name.size() + numbers * sizeof(int64_t)));
    const PtStorage& storage = contents_.storages[tensor.storage];
    tensor.dtype = storage.dtype;
    const int64_t offset = tree_[call.items[1]].integer;
    if (offset < 0) return Damaged(name, "begins before its storage");
    tensor.offset = static_cast<uint64_t>(offset);
    STOKER_RETURN_IF_ERROR(CheckInside(tensor, storage));
    if (!names_.insert(name).second) {
      return InvalidArgument(
          "{}: two tensors are called '{}' once the keys are joined; save them apart", file_, name);
    }
    contents_.tensors.push_back(std::move(tensor));
    return OkStatus();
  }

  Result<std::vector<int64_t>> Numbers(PickleId id, const std::string& name) const {
    const PickleValue& tuple = tree_[id];
    if (tuple.kind != Kind::kTuple || tuple.items.size() > kMostDimensions) {
      return Damaged(name, "has no tuple of sizes or strides");
    }
    std::vector<int64_t> numbers;
    for (const PickleId item : tuple.items) {
      if (tree_[item].kind != Kind::kInt || tree_[item].integer < 0) {
        return Damaged(name, "has a size or stride that is no number from 0 on");
      }
      numbers.push_back(tree_[item].integer);
    }
    return numbers;
  }

  // Every value of the tensor is one of the storage, and none is there more than once: so its size
  // is bounded by that of the file.
  Status CheckInside(const PtTensor& tensor, const PtStorage& storage) const {
    const auto bytes = ArrayBytes(tensor.dtype, tensor.shape);
    if (!bytes || tensor.shape.size() != tensor.strides.size()) {
      return Damaged(tensor.name, fmt::format("has the sizes {}, which no memory can hold, or "
                                              "other than its strides",
                                              ShapeToString(tensor.shape)));
    }
    if (*bytes == 0) return OkStatus();
    uint64_t last = tensor.offset;  // its last value
    bool inside = last < storage.values;
    for (size_t i = 0; inside && i < tensor.shape.size(); ++i) {
      const auto steps = static_cast<uint64_t>(tensor.shape[i] - 1);
      const auto stride = static_cast<uint64_t>(tensor.strides[i]);
      inside = steps == 0 || stride <= (storage.values - 1 - last) / steps;
      if (inside) last += steps * stride;
    }
    if (!inside) {
      return Damaged(tensor.name, fmt::format("is {}{} and reaches beyond its storage of {} values",
                                              DTypeName(tensor.dtype), ShapeToString(tensor.shape),
                                              storage.values));
    }
    if (*bytes / DTypeSize(tensor.dtype) > storage.values) {
      return Unimplemented(
          "{}: '{}' is {}, made of a storage of {} values by repeating them; save it with "
          ".contiguous()",
          file_, tensor.name, ShapeToString(tensor.shape), storage.values);
    }
    return OkStatus();
  }

  // ('storage', type, key, device, number of values), in old files followed by a view.
  Result<size_t> FindStorage(const PickleValue& persistent, const std::string& tensor) {
    const PickleValue& id = tree_[persistent.items[0]];
    if (id.kind != Kind::kTuple || id.items.size() < 5) return BadStorage(tensor);
    const PickleValue& tag = tree_[id.items[0]];
    const PickleValue& type = tree_[id.items[1]];
    const PickleValue& key = tree_[id.items[2]];
    const PickleValue& count = tree_[id.items[4]];
    if (tag.text != "storage" || key.kind != Kind::kText || count.kind != Kind::kInt ||
        count.integer < 0 || type.kind != Kind::kGlobal) {
      return BadStorage(tensor);
    }
    if (id.items.size() > 5 && tree_[id.items[5]].kind != Kind::kNone) {
      return Unimplemented(
          "{}: '{}' is a view of a storage, as PyTorch 0.3 and older wrote it; "
          "save it again with a newer one",
          file_, tensor);
    }
    const auto* const known =
        std::ranges::find(kStorageTypes, type.text, &std::pair<std::string_view, DType>::first);
    if (known == std::end(kStorageTypes)) return BadStorage(tensor);
    const PtStorage storage{
        .key = key.text, .dtype = known->second, .values = static_cast<uint64_t>(count.integer)};
    const auto [found, added] = by_key_.try_emplace(key.text, contents_.storages.size());
    if (added) {
      contents_.storages.push_back(storage);
    } else if (const PtStorage& before = contents_.storages[found->second];
               before.dtype != storage.dtype || before.values != storage.values) {
      return Damaged(tensor, "has a storage that other tensors say is of another type or size");
    }
    return found->second;
  }
  Status BadStorage(const std::string& tensor) const {
    return Damaged(tensor, "has a storage without a type, name and size");
  }

  const PickleTree& tree_;
  const std::string& file_;
  PtContents contents_;
  std::unordered_map<std::string, size_t> by_key_;
  std::set<std::string> names_;
  size_t walked_ = 0;
  uint64_t bytes_left_ = kMostShared;
};

}  // namespace

Result<PtContents> ReadPtContents(const PickleTree& tree, const std::string& name) {
  return ContentsReader(tree, name).Read();
}

}  // namespace stoker::internal
