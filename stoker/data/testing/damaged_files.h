// A small file of each source, for tests that damage it in every way. Only tests include it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/pack/pack.h"
#include "stoker/data/sources/snapshot.h"
#include "stoker/data/testing/sentencepiece.h"
#include "stoker/data/testing/testing.h"
#include "stoker/formats/hdf5/hdf5_testing_internal.h"
#include "stoker/formats/idx/idx.h"
#include "stoker/formats/n5/n5_testing_internal.h"
#include "stoker/formats/npy/npz.h"
#include "stoker/formats/recordio/record_io_testing_internal.h"
#include "stoker/formats/zip/zip_testing_internal.h"
#include "stoker/io/file.h"
#include "stoker/io/gzip.h"

namespace stoker {

// What a cut file is at most.
enum class Cut {
  kError,  // every cut is found
  kFewer,  // after a whole record nothing is missing: the first elements
  kOther,  // a text may end anywhere: its last line is then another one
};
// What a changed byte is.
enum class Flip {
  kError,  // found, or of no effect
  kOther,  // another value, or an error
};

struct DamagedKind {
  const char* name;
  const char* file;    // that is damaged, in the directory
  std::string stages;  // of a pipeline; its names of files begin with `$/`, the directory
  Cut cut;
  Flip flip;
  std::function<void(const TempDir&)> make;  // writes all files that are wanted
};

inline void PrintTo(const DamagedKind& kind, std::ostream* out) { *out << kind.name; }

inline std::string NameOfKind(const testing::TestParamInfo<DamagedKind>& kind) {
  std::string name = kind.param.name;
  std::erase(name, '.');
  return name;
}

// Writes in place, because some file systems flush a truncated and rewritten file to the disk when
// it is closed, and there are many files.
inline void WriteFast(const std::filesystem::path& path, std::string_view content) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  ASSERT_GE(file, 0) << path;
  EXPECT_EQ(::pwrite(file, content.data(), content.size(), 0), std::ssize(content));
  EXPECT_EQ(::ftruncate(file, std::ssize(content)), 0);
  ::close(file);
}

