#include <array>
#include <optional>

#include "stoker/data/core/class_names.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/pack/pack_manifest.h"
#include "stoker/data/sources/lmdb.h"
#include "stoker/data/sources/npy.h"
#include "stoker/data/sources/stoker.h"
#include "stoker/data/sources/tfrecord.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/data/testing/combining.h"
#include "stoker/data/testing/packed.h"
#include "stoker/formats/lmdb/lmdb_file.h"
#include "stoker/formats/tar/tar_reader.h"
#include "stoker/io/atomic_file.h"

namespace stoker::pack_formats_test {

class PackFormatsTest : public PackTest {};

TEST_F(PackFormatsTest, EveryFormatThatTakesAnySpecGivesBackWhatWasPacked) {
  for (const char* name : {"stoker", "tfrecord", "tar", "lmdb"}) {
    SCOPED_TRACE(name);
    const Dataset dataset = MixedElements(50, /*with_bfloat16=*/name != std::string_view("tar"));
    const std::string wanted = WithoutKeys(*ReadAll(dataset, Runtime::Inline()));
    PackOptions options = Into(name);
    options.verify = true;
    STOKER_ASSERT_OK_AND_ASSIGN(const PackReport report, Pack(dataset, Path("x"), options));
    ASSERT_EQ(report.files.size(), 1u);
    EXPECT_EQ(report.elements(), 50);
    EXPECT_EQ(report.bytes(), *BytesOnDisk(report.files[0].path));
    EXPECT_EQ(ReadBack(*options.format, report.files[0].path, dataset.spec()), wanted);
  }
}

TEST_F(PackFormatsTest, ArraysOfOneShapeAreAFileEachInADirectory) {
  PackOptions options = Into("npy");
  options.verify = true;
  for (const Dataset& dataset : {NumberedImages(9), StreamedImages(0), StreamedImages(12)}) {
    options.overwrite = true;
    STOKER_ASSERT_OK_AND_ASSIGN(const PackReport report, Pack(dataset, Path("x"), options));
    EXPECT_EQ(report.files[0].path, Path("x"));
    EXPECT_GT(report.bytes(), 0u);
    EXPECT_EQ(ReadBack(*options.format, Path("x"), dataset.spec()),
              WithoutKeys(*ReadAll(dataset, Runtime::Inline())));
  }
  EXPECT_EQ(FilesIn(directory_.path()).size(), 2u) << "image.npy and label.npy, and no manifest";
  EXPECT_THAT(Pack(MixedElements(2), Path("y"), options),
              FailsWith(StatusCode::kInvalidArgument, "field 'text' has shape [?]"));
}

// The source that reads what was packed to `to`, in two files.
Result<Dataset> PackedSource(const PackFormat& format, const std::string& to) {
  if (format.name == "stoker") return Source(Stoker{.files = to + "@2.stoker"});
  if (format.name == "tfrecord") return Source(Tfrecord{.files = to + "@2.tfrecord"});
  if (format.name == "lmdb") return Source(Lmdb{.path = to + "@2.lmdb"});
  if (format.name == "tar") return Source(Webdataset{.files = to + "@2.tar"});
  const std::string first = PackedNames(to, format, 2).front();
  return Source(Npy{.fields = {{"image", first + "/image.npy"}, {"label", first + "/label.npy"}}});
}

TEST_F(PackFormatsTest, NamesOfClassesAreKeptInEveryFormat) {
  const std::vector<std::string> classes = {"cat", "big dog", "owl"};
  for (const PackFormat& format : PackFormats()) {
    SCOPED_TRACE(format.name);
    PackOptions options{.format = &format, .files = 2, .classes = classes};
    STOKER_ASSERT_OK(Pack(NumberedImages(10), Path("x"), options));
    EXPECT_EQ(FindClassNames(*PackedSource(format, Path("x"))), classes);
    const std::string beside = PackedClassNames(Path("x"), format);
    EXPECT_EQ(!beside.empty(), std::filesystem::exists(beside));
    // Others do not take their place, nor stay where there are none any more.
    options.classes = {"a", "b"};
    EXPECT_THAT(Pack(NumberedImages(10), Path("x"), options),
                FailsWith(StatusCode::kFailedPrecondition, "--overwrite"));
    EXPECT_EQ(FindClassNames(*PackedSource(format, Path("x"))), classes);
    options.classes.clear();
    options.overwrite = true;
    STOKER_ASSERT_OK(Pack(NumberedImages(10), Path("x"), options));
    EXPECT_THAT(FindClassNames(*PackedSource(format, Path("x"))), testing::IsEmpty());
  }
}

TEST_F(PackFormatsTest, ShardsThatNameClassesDifferentlyAreNotOneSource) {
  for (const char* name : {"stoker", "tar", "lmdb"}) {
    PackOptions options = Into(name);
    options.classes = {"cat", "dog"};
    STOKER_ASSERT_OK(Pack(NumberedImages(4), Path("x-00000-of-00002"), options));
    options.classes = {"cat", "cow"};
    STOKER_ASSERT_OK(Pack(NumberedImages(4), Path("x-00001-of-00002"), options));
    EXPECT_THAT(PackedSource(*options.format, Path("x")),
                FailsWith(StatusCode::kInvalidArgument, "number 1 is 'dog' there and 'cow' here"));
  }
}

TEST_F(PackFormatsTest, ATarHoldsWhatWebDatasetTakesForPicturesNumbersAndArrays) {
  const Spec spec{{{"image", DType::kUInt8, {kUnknownDim}},
                   {"label", DType::kUInt8, {}},
                   {"text", DType::kUInt8, {kUnknownDim}},
                   {"json", DType::kUInt8, {kUnknownDim}},
                   {"box", DType::kFloat32, {2}}}};
  const auto bytes = [](std::string_view text) {
    return Array::Of(std::vector<uint8_t>(text.begin(), text.end()));
  };
  const std::vector<std::string_view> pictures = {"\xff\xd8\xff\xe0", "\x89PNG\r\n\x1a\n", "?"};
  const Dataset dataset = FromGenerator(spec, [&](uint64_t) {
    return [&, i = size_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == pictures.size()) return std::nullopt;
      Element element{.key = {0, static_cast<int64_t>(i)}, .arrays = {}};
      element.arrays = {bytes(pictures[i]),
                        Array::Of(std::vector<uint8_t>{static_cast<uint8_t>(250 + i)}).Reshaped({}),
                        bytes("words"), bytes("{}"), Array::Of(std::vector<float>{1, 2})};
      ++i;
      return element;
    };
  });
  STOKER_ASSERT_OK(Pack(dataset, Path("x"), Into("tar")));
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(Path("x.tar")));
  const std::unique_ptr<TarInput> input = MakeTarInput(file);
  TarReader reader(*input);
  std::string members;
  while (const std::optional<TarMember> member = *reader.Next())
    members += fmt::format("{} {}\n", member->name, member->size);
  EXPECT_THAT(members, testing::StartsWith(".stoker.json "));
  EXPECT_EQ(members.substr(members.find('\n') + 1),
            "000000000000.jpg 4\n000000000000.cls 3\n000000000000.txt 5\n000000000000.json 2\n"
            "000000000000.box.npy 136\n"
            "000000000001.png 8\n000000000001.cls 3\n000000000001.txt 5\n000000000001.json 2\n"
            "000000000001.box.npy 136\n"
            "000000000002.bin 1\n000000000002.cls 3\n000000000002.txt 5\n000000000002.json 2\n"
            "000000000002.box.npy 136\n");
  // Named fields are what any reader finds; those of the packing have their names and types.
  EXPECT_EQ(Source(Webdataset{.files = Path("x.tar")})->spec(), spec);
  EXPECT_EQ(Source(Webdataset{.files = Path("x.tar"), .fields = {"jpg|png|bin", "box.npy"}})
                ->spec()
                .ToString(),
            "{jpg: uint8[?], box.npy: uint8[?]}");
}

