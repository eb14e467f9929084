// Every source on every kind of damage that happens to files: what comes is an error that names the
// file, or elements, but no crash, no hang, and no memory that the file does not account for.
// That each parser finds what it can find, its own test shows (formats/*/*_test.cc).
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "stoker/base/config.h"
#include "stoker/data/pack/pack.h"
#include "stoker/data/registry.h"
#include "stoker/data/sources/snapshot.h"
#include "stoker/data/testing.h"
#include "stoker/data/text/sentencepiece_testing_internal.h"
#include "stoker/formats/idx/idx.h"
#include "stoker/formats/npy/npz.h"
#include "stoker/formats/recordio/record_io_testing_internal.h"
#include "stoker/formats/zip/zip_testing_internal.h"
#include "stoker/io/file.h"
#include "stoker/io/gzip.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// Without flushing anything to the disk: there are many.
void WriteFast(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// What a cut file is at most.
enum class Cut {
  kError,  // every cut is found
  kFewer,  // behind a whole record nothing is missing: the first elements
  kOther,  // a text may end anywhere: its last line is then another one
};
// What a changed byte is.
enum class Flip {
  kError,  // found, or of no effect
  kOther,  // another value, or an error
};

struct Kind {
  const char* name;
  const char* file;    // that is damaged, in the directory
  const char* stages;  // of a pipeline, in which D is the directory
  Cut cut;
  Flip flip;
  std::function<void(const TempDir&)> make;  // writes all files that are wanted
  bool mapped = false;                       // must not be cut while it is open (io/file.h)
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

std::function<void(const TempDir&)> Packed(std::string_view format) {
  return [format](const TempDir& dir) {
    STOKER_ASSERT_OK(Pack(NumberedImages(2), dir / "x", {.format = *FindPackFormat(format)}));
  };
}
std::function<void(const TempDir&)> Text(const char* name, std::string text) {
  return [name, text = std::move(text)](const TempDir& dir) { WriteFast(dir / name, text); };
}
std::function<void(const TempDir&)> Zipped(const char* name, const std::string& text) {
  const auto bytes = *GzipCompress(std::as_bytes(std::span(text)));
  return Text(name, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void MakeIdx(const TempDir& dir) {
  const Array images = Array::Allocate(DType::kUInt8, {3, 2, 2});
  for (size_t i = 0; i < images.num_bytes(); ++i) images.values<uint8_t>()[i] = 7;
  STOKER_ASSERT_OK(WriteIdx(dir / "x", images));
  STOKER_ASSERT_OK(WriteIdx(dir / "y", Array::Of(std::vector<uint8_t>{0, 1, 2})));
}

void MakeNpz(const TempDir& dir) {
  STOKER_ASSERT_OK(WriteNpz(dir / "x.npz", {{"a", Array::Of(std::vector<int64_t>{1, 2, 3})}}));
}

void MakeElements(const TempDir& dir) {
  STOKER_ASSERT_OK(WriteSnapshot(NumberedImages(2), dir / "x.elements", Runtime::Inline()));
}

std::string Records() {
  return RecordIoRecord(ImageRecordOf({1}, 0, "jpeg")) + RecordIoRecord(ImageRecordOf({2}, 1, ""));
}

std::string Pieces() {
  const std::string space = "\u2581";
  return ProtoPiece("<unk>", 0, TestPiece::kUnknown) +
         ProtoPiece(space + "ab", -1, TestPiece::kNormal) +
         ProtoPiece("a", -3, TestPiece::kNormal) + ProtoEnd(/*algorithm=*/1);
}

void MakeSentences(const TempDir& dir) {
  WriteFast(dir / "t", "ab a\nb\n");
  WriteFast(dir / "x.model", Pieces());
}

void MakeWords(const TempDir& dir) {
  WriteFast(dir / "t", "ab a\nb\n");
  WriteFast(dir / "vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\n##b\n");
}

const std::string kCsv = "a,b\n10,2.5\n300,\"x,y\"\n";
const std::string kJsonl = "{\"id\": 12, \"t\": \"x\"}\n{\"id\": 3, \"t\": \"\\u0041\"}\n";
const std::string kSvm = "1 1:0.5 3:2\n0 2:1\n";

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"idx", "x", "idx: {images: D/x, labels: D/y}", Cut::kError, Flip::kOther, MakeIdx},
      {"tfrecord", "x.tfrecord", "tfrecord: {files: D/x.tfrecord, index: memory}", Cut::kFewer,
       Flip::kError, Packed("tfrecord")},
      {"csv", "x.csv", "csv: {files: D/x.csv, index: memory, fields: {a: int64, b: text}}",
       Cut::kOther, Flip::kOther, Text("x.csv", kCsv)},
      {"csv.gz", "x.csv.gz", "csv: {files: D/x.csv.gz, fields: {a: int64, b: text}}", Cut::kError,
       Flip::kError, Zipped("x.csv.gz", kCsv)},
      {"jsonl", "x.jsonl", "jsonl: {files: D/x.jsonl, index: memory, fields: {id: int64, t: text}}",
       Cut::kOther, Flip::kOther, Text("x.jsonl", kJsonl)},
      {"libsvm", "x.svm", "libsvm: {files: D/x.svm, index: memory, features: 3}", Cut::kOther,
       Flip::kOther, Text("x.svm", kSvm)},
      {"tar", "x.tar", "webdataset: {files: D/x.tar, index: memory}", Cut::kFewer, Flip::kOther,
       Packed("tar")},
      {"zip", "x.zip", "zip_archive: {files: D/x.zip, fields: [txt, cls]}", Cut::kError,
       Flip::kError,
       Text("x.zip", ZipOf({{"1.txt", "one"}, {"1.cls", "7"}, {"2.txt", ""}, {"2.cls", "8"}})),
       /*mapped=*/true},
      {"recordio", "x.rec", "recordio: {files: D/x.rec, index: memory, whole: true}", Cut::kFewer,
       Flip::kOther, Text("x.rec", Records())},
      {"binary", "x.bin", "binary: {files: D/x.bin, fields: {a: uint8, b: {shape: [3]}}}",
       Cut::kFewer, Flip::kOther, Text("x.bin", "0abc1def2ghi")},
      {"lines", "x.txt", "lines: D/x.txt", Cut::kOther, Flip::kOther, Text("x.txt", "one\ntwo\n")},
      // Its first bytes tell that it is compressed; without them it is another text.
      {"lines.gz", "x.gz", "lines: D/x.gz", Cut::kOther, Flip::kOther,
       Zipped("x.gz", "one\ntwo\n")},
      {"npy", "x/image.npy", "npy: {fields: {image: D/x/image.npy}}", Cut::kError, Flip::kOther,
       Packed("npy"), /*mapped=*/true},
      {"npz", "x.npz", "npz: {path: D/x.npz, fields: {x: a}}", Cut::kError, Flip::kError, MakeNpz,
       /*mapped=*/true},
      {"lmdb", "x.lmdb/data.mdb", "lmdb: {path: D/x.lmdb}", Cut::kError, Flip::kOther,
       Packed("lmdb"), /*mapped=*/true},
      {"stoker", "x.stoker", "stoker: D/x.stoker", Cut::kError, Flip::kError, Packed("stoker"),
       /*mapped=*/true},
      {"elements", "x.elements", "snapshot: D/x.elements", Cut::kError, Flip::kError, MakeElements,
       /*mapped=*/true},
      {"vocabulary", "vocab.txt", "{lines: D/t}, {wordpiece: {vocabulary: D/vocab.txt}}",
       Cut::kOther, Flip::kOther, MakeWords},
      {"sentencepiece", "x.model", "{lines: D/t}, {sentencepiece: {model: D/x.model}}", Cut::kOther,
       Flip::kOther, MakeSentences},
  };
  return kinds;
}

Result<Dataset> Open(const Kind& kind, const TempDir& dir) {
  std::string text = kind.stages;
  for (size_t at; (at = text.find("D/")) != text.npos;) text.replace(at, 2, dir / "");
  if (!text.starts_with('{')) text = "{" + text + "}";
  STOKER_ASSIGN_OR_RETURN(const ConfigNode pipeline, ParseYaml("[" + text + "]", "test"));
  return BuildPipeline(pipeline, "/");
}

Result<std::vector<Element>> ReadWhole(const Kind& kind, const TempDir& dir) {
  STOKER_ASSIGN_OR_RETURN(const Dataset dataset, Open(kind, dir));
  return ReadAll(dataset, Runtime::Inline());
}

class DamagedFiles : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    GetParam().make(dir_);
    path_ = dir_ / GetParam().file;
    whole_ = *ReadTextFile(path_);
    STOKER_ASSERT_OK_AND_ASSIGN(elements_, ReadWhole(GetParam(), dir_));
    ASSERT_FALSE(elements_.empty());
  }

  // Reads the file with this content in place of its own. An error must name it.
  std::optional<std::vector<Element>> ReadWith(std::string_view content) {
    WriteFast(path_, content);
    Result<std::vector<Element>> read = ReadWhole(GetParam(), dir_);
    if (read.ok()) return *std::move(read);
    EXPECT_THAT(read.status().message(), testing::HasSubstr(fs::path(path_).filename().string()));
    EXPECT_NE(read.status().code(), StatusCode::kInternal) << read.status().ToString();
    return std::nullopt;
  }

  const TempDir dir_;
  std::string path_, whole_;
  std::vector<Element> elements_;  // of the whole file
};

