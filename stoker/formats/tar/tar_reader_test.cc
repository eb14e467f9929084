#include "stoker/formats/tar/tar_reader.h"

#include "stoker/base/testing.h"
#include "stoker/formats/tar/tar_testing_internal.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/gzip.h"

namespace stoker::tar_reader_test {

using testing::ElementsAre;

// Each member as "name@begin:data".
Result<std::vector<std::string>> MembersOf(TarInput& input, uint64_t offset = 0) {
  TarReader reader(input, offset);
  std::vector<std::string> members;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TarMember> member, reader.Next());
    if (!member) return members;
    std::string data(member->size, '\0');
    STOKER_ASSIGN_OR_RETURN(const size_t got,
                            input.ReadAt(member->data, std::as_writable_bytes(std::span(data))));
    EXPECT_EQ(got, data.size());
    members.push_back(fmt::format("{}@{}:{}", member->name, member->begin, data));
  }
}
// Of a part of an archive, which needs no end.
Result<std::vector<std::string>> MembersOf(const std::string& archive, uint64_t offset = 0) {
  const std::string name = "x.tar";
  const auto bytes = std::as_bytes(std::span(archive));
  return MembersOf(*MakeTarInput(bytes.subspan(offset), offset, name), offset);
}
// Of a whole archive.
Result<std::vector<std::string>> StreamedMembersOf(const std::string& archive) {
  return MembersOf(*MakeTarInput(MakeMemorySource(std::as_bytes(std::span(archive)), "x.tar")));
}

const std::string& Zeros() {
  static const std::string zeros(1024, '\0');
  return zeros;
}

TEST(TarReader, GivesTheRegularFiles) {
  const std::string archive =
      TarMemberOf("d/", "", '5') + TarMemberOf("d/a.txt", "hello") + TarMemberOf("link", "", '2') +
      TarMemberOf("b", std::string(512, 'x')) + TarMemberOf("c", "") + Zeros();
  const auto members =
      ElementsAre("d/a.txt@512:hello", "b@2048:" + std::string(512, 'x'), "c@3072:");
  EXPECT_THAT(*MembersOf(archive), members);
  EXPECT_THAT(*StreamedMembersOf(archive), members);
  EXPECT_THAT(*MembersOf(archive, 2048), testing::SizeIs(2));
  EXPECT_THAT(*MembersOf(TarMemberOf("a", "1")), ElementsAre("a@0:1")) << "a part of an archive";
  EXPECT_THAT(*MembersOf(""), testing::IsEmpty());
  EXPECT_THAT(*StreamedMembersOf(Zeros()), testing::IsEmpty());
}

TEST(TarReader, AnArchiveThatEndsWithoutABlockOfZerosWasCutShort) {
  const std::string member = TarMemberOf("a", "1");
  EXPECT_THAT(StreamedMembersOf(member),
              FailsWith(StatusCode::kDataLoss,
                        "x.tar: byte 1024: the archive ends without the block of zeros"));
  EXPECT_THAT(StreamedMembersOf(member + std::string(511, '\0')),
              FailsWith(StatusCode::kDataLoss, "x.tar: byte 1024"));
  EXPECT_THAT(StreamedMembersOf(""), FailsWith(StatusCode::kDataLoss, "x.tar: an empty file"));
  for (const size_t zeros : {512, 700, 1024, 10240})
    EXPECT_THAT(*StreamedMembersOf(member + std::string(zeros, '\0')), ElementsAre("a@0:1"));
}

TEST(TarReader, GoesOnWithTheArchiveThatIsPutBehindAnother) {
  const std::string archive = TarMemberOf("a", "1") + std::string(4096, '\0');
  const auto members = ElementsAre("a@0:1", "b@5120:2");
  EXPECT_THAT(*MembersOf(archive + TarMemberOf("b", "2") + Zeros()), members);
  EXPECT_THAT(*StreamedMembersOf(archive + TarMemberOf("b", "2") + Zeros()), members);
  for (const std::string& other : {std::string("text"), std::string(600, 'x')}) {
    EXPECT_THAT(StreamedMembersOf(archive + other),
                FailsWith(StatusCode::kDataLoss, "x.tar: byte 5120: after the end of the"));
  }
}

