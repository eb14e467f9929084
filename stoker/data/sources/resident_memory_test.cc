// What a pass over each source keeps resident, whatever its files hold: each is read in a process
// of its own. By position, which is the default, its high-water mark (VmHWM) counts everything.
// Where the program has files mapped, their pages are resident too, as many as the machine has room
// for, and the kernel takes them back without writing them; so what is counted is memory that has
// no file (RssAnon), looked at with every element, since there is no high-water mark of it.
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <optional>

#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/cache.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/testing/damaged_files.h"
#include "stoker/formats/arrow/arrow_testing_internal.h"
#include "stoker/formats/lmdb/lmdb_writer.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"
#include "stoker/io/file_bytes_testing_internal.h"
#include "stoker/io/packed_testing_internal.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"

namespace stoker::resident_memory_test {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kElement = kMiB;  // bytes of each element
constexpr int64_t kElements = 192;
constexpr int64_t kBudget = 24 * kMiB;
// Decoding a row group of Parquet is thought to take some 30 MiB at least, else it is refused.
constexpr int64_t kParquetBudget = 40 * kMiB;
constexpr int kThreads = 4;
constexpr int64_t kLookEvery = 16;  // elements
// More than the budget, an element for each stage and thread, and 64 MB for everything else.
static_assert(kElements * kElement > kParquetBudget + 20 * kElement + 64 * kMiB);

struct LargeKind {
  const char* name;
  std::string stages;  // names of files begin with `$/`
  std::function<void(const TempDir&)> make;
  bool held = false;  // holds all in memory, so that it refuses to
  int64_t budget = kBudget;
  bool remote = false;  // `$/` is the address of a server
};

void PrintTo(const LargeKind& kind, std::ostream* out) { *out << kind.name; }

Dataset LargeElements() {
  const Dataset source = NumberedImages(kElements);
  return *(Result<Dataset>(source) |
           Map{.function =
                   [](Element& element, Rng&, Scratch& scratch) {
                     element.arrays[0] = scratch.NewArray(DType::kUInt8, {kElement});
                     std::ranges::fill(element.arrays[0].values<uint8_t>(), uint8_t{1});
                     return OkStatus();
                   },
               .output = {{{"image", DType::kUInt8, {kElement}}, source.spec().fields[1]}},
               .random = false});
}

using Make = std::function<void(const TempDir&)>;

Make PackedAs(std::string_view format) {
  return [format](const TempDir& dir) {
    STOKER_ASSERT_OK(Pack(LargeElements(), dir / "x", {.format = *FindPackFormat(format)}));
  };
}

// `start` and kElements times the record, compressed where the name says so. Large texts are made
// by the tests that need them, since every test of the program comes by here.
Make Repeated(const char* name, std::string start, std::string (*make_record)()) {
  return [name, start = std::move(start), make_record](const TempDir& dir) {
    const std::string path = dir / name, record = make_record();
    if (!path.ends_with(".gz")) {
      std::ofstream file(path, std::ios::binary);
      file << start;
      for (int64_t i = 0; i < kElements; ++i) file << record;
      return;
    }
    std::string whole = start;
    for (int64_t i = 0; i < kElements; ++i) whole += record;
    WriteFast(path, damaged_kinds::Gzipped(whole));
  };
}

// What `make` has written as `name`, compressed, with `ending` after the name.
Make Compressed(Make make, std::string name, std::string ending,
                std::function<std::string(const std::string&)> compress) {
  return [=](const TempDir& dir) {
    make(dir);
    STOKER_ASSERT_OK_AND_ASSIGN(const std::string plain, ReadTextFile(dir / name, 1 << 30));
    WriteFast(dir / (name + ending), compress(plain));
    std::filesystem::remove(dir / name);
  };
}

std::string LargeText() { return std::string(kElement, 'x'); }

std::string CsvRow() { return "7," + std::string(kElement - 8, 'x') + "\n"; }

std::string JsonRow() { return "{\"t\": \"" + std::string(kElement - 16, 'x') + "\"}\n"; }

std::string SvmRow() {
  std::string row = "1";
  for (int i = 1; std::ssize(row) < kElement; ++i) row += fmt::format(" {}:1", i);
  return row + "\n";
}

std::string Line() { return std::string(kElement - 1, 'x') + "\n"; }

std::string ImageRecord() { return RecordIoRecord(ImageRecordOf({1}, 0, LargeText())); }

std::string IdxStart() {
  return BigEndian(0x00000803, 4) + BigEndian(kElements, 4) + BigEndian(1024, 4) +
         BigEndian(1024, 4);
}

void MakeNpz(const TempDir& dir) {
  std::string npy = *NpyHeaderOf(DType::kUInt8, {kElements, kElement}, "x");
  for (int64_t i = 0; i < kElements; ++i) npy += LargeText();
  WriteFast(dir / "x.npz", ZipOf({{"x.npy", npy}}, /*deflated=*/true));
}

void MakeZip(const TempDir& dir) {
  std::vector<std::pair<std::string, std::string>> members;
  for (int64_t i = 0; i < kElements; ++i)
    members.emplace_back(fmt::format("{}.txt", i), LargeText());
  WriteFast(dir / "x.zip", ZipOf(members, /*deflated=*/true));
}

// Rows in chunks of 4, which the element of one row is a part of.
void MakeHdf5(const TempDir& dir, bool deflate) {
  WriteHdf5(dir / "x.h5", /*latest=*/false, [&](hid_t file) {
    const std::vector<uint8_t> values(static_cast<size_t>(kElements * kElement), 1);
    AddHdf5Dataset(file, "x", H5T_NATIVE_UINT8, {kElements, kElement}, values.data(),
                   {.chunk = {4, kElement}, .deflate = deflate ? 1 : 0, .shuffle = deflate});
  });
}

// As much in many small parts, which formats keep together in pages.
constexpr int64_t kSmall = 1024;

void MakeSmallLmdb(const TempDir& dir) {
  std::filesystem::create_directories(dir / "x.lmdb");
  STOKER_ASSERT_OK_AND_ASSIGN(LmdbWriter writer, LmdbWriter::Create(dir / "x.lmdb"));
  const std::string value(kSmall, 'x');
  for (int64_t i = 0; i < kElements * kElement / kSmall; ++i)
    STOKER_ASSERT_OK(writer.Append(fmt::format("{:08}", i), value));
  STOKER_ASSERT_OK(writer.Finish());
}

void MakeHdf5Texts(const TempDir& dir) {
  WriteHdf5(dir / "x.h5", /*latest=*/false, [&](hid_t file) {
    const std::string text(kSmall, 'x');
    const std::vector<const char*> texts(kElements * kElement / kSmall, text.c_str());
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    AddHdf5Dataset(file, "x", type, {texts.size()}, texts.data());
    H5Tclose(type);
  });
}

void MakeSnapshot(const TempDir& dir) {
  STOKER_ASSERT_OK(WriteSnapshot(LargeElements(), dir / "x.elements", Runtime::Inline()));
}

void MakeN5(const TempDir& dir) {
  std::filesystem::create_directories(dir / "c");
  WriteFast(dir / "c/attributes.json",
            N5AttributesOf({static_cast<int>(kElement), static_cast<int>(kElements)},
                           {static_cast<int>(kElement), 4}, "uint8", "gzip"));
  std::filesystem::create_directories(dir / "c/0");
  const std::string block =
      N5BlockOf({static_cast<int>(kElement), 4}, std::string(4 * kElement, 'x'), /*gzip=*/true);
  for (int64_t i = 0; i < kElements / 4; ++i) WriteFast(dir / fmt::format("c/0/{}", i), block);
}

void MakeFolder(const TempDir& dir) {
  std::filesystem::create_directories(dir / "f/a");
  for (int64_t i = 0; i < kElements; ++i)
    WriteFast(dir / fmt::format("f/a/{}.bin", i), LargeText());
}

void MakeList(const TempDir& dir) {
  MakeFolder(dir);
  std::ofstream list(dir / "list");
  for (int64_t i = 0; i < kElements; ++i) list << fmt::format("f/a/{}.bin\t0\n", i);
}

// Texts in groups of four. The test is skipped where Stoker was built without Arrow.
Make TableOfTexts(TableFormat format, std::string compression) {
  return [format, compression = std::move(compression)](const TempDir& dir) {
    std::string texts = "[";
    for (int64_t i = 0; i < kElements; ++i) texts += (i == 0 ? "\"" : ",\"") + LargeText() + "\"";
    const Status written = WriteTestTable(
        format, dir / "x.table",
        {.columns = {{"t", "string", texts + "]"}}, .group_rows = 4, .compression = compression});
    if (written.code() == StatusCode::kUnavailable) GTEST_SKIP() << written.message();
    STOKER_ASSERT_OK(written);
  };
}

// In four files, which are read in turn.
void MakeFourFiles(const TempDir& dir) {
  for (int i = 0; i < 4; ++i) {
    std::ofstream file(dir / fmt::format("{}.txt", i), std::ios::binary);
    for (int64_t line = 0; line < kElements / 4; ++line) file << Line();
  }
}

// Grey pictures of 1024 x 1024, which a decoder makes three times as large.
void MakePictures(const TempDir& dir) {
  std::filesystem::create_directories(dir / "f/a");
  const std::string picture = "P5 1024 1024 255\n" + LargeText();
  for (int64_t i = 0; i < kElements; ++i) WriteFast(dir / fmt::format("f/a/{}.pgm", i), picture);
}

// Over 60 lines: a table, with a row for each kind.
std::vector<LargeKind> LargeKinds() {
  return {
      {"idx", "idx: {images: $/x}", Repeated("x", IdxStart(), LargeText), true},
      {"idx_gz", "idx: {images: $/x.gz}", Repeated("x.gz", IdxStart(), LargeText), true},
      {"npz", "npz: {path: $/x.npz}", MakeNpz, true},
      {"npy", "npy: {fields: {image: $/x/image.npy}}", PackedAs("npy")},
      {"stoker", "stoker: $/x.stoker", PackedAs("stoker")},
      {"lmdb", "lmdb: {path: $/x.lmdb}", PackedAs("lmdb")},
      {"lmdb_small", "lmdb: {path: $/x.lmdb, key: true}", MakeSmallLmdb},
      {"snapshot", "snapshot: $/x.elements", MakeSnapshot},
      {"cache_file",
       "{tfrecord: {files: $/x.tfrecord, index: memory}}, {cache: {path: $/c}}, "
       "{repeat: 2}, shuffle",
       PackedAs("tfrecord")},
      {"hdf5_texts", "hdf5: {files: $/x.h5}", MakeHdf5Texts},
      {"zip", "zip_archive: {files: $/x.zip, fields: [txt]}", MakeZip},
      {"hdf5_flat", "hdf5: {files: $/x.h5}",
       [](const TempDir& dir) { MakeHdf5(dir, /*deflate=*/false); }},
      {"tfrecord", "tfrecord: {files: $/x.tfrecord, index: memory}", PackedAs("tfrecord")},
      {"tfrecord_in_order", "tfrecord: {files: $/x.tfrecord, index: none}", PackedAs("tfrecord")},
      {"tar", "webdataset: {files: $/x.tar, index: memory}", PackedAs("tar")},
      {"tar_in_order", "webdataset: {files: $/x.tar, index: none}", PackedAs("tar")},
      {"tfrecord_gz", "tfrecord: {files: $/x.tfrecord.gz}",
       Compressed(PackedAs("tfrecord"), "x.tfrecord", ".gz", damaged_kinds::Gzipped)},
      {"tar_gz", "webdataset: {files: $/x.tar.gz}",
       Compressed(PackedAs("tar"), "x.tar", ".gz", damaged_kinds::Gzipped)},
      {"recordio", "recordio: {files: $/x.rec, index: memory, whole: true}",
       Repeated("x.rec", "", ImageRecord)},
      {"csv", "csv: {files: $/x.csv, index: memory, fields: {a: int64, b: text}}",
       Repeated("x.csv", "a,b\n", CsvRow)},
      {"csv_gz", "csv: {files: $/x.csv.gz, fields: {a: int64, b: text}}",
       Repeated("x.csv.gz", "a,b\n", CsvRow)},
      {"jsonl", "jsonl: {files: $/x.jsonl, index: memory, fields: {t: text}}",
       Repeated("x.jsonl", "", JsonRow)},
      {"libsvm", "libsvm: {files: $/x.svm, index: none}", Repeated("x.svm", "", SvmRow)},
      {"lines", "lines: $/x.txt", Repeated("x.txt", "", Line)},
      {"lines_gz", "lines: $/x.gz", Repeated("x.gz", "", Line)},
      {"lines_xz", "lines: $/x.txt.xz",
       Compressed(Repeated("x.txt", "", Line), "x.txt", ".xz",
                  [](const std::string& plain) { return XzCompress(plain); })},
      {"lines_bz2", "lines: $/x.txt.bz2",
       Compressed(Repeated("x.txt", "", Line), "x.txt", ".bz2",
                  [](const std::string& plain) { return Bzip2Compress(plain); })},
      {"binary",
       fmt::format("binary: {{files: $/x.bin, fields: {{a: {{shape: [{}]}}}}}}", kElement),
       Repeated("x.bin", "", LargeText)},
      {"hdf5", "hdf5: {files: $/x.h5}",
       [](const TempDir& dir) { MakeHdf5(dir, /*deflate=*/true); }},
      {"parquet", "parquet: {files: $/x.table}", TableOfTexts(TableFormat::kParquet, "none"), false,
       kParquetBudget},
      {"parquet_zstd", "parquet: {files: $/x.table}", TableOfTexts(TableFormat::kParquet, "zstd"),
       false, kParquetBudget},
      {"arrow", "arrow: {files: $/x.table}", TableOfTexts(TableFormat::kArrow, "none")},
      {"arrow_zstd", "arrow: {files: $/x.table}", TableOfTexts(TableFormat::kArrow, "zstd")},
      {"n5", "n5: {path: $/c}", MakeN5},
      {"folder", "folder: {path: $/f, extensions: [bin]}", MakeFolder},
      {"files", "files: {path: $/f/a/*.bin, read: true}", MakeFolder},
      {"list", "list: {path: $/list}", MakeList},
      {"pictures", "{folder: {path: $/f, extensions: [pgm]}}, decode, {resize: {size: 512}}",
       MakePictures},
      {"lines_remote", "lines: $/x.txt", Repeated("x.txt", "", Line), false, kBudget, true},
      {"binary_remote",
       fmt::format("binary: {{files: $/x.bin, fields: {{a: {{shape: [{}]}}}}}}", kElement),
       Repeated("x.bin", "", LargeText), false, kBudget, true},
      {"interleave_remote",
       "interleave: {inputs: [[lines: $/0.txt], [lines: $/1.txt], [lines: $/2.txt], [lines: "
       "$/3.txt]]}",
       MakeFourFiles, false, kBudget, true},
      {"shuffled_cache",
       "{tfrecord: {files: $/x.tfrecord, index: memory}}, cache, {repeat: 2}, shuffle",
       PackedAs("tfrecord")},
  };
}

// KiB of a line of /proc/self/status.
int64_t StatusKiB(std::string_view line) {
  const std::string text = *ReadTextFile("/proc/self/status");
  return std::stoll(text.substr(text.find(line) + line.size() + 1));
}

// Serves the files of a directory, which it holds in memory.
class FileServer {
 public:
  explicit FileServer(const TempDir& dir)
      : server_([this](const LoopbackRequest& request, int) {
          const auto file = files_.find(request.target);
          if (file == files_.end()) return LoopbackAnswer{.status = 404};
          return ServeContent(request, file->second);
        }) {
    for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
      files_["/" + entry.path().filename().string()] = *ReadTextFile(entry.path(), 1 << 30);
  }
  std::string root() const { return server_.root(); }

