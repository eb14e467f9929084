#include "stoker/data/sources/zip_archive.h"

#include <fstream>

#include "stoker/data/core/sample_names.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/sources/webdataset.h"
#include "stoker/data/testing/combining.h"
#include "stoker/formats/tar/tar_testing_internal.h"
#include "stoker/formats/zip/zip_testing_internal.h"
#include "stoker/io/atomic_file.h"

namespace stoker::zip_archive_test {

using testing::ElementsAre;

class ZipArchiveTest : public testing::Test {
 protected:
  using Members = std::vector<std::pair<std::string, std::string>>;

  void Write(const std::string& name, const std::string& archive) const {
    EXPECT_THAT(WriteFileAtomically(dir_ / name, archive), IsOk());
  }

  static std::string TextOf(const Array& array) {
    return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
  }
  // Each element as "text label".
  static Result<std::vector<std::string>> SamplesOf(const Result<Dataset>& dataset) {
    if (!dataset.ok()) return dataset.status();
    STOKER_ASSIGN_OR_RETURN(const std::vector<Element> all, ReadAll(*dataset, Runtime::Inline()));
    std::vector<std::string> samples;
    for (const Element& element : all) {
      samples.push_back(TextOf(element.arrays[0]) + " " +
                        std::to_string(element.arrays[1].values<int64_t>()[0]));
    }
    return samples;
  }

  const TempDir dir_;
  const Members four_ = {{"d/", ""},         {"d/1.txt", "one"}, {"d/1.cls", "7\n"},
                         {"d/2.cls", "-8"},  {"d/2.txt", ""},    {"3.cls", "9"},
                         {"3.seg.png", "s"}, {"3.txt", "three"}};
};

TEST_F(ZipArchiveTest, GivesTheSamplesThatATarOfTheSameMembersGives) {
  Write("a.tar", TarOf(four_));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset tar, Source(Webdataset{.files = dir_ / "a.tar"}));
  for (const bool deflated : {false, true}) {
    Write("a.zip", ZipOf(four_, deflated));
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset zip, Source(ZipArchive{.files = dir_ / "a.zip"}));
    EXPECT_EQ(zip.spec().ToString(), tar.spec().ToString());
    EXPECT_EQ(zip.cardinality(), Cardinality::Of(3));
    EXPECT_EQ(*SamplesOf(zip), *SamplesOf(tar));
    EXPECT_THAT(*SamplesOf(zip), ElementsAre("one 7", " -8", "three 9"));
  }
}

TEST_F(ZipArchiveTest, TakesMembersOfASampleThatStandApart) {
  Write("a.zip", ZipOf({{"1.txt", "x"}, {"2.txt", "y"}, {"2.cls", "2"}, {"1.cls", "1"}}));
  EXPECT_THAT(*SamplesOf(Source(ZipArchive{.files = dir_ / "a.zip"})), ElementsAre("x 1", "y 2"));
}

TEST_F(ZipArchiveTest, TakesCapitalsAsSmallLettersAndNamesASampleWithTwoMembersForAField) {
  Write("a.zip", ZipOf({{"1.TXT", "x"}, {"1.cls", "1"}, {"2.txt", "y"}, {"2.Cls", "2"}}));
  EXPECT_THAT(*SamplesOf(Source(ZipArchive{.files = dir_ / "a.zip"})), ElementsAre("x 1", "y 2"));
  Write("a.zip", ZipOf({{"1.txt", "x"}, {"1.cls", "1"}, {"1.TXT", "y"}}));
  EXPECT_THAT(SamplesOf(Source(ZipArchive{.files = dir_ / "a.zip", .fields = {"txt", "cls"}})),
              FailsWith(StatusCode::kDataLoss, "two members for field 'txt': '1.txt' and '1.TXT'"));
}

