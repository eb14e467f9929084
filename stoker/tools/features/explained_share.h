// How much of a target one column tells by itself.
#pragma once

#include <string>
#include <vector>

namespace stoker {

// A column's values in some rows, for the questions below.
struct SampledColumn {
  bool numbers = false;
  std::vector<std::string> cells;  // of the rows; numbers as texts
};

// Returns the share of the target's variance (of numbers) or of its entropy (of classes) that
// is gone once the column's value is known, from 0 to 1. A column of numbers counts by the
// twentieth of its values that a row is in. Corrected for what as many groups would tell by chance:
// so a column of names, each of which is there once, tells nothing.
//
// Sources: epsilon squared, Kelley, "An unbiased correlation ratio measure" (1935); the uncertainty
// coefficient, Theil, "On the estimation of relationships involving qualitative variables" (1970),
// whose probabilities are those of the other rows (leave one out).
double ExplainedShare(const SampledColumn& column, const SampledColumn& target);

// Returns whether the column is the target in another form: the same cells in all rows, another
// word for each word, or numbers that are a linear function of the target's. Of a few rows, which
// may agree by chance, it is not said.
bool IsTargetInDisguise(const SampledColumn& column, const SampledColumn& target);

}  // namespace stoker
