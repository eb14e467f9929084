#include <cstring>
#include <numeric>

#include "stoker/formats/hdf5/content_internal.h"
#include "stoker/formats/hdf5/hdf5_file.h"
#include "stoker/formats/hdf5/hdf5_testing_internal.h"

namespace stoker::hdf5_test {

struct StorageCase {
  const char* name;
  std::vector<hsize_t> shape;
  Hdf5Storage storage;
};

// Between them every kind of layout and of index, with chunks cut at the edges.
const StorageCase kStorages[] = {
    {"Contiguous", {10, 3}, {}},
    {"Compact", {10, 3}, {.compact = true}},
    {"OneChunk", {10, 3}, {.chunk = {10, 3}}},
    {"OneChunkDeflated", {10, 3}, {.chunk = {10, 3}, .deflate = 6}},
    {"Chunks", {10, 7}, {.chunk = {4, 3}}},
    {"ChunksInFront", {10, 7}, {.chunk = {4, 3}, .early = true}},
    {"Deflated", {10, 7}, {.chunk = {4, 3}, .deflate = 1}},
    {"ShuffledDeflatedChecked",
     {10, 7},
     {.chunk = {4, 7}, .deflate = 9, .shuffle = true, .fletcher32 = true}},
    {"Checked", {9, 5}, {.chunk = {2, 5}, .fletcher32 = true}},
    {"OneDimension", {1000}, {.chunk = {64}, .shuffle = true}},
    {"FourDimensions", {6, 5, 4, 3}, {.chunk = {4, 2, 3, 2}, .deflate = 3}},
    {"ManyChunks", {3000, 2}, {.chunk = {1, 2}}},
    {"ManyChunksDeflated", {3000, 2}, {.chunk = {1, 2}, .deflate = 1}},
    {"Growing", {3000, 4}, {.chunk = {1, 2}, .most = {kEndless, 4}}},
    {"GrowingDeflated", {500, 4}, {.chunk = {2, 2}, .most = {kEndless, 8}, .deflate = 1}},
    {"GrowingSideways", {20, 300}, {.chunk = {2, 1}, .most = {20, kEndless}}},
    {"GrowingManyChunks", {20000}, {.chunk = {1}, .most = {kEndless}}},
    {"GrowingBothWays", {60, 50}, {.chunk = {1, 2}, .most = {kEndless, kEndless}}},
    {"GrowingBothWaysDeflated",
     {60, 50},
     {.chunk = {1, 2}, .most = {kEndless, kEndless}, .deflate = 1}},
};

class Hdf5Stored : public testing::TestWithParam<StorageCase> {};

TEST_P(Hdf5Stored, IsReadAsTheLibraryWroteIt) {
  const auto& [name, shape, storage] = GetParam();
  const size_t count = std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>());
  const std::vector<int32_t> numbers = MixedNumbers(count);
  for (const bool latest : {false, true}) {
    SCOPED_TRACE(latest ? "latest" : "earliest");
    STOKER_ASSERT_OK_AND_ASSIGN(const Hdf5File file, ParseHdf5(Hdf5Of(latest, [&](hid_t to) {
                                  AddHdf5Dataset(to, "a/b", H5T_NATIVE_INT32, shape, numbers.data(),
                                                 storage);
                                })));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto array, file.OpenDataset("/a/b"));
    EXPECT_EQ(array->layout().shape, Shape(shape.begin(), shape.end()));
    EXPECT_EQ(*NumbersOf<int32_t>(file, "a/b"), numbers);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Hdf5Stored, testing::ValuesIn(kStorages),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Hdf5File, ReadsNumbersOfEveryTypeAndByteOrder) {
  const std::vector<int32_t> numbers = {-3, 0, 100, 7};
  const std::vector<int64_t> positive = {3, 0, 65535, int64_t{1} << 31};
  const std::vector<double> reals = {0.5, -1.25, 3, 1e10};
  STOKER_ASSERT_OK_AND_ASSIGN(const Hdf5File file, ParseHdf5(Hdf5Of(false, [&](hid_t to) {
                                const auto add = [&](const char* path, hid_t type,
                                                     const void* values, hid_t as) {
                                  AddHdf5Dataset(to, path, type, {4}, values, {.as = as});
                                };
                                add("i8", H5T_NATIVE_INT32, numbers.data(), H5T_STD_I8BE);
                                add("i16", H5T_NATIVE_INT32, numbers.data(), H5T_STD_I16BE);
                                add("i32", H5T_NATIVE_INT32, numbers.data(), H5T_STD_I32BE);
                                add("i64", H5T_NATIVE_INT32, numbers.data(), H5T_STD_I64BE);
                                add("u16", H5T_NATIVE_INT64, positive.data(), H5T_STD_U16LE);
                                add("u16be", H5T_NATIVE_INT64, positive.data(), H5T_STD_U16BE);
                                add("u32", H5T_NATIVE_INT64, positive.data(), H5T_STD_U32BE);
                                add("u64", H5T_NATIVE_INT64, positive.data(), H5T_STD_U64LE);
                                add("f32", H5T_NATIVE_DOUBLE, reals.data(), H5T_IEEE_F32BE);
                                add("f64", H5T_NATIVE_DOUBLE, reals.data(), H5T_IEEE_F64BE);
                              })));
  EXPECT_EQ(*NumbersOf<int8_t>(file, "i8"), (std::vector<int8_t>{-3, 0, 100, 7}));
  EXPECT_EQ(*NumbersOf<int16_t>(file, "i16"), (std::vector<int16_t>{-3, 0, 100, 7}));
  EXPECT_EQ(*NumbersOf<int32_t>(file, "i32"), numbers);
  EXPECT_EQ(*NumbersOf<int64_t>(file, "i64"), (std::vector<int64_t>{-3, 0, 100, 7}));
  EXPECT_EQ(*NumbersOf<int32_t>(file, "u16"), (std::vector<int32_t>{3, 0, 65535, 65535}));
  EXPECT_EQ(*NumbersOf<int32_t>(file, "u16be"), (std::vector<int32_t>{3, 0, 65535, 65535}));
  EXPECT_EQ(*NumbersOf<int64_t>(file, "u32"), positive);
  EXPECT_EQ(*NumbersOf<int64_t>(file, "u64"), positive);
  EXPECT_EQ(*NumbersOf<float>(file, "f32"), (std::vector<float>{0.5, -1.25, 3, 1e10F}));
  EXPECT_EQ(*NumbersOf<double>(file, "f64"), reals);
}

