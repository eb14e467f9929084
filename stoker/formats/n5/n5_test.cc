#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "stoker/base/testing.h"
#include "stoker/formats/chunked/row_gather.h"
#include "stoker/formats/n5/n5_array.h"
#include "stoker/formats/n5/n5_testing_internal.h"

namespace stoker::n5_test {

using testing::ElementsAre;

class N5Test : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path path = dir_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  }
  // 3 rows of 5 numbers, 10 * row + column, in blocks of 2 rows of 3: the fastest first.
  void WriteNumbers(const std::string& name, bool gzip) const {
    Write(name + "/attributes.json",
          N5AttributesOf({5, 3}, {3, 2}, "uint16", gzip ? "gzip" : "raw"));
    for (int y = 0; y < 2; ++y) {
      for (int x = 0; x < 2; ++x) {
        const int rows = y == 0 ? 2 : 1, columns = x == 0 ? 3 : 2;
        std::string values;
        for (int row = 2 * y; row < 2 * y + rows; ++row) {
          for (int column = 3 * x; column < 3 * x + columns; ++column)
            values += BigEndian(static_cast<uint64_t>(10 * row + column), 2);
        }
        Write(fmt::format("{}/{}/{}", name, x, y), N5BlockOf({columns, rows}, values, gzip));
      }
    }
  }
  Result<std::vector<int32_t>> Row(const std::string& name, int64_t row) const {
    STOKER_ASSIGN_OR_RETURN(const auto array, OpenN5(std::filesystem::path(dir_ / name)));
    const size_t count = array->stored_row_bytes() / 2;
    std::vector<int32_t> values(count);
    auto* const bytes = reinterpret_cast<std::byte*>(values.data());
    STOKER_RETURN_IF_ERROR(GatherRows(
        *array, {&row, 1}, [&](int64_t number) { return array->ReadChunk(number); },
        bytes + 2 * count));
    STOKER_RETURN_IF_ERROR(ConvertStored(array->layout().value, bytes, count));
    return values;
  }

  const TempDir dir_;
};

TEST_F(N5Test, ReadsBlocksThatAreCutAtTheEdgesRowsBeingTheLastDimensionListed) {
  for (const bool gzip : {false, true}) {
    WriteNumbers("a", gzip);
    STOKER_ASSERT_OK_AND_ASSIGN(const auto array, OpenN5(std::filesystem::path(dir_ / "a")));
    EXPECT_EQ(array->layout().shape, (Shape{3, 5}));
    EXPECT_EQ(array->layout().chunk_shape, (Shape{2, 3}));
    EXPECT_EQ(array->layout().dtype, DType::kInt32);
    for (int32_t row = 0; row < 3; ++row) {
      EXPECT_THAT(*Row("a", row),
                  ElementsAre(10 * row, 10 * row + 1, 10 * row + 2, 10 * row + 3, 10 * row + 4));
    }
  }
}

TEST_F(N5Test, ABlockThatWasNeverWrittenIsZeros) {
  WriteNumbers("a", false);
  std::filesystem::remove(dir_ / "a/1/0");
  EXPECT_THAT(*Row("a", 1), ElementsAre(10, 11, 12, 0, 0));
  EXPECT_THAT(*Row("a", 2), ElementsAre(20, 21, 22, 23, 24));
}

TEST_F(N5Test, ABlockOfAnArrayThatIsThereNoMoreIsAnErrorAndNotZeros) {
  WriteNumbers("a", false);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto array, OpenN5(std::filesystem::path(dir_ / "a")));
  STOKER_EXPECT_OK(array->ReadChunk(0));
  std::filesystem::rename(dir_ / "a", dir_ / "away");
  const Result<StoredChunk> chunk = array->ReadChunk(1);
  EXPECT_THAT(chunk, FailsWith(StatusCode::kUnavailable, "a/attributes.json: it is there no more"));
  std::filesystem::rename(dir_ / "away", dir_ / "a");
  STOKER_EXPECT_OK(array->ReadChunk(1));
}

TEST_F(N5Test, ABlockThatMayNotBeReadIsAnErrorAndNotZeros) {
  WriteNumbers("a", false);
  std::filesystem::remove(dir_ / "a/0/0");
  std::filesystem::create_directory(dir_ / "a/0/0");
  EXPECT_THAT(Row("a", 0), FailsWith(StatusCode::kInvalidArgument, "a/0/0"));
}

