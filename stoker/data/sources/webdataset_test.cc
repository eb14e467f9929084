#include "stoker/data/sources/webdataset.h"

#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/formats/tar/tar_testing_internal.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/gzip.h"

namespace stoker::webdataset_test {

using testing::ElementsAre;

class WebdatasetTest : public testing::Test {
 protected:
  using Members = std::vector<std::pair<std::string, std::string>>;

  void Write(const std::string& name, const std::string& archive) {
    EXPECT_THAT(WriteFileAtomically(dir_ / name, archive), IsOk());
    EXPECT_THAT(WriteFileAtomically(dir_ / (name + ".gz"),
                                    *GzipCompress(std::as_bytes(std::span(archive)))),
                IsOk());
  }

  // Each element as "text label".
  static Result<std::vector<std::string>> SamplesOf(const Result<Dataset>& dataset) {
    STOKER_ASSIGN_OR_RETURN(const std::vector<Element> all, ReadAll(*dataset, Runtime::Inline()));
    std::vector<std::string> samples;
    for (const Element& element : all) {
      const Array& text = element.arrays[0];
      samples.push_back(std::string(reinterpret_cast<const char*>(text.data()), text.num_bytes()) +
                        " " + std::to_string(element.arrays[1].values<int64_t>()[0]));
    }
    return samples;
  }

