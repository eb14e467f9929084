// `stoker-train`: the commands that need libtorch. People start it through `stoker`.
#include "stoker/device/torch_exit.h"
#include "stoker/tools/trainer/trainer_main.h"

int main(int argc, char** argv) {
  stoker::LeaveTorchsObjectsToTheKernel();
  return stoker::TrainerMain(argc, argv);
}