TEST_P(DamagedFiles, CutAnywhereAreAnErrorThatNamesThemOrHaveTheFirstElements) {
  for (size_t size = 0; size < whole_.size(); ++size) {
    SCOPED_TRACE(size);
    const auto read = ReadWith(std::string_view(whole_).substr(0, size));
    if (!read || GetParam().cut == Cut::kOther) continue;
    // What lies behind the last element, such as the zeros at the end of an archive, is not needed.
    ASSERT_LE(read->size(), elements_.size());
    if (GetParam().cut == Cut::kError) {
      ASSERT_EQ(read->size(), elements_.size());
    }
    const std::vector<Element> first(elements_.begin(), elements_.begin() + std::ssize(*read));
    ASSERT_EQ(Fingerprint(*read), Fingerprint(first));
  }
}

TEST_P(DamagedFiles, WithAnyByteChangedAreAnErrorThatNamesThemOrHaveOtherValues) {
  for (const char mask : {'\xff', '\x01'}) {
    for (size_t at = 0; at < whole_.size(); ++at) {
      SCOPED_TRACE(testing::Message() << "byte " << at << " mask " << int{mask});
      std::string changed = whole_;
      changed[at] = static_cast<char>(changed[at] ^ mask);
      const auto read = ReadWith(changed);
      if (!read || GetParam().flip == Flip::kOther) continue;
      ASSERT_EQ(Fingerprint(*read), Fingerprint(elements_));
    }
  }
}

