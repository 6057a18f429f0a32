# SPDX-License-Identifier: BSD-3-Clause

"""Runs programs under mpiexec, with more ranks than cores if necessary."""

import os
import subprocess
import sys

# Open MPI needs these variables to run as root and with more ranks than cores; MPICH ignores them.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
               "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1"}
BOUND = {"OMPI_MCA_hwloc_base_binding_policy": "core", "OMPI_MCA_rmaps_base_oversubscribe": "0"}
# OpenMP threads must sleep between regions, or they would disturb the next timed run.
SLEEPY = {"OMP_WAIT_POLICY": "passive"}
TIMEOUT_S = 300


def mpiexec(ranks, command, **variables):
    """Runs `command` on the given number of ranks with `variables` added to its environment, and returns its output.
    Ends this program if `command` fails."""
    done = subprocess.run(["mpiexec", "-n", str(ranks), *map(str, command)],
                          env={**os.environ, **ENVIRONMENT, **variables}, capture_output=True,
                          text=True, timeout=TIMEOUT_S)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        sys.exit(done.returncode)
    return done.stdout
