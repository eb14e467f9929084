#include <cstring>
#include <filesystem>
#include <string>

#include "stoker/base/testing.h"
#include "stoker/formats/zip/zip_reader.h"
#include "stoker/formats/zip/zip_samples.h"
#include "stoker/formats/zip/zip_testing_internal.h"
#include "stoker/formats/zip/zip_writer.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file_bytes_testing_internal.h"

namespace stoker::zip_test {

using namespace std::string_literals;
using namespace std::string_view_literals;

Result<ZipFile> Parse(std::string_view bytes) {
  const Buffer buffer = Buffer::Allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return ZipFile::Parse(buffer, "x.zip");
}
std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// What ZipWriter makes of these.
std::string Zipped(const std::vector<std::pair<std::string, std::string>>& entries,
                   uint64_t alignment = 1) {
  const TempDir dir;
  Result<ZipWriter> writer = ZipWriter::Create(dir / "a.zip");
  for (const auto& [name, content] : entries) {
    EXPECT_THAT(writer->Add(name, Bytes(content), alignment), IsOk());
  }
  EXPECT_THAT(writer->Finish(), IsOk());
  return *ReadTextFile(dir / "a.zip");
}

std::string U16(uint64_t value) {
  return {static_cast<char>(value), static_cast<char>(value >> 8)};
}
std::string U32(uint64_t value) { return U16(value & 0xffff) + U16(value >> 16); }

TEST(ZipFile, ReadsWhatZipWriterWrote) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ZipFile zip,
                              Parse(Zipped({{"b", "hello"}, {"a/c", ""}, {"a", "x"}}, 64)));
  ASSERT_EQ(zip.entries().size(), 3u);
  EXPECT_EQ(zip.entries()[0].name, "b");
  for (const ZipEntry& entry : zip.entries()) EXPECT_EQ(entry.offset % 64, 0u) << entry.name;
  STOKER_ASSERT_OK_AND_ASSIGN(const ZipContent hello, zip.Read(*zip.Find("b"), /*strict=*/true));
  EXPECT_EQ(hello.text(), "hello");
  STOKER_ASSERT_OK_AND_ASSIGN(const ZipContent nothing, zip.Read(*zip.Find("a/c")));
  EXPECT_EQ(nothing.bytes, 0u);
  EXPECT_EQ(zip.Find("c"), nullptr);
}

TEST(ZipWriter, GivesEqualBytesForEqualContent) {
  EXPECT_EQ(Zipped({{"a", "1"}, {"b", "2"}}, 64), Zipped({{"a", "1"}, {"b", "2"}}, 64));
}

// Where a directory says MS-DOS, unzip takes names to be in its code page; where it says Unix, it
// gives files the mode that stands there.
TEST(ZipWriter, SaysThatEntriesAreRegularFilesMadeOnUnix) {
  const std::string archive = Zipped({{"\u00e9", "1"}});
  const std::string entry = archive.substr(archive.find("PK\x01\x02"));
  EXPECT_EQ(entry.substr(4, 2), U16(3 << 8 | 20));
  EXPECT_EQ(entry.substr(38, 4), U32(uint64_t{0100644} << 16));
}

TEST(ZipWriter, RefusesANameThatTheFormatCannotHold) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(ZipWriter writer, ZipWriter::Create(dir / "a.zip"));
  EXPECT_THAT(writer.Add(std::string(65536, 'n'), {}),
              FailsWith(StatusCode::kInvalidArgument, "at most 65535"));
}

TEST(ZipFile, HoldsNoEntriesToo) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ZipFile zip, Parse(Zipped({})));
  EXPECT_TRUE(zip.entries().empty());
}

// One entry, as other programs write it: `method`, these fields, then the directory and its end.
struct Handmade {
  uint64_t flags = 0, method = 0, crc = 0, compressed = 0, bytes = 0;
  std::string data;
  std::string comment = {};
  std::string extra = {};  // of the directory