 private:
  std::map<std::string, std::string> files_;
  const LoopbackServer server_;
};

// Reads all of it and checks how much memory that took, beside what the process had.
//   root  what stands for the `$` of `$/`
void ReadWithinBounds(const LargeKind& kind, const std::string& root, FileAccess access) {
  const QuietLog quiet;
  SetFileAccess(access);
  const bool mapped = access == FileAccess::kMapped;
  const std::string_view counted = mapped ? "RssAnon" : "VmRSS";
  const int64_t before = StatusKiB(counted);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, OpenStages(kind.stages, root));
  Runtime runtime = Runtime::Threaded(kThreads);
  runtime.memory_budget = kind.budget;
  const auto pass = dataset.Open(runtime);
  int64_t elements = 0, most = before;
  if (kind.held) {
    EXPECT_THAT(pass, FailsWith(StatusCode::kResourceExhausted, "its values take 201.3 MB of"));
  } else {
    STOKER_ASSERT_OK(pass);
    while (true) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> element, (*pass)->Next());
      if (!element) break;
      if (mapped && elements % kLookEvery == 0) most = std::max(most, StatusKiB(counted));
      ++elements;
    }
    EXPECT_GE(elements, kElements);
  }
  most = std::max(most, StatusKiB(mapped ? counted : "VmHWM"));
  const auto stages = static_cast<int64_t>(2 + std::ranges::count(kind.stages, '}'));
  const int64_t allowed = kind.budget + (stages + kThreads) * kElement + 64'000'000;
  EXPECT_LE((most - before) << 10, allowed) << elements << " elements";
}

