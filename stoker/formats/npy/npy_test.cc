#include "stoker/formats/npy/npy.h"

#include <string>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"

namespace stoker::npy_test {

using namespace std::string_literals;
using testing::ElementsAre;

class NpyTest : public testing::Test {
 protected:
  std::string Written(const Array& array) {
    EXPECT_THAT(WriteNpy(path_, array), IsOk());
    return *ReadTextFile(path_);
  }
  Result<Array> Read(const std::string& file) {
    EXPECT_THAT(WriteFileAtomically(path_, file), IsOk());
    return ReadNpy(path_);
  }
  // A file of version 1 with this header.
  static std::string File(const std::string& header, const std::string& values) {
    return "\x93NUMPY\1\0"s + static_cast<char>(header.size()) + '\0' + header + values;
  }

  const TempDir dir_;
  const std::string path_ = dir_ / "x.npy";
};

// What numpy.save of NumPy 2.4 writes, before the values.
std::string NumpyStart(const std::string& dictionary) {
  return "\x93NUMPY\1\0v\0"s + dictionary + std::string(117 - dictionary.size(), ' ') + "\n";
}

TEST_F(NpyTest, GivesTheBytesThatNumpyGives) {
  EXPECT_EQ(
      Written(Array::Of(std::vector<int16_t>{0, 1, 2})),
      NumpyStart("{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }") + "\0\0\1\0\2\0"s);
  EXPECT_EQ(Written(Array::Of(std::span<const float>(std::vector<float>{0, 1, 2, 3}), {2, 2}))
                .substr(0, 128),
            NumpyStart("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"));
  EXPECT_EQ(Written(Array::Of(std::span<const uint8_t>(std::vector<uint8_t>{5}), {})),
            NumpyStart("{'descr': '|u1', 'fortran_order': False, 'shape': (), }") + "\5");
}

TEST_F(NpyTest, WhatIsWrittenReadsBackAndIsMapped) {
  for (const DType dtype : {DType::kBool, DType::kUInt8, DType::kInt8, DType::kInt16, DType::kInt32,
                            DType::kInt64, DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
    for (const Shape& shape : {Shape{}, {0}, {7}, {3, 4}, {2, 0, 5}, {2, 3, 4}}) {
      const Array array = Array::Allocate(dtype, shape);
      for (size_t i = 0; i < array.num_bytes(); ++i) array.data()[i] = std::byte{1};
      STOKER_ASSERT_OK(WriteNpy(path_, array));
      STOKER_ASSERT_OK_AND_ASSIGN(const Array back, ReadNpy(path_));
      EXPECT_TRUE(SameBytes(back, array)) << array.ToString();
      EXPECT_EQ(back.buffer().charged(), false);
    }
  }
  EXPECT_THAT(WriteNpy(path_, Array::Allocate(DType::kBFloat16, {1})),
              FailsWith(StatusCode::kInvalidArgument, "NumPy has no bfloat16"));
}

TEST_F(NpyTest, TakesOtherOrdersVersionsAndSpacing) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Array fortran,
                              Read(File("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3)}",
                                        "\1\0\4\0\2\0\5\0\3\0\6\0"s)));
  EXPECT_THAT(fortran.values<int16_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Array big,
      Read(File("{\"shape\":(2,),'descr':'>i4','fortran_order':False}\n", "\0\0\0\1\0\0\1\0"s)));
  EXPECT_THAT(big.values<int32_t>(), ElementsAre(1, 256));
  const std::string header = "{'descr': '|i1', 'fortran_order': False, 'shape': (2L,), }";
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Array second,
      Read("\x93NUMPY\2\0"s + static_cast<char>(header.size()) + "\0\0\0"s + header + "\1\2"));
  EXPECT_THAT(second.values<int8_t>(), ElementsAre(1, 2));
}

