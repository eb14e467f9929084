// Hand-made pickles and archives for tests of PyTorch's files.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/formats/copied_bytes_testing_internal.h"
#include "stoker/formats/pt/pt_file.h"
#include "stoker/formats/zip/zip_writer.h"
#include "stoker/io/file.h"

namespace stoker {

inline Result<PtFile> ParsePt(std::string_view bytes) {
  return PtFile::Parse(CopyOf(std::as_bytes(std::span(bytes))), "x.pt");
}

using PtRecords = std::vector<std::pair<std::string, std::string>>;

// Returns an archive of this pickle and these records below "a/".
inline std::string PtArchive(const std::string& pickle, const PtRecords& records = {}) {
  const TempDir dir;
  Result<ZipWriter> zip = ZipWriter::Create(dir / "a.pt");
  const auto add = [&](const std::string& name, const std::string& content) {
    EXPECT_THAT(zip->Add("a/" + name, std::as_bytes(std::span(content)), 64), IsOk());
  };
  add("data.pkl", pickle);
  for (const auto& [name, content] : records) add(name, content);
  EXPECT_THAT(zip->Finish(), IsOk());
  return *ReadTextFile(dir / "a.pt");
}

inline std::string FourBytes(size_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> 8 * i);
  return bytes;
}

// Pieces of pickles.
inline std::string PickledText(const std::string& text) {
  return "X" + FourBytes(text.size()) + text;
}
inline std::string PickledStorage(const std::string& type, size_t values,
                                  const std::string& key = "0") {
  return "(" + PickledText("storage") + "ctorch\n" + type + "\n" + PickledText(key) +
         PickledText("cpu") + "J" + FourBytes(values) + "tQ";
}
inline std::string PickledNumbers(const std::vector<int>& values) {
  std::string text = "(";
  for (const int value : values) text += std::string("K") + static_cast<char>(value);
  return text + "t";
}
inline std::string PickledTensor(const std::string& storage, int offset,
                                 const std::vector<int>& sizes, const std::vector<int>& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + "K" + static_cast<char>(offset) +
         PickledNumbers(sizes) + PickledNumbers(strides) + "\x89" +
         "ccollections\nOrderedDict\n)RtR";
}
inline std::string PickledDict(const std::string& name, const std::string& value) {
  return "\x80\x02}" + PickledText(name) + value + "s.";
}

}  // namespace stoker