// The most virtual memory that this process has had, in bytes.
uint64_t PeakMemory() {
  const std::string text = *ReadTextFile("/proc/self/status");
  const size_t at = text.find("VmPeak:");
  return std::stoull(text.substr(at + 7)) << 10;
}

TEST_P(DamagedFiles, ThatAnnounceFarTooMuchTakeNoMemoryForIt) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory hides ours";
#endif
  const uint64_t before = PeakMemory();
  // Runs of ones, and of the largest numbers with a sign, over every place a count may stand in.
  const size_t step = whole_.size() < 4096 ? 1 : 2;  // in large ones numbers stand at even places
  for (const size_t width : {4, 8}) {
    for (const char top : {'\xff', '\x7f'}) {
      for (size_t at = 0; at + width <= whole_.size(); at += step) {
        SCOPED_TRACE(testing::Message() << "byte " << at << " width " << width);
        std::string changed = whole_;
        changed.replace(at, width, width, '\xff');
        changed[at + width - 1] = top;
        ReadWith(changed);
      }
    }
  }
  EXPECT_LT(PeakMemory() - before, uint64_t{256} << 20);
}

TEST_P(DamagedFiles, ThatAnotherOneReplacesWhileTheyAreReadGiveWhatTheyHad) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Open(GetParam(), dir_));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> pass,
                              dataset.Open(Runtime::Inline()));
  std::vector<Element> read;
  read.push_back(**pass->Next());
  WriteFast(path_ + ".new", whole_.substr(0, whole_.size() / 2));
  fs::rename(path_ + ".new", path_);
  STOKER_ASSERT_OK_AND_ASSIGN(std::vector<Element> rest, ReadAll(*pass));
  for (Element& element : rest) read.push_back(std::move(element));
  EXPECT_EQ(Fingerprint(read), Fingerprint(elements_));
}

TEST_P(DamagedFiles, ThatAreCutWhileTheyAreReadAreAnErrorOrGiveWhatTheyHad) {
  if (GetParam().mapped) GTEST_SKIP() << "is mapped: io/file.h says what its writers must not do";
  for (const size_t size : {size_t{0}, whole_.size() / 2, whole_.size() - 1}) {
    SCOPED_TRACE(size);
    WriteFast(path_, whole_);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Open(GetParam(), dir_));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> pass,
                                dataset.Open(Runtime::Inline()));
    std::vector<Element> read;
    read.push_back(**pass->Next());
    fs::resize_file(path_, size);
    Result<std::vector<Element>> rest = ReadAll(*pass);
    if (!rest.ok()) {
      EXPECT_THAT(rest.status().message(), testing::HasSubstr(fs::path(path_).filename().string()));
      continue;
    }
    for (Element& element : *rest) read.push_back(std::move(element));
    EXPECT_EQ(Fingerprint(read), Fingerprint(elements_));
  }
}