TEST_F(ZipArchiveTest, TakesTheFieldsThatAreNamedAndTheKey) {
  Write("a.zip", ZipOf({{"1.jpeg", "x"}, {"1.cls", "1"}, {"b/2.cls", "2"}, {"b/2.png", "y"}}));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Source(ZipArchive{.files = dir_ / "a.zip", .fields = {"jpg|jpeg|png", "cls"}, .key = true}));
  EXPECT_EQ(dataset.spec().ToString(), "{jpg: uint8[?], cls: int64[], key: uint8[?]}");
  EXPECT_THAT(*SamplesOf(dataset), ElementsAre("x 1", "y 2"));
  EXPECT_EQ(TextOf((*ReadAll(dataset, Runtime::Inline()))[1].arrays[2]), "b/2");
  EXPECT_EQ(FindSampleNames(dataset)->NameOf(1, "jpg"),
            dir_ / "a.zip" + ": record 1 (byte 73): b/2.png");
}

TEST_F(ZipArchiveTest, KeepsItsPromises) {
  Members many;
  for (int i = 0; i < 12; ++i) {
    many.emplace_back(fmt::format("{}.txt", i), std::string(static_cast<size_t>(i) * 100, 'x'));
    many.emplace_back(fmt::format("{}.cls", i), std::to_string(i));
  }
  Write("s-000.zip", ZipOf(many));
  Write("s-001.zip", ZipOf({}));
  Write("s-002.zip", ZipOf(four_, /*deflated=*/true));
  ExpectKeepsItsPromises(Source(ZipArchive{.files = dir_ / "s-{000..002}.zip"}));
  ExpectKeepsItsPromises(Source(ZipArchive{.files = dir_ / "s-00?.zip", .key = true}) | Shuffle{} |
                         Prefetch{});
}

TEST_F(ZipArchiveTest, ASampleThatLacksAFieldOrIsDamagedIsNamedAndCanBeLeftOut) {
  std::string zip = ZipOf({{"1.txt", "good"},
                           {"1.cls", "1"},
                           {"2.cls", "2"},
                           {"3.txt", "damaged"},
                           {"3.cls", "3"},
                           {"4.txt", "last"},
                           {"4.cls", "4"}});
  zip[zip.find("damaged")] = 'D';
  Write("a.zip", zip);
  const Result<Dataset> dataset = Source(ZipArchive{.files = dir_ / "a.zip"});
  EXPECT_THAT(SamplesOf(dataset), FailsWith(StatusCode::kDataLoss,
                                            "record 1 (byte 75): sample '2' has no member .txt"));
  const QuietLog quiet;
  EXPECT_THAT(*SamplesOf(Result<Dataset>(*dataset) | IgnoreErrors{.share = 1}),
              ElementsAre("good 1", "last 4"));
}

TEST_F(ZipArchiveTest, EveryProperPrefixOfAnArchiveIsAnError) {
  const std::string good = ZipOf({{"1.txt", "x"}, {"1.cls", "1"}}, true);
  const std::string path = dir_ / "cut.zip";
  for (size_t size = 0; size < good.size(); ++size) {
    std::ofstream(path, std::ios::binary).write(good.data(), static_cast<std::streamsize>(size));
    EXPECT_THAT(Source(ZipArchive{.files = path}), FailsWith(StatusCode::kDataLoss, "cut.zip: "))
        << size;
  }
}

TEST_F(ZipArchiveTest, SaysWhichArchiveOrFieldIsWrong) {
  const auto fails = [&](const ZipArchive& options, StatusCode code, const char* says) {
    EXPECT_THAT(Source(options), FailsWith(code, says));
  };
  fails({.files = dir_ / "none.zip"}, StatusCode::kNotFound, "none.zip");
  Write("a.zip", ZipOf({{"README", "x"}}));
  fails({.files = dir_ / "a.zip"}, StatusCode::kDataLoss, "a.zip: the archive has no sample");
  fails({.files = dir_ / "a.zip", .fields = {"a", "a"}}, StatusCode::kInvalidArgument,
        "zip_archive: extension 'a' is named twice");
  fails({.files = dir_ / "a.zip", .fields = {"key"}, .key = true}, StatusCode::kInvalidArgument,
        "zip_archive: a field is called 'key' already");
  Write("b.zip", TarOf({{"1.txt", "x"}}));
  fails({.files = dir_ / "b.zip"}, StatusCode::kDataLoss, "b.zip: byte 2048: a zip archive ends");
}

}  // namespace stoker::zip_archive_test
