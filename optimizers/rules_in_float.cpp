#include "optimizers/rule_on_tensor.h"

namespace halfulp {

template std::unique_ptr<TensorOptimizer<float>> make_tensor_optimizer(const AnyRule&, const TensorInfo&,
                                                                        const TensorPlan&, std::span<const double>,
                                                                        std::uint64_t);

}  // namespace halfulp
