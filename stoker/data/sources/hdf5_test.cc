#include "stoker/data/sources/hdf5.h"

#include "stoker/data/core/sample_names.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/formats/hdf5/hdf5_testing_internal.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file_bytes_testing_internal.h"

namespace stoker::hdf5_test {

using testing::ElementsAre;

class Hdf5Test : public testing::Test {
 protected:
  // `rows` rows from `first` on: images of 3 numbers, in deflated chunks of 4 rows, and labels.
  void Write(const std::string& name, int first, int rows, bool latest = false) const {
    WriteHdf5(dir_ / name, latest, [&](hid_t file) {
      std::vector<int32_t> images;
      std::vector<int64_t> labels;
      for (int row = first; row < first + rows; ++row) {
        for (int i = 0; i < 3; ++i) images.push_back(10 * row + i);
        labels.push_back(row);
      }
      const auto count = static_cast<hsize_t>(rows);
      AddHdf5Dataset(file, "train/images", H5T_NATIVE_INT32, {count, 3}, images.data(),
                     {.chunk = {std::min<hsize_t>(4, count), 3},
                      .deflate = 1,
                      .shuffle = true,
                      .as = H5T_STD_U16BE});
      AddHdf5Dataset(file, "labels", H5T_NATIVE_INT64, {count}, labels.data());
    });
  }
  Hdf5 Options(const FilePatterns& files) const {
    return {.files = files, .fields = {{"image", "/train/images"}, {"label", "labels"}}};
  }

  static Result<std::vector<std::string>> SamplesOf(const Result<Dataset>& dataset) {
    if (!dataset.ok()) return dataset.status();
    STOKER_ASSIGN_OR_RETURN(const std::vector<Element> all, ReadAll(*dataset, Runtime::Inline()));
    std::vector<std::string> samples;
    for (const Element& element : all) {
      samples.push_back(fmt::format("{}:{}", fmt::join(element.arrays[0].values<int32_t>(), " "),
                                    element.arrays[1].values<int64_t>()[0]));
    }
    return samples;
  }

  const TempDir dir_;
};

TEST_F(Hdf5Test, GivesTheRowsOfSeveralFilesOneAfterTheOther) {
  Write("a.h5", 0, 2);
  Write("b.h5", 2, 1, /*latest=*/true);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Options(dir_ / "{a,b}.h5")));
  EXPECT_EQ(dataset.spec().ToString(), "{image: int32[3], label: int64[]}");
  EXPECT_THAT(*SamplesOf(dataset), ElementsAre("0 1 2:0", "10 11 12:1", "20 21 22:2"));
  EXPECT_EQ(FindSampleNames(dataset)->NameOf(2, "image"), dir_ / "b.h5" + ": /train/images: row 0");
}

TEST_F(Hdf5Test, TakesEveryDatasetByItsPathWhereNoneIsNamed) {
  Write("a.h5", 0, 2);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Hdf5{.files = dir_ / "a.h5"}));
  EXPECT_EQ(dataset.spec().ToString(), "{labels: int64[], train/images: int32[3]}");
}

TEST_F(Hdf5Test, KeepsItsPromisesWhateverTheCache) {
  Write("a.h5", 0, 17);
  Write("b.h5", 17, 9, true);
  for (const int64_t cache : {0, 256}) {
    Hdf5 options = Options(dir_ / "{a,b}.h5");
    options.cache = cache;
    ExpectKeepsItsPromises(Source(options));
    ExpectKeepsItsPromises(Source(options) | Shuffle{} | Prefetch{});
    ExpectKeepsItsPromises(Source(options) | Shuffle{.window = 8, .page = 4});
  }
}

TEST_F(Hdf5Test, KeepsItsPromisesWithTextsAndLists) {
  WriteHdf5(dir_ / "a.h5", false, [&](hid_t file) {
    const hid_t text = H5Tcopy(H5T_C_S1), fixed = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    H5Tset_size(fixed, 3);
    const char* const texts[] = {"one", "", "three", "four"};
    double list[] = {1, 2, 3};
    const hvl_t lists[] = {{1, list}, {0, nullptr}, {3, list}, {2, list}};
    AddHdf5Dataset(file, "text", text, {4}, texts, {.chunk = {3}});
    AddHdf5Dataset(file, "fixed", fixed, {4}, "a\0\0bcd\0\0\0ef\0");
    AddHdf5Dataset(file, "lists", H5Tvlen_create(H5T_NATIVE_DOUBLE), {4}, lists);
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Hdf5{.files = dir_ / "a.h5"}));
  EXPECT_EQ(dataset.spec().ToString(), "{fixed: uint8[?], lists: float64[?], text: uint8[?]}");
  ExpectKeepsItsPromises(dataset);
  ExpectKeepsItsPromises(Result<Dataset>(dataset) | Shuffle{});
}

