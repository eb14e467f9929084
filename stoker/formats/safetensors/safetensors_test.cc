#include "stoker/formats/safetensors/safetensors.h"

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/formats/copied_bytes_testing_internal.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"

namespace stoker::safetensors_test {

using namespace std::string_literals;

// A file of this header, unpadded, and these bytes of data.
std::string FileOf(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> 8 * i);
  return bytes + header + data;
}

Result<SafetensorsFile> Parse(std::string_view bytes) {
  return SafetensorsFile::Parse(CopyOf(std::as_bytes(std::span(bytes))), "x.safetensors");
}

template <typename T>
NamedArray Named(std::string name, const std::vector<T>& values, Shape shape) {
  return {std::move(name), Array::Of(std::span<const T>(values), std::move(shape))};
}

NamedArray Half(std::string name, const std::vector<int16_t>& bits, DType dtype) {
  const Array array = Array::Of(bits);
  return {std::move(name), Array(array.buffer(), dtype, array.shape())};
}

Array Bools(const std::vector<uint8_t>& values) {
  const Array array = Array::Of(values);
  return Array(array.buffer(), DType::kBool, array.shape());
}

std::vector<NamedArray> OneOfEveryKind() {
  return {Named<uint8_t>("b", {1, 2, 3}, {3}),
          Named<float>("w", {1.5f, -2.0f, 0.0f, 0.25f}, {2, 2}),
          Named<int64_t>("a", {7}, {1}),
          Half("h", {0x3c00, 0x4000}, DType::kFloat16),
          {"t", Bools({1, 0})},
          Named<double>("d", {0.5}, {1}),
          Named<int32_t>("i", {-1}, {1}),
          Named<int16_t>("s", {-2, 3}, {2}),
          Named<int8_t>("c", {-128}, {1}),
          {"e", Array::Allocate(DType::kFloat32, {0, 3})},
          Named<float>("z", {2.5f}, {}),
          Named<uint8_t>("\u00fc\"", {9}, {1})};
}

// What safetensors.numpy.save of Python's safetensors 0.8.0 makes of the same arrays, metadata
// {"format": "pt"}.
const std::string kGoldenHeader =
    R"({"__metadata__":{"format":"pt"},"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
    R"("d":{"dtype":"F64","shape":[1],"data_offsets":[8,16]},"e":{"dtype":"F32","shape":[0,3],"data_offsets":[16,16]},)"
    R"("w":{"dtype":"F32","shape":[2,2],"data_offsets":[16,32]},"z":{"dtype":"F32","shape":[],"data_offsets":[32,36]},)"
    R"("i":{"dtype":"I32","shape":[1],"data_offsets":[36,40]},"h":{"dtype":"F16","shape":[2],"data_offsets":[40,44]},)"
    R"("s":{"dtype":"I16","shape":[2],"data_offsets":[44,48]},"c":{"dtype":"I8","shape":[1],"data_offsets":[48,49]},)"
    R"("b":{"dtype":"U8","shape":[3],"data_offsets":[49,52]},)"
    "\"\u00fc\\\"\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[52,53]},"
    R"("t":{"dtype":"BOOL","shape":[2],"data_offsets":[53,55]}}   )";
const std::string kGoldenData =
    "\x07\0\0\0\0\0\0\0"
    "\0\0\0\0\0\0\xe0\x3f"
    "\0\0\xc0\x3f\0\0\0\xc0\0\0\0\0\0\0\x80\x3e"
    "\0\0\x20\x40"
    "\xff\xff\xff\xff"
    "\0\x3c\0\x40"
    "\xfe\xff\x03\0"
    "\x80\x01\x02\x03\x09\x01\0"s;

TEST(WriteSafetensors, GivesTheBytesOfTheFormatsOwnLibrary) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteSafetensors(dir / "a", OneOfEveryKind(), {{"format", "pt"}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string written, ReadTextFile(dir / "a"));
  EXPECT_EQ(written, FileOf(kGoldenHeader, kGoldenData));
}

TEST(WriteSafetensors, GivesTheSameBytesInWhateverOrderTheArraysCome) {
  const TempDir dir;
  std::vector<NamedArray> arrays = OneOfEveryKind();
  STOKER_ASSERT_OK(WriteSafetensors(dir / "a", arrays));
  std::reverse(arrays.begin(), arrays.end());
  STOKER_ASSERT_OK(WriteSafetensors(dir / "b", arrays));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string a, ReadTextFile(dir / "a"));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string b, ReadTextFile(dir / "b"));
  EXPECT_EQ(a, b);
}

