#pragma once
#include <tuple>

#include "optimizers/adamw.h"
#include "optimizers/lmd.h"
#include "optimizers/m_adam.h"
#include "optimizers/madam.h"

namespace halfulp {

/// Every update rule. Adding one: its header, an entry here, its settings in rule_settings.h, its reference
/// in tests.
using AllRules = std::tuple<AdamW, Madam, Lmd, MAdam>;

}  // namespace halfulp
