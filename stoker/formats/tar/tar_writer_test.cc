#include "stoker/formats/tar/tar_writer.h"

#include <utility>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/formats/tar/tar_reader.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/file.h"

namespace stoker::tar_writer_test {

using Members = std::vector<std::pair<std::string, std::string>>;

Result<Members> Read(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  const std::unique_ptr<TarInput> input = MakeTarInput(std::move(source));
  TarReader reader(*input);
  Members members;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<TarMember> member, reader.Next());
    if (!member) return members;
    std::string data(member->size, '\0');
    STOKER_RETURN_IF_ERROR(
        input->ReadAt(member->data, std::as_writable_bytes(std::span(data))).status());
    members.emplace_back(member->name, std::move(data));
  }
}

Members SomeMembers() {
  Members members = {{"a.txt", "one"}, {"b/c.bin", std::string(512, 'x')}, {"empty", ""}};
  // Around what a header holds of a name, with and without a place to cut it.
  for (const size_t size : {99, 100, 101, 155, 156, 255, 256, 257, 300}) {
    members.emplace_back(std::string(size, 'n'), fmt::format("{}", size));
    std::string path;
    while (path.size() + 10 < size) path += "directory/";
    members.emplace_back(path + std::string(size - path.size(), 'f'), std::string(size, 'd'));
  }
  return members;
}

TEST(TarWriter, WritesWhatTheReaderReads) {
  const TempDir dir;
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    STOKER_ASSERT_OK_AND_ASSIGN(TarWriter writer, TarWriter::Create(dir / "a.tar", compression));
    for (const auto& [name, data] : SomeMembers()) STOKER_ASSERT_OK(writer.Append(name, data));
    STOKER_ASSERT_OK(writer.Commit());
    EXPECT_EQ(*Read(dir / "a.tar"), SomeMembers());
  }
}

TEST(TarWriter, WritesTheBytesThatPosixSays) {
  const TempDir dir;
  STOKER_ASSERT_OK_AND_ASSIGN(TarWriter writer, TarWriter::Create(dir / "a.tar"));
  STOKER_ASSERT_OK(writer.Append("a.txt", "hello"));
  EXPECT_EQ(writer.offset(), 1024u);
  STOKER_ASSERT_OK(writer.Commit());
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string tar, ReadTextFile(dir / "a.tar"));
  ASSERT_EQ(tar.size(), 2048u);
  std::string header = tar.substr(0, 512);
  EXPECT_EQ(header.substr(124, 12), std::string("00000000005\0", 12));
  EXPECT_EQ(header.substr(257, 8), std::string("ustar\0"
                                               "00",
                                               8));
  const std::string checksum = header.substr(148, 8);
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  EXPECT_EQ(checksum, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  EXPECT_EQ(tar.substr(512, 6), std::string("hello\0", 6));
  EXPECT_EQ(tar.substr(1024), std::string(1024, '\0'));
}

TEST(TarWriter, LeavesNoFileWhereItIsNotCommitted) {
  const TempDir dir;
  {
    STOKER_ASSERT_OK_AND_ASSIGN(TarWriter writer, TarWriter::Create(dir / "a.tar"));
    STOKER_ASSERT_OK(writer.Append("a", "b"));
    EXPECT_THAT(writer.Append("", "b"), FailsWith(StatusCode::kInvalidArgument, "is no name"));
  }
  EXPECT_THAT(ReadTextFile(dir / "a.tar"), FailsWith(StatusCode::kNotFound, "a.tar"));
}

}  // namespace stoker::tar_writer_test
