// What small files may not make of themselves: values and storages are shared, so few bytes can say
// very many.
#include <string>

#include "stoker/base/testing.h"
#include "stoker/formats/pt/pt_file.h"
#include "stoker/formats/pt/pt_testing_internal.h"

namespace stoker::pt_limits_test {

using namespace std::string_literals;

// A pickle of a tuple of this value, many times the same.
std::string Shared(const std::string& value, int times) {
  std::string text = "\x80\x02(" + value + "q\x01";
  for (int i = 1; i < times; ++i) text += "h\x01";
  return text + "t.";
}

std::string DictOf(const std::string& key, const std::string& value) {
  return "}" + PickledText(key) + value + "s";
}

TEST(PtLimits, ADictOfOneLongKeySharedManyTimesIsRefused) {
  EXPECT_THAT(ParsePt(PtArchive(Shared(DictOf(std::string(1 << 20, 'k'), "K\x01"), 3000))),
              FailsWith(StatusCode::kUnimplemented,
                        "x.pt: a name that begins with '0' has more than 4096 bytes"));
}

TEST(PtLimits, ALongKeyIsShownInPart) {
  const Result<PtFile> file =
      ParsePt(PtArchive("\x80\x02" + DictOf(std::string(5000, 'k'), "K\x01") + "."));
  EXPECT_THAT(file, FailsWith(StatusCode::kUnimplemented, "begins with '" + std::string(40, 'k') +
                                                              "' has more than 4096 bytes"));
  STOKER_EXPECT_OK(ParsePt(PtArchive("\x80\x02" + DictOf(std::string(4096, 'k'), "K\x01") + ".")));
}

TEST(PtLimits, NamesTogetherAreLimited) {
  const std::string value = DictOf(std::string(4000, 'k'), "K\x01");
  EXPECT_THAT(
      ParsePt(PtArchive(Shared(value, 30'000))),
      FailsWith(StatusCode::kUnimplemented, "names and values up to here take over 64 MiB"));
  STOKER_ASSERT_OK_AND_ASSIGN(const PtFile few, ParsePt(PtArchive(Shared(value, 1000))));
  EXPECT_EQ(few.values().size(), 1000u);
}

TEST(PtLimits, TextsTogetherAreLimited) {
  EXPECT_THAT(ParsePt(PtArchive(Shared(PickledText(std::string(1 << 20, 't')), 3000))),
              FailsWith(StatusCode::kUnimplemented, "x.pt: '6"));
}

TEST(PtLimits, ValuesOfNoSizeAreLimitedToo) {
  std::string lists = "(N";
  for (int i = 1; i < 2000; ++i) lists += "N";
  EXPECT_THAT(ParsePt(PtArchive(Shared(lists + "t", 2000))),
              FailsWith(StatusCode::kUnimplemented, "names and values up to here"));
}

TEST(PtLimits, TensorsOfOneStorageAreLimited) {
  const std::string tensor = PickledTensor(PickledStorage("FloatStorage", 1), 0, {1}, {1});
  std::string tensors = "(" + tensor + "q\x02";
  for (int i = 1; i < 1000; ++i) tensors += "h\x02";
  EXPECT_THAT(ParsePt(PtArchive(Shared(tensors + "t", 1000), {{"data/0", "1234"}})),
              FailsWith(StatusCode::kUnimplemented, "names and values up to here"));
}

TEST(PtLimits, ValuesThatNothingSharesAreReadHoweverMany) {
  constexpr size_t kValues = 600'000;
  std::string numbers = "\x80\x02(";
  for (size_t i = 0; i < kValues; ++i) numbers += "K\x01";
  STOKER_ASSERT_OK_AND_ASSIGN(const PtFile file, ParsePt(PtArchive(numbers + "t.")));
  EXPECT_EQ(file.values().size(), kValues);
}

TEST(PtLimits, CopiesOfOneStorageAreLimited) {
  constexpr size_t kValues = 255 * 255;
  const std::string transposed =
      PickledTensor(PickledStorage("FloatStorage", kValues), 0, {255, 255}, {1, 255});
  const PtRecords values = {{"data/0", std::string(kValues * sizeof(float), '\0')}};
  STOKER_ASSERT_OK_AND_ASSIGN(const PtFile many,
                              ParsePt(PtArchive(Shared(transposed, 300), values)));
  EXPECT_THAT(many.ReadAll(),
              FailsWith(StatusCode::kUnimplemented, "x.pt: '262': the tensors up to here"));
  STOKER_EXPECT_OK(many.Read("299"));
  STOKER_ASSERT_OK_AND_ASSIGN(const PtFile few, ParsePt(PtArchive(Shared(transposed, 20), values)));
  STOKER_EXPECT_OK(few.ReadAll());
  const std::string whole =
      PickledTensor(PickledStorage("FloatStorage", kValues), 0, {255, 255}, {255, 1});
  STOKER_ASSERT_OK_AND_ASSIGN(const PtFile tied, ParsePt(PtArchive(Shared(whole, 300), values)));
  STOKER_EXPECT_OK(tied.ReadAll());
}

// With a search through all of them for each that is more than a thousand million steps.
TEST(PtLimits, AnOldFileMayHaveVeryManyStorages) {
  constexpr int kStorages = 50'000;
  std::string tensors = "\x80\x02(", keys = "\x80\x02(", values;
  for (int i = 0; i < kStorages; ++i) {
    tensors += PickledTensor(PickledStorage("FloatStorage", 1, std::to_string(i)), 0, {1}, {1});
    keys += PickledText(std::to_string(kStorages - 1 - i));
    values += "\1\0\0\0\0\0\0\0"s + FourBytes(static_cast<size_t>(kStorages - 1 - i));
  }
  const std::string head =
      "\x80\x02\x8a\nl\xfc\x9c"
      "F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}."s;
  STOKER_ASSERT_OK_AND_ASSIGN(const PtFile file,
                              ParsePt(head + tensors + "t." + keys + "t." + values));
  STOKER_ASSERT_OK_AND_ASSIGN(const Array array, file.Read("43210"));
  EXPECT_EQ(*reinterpret_cast<const int32_t*>(array.data()), 43'210);
}

}  // namespace stoker::pt_limits_test
