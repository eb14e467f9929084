#include "stoker/data/pack/pack_part.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/take.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/pack/pack_merge.h"
#include "stoker/data/testing/packed.h"
#include "stoker/io/atomic_file.h"

namespace stoker::pack_part_test {

TEST(PackPart, EveryFileAndElementIsInOnePart) {
  for (const int64_t files : {1, 2, 3, 7, 64, 1000}) {
    for (int64_t of = 1; of <= std::min<int64_t>(files, 70); ++of) {
      int64_t next = 0;
      for (int64_t number = 1; number <= of; ++number) {
        const PackRange range = FilesOfPart({.number = number, .of = of}, files);
        EXPECT_EQ(range.first, next);
        EXPECT_GE(range.size(), files / of);
        EXPECT_LE(range.size(), (files + of - 1) / of);
        next = range.last;
      }
      EXPECT_EQ(next, files);
    }
    int64_t element = 0;
    for (int64_t file = 0; file < files; ++file) {
      const PackRange range = ElementsOfFile(file, files, 1234);
      EXPECT_EQ(range.first, element);
      element = range.last;
    }
    EXPECT_EQ(element, 1234);
  }
}

TEST(PackPart, OnlyNumbersFromOneToTheirOwnNumberAreParts) {
  STOKER_ASSERT_OK_AND_ASSIGN(const PackPart part, ParsePackPart("3/8"));
  EXPECT_EQ(part, (PackPart{.number = 3, .of = 8}));
  for (const char* text : {"", "3", "/", "3/", "/8", "0/8", "9/8", "-1/8", "3/-8", "3/8/2", "3 /8",
                           "a/b", "1/100000", "3/8 ", "99999999999999999999/8"}) {
    EXPECT_THAT(ParsePackPart(text), FailsWith(StatusCode::kInvalidArgument, "--part")) << text;
  }
}

TEST(PackPart, ARecordIsKnownByItsName) {
  const PackPart part{.number = 3, .of = 64};
  EXPECT_EQ(PartRecordName("x.tar", part), ".x.tar.part-00003-of-00064.stoker-pack");
  EXPECT_EQ(PartOfRecordName(PartRecordName("x.tar", part), "x.tar"), part);
  for (const char* name :
       {".x.tar.stoker-pack", ".x.tar.part-00000-of-00064.stoker-pack",
        ".x.tar.part-00065-of-00064.stoker-pack", ".y.tar.part-00003-of-00064.stoker-pack",
        ".x.tar.part-0003-of-000064.stoker-pack", ".x.tar.part-00003-to-00064.stoker-pack"}) {
    EXPECT_EQ(PartOfRecordName(name, "x.tar"), std::nullopt) << name;
  }
}

// Packs in parts, in the order given.
class PackPartsTest : public PackTest {
 protected:
  Status PackPartOf(const Dataset& dataset, int64_t number, int64_t of, PackOptions options) const {
    options.part = {.number = number, .of = of};
    return Pack(dataset, Path("x"), options).status();
  }
  Result<MergeReport> Merge(const PackOptions& options, bool verify = true) const {
    return MergeParts(Path("x"), {.format = options.format, .verify = verify});
  }
  // All files, the record too.
  static std::map<std::string, std::string> AllIn(const std::filesystem::path& directory) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      if (entry.is_regular_file())
        files[std::filesystem::relative(entry.path(), directory)] = *ReadTextFile(entry.path());
    }
    return files;
  }
};

TEST_F(PackPartsTest, InAnyOrderGiveTheBytesOfOneProcessInEveryFormat) {
  for (const PackFormat& format : PackFormats()) {
    for (const bool streamed : {false, true}) {
      SCOPED_TRACE(fmt::format("{}, {}", format.name, streamed ? "streamed" : "by position"));
      const TempDir one, parts;
      // A stream whose number of elements is known, as files need that are made of it.
      const Result<Dataset> dataset_of_each =
          streamed
              ? Result(StreamedImages(20)) | Repeat{} | Take{.count = 50} | Shuffle{.buffer = 8}
              : Result(NumberedImages(50)) | Shuffle{};
      STOKER_ASSERT_OK(dataset_of_each.status());
      const Dataset& dataset = *dataset_of_each;
      EXPECT_EQ(dataset.node().random_access(), !streamed);
      PackOptions options{.format = &format, .files = 7, .classes = {"cat", "dog"}};
      options.pass.seed = 5;
      STOKER_ASSERT_OK(Pack(dataset, (one.path() / "x").string(), options));
      for (const int64_t number : {2, 3, 1, 2}) {
        options.part = {.number = number, .of = 3};
        STOKER_ASSERT_OK(Pack(dataset, (parts.path() / "x").string(), options));
      }
      STOKER_ASSERT_OK_AND_ASSIGN(
          const MergeReport merged,
          MergeParts((parts.path() / "x").string(), {.format = &format, .verify = true}));
      EXPECT_EQ(merged.parts, 3);
      EXPECT_EQ(merged.packed.elements(), 50);
      EXPECT_EQ(AllIn(parts.path()), AllIn(one.path())) << "the record too";
      options.part.reset();
      STOKER_ASSERT_OK_AND_ASSIGN(const PackReport again,
                                  Pack(dataset, (parts.path() / "x").string(), options));
      EXPECT_EQ(std::ranges::count_if(again.files, &PackReport::File::kept), 7);
    }
  }
}

