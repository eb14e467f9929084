// Files that are damaged or lie.
#include "stoker/formats/hdf5/hdf5_testing_internal.h"

namespace stoker::hdf5_damage_test {

// A file with all that metadata can be made of, and small.
std::string SmallFile(bool latest) {
  return Hdf5Of(latest, [&](hid_t to) {
    const std::vector<int32_t> numbers = MixedNumbers(24);
    AddHdf5Dataset(to, "a/deflated", H5T_NATIVE_INT32, {6, 4}, numbers.data(),
                   {.chunk = {4, 3}, .deflate = 1, .shuffle = true, .fletcher32 = true});
    AddHdf5Dataset(to, "a/growing", H5T_NATIVE_INT32, {6, 4}, numbers.data(),
                   {.chunk = {2, 4}, .most = {kEndless, 4}});
    AddHdf5Dataset(to, "flat", H5T_NATIVE_INT32, {24}, numbers.data());
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    const char* const texts[] = {"one", "two"};
    AddHdf5Dataset(to, "texts", text, {2}, texts);
  });
}

// Reads all that a file says it has, and gives how many rows it was.
int64_t ReadEverything(const Hdf5File& file) {
  int64_t read = 0;
  const Result<std::vector<std::string>> paths = file.ListDatasets();
  for (const std::string& path : paths.ok() ? *paths : std::vector<std::string>()) {
    const auto array = file.OpenDataset(path);
    if (!array.ok() || (*array)->rows() > 1000) continue;
    for (int64_t row = 0; row < (*array)->rows(); ++row) {
      std::vector<std::byte> stored((*array)->stored_row_bytes());
      const Status status = GatherRows(
          **array, {&row, 1}, [&](int64_t number) { return (*array)->ReadChunk(number); },
          stored.data());
      if (!status.ok()) continue;
      if ((*array)->layout().form != RowForm::kFollowed || FollowedRow(**array, row).ok()) ++read;
    }
  }
  return read;
}

TEST(Hdf5File, EveryTruncationIsAnError) {
  for (const bool latest : {false, true}) {
    const std::string good = SmallFile(latest);
    EXPECT_EQ(ReadEverything(*ParseHdf5(good)), 38);
    for (size_t size = 0; size < good.size(); ++size) {
      EXPECT_THAT(ParseHdf5(good.substr(0, size)), FailsWith(StatusCode::kDataLoss, "x.h5: byte"))
          << size;
    }
  }
}

TEST(Hdf5File, EveryFlippedByteIsReadOrRefusedAndNeverCrashes) {
  for (const bool latest : {false, true}) {
    const std::string good = SmallFile(latest);
    for (const int flip : {0x01, 0xff}) {
      for (size_t at = 0; at < good.size(); ++at) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ flip);
        const Result<Hdf5File> file = ParseHdf5(bad);
        if (!file.ok()) continue;
        EXPECT_LE(ReadEverything(*file), 4000) << at;
      }
    }
  }
}

TEST(Hdf5File, DamageInAChunkOrInMetadataIsNamed) {
  const std::string good = SmallFile(/*latest=*/true);
  std::string bad = good;
  bad[bad.find("OHDR") + 20] ^= 1;
  EXPECT_THAT(ParseHdf5(bad)->ListDatasets(),
              FailsWith(StatusCode::kDataLoss, "lacks its checksum"));

  const std::vector<int32_t> numbers = MixedNumbers(24);
  const std::string checked = Hdf5Of(false, [&](hid_t to) {
    AddHdf5Dataset(to, "x", H5T_NATIVE_INT32, {24}, numbers.data(),
                   {.chunk = {8}, .fletcher32 = true});
  });
  bad = checked;
  const std::string second(reinterpret_cast<const char*>(&numbers[8]), 32);
  bad[bad.find(second)] ^= 1;
  STOKER_ASSERT_OK_AND_ASSIGN(const Hdf5File file, ParseHdf5(bad));
  EXPECT_THAT(NumbersOf<int32_t>(file, "x"),
              FailsWith(StatusCode::kDataLoss, "x.h5: x: chunk 1 (byte "));
  EXPECT_THAT(NumbersOf<int32_t>(file, "x"),
              FailsWith(StatusCode::kDataLoss, "it lacks its checksum"));
}

TEST(Hdf5File, ACountThatLiesTakesNoMemory) {
  const std::string good = Hdf5Of(false, [&](hid_t to) {
    const std::vector<int32_t> numbers = MixedNumbers(0x1234);
    AddHdf5Dataset(to, "x", H5T_NATIVE_INT32, {0x1234}, numbers.data());
  });
  std::string bad = good;
  const std::string extent("\x34\x12\0\0\0\0\0\0", 8);
  for (size_t at = bad.find(extent); at != bad.npos; at = bad.find(extent, at + 1))
    bad[at + 6] = 0x7f;
  EXPECT_THAT(ParseHdf5(bad)->OpenDataset("x"), FailsWith(StatusCode::kDataLoss, "x.h5: "));
}

TEST(Hdf5File, SaysWhatAnotherFileIs) {
  EXPECT_THAT(ParseHdf5("PK\3\4 a zip archive"),
              FailsWith(StatusCode::kDataLoss, "this is a zip archive"));
  EXPECT_THAT(ParseHdf5(""), FailsWith(StatusCode::kDataLoss, "byte 0"));
}

}  // namespace stoker::hdf5_damage_test
