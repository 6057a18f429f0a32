// Deprecated: include runtimes/balance/run_strategy.h.
#pragma once

#include "runtimes/balance/run_strategy.h"