  std::string File() const {
    const std::string common =
        U16(flags) + U16(method) + U32(0) + U32(crc) + U32(compressed) + U32(bytes) + U16(1);
    const std::string local = "PK\x03\x04\x14\0"s + common + U16(0) + "a" + data;
    const std::string entry = "PK\x01\x02\x14\0\x14\0"s + common + U16(extra.size()) + U16(0) +
                              U16(0) + U16(0) + U32(0) + U32(0) + "a" + extra;
    return local + entry + "PK\x05\x06"s + U32(0) + U16(1) + U16(1) + U32(entry.size()) +
           U32(local.size()) + U16(comment.size()) + comment;
  }
};

// Python's zlib.compress(b"a" * 40, wbits=-15).
const std::string kDeflated = "KL$\x0e\0\0"s;
const Handmade kFortyAs{
    .method = 8, .crc = 0xc95b8a25, .compressed = 6, .bytes = 40, .data = kDeflated};

TEST(ZipFile, InflatesWhatIsDeflated) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ZipFile zip, Parse(kFortyAs.File()));
  STOKER_ASSERT_OK_AND_ASSIGN(const ZipContent content, zip.Read(zip.entries()[0]));
  EXPECT_EQ(content.text(), std::string(40, 'a'));
}

TEST(ZipFile, FindsItsEndInFrontOfAComment) {
  Handmade zip = kFortyAs;
  zip.comment = "PK\x05\x06 is what an end begins with"s;
  STOKER_ASSERT_OK(Parse(zip.File()));
}

TEST(ZipFile, ReadsSizesOf64Bits) {
  Handmade zip{.compressed = 0xffffffff, .bytes = 0xffffffff, .data = "xyz"};
  zip.crc = 0xeb8eba67;
  zip.extra = U16(1) + U16(16) + U32(3) + U32(0) + U32(3) + U32(0);
  STOKER_ASSERT_OK_AND_ASSIGN(const ZipFile file, Parse(zip.File()));
  STOKER_ASSERT_OK_AND_ASSIGN(const ZipContent content, file.Read(file.entries()[0], true));
  EXPECT_EQ(content.text(), "xyz");
}

TEST(ZipFile, TakesAChecksumOf0AsNotGivenUnlessItIsStrict) {
  const Handmade zip{.compressed = 3, .bytes = 3, .data = "xyz"};
  STOKER_ASSERT_OK_AND_ASSIGN(const ZipFile file, Parse(zip.File()));
  STOKER_ASSERT_OK(file.Read(file.entries()[0]));
  EXPECT_THAT(file.Read(file.entries()[0], true),
              FailsWith(StatusCode::kDataLoss, "byte 31: 'a' differs from its checksum"));
}

struct BrokenCase {
  const char* name;
  std::string bytes;
  const char* says;
  StatusCode code = StatusCode::kDataLoss;
};

std::string With(Handmade zip, auto Handmade::*field, auto value) {
  zip.*field = value;
  return zip.File();
}
// The same file with bytes replaced.
std::string Patched(std::string bytes, size_t at, std::string_view by) {
  return bytes.replace(at, by.size(), by);
}
const std::string kGood = kFortyAs.File();
const size_t kDirectory = kGood.find("PK\x01\x02"s), kEnd = kGood.find("PK\x05\x06"s);

