// What tests of packing share. Only tests include it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/data/pack/pack.h"
#include "stoker/data/testing/testing.h"
#include "stoker/io/file.h"

namespace stoker {

inline const PackFormat& Format(std::string_view name) { return **FindPackFormat(name); }

inline PackOptions Into(std::string_view format, int64_t files = 1) {
  return {.format = &Format(format), .files = files};
}

// Returns names and contents of the files in a directory, but for what tells of a packing that has
// come to its end.
inline std::map<std::string, std::string> FilesIn(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    const std::string text = *ReadTextFile(entry.path());
    const bool record = entry.path().extension() == ".stoker-pack";
    if (record && text.find("\"finished\":true") != text.npos) continue;
    files[std::filesystem::relative(entry.path(), directory)] = text;
  }
  return files;
}

// Returns elements of every dtype that all formats have, and of every kind of shape.
inline Dataset MixedElements(int64_t n, bool with_bfloat16 = true) {
  Spec spec{{{"flag", DType::kBool, {}},
             {"label", DType::kUInt8, {}},
             {"text", DType::kUInt8, {kUnknownDim}},
             {"fixed", DType::kUInt8, {3}},
             {"ids", DType::kInt32, {kUnknownDim}},
             {"small", DType::kInt8, {2}},
             {"short", DType::kInt16, {1, 2}},
             {"long", DType::kInt64, {}},
             {"box", DType::kFloat32, {2, 2}},
             {"half", DType::kFloat16, {2}},
             {"brain", DType::kBFloat16, {kUnknownDim}},
             {"picture", DType::kUInt8, {3, kUnknownDim, kUnknownDim}},
             {"grid", DType::kInt64, {kUnknownDim, 2}}}};
  if (!with_bfloat16) std::erase(spec.fields, Field{"brain", DType::kBFloat16, {kUnknownDim}});
  return FromGenerator(spec, [spec, n](uint64_t) {
    return [spec, n, i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == n) return std::nullopt;
      Element element{.key = {0, i}};
      for (const Field& field : spec.fields) {
        Shape shape = field.shape;
        for (size_t d = 0; d < shape.size(); ++d) {
          if (shape[d] == kUnknownDim) shape[d] = (i + static_cast<int64_t>(d)) % 4;
        }
        Array array = Array::Allocate(field.dtype, shape);
        for (size_t b = 0; b < array.num_bytes(); ++b) {
          const auto value = static_cast<uint8_t>(static_cast<size_t>(i) * 31 + b * 7);
          // Truths are 0 or 1; floats keep clear of what is no number.
          array.data()[b] = static_cast<std::byte>(field.dtype == DType::kBool ? value & 1
                                                   : IsFloating(field.dtype)   ? value & 0x3f
                                                                               : value);
        }
        element.arrays.push_back(std::move(array));
      }
      ++i;
      return element;
    };
  });
}

// Returns the elements of a file, without their keys.
inline std::string ReadBack(const PackFormat& format, const std::string& path, const Spec& spec) {
  std::vector<Element> elements;
  STOKER_EXPECT_OK(format.read(path, spec, [&](std::span<const Array> arrays) {
    elements.push_back({.arrays = {arrays.begin(), arrays.end()}});
    return OkStatus();
  }));
  return Fingerprint(elements);
}

inline std::string WithoutKeys(std::vector<Element> elements) {
  for (Element& element : elements) element.key = {};
  return Fingerprint(elements);
}

class PackTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (directory_.path() / name).string(); }
  const TempDir directory_;
};

}  // namespace stoker
