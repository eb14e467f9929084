#include "stoker/image/jpeg_baseline/entropy_bytes.h"

#include <memory>

#include "stoker/base/instruction_set_testing.h"
#include "stoker/base/random.h"
#include "stoker/base/testing.h"
#include "stoker/image/jpeg_baseline/testing.h"

namespace stoker::jpeg_baseline::entropy_bytes_test {

// Bytes with 0xff here and there, most of them stuffed; `markers` in a thousand are not.
std::vector<uint8_t> CodedBytes(Rng& rng, size_t n, uint64_t markers) {
  std::vector<uint8_t> bytes;
  while (bytes.size() < n) {
    const bool stuffed = rng.Below(40) == 0;
    bytes.push_back(stuffed ? 0xff : static_cast<uint8_t>(rng.Below(255)));
    if (stuffed) bytes.push_back(rng.Below(1000) < markers ? 0xd0 : 0);
  }
  return bytes;
}

class UnstuffOn : public OnInstructionSet {};

TEST_P(UnstuffOn, GivesTheBytesOfTheReference) {
  Rng rng(/*seed=*/7, 0, 0, 0);
  for (size_t n = 0; n < 300; ++n) {
    for (const size_t room : {n, n / 2, n + 70}) {
      const std::vector<uint8_t> in = CodedBytes(rng, n, 50);
      std::vector<uint8_t> want(room + 128, 0xa5), got = want;
      const Unstuffed a = UnstuffReference(in, std::span(want).first(room));
      const Unstuffed b = Unstuff(in, std::span(got).first(room));
      ASSERT_EQ(a.consumed, b.consumed);
      ASSERT_EQ(a.produced, b.produced);
      ASSERT_EQ(a.at_marker, b.at_marker);
      ASSERT_TRUE(
          std::equal(want.begin(), want.begin() + static_cast<ptrdiff_t>(a.produced), got.begin()));
      ASSERT_TRUE(std::equal(want.begin() + static_cast<ptrdiff_t>(room), want.end(),
                             got.begin() + static_cast<ptrdiff_t>(room)))
          << "written after its end";
    }
  }
}

STOKER_ON_EVERY_INSTRUCTION_SET(UnstuffOn);

TEST(Unstuff, TakesOutStuffingAndStopsAtMarkers) {
  const std::vector<uint8_t> in = {1, 0xff, 0, 2, 0xff, 0xff, 0, 0xff, 0xd9};
  std::vector<uint8_t> out(16);
  const Unstuffed done = UnstuffReference(in, out);
  EXPECT_EQ(done.consumed, 4u);  // two 0xff in a row are no stuffing
  EXPECT_EQ(done.produced, 3u);
  EXPECT_TRUE(done.at_marker);
  EXPECT_THAT(std::span(out).first(3), testing::ElementsAre(1, 0xff, 2));
}

// Reads an interval to its end in steps.
std::vector<uint8_t> ReadAll(EntropyBytes& bytes) {
  std::vector<uint8_t> all;
  const uint8_t* at = bytes.begin();
  for (;;) {
    const size_t step = std::min<size_t>(1000, static_cast<size_t>(bytes.end() - at));
    all.insert(all.end(), at, at + step);
    at += step;
    if (at == bytes.end() && bytes.complete()) return all;
    at = bytes.Refill(at);
  }
}

TEST(EntropyBytes, GoesThroughIntervalsLongerThanItsWindow) {
  Rng rng(/*seed=*/8, 0, 0, 0);
  std::vector<uint8_t> file = {9, 9, 9};
  std::vector<std::vector<uint8_t>> want;
  for (const uint8_t marker : {0xd0, 0xd1, 0xd9}) {
    const std::vector<uint8_t> coded = CodedBytes(rng, 50000, 0);
    want.emplace_back(coded.size());
    want.back().resize(UnstuffReference(coded, want.back()).produced);
    file.insert(file.end(), coded.begin(), coded.end());
    file.insert(file.end(), {0xff, 0xff, marker});
  }
  const auto bytes = std::make_unique<EntropyBytes>();
  bytes->Start(file, 3);
  EXPECT_EQ(ReadAll(*bytes), want[0]);
  EXPECT_EQ(bytes->NextInterval(), 0xd0);
  EXPECT_EQ(bytes->NextInterval(), 0xd1) << "without reading what is between";
  EXPECT_EQ(ReadAll(*bytes), want[2]);
  EXPECT_EQ(bytes->NextInterval(), 0xd9);
  EXPECT_TRUE(bytes->complete());
  EXPECT_EQ(bytes->NextInterval(), 0);
}

TEST(EntropyBytes, KnowsTheFilesBytes) {
  const std::vector<uint8_t> file = {7, 7, 1, 0xff, 0, 2, 0xff, 0xd9};
  const auto bytes = std::make_unique<EntropyBytes>();
  bytes->Start(file, 2);
  EXPECT_EQ(bytes->FileOffset(bytes->begin()), 2u);
  EXPECT_EQ(bytes->FileOffset(bytes->begin() + 1), 3u);
  EXPECT_EQ(bytes->FileOffset(bytes->begin() + 2), 5u);
  EXPECT_EQ(bytes->FileOffset(bytes->end()), 6u);
}

TEST(EntropyBytes, HasZerosBehindTheLastByte) {
  const std::vector<uint8_t> file = {1, 2, 3};
  const auto bytes = std::make_unique<EntropyBytes>();
  bytes->Start(file, 0);
  EXPECT_TRUE(bytes->complete());
  for (size_t i = 0; i < EntropyBytes::kSlack; ++i) ASSERT_EQ(bytes->end()[i], 0);
}

}  // namespace stoker::jpeg_baseline::entropy_bytes_test