TEST_F(N5Test, EveryTruncationOfABlockIsAnErrorThatNamesIt) {
  for (const bool gzip : {false, true}) {
    WriteNumbers("a", gzip);
    const std::filesystem::path path = dir_ / "a/0/0";
    const auto good = static_cast<size_t>(std::filesystem::file_size(path));
    for (size_t size = good; size-- > 0;) {
      std::filesystem::resize_file(path, size);
      EXPECT_THAT(Row("a", 0), FailsWith(StatusCode::kDataLoss, "a/0/0: ")) << size;
    }
  }
}

TEST_F(N5Test, EveryFlippedByteOfACompressedBlockIsAnErrorOrGivesTheSameValues) {
  std::string values;
  for (uint64_t i = 0; i < 6; ++i) values += BigEndian(i, 2);
  const std::string good = N5BlockOf({3, 2}, values, true);
  const N5Attributes attributes{.shape = {2, 3},
                                .block_shape = {2, 3},
                                .value = {StoredKind::kUnsigned, 2, true},
                                .compression = N5Compression::kGzip};
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0xff);
    const Result<StoredChunk> block = ParseN5Block(attributes, std::as_bytes(std::span(bad)));
    if (!block.ok()) continue;
    EXPECT_EQ(std::memcmp(block->data, values.data(), values.size()), 0) << at;
  }
}

struct BlockCase {
  const char* name;
  std::string bytes;
  const char* says;
  StatusCode code = StatusCode::kDataLoss;
};
const BlockCase kBlocks[] = {
    {"Empty", "", "byte 0: its head is cut short"},
    {"VaryingLength", BigEndian(1, 2) + BigEndian(2, 2), "a block of varying length (mode 1)",
     StatusCode::kUnimplemented},
    {"Objects", BigEndian(2, 2) + BigEndian(2, 2), "a block of objects (mode 2)",
     StatusCode::kUnimplemented},
    {"UnknownMode", BigEndian(3, 2) + BigEndian(2, 2), "mode 3 and 2 dimensions"},
    {"OtherDimensions", N5BlockOf({1}, "\0\0"), "mode 0 and 1 dimensions, 0 and 2 are wanted"},
    {"TooLarge", N5BlockOf({4, 2}, ""),
     "byte 4: 4 values along a dimension, a block has at most 3"},
    {"NoValues", N5BlockOf({3, 0}, ""), "byte 8: 0 values"},
    {"FewerThanAnnounced", N5BlockOf({3, 2}, "12345678901"),
     "byte 12: its values take 12 bytes, 11 are there"},
    {"MoreThanAnnounced", N5BlockOf({3, 2}, "1234567890123"), "take 12 bytes, 13 are there"},
};

class N5Block : public testing::TestWithParam<BlockCase> {};