TEST_F(PackPartsTest, WhatIsMissingUnfinishedOrDifferentIsNamed) {
  PackOptions options = Into("stoker", 6);
  EXPECT_THAT(Merge(options), FailsWith(StatusCode::kNotFound, "no part of it is there"));
  STOKER_ASSERT_OK(PackPartOf(NumberedImages(30), 2, 4, options));
  EXPECT_THAT(Merge(options), FailsWith(StatusCode::kFailedPrecondition,
                                        "of its 4 parts 3 are not there: 1, 3 and 4"));
  for (const int64_t number : {1, 4}) {
    STOKER_ASSERT_OK(PackPartOf(NumberedImages(30), number, 4, options));
  }
  options.pass.seed = 1;
  STOKER_ASSERT_OK(PackPartOf(NumberedImages(30), 3, 4, options));
  EXPECT_THAT(Merge(options),
              FailsWith(StatusCode::kFailedPrecondition,
                        "part 3/4 is of other data or has other options than part 1/4"));
  options.pass.seed = 0;
  EXPECT_THAT(PackPartOf(NumberedImages(30), 3, 4, options),
              FailsWith(StatusCode::kFailedPrecondition, "is there already"));
  options.overwrite = true;
  STOKER_ASSERT_OK(PackPartOf(NumberedImages(30), 3, 4, options));
  STOKER_ASSERT_OK(Merge(options));
}

TEST_F(PackPartsTest, AFileThatIsGoneCutOrDamagedIsNotMerged) {
  PackOptions options = Into("stoker", 4);
  for (const int64_t number : {1, 2})
    STOKER_ASSERT_OK(PackPartOf(NumberedImages(30), number, 2, options));
  const std::string file = Path("x-00002-of-00004.stoker"), whole = *ReadTextFile(file);
  std::filesystem::remove(file);
  EXPECT_THAT(Merge(options), FailsWith(StatusCode::kFailedPrecondition, "is not there"));
  STOKER_ASSERT_OK(WriteFileAtomically(file, whole.substr(1)));
  EXPECT_THAT(Merge(options), FailsWith(StatusCode::kFailedPrecondition, "its part wrote"));
  // Another shard of the same size, which is whole in itself.
  STOKER_ASSERT_OK(WriteFileAtomically(file, *ReadTextFile(Path("x-00003-of-00004.stoker"))));
  EXPECT_THAT(Merge(options), FailsWith(StatusCode::kDataLoss, "other elements are read back"));
  STOKER_ASSERT_OK(WriteFileAtomically(file, whole));
  STOKER_ASSERT_OK(Merge(options));
}

TEST_F(PackPartsTest, PartsLeaveOtherSetsAndOtherPackingsAlone) {
  PackOptions options = Into("stoker", 4);
  STOKER_ASSERT_OK(Pack(NumberedImages(30), Path("x"), Into("stoker", 3)));
  options.overwrite = true;
  const auto before = AllIn(directory_.path());
  EXPECT_THAT(PackPartOf(NumberedImages(30), 1, 2, options),
              FailsWith(StatusCode::kFailedPrecondition, "tells of another packing to this name"));
  EXPECT_EQ(AllIn(directory_.path()), before);
  std::filesystem::remove(Path(".x.stoker.stoker-pack"));
  EXPECT_THAT(PackPartOf(NumberedImages(30), 1, 2, options),
              FailsWith(StatusCode::kFailedPrecondition, "a shard of another set"));
}

TEST_F(PackPartsTest, OneProcessTakesThePlaceOfPartsOnlyWhenAsked) {
  PackOptions options = Into("stoker", 4);
  STOKER_ASSERT_OK(PackPartOf(NumberedImages(30), 2, 2, options));
  EXPECT_THAT(Pack(NumberedImages(30), Path("x"), options),
              FailsWith(StatusCode::kFailedPrecondition, "--merge"));
  options.overwrite = true;
  STOKER_ASSERT_OK(Pack(NumberedImages(30), Path("x"), options));
  EXPECT_FALSE(std::filesystem::exists(Path(".x.stoker.part-00002-of-00002.stoker-pack")));
}

TEST_F(PackPartsTest, ADamagedRecordIsNoPart) {
  PackOptions options = Into("stoker", 2);
  for (const int64_t number : {1, 2})
    STOKER_ASSERT_OK(PackPartOf(NumberedImages(30), number, 2, options));
  const std::string record = Path(".x.stoker.part-00002-of-00002.stoker-pack");
  const std::string whole = *ReadTextFile(record);
  Json json = Json::parse(whole);
  std::vector<std::string> damaged = {"", "{}", whole.substr(0, whole.size() / 2)};
  for (const char* key : {"part", "origin", "files", "done"}) {
    for (const Json& value :
         {Json(), Json(7), Json("../x"), Json::array({"../x"}), Json::array()}) {
      Json other = json;
      other[key] = value;
      damaged.push_back(other.dump());
    }
    Json other = json;
    other.erase(key);
    damaged.push_back(other.dump());
  }
  json["part"]["set"] = 1'000'000'000'000;
  damaged.push_back(json.dump());
  for (const std::string& text : damaged) {
    SCOPED_TRACE(text.substr(0, 300));
    STOKER_ASSERT_OK(WriteFileAtomically(record, text));
    EXPECT_EQ(Merge(options).status().code(), StatusCode::kFailedPrecondition);
  }
  STOKER_ASSERT_OK(WriteFileAtomically(record, whole));
  STOKER_ASSERT_OK(Merge(options));
}

TEST_F(PackPartsTest, APartHasAFileAtLeast) {
  const PackOptions options = Into("stoker", 3);
  EXPECT_THAT(
      PackPartOf(NumberedImages(30), 1, 4, options),
      FailsWith(StatusCode::kInvalidArgument, "3 files cannot be shared out among 4 parts"));
}

}  // namespace stoker::pack_part_test