TEST(Hdf5File, AnUnsignedNumberThatInt64CannotHoldIsAnError) {
  const uint64_t large = uint64_t{1} << 63;
  STOKER_ASSERT_OK_AND_ASSIGN(const Hdf5File file, ParseHdf5(Hdf5Of(false, [&](hid_t to) {
                                AddHdf5Dataset(to, "x", H5T_NATIVE_UINT64, {1}, &large);
                              })));
  EXPECT_THAT(NumbersOf<int64_t>(file, "x"),
              FailsWith(StatusCode::kOutOfRange, "9223372036854775808 is larger than int64"));
}

// h5py writes bool as an enumeration of a byte, and float16 as a float of two.
TEST(Hdf5File, ReadsBooleansHalvesArraysAndBytesAsH5pyWritesThem) {
  const std::vector<int8_t> flags = {0, 1, 1};
  const std::vector<uint16_t> halves = {0x3c00, 0xc000, 0};
  const std::vector<int32_t> numbers = MixedNumbers(12);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Hdf5File file, ParseHdf5(Hdf5Of(false, [&](hid_t to) {
        const hid_t boolean = H5Tenum_create(H5T_NATIVE_INT8);
        int8_t value = 0;
        H5Tenum_insert(boolean, "FALSE", &value);
        value = 1;
        H5Tenum_insert(boolean, "TRUE", &value);
        AddHdf5Dataset(to, "bool", boolean, {3}, flags.data());
        const hid_t half = H5Tcopy(H5T_IEEE_F32LE);
        H5Tset_fields(half, 15, 10, 5, 0, 10);
        H5Tset_size(half, 2);
        H5Tset_ebias(half, 15);
        AddHdf5Dataset(to, "half", half, {3}, halves.data());
        const hsize_t inner[] = {2, 2};
        const hid_t squares = H5Tarray_create2(H5T_STD_I32LE, 2, inner);
        AddHdf5Dataset(to, "array", squares, {3}, numbers.data(), {.chunk = {2}, .deflate = 1});
        AddHdf5Dataset(to, "opaque", H5Tcreate(H5T_OPAQUE, 4), {3}, numbers.data());
      })));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto boolean, file.OpenDataset("bool"));
  EXPECT_EQ(boolean->layout().dtype, DType::kBool);
  EXPECT_EQ(*ValuesOf(*boolean),
            (std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto half, file.OpenDataset("half"));
  EXPECT_EQ(half->layout().dtype, DType::kFloat16);
  EXPECT_EQ(std::memcmp(ValuesOf(*half)->data(), halves.data(), 6), 0);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto array, file.OpenDataset("array"));
  EXPECT_EQ(array->layout().row_shape, (Shape{2, 2}));
  EXPECT_EQ(*NumbersOf<int32_t>(file, "array"), numbers);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto opaque, file.OpenDataset("opaque"));
  EXPECT_EQ(opaque->layout().row_shape, Shape{4});
  EXPECT_EQ(std::memcmp(ValuesOf(*opaque)->data(), numbers.data(), 12), 0);
}