TEST_P(DamagedFiles, ThatMayNotBeReadAreAnErrorThatSaysSo) {
  fs::permissions(dir_.path(), fs::perms(0755));
  for (const auto& entry : fs::recursive_directory_iterator(dir_.path()))
    fs::permissions(entry.path(), entry.is_directory() ? fs::perms(0755) : fs::perms(0644));
  fs::permissions(path_, fs::perms::none);
  // To root every file can be read: a child is somebody else.
  constexpr uid_t kNobody = 65534;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);
    const Status status = ReadWhole(GetParam(), dir_).status();
    const bool says = status.code() == StatusCode::kPermissionDenied &&
                      status.message().find(path_) != std::string::npos;
    if (!says) fmt::print(stderr, "{}\n", status.ToString());
    ::_exit(says ? 0 : 1);
  }
  int result = 0;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  fs::permissions(path_, fs::perms(0644));
  EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0) << "ended with " << result;
}

std::string NameOf(const testing::TestParamInfo<Kind>& kind) {
  std::string name = kind.param.name;
  std::erase(name, '.');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, DamagedFiles, testing::ValuesIn(Kinds()), NameOf);

// Sources with an index beside each file.
class DamagedIndices : public DamagedFiles {
 protected:
  void SetUp() override {
    DamagedFiles::SetUp();
    stages_ = GetParam().stages;
    stages_.replace(stages_.find("memory"), 6, "stored");
    EXPECT_EQ(Fingerprint(*Read()), Fingerprint(elements_));
    index_ = dir_ / fmt::format(".{}.stoker-index", GetParam().file);
    ASSERT_TRUE(fs::exists(index_));
  }
  Result<std::vector<Element>> Read() const {
    Kind stored = GetParam();
    stored.stages = stages_.c_str();
    return ReadWhole(stored, dir_);
  }

  std::string stages_, index_;
};

TEST_P(DamagedIndices, AreMadeAnewWhereverTheyAreDamaged) {
  const std::string whole = *ReadTextFile(index_);
  const auto read_with = [&](const std::string& content) {
    WriteFast(index_, content);
    const Result<std::vector<Element>> read = Read();
    STOKER_ASSERT_OK(read.status());
    ASSERT_EQ(Fingerprint(*read), Fingerprint(elements_));
  };
  for (size_t size = 0; size < whole.size(); ++size) read_with(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); ++at) {
    SCOPED_TRACE(at);
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ '\xff');
    read_with(changed);
  }
}

TEST_P(DamagedIndices, AreMadeAnewForAFileThatHasChanged) {
  WriteFast(path_, whole_ + whole_);
  const Result<std::vector<Element>> longer = Read();
  if (longer.ok()) {
    EXPECT_GE(longer->size(), elements_.size());
  }
  const fs::file_time_type later = fs::last_write_time(path_) + std::chrono::seconds(5);
  WriteFast(path_, whole_);
  fs::last_write_time(path_, later);  // of the size that the first had
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> again, Read());
  EXPECT_EQ(Fingerprint(again), Fingerprint(elements_));
}

std::vector<Kind> KindsOf(const std::vector<std::string_view>& names) {
  std::vector<Kind> some;
  for (const Kind& kind : Kinds()) {
    if (std::ranges::count(names, std::string_view(kind.name)) > 0) some.push_back(kind);
  }
  return some;
}

INSTANTIATE_TEST_SUITE_P(
    All, DamagedIndices,
    testing::ValuesIn(KindsOf({"tfrecord", "csv", "jsonl", "libsvm", "tar", "recordio"})), NameOf);

// Sources that read sets of files.
class MissingShards : public DamagedFiles {};

TEST_P(MissingShards, AreNamed) {
  Kind kind = GetParam();
  const std::string file = kind.file, base = file.substr(0, file.find('/'));
  const size_t dot = base.find('.');
  const std::string shard = base.substr(0, dot) + "-00000-of-00002" + base.substr(dot);
  fs::rename(dir_ / base, dir_ / shard);
  std::string stages = kind.stages;
  const std::string set = base.substr(0, dot) + "@2" + base.substr(dot);
  stages.replace(stages.find(base), base.size(), set);
  kind.stages = stages.c_str();
  const std::string missing = base.substr(0, dot) + "-00001-of-00002" + base.substr(dot);
  EXPECT_THAT(Open(kind, dir_), FailsWith(StatusCode::kNotFound, missing));
}

INSTANTIATE_TEST_SUITE_P(All, MissingShards,
                         testing::ValuesIn(KindsOf({"tfrecord", "csv", "jsonl", "libsvm", "tar",
                                                    "zip", "recordio", "binary", "lmdb",
                                                    "stoker"})),
                         NameOf);

}  // namespace
}  // namespace stoker
