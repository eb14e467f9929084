// The main function of tests that have libtorch in them: a run of all tests starts some 950 of
// them.
#include <gmock/gmock.h>

#include "stacks_of_a_hang.h"
#include "stoker/device/torch_exit.h"

int main(int argc, char** argv) {
  stoker::LeaveTorchsObjectsToTheKernel();
  WriteStacksOfAHang();
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
