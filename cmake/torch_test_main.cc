// The main function of tests that have libtorch in them, some hundred processes in a run of all
// tests.
#include <gmock/gmock.h>

#include "stoker/device/torch_exit.h"

int main(int argc, char** argv) {
  stoker::LeaveTorchsObjectsToTheKernel();
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