  const TempDir dir_;
  const Members four_ = {{"d/", ""},         {"d/1.txt", "one"}, {"d/1.cls", "7\n"},
                         {"d/2.cls", "-8"},  {"d/2.txt", ""},    {"3.cls", "9"},
                         {"3.seg.png", "s"}, {"3.txt", "three"}};
};

TEST_F(WebdatasetTest, MakesAnElementOfTheMembersOfOneName) {
  Write("a.tar", TarOf(four_));
  for (const char* const file : {"a.tar", "a.tar.gz"}) {
    for (const char* const index : {"stored", "memory", "none"}) {
      const Result<Dataset> dataset = Source(Webdataset{.files = dir_ / file, .index = index});
      EXPECT_EQ(dataset->spec().ToString(), "{txt: uint8[?], cls: int64[]}");
      EXPECT_THAT(*SamplesOf(dataset), ElementsAre("one 7", " -8", "three 9")) << file << index;
    }
  }
  EXPECT_EQ(Source(Webdataset{.files = dir_ / "a.tar"})->cardinality(), Cardinality::Of(3));
}

TEST_F(WebdatasetTest, TakesTheFieldsThatAreNamedAndTheKey) {
  Write("a.tar", TarOf({{"1.jpeg", "x"}, {"1.cls", "1"}, {"2.cls", "2"}, {"2.png", "y"}}));
  for (const char* const file : {"a.tar", "a.tar.gz"}) {
    const Result<Dataset> dataset =
        Source(Webdataset{.files = dir_ / file, .fields = {"jpg|jpeg|png", "cls"}, .key = true});
    EXPECT_EQ(dataset->spec().ToString(), "{jpg: uint8[?], cls: int64[], key: uint8[?]}");
    EXPECT_THAT(*SamplesOf(dataset), ElementsAre("x 1", "y 2"));
    const std::vector<Element> all = *ReadAll(*dataset, Runtime::Inline());
    EXPECT_EQ(all[1].arrays[2].values<uint8_t>()[0], '2');
  }
}

TEST_F(WebdatasetTest, KeepsItsPromises) {
  Members many;
  for (int i = 0; i < 12; ++i) {
    many.emplace_back(fmt::format("{}.txt", i), std::string(static_cast<size_t>(i) * 100, 'x'));
    many.emplace_back(fmt::format("{}.cls", i), std::to_string(i));
  }
  Write("s-000.tar", TarOf(many));
  Write("s-001.tar", TarOf({}));
  Write("s-002.tar", TarOf(four_));
  ExpectKeepsItsPromises(Source(Webdataset{.files = dir_ / "s-{000..002}.tar"}));
  ExpectKeepsItsPromises(Source(Webdataset{.files = dir_ / "s-00?.tar", .index = "none"}));
  ExpectKeepsItsPromises(Source(Webdataset{.files = dir_ / "s-{000..002}.tar"}) | Shuffle{} |
                         Prefetch{});
  ExpectKeepsItsPromises(Source(Webdataset{.files = dir_ / "s-{000,002}.tar.gz", .key = true}) |
                         Shuffle{.buffer = 3});
}

TEST_F(WebdatasetTest, ASampleThatLacksAFieldIsNamedAndCanBeLeftOut) {
  Write("a.tar", TarOf({{"1.txt", "x"},
                        {"1.cls", "1"},
                        {"2.cls", "2"},
                        {"3.txt", "y"},
                        {"3.cls", "z"},
                        {"4.txt", "w"},
                        {"4.cls", "4"}}));
  for (const char* const file : {"a.tar", "a.tar.gz"}) {
    const Result<Dataset> dataset = Source(Webdataset{.files = dir_ / file});
    EXPECT_THAT(SamplesOf(dataset),
                FailsWith(StatusCode::kDataLoss, "sample '2' has no member .txt"));
    EXPECT_THAT(SamplesOf(dataset), FailsWith(StatusCode::kDataLoss, "byte 2048"));
    const QuietLog quiet;
    EXPECT_THAT(*SamplesOf(Result<Dataset>(*dataset) | IgnoreErrors{.share = 1}),
                ElementsAre("x 1", "w 4"));
  }
}

TEST_F(WebdatasetTest, AnArchiveThatIsCutShortIsAnError) {
  const std::string archive = TarOf({{"1.txt", std::string(1000, 'x')}, {"1.cls", "1"}});
  Write("a.tar", archive.substr(0, 900));
  EXPECT_THAT(
      Source(Webdataset{.files = dir_ / "a.tar", .fields = {"txt", "cls"}}),
      FailsWith(StatusCode::kDataLoss, "a.tar: byte 0: the archive ends in the middle of '1.txt'"));
  EXPECT_THAT(
      SamplesOf(Source(Webdataset{.files = dir_ / "a.tar.gz", .fields = {"txt", "cls"}})),
      FailsWith(StatusCode::kDataLoss, "byte 0: the archive ends in the middle of '1.txt'"));
}

TEST_F(WebdatasetTest, AnArchiveWithoutItsEndIsAnErrorBehindItsLastSample) {
  std::string archive = TarOf({{"1.txt", "x"}, {"1.cls", "1"}});
  archive.resize(archive.size() - 1024);
  Write("a.tar", archive);
  for (const char* const file : {"a.tar", "a.tar.gz"}) {
    for (const char* const index : {"memory", "none"}) {
      const auto samples = [&]() -> Result<std::vector<std::string>> {
        STOKER_ASSIGN_OR_RETURN(const Dataset dataset,
                                Source(Webdataset{.files = dir_ / file, .index = index}));
        return SamplesOf(dataset);
      };
      EXPECT_THAT(samples(),
                  FailsWith(StatusCode::kDataLoss, "byte 2048: the archive ends without"))
          << file << index;
    }
  }
}

TEST_F(WebdatasetTest, ReadsArchivesThatWerePutBehindEachOther) {
  Write("a.tar", TarOf({{"1.txt", "x"}, {"1.cls", "1"}}) + TarOf({{"2.txt", "y"}, {"2.cls", "2"}}));
  for (const char* const file : {"a.tar", "a.tar.gz"})
    EXPECT_THAT(*SamplesOf(Source(Webdataset{.files = dir_ / file})), ElementsAre("x 1", "y 2"));
  ExpectKeepsItsPromises(Source(Webdataset{.files = dir_ / "a.tar", .index = "none"}));
}

TEST_F(WebdatasetTest, TakesExtensionsInCapitalsAsSmallOnes) {
  Write("a.tar", TarOf({{"1.TXT", "x"}, {"1.Cls", "1"}, {"2.txt", "y"}, {"2.cls", "2"}}));
  for (const char* const file : {"a.tar", "a.tar.gz"}) {
    const Result<Dataset> dataset = Source(Webdataset{.files = dir_ / file});
    EXPECT_EQ(dataset->spec().ToString(), "{txt: uint8[?], cls: int64[]}");
    EXPECT_THAT(*SamplesOf(dataset), ElementsAre("x 1", "y 2"));
    EXPECT_THAT(*SamplesOf(Source(Webdataset{.files = dir_ / file, .fields = {"TXT", "CLS"}})),
                ElementsAre("x 1", "y 2"));
  }
}

TEST_F(WebdatasetTest, ASampleWithTwoMembersForAFieldIsNamedAndCanBeLeftOut) {
  Write("a.tar", TarOf({{"1.txt", "x"},
                        {"1.cls", "1"},
                        {"1.TXT", "y"},
                        {"2.txt", "z"},
                        {"2.cls", "2"},
                        {"2.json", "{}"},
                        {"2.json", "[]"}}));
  for (const char* const file : {"a.tar", "a.tar.gz"}) {
    const Result<Dataset> dataset =
        Source(Webdataset{.files = dir_ / file, .fields = {"txt", "cls"}});
    EXPECT_THAT(SamplesOf(dataset),
                FailsWith(StatusCode::kDataLoss,
                          "sample '1' has two members for field 'txt': '1.txt' and '1.TXT'"));
    const QuietLog quiet;
    EXPECT_THAT(*SamplesOf(Result<Dataset>(*dataset) | IgnoreErrors{.share = 1}),
                ElementsAre("z 2"));
  }
}

TEST_F(WebdatasetTest, RefusesFieldsThatDoNotGoTogether) {
  Write("a.tar", TarOf(four_));
  const auto fails = [&](const std::vector<std::string>& fields, bool key, const char* says) {
    EXPECT_THAT(Source(Webdataset{.files = dir_ / "a.tar", .fields = fields, .key = key}),
                FailsWith(StatusCode::kInvalidArgument, says));
  };
  fails({"a", "a|b"}, false, "extension 'a' is named twice");
  fails({"a||b"}, false, "named twice, or empty");
  fails({"key"}, true, "a field is called 'key' already");
  Write("b.tar", TarOf({{"README", "x"}}));
  EXPECT_THAT(Source(Webdataset{.files = dir_ / "b.tar"}),
              FailsWith(StatusCode::kDataLoss, "the archive has no sample"));
}

}  // namespace stoker::webdataset_test
