// Deprecated: include runtimes/balance/environment.h.
#pragma once

#include "runtimes/balance/environment.h"
