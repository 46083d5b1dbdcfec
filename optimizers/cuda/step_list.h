#pragma once
#include "optimizers/adamw.h"
#include "optimizers/cuda/step_kernel.h"
#include "optimizers/lmd.h"
#include "optimizers/m_adam.h"
#include "optimizers/madam.h"

// The rules whose step the library compiles for devices: those that meson.build lists too.
