// Batch norms whose statistics are those of several ranks' rows: what each rank has, and how it
// becomes that of all.
#pragma once

#include <torch/custom_class.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace stoker {

// The moments of a norm's input, of each channel.
struct ChannelMoments {
  double count = 0;          // values of a channel; 0: no rows, and all else is 0
  std::vector<double> mean;  // [channels]
  std::vector<double> var;   // mean square of the distances from the mean, [channels]
};

// What a norm asks of the other ranks. All of them run the same norms in the same order, forward
// and backward, one without rows too. One thread at a time.
class NormRanks : public torch::CustomClassHolder {
 public:
  // Returns the moments of all ranks' rows.
  //   mine    computes those of this rank's
  //   origin  [channels], the same on every rank, such as the running mean: sums are of distances
  //           from it
  // Throws c10::Error if a rank is lost.
  virtual ChannelMoments OfAll(const std::function<ChannelMoments()>& mine,
                               std::span<const float> origin) = 0;

  // Replaces `sums` by those over all ranks. Throws c10::Error if a rank is lost.
  virtual void Add(std::span<double> sums) = 0;
};

// The moments of several ranks as sums, so that one collective makes them those of all: count,
// then for each channel the sums of x - origin and of its square. Each rank's moments are taken
// about its own mean and moved to the common origin in doubles, so that neither a large mean nor
// ranks with other means cost digits: Chan, Golub, LeVeque, "Updating formulae and a pairwise
// algorithm for computing sample variances" (1979), with the origin of their "shifted data".
std::vector<double> SumsOfMoments(const ChannelMoments& moments, std::span<const float> origin);
ChannelMoments MomentsOfSums(std::span<const double> sums, std::span<const float> origin);

}  // namespace stoker
