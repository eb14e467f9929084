#include "stoker/formats/npy/npy_writer.h"

#include <numeric>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/io/file.h"

namespace stoker::npy_writer_test {

TEST(NpyWriter, GivesTheBytesOfWriteNpyForAnyNumberOfRows) {
  const TempDir directory;
  const std::string one = (directory.path() / "one.npy").string();
  const std::string other = (directory.path() / "other.npy").string();
  for (const Shape& row : {Shape{}, Shape{3}, Shape{2, 3}}) {
    for (const int64_t rows : {0, 1, 9, 10, 1234}) {
      Shape shape = row;
      shape.insert(shape.begin(), rows);
      std::vector<int32_t> values(static_cast<size_t>(NumValues(shape)));
      std::iota(values.begin(), values.end(), 0);
      const Array array = Array::Of(std::span<const int32_t>(values), shape);
      STOKER_ASSERT_OK(WriteNpy(one, array));
      STOKER_ASSERT_OK_AND_ASSIGN(NpyWriter writer, NpyWriter::Create(other, DType::kInt32, row));
      for (int64_t i = 0; i < rows; ++i) STOKER_ASSERT_OK(writer.Append(array.Row(i)));
      STOKER_ASSERT_OK(writer.Finish());
      EXPECT_EQ(*ReadTextFile(other), *ReadTextFile(one)) << ShapeToString(shape);
    }
  }
}

TEST(NpyWriter, RefusesWhatNumPyLacksAndDirectoriesThatAreNotThere) {
  const TempDir directory;
  EXPECT_THAT(NpyWriter::Create((directory.path() / "x.npy").string(), DType::kBFloat16, {}),
              FailsWith(StatusCode::kInvalidArgument, "NumPy has no bfloat16"));
  EXPECT_THAT(NpyWriter::Create((directory.path() / "no" / "x.npy").string(), DType::kInt8, {}),
              FailsWith(StatusCode::kNotFound, "x.npy: cannot be made"));
}

}  // namespace stoker::npy_writer_test