TEST(WriteSafetensors, PadsTheHeaderAsTheReadmeShows) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteSafetensors(dir / "a", std::vector{Named<float>("w", {1.0f}, {1})}));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string written, ReadTextFile(dir / "a"));
  EXPECT_EQ(written,
            "\x38\0\0\0\0\0\0\0"s
            R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  )"
            "\0\0\x80\x3f"s);
}

TEST(WriteSafetensors, RefusesNamesThatCannotBe) {
  const TempDir dir;
  const auto write = [&](const std::string& name) {
    return WriteSafetensors(dir / "a",
                            std::vector{Named<float>("w", {1}, {1}), Named<float>(name, {1}, {1})});
  };
  EXPECT_THAT(write("w"), FailsWith(StatusCode::kInvalidArgument, "two arrays are called 'w'"));
  EXPECT_THAT(write("__metadata__"),
              FailsWith(StatusCode::kInvalidArgument, "which the format reserves"));
  EXPECT_THAT(write("\xff"), FailsWith(StatusCode::kInvalidArgument, "must be UTF-8"));
  EXPECT_FALSE(std::filesystem::exists(dir / "a"));
}

TEST(SafetensorsFile, ReadsBackEveryArrayAndTheMetadata) {
  const TempDir dir;
  const std::vector<NamedArray> arrays = OneOfEveryKind();
  STOKER_ASSERT_OK(WriteSafetensors(dir / "a", arrays, {{"format", "pt"}, {"note", ""}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const SafetensorsFile file, SafetensorsFile::Open(dir / "a"));
  EXPECT_EQ(file.metadata(), (SafetensorsMetadata{{"format", "pt"}, {"note", ""}}));
  EXPECT_EQ(file.entries().size(), arrays.size());
  for (const NamedArray& named : arrays) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Array array, file.Read(named.name));
    EXPECT_TRUE(SameBytes(array, named.array)) << named.name << " " << array.ToString();
    ASSERT_NE(file.Find(named.name), nullptr);
    EXPECT_EQ(file.Find(named.name)->dtype, named.array.dtype());
  }
}

TEST(SafetensorsFile, HoldsNoArraysToo) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteSafetensors(dir / "a", {}));
  STOKER_ASSERT_OK_AND_ASSIGN(const SafetensorsFile file, SafetensorsFile::Open(dir / "a"));
  EXPECT_TRUE(file.entries().empty());
}

TEST(SafetensorsFile, SharesTheMappingOfAlignedArraysAndOutlivesTheFile) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteSafetensors(
      dir / "a", std::vector{Named<float>("v", {1}, {1}), Named<float>("w", {2}, {1})}));
  Array v, w;
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const SafetensorsFile file, SafetensorsFile::Open(dir / "a"));
    STOKER_ASSERT_OK_AND_ASSIGN(v, file.Read("v"));
    STOKER_ASSERT_OK_AND_ASSIGN(w, file.Read("w"));
  }
  EXPECT_EQ(v.buffer().data(), w.buffer().data());
  w.values<float>()[0] = 3;
  EXPECT_EQ(v.values<float>()[0], 1);
  STOKER_ASSERT_OK_AND_ASSIGN(const SafetensorsFile again, SafetensorsFile::Open(dir / "a"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array on_disk, again.Read("w"));
  EXPECT_EQ(on_disk.values<float>()[0], 2) << "writing to an array must not reach the file";
}

TEST(SafetensorsFile, CopiesArraysThatLieUnaligned) {
  const std::string header =
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"w":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})";
  STOKER_ASSERT_OK_AND_ASSIGN(const SafetensorsFile file, Parse(FileOf(header, "x\0\0\x80\x3f"s)));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array w, file.Read("w"));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(w.data()) % 4, 0u);
  EXPECT_EQ(w.values<float>()[0], 1.0f);
}

