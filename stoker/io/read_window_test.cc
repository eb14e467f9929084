#include "stoker/io/read_window.h"

#include "stoker/base/testing.h"
#include "stoker/io/dripping_testing_internal.h"

namespace stoker::read_window_test {

ReadWindow WindowOver(std::string_view text, size_t piece, size_t bytes) {
  return ReadWindow(std::make_unique<Dripping>(text, piece), bytes, nullptr);
}

TEST(ReadWindow, HoldsWhatWasReadAndNotPassedOver) {
  ReadWindow window = WindowOver("abcdefgh", 3, 4);
  EXPECT_EQ(window.text(), "");
  EXPECT_TRUE(*window.Refill());
  EXPECT_EQ(window.text(), "abc");
  window.PassOver(2);
  EXPECT_EQ(window.offset(), 2u);
  EXPECT_TRUE(*window.Hold(5));
  EXPECT_TRUE(window.text().starts_with("cdefg"));
  EXPECT_FALSE(*window.Hold(7));
  EXPECT_EQ(window.text(), "cdefgh");
  window.PassOver(6);
  EXPECT_FALSE(*window.Refill());
  EXPECT_EQ(window.offset(), 8u);
}

TEST(ReadWindow, GivesEveryByteOnceWhateverTheSizes) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i);
  for (const size_t piece : {1, 7, 64, 5000}) {
    for (const size_t bytes : {1, 5, 64, 4096}) {
      for (const size_t step : {1, 3, 100}) {
        ReadWindow window = WindowOver(text, piece, bytes);
        std::string got;
        while (true) {
          STOKER_ASSERT_OK_AND_ASSIGN(const bool all, window.Hold(step));
          const std::string_view part = window.text().substr(0, step);
          got += part;
          ASSERT_EQ(window.offset() + part.size(), got.size());
          window.PassOver(part.size());
          if (!all) break;
        }
        EXPECT_EQ(got, text) << piece << " " << bytes << " " << step;
      }
    }
  }
}

TEST(ReadWindow, TakesMemoryForWhatIsThereAndNotForWhatIsAskedFor) {
  const auto account = Ledger::Create(1 << 30)->OpenAccount("window");
  const std::string text(10'000, 'x');
  ReadWindow window(std::make_unique<Dripping>(text, 1000), 1024, account);
  EXPECT_FALSE(*window.Hold(uint64_t{1} << 40));
  EXPECT_EQ(window.text().size(), text.size());
  EXPECT_LE(account->peak_bytes(), 3 * 10'240);
}

TEST(ReadWindow, GrowsNoFurtherThanTold) {
  const auto account = Ledger::Create(1 << 30)->OpenAccount("window");
  const std::string text(10'000, 'x');
  ReadWindow window(std::make_unique<Dripping>(text, 10'000), 64, account);
  while (window.held().size() < 100) STOKER_ASSERT_OK(window.Refill(100));
  EXPECT_EQ(window.held().size(), 100u);
  EXPECT_LE(account->peak_bytes(), 256);
}

}  // namespace stoker::read_window_test
