// The main function of unit tests.
#include <gmock/gmock.h>

#include "stacks_of_a_hang.h"

int main(int argc, char** argv) {
  WriteStacksOfAHang();
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
