// Deprecated: include runtimes/balance/job_machine.h.
#pragma once

#include "runtimes/balance/job_machine.h"
