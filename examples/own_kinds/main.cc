// The kinds in a program of one's own, which has all commands of `stoker`: `own_stoker train
// RECIPE`.
#include "kinds.h"
#include "stoker/tools/trainer/trainer_main.h"

int main(int argc, char** argv) { return stoker::TrainerMain(argc, argv, AddOwnKinds); }