TEST_F(NpyTest, WidensLargerUnsignedNumbersToSignedOnes) {
  const auto read = [&](const std::string& type, const std::string& values) {
    return Read(File("{'descr': '" + type + "', 'fortran_order': False, 'shape': (2,)}", values));
  };
  EXPECT_THAT(read("<u2", "\1\0\xff\xff"s)->values<int32_t>(), ElementsAre(1, 65535));
  EXPECT_THAT(read(">u2", "\0\1\xff\xfe"s)->values<int32_t>(), ElementsAre(1, 65534));
  EXPECT_THAT(read("<u4", "\1\0\0\0\xff\xff\xff\xff"s)->values<int64_t>(),
              ElementsAre(1, 4294967295));
  EXPECT_THAT(read("<u8", "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"s)->values<int64_t>(),
              ElementsAre(1, 2));
  EXPECT_THAT(read("<u8", std::string(16, '\xff')),
              FailsWith(StatusCode::kOutOfRange,
                        "x.npy: the number 18446744073709551615 is larger than int64 can hold"));
  EXPECT_THAT(read("<u2", "\1\0\2"s),
              FailsWith(StatusCode::kDataLoss, "int32[2] takes 4 bytes, 3 are there"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array fortran,
                              Read(File("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3)}",
                                        "\1\0\4\0\2\0\5\0\3\0\6\0"s)));
  EXPECT_THAT(fortran.values<int32_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(NpyTest, EveryTruncationIsAnErrorAndEveryFlippedByteOfTheHeaderIsReadOrAnError) {
  const std::string good = Written(Array::Of(std::vector<int16_t>{1, 2, 3}));
  for (size_t size = 0; size < good.size(); ++size) {
    const Result<Array> array = Read(good.substr(0, size));
    ASSERT_FALSE(array.ok()) << size;
    EXPECT_NE(array.status().message().find("x.npy: byte"), std::string::npos)
        << array.status().ToString();
  }
  for (size_t at = 0; at < 70; ++at) {
    if (at == 7) continue;  // the minor version, of which there is only one
    std::string bad = good;
    bad[at] = static_cast<char>(~bad[at]);
    EXPECT_FALSE(Read(bad).ok()) << at;
  }
  EXPECT_THAT(Read(good + "x"),
              FailsWith(StatusCode::kDataLoss, "int16[3] takes 6 bytes, 7 are there"));
}

TEST_F(NpyTest, SaysWhatItDoesNotTake) {
  const auto fails = [&](const std::string& header, StatusCode code, const char* says) {
    EXPECT_THAT(Read(File(header, "")), FailsWith(code, says)) << header;
  };
  fails("{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", StatusCode::kUnimplemented,
        "values of type '<U5'");
  fails("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", StatusCode::kUnimplemented,
        "values of type '<c8'");
  fails("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", StatusCode::kUnimplemented,
        "values of type '|O'");
  fails("{'descr': '<i3', 'fortran_order': False, 'shape': (1,), }", StatusCode::kUnimplemented,
        "values of type '<i3'");
  fails("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }",
        StatusCode::kUnimplemented, "none of a plain array");
  fails("{'descr': '<i4', 'fortran_order': False, 'shape': (-1,), }", StatusCode::kUnimplemented,
        "none of a plain array");
  fails("{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 9), }",
        StatusCode::kDataLoss, "more than can be addressed");
  fails("{'descr': '<i4', 'fortran_order': False, 'shape': (9999999999,), }", StatusCode::kDataLoss,
        "0 are there");
  fails("{'descr': '', 'fortran_order': False, 'shape': (1,), }", StatusCode::kUnimplemented,
        "values of type ''");
  EXPECT_THAT(Read("PK\3\4 a zip"), FailsWith(StatusCode::kDataLoss, "this is a zip archive"));
  EXPECT_THAT(Read("\x93NUMPY\4\0v\0"s + std::string(200, ' ')),
              FailsWith(StatusCode::kUnimplemented, "version 4"));
}

}  // namespace stoker::npy_test
