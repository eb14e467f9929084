#pragma once

#include "stoker/run/registry.h"

namespace stoker {

// FTRL-Proximal of McMahan et al., "Ad click prediction: a view from the trenches" (KDD 2013,
// algorithm 1), for each weight: n += g^2;  z += g - (c - c') p;  p = 0 if |z| <= l1, else -(z -
// sign(z) l1) / c, where c = (beta + sqrt(n)) / lr + l2 and c' is that of the step before. n begins
// at `initial`. A weight that is not 0 says what its z + c' p is, so it needs no c': weights begin
// where they are (in the paper at 0), and a rate that changes moves none by itself. l2 is the
// paper's: TensorFlow and Keras double theirs.
struct Ftrl {
  static constexpr std::string_view kName = "ftrl";
  static constexpr std::string_view kHelp =
      "Adagrad's rates with weights that l1 makes exactly 0: for linear models of many categories.";
  double l1 = 0;
  double l2 = 0;
  double beta = 0;
  double initial = 0.1;

  static void Describe(OptionTable<Ftrl>& table);
  Result<std::unique_ptr<Optimizer>> Build(const TrainedParameters& parameters) const;
};

}  // namespace stoker