TEST(SafetensorsFile, TakesEntriesInAnyOrderOfTheHeader) {
  const std::string header =
      R"({ "b":{"data_offsets":[1,2],"shape":[1],"dtype":"U8"}, "a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]} })";
  STOKER_ASSERT_OK_AND_ASSIGN(const SafetensorsFile file, Parse(FileOf(header, "xy")));
  EXPECT_EQ(file.entries()[0].name, "a");
  STOKER_ASSERT_OK_AND_ASSIGN(const Array b, file.Read("b"));
  EXPECT_EQ(b.values<uint8_t>()[0], 'y');
}

TEST(SafetensorsFile, ListsArraysOfTypesThatWeLackAndFailsWhereTheyAreRead) {
  const std::string header =
      R"({"a":{"dtype":"U32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[1],"data_offsets":[4,5]},)"
      R"("c":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[5,7]},"d":{"dtype":"F4","shape":[2,3],"data_offsets":[7,10]}})";
  STOKER_ASSERT_OK_AND_ASSIGN(const SafetensorsFile file, Parse(FileOf(header, "abcdexyz01")));
  ASSERT_EQ(file.entries().size(), 4u);
  EXPECT_EQ(file.entries()[0].type, "U32");
  EXPECT_EQ(file.entries()[0].dtype, std::nullopt);
  EXPECT_EQ(file.entries()[1].dtype, DType::kUInt8);
  EXPECT_EQ(file.entries()[3].bytes, 3u);
  STOKER_ASSERT_OK_AND_ASSIGN(const Array b, file.Read("b"));
  EXPECT_EQ(b.values<uint8_t>()[0], 'e');
  EXPECT_THAT(file.Read("c"),
              FailsWith(StatusCode::kUnimplemented, "x.safetensors: array 'c' is of type F8_E4M3"));
  EXPECT_THAT(file.ReadAll(), FailsWith(StatusCode::kUnimplemented, "array 'a' is of type U32"));
}

TEST(SafetensorsFile, NamesTheNearestArrayWhereOneIsMissing) {
  const TempDir dir;
  STOKER_ASSERT_OK(
      WriteSafetensors(dir / "a", std::vector{Named<float>("conv1.weight", {1}, {1})}));
  STOKER_ASSERT_OK_AND_ASSIGN(const SafetensorsFile file, SafetensorsFile::Open(dir / "a"));
  EXPECT_THAT(file.Read("conv1.wieght"),
              FailsWith(StatusCode::kNotFound, "did you mean 'conv1.weight'?"));
  EXPECT_EQ(file.Find("conv1"), nullptr);
}

TEST(SafetensorsFile, RefusesTruthValuesThatAreNeitherTrueNorFalse) {
  const std::string header = R"({"t":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})";
  STOKER_ASSERT_OK_AND_ASSIGN(const SafetensorsFile file, Parse(FileOf(header, "\x01\x02\x00"s)));
  EXPECT_THAT(file.Read("t"), FailsWith(StatusCode::kDataLoss, "entry 't': value 1 is 0x02"));
}

struct BrokenCase {
  const char* name;
  std::string bytes;
  const char* says;
  StatusCode code = StatusCode::kDataLoss;
};

const std::string kF32 = R"("dtype":"F32")";

