#include "stoker/io/compressed_file.h"

#include <filesystem>
#include <random>

#include "stoker/base/testing.h"
#include "stoker/io/byte_source.h"
#include "stoker/io/gzip.h"

namespace stoker::compressed_file_test {

std::string Mixture(size_t size) {
  std::mt19937 random(1);
  std::string text;
  while (text.size() < size)
    text += random() % 2 == 0 ? std::string(random() % 300, 'a') : std::to_string(random());
  text.resize(size);
  return text;
}

Result<std::string> ReadBack(const std::string& path, Compression compression) {
  STOKER_ASSIGN_OR_RETURN(File file, File::Open(path));
  std::unique_ptr<ByteSource> source = MakeFileSource(std::move(file));
  if (compression == Compression::kGzip) source = MakeGzipSource(std::move(source));
  if (compression == Compression::kZlib) source = MakeZlibSource(std::move(source));
  std::string text;
  std::vector<std::byte> part(10'000);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const size_t got, source->Read(part));
    if (got == 0) return text;
    text.append(reinterpret_cast<const char*>(part.data()), got);
  }
}

Status Write(const std::string& path, Compression compression, std::string_view text,
             size_t piece) {
  STOKER_ASSIGN_OR_RETURN(CompressedFileWriter writer,
                          CompressedFileWriter::Create(path, compression));
  for (size_t at = 0; at < text.size(); at += piece)
    STOKER_RETURN_IF_ERROR(writer.Append(text.substr(at, piece)));
  return writer.Commit();
}

TEST(CompressedFileWriter, WhatItWritesReadsBack) {
  const TempDir dir;
  for (const Compression compression :
       {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{1'000'000}}) {
      const std::string text = Mixture(size);
      STOKER_ASSERT_OK(Write(dir / "x", compression, text, 30'011));
      STOKER_ASSERT_OK_AND_ASSIGN(const std::string back, ReadBack(dir / "x", compression));
      EXPECT_TRUE(back == text) << back.size() << " of " << size;
    }
  }
}

TEST(CompressedFileWriter, LeavesNothingBehindWithoutCommit) {
  const TempDir dir;
  {
    STOKER_ASSERT_OK_AND_ASSIGN(CompressedFileWriter writer,
                                CompressedFileWriter::Create(dir / "x", Compression::kGzip));
    STOKER_EXPECT_OK(writer.Append("text"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  EXPECT_THAT(CompressedFileWriter::Create(dir / "x", Compression::kGzip, 10).status(),
              FailsWith(StatusCode::kInvalidArgument, "1..9"));
}

TEST(ZlibSource, EveryTruncationAndEveryFlippedByteIsAnError) {
  const TempDir dir;
  const std::string text = Mixture(200);
  STOKER_ASSERT_OK(Write(dir / "x", Compression::kZlib, text, 200));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string good, ReadBack(dir / "x", Compression::kNone));
  for (size_t size = 0; size < good.size(); ++size) {
    STOKER_ASSERT_OK(WriteFileAtomically(dir / "bad", std::string_view(good).substr(0, size)));
    EXPECT_THAT(ReadBack(dir / "bad", Compression::kZlib),
                FailsWith(StatusCode::kDataLoss, "bad: byte"))
        << size;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(~bad[at]);
    STOKER_ASSERT_OK(WriteFileAtomically(dir / "bad", bad));
    EXPECT_THAT(ReadBack(dir / "bad", Compression::kZlib),
                FailsWith(StatusCode::kDataLoss, "bad: byte"))
        << at;
  }
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "bad", good + "x"));
  EXPECT_THAT(ReadBack(dir / "bad", Compression::kZlib),
              FailsWith(StatusCode::kDataLoss, "something follows the end"));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "bad", "\x78\xbb rest"));
  EXPECT_THAT(ReadBack(dir / "bad", Compression::kZlib),
              FailsWith(StatusCode::kUnimplemented, "preset dictionary"));
}

}  // namespace stoker::compressed_file_test
