#pragma once
#include <tuple>

#include "optimizers/adam.h"
#include "optimizers/adamw.h"
#include "optimizers/apollo.h"
#include "optimizers/integer_madam.h"
#include "optimizers/lmd.h"
#include "optimizers/lns_madam.h"
#include "optimizers/m_adam.h"
#include "optimizers/m_adam_apollo_e.h"
#include "optimizers/m_adam_workshop.h"
#include "optimizers/madam.h"
#include "optimizers/sgd.h"

namespace halfulp {

/// Every update rule. Adding one: its header, an entry here, its reference in tests.
using AllRules = std::tuple<AdamW, Madam, Lmd, MAdam, Sgd, Adam, IntegerMadam, LnsMadam, MAdamWorkshop,
                            Apollo, ApolloMini, MAdamApolloE>;

}  // namespace halfulp