TEST(TarReader, TakesLongNamesOfGnuTarAndOfPax) {
  const std::string name = std::string(150, 'd') + "/" + std::string(150, 'f') + ".jpg";
  const std::string record = fmt::format("{} path={}\n", name.size() + 10, name);
  EXPECT_THAT(*MembersOf(TarMemberOf("././@LongLink", name + '\0', 'L') + TarMemberOf("cut", "1") +
                         TarMemberOf("pax", "11 foo=bar\n" + record, 'x') +
                         TarMemberOf("cut", "2") + TarMemberOf("plain", "3")),
              ElementsAre(name + "@0:1", name + "@2048:2", "plain@4096:3"));
  std::string prefixed = TarHeader("name", "00000000000");
  prefixed.replace(345, 3, "dir");
  EXPECT_THAT(MembersOf(prefixed), FailsWith(StatusCode::kDataLoss, "x.tar: byte 0"))
      << "the checksum covers the prefix";
}

TEST(TarReader, TakesSizesInBinaryAndFromPax) {
  std::string binary(12, '\0');
  binary[0] = '\x80';
  binary[11] = 5;
  EXPECT_THAT(*MembersOf(TarHeader("a", binary) + "hello" + std::string(507, '\0')),
              ElementsAre("a@0:hello"));
  EXPECT_THAT(*MembersOf(TarMemberOf("pax", "9 size=5\n", 'x') + TarHeader("a", "00000000000") +
                         "hello" + std::string(507, '\0')),
              ElementsAre("a@0:hello"));
}

// Whose data are a map of what is not a hole, and that alone.
TEST(TarReader, SaysThatSparseFilesAreNotRead) {
  const std::string after = TarOf({{"b.txt", "x"}});
  EXPECT_THAT(MembersOf(TarMemberOf("a.bin", "map", 'S') + after),
              FailsWith(StatusCode::kUnimplemented, "byte 0: 'a.bin' is stored as a sparse file"));
  const std::string pax = "22 GNU.sparse.major=1\n25 GNU.sparse.name=a.bin\n";
  EXPECT_THAT(
      MembersOf(TarMemberOf("x", pax, 'x') + TarMemberOf("GNUSparseFile.1/a.bin", "map") + after),
      FailsWith(StatusCode::kUnimplemented, "byte 0: 'a.bin' is stored as a sparse file"));
  const std::string old = "24 GNU.sparse.size=1024\n";
  EXPECT_THAT(MembersOf(TarMemberOf("x", old, 'x') + after),
              FailsWith(StatusCode::kUnimplemented, "byte 0: 'a member' is stored"));
}

TEST(TarReader, EveryTruncationAndEveryFlippedByteOfAHeaderIsNoticedOrHarmless) {
  const std::string archive = TarMemberOf("a.x", "hello") + TarMemberOf("a.y", "world");
  for (size_t size = 1; size < archive.size(); ++size) {
    const Result<std::vector<std::string>> members = MembersOf(archive.substr(0, size));
    EXPECT_FALSE(StreamedMembersOf(archive.substr(0, size)).ok()) << size;
    // Data may lack what fills them up to a block.
    const bool whole = (size >= 517 && size <= 1024) || size >= 1541;
    EXPECT_EQ(members.ok(), whole) << size;
    if (!members.ok()) {
      EXPECT_THAT(members, FailsWith(StatusCode::kDataLoss, "x.tar: byte"));
    }
  }
  for (size_t at = 0; at < 512; ++at) {
    if (at == 155) continue;  // what stands after the checksum's digits and their end
    std::string bad = archive;
    bad[at] = static_cast<char>(~bad[at]);
    EXPECT_THAT(MembersOf(bad), FailsWith(StatusCode::kDataLoss, "x.tar: byte 0")) << at;
  }
}

