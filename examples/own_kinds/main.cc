// The kinds in a program of your own, which has all commands of `stoker`: `own_stoker train
// RECIPE`.
#include "kinds.h"
#include "stoker/tools/trainer/trainer_main.h"

int main(int argc, char** argv) { return stoker::TrainerMain(argc, argv, own::AddOwnKinds); }