const BrokenCase kBroken[] = {
    {"Empty", "", "byte 0: a zip archive ends with its directory"},
    {"NoEnd", kGood.substr(0, kEnd),
     "a zip archive ends with its directory, and this file does not"},
    {"CutShort", kGood.substr(0, kGood.size() - 1), "or was cut short"},
    {"DirectoryBehindItsEnd", Patched(kGood, kEnd + 16, U32(90)), "would lie after its end"},
    {"CountLies", Patched(kGood, kEnd + 8, U16(9) + U16(9)), "cannot have 9 entries"},
    {"CountTooSmall", Patched(kGood, kEnd + 8, U16(0) + U16(0)), "more than its entries"},
    {"SeveralFiles", Patched(kGood, kEnd + 4, U16(1)), "is in several files",
     StatusCode::kUnimplemented},
    {"NoDirectoryOf64Bits", Patched(kGood, kEnd + 16, U32(0xffffffff)),
     "the place of a directory of 64 bits is missing"},
    {"NoEntry", Patched(kGood, kDirectory, "XX"), "an entry of the directory is wanted"},
    {"NameBeyondTheDirectory", Patched(kGood, kDirectory + 28, U16(400)),
     "longer than the directory"},
    {"HeaderElsewhere", Patched(kGood, kDirectory + 42, U32(1)), "where no entry begins"},
    {"HeaderFarAway", Patched(kGood, kDirectory + 42, U32(0xfffffffe)), "where no entry begins"},
    {"DataBeyondTheFile", Patched(kGood, kDirectory + 20, U32(4000)), "the file ends before them"},
    {"OtherName", Patched(kGood, 30, "b"), "the directory says 'a'"},
    {"StoredInTwoSizes", With(kFortyAs, &Handmade::method, 0), "with sizes of 40 and 6 bytes"},
    {"Encrypted", With(kFortyAs, &Handmade::flags, 1), "'a' is encrypted",
     StatusCode::kUnimplemented},
    {"OtherMethod", With(kFortyAs, &Handmade::method, 12), "compressed by method 12",
     StatusCode::kUnimplemented},
    {"ExtraTooLong", With(kFortyAs, &Handmade::extra, U16(7) + U16(9)), "an extra field is longer"},
    {"Size64Missing",
     With(
         [] {
           Handmade zip = kFortyAs;
           zip.bytes = 0xffffffff;
           return zip;
         }(),
         &Handmade::extra, U16(1) + U16(0)),
     "a number of 64 bits is missing"},
    {"NameTwice", Zipped({{"a", "1"}, {"a", "2"}}), "the entry 'a' is there twice"},
};

class ZipBroken : public testing::TestWithParam<BrokenCase> {};

TEST_P(ZipBroken, SaysWhatAndWhere) {
  EXPECT_THAT(Parse(GetParam().bytes), FailsWith(GetParam().code, GetParam().says));
  EXPECT_THAT(Parse(GetParam().bytes), FailsWith(GetParam().code, "x.zip: "));
}

INSTANTIATE_TEST_SUITE_P(Cases, ZipBroken, testing::ValuesIn(kBroken),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ZipFile, RefusesContentThatDoesNotInflateToWhatIsAnnounced) {
  const auto read = [](const Handmade& zip) -> Status {
    STOKER_ASSIGN_OR_RETURN(const ZipFile file, Parse(zip.File()));
    return file.Read(file.entries()[0]).status();
  };
  Handmade zip = kFortyAs;
  zip.bytes = 39;
  EXPECT_THAT(read(zip),
              FailsWith(StatusCode::kDataLoss, "does not inflate to the size announced"));
  zip.bytes = 41;
  EXPECT_THAT(read(zip),
              FailsWith(StatusCode::kDataLoss, "does not inflate to the size announced"));
  zip.bytes = 4'000'000'000;
  EXPECT_THAT(read(zip), FailsWith(StatusCode::kDataLoss, "which cannot be"));
  zip = kFortyAs;
  zip.crc = 1;
  EXPECT_THAT(read(zip), FailsWith(StatusCode::kDataLoss, "'a' differs from its checksum"));
}

TEST(ZipFile, EveryProperPrefixOfAGoodFileIsAnError) {
  const std::string good = Zipped({{"a", "hello"}, {"b", "world"}}, 16);
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_THAT(Parse(good.substr(0, size)), FailsWith(StatusCode::kDataLoss, "x.zip: ")) << size;
  }
}

// The directory says of both entries that they begin at byte 0, as archives do that announce far
// more than they hold.
TEST(ZipFile, RefusesEntriesThatShareBytes) {
  std::string zip = ZipOf({{"a", "hello"}, {"a", "hello"}});
  const size_t second = zip.rfind("PK\x01\x02"s);
  zip.replace(second + 42, 4, U32(0));
  EXPECT_THAT(Parse(zip), FailsWith(StatusCode::kDataLoss, "byte 0: 'a' and 'a' share bytes"));

  // The data of the first reach into the header of the second.
  zip = ZipOf({{"a", "hello"}, {"b", "world"}});
  const size_t first = zip.find("PK\x01\x02"s);
  zip.replace(first + 20, 8, U32(6) + U32(6));
  EXPECT_THAT(Parse(zip), FailsWith(StatusCode::kDataLoss, "byte 0: 'a' and 'b' share bytes"));

  // Those of the last reach into the directory.
  zip = ZipOf({{"a", "hello"}});
  zip.replace(zip.find("PK\x01\x02"s) + 20, 8, U32(6) + U32(6));
  EXPECT_THAT(Parse(zip),
              FailsWith(StatusCode::kDataLoss, "byte 0: 'a' and the directory share bytes"));
}

