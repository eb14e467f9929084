#include "stoker/formats/pt/pt_writer.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "stoker/formats/zip/zip_writer.h"

namespace stoker {
namespace {

using namespace std::string_view_literals;

constexpr uint64_t kAlignment = 64;
// The name of the archive's folder. PyTorch takes the file's name; any will do.
constexpr std::string_view kFolder = "archive";

std::string_view StorageType(DType dtype) {
  switch (dtype) {
    case DType::kBool: return "BoolStorage";
    case DType::kUInt8: return "ByteStorage";
    case DType::kInt8: return "CharStorage";
    case DType::kInt16: return "ShortStorage";
    case DType::kInt32: return "IntStorage";
    case DType::kInt64: return "LongStorage";
    case DType::kFloat16: return "HalfStorage";
    case DType::kBFloat16: return "BFloat16Storage";
    case DType::kFloat32: return "FloatStorage";
    case DType::kFloat64: return "DoubleStorage";
  }
  return "ByteStorage";
}

// A pickle of protocol 2, without a memo: only what is there once needs none.
class PickleText {
 public:
  void Raw(std::string_view opcodes) { text_ += opcodes; }
  void Text(std::string_view value) {
    text_ += 'X';
    Bytes(value.size(), 4);
    text_ += value;
  }
  void Integer(int64_t value) {
    if (value >= 0 && value <= 0x7fffffff) {
      text_ += 'J';
      Bytes(static_cast<uint64_t>(value), 4);
    } else {
      text_ += "\x8a\x08";
      Bytes(static_cast<uint64_t>(value), 8);
    }
  }
  void Integers(std::span<const int64_t> values) {
    text_ += '(';
    for (const int64_t value : values) Integer(value);
    text_ += 't';
  }
  void Global(std::string_view module, std::string_view name) {
    text_ += fmt::format("c{}\n{}\n", module, name);
  }
  void EmptyOrderedDict() {
    Global("collections", "OrderedDict");
    text_ += ")R";
  }
  std::string Take() { return std::move(text_); }

 private:
  void Bytes(uint64_t value, int count) {
    for (int i = 0; i < count; ++i) text_ += static_cast<char>(value >> 8 * i);
  }
  std::string text_;
};

// torch._utils._rebuild_tensor_v2(storage, 0, sizes, strides, requires_grad False, no hooks).
void AddTensor(PickleText& pickle, const Array& array, size_t number) {
  pickle.Global("torch._utils", "_rebuild_tensor_v2");
  pickle.Raw("((");
  pickle.Text("storage");
  pickle.Global("torch", StorageType(array.dtype()));
  pickle.Text(std::to_string(number));
  pickle.Text("cpu");
  pickle.Integer(array.num_values());
  pickle.Raw("tQ");
  pickle.Integer(0);
  pickle.Integers(array.shape());
  std::vector<int64_t> strides(array.shape().size(), 1);
  for (size_t i = strides.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * std::max<int64_t>(array.shape()[i], 1);
  }
  pickle.Integers(strides);
  pickle.Raw("\x89");
  pickle.EmptyOrderedDict();
  pickle.Raw("tR");
}

std::string StateDict(std::span<const NamedArray> arrays) {
  PickleText pickle;
  pickle.Raw("\x80\x02");
  pickle.EmptyOrderedDict();
  pickle.Raw("(");
  for (size_t i = 0; i < arrays.size(); ++i) {
    pickle.Text(arrays[i].name);
    AddTensor(pickle, arrays[i].array, i);
  }
  pickle.Raw("u.");
  return pickle.Take();
}

Status CheckDistinct(const std::string& path, std::span<const NamedArray> arrays) {
  std::vector<std::string_view> names;
  names.reserve(arrays.size());
  for (const NamedArray& named : arrays) names.push_back(named.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return OkStatus();
  return InvalidArgument("{}: two tensors are called '{}'; names must differ", path, *twice);
}

}  // namespace

Status WritePt(const std::string& path, std::span<const NamedArray> arrays) {
  STOKER_RETURN_IF_ERROR(CheckDistinct(path, arrays));
  STOKER_ASSIGN_OR_RETURN(ZipWriter zip, ZipWriter::Create(path));
  const auto add = [&](std::string_view name, std::span<const std::byte> content) {
    return zip.Add(fmt::format("{}/{}", kFolder, name), content, kAlignment);
  };
  const std::string pickle = StateDict(arrays);
  STOKER_RETURN_IF_ERROR(add("data.pkl", std::as_bytes(std::span(pickle))));
  STOKER_RETURN_IF_ERROR(add("byteorder", std::as_bytes(std::span("little"sv))));
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Array& array = arrays[i].array;
    STOKER_RETURN_IF_ERROR(add(fmt::format("data/{}", i), {array.data(), array.num_bytes()}));
  }
  STOKER_RETURN_IF_ERROR(add("version", std::as_bytes(std::span("3\n"sv))));
  return zip.Finish();
}

}  // namespace stoker