TEST_F(PackFormatsTest, ADatabaseHoldsAnEntryForEachFieldByTheNumberOfItsElement) {
  PackOptions options = Into("lmdb", 2);
  options.classes = {"cat"};
  STOKER_ASSERT_OK(Pack(NumberedImages(5), Path("x"), options));
  STOKER_ASSERT_OK_AND_ASSIGN(const LmdbFile file, LmdbFile::Open(Path("x-00001-of-00002.lmdb")));
  std::string keys;
  for (int64_t i = 0; i < file.size(); ++i) keys += fmt::format("{} ", file.key(i));
  EXPECT_EQ(keys,
            "000000000003/image 000000000003/label 000000000004/image 000000000004/label stoker ");
  EXPECT_EQ(file.value(2).size(), 16u);
  const auto value = [&](int64_t entry) {
    std::string text(file.value(entry).size(), '\0');
    EXPECT_THAT(file.ReadValue(entry, std::as_writable_bytes(std::span(text))), IsOk());
    return text;
  };
  EXPECT_EQ(value(3), std::string_view("\4\0\0\0\0\0\0\0", 8));
  EXPECT_THAT(value(4), testing::HasSubstr("\"classes\":[\"cat\"]"));
  // By prefix the values are given as they are.
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset values,
                              Source(Lmdb{.path = Path("x@2.lmdb"), .prefix = "0", .key = true}));
  EXPECT_EQ(values.spec().ToString(), "{value: uint8[?], key: uint8[?]}");
  EXPECT_EQ(values.cardinality(), Cardinality::Of(10));
  EXPECT_THAT(Source(Lmdb{.path = Path("x@2.lmdb"), .key = true}),
              FailsWith(StatusCode::kInvalidArgument, "its elements have fields of their own"));
}

