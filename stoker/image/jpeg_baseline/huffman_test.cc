#include "stoker/image/jpeg_baseline/huffman.h"

#include <memory>

#include "stoker/base/random.h"
#include "stoker/base/testing.h"

namespace stoker::jpeg_baseline::huffman_test {

// A code of `num_symbols` symbols with lengths drawn at random, never full.
HuffmanCode RandomCode(Rng& rng, int num_symbols, int max_size) {
  HuffmanCode code;
  uint32_t left = (1u << 16) - 1;  // of 2^16, one word of ones kept free
  for (int length = 1; length <= 16 && code.num_values < num_symbols; ++length) {
    const uint32_t span = 1u << (16 - length);
    const uint32_t wanted = length < 3 ? 0 : static_cast<uint32_t>(rng.Below(1 + length * 2u));
    const uint32_t count =
        std::min({wanted, left / span, static_cast<uint32_t>(num_symbols - code.num_values)});
    code.counts[static_cast<size_t>(length - 1)] = static_cast<uint8_t>(count);
    for (uint32_t i = 0; i < count; ++i) {
      const auto run = static_cast<uint8_t>(rng.Below(16));
      const auto size = static_cast<uint8_t>(rng.Below(static_cast<uint64_t>(max_size) + 1));
      code.values[static_cast<size_t>(code.num_values++)] = static_cast<uint8_t>(run << 4 | size);
    }
    left -= count * span;
  }
  return code;
}

struct Step {
  size_t place = 0;
  int value = 0;
  int length = 0;  // bits
  bool known = false;
};

// The next symbol of `bits` at `place`, as T.81, F.2.2.2 has it.
Step NextStep(const CodeWords& words, uint32_t bits, size_t place) {
  const CodeWords::Word word = words.Find(bits >> 16);
  const int size = word.symbol & 15;
  if (word.length == 0 || size > kMaxAcSize) return {};
  if (size == 0 && word.symbol != 0xf0) return {place + kEndOfBlock, 0, word.length, true};
  const auto value =
      static_cast<int>(static_cast<uint64_t>(bits) << word.length << (size == 0 ? 0 : size) >> 32 &
                       ((1 << size) - 1));
  return {place + 1 + (word.symbol >> 4), size == 0 ? 0 : Extend(value, size), word.length + size,
          true};
}

void ExpectEntriesAreSteps(const AcTable& table) {
  for (uint32_t index = 0; index < table.entries.size(); ++index) {
    SCOPED_TRACE(index);
    const uint32_t bits = index << (32 - kAcBits);
    const AcEntry entry = table.entries[index];
    const Step first = NextStep(table.words, bits, 0);
    if (LengthOf(entry) == 0) {
      const int length = WordLengthOf(entry);
      ASSERT_TRUE(length == 0 || length == table.words.Find(bits >> 16).length);
      continue;
    }
    ASSERT_TRUE(first.known);
    ASSERT_LE(LengthOf(entry), kAcBits);
    const size_t after_first = static_cast<size_t>(FirstStepOf(entry));
    const size_t after_second = after_first + static_cast<size_t>(SecondStepOf(entry));
    if (first.place == kEndOfBlock) {
      ASSERT_EQ(after_second, kEndOfBlock);
      ASSERT_EQ(FirstValueOf(entry), 0);
      continue;
    }
    ASSERT_EQ(after_first, first.place);
    ASSERT_EQ(FirstValueOf(entry), first.value);
    if (after_second == after_first) {
      ASSERT_EQ(SecondValueOf(entry), first.value);
      ASSERT_EQ(LengthOf(entry), first.length);
      continue;
    }
    const Step second = NextStep(table.words, bits << first.length, first.place);
    ASSERT_EQ(after_second, second.place);
    ASSERT_EQ(SecondValueOf(entry), second.value);
    ASSERT_EQ(LengthOf(entry), first.length + second.length);
  }
}

void ExpectSkipsAreSums(const AcTable& table) {
  for (uint32_t index = 0; index < table.skips.size(); ++index) {
    SCOPED_TRACE(index);
    const int length = table.skips[index] & 31;
    const auto place = static_cast<size_t>(table.skips[index] >> 5);
    int sum = 0;
    size_t reached = 0;
    while (sum < length && reached < kEndOfBlock) {
      // Bits of values that are not there are zeros, which words do not depend on.
      const Step step = NextStep(table.words, sum < 32 ? index << (32 - kSkipBits) << sum : 0, 0);
      ASSERT_TRUE(step.known);
      sum += step.length;
      reached += step.place;
    }
    ASSERT_EQ(sum, length);
    ASSERT_EQ(reached, place);
    ASSERT_LE(length, kMaxSkipLength);
  }
}

TEST(MakeTable, EntriesAreWhatSymbolAfterSymbolGives) {
  Rng rng(/*seed=*/5, 0, 0, 0);
  const auto table = std::make_unique<AcTable>();
  for (int i = 0; i < 40; ++i) {
    SCOPED_TRACE(testing::Message() << "code " << i);
    ASSERT_TRUE(MakeTable(RandomCode(rng, 2 + i * 5, i % 16), *table));
    ExpectEntriesAreSteps(*table);
    ExpectSkipsAreSums(*table);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(MakeTable, DcEntriesAreTheWords) {
  Rng rng(/*seed=*/6, 0, 0, 0);
  const auto table = std::make_unique<DcTable>();
  for (int i = 0; i < 20; ++i) {
    HuffmanCode code = RandomCode(rng, 13, 0);
    for (int j = 0; j < code.num_values; ++j) code.values[static_cast<size_t>(j)] = uint8_t(j);
    ASSERT_TRUE(MakeTable(code, *table));
    for (uint32_t index = 0; index < table->entries.size(); ++index) {
      const CodeWords::Word word = table->words.Find(index << (16 - kDcBits));
      const bool known = word.length > 0 && word.length <= kDcBits && word.symbol <= kMaxDcSize;
      ASSERT_EQ(table->entries[index].length, known ? word.length : 0);
      ASSERT_TRUE(!known || table->entries[index].size == word.symbol);
    }
  }
}

TEST(CodeWords, RefusesMoreWordsThanThereAre) {
  const auto words = std::make_unique<CodeWords>();
  EXPECT_TRUE(words->Build({{1}, {7}, 1}));
  EXPECT_FALSE(words->Build({{2}, {7, 8}, 2})) << "1 would be all ones";
  EXPECT_FALSE(words->Build({{3}, {7, 8, 9}, 3}));
  EXPECT_TRUE(words->Build({{1, 1}, {7, 8}, 2}));
  EXPECT_FALSE(words->Build({{1, 2}, {7, 8, 9}, 3}));
  HuffmanCode full;
  full.counts.fill(255);
  EXPECT_FALSE(words->Build(full));
}

TEST(CodeWords, FindsWordsOfEveryLength) {
  HuffmanCode code;
  code.counts.fill(1);  // 0, 10, 110, ...
  for (int i = 0; i < 16; ++i) code.values[static_cast<size_t>(i)] = static_cast<uint8_t>(100 + i);
  code.num_values = 16;
  CodeWords words;
  ASSERT_TRUE(words.Build(code));
  for (int length = 1; length <= 16; ++length) {
    const uint32_t bits = 0xffffu & ~((1u << (16 - length)) | ((1u << (16 - length)) - 1));
    EXPECT_EQ(words.Find(bits).length, length);
    EXPECT_EQ(words.Find(bits).symbol, 99 + length);
  }
  EXPECT_EQ(words.Find(0xffff).length, 0);
}

TEST(StandardTables, AreThoseOfTheStandardAndNoOthers) {
  const HuffmanCode luma_dc = {
      {0, 1, 5, 1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 12};
  ASSERT_NE(StandardDcTable(luma_dc), nullptr);
  EXPECT_EQ(StandardDcTable(luma_dc)->entries[0].length, 2);  // T.81, table K.3: 00 is size 0
  HuffmanCode other = luma_dc;
  other.values[0] = 1;
  EXPECT_EQ(StandardDcTable(other), nullptr);
  EXPECT_EQ(StandardAcTable(luma_dc), nullptr);
}

TEST(Extend, GivesTheValuesOfTableF1) {
  EXPECT_EQ(Extend(0, 0), 0);
  EXPECT_EQ(Extend(0, 1), -1);
  EXPECT_EQ(Extend(1, 1), 1);
  EXPECT_EQ(Extend(0, 3), -7);
  EXPECT_EQ(Extend(3, 3), -4);
  EXPECT_EQ(Extend(4, 3), 4);
  EXPECT_EQ(Extend(2047, 11), 2047);
}

}  // namespace stoker::jpeg_baseline::huffman_test