namespace damaged_kinds {

using Make = std::function<void(const TempDir&)>;

inline Make Packed(std::string_view format) {
  return [format](const TempDir& dir) {
    STOKER_ASSERT_OK(Pack(NumberedImages(2), dir / "x", {.format = *FindPackFormat(format)}));
  };
}

inline Make Text(const char* name, std::string text) {
  return [name, text = std::move(text)](const TempDir& dir) { WriteFast(dir / name, text); };
}

inline std::string Gzipped(std::string_view text) {
  const auto bytes = *GzipCompress(std::as_bytes(std::span(text)));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns the file `plain` that `make` writes, as `name`.
inline Make Zipped(const char* name, const char* plain, Make make) {
  return [name, plain, make = std::move(make)](const TempDir& dir) {
    make(dir);
    WriteFast(dir / name, Gzipped(*ReadTextFile(dir / plain)));
  };
}

inline void MakeIdx(const TempDir& dir) {
  const Array images = Array::Allocate(DType::kUInt8, {3, 2, 2});
  for (size_t i = 0; i < images.num_bytes(); ++i) images.values<uint8_t>()[i] = 7;
  STOKER_ASSERT_OK(WriteIdx(dir / "x", images));
  STOKER_ASSERT_OK(WriteIdx(dir / "y", Array::Of(std::vector<uint8_t>{0, 1, 2})));
}

inline void MakeNpz(const TempDir& dir) {
  STOKER_ASSERT_OK(WriteNpz(dir / "x.npz", {{"a", Array::Of(std::vector<int64_t>{1, 2, 3})}}));
}

inline void MakeElements(const TempDir& dir) {
  STOKER_ASSERT_OK(WriteSnapshot(NumberedImages(2), dir / "x.elements", Runtime::Inline()));
}

// Rows in compressed chunks with checksums, and rows as they are.
inline Make Hdf5Rows(bool latest) {
  return [latest](const TempDir& dir) {
    WriteHdf5(dir / "x.h5", latest, [](hid_t file) {
      const std::vector<int32_t> numbers = MixedNumbers(6);
      AddHdf5Dataset(file, "c", H5T_NATIVE_INT32, {3, 2}, numbers.data(),
                     {.chunk = {2, 2}, .deflate = 1, .fletcher32 = true});
      AddHdf5Dataset(file, "f", H5T_NATIVE_INT32, {3}, numbers.data());
    });
  };
}

inline void MakeN5(const TempDir& dir) {
  std::filesystem::create_directories(dir / "c");
  WriteFast(dir / "c/attributes.json", N5AttributesOf({3}, {2}, "int16", "gzip"));
  WriteFast(dir / "c/0", N5BlockOf({2}, BigEndian(1, 2) + BigEndian(2, 2), true));
  WriteFast(dir / "c/1", N5BlockOf({1}, BigEndian(3, 2), true));
}

inline std::string Records() {
  return RecordIoRecord(ImageRecordOf({1}, 0, "jpeg")) + RecordIoRecord(ImageRecordOf({2}, 1, ""));
}

inline void MakeList(const TempDir& dir) {
  WriteFast(dir / "a.jpg", "one");
  WriteFast(dir / "b.jpg", "two");
  WriteFast(dir / "x.lst", "a.jpg\t1\nb.jpg\t2\n");
}

inline std::string Pieces() {
  const std::string space = "\u2581";
  return ProtoPiece("<unk>", 0, TestPiece::kUnknown) +
         ProtoPiece(space + "ab", -1, TestPiece::kNormal) +
         ProtoPiece("a", -3, TestPiece::kNormal) + ProtoEnd(/*algorithm=*/1);
}

inline void MakeSentences(const TempDir& dir) {
  WriteFast(dir / "t", "ab a\nb\n");
  WriteFast(dir / "x.model", Pieces());
}

inline void MakeWords(const TempDir& dir) {
  WriteFast(dir / "t", "ab a\nb\n");
  WriteFast(dir / "vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n##b\n");
}

inline const std::string kCsv = "a,b\n10,2.5\n300,\"x,y\"\n";
inline const std::string kJsonl = "{\"id\": 12, \"t\": \"x\"}\n{\"id\": 3, \"t\": \"\\u0041\"}\n";
inline const std::string kSvm = "1 1:0.5 3:2\n0 2:1\n";

// Files that are read sequentially.
inline std::vector<DamagedKind> Streams() {
  using enum Cut;
  return {
      {"idx", "x", "idx: {images: $/x, labels: $/y}", kError, Flip::kOther, MakeIdx},
      {"tfrecord", "x.tfrecord", "tfrecord: {files: $/x.tfrecord, index: memory}", kFewer,
       Flip::kError, Packed("tfrecord")},
      {"tfrecord.gz", "x.tfrecord.gz", "tfrecord: {files: $/x.tfrecord.gz}", kFewer, Flip::kError,
       Zipped("x.tfrecord.gz", "x.tfrecord", Packed("tfrecord"))},
      {"csv", "x.csv", "csv: {files: $/x.csv, index: memory, fields: {a: int64, b: text}}", kOther,
       Flip::kOther, Text("x.csv", kCsv)},
      {"csv.gz", "x.csv.gz", "csv: {files: $/x.csv.gz, fields: {a: int64, b: text}}", kError,
       Flip::kError, Text("x.csv.gz", Gzipped(kCsv))},
      {"jsonl", "x.jsonl", "jsonl: {files: $/x.jsonl, index: memory, fields: {id: int64, t: text}}",
       kOther, Flip::kOther, Text("x.jsonl", kJsonl)},
      {"libsvm", "x.svm", "libsvm: {files: $/x.svm, index: memory, features: 3}", kOther,
       Flip::kOther, Text("x.svm", kSvm)},
      {"tar", "x.tar", "webdataset: {files: $/x.tar, index: memory}", kError, Flip::kOther,
       Packed("tar")},
      {"tar.gz", "x.tar.gz", "webdataset: {files: $/x.tar.gz, fields: [image.npy]}", kError,
       Flip::kError, Zipped("x.tar.gz", "x.tar", Packed("tar"))},
      {"recordio", "x.rec", "recordio: {files: $/x.rec, index: memory, whole: true}", kFewer,
       Flip::kOther, Text("x.rec", Records())},
      {"tfrecord.inorder", "x.tfrecord", "tfrecord: {files: $/x.tfrecord, index: none}", kFewer,
       Flip::kError, Packed("tfrecord")},
      {"csv.inorder", "x.csv", "csv: {files: $/x.csv, index: none, fields: {a: int64, b: text}}",
       kOther, Flip::kOther, Text("x.csv", kCsv)},
      {"jsonl.inorder", "x.jsonl",
       "jsonl: {files: $/x.jsonl, index: none, fields: {id: int64, t: text}}", kOther, Flip::kOther,
       Text("x.jsonl", kJsonl)},
      {"libsvm.inorder", "x.svm", "libsvm: {files: $/x.svm, index: none, features: 3}", kOther,
       Flip::kOther, Text("x.svm", kSvm)},
      {"tar.inorder", "x.tar", "webdataset: {files: $/x.tar, index: none}", kFewer, Flip::kOther,
       Packed("tar")},
      {"binary", "x.bin", "binary: {files: $/x.bin, fields: {a: uint8, b: {shape: [3]}}}", kFewer,
       Flip::kOther, Text("x.bin", "0abc1def2ghi")},
      {"lines", "x.txt", "lines: $/x.txt", kOther, Flip::kOther, Text("x.txt", "one\ntwo\n")},
      // Its first bytes tell that it is compressed; without them it is another text.
      {"lines.gz", "x.gz", "lines: $/x.gz", kOther, Flip::kOther,
       Text("x.gz", Gzipped("one\ntwo\n"))},
      {"list", "x.lst", "list: {path: $/x.lst}", kOther, Flip::kOther, MakeList},
      {"n5.block", "c/0", "n5: {path: $/c}", kError, Flip::kOther, MakeN5},
      {"n5.attributes", "c/attributes.json", "n5: {path: $/c}", kError, Flip::kOther, MakeN5},
      {"vocabulary", "vocab.txt", "{lines: $/t}, {wordpiece: {vocabulary: $/vocab.txt}}", kOther,
       Flip::kOther, MakeWords},
      {"sentencepiece", "x.model", "{lines: $/t}, {sentencepiece: {model: $/x.model}}", kOther,
       Flip::kOther, MakeSentences},
  };
}

// Files with offsets in them.
inline std::vector<DamagedKind> Maps() {
  using enum Cut;
  const std::string rows = "hdf5: {files: $/x.h5, fields: {c: c, f: f}}";
  return {
      {"zip", "x.zip", "zip_archive: {files: $/x.zip, fields: [txt, cls]}", kError, Flip::kError,
       Text("x.zip", ZipOf({{"1.txt", "one"}, {"1.cls", "7"}, {"2.txt", ""}, {"2.cls", "8"}}))},
      {"npy", "x/image.npy", "npy: {fields: {image: $/x/image.npy}}", kError, Flip::kOther,
       Packed("npy")},
      {"npz", "x.npz", "npz: {path: $/x.npz, fields: {x: a}}", kError, Flip::kError, MakeNpz},
      {"lmdb", "x.lmdb/data.mdb", "lmdb: {path: $/x.lmdb}", kError, Flip::kOther, Packed("lmdb")},
      {"hdf5", "x.h5", rows, kError, Flip::kOther, Hdf5Rows(/*latest=*/true)},
      {"hdf5.old", "x.h5", rows, kError, Flip::kOther, Hdf5Rows(/*latest=*/false)},
      {"stoker", "x.stoker", "stoker: $/x.stoker", kError, Flip::kError, Packed("stoker")},
      {"elements", "x.elements", "snapshot: $/x.elements", kError, Flip::kError, MakeElements},
  };
}

}  // namespace damaged_kinds

inline std::vector<DamagedKind> DamagedKinds() {
  std::vector<DamagedKind> kinds = damaged_kinds::Streams();
  for (DamagedKind& kind : damaged_kinds::Maps()) kinds.push_back(std::move(kind));
  return kinds;
}

inline std::vector<DamagedKind> DamagedKindsOf(const std::vector<std::string_view>& names) {
  std::vector<DamagedKind> kinds = DamagedKinds();
  std::erase_if(kinds, [&](const DamagedKind& kind) {
    return std::ranges::count(names, std::string_view(kind.name)) == 0;
  });
  return kinds;
}

// Returns the sources of the registry, but for those that combine others, that none of the
// kinds' stages have.
template <typename Kind>
std::vector<std::string> SourcesWithoutKind(const std::vector<Kind>& kinds) {
  std::vector<std::string> missing;
  for (const KindDescription& source : OperatorRegistry::Known().Describe()) {
    const std::string key = std::string(source.name) + ": ";
    const bool combines = std::ranges::any_of(
        source.options, [](const Option& option) { return option.name == "inputs"; });
    const bool there = std::ranges::any_of(
        kinds, [&](const Kind& kind) { return kind.stages.find(key) != std::string::npos; });
    if (source.group == "source" && !combines && !there) missing.emplace_back(source.name);
  }
  return missing;
}

// Builds the pipeline of a kind.
//   root  what stands for the `$` of `$/`: a directory or the address of a server
inline Result<Dataset> OpenStages(const std::string& stages, const std::string& root) {
  std::string text = stages.starts_with('{') ? stages : "{" + stages + "}";
  for (size_t at = 0; (at = text.find("$/", at)) != text.npos;) text.replace(at, 1, root);
  STOKER_ASSIGN_OR_RETURN(const ConfigNode pipeline, ParseYaml("[" + text + "]", "test"));
  return BuildPipeline(pipeline, "/");
}

inline Result<Dataset> OpenDamaged(const std::string& stages, const TempDir& dir) {
  return OpenStages(stages, dir.path().string());
}

inline Result<std::vector<Element>> ReadDamaged(const std::string& stages, const TempDir& dir) {
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset, OpenDamaged(stages, dir));
  return ReadAll(dataset, Runtime::Inline());
}

// Writes and reads the files of a kind whole.
class DamagedTest : public testing::TestWithParam<DamagedKind> {
 protected:
  void SetUp() override {
    GetParam().make(dir_);
    path_ = dir_ / GetParam().file;
    whole_ = *ReadTextFile(path_);
    STOKER_ASSERT_OK_AND_ASSIGN(elements_, Read());
    ASSERT_FALSE(elements_.empty());
  }

  Result<std::vector<Element>> Read() const { return ReadDamaged(GetParam().stages, dir_); }

  const TempDir dir_;
  std::string path_, whole_;
  std::vector<Element> elements_;  // of the whole file
};

}  // namespace stoker