TEST_P(N5Block, IsRefusedAndSaysWhatAndWhere) {
  const N5Attributes attributes{
      .shape = {2, 3}, .block_shape = {2, 3}, .value = {StoredKind::kUnsigned, 2, true}};
  EXPECT_THAT(ParseN5Block(attributes, std::as_bytes(std::span(GetParam().bytes))),
              FailsWith(GetParam().code, GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(Cases, N5Block, testing::ValuesIn(kBlocks),
                         [](const auto& test) { return std::string(test.param.name); });

struct AttributesCase {
  const char* name;
  std::string json;
  const char* says;
  StatusCode code = StatusCode::kDataLoss;
};
const AttributesCase kAttributes[] = {
    {"NoJson", "{\"dimensions\"", "byte 13: ':' is wanted, but the text ends; this is no JSON"},
    {"Html", "<html>", "byte 0: '{' is wanted, found '<'; this is no JSON object"},
    {"MoreBehind", "{} []", "byte 3: the value ends here, nothing may follow, found '['"},
    {"NoUtf8", "{\"a\":\"\xff\"}", "byte 0: its texts are no UTF-8"},
    {"NoDimensions", "{}", "there is no 'dimensions': a list of 1 to 32 whole numbers from 0 on"},
    {"Negative", N5AttributesOf({-1}, {1}, "uint8", "raw"),
     "byte 14: 'dimensions': a list of 1 to 32 whole numbers from 0 on is wanted, found [-1];"},
    {"NoBlock", N5AttributesOf({1}, {0}, "uint8", "raw"), "byte 30: 'blockSize': a list"},
    {"OtherRank", N5AttributesOf({1, 2}, {1}, "uint8", "raw"),
     "byte 32: 'blockSize': a number for each of 2 dimensions is wanted, found [1]"},
    {"TheLastOfANameCounts", R"({"dimensions":[1],"dimensions": 7})", "byte 32: 'dimensions'"},
    {"TypeIsNoName", R"({"dimensions":[1],"blockSize":[1],"dataType": 8})", "byte 46: 'dataType'"},
    {"OtherType", N5AttributesOf({1}, {1}, "string", "raw"),
     "byte 45: 'dataType': values of type 'string'", StatusCode::kUnimplemented},
    {"OtherCompression", N5AttributesOf({1}, {1}, "uint8", "lz4"),
     "byte 67: 'compression': blocks are compressed by 'lz4'", StatusCode::kUnimplemented},
    {"OtherCompressionOfVersion1",
     R"({"dimensions":[1],"blockSize":[1],"dataType":"uint8","compressionType":"lz4"})",
     "byte 71: 'compressionType': blocks are compressed by 'lz4'", StatusCode::kUnimplemented},
    {"NoCompression", R"({"dimensions":[1],"blockSize":[1],"dataType":"uint8"})",
     "there is no 'compression'"},
    {"CompressionIsNoName",
     R"({"dimensions":[1],"blockSize":[1],"dataType":"uint8","compression":{"type":1}})",
     "byte 67: 'compression': {\"type\": NAME} is wanted, found {\"type\":1}"},
};

class N5BadAttributes : public testing::TestWithParam<AttributesCase> {};

TEST_P(N5BadAttributes, AreRefusedByFileKeyAndByte) {
  EXPECT_THAT(ParseN5Attributes(GetParam().json, "attributes.json"),
              FailsWith(GetParam().code, GetParam().says));
  EXPECT_THAT(ParseN5Attributes(GetParam().json, "attributes.json"),
              FailsWith(GetParam().code, "attributes.json: "));
}

INSTANTIATE_TEST_SUITE_P(Cases, N5BadAttributes, testing::ValuesIn(kAttributes),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(N5Test, ExtentsThatLieTakeNoMemory) {
  Write("a/attributes.json",
        N5AttributesOf({2000000000, 2000000000, 3}, {1, 1, 1}, "uint16", "raw"));
  EXPECT_THAT(OpenN5(std::filesystem::path(dir_ / "a")),
              FailsWith(StatusCode::kDataLoss, "is more than can be"));
  Write("b/attributes.json", N5AttributesOf({2, 3}, {2000000000, 2000000000}, "uint64", "gzip"));
  EXPECT_THAT(OpenN5(std::filesystem::path(dir_ / "b")),
              FailsWith(StatusCode::kDataLoss, "a chunk of"));
}

TEST_F(N5Test, DatasetsOfAContainerAreFound) {
  WriteNumbers("c/images/raw", false);
  WriteNumbers("c/labels", true);
  Write("c/attributes.json", R"({"n5":"2.5.1"})");
  EXPECT_THAT(*ListN5Datasets(std::filesystem::path(dir_ / "c")),
              ElementsAre("images/raw", "labels"));
  EXPECT_THAT(*ListN5Datasets(std::filesystem::path(dir_ / "c/labels")), ElementsAre(""));
  EXPECT_THAT(OpenN5(std::filesystem::path(dir_ / "c/none")),
              FailsWith(StatusCode::kNotFound, "c/none"));
}

// Version 1 had the name of the compression alone; gzip may be of zlib's form.
TEST(N5Attributes, OfOlderVersionsAndOfZlibAreKnown) {
  const std::string rest = R"("dimensions":[1],"blockSize":[1],"dataType":"uint8",)";
  const auto compression = [&](const std::string& json) {
    return ParseN5Attributes("{" + rest + json + "}", "x")->compression;
  };
  EXPECT_EQ(compression(R"("compressionType":"gzip")"), N5Compression::kGzip);
  EXPECT_EQ(compression(R"("compression":"raw")"), N5Compression::kRaw);
  EXPECT_EQ(compression(R"("compression":{"type":"gzip","useZlib":true})"), N5Compression::kZlib);
  EXPECT_EQ(compression(R"("compression":{"type":"zstd"})"), N5Compression::kZstd);
}

}  // namespace stoker::n5_test