TEST(Hdf5File, ReadsTextsAndListsOfAnyLength) {
  const char* const texts[] = {"one", "", "three and more"};
  const char fixed[] = "ab\0\0cdefgh  ";
  int16_t list[] = {1, 2, 3};
  const hvl_t lists[] = {{2, list}, {0, nullptr}, {3, list}};
  for (const bool latest : {false, true}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Hdf5File file, ParseHdf5(Hdf5Of(latest, [&](hid_t to) {
          const hid_t text = H5Tcopy(H5T_C_S1);
          H5Tset_size(text, H5T_VARIABLE);
          AddHdf5Dataset(to, "texts", text, {3}, texts, {.chunk = {2}, .deflate = 1});
          for (const auto& [path, padding] :
               {std::pair("zeros", H5T_STR_NULLPAD), std::pair("spaces", H5T_STR_SPACEPAD)}) {
            const hid_t type = H5Tcopy(H5T_C_S1);
            H5Tset_size(type, 4);
            H5Tset_strpad(type, padding);
            AddHdf5Dataset(to, path, type, {3}, fixed);
          }
          AddHdf5Dataset(to, "lists", H5Tvlen_create(H5T_NATIVE_INT16), {3}, lists,
                         {.as = H5Tvlen_create(H5T_STD_U16BE)});
        })));
    for (int64_t row = 0; row < 3; ++row) EXPECT_EQ(*TextAt(file, "texts", row), texts[row]);
    EXPECT_EQ(*TextAt(file, "zeros", 0), "ab");
    EXPECT_EQ(*TextAt(file, "zeros", 2), "gh  ");
    EXPECT_EQ(*TextAt(file, "spaces", 1), "cdef");
    EXPECT_EQ(*TextAt(file, "spaces", 2), "gh");
    STOKER_ASSERT_OK_AND_ASSIGN(const auto array, file.OpenDataset("lists"));
    EXPECT_EQ(array->layout().dtype, DType::kInt32);
    EXPECT_EQ(FollowedRow(*array, 1)->num_values(), 0);
    STOKER_ASSERT_OK_AND_ASSIGN(const Array row, FollowedRow(*array, 2));
    EXPECT_THAT(row.values<int32_t>(), testing::ElementsAre(1, 2, 3));
  }
}

