// Deprecated: include runtimes/balance/run_record.h.
#pragma once

#include "runtimes/balance/run_record.h"