TEST_F(PackFormatsTest, PackedSourcesKeepTheirPromises) {
  const Dataset dataset = MixedElements(23, /*with_bfloat16=*/false);
  for (const char* name : {"tar", "lmdb"}) {
    STOKER_ASSERT_OK(Pack(dataset, Path("x"), Into(name)));
    std::filesystem::rename(PackedNames(Path("x"), Format(name), 1)[0],
                            PackedNames(Path("x"), Format(name), 2)[0]);
    STOKER_ASSERT_OK(Pack(dataset, PackedNames(Path("x"), Format(name), 2)[1], Into(name)));
    ExpectKeepsItsPromises(PackedSource(Format(name), Path("x")));
    ExpectKeepsItsPromises(PackedSource(Format(name), Path("x")) | Shuffle{});
  }
}

TEST_F(PackFormatsTest, AnEntryThatIsNotWhatWasPackedIsNamed) {
  STOKER_ASSERT_OK(Pack(NumberedImages(5), Path("x"), Into("lmdb")));
  const std::string path = Path("x.lmdb/data.mdb");
  const std::string whole = *ReadTextFile(path);
  for (const auto& [from, to, says] : std::vector<std::array<const char*, 3>>{
           {"000000000003/label", "000000000003/lebal", "field 'label' of element 000000000003"},
           {"\"uint8\"", "\"int64\"", "has 16 bytes, which is no int64[1, 4, 4]"},
           {"\"fields\"", "\"fjelds\"", "the value of 'stoker': the schema is no JSON object"}}) {
    std::string wrong = whole;
    for (size_t at = 0; (at = wrong.find(from, at)) != wrong.npos; ++at)
      wrong.replace(at, std::string_view(to).size(), to);
    STOKER_ASSERT_OK(WriteFileAtomically(path, wrong));
    Result<Dataset> dataset = Source(Lmdb{.path = path});
    const Status status =
        dataset.ok() ? ReadAll(*dataset, Runtime::Inline()).status() : dataset.status();
    EXPECT_THAT(status, FailsWith(StatusCode::kDataLoss, says));
  }
}

TEST_F(PackFormatsTest, FieldsThatWouldBeOneMemberOfATarAreRefused) {
  const auto refused = [&](const char* a, const char* b, const char* says) {
    const Dataset dataset = *FromArrays(
        {{a, Array::Of(std::vector<int64_t>{1})}, {b, Array::Of(std::vector<int64_t>{1})}});
    EXPECT_THAT(Pack(dataset, Path("x"), Into("tar")),
                FailsWith(StatusCode::kInvalidArgument, says));
  };
  refused("label", "cls", "extension 'cls' is named twice");
  refused("a/b", "c", "field 'a/b' cannot name a member");
}

}  // namespace stoker::pack_formats_test