TEST(Hdf5File, WhatWasNeverWrittenIsTheFillValue) {
  const int32_t fill = -5;
  for (const bool latest : {false, true}) {
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Hdf5File file, ParseHdf5(Hdf5Of(latest, [&](hid_t to) {
          AddHdf5Dataset(to, "zeros", H5T_NATIVE_INT32, {4}, nullptr, {.chunk = {3}});
          AddHdf5Dataset(to, "fives", H5T_NATIVE_INT32, {4}, nullptr,
                         {.chunk = {3}, .deflate = 1, .fill = &fill});
          AddHdf5Dataset(to, "flat", H5T_NATIVE_INT32, {2, 2}, nullptr, {.fill = &fill});
          AddHdf5Dataset(to, "none", H5T_NATIVE_INT32, {0, 2}, nullptr,
                         {.chunk = {3, 2}, .most = {kEndless, 2}});
        })));
    EXPECT_EQ(*NumbersOf<int32_t>(file, "zeros"), std::vector<int32_t>(4, 0));
    EXPECT_EQ(*NumbersOf<int32_t>(file, "fives"), std::vector<int32_t>(4, -5));
    EXPECT_EQ(*NumbersOf<int32_t>(file, "flat"), std::vector<int32_t>(4, -5));
    EXPECT_EQ(NumbersOf<int32_t>(file, "none")->size(), 0u);
  }
}

TEST(Hdf5File, FindsDatasetsAmongManyInGroupsOfEveryKind) {
  for (const bool latest : {false, true}) {
    SCOPED_TRACE(latest);
    STOKER_ASSERT_OK_AND_ASSIGN(
        const Hdf5File file, ParseHdf5(Hdf5Of(latest, [&](hid_t to) {
          for (int32_t i = 0; i < 3000; ++i) {
            AddHdf5Dataset(to, fmt::format("many/dataset {}", i), H5T_NATIVE_INT32, {1}, &i,
                           {.compact = true});
          }
          for (int32_t i = 0; i < 20; ++i)
            AddHdf5Dataset(to, fmt::format("groups/{}/x", i), H5T_NATIVE_INT32, {1}, &i);
          H5Lcreate_soft("/many/dataset 7", to, "soft", H5P_DEFAULT, H5P_DEFAULT);
          H5Lcreate_soft("round", to, "round", H5P_DEFAULT, H5P_DEFAULT);
          H5Lcreate_external("b.h5", "/x", to, "far", H5P_DEFAULT, H5P_DEFAULT);
          H5Lcreate_hard(to, "/", to, "itself", H5P_DEFAULT, H5P_DEFAULT);
        })));
    EXPECT_EQ(file.ListDatasets()->size(), 3020u);
    for (const int32_t i : {0, 7, 1234, 2999}) {
      EXPECT_EQ(*NumbersOf<int32_t>(file, fmt::format("/many/dataset {}", i)),
                std::vector<int32_t>{i});
    }
    // More groups than are kept, there and back.
    for (const int32_t i : {0, 1, 9, 19, 9, 1, 0}) {
      EXPECT_EQ(*NumbersOf<int32_t>(file, fmt::format("groups/{}/x", i)), std::vector<int32_t>{i});
    }
    EXPECT_EQ(*NumbersOf<int32_t>(file, "soft"), std::vector<int32_t>{7});
    EXPECT_EQ(*NumbersOf<int32_t>(file, "itself/soft"), std::vector<int32_t>{7});
    EXPECT_THAT(file.OpenDataset("round"), FailsWith(StatusCode::kDataLoss, "from link to link"));
    EXPECT_THAT(file.OpenDataset("far"),
                FailsWith(StatusCode::kUnimplemented, "'far' is a link into another file"));
    EXPECT_THAT(file.OpenDataset("many/x"),
                FailsWith(StatusCode::kNotFound, "there is no 'x' among: dataset 0, dataset 1"));
    EXPECT_THAT(file.OpenDataset("soft/x"),
                FailsWith(StatusCode::kNotFound, "is a dataset, in which there is no 'x'"));
    EXPECT_THAT(file.OpenDataset("many"),
                FailsWith(StatusCode::kInvalidArgument, "is a group; name a dataset in it"));
  }
}

