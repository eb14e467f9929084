// `stoker-train`: the commands that need libtorch. People start it through `stoker`.
#include "stoker/tools/trainer/trainer_main.h"

int main(int argc, char** argv) { return stoker::TrainerMain(argc, argv); }
