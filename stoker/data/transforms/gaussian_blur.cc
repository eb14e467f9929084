#include "stoker/data/transforms/gaussian_blur.h"

#include <algorithm>

#include "stoker/data/nodes/map.h"
#include "stoker/data/transforms/draw_options_internal.h"
#include "stoker/data/transforms/paired_fields_internal.h"
#include "stoker/image/blur.h"

namespace stoker {
namespace {

constexpr double kMaxKernel = 1023;
constexpr double kMaxSigma = 1000;

struct Blurring {
  static constexpr std::string_view kName = GaussianBlur::kName;
  static constexpr bool kRandom = true;
  int64_t height = 0, width = 0;
  DrawRange sigma;
  double probability = 1;

  // The sigma, or 0.
  Result<double> Choose(const ImageShape& /*image*/, Rng& rng) const {
    return rng.Bernoulli(probability) ? sigma.Draw(rng) : 0;
  }
  Result<Array> Change(const Array& array, const PairedField& /*field*/, double drawn,
                       Scratch& scratch) const {
    if (drawn == 0) return array;
    thread_local BlurScratch lines;  // two pictures' rows at most, for each thread that blurs
    Array out = MayWriteInPlace(array) ? array : scratch.NewArray(array.dtype(), array.shape());
    const ImageShape shape = ImageShapeOf(array);
    if (array.dtype() == DType::kUInt8) {
      BlurGaussian(array.values<uint8_t>().data(), shape, height, width, drawn, lines,
                   out.values<uint8_t>().data());
    } else {
      BlurGaussian(array.values<float>().data(), shape, height, width, drawn, lines,
                   out.values<float>().data());
    }
    return out;
  }
};

Result<Blurring> PlanBlurring(const GaussianBlur& options) {
  Blurring plan{.probability = options.probability};
  const std::vector<int64_t>& kernel = options.kernel_size;
  const bool odd = std::all_of(kernel.begin(), kernel.end(), [](int64_t n) { return n % 2 == 1; });
  if (kernel.empty() || kernel.size() > 2 || !odd) {
    return InvalidArgument(
        "gaussian_blur: kernel_size is [{}]; give one odd number of pixels, or width and height",
        fmt::join(kernel, ", "));
  }
  plan.width = kernel.front();
  plan.height = kernel.back();
  const std::vector<double>& sigma = options.sigma;
  STOKER_ASSIGN_OR_RETURN(plan.sigma, sigma.size() == 1
                                          ? Result<DrawRange>(DrawRange{sigma[0], sigma[0]})
                                          : PlanRange(GaussianBlur::kName, "sigma", sigma));
  return plan;
}

}  // namespace

void GaussianBlur::Describe(OptionTable<GaussianBlur>& table) {
  table
      .Field("kernel_size", &GaussianBlur::kernel_size,
             "pixels that are mixed, an odd number; or [width, height]", Between(1, kMaxKernel))
      .Required()
      .Field("sigma", &GaussianBlur::sigma, "of the Gaussian, in pixels: [least, most], or one",
             OptionRange{.low = 0, .high = kMaxSigma, .low_open = true})
      .Field("probability", &GaussianBlur::probability, "share of the images that are blurred",
             Between(0, 1))
      .Field("field", &GaussianBlur::field, "image to blur")
      .Field("images", &GaussianBlur::images, "further images that get the same draw");
}

Result<Dataset> GaussianBlur::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const Blurring plan, PlanBlurring(*this));
  const PairedNames names{field, images, {}};
  STOKER_ASSIGN_OR_RETURN(PairedFields fields, FindPairedFields(kName, input.spec(), names));
  for (const PairedField& paired : fields) {
    const Field& blurred = input.spec().fields[paired.index];
    if (blurred.dtype != DType::kUInt8 && blurred.dtype != DType::kFloat32) {
      return InvalidArgument("gaussian_blur: field '{}' is {}; it must be uint8 or float32",
                             blurred.name, DTypeName(blurred.dtype));
    }
  }
  Spec output = input.spec();
  return MapDataset(std::move(input), std::string(kName),
                    fmt::format("{}, kernel {}, sigma {}, probability {}", NamesInShort(names),
                                fmt::join(kernel_size, " x "), fmt::join(sigma, " "), probability),
                    std::move(output),
                    std::make_shared<PairedTransform<Blurring>>(std::move(fields), plan));
}

}  // namespace stoker
