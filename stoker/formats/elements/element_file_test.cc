#include "stoker/formats/elements/element_file.h"

#include <cstring>
#include <fstream>
#include <thread>

#include "stoker/base/testing.h"

namespace stoker::element_file_test {

using testing::HasSubstr;

ElementFileHeader Header() {
  return {.fields = {{"image", DType::kUInt8, {2, kUnknownDim}}, {"label", DType::kInt64, {}}},
          .origin = "a test"};
}

// Element i: an image of 2 x i values i, and the label 100 + i.
std::vector<Array> ArraysOf(int64_t i) {
  Array image = Array::Allocate(DType::kUInt8, {2, i});
  std::memset(image.data(), static_cast<int>(i), image.num_bytes());
  return {image, Array::Of(std::vector<int64_t>{100 + i}).Reshaped({})};
}

// A file of n elements whose own numbers are 10 x position, put in from the last to the first.
void WriteFile(const std::string& path, int64_t n) {
  STOKER_ASSERT_OK_AND_ASSIGN(ElementFileWriter writer, ElementFileWriter::Create(path, Header()));
  for (int64_t i = n - 1; i >= 0; --i) STOKER_ASSERT_OK(writer.Add(i, 10 * i, ArraysOf(i)));
  EXPECT_FALSE(std::filesystem::exists(path));
  STOKER_ASSERT_OK(writer.Commit());
}

Buffer BytesOf(const std::string& path) { return *ReadWholeFile(path); }

// The first error of reading all of it.
Status ReadAllOf(const Buffer& bytes) {
  STOKER_ASSIGN_OR_RETURN(const ElementFile file, ElementFile::Parse(bytes, "f"));
  for (int64_t i = 0; i < file.size(); ++i) STOKER_RETURN_IF_ERROR(file.Read(i).status());
  return OkStatus();
}

Buffer Copy(const Buffer& bytes, size_t size) {
  Buffer copy = Buffer::Allocate(size);
  if (size > 0) std::memcpy(copy.data(), bytes.data(), size);
  return copy;
}

TEST(ElementFile, GivesBackWhatWasPutInInWhateverOrder) {
  const TempDir dir;
  WriteFile(dir / "f", 5);
  STOKER_ASSERT_OK_AND_ASSIGN(const ElementFile file, ElementFile::Open(dir / "f"));
  EXPECT_EQ(file.header().fields, Header().fields);
  EXPECT_EQ(file.header().origin, "a test");
  ASSERT_EQ(file.size(), 5);
  for (const int64_t i : {3, 0, 4, 1, 2}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const ElementLayout::Record record, file.Read(i));
    EXPECT_EQ(record.index, 10 * i);
    const std::vector<Array> arrays = ArraysOf(i);
    ASSERT_EQ(record.arrays.size(), 2u);
    EXPECT_TRUE(SameBytes(record.arrays[0], arrays[0]));
    EXPECT_TRUE(SameBytes(record.arrays[1], arrays[1]));
  }
}

TEST(ElementFile, MayBeEmpty) {
  const TempDir dir;
  WriteFile(dir / "f", 0);
  STOKER_ASSERT_OK_AND_ASSIGN(const ElementFile file, ElementFile::Open(dir / "f"));
  EXPECT_EQ(file.size(), 0);
}

TEST(ElementFile, EveryProperPrefixIsAnError) {
  const TempDir dir;
  WriteFile(dir / "f", 3);
  const Buffer whole = BytesOf(dir / "f");
  STOKER_ASSERT_OK(ReadAllOf(whole));
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_EQ(ReadAllOf(Copy(whole, n)).code(), StatusCode::kDataLoss) << n;
}

TEST(ElementFile, EveryFlippedBitThatMattersIsAnError) {
  const TempDir dir;
  WriteFile(dir / "f", 3);
  const Buffer whole = BytesOf(dir / "f");
  uint32_t header_length = 0;
  std::memcpy(&header_length, whole.data() + 8, sizeof(header_length));
  for (size_t n = 0; n < whole.size(); ++n) {
    if (n >= 16 + header_length && n < (16 + header_length + 7) / 8 * 8) continue;  // the gap
    const Buffer broken = Copy(whole, whole.size());
    broken.data()[n] ^= std::byte{4};
    EXPECT_EQ(ReadAllOf(broken).code(), StatusCode::kDataLoss) << n;
  }
}

TEST(ElementFile, SaysWhatItIsNot) {
  const TempDir dir;
  std::ofstream(dir / "f") << "something quite different";
  EXPECT_THAT(ElementFile::Open(dir / "f"), FailsWith(StatusCode::kDataLoss, "no element file"));
  EXPECT_THAT(ElementFile::Open(dir / "g"), FailsWith(StatusCode::kNotFound, "no such file"));
}

TEST(ElementFileWriter, LeavesNothingWhereItIsNotFinished) {
  const TempDir dir;
  {
    STOKER_ASSERT_OK_AND_ASSIGN(ElementFileWriter writer,
                                ElementFileWriter::Create(dir / "f", Header()));
    STOKER_ASSERT_OK(writer.Add(1, 1, ArraysOf(1)));
    EXPECT_THAT(writer.Commit(), FailsWith(StatusCode::kFailedPrecondition, "only 1 of 2"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(ElementFileWriter, TakesElementsFromManyThreadsAndEachOnce) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(ElementFileWriter writer,
                              ElementFileWriter::Create(dir / "f", Header()));
  {
    std::vector<std::jthread> threads;
    for (int64_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int64_t i = 0; i < 100; ++i)
          STOKER_EXPECT_OK(writer.Add((i + 25 * t) % 100, i, ArraysOf((i + 25 * t) % 100)));
      });
  }
  EXPECT_EQ(writer.count(), 100);
  STOKER_ASSERT_OK(writer.Commit());
  STOKER_ASSERT_OK_AND_ASSIGN(const ElementFile file, ElementFile::Open(dir / "f"));
  for (int64_t i = 0; i < 100; ++i) {
    STOKER_ASSERT_OK_AND_ASSIGN(const ElementLayout::Record record, file.Read(i));
    EXPECT_TRUE(SameBytes(record.arrays[0], ArraysOf(i)[0])) << i;
  }
}

TEST(ElementLayout, KnowsWhereValuesAreWhereEveryShapeIsKnown) {
  const ElementLayout known({{"a", DType::kUInt8, {3}}, {"b", DType::kFloat32, {2}}});
  ASSERT_TRUE(known.offsets());
  EXPECT_EQ(*known.offsets(), (std::vector<size_t>{24, 32}));
  EXPECT_FALSE(ElementLayout(Header().fields).offsets());
}

}  // namespace stoker::element_file_test