TEST(Hdf5File, RefusesByNameWhatItCannotRead) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Hdf5File file, ParseHdf5(Hdf5Of(false, [&](hid_t to) {
        const int32_t numbers[4] = {};
        const hid_t pair = H5Tcreate(H5T_COMPOUND, 8);
        H5Tinsert(pair, "a", 0, H5T_NATIVE_INT32);
        H5Tinsert(pair, "b", 4, H5T_NATIVE_INT32);
        AddHdf5Dataset(to, "compound", pair, {2}, numbers);
        AddHdf5Dataset(to, "single", H5T_NATIVE_INT32, {}, numbers);
        const hid_t odd = H5Tcopy(H5T_STD_I32LE);
        H5Tset_precision(odd, 20);
        AddHdf5Dataset(to, "odd", odd, {2}, numbers);
        const hid_t text = H5Tcopy(H5T_C_S1);
        H5Tset_size(text, 4);
        AddHdf5Dataset(to, "table", text, {2, 2}, numbers);
        const hid_t space = H5Screate_simple(1, std::vector<hsize_t>{4}.data(), nullptr);
        const hid_t packed = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(packed, 1, std::vector<hsize_t>{4}.data());
        H5Pset_nbit(packed);
        H5Dclose(H5Dcreate2(to, "nbit", H5T_NATIVE_INT32, space, H5P_DEFAULT, packed, H5P_DEFAULT));
        const hid_t outside = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_external(outside, "values.bin", 0, 16);
        H5Dclose(
            H5Dcreate2(to, "outside", H5T_NATIVE_INT32, space, H5P_DEFAULT, outside, H5P_DEFAULT));
      })));
  const auto fails = [&](const char* path, StatusCode code, const char* says) {
    EXPECT_THAT(file.OpenDataset(path), FailsWith(code, says));
    EXPECT_THAT(file.OpenDataset(path), FailsWith(code, std::string("x.h5: ") + path));
  };
  fails("compound", StatusCode::kUnimplemented, "a compound of several members");
  fails("single", StatusCode::kInvalidArgument, "a single value");
  fails("odd", StatusCode::kUnimplemented, "padded bits");
  fails("table", StatusCode::kUnimplemented, "rows of several texts");
  fails("nbit", StatusCode::kUnimplemented, "went through filter 5 (nbit)");
  fails("outside", StatusCode::kUnimplemented, "its values are in other files");
}

TEST(Hdf5File, IsReadBehindAUserBlock) {
  const TempDir dir;
  const std::vector<int32_t> numbers = MixedNumbers(20);
  WriteHdf5(
      dir / "a.h5", false,
      [&](hid_t to) {
        AddHdf5Dataset(to, "x", H5T_NATIVE_INT32, {20}, numbers.data(), {.chunk = {8}});
      },
      /*user_block=*/1024);
  STOKER_ASSERT_OK_AND_ASSIGN(const Hdf5File file, Hdf5File::Open(dir / "a.h5"));
  EXPECT_EQ(*NumbersOf<int32_t>(file, "x"), numbers);
}

// The values that the library's own function gives for these, and of the algorithm's author.
TEST(Hdf5Lookup3, GivesTheValuesOfItsAuthor) {
  const auto of = [](std::string_view text) {
    return internal::Lookup3(std::as_bytes(std::span(text)));
  };
  EXPECT_EQ(of(""), 0xdeadbeefu);
  EXPECT_EQ(of("Four score and seven years ago"), 0x17770551u);
}

}  // namespace stoker::hdf5_test