class ResidentMemory : public testing::TestWithParam<LargeKind> {
 protected:
  void ReadsWithinBounds(FileAccess access) {
    const TempDir dir;
    GetParam().make(dir);
    if (IsSkipped()) return;
    std::optional<FileServer> server;
    if (GetParam().remote) server.emplace(dir);
    const std::string root = server ? server->root() : dir.path().string();
    std::fflush(nullptr);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ReadWithinBounds(GetParam(), root, access);
      std::fflush(nullptr);
      ::_exit(HasFailure() ? 1 : 0);
    }
    int result = 0;
    ASSERT_EQ(::waitpid(child, &result, 0), child);
    EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0);
  }
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // a sanitizer's own memory hides ours
#else
constexpr bool kSanitized = false;
#endif

TEST_P(ResidentMemory, StaysWithinTheBudgetAnElementForEachStageAndThreadAnd64Megabytes) {
  if (kSanitized) GTEST_SKIP();
  ReadsWithinBounds(FileAccess::kByPosition);
}

// Of the kinds that FileBytes opens.
class MappedResidentMemory : public ResidentMemory {};

TEST_P(MappedResidentMemory, BesidePagesOfFilesStaysWithinTheSame) {
  if (kSanitized) GTEST_SKIP();
  ReadsWithinBounds(FileAccess::kMapped);
}

std::vector<LargeKind> MappedKinds() {
  std::vector<LargeKind> kinds = LargeKinds();
  std::erase_if(kinds, [](const LargeKind& kind) {
    constexpr std::string_view kMapped[] = {"npz",        "npy",       "stoker",     "lmdb",
                                            "lmdb_small", "snapshot",  "cache_file", "hdf5_texts",
                                            "zip",        "hdf5_flat", "hdf5"};
    return std::ranges::find(kMapped, kind.name) == std::end(kMapped);
  });
  return kinds;
}

TEST(ResidentMemoryKinds, HaveEverySource) {
  // range makes no bytes.
  EXPECT_THAT(SourcesWithoutKind(LargeKinds()), testing::IsSubsetOf({"range"}))
      << "add a source to LargeKinds";
}

std::string NameOfLarge(const testing::TestParamInfo<LargeKind>& kind) { return kind.param.name; }

INSTANTIATE_TEST_SUITE_P(All, ResidentMemory, testing::ValuesIn(LargeKinds()), NameOfLarge);
INSTANTIATE_TEST_SUITE_P(All, MappedResidentMemory, testing::ValuesIn(MappedKinds()), NameOfLarge);

}  // namespace stoker::resident_memory_test