TEST_F(Hdf5Test, WhatLiesUncompressedIsSharedWhereTheFileIsMapped) {
  const ScopedMapping mapping;
  WriteHdf5(dir_ / "a.h5", false, [&](hid_t file) {
    const std::vector<int32_t> numbers = MixedNumbers(12);
    AddHdf5Dataset(file, "flat", H5T_NATIVE_INT32, {4, 3}, numbers.data());
    AddHdf5Dataset(file, "chunked", H5T_NATIVE_INT32, {4, 3}, numbers.data(), {.chunk = {2, 3}});
    AddHdf5Dataset(file, "deflated", H5T_NATIVE_INT32, {4, 3}, numbers.data(),
                   {.chunk = {2, 3}, .deflate = 1});
  });
  const Hdf5 options{.files = dir_ / "a.h5",
                     .fields = {{"a", "flat"}, {"b", "chunked"}, {"c", "deflated"}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(options));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(dataset, Runtime::Inline()));
  for (const Element& element : all) {
    EXPECT_EQ(element.arrays[0].buffer().data(), all[0].arrays[0].buffer().data());
    EXPECT_EQ(element.arrays[1].buffer().data(), all[0].arrays[0].buffer().data());
    EXPECT_NE(element.arrays[2].buffer().data(), all[0].arrays[0].buffer().data());
    EXPECT_TRUE(SameBytes(element.arrays[0], element.arrays[1]));
    EXPECT_TRUE(SameBytes(element.arrays[0], element.arrays[2]));
  }
}

TEST_F(Hdf5Test, RowsOfADamagedChunkAreNamedAndCanBeLeftOut) {
  const std::vector<int32_t> numbers = MixedNumbers(24);
  WriteHdf5(dir_ / "a.h5", false, [&](hid_t file) {
    AddHdf5Dataset(file, "x", H5T_NATIVE_INT32, {24}, numbers.data(),
                   {.chunk = {8}, .fletcher32 = true});
  });
  STOKER_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadTextFile(dir_ / "a.h5"));
  bytes[bytes.find(std::string(reinterpret_cast<const char*>(&numbers[8]), 32))] ^= 1;
  STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "a.h5", bytes));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Hdf5{.files = dir_ / "a.h5"}));
  EXPECT_THAT(ReadAll(dataset, Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "a.h5: /x: chunk 1 (byte "));
  const QuietLog quiet;
  EXPECT_EQ(
      ReadAll(*(Result<Dataset>(dataset) | IgnoreErrors{.share = 1}), Runtime::Inline())->size(),
      16u);
}

TEST_F(Hdf5Test, SetsMemoryForChunksAsideFromTheBudgetOrRefusesThemBeforeItReads) {
  constexpr int64_t kRow = 64 << 10;
  WriteHdf5(dir_ / "a.h5", false, [&](hid_t file) {
    const std::vector<int32_t> numbers(16 * kRow / 4, 7);
    AddHdf5Dataset(file, "x", H5T_NATIVE_INT32, {16, kRow / 4}, numbers.data(),
                   {.chunk = {4, kRow / 4}, .deflate = 1, .shuffle = true});
  });
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Hdf5{.files = dir_ / "a.h5"}));
  Runtime runtime = Runtime::Threaded(4);
  runtime.memory_budget = 7 * kRow;  // a chunk has 4 rows, and undoing a filter takes as much again
  EXPECT_THAT(
      dataset.Open(runtime),
      FailsWith(StatusCode::kResourceExhausted,
                "a.h5: /x: a row of chunks, decompressed, takes 524288 bytes of memory, but the "
                "budget is 458752 bytes; write the array in smaller chunks"));
  runtime.memory_budget = 16 * kRow;
  for (int pass = 0; pass < 2; ++pass) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(runtime));
    EXPECT_EQ(iterator->GetProfile().peak_memory_bytes, 8 * kRow) << "half of the budget";
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(*iterator));
    EXPECT_EQ(all.size(), 16u);
  }
}

TEST_F(Hdf5Test, SaysWhichFileOrDatasetIsWrong) {
  Write("a.h5", 0, 4);
  const auto fails = [&](const Hdf5& options, StatusCode code, const char* says) {
    EXPECT_THAT(Source(options), FailsWith(code, says));
  };
  fails(Options(dir_ / "none.h5"), StatusCode::kNotFound, "none.h5");
  fails({.files = dir_ / "a.h5", .fields = {{"x", "train/x"}}}, StatusCode::kNotFound,
        "a.h5: 'train/x': there is no 'x' among: images");
  WriteHdf5(dir_ / "b.h5", false, [&](hid_t file) {
    const std::vector<int64_t> numbers(5);
    AddHdf5Dataset(file, "train/images", H5T_NATIVE_INT64, {5}, numbers.data());
    AddHdf5Dataset(file, "labels", H5T_NATIVE_INT64, {4}, numbers.data());
  });
  fails(Options(dir_ / "b.h5"), StatusCode::kDataLoss, "b.h5: labels: 4 rows, but");
  fails({.files = {dir_ / "a.h5", dir_ / "b.h5"}, .fields = {{"image", "train/images"}}},
        StatusCode::kInvalidArgument, "files of one source must have the same");
  WriteHdf5(dir_ / "c.h5", false, [](hid_t) {});
  fails({.files = dir_ / "c.h5"}, StatusCode::kInvalidArgument, "there is no dataset in the file");
}

}  // namespace stoker::hdf5_test