TEST(ZipFile, EveryFlippedByteIsAnErrorOrLeavesTheContentsAsTheyAre) {
  const std::string good = ZipOf({{"a.txt", "hello hello"}, {"b.txt", "world"}}, true);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0xff);
    const Result<ZipFile> zip = Parse(bad);
    if (!zip.ok()) continue;
    for (const ZipEntry& entry : zip->entries()) {
      const Result<ZipContent> content = zip->Read(entry, /*strict=*/true);
      if (!content.ok()) continue;
      EXPECT_TRUE(content->text() == "hello hello" || content->text() == "world") << at;
    }
  }
}

// Larger than the pieces in which either is made; half of it hardly deflates.
TEST(ZipFile, VerifyFindsWhatReadFindsMappedAndByPosition) {
  std::string content;
  for (uint32_t i = 0, x = 1; i < 400'000; ++i, x = x * 1664525 + 1013904223)
    content += static_cast<char>(x >> 24);
  content += std::string(600'000, 'a');
  const TempDir dir;
  const auto open_both = [&](const std::string& zip) {
    STOKER_EXPECT_OK(WriteFileAtomically(dir / "x.zip", zip));
    std::vector<Result<ZipFile>> both{ZipFile::Open(dir / "x.zip")};
    const ScopedMapping mapping;
    both.push_back(ZipFile::Open(dir / "x.zip"));
    return both;
  };
  for (const bool deflated : {false, true}) {
    const std::string good = ZipOf({{"a", content}}, deflated);
    for (size_t at = 0; at < good.size(); at += 9973) {
      std::string zip = good;
      if (at > 0) zip[at] = static_cast<char>(zip[at] ^ 0x10);
      for (const Result<ZipFile>& file : open_both(zip)) {
        STOKER_ASSERT_OK(file);
        const ZipEntry& entry = file->entries()[0];
        const Status read = file->Read(entry).status(), verified = file->Verify(entry);
        EXPECT_EQ(verified.code(), read.code()) << at << " " << verified.message();
        EXPECT_EQ(read.ok(), at == 0) << at;
      }
    }
  }
}

TEST(ZipFile, ReadIntoGivesTheBytesOfRead) {
  for (const bool deflated : {false, true}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const ZipFile zip, Parse(ZipOf({{"a", "hello"}}, deflated)));
    const ZipEntry& entry = zip.entries()[0];
    EXPECT_EQ(entry.deflated, deflated);
    std::string copy(entry.bytes, '\0');
    STOKER_ASSERT_OK(zip.ReadInto(entry, std::as_writable_bytes(std::span(copy)), true));
    EXPECT_EQ(copy, "hello");
    STOKER_ASSERT_OK_AND_ASSIGN(const ZipContent content, zip.Read(entry, true));
    EXPECT_EQ(content.text(), "hello");
  }
}

TEST(ZipSamples, AreEntriesOfOneNameWhereverTheyStand) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ZipFile zip, Parse(ZipOf({{"d/", ""},
                                                              {"d/1.txt", "a"},
                                                              {"d/2.txt", "b"},
                                                              {"README", "c"},
                                                              {"d/1.seg.png", "d"},
                                                              {"1.txt", "e"},
                                                              {"__MACOSX/d/._1.txt", "f"}})));
  const ZipSamples samples = ZipSamples::Of(zip);
  ASSERT_EQ(samples.size(), 3);
  EXPECT_THAT(samples.entries(0), testing::ElementsAre(1, 4));
  EXPECT_THAT(samples.entries(1), testing::ElementsAre(2));
  EXPECT_THAT(samples.entries(2), testing::ElementsAre(5));
  STOKER_ASSERT_OK_AND_ASSIGN(const ZipFile none, Parse(ZipOf({})));
  EXPECT_EQ(ZipSamples::Of(none).size(), 0);
}

}  // namespace stoker::zip_test