const BrokenCase kBroken[] = {
    {"Empty", "", "x.safetensors: byte 0: 8 bytes of header length wanted, 0 there"},
    {"LengthCutShort", "\x02\0\0"s, "8 bytes of header length wanted, 3 there"},
    {"LengthOverTheLimit", "\x01\xe1\xf5\x05\0\0\0\0{}"s,
     "a header of 100000001 bytes is announced"},
    {"LengthBeyondTheFile", "\x10\0\0\0\0\0\0\0{}"s, "byte 8: 16 bytes of header wanted, 2 there"},
    {"NoBrace", FileOf(" {}", ""), "byte 8: the header must begin with an opening brace"},
    {"EmptyHeader", FileOf("", ""), "byte 8: the header must begin with an opening brace"},
    {"NoJson", FileOf("{\"a\":}", ""), "byte 13: the header is not valid JSON"},
    {"JsonCutShort", FileOf("{\"a\":", ""), "the header is not valid JSON"},
    {"NoUtf8", FileOf("{\"\xff\":1}", ""), "the header is not valid JSON"},
    {"TextBehindTheHeader", FileOf("{}{}", ""), "the header is not valid JSON"},
    {"EntryIsANumber", FileOf(R"({"a":1})", ""), "entry 'a' is a number, not an object"},
    {"EntryIsNull", FileOf(R"({"a":null})", ""), "entry 'a' is null, not an object"},
    {"EntryIsAList", FileOf(R"({"a":[]})", ""), "entry 'a' is a list, not an object"},
    {"NestedTooDeep", FileOf(R"({"a":{"dtype":{}}})", ""),
     "entry 'a': 'dtype' is or holds an object"},
    {"DtypeIsANumber", FileOf(R"({"a":{"dtype":5}})", ""),
     "entry 'a': 'dtype' is or holds a number"},
    {"DtypeIsAList", FileOf(R"({"a":{"dtype":[]}})", ""), "entry 'a': 'dtype' is or holds a list"},
    {"ShapeIsText", FileOf(R"({"a":{"shape":"2"}})", ""), "entry 'a': 'shape' is or holds text"},
    {"ShapeIsANumber", FileOf(R"({"a":{"shape":2}})", ""),
     "entry 'a': 'shape' is or holds a number"},
    {"ShapeHoldsText", FileOf(R"({"a":{"shape":["2"]}})", ""), "'shape' is or holds text"},
    {"ShapeHoldsAList", FileOf(R"({"a":{"shape":[[2]]}})", ""),
     "'shape' is or holds a list in a list"},
    {"ShapeHoldsAnObject", FileOf(R"({"a":{"shape":[{}]}})", ""), "'shape' is or holds an object"},
    {"NegativeExtent", FileOf(R"({"a":{"shape":[-1]}})", ""),
     "'shape' is or holds a negative number"},
    {"FractionalExtent", FileOf(R"({"a":{"shape":[1.0]}})", ""),
     "'shape' is or holds a number that is no integer"},
    {"ExtentBeyond64Bits", FileOf(R"({"a":{"shape":[18446744073709551616]}})", ""),
     "a number that is no integer"},
    {"TrueInShape", FileOf(R"({"a":{"shape":[true]}})", ""), "'shape' is or holds true or false"},
    {"UnknownKey", FileOf(R"({"a":{"strides":[1]}})", ""),
     "entry 'a' has an unknown key 'strides'"},
    {"NumberInUnknownKey", FileOf(R"({"a":{"x":1}})", ""), "entry 'a' has an unknown key 'x'"},
    {"MissingKey", FileOf("{\"a\":{" + kF32 + R"(,"shape":[]}})", ""), "entry 'a' lacks one of"},
    {"KeyTwice", FileOf(R"({"a":{"shape":[],"shape":[]}})", ""), "entry 'a': 'shape' occurs twice"},
    {"DtypeTwice", FileOf("{\"a\":{" + kF32 + "," + kF32 + "}}", ""),
     "entry 'a': 'dtype' occurs twice"},
    {"NameTwice", FileOf(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}})", ""),
     "'a' occurs twice"},
    {"MetadataTwice", FileOf(R"({"__metadata__":{"k":"1","k":"2"}})", ""),
     "the metadata 'k' occurs twice"},
    {"MetadataHoldsANumber", FileOf(R"({"__metadata__":{"k":1}})", ""),
     "the metadata 'k' is a number; only text"},
    {"MetadataHoldsAnObject", FileOf(R"({"__metadata__":{"k":{}}})", ""),
     "the metadata 'k' is an object"},
    {"MetadataHoldsAList", FileOf(R"({"__metadata__":{"k":["x"]}})", ""),
     "the metadata 'k' is a list"},
    {"MetadataIsText", FileOf(R"({"__metadata__":"k"})", ""),
     "entry '__metadata__' is text, not an object"},
    {"UnknownDtype", FileOf(R"({"a":{"dtype":"U17","shape":[1],"data_offsets":[0,2]}})", "xy"),
     "entry 'a' has the dtype 'U17', which safetensors 0.8 does not have",
     StatusCode::kUnimplemented},
    {"SizeOfADtypeThatWeLack",
     FileOf(R"({"a":{"dtype":"U16","shape":[2],"data_offsets":[0,2]}})", "xy"),
     "its data lies at 0..2, but U16[2] takes 4 bytes"},
    {"HalfAByte", FileOf(R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", "xy"),
     "the shape [3] announces more values than can exist, or no whole bytes"},
    {"ExtentBeyond63Bits",
     FileOf("{\"a\":{" + kF32 + R"(,"shape":[9223372036854775808],"data_offsets":[0,0]}})", ""),
     "the extent 9223372036854775808 is too large"},
    {"SizeBeyond63Bits",
     FileOf("{\"a\":{" + kF32 + R"(,"shape":[4294967296,4294967296],"data_offsets":[0,0]}})", ""),
     "announces more values"},
    {"OneOffset", FileOf("{\"a\":{" + kF32 + R"(,"shape":[],"data_offsets":[4]}})", "xxxx"),
     "holds 1 numbers, not 2"},
    {"ThreeOffsets", FileOf("{\"a\":{" + kF32 + R"(,"shape":[],"data_offsets":[0,4,4]}})", "xxxx"),
     "holds 3 numbers"},
    {"OffsetsReversed", FileOf("{\"a\":{" + kF32 + R"(,"shape":[],"data_offsets":[4,0]}})", "xxxx"),
     "its data lies at 4..0, but F32[] takes 4 bytes"},
    {"SizeDisagreesWithShape",
     FileOf("{\"a\":{" + kF32 + R"(,"shape":[2],"data_offsets":[0,4]}})", "xxxx"),
     "its data lies at 0..4, but F32[2] takes 8 bytes"},
    {"Hole", FileOf(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", "xy"),
     "there may be no hole"},
    {"Overlap",
     FileOf(
         R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
         "xy"),
     "the data of entry 'b' begins at 1, that before it ends at 2; there may be no overlap"},
    {"DataCutShort", FileOf(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", "xy"),
     "the header announces 3 bytes of data, the file has 2"},
    {"BytesBehindTheData", FileOf(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "xy"),
     "the header announces 1 bytes of data, the file has 2"},
};

class SafetensorsBroken : public testing::TestWithParam<BrokenCase> {};

TEST_P(SafetensorsBroken, SaysWhatAndWhere) {
  EXPECT_THAT(Parse(GetParam().bytes), FailsWith(GetParam().code, GetParam().says));
  EXPECT_THAT(Parse(GetParam().bytes), FailsWith(GetParam().code, "x.safetensors: "));
}

INSTANTIATE_TEST_SUITE_P(Cases, SafetensorsBroken, testing::ValuesIn(kBroken),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(SafetensorsFile, EveryProperPrefixOfAGoodFileIsAnError) {
  const std::string good = FileOf(kGoldenHeader, kGoldenData);
  STOKER_ASSERT_OK(Parse(good));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_THAT(Parse(good.substr(0, size)), FailsWith(StatusCode::kDataLoss, "x.safetensors: "))
        << size;
  }
}

TEST(SafetensorsFile, EveryFlippedByteIsAnErrorThatNamesTheFileOrLeavesEveryArrayReadable) {
  const std::string good = FileOf(kGoldenHeader, kGoldenData);
  for (const int flip : {0x01, 0xff}) {
    for (size_t at = 0; at < good.size(); ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ flip);
      const Result<SafetensorsFile> file = Parse(bad);
      if (!file.ok()) {
        EXPECT_THAT(file.status().message(), testing::HasSubstr("x.safetensors: ")) << at;
        EXPECT_NE(file.status().code(), StatusCode::kInternal) << at;
        continue;
      }
      uint64_t bytes = 0;
      for (const SafetensorsEntry& entry : file->entries()) {
        const Result<Array> array = file->Read(entry.name);
        EXPECT_TRUE(array.ok() || entry.dtype == DType::kBool) << array.status().ToString();
        bytes += entry.bytes;
      }
      EXPECT_LE(bytes, good.size()) << at;
    }
  }
}

TEST(SafetensorsFile, BuildsNothingFromHostileNesting) {
  std::string header;
  for (int i = 0; i < 1'000'000; ++i) header += "{\"a\":";
  EXPECT_THAT(Parse(FileOf(header, "")),
              FailsWith(StatusCode::kDataLoss, "has an unknown key 'a'"));
}

TEST(SafetensorsFile, FailsAsOpeningDoes) {
  EXPECT_THAT(SafetensorsFile::Open("/no/such/file"),
              FailsWith(StatusCode::kNotFound, "there is no directory /no"));
}

}  // namespace stoker::safetensors_test