TEST(TarReader, NamesAndAttributesWithoutTheirMemberAreAnArchiveThatWasCutShort) {
  const std::string before = TarMemberOf("a", "1");
  for (const auto& [type, text] :
       {std::pair('x', "9 path=b\n"), {'L', "b"}, {'K', "where a link leads to"}}) {
    for (const size_t zeros : {0, 1024}) {
      EXPECT_THAT(MembersOf(before + TarMemberOf("p", text, type) + std::string(zeros, '\0')),
                  FailsWith(StatusCode::kDataLoss, "x.tar: byte 1024: the archive ends in the"))
          << type;
    }
  }
  EXPECT_THAT(MembersOf(TarMemberOf("p", "9 path=b\n", 'x') + Zeros() + before),
              FailsWith(StatusCode::kDataLoss, "x.tar: byte 0: the archive ends in the"))
      << "another archive has no member for them";
  EXPECT_THAT(*MembersOf(TarMemberOf("pax", "9 key=b\n", 'g')), testing::IsEmpty())
      << "attributes of all members, of which there are none";
}

TEST(TarReader, TheChecksumOfACompressedArchiveIsLookedAt) {
  const std::string archive = TarMemberOf("a", "1") + std::string(4096, '\0');
  std::vector<std::byte> packed = *GzipCompress(std::as_bytes(std::span(archive)));
  const auto members = [&] {
    return MembersOf(*MakeTarInput(MakeGzipSource(MakeMemorySource(packed, "x.tar.gz"))));
  };
  EXPECT_THAT(*members(), ElementsAre("a@0:1"));
  packed[packed.size() - 5] ^= std::byte{1};  // of the CRC-32
  EXPECT_THAT(members(), FailsWith(StatusCode::kDataLoss, "x.tar.gz: byte"));
}

TEST(TarReader, LengthsThatLieAreErrorsBeforeMemoryIsAskedFor) {
  const std::string sizes[] = {"77777777777",
                               std::string("\x80\0\0\0\x7f", 5) + std::string(7, '\xff'),
                               std::string(12, '\xff'), "0000000000x"};
  for (const std::string& size : sizes) {
    for (const char type : {'0', 'x', 'L'}) {
      EXPECT_THAT(MembersOf(TarHeader("a", size, type)),
                  FailsWith(StatusCode::kDataLoss, "x.tar: byte 0"));
    }
  }
  for (const char* const pax :
       {"99 path=x\n", "5 a\n", "0 path=x\n", "x", "9 size=x\n", "18446744073709551616 path=x\n"}) {
    EXPECT_THAT(MembersOf(TarMemberOf("p", pax, 'x') + TarMemberOf("a", "1")),
                FailsWith(StatusCode::kDataLoss, "pax attributes"))
        << pax;
  }
}

TEST(TarReader, SaysWhatAnotherFileIs) {
  EXPECT_THAT(MembersOf("\x89PNG\r\n\x1a\n" + std::string(600, 'x')),
              FailsWith(StatusCode::kDataLoss, "this is a PNG image, no tar archive"));
}

TEST(SplitSampleName, CutsAtTheFirstDotOfTheLastPart) {
  const auto split = [](std::string_view name) {
    const std::optional<SampleName> parts = SplitSampleName(name);
    return parts ? fmt::format("{}|{}", parts->key, parts->extension) : "";
  };
  EXPECT_EQ(split("a/0001.seg.png"), "a/0001|seg.png");
  EXPECT_EQ(split("v1.0/x.jpg"), "v1.0/x|jpg");
  EXPECT_EQ(split("x."), "x|");
  for (const char* const none : {"", "x", ".x", "a.b/x", "a/.hidden.x"}) EXPECT_EQ(split(none), "");
  EXPECT_EQ(LowerCaseExtension("Seg.PNG"), "seg.png");
}

TEST(ScanTarSamples, PutsMembersOfOneNameTogether) {
  const TempDir dir;
  const std::string archive = TarOf({{"a.jpg", "1"},
                                     {"a.cls", "2"},
                                     {"README", "x"},
                                     {"b.cls", "3"},
                                     {"a.jpg", std::string(600, 'y')}});
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "x", archive));
  STOKER_ASSERT_OK_AND_ASSIGN(const File file, File::Open(dir / "x"));
  EXPECT_THAT(*ScanTarSamples(file), ElementsAre(0, 3072, 4096, 5632));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "none", std::string(1024, '\0')));
  STOKER_ASSERT_OK_AND_ASSIGN(const File none, File::Open(dir / "none"));
  EXPECT_THAT(*ScanTarSamples(none), ElementsAre(0));
}

}  // namespace stoker::tar_reader_test
