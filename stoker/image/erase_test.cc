#include "stoker/image/erase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace stoker::erase_test {

TEST(EraseWindow, FillsOnlyTheWindow) {
  std::vector<uint16_t> image(2 * 3 * 4, 1);
  const uint16_t value = 900;
  EraseWindow(reinterpret_cast<std::byte*>(image.data()), {2, 3, 4}, 2, {1, 2, 2, 1},
              std::as_bytes(std::span(&value, 1)));
  for (size_t i = 0; i < image.size(); ++i) {
    const size_t y = i / 4 % 3, x = i % 4;
    EXPECT_EQ(image[i], y >= 1 && x == 2 ? 900 : 1) << i;
  }
}

TEST(EraseWindow, GivesEachChannelItsValue) {
  std::vector<float> image(3 * 2 * 2, 0);
  const float values[] = {1, 2, 3};
  EraseWindow(reinterpret_cast<std::byte*>(image.data()), {3, 2, 2}, 4, {0, 0, 2, 2},
              std::as_bytes(std::span(values)));
  EXPECT_THAT(image, testing::ElementsAre(1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3));
}

}  // namespace stoker::erase_test
